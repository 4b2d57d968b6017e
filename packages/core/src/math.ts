/** `tf.math`: element-wise functions, logic, reductions, scans, the largest values. */
export * from './names.ts';
export { sigmoid, softplus } from './ops/activation.ts';
export * from './ops/math.ts';
export { topK } from './ops/order.ts';
export * from './ops/reduce.ts';

/** `tf.math`: element-wise functions, logic, reductions and scans. */
export * from './names.ts';
export { sigmoid, softplus } from './ops/activation.ts';
export * from './ops/math.ts';
export * from './ops/reduce.ts';

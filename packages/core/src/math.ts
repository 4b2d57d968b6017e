/** `tf.math`: element-wise functions, logic, reductions, scans, the largest values. */
export * from './names.ts';
export { logSigmoid, logSoftmax, sigmoid, softmax, softplus, softsign } from './ops/activation.ts';
export { invertPermutation, unsortedSegmentSum } from './ops/array.ts';
export { addN, addN as accumulateN } from './ops/join.ts';
export * from './ops/math.ts';
export { inTopK } from './ops/nn.ts';
export { topK } from './ops/order.ts';
export * from './ops/reduce.ts';

/** `tf.math`: element-wise functions, logic, reductions, scans, the largest values. */
export * from './arguments/names.ts';
export * as special from './math-special.ts';
export { invertPermutation, unsortedSegmentSum } from './ops/array/array.ts';
export { addN, addN as accumulateN } from './ops/array/join.ts';
export { topK } from './ops/array/order.ts';
export {
  type Segments,
  segmentMax,
  segmentMean,
  segmentMin,
  segmentProd,
  segmentSum,
  type UnsortedSegments,
  unsortedSegmentMax,
  unsortedSegmentMean,
  unsortedSegmentMin,
  unsortedSegmentProd,
  unsortedSegmentSqrtN,
} from './ops/array/segments.ts';
export { type SobolOptions, sobolSample } from './ops/array/sobol.ts';
export {
  logSigmoid,
  logSoftmax,
  sigmoid,
  softmax,
  softplus,
  softsign,
} from './ops/elementwise/activation.ts';
export { betainc, igamma, igammac, polygamma, zeta } from './ops/elementwise/host-special.ts';
export * from './ops/elementwise/math.ts';
export {
  approxMaxK,
  approxMinK,
  cumulativeLogsumexp,
  isNonDecreasing,
  isStrictlyIncreasing,
  lbeta,
  nextafter,
  polyval,
  reciprocalNoNan,
} from './ops/elementwise/more-math.ts';
export {
  besselI0,
  besselI0e,
  besselI1,
  besselI1e,
  erfcinv,
  ndtri,
} from './ops/elementwise/special-functions.ts';
export { inTopK } from './ops/nn/in-top-k.ts';
export {
  type BincountOptions,
  bincount,
  type ConfusionMatrixOptions,
  confusionMatrix,
} from './ops/reduce/counting.ts';
export * from './ops/reduce/reduce.ts';

// `tf.nn`: what networks are made of. It has no code, so that bundlers of programs that use some of it load no more at first.
export * as experimental from '../../nn-experimental.ts';
export {
  allCandidateSampler,
  fixedUnigramCandidateSampler,
  learnedUnigramCandidateSampler,
} from '../../random/candidates.ts';
export { embeddingLookupSparse, safeEmbeddingLookupSparse } from '../../sparse/embedding.ts';
export { depthToSpace, spaceToDepth } from '../array/array.ts';
export { topK } from '../array/order.ts';
export { spaceToBatch } from '../array/space.ts';
export * from '../elementwise/activation.ts';
export { tanh } from '../elementwise/math.ts';
export { approxMaxK, approxMinK } from '../elementwise/more-math.ts';
export { l2Normalize, moments, zeroFraction } from '../reduce/reduce.ts';
export { type AttentionOptions, scaledDotProductAttention } from './attention.ts';
export {
  type Conv1dOptions,
  type ConvOptions,
  conv1d,
  conv1dTranspose,
  conv2d,
  conv2dTranspose,
  conv3d,
  conv3dTranspose,
  convolution,
  convTranspose,
  depthwiseConv2d,
  separableConv2d,
} from './conv.ts';
export { type CtcLossOptions, ctcLoss } from './ctc.ts';
export {
  type CtcBeamOptions,
  type CtcDecoded,
  type CtcGreedyOptions,
  ctcBeamSearchDecoder,
  ctcGreedyDecoder,
} from './ctc-decode.ts';
export { ctcUniqueLabels } from './ctc-labels.ts';
export { embeddingLookup } from './embedding.ts';
export {
  type FractionalPooled,
  type FractionalPoolOptions,
  fractionalAvgPool,
  fractionalMaxPool,
} from './fractional-pooling.ts';
export { inTopK } from './in-top-k.ts';
export { isotonicRegression } from './isotonic.ts';
export {
  l2Loss,
  sigmoidCrossEntropyWithLogits,
  softmaxCrossEntropyWithLogits,
  sparseSoftmaxCrossEntropyWithLogits,
  weightedCrossEntropyWithLogits,
} from './loss.ts';
export {
  atrousConv2d,
  atrousConv2dTranspose,
  batchNormWithGlobalNormalization,
  collapseRepeated,
  computeAverageLoss,
  crelu,
  depthwiseConv2dBackpropFilter,
  depthwiseConv2dBackpropInput,
  dilation2d,
  erosion2d,
  localResponseNormalization,
  localResponseNormalization as lrn,
  logPoissonLoss,
  normalizeMoments,
  pool,
  scaleRegularizationLoss,
  sufficientStatistics,
  weightedMoments,
} from './more.ts';
export { batchNormalization, fusedBatchNorm, layerNormalization, rmsNormalization } from './norm.ts';
export { biasAdd, dropout } from './parts.ts';
export {
  avgPool,
  avgPool1d,
  avgPool2d,
  avgPool3d,
  maxPool,
  maxPool1d,
  maxPool2d,
  maxPool3d,
  maxPoolWithArgmax,
  type PoolOptions,
} from './pooling.ts';
export { gru, lstm } from './rnn.ts';
export {
  computeAccidentalHits,
  nceLoss,
  type SampledLossOptions,
  sampledSoftmaxLoss,
} from './sampled-losses.ts';
export type { DataFormat, Size2D, Size3D, Sizes, Strides2D, Strides3D, WindowPadding } from './windows.ts';
export { type SpaceToBatchOptions, withSpaceToBatch } from './with-space-to-batch.ts';

/** The classes of `tf.layers`, and what their options are. */

export { InputSpec, type InputSpecOptions } from '../layer/input-spec.ts';
export { type CallOptions, Layer, type LayerOptions, type WeightOptions } from '../layer/layer.ts';
export { Input, type InputOptions } from '../models/functional.ts';
export * from './activation/activation.ts';
export { MultiHeadAttention, type MultiHeadAttentionOptions } from './attention/attention.ts';
export {
  type AttentionCache,
  type CachedAttentionCallOptions,
  CachedMultiHeadAttention,
} from './attention/cached-attention.ts';
export * from './attention/dot-attention.ts';
export {
  GroupQueryAttention,
  type GroupQueryAttentionArguments,
  type GroupQueryAttentionOptions,
} from './attention/grouped-attention.ts';
export type { AttentionCallOptions } from './attention/projected.ts';
export type { Padding } from './common.ts';
export * from './convolutional/conv.ts';
// Keras's longer names.
export {
  Conv1D as Convolution1D,
  Conv2D as Convolution2D,
  Conv3D as Convolution3D,
} from './convolutional/conv.ts';
export type { ConvBaseOptions } from './convolutional/conv-base.ts';
export * from './convolutional/conv-transpose.ts';
export {
  Conv1DTranspose as Convolution1DTranspose,
  Conv2DTranspose as Convolution2DTranspose,
  Conv3DTranspose as Convolution3DTranspose,
} from './convolutional/conv-transpose.ts';
export * from './convolutional/depthwise-conv.ts';
export {
  SeparableConv1D as SeparableConvolution1D,
  SeparableConv2D as SeparableConvolution2D,
} from './convolutional/depthwise-conv.ts';
export * from './core/core.ts';
export { Dense, type DenseArguments, type DenseOptions } from './core/dense.ts';
export { EinsumDense, type EinsumDenseArguments, type EinsumDenseOptions } from './core/einsum-dense.ts';
export { Embedding, type EmbeddingArguments, type EmbeddingOptions } from './core/embedding.ts';
export { Masking, type MaskingOptions } from './core/masking.ts';
export {
  ReversibleEmbedding,
  type ReversibleEmbeddingArguments,
  type ReversibleEmbeddingOptions,
} from './core/reversible-embedding.ts';
export {
  type LoadedModel,
  TFSMLayer,
  type TFSMLayerArguments,
  type TFSMLayerOptions,
} from './core/tfsm-layer.ts';
export { Wrapper, type WrapperArguments } from './core/wrapper.ts';
export {
  Bidirectional,
  type BidirectionalArguments,
  type BidirectionalOptions,
  TimeDistributed,
  type TimeDistributedArguments,
} from './core/wrappers.ts';
export * from './merging/merged.ts';
export * from './merging/merging.ts';
export * from './normalization/normalization.ts';
export * from './normalization/spectral-normalization.ts';
export * from './pooling/adaptive-pooling.ts';
export * from './pooling/pooling.ts';
// Keras's shorter names.
export {
  AveragePooling1D as AvgPool1D,
  AveragePooling2D as AvgPool2D,
  AveragePooling3D as AvgPool3D,
  GlobalAveragePooling1D as GlobalAvgPool1D,
  GlobalAveragePooling2D as GlobalAvgPool2D,
  GlobalAveragePooling3D as GlobalAvgPool3D,
  GlobalMaxPooling1D as GlobalMaxPool1D,
  GlobalMaxPooling2D as GlobalMaxPool2D,
  GlobalMaxPooling3D as GlobalMaxPool3D,
  MaxPooling1D as MaxPool1D,
  MaxPooling2D as MaxPool2D,
  MaxPooling3D as MaxPool3D,
} from './pooling/pooling.ts';
export type { AdaptData } from './preprocessing/adapt-data.ts';
export * from './preprocessing/augmentation.ts';
export {
  type BoundingBoxes,
  MaxNumBoundingBoxes,
  type MaxNumBoundingBoxesArguments,
  type MaxNumBoundingBoxesOptions,
} from './preprocessing/bounding-boxes.ts';
export type { CategoryMode } from './preprocessing/categories.ts';
export * from './preprocessing/category-encoding.ts';
export * from './preprocessing/color.ts';
export { Discretization, type DiscretizationOptions } from './preprocessing/discretization.ts';
export type { Window } from './preprocessing/fourier.ts';
export * from './preprocessing/geometry.ts';
export {
  HashedCrossing,
  type HashedCrossingArguments,
  type HashedCrossingOptions,
  Hashing,
  type HashingArguments,
  type HashingOptions,
  type Salt,
} from './preprocessing/hashing.ts';
export type {
  Factor,
  ImageData,
  ImageLayer,
  ImageLayerOptions,
  RandomImageOptions,
  Transformation,
} from './preprocessing/image-layer.ts';
export {
  IntegerLookup,
  type IntegerLookupOptions,
  type LookupMode,
  StringLookup,
  type StringLookupOptions,
} from './preprocessing/lookup.ts';
export { MelSpectrogram, type MelSpectrogramOptions } from './preprocessing/mel-spectrogram.ts';
export * from './preprocessing/mixing.ts';
export * from './preprocessing/normalization.ts';
export * from './preprocessing/resizing.ts';
export {
  type SpectrogramMode,
  STFTSpectrogram,
  type STFTSpectrogramOptions,
} from './preprocessing/stft-spectrogram.ts';
export {
  type SplitText,
  type Standardize,
  TextVectorization,
  type TextVectorizationOptions,
} from './preprocessing/text-vectorization.ts';
export type { CellOptions, RecurrentCell } from './recurrent/cell.ts';
export {
  RNNCellDeviceWrapper,
  type RNNCellDeviceWrapperArguments,
  RNNCellDropoutWrapper,
  type RNNCellDropoutWrapperArguments,
  type RNNCellDropoutWrapperOptions,
  RNNCellResidualWrapper,
  type RNNCellResidualWrapperArguments,
  type RNNCellResidualWrapperOptions,
} from './recurrent/cell-wrappers.ts';
export {
  ConvLSTM1D,
  type ConvLSTM1DArguments,
  type ConvLSTM1DOptions,
  ConvLSTM2D,
  type ConvLSTM2DArguments,
  type ConvLSTM2DOptions,
  ConvLSTM3D,
  type ConvLSTM3DArguments,
  type ConvLSTM3DOptions,
} from './recurrent/conv-lstm.ts';
export {
  GRU,
  type GRUArguments,
  type GRUOptions,
  LSTM,
  type LSTMArguments,
  type LSTMOptions,
  SimpleRNN,
  type SimpleRNNArguments,
  type SimpleRNNOptions,
} from './recurrent/recurrent.ts';
export {
  type GatedCellOptions,
  GRUCell,
  type GRUCellArguments,
  type GRUCellOptions,
  LSTMCell,
  type LSTMCellArguments,
  type LSTMCellOptions,
  SimpleRNNCell,
  type SimpleRNNCellArguments,
  type SimpleRNNCellOptions,
} from './recurrent/recurrent-cells.ts';
export { RNN, type RNNArguments, type RNNOptions } from './recurrent/rnn.ts';
export { StackedRNNCells, type StackedRNNCellsArguments } from './recurrent/stacked-cells.ts';
export * from './regularization/regularization.ts';
export * from './reshaping/borders.ts';
export * from './reshaping/reshaping.ts';
export type { DataFormat, Size1D, Size2D, Size3D } from './spatial.ts';

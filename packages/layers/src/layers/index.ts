/** `tf.layers`. */

export { type CallOptions, Layer, type LayerOptions, type WeightOptions } from '../layer/layer.ts';
export { Input, type InputOptions } from '../models/functional.ts';
export { deserialize, type SerializedLayer, serialize } from '../saving/serialization.ts';
export * from './activation/activation.ts';
export {
  type AttentionCallOptions,
  MultiHeadAttention,
  type MultiHeadAttentionOptions,
} from './attention/attention.ts';
export type { Padding, Size2D } from './common.ts';
export {
  Conv2D,
  type Conv2DArguments,
  type Conv2DOptions,
  Conv2DTranspose,
  type Conv2DTransposeArguments,
  type Conv2DTransposeOptions,
  DepthwiseConv2D,
  type DepthwiseConv2DArguments,
  type DepthwiseConv2DOptions,
  SeparableConv2D,
  type SeparableConv2DArguments,
  type SeparableConv2DOptions,
} from './convolutional/conv.ts';
export type { ConvBaseOptions } from './convolutional/conv-base.ts';
export * from './core/core.ts';
export { Dense, type DenseArguments, type DenseOptions } from './core/dense.ts';
export { Embedding, type EmbeddingArguments, type EmbeddingOptions } from './core/embedding.ts';
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
export * from './pooling/pooling.ts';
// Keras's shorter names.
export {
  AveragePooling2D as AvgPool2D,
  GlobalAveragePooling1D as GlobalAvgPool1D,
  GlobalAveragePooling2D as GlobalAvgPool2D,
  GlobalMaxPooling1D as GlobalMaxPool1D,
  GlobalMaxPooling2D as GlobalMaxPool2D,
  MaxPooling2D as MaxPool2D,
} from './pooling/pooling.ts';
export type { CellOptions, RecurrentCell } from './recurrent/cell.ts';
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
export * from './reshaping/reshaping.ts';

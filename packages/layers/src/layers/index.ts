/** `tf.layers`. */

export { Input, type InputOptions } from '../functional.ts';
export { type CallOptions, Layer, type LayerOptions, type WeightOptions } from '../layer.ts';
export { deserialize, type SerializedLayer, serialize } from '../serialization.ts';
export * from './activation.ts';
export {
  type AttentionCallOptions,
  MultiHeadAttention,
  type MultiHeadAttentionOptions,
} from './attention.ts';
export type { CellOptions, RecurrentCell } from './cell.ts';
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
} from './conv.ts';
export type { ConvBaseOptions } from './conv-base.ts';
export * from './core.ts';
export { Dense, type DenseArguments, type DenseOptions } from './dense.ts';
export { Embedding, type EmbeddingArguments, type EmbeddingOptions } from './embedding.ts';
export * from './merged.ts';
export * from './merging.ts';
export * from './normalization.ts';
export * from './pooling.ts';
// Keras's shorter names.
export {
  AveragePooling2D as AvgPool2D,
  GlobalAveragePooling1D as GlobalAvgPool1D,
  GlobalAveragePooling2D as GlobalAvgPool2D,
  GlobalMaxPooling1D as GlobalMaxPool1D,
  GlobalMaxPooling2D as GlobalMaxPool2D,
  MaxPooling2D as MaxPool2D,
} from './pooling.ts';
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
} from './recurrent.ts';
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
} from './recurrent-cells.ts';
export * from './regularization.ts';
export * from './reshaping.ts';
export { RNN, type RNNArguments, type RNNOptions } from './rnn.ts';
export { StackedRNNCells, type StackedRNNCellsArguments } from './stacked-cells.ts';
export {
  Bidirectional,
  type BidirectionalArguments,
  type BidirectionalOptions,
  TimeDistributed,
  type TimeDistributedArguments,
} from './wrappers.ts';

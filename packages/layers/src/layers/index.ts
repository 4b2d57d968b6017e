/** `tf.layers`. */
export { type CallOptions, Layer, type LayerOptions, type WeightOptions } from '../layer.ts';
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
  type Conv2DOptions,
  Conv2DTranspose,
  type Conv2DTransposeOptions,
  DepthwiseConv2D,
  type DepthwiseConv2DOptions,
  SeparableConv2D,
  type SeparableConv2DOptions,
} from './conv.ts';
export type { ConvBaseOptions } from './conv-base.ts';
export * from './core.ts';
export { Dense, type DenseOptions } from './dense.ts';
export { Embedding, type EmbeddingOptions } from './embedding.ts';
export * from './merged.ts';
export * from './merging.ts';
export * from './normalization.ts';
export * from './pooling.ts';
export {
  GRU,
  type GRUOptions,
  LSTM,
  type LSTMOptions,
  SimpleRNN,
  type SimpleRNNOptions,
} from './recurrent.ts';
export {
  type GatedCellOptions,
  GRUCell,
  type GRUCellOptions,
  LSTMCell,
  type LSTMCellOptions,
  SimpleRNNCell,
  type SimpleRNNCellOptions,
} from './recurrent-cells.ts';
export * from './regularization.ts';
export * from './reshaping.ts';
export { RNN, type RNNOptions } from './rnn.ts';
export { StackedRNNCells } from './stacked-cells.ts';
export { Bidirectional, type BidirectionalOptions, TimeDistributed } from './wrappers.ts';

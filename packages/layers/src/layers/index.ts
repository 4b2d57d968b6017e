/** `tf.layers`. */
export { Layer } from '../layer.ts';
export * from './activation.ts';
export {
  type AttentionCallOptions,
  MultiHeadAttention,
  type MultiHeadAttentionOptions,
} from './attention.ts';
export type { Padding, Size2D } from './common.ts';
export {
  Conv2D,
  type Conv2DOptions,
  Conv2DTranspose,
  type Conv2DTransposeOptions,
  type ConvBaseOptions,
  DepthwiseConv2D,
  type DepthwiseConv2DOptions,
  SeparableConv2D,
  type SeparableConv2DOptions,
} from './conv.ts';
export * from './core.ts';
export { Dense, type DenseOptions } from './dense.ts';
export { Embedding, type EmbeddingOptions } from './embedding.ts';
export * from './merging.ts';
export * from './normalization.ts';
export * from './pooling.ts';
export {
  Bidirectional,
  type BidirectionalOptions,
  GRU,
  type GRUOptions,
  LSTM,
  type LSTMOptions,
  RNN,
  type RNNOptions,
  SimpleRNN,
  type SimpleRNNOptions,
  TimeDistributed,
} from './recurrent.ts';
export {
  type CellOptions,
  type GatedCellOptions,
  GRUCell,
  type GRUCellOptions,
  LSTMCell,
  type LSTMCellOptions,
  type RecurrentCell,
  SimpleRNNCell,
  type SimpleRNNCellOptions,
  StackedRNNCells,
} from './recurrent-cells.ts';
export * from './regularization.ts';
export * from './reshaping.ts';

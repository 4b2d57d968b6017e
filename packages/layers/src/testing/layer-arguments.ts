import type { Tensor } from '@eagre/core';
import * as layers from '../layers/index.ts';

const ofAll = (names: string, make: () => unknown[]): [string, () => unknown[]][] =>
  names.split(' ').map((name) => [name, make]);

const given = new Map<string, () => unknown[]>([
  ...ofAll('Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose', () => [1, 2]),
  ...ofAll('SeparableConv1D SeparableConv2D', () => [1, 2]),
  ...ofAll('ConvLSTM1D ConvLSTM2D ConvLSTM3D', () => [2, 2]),
  ...ofAll('DepthwiseConv1D DepthwiseConv2D', () => [2]),
  ...ofAll('AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D', () => [2]),
  ...ofAll('AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D', () => [2]),
  ...ofAll('Dropout GaussianDropout GaussianNoise', () => [0.5]),
  ...ofAll('SpatialDropout1D SpatialDropout2D SpatialDropout3D', () => [0.5]),
  ...ofAll('GRU GRUCell LSTM LSTMCell SimpleRNN SimpleRNNCell', () => [2]),
  ...ofAll('Dense', () => [1]),
  ...ofAll('RepeatVector Rescaling', () => [2]),
  ...ofAll('RandomBrightness RandomColorDegeneration RandomContrast RandomHue RandomRotation', () => [0.5]),
  ...ofAll('RandomSaturation RandomSharpness RandomZoom', () => [0.5]),
  ...ofAll('CenterCrop RandomCrop Resizing', () => [3, 4]),
  ['RandomPosterization', () => [4]],
  ['RandomTranslation', () => [0.5, 0.25]],
  ...ofAll('CategoryEncoding HashedCrossing Hashing MaxNumBoundingBoxes', () => [3]),
  ['Discretization', () => [[0, 1]]],
  ['Pipeline', () => [[new layers.RandomFlip()]]],
  ['Activation', () => ['relu']],
  ['AlphaDropout', () => [0.5]],
  ['Dot', () => [1]],
  ['EinsumDense', () => ['ab,bc->ac', 3]],
  ['Bidirectional', () => [new layers.LSTM(2)]],
  ...ofAll('Embedding ReversibleEmbedding', () => [2, 3]),
  ['Lambda', () => [(x: Tensor) => x]],
  ['GroupQueryAttention', () => [3, 4, 2]],
  ['MultiHeadAttention', () => [2, 3]],
  ['CachedMultiHeadAttention', () => [2, 3]],
  ['Permute', () => [[1]]],
  ['Reshape', () => [[1]]],
  ['RNNCellDeviceWrapper', () => [new layers.GRUCell(2), '/cpu:0']],
  ...ofAll('RNNCellDropoutWrapper RNNCellResidualWrapper', () => [new layers.GRUCell(2)]),
  ['RNN', () => [new layers.GRUCell(2)]],
  ['StackedRNNCells', () => [[new layers.GRUCell(2)]]],
  ['SpectralNormalization', () => [new layers.Dense(1)]],
  ['TimeDistributed', () => [new layers.Dense(1)]],
  ['Wrapper', () => [new layers.Dense(1)]],
]);

/** What a layer's constructor must be given before its options. */
export function requiredArguments(name: string): unknown[] {
  return given.get(name)?.() ?? [];
}

interface Class {
  new (...args: readonly unknown[]): layers.Layer;
  fromConfig(config: object): layers.Layer;
}
/** Every class of layers under its own name, not under Keras's shorter ones; but one that needs a folder, and that no configuration makes. */
export const layerClasses: readonly (readonly [name: string, Class: Class])[] = Object.entries(layers)
  .filter(([name, c]) => {
    const made = c as { readonly prototype?: unknown; readonly name: string };
    return made.prototype instanceof layers.Layer && made.name === name && name !== 'TFSMLayer';
  })
  .map(([name, c]) => [name, c as unknown as Class]);

export type Sizes = readonly number[];
/** Sizes behind the batch that one layer or another takes: of one input, of a list, or of several inputs. */
export const inputSizes: readonly (readonly Sizes[])[] = [
  [[4]],
  [[6, 4]],
  [[6, 6, 3]],
  [[6, 6, 6, 3]],
  [[5, 6, 6, 3]],
  [[5, 6, 6, 6, 3]],
  [[1]],
  [[64]],
  [[2100]],
  [[600, 1]],
  [[2], [2]],
  [
    [6, 4],
    [6, 4],
  ],
  [
    [6, 4],
    [6, 4],
    [6, 4],
  ],
];

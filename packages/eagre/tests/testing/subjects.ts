// Functions, losses, metrics, optimizers and layers with inputs that they take, whose sizes may be others: for tests that try all of them.
import type { SampleInput } from '@eagre/core/internal';
import { materialize } from '../../../testing/src/values.ts';
import * as tf from '../../src/index.ts';
import { functions, valuesFor } from './arguments.ts';

export type Fn = (...xs: tf.Tensor[]) => unknown;
export type Sizes = readonly number[];

export interface Subject {
  /** A line of the list. */
  readonly name: string;
  readonly inputs: readonly SampleInput[];
  readonly fn: Fn;
  /** Results differ from call to call: they are not compared. */
  readonly varies?: boolean;
  /** What gradients are asked for, beside the inputs. */
  readonly weights?: () => readonly tf.Variable[];
  /** What a function is given, by name, and where its inputs stand in that: whole arguments, or places in lists. */
  readonly given?: Readonly<Record<string, unknown>>;
  readonly places?: readonly (readonly [argument: string, at: number | null])[];
  /** What is called, where it is an object; a layer, once it has been called. */
  readonly object?: () => object;
  readonly training?: boolean;
}

export const uniform = (shape: Sizes, low = 0.1, high = 0.9): SampleInput => ({
  kind: 'uniform',
  shape,
  low,
  high,
});
const integers = (shape: Sizes, high: number): SampleInput => ({
  kind: 'integer',
  shape,
  low: 0,
  high,
  dtype: 'int32',
});

export const isFloat = (x: unknown): x is tf.Tensor =>
  x instanceof tf.Tensor && (x.dtype === 'float32' || x.dtype === 'float64');

/** The tensors in what a function gives. */
export function tensorsOf(result: unknown): tf.Tensor[] {
  if (result instanceof tf.Tensor) return [result];
  if (result instanceof tf.Variable) return [result.read()];
  if (typeof result !== 'object' || result === null) return [];
  return Object.values(result).flatMap(tensorsOf);
}

/** What it gives, and the gradients of that. */
export const withGradients =
  ({ fn, weights }: Subject): ((...xs: tf.Tensor[]) => tf.Tensor[]) =>
  (...xs) => {
    const tape = new tf.GradientTape();
    const floats = xs.filter(isFloat);
    tape.watch(floats);
    const results = tensorsOf(fn(...xs));
    const targets = results.filter(isFloat).map((y) => y.mul(1.5));
    const sources = [...floats, ...(weights?.() ?? [])];
    if (targets.length === 0 || sources.length === 0) return results;
    const grads = tape.gradient(targets, sources) as (tf.Tensor | null)[];
    return [...results, ...grads.filter((g) => g !== null)];
  };

export function inputsOf(inputs: readonly SampleInput[], shapes: readonly Sizes[]): tf.Tensor[] {
  const resized = inputs.map((input, i): SampleInput => {
    const shape = shapes[i] as Sizes;
    if (input.kind !== 'values') return { ...input, shape };
    const count = shape.reduce((a, b) => a * b, 1);
    const list = Array.from({ length: count }, (_, k) => input.values[k % input.values.length] as number);
    return { ...input, shape, values: list };
  });
  return materialize({ inputs: resized }, 'float32');
}

// Shapes, axes and the like stand in the code that is traced; what is tensors has any size.
const notTensors: ReadonlySet<string> = new Set(
  (
    'axis axes shape specs perm paddings multiples begin end strides size repeats seed ksize outputShape noiseShape batchShape ' +
    'numOrSizes shift ranks pairs stride dilations source destination loopVars inputs ' +
    'blockShape crops ksizes inputShape dilationRate filterShape spatialDims unigrams basePaddings shapeX shapeY filterSizes inputSizes windowShape cropSize imageSize boundingBoxes ' +
    'aspectRatioRange areaRange sizes rates dims powerFactors coeffs fftLength cropWindow inp selectRange'
  ).split(' '),
);
const indices: ReadonlySet<string> = new Set(
  'indices ids segmentIds targets labels lengths labelLength logitLength mask condition partitions seqLengths boxIndices index trueClasses sampledCandidates'.split(
    ' ',
  ),
);
/** The lengths of nested lists, as text; null where those of a tensor would differ. */
const lengthsOf = (value: unknown): string | null => {
  if (!Array.isArray(value)) return '';
  const inside = new Set(value.map(lengthsOf));
  const [first = ''] = inside;
  return inside.size > 1 || first === null ? null : `${value.length} ${first}`;
};
const isNumbers = (value: unknown): boolean =>
  (value instanceof tf.Tensor && value.dtype !== 'string') ||
  (Array.isArray(value) &&
    value.flat(8).length > 0 &&
    lengthsOf(value) !== null &&
    value.flat(8).every((v) => typeof v === 'number' || typeof v === 'boolean'));

/** A sample input of the same values. */
function asInput(name: string, value: unknown): SampleInput {
  const whole = Array.isArray(value) && (value.flat(8) as unknown[]).every((v) => Number.isInteger(v));
  const t =
    whole && indices.has(name) ? tf.constant(value, 'int32') : tf.convertToTensor(value as tf.TensorLike);
  const list = Array.from(t.data() as Float32Array, Number);
  return {
    kind: 'values',
    shape: t.shape,
    values: list,
    ...(t.dtype === 'float32' ? {} : { dtype: t.dtype }),
  };
}

/** The call of a function with tensors of any size in the places of its tensors, also of those in lists. */
function callOf(name: string, fn: Fn, values: Readonly<Record<string, unknown>>): Subject | null {
  const places = Object.entries(values).flatMap(
    ([argument, value]): (readonly [string, number | null, unknown])[] => {
      if (notTensors.has(argument)) return [];
      if (['list', 'tensors', 'operands', 'vectors'].includes(argument) && Array.isArray(value))
        return value.map((item, i) => [argument, i, item] as const);
      return isNumbers(value) ? [[argument, null, value]] : [];
    },
  );
  if (places.length === 0) return null;
  return {
    name,
    given: values,
    places: places.map(([argument, i]) => [argument, i]),
    inputs: places.map(([argument, , value]) =>
      asInput(name === 'math.invertPermutation' ? 'indices' : argument, value),
    ),
    varies:
      name.startsWith('random.') || name.endsWith('Sampler') || name === 'shuffle' || name === 'nn.dropout',
    fn: (...xs) => {
      const given: Record<string, unknown> = { ...values };
      places.forEach(([argument, i], k) => {
        if (i === null) given[argument] = xs[k];
        else given[argument] = (given[argument] as unknown[]).map((v, at) => (at === i ? xs[k] : v));
      });
      return fn(given as never);
    },
  };
}
/** They take lists of tensors, or give what is no tensor while they are traced. */
const takeLists: ReadonlySet<string> = new Set([
  'identityN',
  'shapeN',
  'parallelStack',
  'dynamicStitch',
  'getStaticValue',
  'typeSpecFromValue',
  'debugging.assertProperIterable',
]);
const called: Subject[] = [];
for (const { name, fn, takes } of functions) {
  if (takeLists.has(name)) continue;
  const subject = takes === undefined ? null : callOf(name, fn, valuesFor(name, takes));
  if (subject !== null) called.push(subject);
}

const { get: _, ...activations } = tf.keras.activations;
const activationSubjects: readonly Subject[] = Object.entries(activations)
  .filter(([name, fn]) => typeof fn === 'function' && !['serialize', 'deserialize'].includes(name))
  .map(([name, fn]) => ({
    name,
    inputs: [uniform([4, 6])],
    fn: (x) =>
      name === 'threshold'
        ? (fn as Fn)(x as tf.Tensor, 0.5 as never, 0.1 as never)
        : (fn as Fn)(x as tf.Tensor),
  }));

// ---- losses and metrics

// Targets and predictions: the first that a loss takes.
const pairs: readonly (readonly SampleInput[])[] = [
  [integers([4], 3), uniform([4, 3])],
  [uniform([4, 3]), uniform([4, 3])],
  [uniform([4])],
];
const sequences = [integers([4, 2], 3), uniform([4, 6, 3])];
type AnyClass = new (options?: object) => object;
const isClass = (value: unknown): value is AnyClass =>
  typeof value === 'function' && Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
export const publicClasses = (
  of: object,
  without: readonly string[],
): readonly (readonly [string, AnyClass])[] =>
  Object.entries(of).filter(
    (entry): entry is [string, AnyClass] => isClass(entry[1]) && !without.includes(entry[0]),
  );

/** The first inputs that a function takes. */
function fitting(name: string, fn: Fn): Subject {
  const sparse = /sparse|generalized|circle/i.test(name);
  const possible = /ctc/i.test(name) ? [sequences] : sparse ? pairs : pairs.slice(1);
  const inputs = possible.find((list) => {
    try {
      fn(
        ...inputsOf(
          list,
          list.map((i) => i.shape),
        ),
      );
      return true;
    } catch {
      return false;
    }
  });
  if (inputs === undefined) throw new Error(`${name} takes none of the inputs`);
  return { name, inputs, fn };
}

const smoothed = { labelSmoothing: 0.1 };
const losses: readonly Subject[] = [
  ...Object.entries(tf.losses).flatMap(([name, fn]) =>
    typeof fn !== 'function' || isClass(fn) || ['deserialize', 'get', 'serialize'].includes(name)
      ? []
      : [fitting(name, fn as Fn)],
  ),
  ...publicClasses(tf.losses, ['Loss', 'LossFunctionWrapper']).flatMap(([name, Class]) => {
    const loss = new Class() as unknown as Fn;
    return [
      { ...fitting(name, loss), object: () => loss },
      {
        ...fitting(name, loss),
        name: `${name} of weights`,
        inputs: [...fitting(name, loss).inputs, uniform([4])],
      },
    ];
  }),
  fitting(
    'CategoricalCrossentropy of smoothed labels',
    new tf.losses.CategoricalCrossentropy(smoothed) as unknown as Fn,
  ),
  fitting(
    'BinaryCrossentropy of smoothed labels',
    new tf.losses.BinaryCrossentropy(smoothed) as unknown as Fn,
  ),
];

type AnyMetric = { resetState(): void; updateState(...xs: tf.Tensor[]): void; result(): tf.Tensor };
const measured =
  (metric: AnyMetric): Fn =>
  (...xs) => {
    metric.resetState();
    metric.updateState(...xs);
    return metric.result();
  };
/** What some must be given. */
const ofMetric: Readonly<Record<string, object>> = {
  IoU: { numClasses: 3, targetClassIds: [0] },
  MeanIoU: { numClasses: 3 },
  OneHotIoU: { numClasses: 3, targetClassIds: [0] },
  OneHotMeanIoU: { numClasses: 3 },
  PrecisionAtRecall: { recall: 0.5 },
  RecallAtPrecision: { precision: 0.5 },
  SensitivityAtSpecificity: { specificity: 0.5 },
  SpecificityAtSensitivity: { sensitivity: 0.5 },
};
const metrics: readonly Subject[] = [
  ...Object.entries(tf.metrics).flatMap(([name, fn]) =>
    typeof fn !== 'function' ||
    isClass(fn) ||
    ['deserialize', 'get', 'serialize', 'resolveAccuracy'].includes(name)
      ? []
      : [fitting(name, fn as Fn)],
  ),
  ...publicClasses(tf.metrics, ['Metric', 'MeanMetricWrapper']).map(([name, Class]) => {
    const metric = new (Class as new (options?: object) => AnyMetric)(ofMetric[name]);
    return { ...fitting(name, measured(metric)), object: () => metric };
  }),
  fitting('F1Score over all', measured(new tf.metrics.F1Score('micro') as unknown as AnyMetric)),
  fitting(
    'CategoricalCrossentropy of smoothed labels',
    measured(new tf.metrics.CategoricalCrossentropy(smoothed) as unknown as AnyMetric),
  ),
  {
    ...fitting(
      'AUC of many',
      measured(new tf.metrics.AUC({ numThresholds: 2 ** 19 }) as unknown as AnyMetric),
    ),
    inputs: [uniform([20]), uniform([20])],
  },
];

// ---- optimizers: a step of a linear model

const optimizers: readonly Subject[] = publicClasses(tf.optimizers, ['Optimizer', 'OptimizerMap']).map(
  ([name, Class]) => {
    const ofVariable = { optimizerMap: () => inner };
    const inner = new tf.optimizers.Adam();
    const given = { MultiOptimizer: ofVariable, LossScaleOptimizer: { innerOptimizer: inner } };
    const optimizer = new Class(given[name as keyof typeof given] ?? {}) as tf.optimizers.Optimizer;
    const w = new tf.Variable(tf.ones([3, 2]));
    return {
      name,
      inputs: [uniform([4, 3])],
      varies: true,
      object: () => optimizer,
      fn: (x) => {
        const tape = new tf.GradientTape();
        const loss = (x as tf.Tensor).matmul(w).square().mean();
        optimizer.applyGradients([[tape.gradient(loss, w) as tf.Tensor, w]]);
        return loss.stopGradient();
      },
    };
  },
);

// ---- layers

const { layers } = tf;
type Case = readonly [make: () => tf.layers.Layer, ...inputs: readonly SampleInput[]];
const plain = uniform([4, 3]);
const image = uniform([2, 6, 5, 4]);
/** A layer that is given words, whatever it is called with. */
const ofWords = (layer: tf.layers.Layer): tf.layers.Layer => {
  const words = tf.constant(['a', 'b']);
  return Object.assign((x: tf.Tensor) => layer(words).cast('float32').sum().mul(x), {
    trainableWeights: [],
  }) as never;
};
const rgb = uniform([2, 6, 5, 3]);
const volume = uniform([2, 3, 5, 4, 2]);
const sequence = uniform([2, 4, 3]);
class OwnCell extends layers.SimpleRNNCell {}
class OwnDense extends layers.Dense {}
export const layerCases: Readonly<Record<string, Case>> = {
  Activation: [() => new layers.Activation('relu'), plain],
  ReLU: [() => new layers.ReLU(), plain],
  LeakyReLU: [() => new layers.LeakyReLU(), plain],
  Softmax: [() => new layers.Softmax(), plain],
  MultiHeadAttention: [() => new layers.MultiHeadAttention(2, 4), uniform([2, 4, 6])],
  CachedMultiHeadAttention: [() => new layers.CachedMultiHeadAttention(2, 4), uniform([2, 4, 6])],
  'MultiHeadAttention of two': [
    () => new layers.MultiHeadAttention(2, 4),
    uniform([2, 4, 6]),
    uniform([2, 5, 6]),
  ],
  Conv2D: [() => new layers.Conv2D(4, 3), image],
  'Conv2D with padding and strides': [() => new layers.Conv2D(4, 3, { padding: 'same', strides: 2 }), image],
  'Conv2D in groups': [() => new layers.Conv2D(4, 2, { groups: 2 }), image],
  Conv2DTranspose: [() => new layers.Conv2DTranspose(3, 3, { strides: 2 }), image],
  'Conv2DTranspose with padding': [
    () => new layers.Conv2DTranspose(3, 3, { strides: 2, padding: 'same' }),
    image,
  ],
  DepthwiseConv2D: [() => new layers.DepthwiseConv2D(3), image],
  'DepthwiseConv2D with padding': [() => new layers.DepthwiseConv2D(3, { padding: 'same' }), image],
  SeparableConv2D: [() => new layers.SeparableConv2D(3, 3), image],
  'Conv2D with the channels first': [
    () => new layers.Conv2D(4, 3, { dataFormat: 'channelsFirst', padding: 'same' }),
    uniform([2, 4, 7, 6]),
  ],
  Conv1D: [() => new layers.Conv1D(4, 3), sequence],
  'Conv1D that is causal': [() => new layers.Conv1D(4, 3, { padding: 'causal', strides: 2 }), sequence],
  Conv1DTranspose: [() => new layers.Conv1DTranspose(4, 3, { strides: 2 }), sequence],
  DepthwiseConv1D: [() => new layers.DepthwiseConv1D(3, { padding: 'same' }), sequence],
  SeparableConv1D: [() => new layers.SeparableConv1D(3, 2), sequence],
  Conv3D: [() => new layers.Conv3D(3, 2), volume],
  'Conv3D with padding and strides': [() => new layers.Conv3D(3, 3, { padding: 'same', strides: 2 }), volume],
  Conv3DTranspose: [() => new layers.Conv3DTranspose(3, 3, { strides: 2 }), volume],
  InputLayer: [() => new layers.InputLayer({ shape: [null] }), plain],
  Identity: [() => new layers.Identity(), plain],
  Rescaling: [() => new layers.Rescaling(0.5), plain],
  Lambda: [() => new layers.Lambda((x: tf.Tensor) => x.mul(2)), plain],
  Dense: [() => new layers.Dense(5), plain],
  'Dense over sequences': [
    () => new layers.Dense(5, { kernelRegularizer: 'l2', activityRegularizer: 'l2' }),
    sequence,
  ],
  Embedding: [() => new layers.Embedding(5, 3), integers([2, 4], 5)],
  ReversibleEmbedding: [() => new layers.ReversibleEmbedding(5, 3, { maskZero: true }), integers([2, 4], 5)],
  'ReversibleEmbedding in reverse': [
    () => {
      const embedding = new layers.ReversibleEmbedding(5, 3, { logitSoftCap: 2 });
      return new layers.Lambda((x: tf.Tensor) => embedding(x, { reverse: true }));
    },
    uniform([2, 4, 3]),
  ],
  Masking: [() => new layers.Masking(), sequence],
  EinsumDense: [() => new layers.EinsumDense('...x,xy->...y', 5, { biasAxes: 'y' }), sequence],
  Attention: [() => new layers.Attention({ useScale: true }), uniform([2, 4, 6]), uniform([2, 5, 6])],
  'Attention that is causal': [
    () => {
      const attention = new layers.Attention({ scoreMode: 'concat' });
      return new layers.Lambda((x: tf.Tensor) => attention([x, x], { useCausalMask: true }));
    },
    sequence,
  ],
  GroupQueryAttention: [
    () => new layers.GroupQueryAttention(3, 4, 2, { slidingWindow: 2, useGate: true }),
    uniform([2, 4, 6]),
    uniform([2, 5, 6]),
  ],
  AdditiveAttention: [() => new layers.AdditiveAttention(), uniform([2, 4, 6]), uniform([2, 5, 6])],
  ELU: [() => new layers.ELU(), plain],
  PReLU: [() => new layers.PReLU({ sharedAxes: [1, 2] }), image],
  AlphaDropout: [() => new layers.AlphaDropout(0.5, { seed: 3 }), plain],
  ActivityRegularization: [() => new layers.ActivityRegularization(0.5), plain],
  GroupNormalization: [() => new layers.GroupNormalization(2), image],
  UnitNormalization: [() => new layers.UnitNormalization(), plain],
  Normalization: [() => new layers.Normalization(), plain],
  Dot: [() => new layers.Dot(1), uniform([2, 3, 4]), uniform([2, 3, 5])],
  BatchNormalization: [() => new layers.BatchNormalization(), plain],
  'BatchNormalization of images': [() => new layers.BatchNormalization(), image],
  LayerNormalization: [() => new layers.LayerNormalization(), plain],
  RMSNormalization: [() => new layers.RMSNormalization(), plain],
  MaxPooling2D: [() => new layers.MaxPooling2D(2), image],
  'MaxPooling2D with padding': [() => new layers.MaxPooling2D(2, { padding: 'same' }), image],
  AveragePooling2D: [() => new layers.AveragePooling2D(2), image],
  'AveragePooling2D with padding': [() => new layers.AveragePooling2D(2, { padding: 'same' }), image],
  MaxPooling1D: [() => new layers.MaxPooling1D(2), sequence],
  MaxPooling3D: [() => new layers.MaxPooling3D(2), volume],
  'MaxPooling3D with padding': [() => new layers.MaxPooling3D(2, { padding: 'same' }), volume],
  AveragePooling1D: [() => new layers.AveragePooling1D(3, { padding: 'same', strides: 1 }), sequence],
  AveragePooling3D: [() => new layers.AveragePooling3D(2), volume],
  GlobalAveragePooling3D: [() => new layers.GlobalAveragePooling3D(), volume],
  GlobalMaxPooling3D: [() => new layers.GlobalMaxPooling3D(), volume],
  AdaptiveAveragePooling1D: [() => new layers.AdaptiveAveragePooling1D(2), sequence],
  AdaptiveAveragePooling2D: [() => new layers.AdaptiveAveragePooling2D(2), image],
  AdaptiveAveragePooling3D: [() => new layers.AdaptiveAveragePooling3D(2), volume],
  AdaptiveMaxPooling1D: [() => new layers.AdaptiveMaxPooling1D(2), sequence],
  AdaptiveMaxPooling2D: [() => new layers.AdaptiveMaxPooling2D(2), image],
  AdaptiveMaxPooling3D: [() => new layers.AdaptiveMaxPooling3D(2), volume],
  GlobalAveragePooling1D: [() => new layers.GlobalAveragePooling1D(), sequence],
  GlobalAveragePooling2D: [() => new layers.GlobalAveragePooling2D(), image],
  GlobalMaxPooling1D: [() => new layers.GlobalMaxPooling1D(), sequence],
  GlobalMaxPooling2D: [() => new layers.GlobalMaxPooling2D(), image],
  GRU: [() => new layers.GRU(3), sequence],
  'GRU of sequences, before the reset': [
    () => new layers.GRU(3, { returnSequences: true, resetAfter: false }),
    sequence,
  ],
  LSTM: [() => new layers.LSTM(3, { returnSequences: true }), sequence],
  ConvLSTM1D: [() => new layers.ConvLSTM1D(2, 3), uniform([2, 4, 7, 3])],
  ConvLSTM2D: [
    () => new layers.ConvLSTM2D(2, 2, { strides: 2, padding: 'same', returnSequences: true }),
    uniform([2, 3, 7, 6, 1]),
  ],
  'ConvLSTM2D with dropout': [
    () => new layers.ConvLSTM2D(2, 2, { dropout: 0.2, recurrentDropout: 0.2, seed: 3 }),
    uniform([2, 3, 7, 6, 1]),
  ],
  ConvLSTM3D: [
    () => new layers.ConvLSTM3D(2, 2, { dataFormat: 'channelsFirst' }),
    uniform([2, 3, 1, 3, 4, 3]),
  ],
  'LSTM from its end': [() => new layers.LSTM(3, { goBackwards: true }), sequence],
  'LSTM with another activation': [() => new layers.LSTM(3, { activation: 'relu' }), sequence],
  'LSTM that is stateful': [() => new layers.LSTM(3, { stateful: true }), sequence],
  SimpleRNN: [() => new layers.SimpleRNN(3, { returnSequences: true }), sequence],
  'LSTM with recurrent dropout': [() => new layers.LSTM(3, { recurrentDropout: 0.2, seed: 1 }), sequence],
  RNN: [
    () => new layers.RNN([new layers.LSTMCell(2), new layers.GRUCell(3)], { returnSequences: true }),
    sequence,
  ],
  StackedRNNCells: [
    () => new layers.RNN(new layers.StackedRNNCells([new layers.GRUCell(2), new layers.GRUCell(3)])),
    sequence,
  ],
  RNNCellDeviceWrapper: [
    () => new layers.RNN(new layers.RNNCellDeviceWrapper(new layers.GRUCell(3), '/cpu:0')),
    sequence,
  ],
  // Otherwise it drops others at each call, also where nothing is trained.
  RNNCellDropoutWrapper: [
    () => {
      const options = { stateKeepProb: 0.5, variationalRecurrent: true, seed: 1 };
      return new layers.RNN(new layers.RNNCellDropoutWrapper(new layers.GRUCell(3), options));
    },
    sequence,
  ],
  RNNCellResidualWrapper: [
    () =>
      new layers.RNN(
        new layers.RNNCellResidualWrapper(new layers.GRUCell(3), { residualFn: (x, y) => y.add(x.mean()) }),
      ),
    sequence,
  ],
  SimpleRNNCell: [() => new layers.RNN(new OwnCell(3)), sequence],
  GRUCell: [() => new layers.RNN(new layers.GRUCell(3, { dropout: 0.2, seed: 2 })), sequence],
  LSTMCell: [() => new layers.RNN(new layers.LSTMCell(3), { goBackwards: true }), sequence],
  Bidirectional: [() => new layers.Bidirectional(new layers.GRU(3, { returnSequences: true })), sequence],
  'RNN of masks': [
    () => {
      const rnn = new layers.RNN(new layers.GRUCell(3), { returnSequences: true });
      return new layers.Lambda((x: tf.Tensor) => rnn(x, { mask: x.sum(-1).greater(1.5) }) as tf.Tensor);
    },
    sequence,
  ],
  'TimeDistributed of a class of one’s own': [() => new layers.TimeDistributed(new OwnDense(3)), sequence],
  SpectralNormalization: [() => new layers.SpectralNormalization(new layers.Dense(3)), plain],
  Wrapper: [
    () => {
      class Own extends layers.Wrapper {
        override call(x: tf.Tensor): tf.Tensor {
          return (this.layer(x) as tf.Tensor).mul(2);
        }
      }
      return new Own(new layers.Dense(3));
    },
    plain,
  ],
  TimeDistributed: [() => new layers.TimeDistributed(new layers.Dense(3)), sequence],
  Dropout: [() => new layers.Dropout(0.5, { seed: 3 }), plain],
  SpatialDropout1D: [() => new layers.SpatialDropout1D(0.5, { seed: 3 }), sequence],
  SpatialDropout2D: [() => new layers.SpatialDropout2D(0.5, { seed: 3 }), image],
  SpatialDropout3D: [() => new layers.SpatialDropout3D(0.5, { seed: 3 }), volume],
  GaussianNoise: [() => new layers.GaussianNoise(0.5, { seed: 3 }), plain],
  GaussianDropout: [() => new layers.GaussianDropout(0.5, { seed: 3 }), plain],
  Flatten: [() => new layers.Flatten(), image],
  Reshape: [() => new layers.Reshape([-1, 2]), image],
  Permute: [() => new layers.Permute([2, 1]), sequence],
  RepeatVector: [() => new layers.RepeatVector(3), plain],
  ZeroPadding1D: [() => new layers.ZeroPadding1D(1), sequence],
  ZeroPadding2D: [() => new layers.ZeroPadding2D(1), image],
  ZeroPadding3D: [() => new layers.ZeroPadding3D(1), volume],
  Cropping1D: [() => new layers.Cropping1D(1), sequence],
  Cropping2D: [() => new layers.Cropping2D([1, 2]), image],
  Cropping3D: [() => new layers.Cropping3D(1), volume],
  UpSampling1D: [() => new layers.UpSampling1D(2), sequence],
  UpSampling2D: [() => new layers.UpSampling2D(2), image],
  UpSampling3D: [() => new layers.UpSampling3D(2), volume],
  AugMix: [() => new layers.AugMix({ numChains: 2, chainDepth: 1 }), rgb],
  AutoContrast: [() => new layers.AutoContrast(), rgb],
  CategoryEncoding: [() => new layers.CategoryEncoding(5), integers([4, 3], 5)],
  'CategoryEncoding of counts': [
    () => new layers.CategoryEncoding(5, { outputMode: 'count' }),
    integers([4, 3], 5),
  ],
  Discretization: [() => new layers.Discretization([0.25, 0.5]), plain],
  HashedCrossing: [() => new layers.HashedCrossing(5), integers([4], 9), integers([4], 9)],
  Hashing: [() => new layers.Hashing(5), integers([4, 3], 9)],
  IntegerLookup: [() => new layers.IntegerLookup({ vocabulary: [3, 1] }), integers([4, 3], 9)],
  // Strings are part of a trace.
  StringLookup: [() => ofWords(new layers.StringLookup({ vocabulary: ['a'] })), plain],
  TextVectorization: [() => ofWords(new layers.TextVectorization({ vocabulary: ['a'] })), plain],
  STFTSpectrogram: [() => new layers.STFTSpectrogram({ frameLength: 4 }), uniform([2, 9, 3])],
  'STFTSpectrogram as images': [
    () => new layers.STFTSpectrogram({ frameLength: 4, mode: 'stft', padding: 'same', expandDims: true }),
    uniform([2, 9, 3]),
  ],
  MaxNumBoundingBoxes: [
    () => {
      const layer = new layers.MaxNumBoundingBoxes(3);
      return new layers.Lambda((boxes: tf.Tensor) => {
        const images = tf.ones([1, 2, 2, 3]);
        const { boundingBoxes } = layer({ images, boundingBoxes: { boxes, labels: boxes.max(-1) } });
        return tf.concat([boundingBoxes.boxes.flatten(), boundingBoxes.labels.flatten()]);
      });
    },
    uniform([2, 5, 4]),
  ],
  MelSpectrogram: [
    () => new layers.MelSpectrogram({ fftLength: 8, sequenceStride: 3, numMelBins: 2 }),
    uniform([2, 19]),
  ],
  CenterCrop: [() => new layers.CenterCrop(3, 2), rgb],
  ContrastLimitedAdaptiveHistogramEqualization: [
    () => new layers.ContrastLimitedAdaptiveHistogramEqualization({ tileGridSize: 2 }),
    rgb,
  ],
  CutMix: [() => new layers.CutMix(), rgb],
  Equalization: [() => new layers.Equalization(), rgb],
  MixUp: [() => new layers.MixUp(), rgb],
  Pipeline: [() => new layers.Pipeline([new layers.RandomFlip()]), rgb],
  RandAugment: [() => new layers.RandAugment(), rgb],
  RandomBrightness: [() => new layers.RandomBrightness(0.5), rgb],
  RandomColorDegeneration: [() => new layers.RandomColorDegeneration(0.5), rgb],
  RandomColorJitter: [() => new layers.RandomColorJitter({ brightnessFactor: 0.5, hueFactor: 0.5 }), rgb],
  RandomContrast: [() => new layers.RandomContrast(0.5), rgb],
  RandomCrop: [() => new layers.RandomCrop(3, 2), rgb],
  RandomElasticTransform: [() => new layers.RandomElasticTransform(), rgb],
  RandomErasing: [() => new layers.RandomErasing(), rgb],
  RandomFlip: [() => new layers.RandomFlip(), rgb],
  RandomGaussianBlur: [() => new layers.RandomGaussianBlur(), rgb],
  RandomGrayscale: [() => new layers.RandomGrayscale(), rgb],
  RandomHue: [() => new layers.RandomHue(0.5), rgb],
  RandomInvert: [() => new layers.RandomInvert(), rgb],
  RandomPerspective: [() => new layers.RandomPerspective(), rgb],
  RandomPosterization: [() => new layers.RandomPosterization(4), rgb],
  RandomRotation: [() => new layers.RandomRotation(0.5), rgb],
  RandomSaturation: [() => new layers.RandomSaturation(0.5), rgb],
  RandomSharpness: [() => new layers.RandomSharpness(0.5), rgb],
  RandomShear: [() => new layers.RandomShear(0.5, 0.25), rgb],
  RandomTranslation: [() => new layers.RandomTranslation(0.5, 0.25), rgb],
  RandomZoom: [() => new layers.RandomZoom(0.5), rgb],
  Resizing: [() => new layers.Resizing(4, 7), rgb],
  'Resizing with proportions': [() => new layers.Resizing(4, 7, { cropToAspectRatio: true }), rgb],
  'Resizing with borders': [() => new layers.Resizing(4, 7, { padToAspectRatio: true }), rgb],
  Solarization: [() => new layers.Solarization(0.5, 0.5), rgb],
  Add: [() => new layers.Add(), plain, plain],
  Subtract: [() => new layers.Subtract(), plain, plain],
  Multiply: [() => new layers.Multiply(), plain, plain],
  Average: [() => new layers.Average(), plain, plain],
  Maximum: [() => new layers.Maximum(), plain, plain],
  Minimum: [() => new layers.Minimum(), plain, plain],
  Concatenate: [() => new layers.Concatenate(), plain, uniform([4, 2])],
};

const layerSubjects: readonly Subject[] = Object.entries(layerCases).flatMap(([name, [make, ...inputs]]) =>
  [false, true].map((training): Subject => {
    let layer: tf.layers.Layer | undefined;
    return {
      name,
      inputs,
      varies: training || name.includes('stateful'),
      weights: () => layer?.trainableWeights ?? [],
      object: () => layer as tf.layers.Layer,
      training,
      fn: (...xs) => {
        // Built by its first call, which is of known sizes.
        layer ??= make();
        return layer((xs.length === 1 ? xs[0] : xs) as tf.Tensor, { training });
      },
    };
  }),
);

/** By what they are. */
export const subjects: Readonly<Record<string, readonly Subject[]>> = {
  functions: called,
  activations: activationSubjects,
  losses,
  metrics,
  optimizers,
  layers: layerSubjects,
};

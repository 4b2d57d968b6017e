// What wrong programs are told: which layer, what it expected, and what it got.
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { layers } = tf;
function compiled(options: object = { loss: 'mse', optimizer: 'sgd' }): tf.Sequential {
  const model = new tf.Sequential([tf.Input([3]), new layers.Dense(2, { name: 'last' })], { name: 'model' });
  model.compile(options as never);
  return model;
}
const quiet = { verbose: 0 } as const;
const [x, y] = [tf.ones([4, 3]), tf.ones([4, 2])];
const ints = (...values: number[]): tf.Tensor => tf.constant(values, 'int32');

type Case = [what: string, program: () => unknown, says: RegExp];

describe('layers', () => {
  const cases: Case[] = [
    [
      'a vector',
      () => new layers.Dense(2, { name: 'd' })(tf.ones([3])),
      /Dense 'd' expects input of rank 2 or more.*got \[3\]/,
    ],
    ['another size', () => compiled()(tf.ones([4, 5])), /Dense 'last' was built for a last axis of 3, got 5/],
    [
      'no image',
      () => new layers.Conv2D(2, 3, { name: 'c' })(x),
      /Conv2D 'c' expects input of rank 4.*got \[4, 3\]/,
    ],
    [
      'other channels',
      () => {
        const conv = new layers.Conv2D(2, 3, { name: 'c' });
        conv(tf.ones([1, 8, 8, 3]));
        conv(tf.ones([1, 8, 8, 4]));
      },
      /Conv2D 'c' was built for 3 channels, got 4/,
    ],
    [
      'a small image',
      () => new layers.Conv2D(2, 5)(tf.ones([1, 3, 3, 1])),
      /window of 5 .*does not fit into the 3/,
    ],
    [
      'no sequence',
      () => new layers.LSTM(2, { name: 'l' })(x),
      /LSTM 'l' expects input of rank 3.*got \[4, 3\]/,
    ],
    [
      'a large index',
      () => new layers.Embedding(3, 2, { name: 'e' })(ints(5)),
      /Embedding 'e' has rows 0 … 2.* = 5/,
    ],
    [
      'parts that differ',
      () => new layers.Concatenate()([tf.ones([1, 2, 3]), tf.ones([1, 3, 3])]),
      /agree but on axis -1, got \[1, 2, 3\], \[1, 3, 3\]/,
    ],
    [
      'sums that differ',
      () => new layers.Add()([tf.ones([1, 2]), tf.ones([1, 3])]),
      /Add .*\[1, 2\], \[1, 3\]/,
    ],
    [
      'another number of elements',
      () => new layers.Reshape([4])(tf.ones([2, 3])),
      /3 elements.* the shape \[4\]/,
    ],
    ['a float of units', () => new layers.Dense(2.5), /units to be an integer of at least 1, got 2\.5/],
    ['a rate', () => new layers.Dropout(2), /rate between 0 and 1, got 2/],
    ['strings', () => new layers.StringLookup({ vocabulary: ['a'] })(x), /expects strings, got float32/],
    [
      'an unknown token',
      () => new layers.StringLookup({ vocabulary: ['a'], numOovIndices: 0 })(tf.constant(['b'])),
      /"b" is not in the vocabulary; numOovIndices: 1/,
    ],
    [
      'another rank',
      () => new layers.MultiHeadAttention(2, 2)(tf.ones([2, 3])),
      /each \[batch, time, n\], got \[2, 3\]/,
    ],
  ];
  test.each(cases)('%s', (_, program, says) => expect(program).toThrow(says));

  test('errors in layers of one’s own say which layer it was, and what it got', () => {
    class Mine extends layers.Layer {
      override call(a: tf.Tensor): tf.Tensor {
        return a.matmul(tf.ones([7, 2]));
      }
    }
    class Outer extends layers.Layer {
      readonly inner = new Mine({ name: 'mine' });
      override call(a: tf.Tensor): tf.Tensor {
        return this.inner(a.mul(2)) as tf.Tensor;
      }
    }
    const layer = new Outer({ name: 'outer' });
    const says =
      "MatMul: shapes [2, 3] and [7, 2] do not match: the inner dimensions 3 and 7 differ\n  in the call of Mine 'mine' with float32 [2, 3]\n  in the call of Outer 'outer' with float32 [2, 3]";
    expect(() => layer(tf.ones([2, 3]))).toThrow(says);
    expect(() => tf.function((a: tf.Tensor) => layer(a) as tf.Tensor)(tf.ones([2, 3]))).toThrow(
      "in the call of Outer 'outer' with float32 [2, 3]",
    );
  });
});

describe('names that are nearly right', () => {
  const cases: Case[] = [
    ['activation', () => new layers.Dense(2, { activation: 'rellu' as never }), /did you mean 'relu'\?/],
    [
      'initializer',
      () => new layers.Dense(2, { kernelInitializer: 'glorot_unifrom' as never }),
      /did you mean 'glorotUniform'\?/,
    ],
    ['regularizer', () => new layers.Dense(2, { kernelRegularizer: 'l3' as never }), /did you mean 'l1'\?/],
    [
      'constraint',
      () => new layers.Dense(2, { kernelConstraint: 'maxnorm2' as never }),
      /did you mean 'maxNorm'\?/,
    ],
    [
      'loss',
      () => compiled({ loss: 'mean_square_error' }),
      /there is no loss 'mean_square_error'.*did you mean 'MeanSquaredError'\?/,
    ],
    [
      'optimizer',
      () => compiled({ loss: 'mse', optimizer: 'adm' }),
      /there is no optimizer 'adm'.*did you mean 'Adam'\?/,
    ],
    [
      'metric',
      () => compiled({ loss: 'mse', metrics: ['acuracy'] }),
      /there is no metric 'acuracy'.*did you mean 'Accuracy'\?/,
    ],
    [
      'layer',
      () => layers.deserialize({ class_name: 'Dence', config: {} } as never),
      /did you mean 'Dense'\?/,
    ],
    [
      'option',
      () => new layers.Dense(2, { useBia: true } as never),
      /'useBia' is not an option.*did you mean 'useBias'\?/,
    ],
  ];
  test.each(cases)('of a %s', (_, program, says) => expect(program).toThrow(says));
});

describe('training', () => {
  const sparse = { loss: 'sparseCategoricalCrossentropy', optimizer: 'sgd' };
  const cases: Case[] = [
    [
      'before compile',
      () => new tf.Sequential([new layers.Dense(2)]).fit(x, y, quiet),
      /call model\.compile\(\{ optimizer, loss \}\) first/,
    ],
    ['without a loss', () => compiled({ optimizer: 'sgd' }).fit(x, y, quiet), /neither a loss nor/],
    ['without targets', () => compiled().fit(x, quiet as never), /the loss needs targets: pass y/],
    ['sizes that differ', () => compiled().fit(x, tf.ones([5, 2]), quiet), /y has 5 examples .*x has 4/],
    [
      'no examples',
      () => compiled().fit(tf.zeros([0, 3]), tf.zeros([0, 2]), quiet),
      /x has no examples, its shape is \[0, 3\]/,
    ],
    [
      'a scalar',
      () => compiled().fit(tf.constant(1), tf.constant(1), quiet),
      /x needs a first dimension.*got shape \[\]/,
    ],
    [
      'targets of another shape',
      () => compiled().fit(x, tf.ones([4, 3]), quiet),
      /targets \[4, 3\] do not match the predictions \[4, 2\]/,
    ],
    [
      'one-hot targets for labels',
      () => compiled(sparse).fit(x, y, quiet),
      /expected \[4\] \(categoricalCrossentropy takes one-hot targets\)/,
    ],
    [
      'labels for one-hot targets',
      () => compiled({ loss: 'categoricalCrossentropy' }).fit(x, tf.ones([4]), quiet),
      /sparseCategoricalCrossentropy takes labels/,
    ],
    [
      'labels that are no classes',
      () => compiled(sparse).fit(x, ints(0, 1, 0, 5), quiet),
      /label 5 \(of row \d\) is outside of the 2 classes/,
    ],
    [
      'strings',
      () => compiled().fit(tf.constant([['a', 'b', 'c']]), tf.ones([1, 2]), quiet),
      /Dense 'last' expects numbers, got a string tensor/,
    ],
    [
      'batchSize',
      () => compiled().fit(x, y, { batchSize: 0, ...quiet }),
      /batchSize must be an integer of at least 1, got 0/,
    ],
    [
      'epochs',
      () => compiled().fit(x, y, { epochs: -1, ...quiet }),
      /epochs must be an integer of at least 0, got -1/,
    ],
    [
      'validationSplit',
      () => compiled().fit(x, y, { validationSplit: 1, ...quiet }),
      /validationSplit must be in \(0, 1\), got 1/,
    ],
    [
      'validationData',
      () => compiled().fit(x, y, { validationData: [x] as never, ...quiet }),
      /validationData must be \[x, y\]/,
    ],
    [
      'sampleWeight',
      () => compiled().fit(x, y, { sampleWeight: tf.ones([3]), ...quiet }),
      /sampleWeight has 3 examples .*x has 4/,
    ],
    [
      'a class of callbacks',
      () => compiled().fit(x, y, { callbacks: [tf.keras.callbacks.EarlyStopping as never], ...quiet }),
      /write new EarlyStopping\(…\)/,
    ],
    [
      'an option',
      () => compiled().fit(x, y, { epoch: 3 } as never),
      /'epoch' is not an option.*did you mean 'epochs'\?/,
    ],
    [
      'setWeights',
      () => compiled().setWeights([tf.ones([3, 2])]),
      /1 values for 2 weights \(model\/last\/kernel \[3, 2\], model\/last\/bias \[2\]\)/,
    ],
    ['getLayer', () => compiled().getLayer('lost'), /no layer 'lost'; there are 'last'/],
    [
      'predict',
      () => compiled().predict(tf.ones([2, 4]), quiet),
      /Dense 'last' was built for a last axis of 3, got 4/,
    ],
  ];
  test.each(cases)('%s', async (_, program, says) => {
    await expect((async () => await program())()).rejects.toThrow(says);
  });
});

describe('models', () => {
  const [a, b] = ['a', 'b'].map((name) => tf.Input([2], { name })) as [
    tf.keras.KerasTensor,
    tf.keras.KerasTensor,
  ];
  const both = (): tf.Model => new tf.Model([a, b], new layers.Add()([a, b]));
  const cases: Case[] = [
    [
      'that are not connected',
      () => new tf.Model(a, new layers.Dense(1)(b)),
      /depend on the input 'b', which is not among/,
    ],
    [
      'of values',
      () => new tf.Model(tf.ones([2]) as never, tf.ones([2]) as never),
      /must be symbolic tensors/,
    ],
    ['without an input', () => both()(tf.ones([1, 2])), /got 1 inputs for a model with 2 \(a, b\)/],
    [
      'with another name',
      () => new tf.Model({ a }, new layers.Dense(1)(a))({ c: tf.ones([1, 2]) }),
      /the input 'a' is missing among c/,
    ],
    [
      'with two layers of a name',
      () => new tf.Sequential([new layers.Dense(2, { name: 'd' }), new layers.Dense(2, { name: 'd' })]),
      /two layers have the name 'd'/,
    ],
    [
      'with a class',
      () => new tf.Sequential([layers.Dense as never]),
      /got the class Dense: write new Dense\(…\)/,
    ],
    [
      'with a function of TensorFlow',
      () => tf.add(a as never, 1),
      /KerasTensor: it has no values; .*tf\.keras\.ops/,
    ],
    [
      'with losses for others',
      () => {
        const model = new tf.Model(a, { p: new layers.Dense(1)(a) });
        model.compile({ loss: { q: 'mse' } });
        return model.trainOnBatch(tf.ones([4, 2]), { p: tf.ones([4, 1]) });
      },
      /loss: there is no output 'q'; the model has 'p'/,
    ],
    [
      'with a slow optimizer',
      () => new tf.optimizers.Adam('fast' as never),
      /learning rate must be .*got 'fast'/,
    ],
  ];
  test.each(cases)('%s', (_, program, says) => expect(program).toThrow(says));
});

test('a loss that is no number is said once by TerminateOnNaN', async () => {
  const said: string[] = [];
  const log = console.log;
  console.log = (text: string) => said.push(text);
  try {
    const callbacks = [new tf.keras.callbacks.TerminateOnNaN()];
    await compiled().fit(tf.fill([4, 3], Number.NaN), y, { epochs: 5, callbacks, ...quiet });
  } finally {
    console.log = log;
  }
  expect(said).toEqual(['Batch 0: the loss is NaN, training ends']);
});

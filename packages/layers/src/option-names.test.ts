import '@eagre/backend-js';
import { InvalidArgumentError, ones, type Tensor } from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';
import { losses, metrics } from '@eagre/metrics';
import { get as getOptimizer, SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import * as constraints from './constraints.ts';
import * as initializers from './initializers/initializers.ts';
import { Layer } from './layer/layer.ts';
import * as layers from './layers/index.ts';
import { Dense } from './layers/index.ts';
import { Input } from './models/functional.ts';
import type { KerasTensor } from './models/keras-tensor.ts';
import { Model } from './models/model.ts';
import { Sequential } from './models/sequential.ts';
import * as regularizers from './regularizers.ts';
import { layerClasses, requiredArguments } from './testing/layer-arguments.ts';
import type { CompileOptions } from './trainers/compile.ts';

const make = (): Sequential => new Sequential([new Dense(1, { inputShape: [2] })]);
const [x, y] = [ones([4, 2]), ones([4, 1])];

test('compile takes options by the names that it knows', () => {
  // @ts-expect-error
  expect(() => make().compile('adam', 'mse')).toThrow(
    "compile: nothing is given by position; write { optimizer: 'adam', loss: 'mse' }",
  );
  // @ts-expect-error
  expect(() => make().compile({ loss: 'mse', metric: ['mae'] })).toThrow(
    "compile: 'metric' is not an option; the options are optimizer, loss, lossWeights, metrics, weightedMetrics, runEagerly",
  );
});

test('fit, evaluate and predict as well', async () => {
  const model = make();
  model.compile({ loss: 'mse' });
  // @ts-expect-error
  await expect(model.fit(x, y, { verbose: 0, epoch: 3 })).rejects.toThrow("fit: 'epoch' is not an option");
  // @ts-expect-error
  await expect(model.fit(x, y, { batch_size: 2 })).rejects.toThrow(InvalidArgumentError);
  // @ts-expect-error
  await expect(model.evaluate(x, y, { returnDicts: true })).rejects.toThrow(
    "evaluate: 'returnDicts' is not an option",
  );
  // @ts-expect-error
  await expect(model.predict(x, { epochs: 1 })).rejects.toThrow("predict: 'epochs' is not an option");
  expect(await model.evaluate(x, y, { verbose: 0, sampleWeight: ones([4]) })).toHaveProperty('loss');
});

describe('layers take options by the names that they know', () => {
  test.each(layerClasses)('%s', (name, Class) => {
    const make = (options: object): Layer =>
      name === 'InputLayer'
        ? new Class({ shape: [2], ...options })
        : new Class(...requiredArguments(name), options);
    expect(() => make({ activaton: 'relu' })).toThrow(
      `${name}: 'activaton' is not an option; the options are`,
    );
    // What gives numbers of buckets takes integers.
    const dtype = name === 'Hashing' ? 'int32' : 'float64';
    expect(make({ name: 'mine', trainable: false, dtype }).name).toBe('mine');
    const layer = make({});
    expect(Class.fromConfig(layer.getConfig()).name).toBe(layer.name);
  });

  test('and values of their kinds', () => {
    const self: unknown[] = [];
    self.push(self);
    for (const fn of [
      () => new layers.Dense(1, 'relu' as never),
      () => new layers.Dense(1, { name: 3n as never }),
      () => new layers.Dense(1, { kernelInitializer: 5 as never }),
      () => new layers.Dense(1, { activation: {} as never }),
      () => new layers.Dropout(0.5, { noiseShape: -1 as never }),
      () => new layers.StackedRNNCells([1 as never]),
      () => new layers.RNN([[1]] as never),
      () => new layers.Reshape(self as never),
      () => new layers.ZeroPadding2D(3n as never),
      () => initializers.glorotUniform()({} as never, 'float32'),
      () => initializers.randomNormal({ std: 1 } as never),
      () => initializers.heNormal({ scale: 1 } as never),
      () => initializers.varianceScaling({ mode: 'in' as never }),
      () => initializers.varianceScaling({ distribution: 'normal' as never }),
      () => regularizers.l1l2({ l3: 1 } as never),
      () => new layers.InputLayer(null as never),
      () => new layers.InputLayer({ shape: 3 as never }),
      () => new layers.Bidirectional(new layers.LSTM(1), { backwardLayer: new Map() as never }),
      () => initializers.orthogonal()('ab' as never, 'float32'),
      () => regularizers.l2()('ab' as never),
      () => constraints.nonNeg()({} as never),
    ])
      expect(fn, String(fn)).toThrow(InvalidArgumentError);
    expect(
      regularizers
        .l2(1)([1, 2] as never)
        .item(),
    ).toBe(5);
  });

  test('those of users take others, and pass on what is not theirs', () => {
    class Own extends layers.Dense {
      readonly mine: number;
      constructor({ mine, ...options }: { mine: number } & layers.DenseOptions) {
        super(2, options);
        this.mine = mine;
      }
    }
    expect(new Own({ mine: 1, useBias: false }).useBias).toBe(false);
    expect(() => new Own({ mine: 1, usebias: false } as never)).toThrow(
      /^Own: 'usebias' is not an option; the options are units, .*; did you mean 'useBias'\?$/,
    );
    class Plain extends Layer {}
    expect(() => new Plain({ trainble: false } as never)).toThrow("Plain: 'trainble' is not an option");
    expect(new Plain(null).trainable).toBe(true);
  });
});

test('models as well', () => {
  expect(() => new Sequential([], { nmae: 'mine' } as never)).toThrow("Sequential: 'nmae' is not an option");
  expect(() => new Model({ input: 1 } as never)).toThrow("Model: 'input' is not an option");
  const a = Input({ shape: [2] });
  const b = new Dense(1)(a) as KerasTensor;
  expect(() => new Model(a, b, { nmae: 'mine' } as never)).toThrow("Model: 'nmae' is not an option");
  expect(new Model(a, b, { name: 'mine' }).name).toBe('mine');
});

test('a class in the place of a layer', () => {
  // @ts-expect-error
  expect(() => new Sequential([Dense])).toThrow(
    'a Sequential model must contain layers, got the class Dense: write new',
  );
});

declare module '@eagre/core' {
  interface CustomNames {
    Halved: 'optimizer';
    offBy: 'loss' | 'metric';
    Count: 'metric';
  }
}

describe('names in compile are checked by the types', () => {
  test('those of Keras, in its spellings', () => {
    const known: CompileOptions[] = [
      { optimizer: 'adam', loss: 'mse', metrics: ['accuracy', 'mae'] },
      { optimizer: 'AdamW', loss: 'meanSquaredError', metrics: ['acc', 'binary_accuracy', 'AUC'] },
      { optimizer: 'rmsprop', loss: 'mean_squared_error', metrics: ['ce', 'RMSE', 'f1_score'] },
      { optimizer: 'RMSprop', loss: 'MeanSquaredError', weightedMetrics: ['TopKCategoricalAccuracy'] },
      { optimizer: 'sgd', loss: 'kl_divergence', metrics: [['top_k_categorical_accuracy', 'auc']] },
      { loss: 'sparse_categorical_crossentropy', metrics: ['logCoshError'] },
      { loss: ['MAE'], metrics: { a: 'rootMeanSquaredError' } },
      { loss: { a: 'KLDivergence' } },
    ];
    const model = (): Sequential => new Sequential([new Dense(1, { name: 'a', inputShape: [2] })]);
    for (const options of known) expect(() => model().compile(options)).not.toThrow();
  });

  test('others are errors', () => {
    const model = make();
    // @ts-expect-error
    expect(() => model.compile({ optimizer: 'adamm' })).toThrow("no optimizer 'adamm'");
    // @ts-expect-error
    expect(() => model.compile({ loss: 'msee' })).toThrow("no loss 'msee'");
    // @ts-expect-error
    expect(() => model.compile({ loss: ['msee'] })).toThrow("no loss 'msee'");
    // @ts-expect-error
    expect(() => model.compile({ metrics: ['acuracy'] })).toThrow("no metric 'acuracy'");
    // @ts-expect-error
    expect(() => model.compile({ metrics: { a: 'acuracy' } })).toThrow("no metric 'acuracy'");
    // @ts-expect-error
    expect(() => model.compile({ weightedMetrics: ['acuracy'] })).toThrow("no metric 'acuracy'");
    // The text of a file may be anything.
    const text: string = 'msee';
    expect(() => losses.get(text)).toThrow("no loss 'msee'");
  });

  test('those that users register', async () => {
    class Halved extends SGD {}
    class Count extends metrics.Mean {
      override updateState(yTrue: Tensor): void {
        super.updateState(yTrue.mul(0).add(3));
      }
    }
    registerKerasSerializable(Halved);
    registerKerasSerializable(Count);
    const offBy = registerKerasSerializable((a: Tensor, b: Tensor) => a.sub(b).abs().mean(-1), {
      name: 'offBy',
    });
    const model = make();
    model.compile({ optimizer: 'Halved', loss: 'offBy', metrics: ['offBy', 'Count'] });
    expect(model.optimizer).toBeInstanceOf(Halved);
    const logs = await model.evaluate(x, y, { verbose: 0 });
    expect(logs).toMatchObject({ count: 3, off_by: logs['loss'] });
    expect(losses.get('Custom>offBy').call(y, y).array()).toEqual(offBy(y, y).array());
    const copy = getOptimizer({ class_name: 'Custom>Halved', config: { learning_rate: 0.5 } });
    expect([copy.constructor, copy.learningRate]).toEqual([Halved, 0.5]);
  });
});

test('methods of models take every argument by name', async () => {
  const model = new Sequential([new Dense(1, { inputShape: [2] })]);
  model.compile({ loss: 'mse' });
  const x = [
    [1, 2],
    [3, 4],
  ];
  const y = [[1], [2]];
  const { epoch } = await model.fit({ x, y, epochs: 2, verbose: 0 });
  expect(epoch).toEqual([0, 1]);
  expect(await model.evaluate({ x, y, verbose: 0 })).toEqual(await model.evaluate(x, y, { verbose: 0 }));
  expect((await model.predict({ x, verbose: 0 })).shape).toEqual([2, 1]);
  expect((await model.fit(x, { y, verbose: 0 })).epoch).toEqual([0]);
  expect(Object.keys(model.trainOnBatch({ x, y }))).toEqual(['loss']);
  expect(Object.keys(model.testOnBatch(x, y, null))).toEqual(['loss']);
  expect(model.predictOnBatch({ x }).shape).toEqual([2, 1]);
  expect(model.getLayer({ index: 0 })).toBe(model.getLayer(0));
  expect(model.getLayer({ name: model.layers[0]?.name as string })).toBe(model.layers[0]);
  await expect(model.fit(x, y, { epoks: 1 } as never)).rejects.toThrow("fit: 'epoks' is not an option");
  await expect(model.fit(x, { epoks: 1 } as never)).rejects.toThrow("fit: 'epoks' is not an option");
  await expect(model.evaluate(x, y, 3 as never)).rejects.toThrow('write { batchSize: 3 }');
  await expect(model.predict(x, 3 as never)).rejects.toThrow('write { batchSize: 3 }');
  expect(() => model.compile('adam' as never)).toThrow(
    "nothing is given by position; write { optimizer: 'adam' }",
  );
  expect(() => model.summary(3 as never)).toThrow('Model.summary');
  expect(() => (model.pop as (x: number) => void)(3)).toThrow('takes at most 0 arguments');
});

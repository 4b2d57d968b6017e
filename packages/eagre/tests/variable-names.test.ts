// Names and paths of the variables of layers, models, metrics and optimizers, as Keras gives them.
// tools/golden/variable_names.py makes the same objects, each of the same name.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { layers, metrics, optimizers } = tf.keras;
type Names = readonly (readonly [name: string, path: string])[];
const { cases } = JSON.parse(
  readFileSync(new URL('../golden/variable-names.json', import.meta.url), 'utf8'),
) as { readonly cases: Readonly<Record<string, Names>> };

class Inner extends layers.Layer {
  first!: tf.Variable;
  second!: tf.Variable;
  dense!: tf.keras.layers.Dense;
  override build(shape: readonly (number | null)[]): void {
    this.first = this.addWeight({ shape: [2] });
    this.second = this.addWeight({ shape: [2] });
    this.dense = new layers.Dense(2, { name: 'proj' });
    this.dense.build(shape);
  }
  override call(x: tf.Tensor): tf.Tensor {
    return this.dense(x);
  }
}
class Outer extends layers.Layer {
  readonly inner = new Inner();
  readonly early = this.addWeight({ shape: [1], name: 'early' });
  readonly dropout = new layers.Dropout(0.5);
  override call(x: tf.Tensor): tf.Tensor {
    return this.dropout(this.inner(x));
  }
}
class Own extends metrics.Metric {
  readonly sum = this.addWeight({ shape: [], initializer: 'zeros', name: 'sum' });
  readonly inner = new metrics.Mean();
  constructor() {
    super({ name: 'own' });
  }
  override updateState(): void {}
  override result(): tf.Tensor {
    return this.sum.read();
  }
}

function built<L extends tf.keras.layers.Layer>(layer: L, ...shape: (number | null)[]): L {
  layer.build(shape);
  return layer;
}
const sequential = (): tf.Sequential =>
  new tf.Sequential([
    tf.keras.Input([3]),
    new layers.Dense(2),
    new layers.BatchNormalization(),
    new layers.Dropout(0.1),
  ]);
function ofOptimizer(make: () => tf.keras.optimizers.Optimizer): readonly tf.Variable[] {
  const dense = built(new layers.Dense(2), null, 3);
  const optimizer = make();
  optimizer.build(dense.trainableVariables);
  return optimizer.variables;
}

type Made = readonly tf.Variable[] | Promise<readonly tf.Variable[]>;
const made: Readonly<Record<string, () => Made>> = {
  'nested layers'() {
    const outer = new Outer();
    outer(tf.ones([1, 2]));
    return outer.variables;
  },
  'a sequential model': () => sequential().variables,
  'a sequential model built late': () =>
    built(new tf.Sequential([new layers.Dense(2), new layers.Dense(1, { name: 'last' })]), null, 3).variables,
  'a functional model'() {
    const x = tf.keras.Input([3]);
    const inner = new tf.Model(x, new layers.Dense(2)(x), { name: 'inner' });
    return new tf.Model(x, new layers.Dense(1)(inner(x))).variables;
  },
  async training() {
    const model = sequential();
    model.compile({
      optimizer: 'adam',
      loss: 'mse',
      metrics: ['mae', new metrics.AUC({ numThresholds: 3, name: 'a/b' })],
    });
    await model.fit(tf.ones([4, 3]), tf.ones([4, 2]), { verbose: 0 });
    return [...model.optimizer.variables, ...model.metricsVariables];
  },
  'stacked cells': () =>
    built(new layers.RNN([new layers.LSTMCell(2), new layers.GRUCell(2)]), null, 3, 2).variables,
  'both directions': () => built(new layers.Bidirectional(new layers.LSTM(2)), null, 3, 2).variables,
  attention() {
    const layer = new layers.MultiHeadAttention(2, 2);
    layer.build([
      [null, 3, 4],
      [null, 3, 4],
    ]);
    return layer.variables;
  },
  'time distributed': () => built(new layers.TimeDistributed(new layers.Dense(2)), null, 3, 4).variables,
  'spectral normalization': () =>
    built(new layers.SpectralNormalization(new layers.Dense(2)), null, 4).variables,
  normalization: () => built(new layers.Normalization(), null, 4).variables,
  noise: () => new layers.GaussianNoise(0.1, { seed: 1 }).variables,
  'a seed generator': () => [
    new tf.keras.random.SeedGenerator(1).state,
    new tf.keras.random.SeedGenerator(1, { name: 'mine' }).state,
  ],
  int8() {
    const dense = built(new layers.Dense(2), null, 4);
    dense.quantize('int8');
    return dense.variables;
  },
  LoRA() {
    const dense = built(new layers.Dense(2), null, 4);
    dense.enableLora(1);
    return dense.variables;
  },
  SGD: () =>
    ofOptimizer(() => new optimizers.SGD({ momentum: 0.9, useEma: true, gradientAccumulationSteps: 2 })),
  Adam: () => ofOptimizer(() => new optimizers.Adam({ amsgrad: true, name: 'mine' })),
  RMSprop: () => ofOptimizer(() => new optimizers.RMSprop({ momentum: 0.9, centered: true })),
  Ftrl: () => ofOptimizer(() => new optimizers.Ftrl()),
  Nadam: () => ofOptimizer(() => new optimizers.Nadam()),
  Adadelta: () => ofOptimizer(() => new optimizers.Adadelta()),
  LossScaleOptimizer: () =>
    ofOptimizer(() => new tf.keras.mixedPrecision.LossScaleOptimizer(new optimizers.SGD({ momentum: 0.9 }))),
  'a metric': () => new Own().variables,
  MeanIoU: () => new metrics.MeanIoU(2).variables,
  Precision: () => new metrics.Precision({ name: 'p' }).variables,
};

/**
 * Keras's names, but for two kinds: layers that draw have no variable of their own here unless they are given one, and the product that Nadam keeps
 * has a name, which Keras forgot.
 */
function expected(names: Names, of: string): Names {
  if (of === 'Nadam') return [...names.slice(0, -1), ['u_product', 'nadam/u_product']];
  return of === 'a seed generator' ? names : names.filter(([name]) => name !== 'seed_generator_state');
}

describe('names and paths of the variables of', () => {
  test.each(Object.keys(cases))('%s are those of Keras', async (name) => {
    tf.keras.backend.clearSession();
    const variables = await (made[name] as () => Made)();
    expect(variables.map((v) => [v.name, v.path])).toEqual(expected(cases[name] as Names, name));
  });
});

// Layers that compute in 16 bits, and keep their weights in 32.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { constant, random, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { LossScaleOptimizer } from '@eagre/optimizers';
import { afterEach, describe, expect, test } from 'vitest';
import { layers, Sequential } from '../index.ts';
import { readGolden, tensorOf, type Values } from '../testing/golden.ts';
import { DTypePolicy, dtypePolicy, setDtypePolicy } from './dtype-policy.ts';

afterEach(() => setDtypePolicy('float32'));

interface Case {
  readonly layer: string;
  readonly config: Record<string, unknown>;
  readonly weights: Record<string, Values>;
  readonly steps: readonly {
    readonly training: boolean;
    readonly inputs: readonly Values[];
    readonly output: Values;
    readonly upstream: Values;
    readonly gradients: Record<string, Values>;
  }[];
}
const { cases } = readGolden<{ readonly cases: readonly Case[] }>('layers');
const classes = layers as unknown as Record<string, { fromConfig(config: object): layers.Layer }>;

/** The largest distance, as a share of the largest value. */
function apart(got: Tensor, wanted: Values): number {
  const values = got.cast('float32').data() as Float32Array;
  const scale = Math.max(1, ...wanted.values.map(Math.abs));
  return Math.max(0, ...wanted.values.map((v, i) => Math.abs(v - values[i]))) / scale;
}

// Keras's own results in float32; 8 bits of mantissa make about one part in a hundred.
describe.each(['mixed_bfloat16', 'mixed_float16'] as const)('layers of the policy %s', (dtype) => {
  test.each(cases.map((c, i) => [`${i} ${c.layer} ${JSON.stringify(c.config)}`, c] as const))(
    '%s',
    (_, c) => {
      const layer = classes[c.layer].fromConfig({ ...c.config, dtype });
      const [step] = c.steps;
      const inputs = step.inputs.map((x) => tensorOf(x));
      layer.ensureBuilt((inputs.length > 1 ? inputs.map((x) => x.shape) : inputs[0].shape) as number[]);
      const variables = layer.namedWeights.map((w) => w.variable);
      expect(variables.every((v) => v.dtype === 'float32')).toBe(true);
      for (const { path, variable } of layer.namedWeights) variable.assign(tensorOf(c.weights[path]));
      const call = (...xs: Tensor[]): Tensor =>
        layer<Tensor>(xs.length > 1 ? xs : xs[0], { training: step.training });
      const tape = new GradientTape();
      const y = call(...inputs);
      const integers = inputs.every((x) => x.dtype !== 'float32');
      if (!integers) expect(y.dtype).toBe(layer.computeDtype);
      const tolerance = dtype === 'mixed_bfloat16' ? 0.06 : 0.01;
      expect(apart(y, step.output)).toBeLessThan(tolerance);
      const names = Object.keys(step.gradients);
      const sources = names.map((name) => layer.namedWeights.filter((w) => w.path === name)[0].variable);
      const gradients = tape.gradient(y, sources, {
        outputGradients: tensorOf(step.upstream).cast(y.dtype),
      }) as readonly Tensor[];
      names.forEach((name, i) => {
        expect(gradients[i].dtype).toBe('float32');
        expect(apart(gradients[i], step.gradients[name])).toBeLessThan(4 * tolerance);
      });
      // Moving statistics have changed, so what is traced is compared where there are none.
      if (layer.nonTrainableWeights.length === 0 || !step.training)
        expect(apart(tfFunction(call)(...inputs), step.output)).toBeLessThan(tolerance);
    },
  );
});

test('policies by name, as objects, as Keras writes them, and for all layers', () => {
  const mixed = new DTypePolicy('mixed_bfloat16');
  expect([mixed.computeDtype, mixed.variableDtype, mixed.quantizationMode]).toEqual([
    'bfloat16',
    'float32',
    null,
  ]);
  const dense = new layers.Dense(2, { dtype: mixed });
  expect([dense.dtype, dense.computeDtype, dense.dtypePolicy.name]).toEqual([
    'float32',
    'bfloat16',
    'mixed_bfloat16',
  ]);
  const again = layers.Dense.fromConfig(
    JSON.parse(JSON.stringify(dense.getConfig())) as Record<string, unknown>,
  );
  expect(again.dtypePolicy.name).toBe('mixed_bfloat16');
  setDtypePolicy('mixed_float16');
  expect(dtypePolicy().name).toBe('mixed_float16');
  expect(new layers.Dense(2).computeDtype).toBe('float16');
  setDtypePolicy(new DTypePolicy('float64'));
  expect(new layers.Dense(2)([[1, 2]]).dtype).toBe('float64');
  expect(() => new layers.Dense(2, { dtype: 'int8' as never })).toThrow(
    'dtype must be a policy (float32, float64',
  );
  expect(() => setDtypePolicy({ mixed: true } as never)).toThrow();
  const half = new layers.Dense(2, { dtype: 'bfloat16' });
  expect(half([[1, 2]]).dtype).toBe('bfloat16');
  expect(half.weights.map((w) => w.dtype)).toEqual(['bfloat16', 'bfloat16']);
});

test.each(['mixed_bfloat16', 'mixed_float16', 'float32'] as const)(
  'a model learns with %s',
  async (policy) => {
    setDtypePolicy(policy);
    random.setSeed(3);
    const model = new Sequential([
      new layers.Dense(16, { activation: 'relu', inputShape: [8] }),
      new layers.BatchNormalization(),
      new layers.Dropout(0.1),
      new layers.Dense(3, { activation: 'softmax', dtype: 'float32' }),
    ]);
    const x = random.normal([96, 8], { seed: 1 });
    const y = x.at(':', '0:3').argMax(1).cast('int32');
    model.compile({ optimizer: 'adam', loss: 'sparseCategoricalCrossentropy', metrics: ['accuracy'] });
    const { history } = await model.fit(x, y, { epochs: 40, batchSize: 16, verbose: 0, shuffle: false });
    const losses = history['loss'] as number[];
    expect(losses.at(-1)).toBeLessThan(0.6 * losses[0]);
    expect(model.weights.every((w) => w.dtype === 'float32')).toBe(true);
    const predicted = (await model.predict(x)) as Tensor;
    expect(predicted.dtype).toBe('float32');
    // Only float16 needs it.
    expect(model.optimizer instanceof LossScaleOptimizer).toBe(policy === 'mixed_float16');
    model.compile({ optimizer: 'adam', loss: 'sparseCategoricalCrossentropy', autoScaleLoss: false });
    expect(model.optimizer).not.toBeInstanceOf(LossScaleOptimizer);
  },
);

test('layers of the user read their weights in the precision of the computation', () => {
  class Scale extends layers.Layer {
    w!: ReturnType<layers.Layer['addWeight']>;
    kept!: ReturnType<layers.Layer['addWeight']>;
    override build(): void {
      this.w = this.addWeight({ shape: [], initializer: 'ones' });
      this.kept = this.addWeight({ shape: [], initializer: 'ones', autocast: false });
    }
    override call(x: Tensor): Tensor {
      expect([x.dtype, this.w.mul(2).dtype, this.kept.mul(2).dtype]).toEqual([
        'bfloat16',
        'bfloat16',
        'float32',
      ]);
      return x.mul(this.w);
    }
  }
  const layer = new Scale({ dtype: 'mixed_bfloat16' });
  expect(layer(constant([1.5])).dtype).toBe('bfloat16');
  expect(layer.w.mul(2).dtype).toBe('float32');
});

// Keras 3.15.1 on TensorFlow, `autocast=False` in the same places.
describe('layers that convert nothing', () => {
  const read: [string, string][] = [];
  class Own extends layers.Layer {
    w!: ReturnType<layers.Layer['addWeight']>;
    override build(): void {
      this.w = this.addWeight({ shape: [], initializer: 'ones' });
    }
    override call(x: Tensor): Tensor {
      read.push([x.dtype, this.w.mul(2).dtype]);
      return x.mul(1);
    }
  }
  class Outer extends layers.Layer {
    readonly inner: layers.Layer;
    constructor(inner: layers.Layer) {
      super({ dtype: 'mixed_bfloat16' });
      this.inner = inner;
    }
    override call(x: Tensor): Tensor {
      return this.inner(x);
    }
    override getConfig(): Record<string, unknown> {
      return { ...super.getConfig(), inner: this.inner };
    }
  }

  test.each([
    ['float32', 'float64', 'float32'],
    ['float32', 'float16', 'float32'],
    ['float32', 'int32', 'float32'],
    ['mixed_bfloat16', 'float64', 'bfloat16'],
    ['mixed_bfloat16', 'float16', 'bfloat16'],
    ['float64', 'float16', 'float64'],
  ] as const)('a class with the policy %s, of %s', (dtype, input, weight) => {
    read.length = 0;
    const own = new Own({ dtype, autocast: false });
    expect(own.autocast).toBe(false);
    expect(own(constant([[1, 2]], input)).dtype).toBe(input);
    expect(read).toEqual([[input, weight]]);
  });

  test('inside one that computes in 16 bits, weights are read as they are', () => {
    read.length = 0;
    for (const dtype of ['float32', 'mixed_bfloat16'] as const)
      new Outer(new Own({ dtype, autocast: false }))(constant([1], 'float64'));
    expect(read.at(-1)).toEqual(['bfloat16', 'float32']);
    expect(read[0]).toEqual(['bfloat16', 'float32']);
  });

  test('a class sets it itself', () => {
    read.length = 0;
    const own = new Own();
    own.autocast = false;
    expect(own(constant([1], 'float64')).dtype).toBe('float64');
    expect(() => new Own({ autocast: 1 as never })).toThrow('autocast must be true or false, got 1');
    expect(() => (own.autocast = 'no' as never)).toThrow('autocast must be true or false');
  });

  const f64 = 'float64';
  const f32 = 'float32';
  const f16 = 'float16';
  test.each<[string, () => layers.Layer, string, string]>([
    ['Dense', () => new layers.Dense(2, { autocast: false }), f64, f32],
    ['Reshape', () => new layers.Reshape([3, 1], { autocast: false }), f64, f16],
    ['Dropout', () => new layers.Dropout(0.5, { autocast: false }), f64, f16],
    ['BatchNormalization', () => new layers.BatchNormalization({ autocast: false }), f32, f32],
    ['LayerNormalization', () => new layers.LayerNormalization({ autocast: false }), f32, f32],
    ['ReLU', () => new layers.ReLU({ autocast: false }), f64, f16],
    ['Activation', () => new layers.Activation('tanh', { autocast: false }), f64, f16],
    ['Flatten', () => new layers.Flatten({ autocast: false }), f64, f16],
    ['Softmax', () => new layers.Softmax({ autocast: false }), f64, f16],
    ['Rescaling', () => new layers.Rescaling(2, { autocast: false }), f32, f32],
    ['Identity', () => new layers.Identity({ autocast: false }), f64, f16],
    ['UnitNormalization', () => new layers.UnitNormalization({ autocast: false }), f64, f16],
  ])('%s', (_, make, wide, narrow) => {
    expect(make()(constant([[1, 2, 3]], f64)).dtype).toBe(wide);
    expect(make()(constant([[1, 2, 3]], f16)).dtype).toBe(narrow);
    // A model knows it before it computes.
    expect(make()(layers.Input([3], { dtype: f64 })).dtype).toBe(wide);
  });
});

// Quantizers, layers of int8 and LoRA, against Keras's own results.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  ones,
  random,
  type Tensor,
  UnimplementedError,
} from '@eagre/core';
import { optionsFrom } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import {
  DTypePolicy,
  Input,
  Int4DTypePolicy,
  layers,
  Model,
  QuantizedDTypePolicy,
  QuantizedFloat8DTypePolicy,
  quantizers,
  Sequential,
} from '../../index.ts';
import { assertCloseTensor, readGolden, tensorOf, type Values } from '../../testing/golden.ts';

interface Weight extends Values {
  readonly name: string;
  readonly dtype: string;
  readonly trainable: boolean;
}
interface LayerCase {
  readonly layer: 'Dense' | 'Embedding' | 'EinsumDense';
  readonly config: Record<string, unknown>;
  readonly weights: readonly Values[];
  readonly x: Values;
  readonly quantize: boolean;
  readonly policy?: string;
  readonly quantizedConfig?: Record<string, unknown>;
  readonly lora: { readonly rank: number; readonly lora_alpha?: number } | null;
  readonly lora_values?: readonly [Values, Values];
  readonly after: readonly Weight[];
  readonly up: Values;
  readonly outputs: readonly Values[];
  readonly gradient?: Values;
  readonly trained: readonly Values[];
}
const golden = readGolden<{
  readonly abs_max: readonly {
    readonly x: Values;
    readonly axis: number | readonly number[];
    readonly options: { readonly value_range?: [number, number] };
    readonly y: Values;
    readonly scale: Values;
  }[];
  readonly fake_quant: readonly {
    readonly x: Values;
    readonly low: Values;
    readonly high: Values;
    readonly options: { readonly num_bits?: number; readonly narrow_range?: boolean; readonly axis?: number };
    readonly y: Values;
    readonly up: Values;
    readonly grads: readonly Values[];
  }[];
  readonly grouped: readonly { x: Values; block: number; y: Values; scale: Values; zero: Values }[];
  readonly packed: readonly {
    readonly x: Values;
    readonly axis: number;
    readonly dtype: 'int8' | 'uint8';
    readonly y: Values;
    readonly shape: readonly number[];
    readonly length: number;
  }[];
  readonly layers: readonly LayerCase[];
  readonly int4: readonly (LayerCase & {
    readonly stored: readonly Values[];
    readonly given: object | null;
  })[];
  readonly attention: readonly {
    readonly layer: 'MultiHeadAttention' | 'GroupedQueryAttention';
    readonly mode: 'int8' | 'int4';
    readonly block: number | null;
    readonly x: Values;
    readonly weights: readonly Values[];
    readonly after: readonly Weight[];
    readonly y: Values;
    readonly up: Values;
    readonly gradient: Values;
  }[];
  readonly float8: readonly {
    readonly layer: 'Dense' | 'EinsumDense';
    readonly config: Record<string, unknown>;
    readonly x: Values;
    readonly weights: readonly Values[];
    readonly policy: string;
    readonly quantizedConfig: Record<string, unknown>;
    readonly names: readonly (readonly [string, readonly number[], boolean])[];
    readonly up: Values;
    readonly before: Values;
    readonly steps: readonly {
      readonly y: Values;
      readonly gradient: Values;
      readonly weights: readonly Values[];
    }[];
    readonly histories: readonly Values[];
    readonly stored: readonly (readonly number[])[];
  }[];
  readonly rounded: readonly {
    readonly dtype: quantizers.Float8DType;
    readonly x: Values;
    readonly y: Values;
    readonly half: Values;
  }[];
  readonly scales: readonly (readonly [number | null, number, number, number])[];
  readonly configs: readonly [object, object, object, object, object, object, object, object];
}>('quantization');
const exactly = (got: Tensor, wanted: Values): void => {
  expect(got.shape).toEqual(wanted.shape);
  expect(Array.from(got.data() as ArrayLike<number>, (v) => v + 0)).toEqual(
    wanted.values.map((v) => Math.fround(v) + 0),
  );
};

describe('quantizers', () => {
  test.each(golden.abs_max.map((c, i) => [i, c] as const))('absMaxQuantize %i', (_, c) => {
    const x = tensorOf(c.x);
    const { value_range: valueRange } = c.options;
    const options = valueRange === undefined ? {} : { valueRange };
    const run = (t: Tensor): Tensor[] => quantizers.absMaxQuantize(t, c.axis, options);
    for (const [y, scale] of [run(x), tfFunction(run)(x)] as [Tensor, Tensor][]) {
      expect(y.dtype).toBe('int8');
      exactly(y, c.y);
      assertCloseTensor(scale, c.scale, 'scale', 1e-6);
    }
    const [y] = new quantizers.AbsMaxQuantizer({ axis: c.axis, ...options })(x);
    exactly(y, c.y);
  });

  test.each(golden.fake_quant.map((c, i) => [i, c] as const))('fakeQuantWithMinMaxVars %i', (_, c) => {
    const inputs = [c.x, c.low, c.high].map((v) => tensorOf(v)) as [Tensor, Tensor, Tensor];
    const up = tensorOf(c.up);
    const { num_bits: numBits, narrow_range: narrowRange, axis } = c.options;
    const options = {
      ...(numBits === undefined ? {} : { numBits }),
      ...(narrowRange === undefined ? {} : { narrowRange }),
      ...(axis === undefined ? {} : { axis }),
    };
    const run = (x: Tensor, low: Tensor, high: Tensor): Tensor[] => {
      const tape = new GradientTape();
      tape.watch([x, low, high]);
      const y = quantizers.fakeQuantWithMinMaxVars(x, low, high, options);
      return [y, ...(tape.gradient(y, [x, low, high], { outputGradients: up }) as Tensor[])];
    };
    for (const [y, ...grads] of [run(...inputs), tfFunction(run)(...inputs)] as Tensor[][]) {
      assertCloseTensor(y as Tensor, c.y, 'y', 1e-6);
      grads.forEach((g, i) => assertCloseTensor(g, c.grads[i] as Values, `gradient ${i}`, 1e-5));
    }
  });

  test.each(golden.grouped.map((c, i) => [i, c] as const))('groups with a zero point %i', (_, c) => {
    const [y, scale, zero] = quantizers.absMaxQuantizeGroupedWithZeroPoint(tensorOf(c.x), c.block);
    exactly(y, c.y);
    assertCloseTensor(scale, c.scale, 'scale', 1e-6);
    exactly(zero, c.zero);
  });

  test.each(golden.packed.map((c, i) => [i, c] as const))('4 bits %i', (_, c) => {
    const x = tensorOf(c.x, 'int32').cast(c.dtype);
    const [y, shape, length] = quantizers.packInt4(x, c.axis, { dtype: c.dtype });
    exactly(y, c.y);
    expect(shape).toEqual(c.shape);
    expect(length).toBe(c.length);
    exactly(quantizers.unpackInt4(y, length, c.axis, { dtype: c.dtype }), c.x);
  });

  test('configurations are those of Keras', () => {
    const plain = (x: unknown): unknown => JSON.parse(JSON.stringify(x));
    const [first, second, config, policy, config4, policy4, config8, policy8] = golden.configs;
    expect(plain(quantizers.serialize(new quantizers.AbsMaxQuantizer(0)))).toEqual(first);
    expect(plain(quantizers.deserialize(second as never))).toEqual(second);
    expect(plain(new quantizers.Int8QuantizationConfig())).toEqual(config);
    expect(plain(new QuantizedDTypePolicy('int8', 'float32'))).toEqual(policy);
    expect(plain(new quantizers.Int4QuantizationConfig())).toEqual(config4);
    expect(plain(new quantizers.Float8QuantizationConfig())).toEqual(config8);
    expect(plain(new QuantizedFloat8DTypePolicy('float8', 'mixed_bfloat16'))).toEqual(policy8);
    const own = new QuantizedFloat8DTypePolicy('float8', 'float32', { amaxHistoryLength: 4 });
    expect(QuantizedFloat8DTypePolicy.fromConfig(own.getConfig()).amaxHistoryLength).toBe(4);
    expect(plain(new Int4DTypePolicy('int4/64', 'mixed_bfloat16'))).toEqual(policy4);
    const { config: options } = policy4 as { readonly config: Record<string, unknown> };
    const again = Int4DTypePolicy.fromConfig(options);
    expect([again.name, again.blockSize, again.mode, again.quantizationMode, again.computeDtype]).toEqual([
      'int4/64_from_mixed_bfloat16',
      64,
      'int4',
      'int4',
      'bfloat16',
    ]);
    for (const mode of ['int4', 'int4/0', 'int4/x', 'int8/4'])
      expect(() => new Int4DTypePolicy(mode as never)).toThrow(InvalidArgumentError);
  });

  test('wrong arguments are refused', () => {
    expect(() => quantizers.absMaxQuantize(constant([1, 2], 'int32'), 0)).toThrow(InvalidArgumentError);
    expect(() => quantizers.packInt4(constant([1, 2], 'int32'))).toThrow(InvalidArgumentError);
    expect(() => quantizers.fakeQuantWithMinMaxVars([1], -1, 1, { numBits: 1 })).toThrow(
      InvalidArgumentError,
    );
    expect(() => new quantizers.AbsMaxQuantizer({ valueRange: [-300, 300] })).toThrow(InvalidArgumentError);
  });
});

const make = (c: LayerCase, config: Record<string, unknown>): layers.Dense =>
  (layers[c.layer] as unknown as typeof layers.Dense).fromConfig(config);

describe('layers', () => {
  const int4 = golden.int4.map((c) => ({ ...c, mode: 'int4' as const }));
  const int8 = golden.layers.map((c) => ({ ...c, mode: 'int8' as const, given: null, stored: null }));
  test.each(
    [...int8, ...int4].map(
      (c, i) => [i, c.layer, c.quantize ? c.mode : 'floats', c.lora === null ? '' : 'with LoRA', c] as const,
    ),
  )('%i %s of %s %s', (_i, _layer, _mode, _with, c) => {
    const layer = make(c, c.config);
    const x = tensorOf(c.x, c.layer === 'Embedding' ? 'int32' : 'float32');
    layer(x);
    layer.setWeights(c.weights.map((v) => tensorOf(v)));
    if (c.quantize) {
      const own =
        c.given === null
          ? null
          : new quantizers.Int4QuantizationConfig(
              optionsFrom(c.given as never, quantizers.Int4QuantizationConfig),
            );
      layer.quantize(c.mode, { config: own });
      expect(layer.quantizationMode).toBe(c.mode);
      expect(layer.dtypePolicy.name).toBe(c.policy);
      const { build_config: _, ...config } = c.quantizedConfig ?? {};
      expect(JSON.parse(JSON.stringify(layer.getConfig()))).toMatchObject(config);
      const again = make(c, layer.getConfig());
      again(x);
      again.setWeights(layer.getWeights());
      expect(again(x).data()).toEqual(layer(x).data());
    }
    if (c.lora !== null) {
      const { rank, lora_alpha: loraAlpha = null } = c.lora;
      layer.enableLora(rank, { loraAlpha });
      const adapters = layer.weights.filter((w) => w.path.includes('lora'));
      adapters.forEach((w, i) => w.assign(tensorOf(c.lora_values?.[i] as Values)));
    }
    const { weights } = layer;
    expect(weights.map((w) => [w.dtype, w.trainable, w.name])).toEqual(
      c.after.map((w) => [w.dtype, w.trainable, w.name]),
    );
    weights.forEach((w, i) => {
      const wanted = c.after[i] as Weight;
      if (w.dtype === 'int8') exactly(w.read(), wanted);
      else assertCloseTensor(w.read(), wanted, w.path, 1e-6);
    });

    const up = tensorOf(c.up);
    const step = (input: Tensor): Tensor[] => {
      const tape = new GradientTape();
      if (c.layer !== 'Embedding') tape.watch(input);
      const y = layer<Tensor>(input);
      const sources = [...layer.trainableVariables, ...(c.layer === 'Embedding' ? [] : [input])];
      const gradients = tape.gradient(y, sources, { outputGradients: up }) as Tensor[];
      return [y, ...gradients];
    };
    const before = layer.getWeights();
    for (const run of [step, tfFunction(step)] as const) {
      layer.setWeights(before);
      c.outputs.forEach((wanted, i) => {
        const [y, ...gradients] = run(x) as [Tensor, ...Tensor[]];
        assertCloseTensor(y, wanted, `outputs of step ${i}`, 3e-5);
        if (i === 0 && c.gradient !== undefined)
          assertCloseTensor(gradients.at(-1) as Tensor, c.gradient, 'gradient', 1e-5);
        if (i < c.outputs.length - 1)
          layer.trainableVariables.forEach((v, j) => {
            const g = gradients[j] as Tensor;
            v.assign(v.sub(g.mul(0.01)));
          });
      });
      layer.trainableVariables.forEach((v, i) =>
        assertCloseTensor(v.read(), c.trained[i] as Values, v.path, 3e-5),
      );
    }
    if (c.stored !== null) {
      const store: Record<string, Tensor> = {};
      layer.saveOwnVariables(store);
      expect(Object.keys(store)).toEqual(c.stored.map((_, i) => `${i}`));
      c.stored.forEach((v, i) =>
        assertCloseTensor((store[i] as Tensor).cast('float32'), v, `file ${i}`, 1e-6),
      );
    }
  });
});

describe('LoRA before or after integers is the same, as in Keras 3.15.1', () => {
  const x = random.Generator.fromSeed(2).uniform([4, 6]);
  const rows = constant([
    [1, 2],
    [0, 1],
  ]).cast('int32');
  const cases: [string, () => layers.Dense, Tensor, string[]][] = [
    [
      'Dense',
      () => new layers.Dense(4),
      x,
      ['bias', 'lora_kernel_a', 'lora_kernel_b', 'kernel', 'kernel_scale'],
    ],
    [
      'EinsumDense',
      () => new layers.EinsumDense('ab,bc->ac', 4, { biasAxes: 'c' }) as never,
      x,
      ['bias', 'lora_kernel_a', 'lora_kernel_b', 'kernel', 'kernel_scale'],
    ],
    [
      'Embedding',
      () => new layers.Embedding(5, 4) as never,
      rows,
      ['lora_embeddings_a', 'lora_embeddings_b', 'embeddings', 'embeddings_scale'],
    ],
  ];
  test.each(cases)('%s', (_, make, input, names) => {
    const made = (
      adapt: (layer: layers.Dense) => void,
      ...more: ((layer: layers.Dense) => void)[]
    ): layers.Dense => {
      const layer = make();
      layer(input);
      layer.setWeights(layer.weights.map((w, i) => random.Generator.fromSeed(i + 3).normal(w.shape)));
      for (const each of [adapt, ...more]) each(layer);
      return layer;
    };
    const lora = (layer: layers.Dense): void => {
      layer.enableLora(2);
      layer.weights
        .filter((w) => w.path.includes('lora'))
        .forEach((w, i) => w.assign(random.Generator.fromSeed(i).normal(w.shape)));
    };
    const ints = (layer: layers.Dense): void => layer.quantize('int8');
    const [one, other] = [made(lora, ints), made(ints, lora)];
    expect(one.weights.map((w) => w.path.split('/').at(-1))).toEqual(names);
    expect(one.trainableWeights.map((w) => w.path.split('/').at(-1))).toEqual(names.slice(0, -2));
    expect(one(input).data()).toEqual(other(input).data());
    const before = one(input);
    const stores: Record<string, Tensor>[] = [{}, {}];
    one.saveOwnVariables(stores[0] as never);
    other.saveOwnVariables(stores[1] as never);
    expect(Object.values(stores[0] as object).map((v: Tensor) => v.array())).toEqual(
      Object.values(stores[1] as object).map((v: Tensor) => v.array()),
    );
    expect(before.sub(made(ints)(input)).abs().max().item()).toBeGreaterThan(0.1);
    expect(() => one.enableLora(2)).toThrow(FailedPreconditionError);
  });
});

describe('floats of 8 bits', () => {
  test.each(golden.rounded.map((c) => [c.dtype, c] as const))('%s', (dtype, c) => {
    const x = tensorOf(c.x);
    for (const run of [
      quantizers.quantizeAndDequantize,
      tfFunction(quantizers.quantizeAndDequantize as never),
    ])
      exactly((run as typeof quantizers.quantizeAndDequantize)(x, 1, dtype, 'float32'), c.y);
    exactly(quantizers.quantizeAndDequantize(x, 0.5, dtype, 'bfloat16').cast('float32'), c.half);
  });

  test('scales and histories', () => {
    for (const [amax, scale, margin, wanted] of golden.scales)
      expect(
        quantizers.computeFloat8Scale(amax ?? Number.POSITIVE_INFINITY, scale, 448, margin).item(),
      ).toBeCloseTo(wanted, 7);
    // Keras 3.15.1.
    expect(quantizers.computeFloat8AmaxHistory([1, -9, 2], [1, 2, 3, 4]).array()).toEqual([9, 3, 4, 1]);
    expect(() => quantizers.quantizeAndDequantize([1], 1, 'float8' as never, 'float32')).toThrow(
      InvalidArgumentError,
    );
  });

  test.each(golden.float8.map((c, i) => [i, c.layer, c] as const))('%i %s', (_i, _layer, c) => {
    const layer = (layers[c.layer] as unknown as typeof layers.Dense).fromConfig(c.config);
    const x = tensorOf(c.x);
    layer(x);
    layer.setWeights(c.weights.map((v) => tensorOf(v)));
    layer.quantize('float8');
    expect([layer.quantizationMode, layer.dtypePolicy.name]).toEqual(['float8', c.policy]);
    const { build_config: _, ...config } = c.quantizedConfig;
    expect(JSON.parse(JSON.stringify(layer.getConfig()))).toMatchObject(config);
    expect(layer.weights.map((w) => [w.name, w.shape, w.trainable])).toEqual(c.names);
    const store: Record<string, Tensor> = {};
    layer.saveOwnVariables(store);
    expect(Object.values(store).map((v) => v.shape)).toEqual(c.stored);
    assertCloseTensor(layer(x), c.before, 'before', 1e-5);
    const before = layer.getWeights();
    const step = (given: Tensor): Tensor[] => {
      const tape = new GradientTape();
      tape.watch(given);
      const y = layer<Tensor>(given, { training: true });
      const variables = layer.trainableVariables;
      const gradients = tape.gradient(y, [...variables, given], {
        outputGradients: tensorOf(c.up),
      }) as Tensor[];
      optimizer.applyGradients(gradients.slice(0, -1), variables);
      return [y, gradients.at(-1) as Tensor];
    };
    let optimizer = new SGD(0.1);
    for (const run of [step, tfFunction(step)]) {
      layer.setWeights(before);
      optimizer = new SGD(0.1);
      c.steps.forEach((wanted, i) => {
        const [y, gradient] = run(x.mul(i + 1)) as [Tensor, Tensor];
        assertCloseTensor(y, wanted.y, `y of step ${i}`, 1e-4);
        // Where a product lies between two floats of 8 bits, its last bit decides.
        assertCloseTensor(gradient, wanted.gradient, `gradient of step ${i}`, 2e-3);
        const kept = layer.weights.filter((w) => !w.name.includes('history'));
        kept.forEach((w, k) => {
          assertCloseTensor(w.read(), wanted.weights[k] as Values, w.path, 1e-3, w.size === 1 ? 1e-6 : 0.1);
        });
      });
      layer.weights
        .filter((w) => w.name.includes('history'))
        .forEach((w, k) =>
          assertCloseTensor(w.read().slice([0], [4]), c.histories[k] as Values, w.path, 1e-4),
        );
      expect(optimizer.variables).toHaveLength(2);
    }
  });

  test('models train with them; tables stay as they are', async () => {
    random.setSeed(3);
    const model = new Sequential([
      Input({ shape: [4], dtype: 'int32' }),
      new layers.Embedding(7, 4),
      new layers.Flatten(),
      new layers.Dense(8, { activation: 'relu' }),
      new layers.Dense(2),
    ]);
    model.quantize('float8');
    expect(model.layers.map((l) => l.quantizationMode)).toEqual([null, null, 'float8', 'float8']);
    model.compile({ optimizer: new SGD(0.1), loss: 'mse' });
    const x = random.Generator.fromSeed(1).uniform([16, 4], { minval: 0, maxval: 7, dtype: 'int32' });
    const { history } = await model.fit(x, ones([16, 2]), { epochs: 20, verbose: 0 });
    const { loss } = history as unknown as { readonly loss: readonly number[] };
    expect(loss.at(-1) as number).toBeLessThan((loss[0] as number) / 2);
    const again = Sequential.fromConfig(JSON.parse(JSON.stringify(model.getConfig())));
    for (const w of again.weights) {
      const own = model.weights.find(
        (v) => v.path.split('/').slice(-2).join() === w.path.split('/').slice(-2).join(),
      );
      expect(own?.shape).toEqual(w.shape);
    }
    expect((model.layers[2] as layers.Dense).inputsScale?.item()).not.toBe(1);
  });

  test('what does not go with them is refused', () => {
    const dense = new layers.Dense(2);
    dense.build([null, 3]);
    dense.quantize('float8');
    expect(() => dense.enableLora(2)).toThrow(UnimplementedError);
    const table = new layers.Embedding(3, 2);
    table.build([null]);
    expect(() => table.quantize('float8')).toThrow(UnimplementedError);
  });

  test('of steps that are accumulated they take the largest scales', () => {
    // Keras 3.15.1: the first two numbers of each weight after steps with the inputs times 2, 1, 3, 0.5, 1 and 1.
    const wanted = [
      [0.5, -0.25, 0.1, -0.2, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
      [0.33125, -0.325, -0.025, -0.35, 1.0, 6.0, 0.0, 1.0, 1.0, 0.0, 1.0, 2.0, 0.0],
      [0.33125, -0.325, -0.025, -0.35, 1.0, 6.0, 0.0, 1.0, 1.0, 0.0, 1.0, 2.0, 0.0],
      [0.134375, -0.4125, -0.15, -0.5, 0.01339286, 9.0, 0.0, 0.002232143, 1.2, 0.0, 3.487723e-5, 2.0, 0.0],
      [0.134375, -0.4125, -0.15, -0.5, 0.01339286, 9.0, 0.0, 0.002232143, 1.2, 0.0, 3.487723e-5, 2.0, 0.0],
      [
        0.02589286, -0.4607143, -0.275, -0.65, 0.02008929, 3.0, 0.0, 0.002678572, 1.725, 0.0, 3.487723e-5,
        2.0, 0.0,
      ],
    ];
    for (const traced of [false, true]) {
      const dense = new layers.Dense(2);
      dense.build([null, 3]);
      dense.setWeights([
        constant([
          [0.5, -0.25],
          [1, 0.75],
          [-0.5, 0.125],
        ]),
        constant([0.1, -0.2]),
      ]);
      dense.quantize('float8');
      const optimizer = new SGD(0.1, { gradientAccumulationSteps: 2 });
      const step = (x: Tensor): Tensor => {
        const tape = new GradientTape();
        const y = dense<Tensor>(x, { training: true });
        const { trainableVariables: variables } = dense;
        const up = constant([
          [1, -0.5],
          [0.25, 2],
        ]);
        optimizer.applyGradients(tape.gradient(y, variables, { outputGradients: up }) as Tensor[], variables);
        return y;
      };
      const run = traced ? tfFunction(step) : step;
      [2, 1, 3, 0.5, 1, 1].forEach((by, i) => {
        run(
          constant([
            [1, 2, -3],
            [0.5, -1, 0.25],
          ]).mul(by),
        );
        const got = dense.weights.flatMap((w) => [...(w.read().data() as Float32Array)].slice(0, 2));
        got.forEach((v, k) => expect(v).toBeCloseTo(wanted[i]?.[k] as number, 5));
      });
      expect(optimizer.variables.map((v) => v.name.replace(/^.*dense_?\d*_/, ''))).toEqual([
        'iteration',
        'learning_rate',
        ...[
          'kernel',
          'bias',
          'inputs_scale',
          'inputs_amax_history',
          'kernel_scale',
          'kernel_amax_history',
        ].map((name) => `${name}_gradient_accumulator`),
        'outputs_grad_scale_gradient_accumulator',
        'outputs_grad_amax_history_gradient_accumulator',
      ]);
    }
  });
});

describe('attention in models', () => {
  test.each(golden.attention.map((c) => [c.layer, c.mode, c.block, c] as const))(
    '%s of %s %s',
    (_a, _b, _c, c) => {
      const x = tensorOf(c.x);
      const input = Input({ shape: x.shape.slice(1) });
      const bias = { useBias: c.weights.length > 4 };
      const layer =
        c.layer === 'MultiHeadAttention'
          ? new layers.MultiHeadAttention(2, 3, bias)
          : new layers.GroupQueryAttention(3, 4, 2, bias);
      const model = new Model(input, layer(input, input) as never);
      model.setWeights(c.weights.map((v) => tensorOf(v)));
      model.quantize(c.mode, {
        config: c.block === null ? null : new quantizers.Int4QuantizationConfig({ blockSize: c.block }),
      });
      expect(model.weights.map((w) => [w.dtype, w.trainable, w.name])).toEqual(
        c.after.map((w) => [w.dtype, w.trainable, w.name]),
      );
      model.weights.forEach((w, i) =>
        assertCloseTensor(w.read().cast('float32'), c.after[i] as Weight, w.path, 1e-6),
      );
      const step = (given: Tensor): Tensor[] => {
        const tape = new GradientTape();
        tape.watch(given);
        const y = model<Tensor>(given);
        return [y, tape.gradient(y, given, { outputGradients: tensorOf(c.up) }) as Tensor];
      };
      for (const [y, gradient] of [step(x), tfFunction(step)(x)] as [Tensor, Tensor][]) {
        assertCloseTensor(y, c.y, 'y', 3e-5);
        assertCloseTensor(gradient, c.gradient, 'gradient', 3e-4);
      }
    },
  );

  test('projections have LoRA, before and after integers', () => {
    const x = tensorOf((golden.attention[0] as { readonly x: Values }).x);
    const made = (adapt: readonly ((projection: layers.Dense) => void)[]): Tensor => {
      random.setSeed(3);
      const layer = new layers.MultiHeadAttention(2, 3);
      layer(x, x);
      for (const each of [layer.query, layer.attentionOutput])
        for (const change of adapt) change(each as never);
      return layer(x, x);
    };
    const lora = (projection: layers.Dense): void => {
      projection.enableLora(2);
      projection.loraKernelB?.assign(random.Generator.fromSeed(4).normal(projection.loraKernelB.shape));
    };
    const ints = (projection: layers.Dense): void => projection.quantize('int4');
    const [first, second, alone] = [made([lora, ints]), made([ints, lora]), made([ints])];
    // The matrices of LoRA are drawn at other places of the stream.
    expect(first.shape).toEqual(second.shape);
    expect(first.sub(alone).abs().max().item()).toBeGreaterThan(0.01);
  });
});

describe('models', () => {
  const model = (): Sequential =>
    new Sequential([
      Input({ shape: [6] }),
      new layers.Dense(8, { activation: 'relu', name: 'first' }),
      new layers.Dropout(0.1),
      new layers.Dense(3, { name: 'last' }),
    ]);

  test('all layers that can be are quantized, or those that filters say', () => {
    const x = tensorOf((golden.layers[0] as LayerCase).x);
    const all = model();
    const before = all<Tensor>(x);
    all.quantize('int8');
    expect(all.weights.map((w) => w.dtype)).toEqual([
      'float32',
      'int8',
      'float32',
      'float32',
      'int8',
      'float32',
    ]);
    const after = all<Tensor>(x);
    expect(Math.max(...(after.sub(before).abs().data() as Float32Array))).toBeLessThan(0.05);
    const one = model();
    one.quantize({ mode: 'int8', filters: '^la' });
    expect(one.layers.map((l) => l.quantizationMode)).toEqual([null, null, 'int8']);
    const other = model();
    other.quantize({ config: new quantizers.Int8QuantizationConfig(), filters: (l) => l.name === 'first' });
    expect(other.layers.map((l) => l.quantizationMode)).toEqual(['int8', null, null]);
  });

  test('a model of int8 with LoRA trains the small matrices alone', async () => {
    const [x, y] = [
      tensorOf((golden.layers[0] as LayerCase).x),
      constant([
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 0, 0],
      ]),
    ];
    random.setSeed(1);
    const tuned = model();
    tuned.quantize('int8');
    for (const name of ['first', 'last']) (tuned.getLayer(name) as layers.Dense).enableLora(2);
    const frozen = tuned.nonTrainableVariables.map((v) => v.read());
    tuned.compile({ optimizer: 'adam', loss: 'mse' });
    // Evaluated, not from the history: the dropout's draws make the loss of a single step go up and down.
    const { loss: before } = await tuned.evaluate(x, y, { verbose: 0 });
    await tuned.fit(x, y, { epochs: 30, verbose: 0 });
    const { loss: after } = await tuned.evaluate(x, y, { verbose: 0 });
    expect(after as number).toBeLessThan(before as number);
    tuned.nonTrainableVariables.forEach((v, i) => expect(v.read().data()).toEqual(frozen[i]?.data()));
    expect(tuned.trainableVariables).toHaveLength(6);
  });

  test('a model of int8 is read from its configuration', () => {
    const one = model();
    one.quantize('int8');
    const again = Sequential.fromConfig(JSON.parse(JSON.stringify(one.getConfig())));
    again.setWeights(one.getWeights());
    const x = tensorOf((golden.layers[0] as LayerCase).x);
    expect(again<Tensor>(x).data()).toEqual(one<Tensor>(x).data());
  });
});

describe('LoRA', () => {
  test('the kernel is the sum', () => {
    const layer = new layers.Dense(4, { loraRank: 2, loraAlpha: 3 });
    layer.build([null, 3]);
    expect(layer.loraEnabled).toBe(true);
    layer.loraKernelB?.assign([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    const x = constant([[1, 2, 3]]);
    expect(layer.kernel.shape).toEqual([3, 4]);
    const sum = x.matmul(layer.kernel).data() as Float32Array;
    (layer(x).data() as Float32Array).forEach((v, i) => expect(v).toBeCloseTo(sum[i] as number, 5));
    expect(layer.getConfig()).toMatchObject({ lora_rank: 2, lora_alpha: 3 });
  });

  test('one that could not work is refused', () => {
    const layer = new layers.Dense(4, { kernelConstraint: 'nonNeg' });
    expect(() => layer.enableLora(2)).toThrow(FailedPreconditionError);
    layer.build([null, 3]);
    expect(() => layer.enableLora(2)).toThrow(InvalidArgumentError);
    const other = new layers.Dense(4);
    other.build([null, 3]);
    expect(() => other.enableLora(0)).toThrow(InvalidArgumentError);
    other.enableLora({ rank: 1 });
    expect(() => other.enableLora(1)).toThrow(FailedPreconditionError);
    other.quantize('int8');
    expect(other.quantizationMode).toBe('int8');
  });
});

test('what cannot be quantized is refused', () => {
  const layer = new layers.Dense(4);
  expect(() => layer.quantize('int8')).toThrow(FailedPreconditionError);
  layer.build([null, 3]);
  expect(() => layer.quantize()).toThrow(InvalidArgumentError);
  expect(() => layer.quantize('gptq')).toThrow('gptq needs a config, a GPTQConfig');
  expect(() => layer.quantize('int8', { config: new quantizers.Int4QuantizationConfig() })).toThrow(
    'the mode is "int8", that of the config',
  );
  expect(() => layer.quantize('int3' as never)).toThrow(InvalidArgumentError);
  layer.quantize('int8');
  expect(() => layer.quantize('int8')).toThrow(FailedPreconditionError);
  expect(() => new layers.Dropout(0.5).quantize('int8')).toThrow(UnimplementedError);
  class Mine extends layers.Dense {}
  const mine = new Mine(2);
  mine.build([null, 3]);
  expect(() => mine.quantize('int8')).toThrow(UnimplementedError);
  expect(() => new QuantizedDTypePolicy('int8', 'mixed_float16')).toThrow(InvalidArgumentError);
  expect(new QuantizedDTypePolicy('int8', 'mixed_bfloat16')).toBeInstanceOf(DTypePolicy);
  const half = new layers.Dense(2, { dtype: 'mixed_bfloat16' });
  half.build([null, 3]);
  half.quantize('int8');
  expect(half(constant([[1, 2, 3]])).dtype).toBe('bfloat16');
});

test('an EinsumDense with dots, which Keras cannot quantize, gives what its letters give', () => {
  const { x, weights } = golden.layers[9] as LayerCase;
  const outputs = ['abx,xy->aby', '...x,xy->...y'].map((equation) => {
    const layer = new layers.EinsumDense(equation, equation.startsWith('.') ? 4 : [3, 4]);
    layer(tensorOf(x));
    layer.setWeights([tensorOf(weights[0] as Values)]);
    layer.quantize('int8');
    return layer(tensorOf(x)).data();
  });
  expect(outputs[0]).toEqual(outputs[1]);
});

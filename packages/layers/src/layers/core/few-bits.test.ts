// Weights of few bits that a calibration chooses, against Keras's own functions.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GradientTape } from '@eagre/autodiff';
import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  random,
  type Tensor,
  UnimplementedError,
} from '@eagre/core';
import { optionsFrom } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import {
  AWQDTypePolicy,
  GPTQDTypePolicy,
  Input,
  Layer,
  layers,
  loadModel,
  Model,
  quantizers,
  Sequential,
} from '../../index.ts';
import { samplesOf } from '../../models/calibration.ts';
import { assertCloseTensor, readGolden, tensorOf, type Values } from '../../testing/golden.ts';
import { awq, gptq } from './few-bits.ts';

interface MatrixCase {
  readonly options: Record<string, unknown>;
  readonly kernel: Values;
  readonly batches: readonly Values[];
  readonly stored: readonly Values[];
  readonly x: Values;
  readonly y: Values;
  readonly policy: string;
}
interface BlockCase {
  readonly mode: 'gptq' | 'awq';
  readonly options: Record<string, unknown>;
  readonly weights: readonly Values[];
  readonly x: Values;
  readonly after: readonly (Values & {
    readonly path: string;
    readonly dtype: string;
    readonly trainable: boolean;
  })[];
  readonly y: Values;
  readonly up: Values;
  readonly gradients: readonly Values[];
}
const golden = readGolden<{
  readonly gptq: readonly MatrixCase[];
  readonly awq: readonly MatrixCase[];
  readonly blocks: readonly BlockCase[];
  readonly files: readonly {
    readonly mode: 'gptq' | 'awq';
    readonly x: Values;
    readonly y: Values;
    readonly config: Record<string, unknown>;
    readonly policy: object;
  }[];
  readonly tokens: readonly number[][];
  readonly samples: readonly number[][][];
  readonly repeated: readonly number[][][];
  readonly configs: readonly [object, object, object, object];
}>('calibrated');
const plain = (x: unknown): unknown => JSON.parse(JSON.stringify(x));
const numbers = (t: Tensor): number[] => Array.from(t.data() as ArrayLike<number>);
const tokenizer = (text: string): number[] => [...text].map((c) => c.charCodeAt(0) % 20);

class Block extends Layer {
  attention = new layers.MultiHeadAttention(2, 3, { name: 'attention' });
  up = new layers.Dense(16, { activation: 'relu', name: 'up' });
  down = new layers.EinsumDense('abc,cd->abd', [null, 8], { biasAxes: 'd', name: 'down' });
  norm = new layers.LayerNormalization({ name: 'norm' });
  override call(given: Tensor): Tensor {
    const x = given.add(this.attention<Tensor>(given, given));
    return this.norm<Tensor>(x.add(this.down<Tensor>(this.up<Tensor>(x))));
  }
}
const configOf = (
  mode: 'gptq' | 'awq',
  quantizationLayerStructure: quantizers.QuantizationLayerStructure | null,
  more: Record<string, unknown> = {},
): quantizers.GPTQConfig | quantizers.AWQConfig => {
  const Class = mode === 'gptq' ? quantizers.GPTQConfig : quantizers.AWQConfig;
  return new (Class as typeof quantizers.GPTQConfig)(golden.tokens, tokenizer, {
    numSamples: 5,
    sequenceLength: 6,
    ...optionsFrom(more as never, Class),
    quantizationLayerStructure,
  });
};

describe('integers of a kernel', () => {
  const cases = [
    ...golden.gptq.map((c) => ['gptq', c] as const),
    ...golden.awq.map((c) => ['awq', c] as const),
  ];
  test.each(cases.map(([mode, c]) => [mode, JSON.stringify(c.options), c] as const))(
    '%s %s',
    (mode, _, c) => {
      const [rows] = c.kernel.shape as [number];
      const config = configOf(mode, null, c.options);
      expect(`${config.dtypePolicyString()}_from_float32`).toBe(c.policy);
      const calibration =
        mode === 'gptq'
          ? gptq(config as quantizers.GPTQConfig, rows)
          : awq(config as quantizers.AWQConfig, rows);
      for (const batch of c.batches) calibration.see(tensorOf(batch));
      const found = calibration.find(tensorOf(c.kernel));
      const kept = [found.codes, found.scale, found.zero, found.channels, found.group].filter(
        (t) => t !== null,
      );
      expect(kept).toHaveLength(c.stored.length);
      kept.forEach((t, i) => {
        const wanted = c.stored[i] as Values;
        if (t === found.codes || t === found.zero) {
          expect(t.shape).toEqual(wanted.shape);
          expect(numbers(t)).toEqual(wanted.values);
        } else assertCloseTensor(t, wanted, `${i}`, 1e-5);
      });
    },
  );
});

test('samples are those of Keras, but begin with the data', () => {
  const array = (s: Tensor[]): unknown => s.map((t) => t.array());
  expect(array(samplesOf(configOf('gptq', null), 'test'))).toEqual(golden.samples);
  const short = new quantizers.AWQConfig([constant([0, 1, 2, 3, 4, 5, 6])], tokenizer, {
    numSamples: 6,
    sequenceLength: 5,
  });
  expect(array(samplesOf(short, 'test'))).toEqual(golden.repeated);
  const texts = new quantizers.GPTQConfig({
    dataset: new Set(['ab', 'cde']),
    tokenizer: { tokenize: tokenizer },
    numSamples: 1,
    sequenceLength: 5,
  });
  expect(array(samplesOf(texts, 'test'))).toEqual([[[17, 18, 19, 0, 1]]]);
});

describe('models', () => {
  test.each(golden.blocks.map((c) => [c.mode, JSON.stringify(c.options), c] as const))(
    'two blocks with attention of %s %s',
    (mode, _, c) => {
      const table = new layers.Embedding(20, 8, { name: 'table' });
      const [first, second] = [new Block({ name: 'first' }), new Block({ name: 'second' })];
      const input = Input({ shape: [6], dtype: 'int32' });
      const model = new Model(input, second(first(table(input))) as never);
      model.setWeights(c.weights.map((v) => tensorOf(v)));
      const structure = { preBlockLayers: [table], sequentialBlocks: [first, second] };
      model.quantize(mode, { config: configOf(mode, structure, c.options) });
      const names = model.weights.map((w) => [w.path.split('/').slice(-2).join('/'), w.dtype, w.trainable]);
      expect(names).toEqual(
        c.after.map((w) => [w.path.split('/').slice(-2).join('/'), w.dtype, w.trainable]),
      );
      model.weights.forEach((w, i) => {
        const wanted = c.after[i] as BlockCase['after'][0];
        if (w.dtype === 'uint8') expect(numbers(w.read())).toEqual(wanted.values);
        else assertCloseTensor(w.read(), wanted, wanted.path, 2e-5);
      });
      const x = tensorOf(c.x, 'int32');
      const step = (given: Tensor): Tensor[] => {
        const tape = new GradientTape();
        const y = model<Tensor>(given);
        const gradients = tape.gradient(y, model.trainableVariables, { outputGradients: tensorOf(c.up) });
        return [y, ...(gradients as Tensor[])];
      };
      for (const [y, ...gradients] of [step(x), tfFunction(step)(x)] as [Tensor, ...Tensor[]][]) {
        assertCloseTensor(y, c.y, 'y', 1e-4);
        gradients.forEach((g, i) => assertCloseTensor(g, c.gradients[i] as Values, `gradient ${i}`, 1e-3));
      }
      const again = first.down;
      expect(() => again.quantize('int8')).toThrow(FailedPreconditionError);
      expect(() => again.enableLora(2)).toThrow(UnimplementedError);
    },
  );

  test.each(golden.files.map((c) => [c.mode, c] as const))('files of %s', async (mode, c) => {
    const path = fileURLToPath(new URL(`../../../golden/calibrated/${mode}.keras`, import.meta.url));
    const model = (await loadModel(path)) as Model;
    const x = tensorOf(c.x, 'int32');
    assertCloseTensor(model<Tensor>(x), c.y, 'y', 1e-5);
    const up = (model.getLayer('block') as Sequential).layers[0] as layers.Dense;
    expect(plain(up.dtypePolicy)).toEqual(c.policy);
    const { build_config: _, ...config } = c.config;
    expect(plain(up.getConfig())).toMatchObject(config);
    const folder = await mkdtemp(join(tmpdir(), 'eagre-'));
    try {
      await model.save(join(folder, 'again.keras'));
      const again = (await loadModel(join(folder, 'again.keras'))) as Model;
      expect(again<Tensor>(x).data()).toEqual(model<Tensor>(x).data());
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('a model says its structure itself; layers outside stay of floats', () => {
    random.setSeed(1);
    const body = new layers.Dense(4, { name: 'body' });
    class Own extends Sequential {
      override getQuantizationLayerStructure(mode: string): quantizers.QuantizationLayerStructure {
        expect(mode).toBe('gptq');
        return { preBlockLayers: [this.layers[0] as Layer], sequentialBlocks: [body] };
      }
    }
    const model = new Own([
      Input({ shape: [6], dtype: 'int32' }),
      new layers.Embedding(20, 8),
      body,
      new layers.Dense(2),
    ]);
    const x = constant([[1, 2, 3, 4, 5, 6]], 'int32');
    const before = model<Tensor>(x);
    model.quantize({ config: configOf('gptq', null, { weight_bits: 8 }) });
    expect(model.layers.map((l) => l.quantizationMode)).toEqual([null, 'gptq', null]);
    expect(model<Tensor>(x).sub(before).abs().max().item() as number).toBeLessThan(0.01);
    expect(model.layers[1]?.dtypePolicy).toBeInstanceOf(GPTQDTypePolicy);
  });

  test('more than 128 rows of one group, and weights above 0 alone, which Keras 3.15.1 fails at', () => {
    for (const mode of ['gptq', 'awq'] as const) {
      const body = new layers.Dense(4);
      const model = new Sequential([
        Input({ shape: [6], dtype: 'int32' }),
        new layers.Embedding(20, 140),
        body,
      ]);
      body.kernel.assign(body.kernel.read().abs().add(0.5));
      const x = constant([[1, 2, 3, 4, 5, 6]], 'int32');
      const before = model<Tensor>(x);
      const structure = { preBlockLayers: [model.layers[0] as Layer], sequentialBlocks: [body] };
      model.quantize(mode, { config: configOf(mode, structure, { group_size: -1 }) });
      expect(body.kernelScale?.shape).toEqual([4, 1]);
      expect(model<Tensor>(x).sub(before).abs().max().item() as number).toBeLessThan(0.1);
    }
  });
});

test('configurations and policies are those of Keras', () => {
  const [first, second, third, fourth] = golden.configs;
  expect(plain(new quantizers.GPTQConfig([], null, { groupSize: 64 }))).toEqual(first);
  expect(plain(new quantizers.AWQConfig([], null))).toEqual(second);
  expect(plain(new GPTQDTypePolicy('gptq/4/64', 'mixed_bfloat16'))).toEqual(third);
  const policy = new AWQDTypePolicy('awq/4/-1', 'float32');
  expect(plain(policy)).toEqual(fourth);
  const { config } = fourth as { readonly config: Record<string, unknown> };
  expect(AWQDTypePolicy.fromConfig(config)).toEqual(policy);
  expect([policy.mode, policy.name, policy.weightBits, policy.groupSize]).toEqual([
    'awq',
    'awq/4/-1_from_float32',
    4,
    -1,
  ]);
  for (const mode of ['gptq', 'gptq/5/1', 'gptq/4/0', 'awq/4/1', 'gptq/4/1/2'])
    expect(() => new GPTQDTypePolicy(mode as never)).toThrow(InvalidArgumentError);
  for (const mode of ['awq', 'awq/8/1', 'awq/4/-2'])
    expect(() => new AWQDTypePolicy(mode as never)).toThrow(InvalidArgumentError);
});

test('what cannot be calibrated is refused, and nothing changes', () => {
  const make = (): Sequential =>
    new Sequential([Input({ shape: [6], dtype: 'int32' }), new layers.Embedding(20, 8), new layers.Dense(4)]);
  const structure = (m: Sequential): quantizers.QuantizationLayerStructure => ({
    preBlockLayers: [m.layers[0] as Layer],
    sequentialBlocks: [m.layers[1] as Layer],
  });
  const refused = (
    change: (m: Sequential, s: quantizers.QuantizationLayerStructure) => void,
    error: abstract new (...args: never) => Error,
    message: RegExp,
  ): void => {
    const model = make();
    let thrown: unknown;
    try {
      change(model, structure(model));
    } catch (e) {
      thrown = e;
    }
    expect(thrown).toBeInstanceOf(error);
    expect((thrown as Error).message).toMatch(message);
    expect((model.layers[1] as Layer).quantizationMode).toBe(null);
  };
  const { GPTQConfig, AWQConfig } = quantizers;
  refused((m) => m.quantize('gptq'), InvalidArgumentError, /GPTQConfig/);
  refused((m) => m.quantize('awq'), InvalidArgumentError, /AWQConfig/);
  refused((m) => m.quantize('awq', { config: configOf('gptq', null) }), InvalidArgumentError, /the mode is/);
  refused((m) => m.quantize({ config: configOf('gptq', null) }), InvalidArgumentError, /sequentialBlocks/);
  const of = (s: quantizers.QuantizationLayerStructure, data: unknown, own: unknown = tokenizer): never =>
    new GPTQConfig(data as never, own as never, { quantizationLayerStructure: s }) as never;
  refused((m, s) => m.quantize({ config: of(s, [[1]], null) }), InvalidArgumentError, /tokenizer/);
  refused((m, s) => m.quantize({ config: of(s, null) }), InvalidArgumentError, /dataset/);
  refused((m, s) => m.quantize({ config: of(s, []) }), InvalidArgumentError, /empty/);
  refused((_, s) => of(s, 'text'), InvalidArgumentError, /dataset/);
  refused((_, s) => of(s, [[1]], {}), InvalidArgumentError, /tokenizer/);
  refused(
    (m, s) => (m.layers[1] as Layer).quantize('gptq', { config: of(s, [[1]]) }),
    UnimplementedError,
    /model/,
  );
  refused(
    (m, s) => {
      (m.layers[1] as layers.Dense).enableLora(2);
      m.quantize({ config: of(s, [[1]]) });
    },
    UnimplementedError,
    /LoRA/,
  );
  for (const options of [
    { weightBits: 5 },
    { groupSize: 0 },
    { numSamples: 0 },
    { sequenceLength: 1.5 },
    { hessianDamping: 2 },
    { symmetric: 1 },
    { quantizationLayerStructure: {} },
  ])
    refused(
      () => new GPTQConfig([], null, options as never),
      InvalidArgumentError,
      new RegExp(Object.keys(options)[0] as string),
    );
  refused(() => new AWQConfig([], null, { weightBits: 8 as 4 }), InvalidArgumentError, /weightBits/);
  refused(() => new AWQConfig([], null, { numGridPoints: 0 }), InvalidArgumentError, /numGridPoints/);
  const flat = new layers.EinsumDense('ab,b->a', [], { dtype: 'float32' });
  const model = new Sequential([Input({ shape: [6] }), flat]);
  expect(() => model.quantize({ config: of({ sequentialBlocks: [flat] }, [[1]]) })).toThrow(
    UnimplementedError,
  );
});

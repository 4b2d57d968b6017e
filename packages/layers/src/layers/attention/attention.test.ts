import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import { constant, ones, random, type Tensor, type Variable, withBackend } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import type { Layer } from '../../layer/layer.ts';
import { Input } from '../../models/functional.ts';
import { Model } from '../../models/model.ts';
import { assertCloseTensor, readGolden, tensorOf, type Values } from '../../testing/golden.ts';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import * as layers from '../index.ts';

const { Attention, MultiHeadAttention, RMSNormalization } = layers;
const classes: Record<string, unknown> = { ...layers };

interface Case {
  readonly layer: string;
  readonly config: Record<string, unknown>;
  readonly call: Record<string, boolean | Values>;
  readonly weights: Record<string, Values>;
  readonly inputs: readonly Values[];
  readonly outputs: readonly Values[];
  readonly upstream: readonly Values[];
  readonly inputGradients: readonly Values[];
  readonly gradients: Record<string, Values>;
}
const golden = readGolden<{ readonly cases: readonly Case[] }>('attention');
const tensor = (values: Values): Tensor => tensorOf(values);

const close = (got: Tensor, expected: Values, what: string): void =>
  assertCloseTensor(got, expected, what, 4e-6, 2);

describe.each(listBackends().map((b) => b.name))('as Keras computes, on %s', (backend) => {
  test.each(golden.cases.map((c, i) => [`${i}: ${c.layer} ${JSON.stringify(c.config)}`, c] as const))(
    '%s',
    (_, c) => {
      withBackend(backend, () => compareWithKeras(c));
    },
  );
});

function compareWithKeras(c: Case): void {
  const layer = (classes[c.layer] as typeof Layer).fromConfig(c.config);
  const shapes = c.inputs.map((x) => x.shape);
  layer.ensureBuilt(shapes.length > 1 ? shapes : (shapes[0] as number[]));
  const named = layer.namedWeights;
  expect(named.map((w) => w.path)).toEqual(Object.keys(c.weights));
  for (const { path, variable } of named) variable.assign(tensor(c.weights[path] as Values));
  const inputs = c.inputs.map(tensor);
  const options = Object.fromEntries(
    Object.entries(c.call).map(([key, v]) => [key, typeof v === 'boolean' ? v : tensor(v)]),
  );
  const tape = new GradientTape();
  tape.watch(inputs);
  const y = layer(inputs.length > 1 ? inputs : (inputs[0] as Tensor), options) as Tensor | Tensor[];
  const outputs = Array.isArray(y) ? y : [y];
  const total = outputs
    .map((o, i) => o.mul(tensor(c.upstream[i] as Values)).sum())
    .reduce((a, b) => a.add(b));
  expect(outputs).toHaveLength(c.outputs.length);
  outputs.forEach((o, i) => {
    close(o, c.outputs[i] as Values, `output ${i}`);
  });
  const gradients = tape.gradient(total, [...inputs, ...named.map((w) => w.variable)], {
    unconnectedGradients: 'zero',
  }) as Tensor[];
  c.inputGradients.forEach((expected, i) => {
    close(gradients[i] as Tensor, expected, `gradient of input ${i}`);
  });
  named.forEach(({ path }, i) => {
    close(gradients[inputs.length + i] as Tensor, c.gradients[path] as Values, `gradient of ${path}`);
  });
}

describe('MultiHeadAttention', () => {
  const heads = { numHeads: 2, keyDim: 3 };

  test('axes that are attended over: masks, models of unknown sizes, what is refused', () => {
    const same = (a: Tensor, b: Tensor): void =>
      assertCloseTensor(
        a,
        { shape: [...b.shape], values: Array.from(b.data() as ArrayLike<number>, Number) },
        'result',
        1e-6,
      );
    const layer = new MultiHeadAttention({ ...heads, attentionAxes: [2] });
    const x = random.normal([2, 3, 4, 5]);
    // Each row by itself is what a layer of rank 3 sees.
    const rows = new MultiHeadAttention(heads);
    const y = layer(x, { useCausalMask: true });
    rows(x.reshape([6, 4, 5]));
    rows.setWeights(layer.getWeights());
    same(y.reshape([6, 4, 5]), rows(x.reshape([6, 4, 5]), { useCausalMask: true }));
    const seen = random.uniform([2, 3, 4]).less(0.5);
    same(
      layer(x, { queryMask: seen, valueMask: seen }).reshape([6, 4, 5]),
      rows(x.reshape([6, 4, 5]), { queryMask: seen.reshape([6, 4]), valueMask: seen.reshape([6, 4]) }),
    );
    const input = Input({ shape: [null, null, 5] });
    const described = layer(input);
    expect(described.shape).toEqual([null, null, null, 5]);
    same(new Model(input, described)(x), layer(x));
    expect(layer.getConfig()).toMatchObject({ attention_axes: [2] });

    const all = new MultiHeadAttention(heads);
    expect(() => all(x, { useCausalMask: true })).toThrow(/no causal mask for 2 axes/);
    expect(() => all(x, { attentionMask: ones([4, 4]) })).toThrow(/attentionMask of rank 4 to 6/);
    for (const attentionAxes of [0, 3, [1, 1], [-1]])
      expect(() => new MultiHeadAttention({ ...heads, attentionAxes })(x), String(attentionAxes)).toThrow(
        /needs attentionAxes to be different axes between batch and features of inputs of rank 4/,
      );
    for (const attentionAxes of [[], [1.5], 'time'])
      expect(() => new MultiHeadAttention({ ...heads, attentionAxes } as never)).toThrow(/attentionAxes/);
  });

  test.each([
    [{ ...heads, valueDim: 4 }, [2, 5, 6], [2, 5, 6], 8],
    [
      { ...heads, useBias: false },
      [
        [2, 5, 6],
        [2, 3, 4],
      ],
      [2, 5, 6],
      4,
    ],
    [
      { ...heads, outputShape: [3, 2] },
      [
        [2, 5, 6],
        [2, 3, 4],
        [2, 3, 7],
      ],
      [2, 5, 3, 2],
      8,
    ],
  ] as const)('%j of %j', (options, inputShape, outputShape, trainable) => {
    // A bias added to every key changes no weight, so its gradient vanishes.
    runLayerTest(MultiHeadAttention, {
      args: [{ ...options, useBias: false }],
      inputShape,
      outputShape,
      trainable: 4,
    });
    const layer = new MultiHeadAttention(options);
    layer.ensureBuilt(inputShape);
    expect(layer.trainableWeights).toHaveLength(trainable);
  });

  test('drops attention weights in training only', () => {
    const x = random.Generator.fromSeed(1).normal([2, 6, 4]);
    const layer = new MultiHeadAttention({ ...heads, dropout: 0.5, seed: 3 });
    const y = layer(x);
    expect(layer(x).data()).toEqual(y.data());
    expect(layer(x, { training: true }).data()).not.toEqual(y.data());
  });

  test('gives the same with and without weights in memory', () => {
    const x = random.Generator.fromSeed(2).normal([2, 6, 4]);
    const layer = new MultiHeadAttention(heads);
    const attentionMask = constant([1, 1, 0, 1, 0, 1])
      .reshape([1, 1, 6])
      .mul(ones([2, 6, 1]));
    const [y, scores] = layer(x, { attentionMask, useCausalMask: true, returnAttentionScores: true });
    expect(scores.shape).toEqual([2, 2, 6, 6]);
    const same = layer(x, { attentionMask, useCausalMask: true });
    y.data().forEach((v, i) => {
      expect(same.data()[i]).toBeCloseTo(Number(v), 5);
    });
    // Nothing of the third key, nothing of the future.
    const rows = scores.array() as number[][][][];
    rows[0]?.[0]?.forEach((row, i) => {
      row.forEach((w, j) => {
        expect(w > 0).toBe(j <= i && j !== 2 && j !== 4);
      });
    });
  });

  test('is part of functional models', () => {
    const input = Input({ shape: [5, 4] });
    const y = new MultiHeadAttention(heads)([input, input], { useCausalMask: true });
    const model = new Model({ inputs: input, outputs: y });
    expect(model(ones([2, 5, 4])).shape).toEqual([2, 5, 4]);
  });

  test('says what does not fit', () => {
    const layer = new MultiHeadAttention(heads);
    expect(() => layer(ones([2, 3]))).toThrow('[batch, time, n]');
    expect(() => layer([ones([2, 3, 4]), ones([1, 3, 4])])).toThrow('one batch size');
    expect(() => layer([ones([2, 3, 4]), ones([2, 3, 4]), ones([2, 5, 4])])).toThrow(
      'as many values as keys',
    );
    layer(ones([2, 3, 4]));
    expect(() => layer(ones([2, 3, 5]))).toThrow('was built for query [batch, time, 4]');
    expect(() => layer(ones([2, 3, 4]), { attentionMask: ones([2]) })).toThrow('attentionMask');
    expect(() => new MultiHeadAttention({ numHeads: 0, keyDim: 1 })).toThrow('numHeads');
  });
});

describe('GroupQueryAttention', () => {
  const { GroupQueryAttention } = layers;
  const x = random.Generator.fromSeed(2).normal([2, 6, 4]);

  test.each([
    [[3, 4, 2, { useGate: true, useBias: false }], [2, 5, 6], 5],
    [[3, 4, 1, { useBias: false, slidingWindow: 2 }], [2, 5, 6], 4],
  ] as const)('%j', (args, inputShape, trainable) => {
    runLayerTest(GroupQueryAttention, {
      args: args as never,
      inputShape,
      outputShape: inputShape,
      trainable,
    });
  });

  test('is MultiHeadAttention where no head shares', () => {
    const [grouped, plain] = [new GroupQueryAttention(3, 2, 2), new MultiHeadAttention(2, 3)];
    plain(x);
    grouped(x);
    grouped.setWeights(plain.getWeights());
    expect(grouped(x, { useCausalMask: true }).array()).toEqual(plain(x, { useCausalMask: true }).array());
  });

  test('sees its window alone', () => {
    const layer = new GroupQueryAttention(3, 4, 2, { slidingWindow: 2 });
    const [, scores] = layer(x, { returnAttentionScores: true });
    expect(scores.shape).toEqual([2, 4, 6, 6]);
    const rows = scores.array() as number[][][][];
    rows[1]?.[3]?.forEach((row, i) => {
      row.forEach((w, j) => {
        expect(w > 0).toBe(Math.abs(i - j) < 2);
      });
    });
  });

  test('says what does not fit', () => {
    expect(() => new GroupQueryAttention(3, 4, 3)).toThrow('a multiple of numKeyValueHeads, got 4 and 3');
    expect(() => new GroupQueryAttention(3, 4, 2, { slidingWindow: 0 })).toThrow('slidingWindow');
    expect(() => new GroupQueryAttention(3, 4, 2)(ones([2, 3]))).toThrow('[batch, time, n]');
  });
});

test.each([
  [[], [4, 3]],
  [[{ axis: 1, epsilon: 0.01 }], [2, 3, 4]],
  [[{ axis: [1, 2] }], [2, 3, 4]],
] as const)('RMSNormalization %j of %j', (args, shape) => {
  runLayerTest(RMSNormalization, {
    args: args as unknown as [],
    inputShape: shape,
    outputShape: shape,
    trainable: 1,
  });
});

test('weights begin as in Keras: inputs and outputs of a unit are counted by what the axes mean', () => {
  const attention = new MultiHeadAttention(6, 16, { seed: 1 });
  attention.build([null, 10, 64]);
  const deviation = (v: Variable): number => v.sub(v.mean()).square().mean().sqrt().item();
  // Uniform, of the variance 2 / (64 + 6 · 16).
  const expected = Math.sqrt(2 / (64 + 96));
  for (const { kernel } of [attention.query, attention.key, attention.value, attention.attentionOutput])
    expect(Math.abs(deviation(kernel) / expected - 1)).toBeLessThan(0.05);

  const own = new MultiHeadAttention(2, 4, { kernelInitializer: 'ones' });
  own.build([null, 3, 5]);
  expect(own.query.kernel.sum().item()).toBe(5 * 2 * 4);
});

test('scores are outputs of models, too', () => {
  const x = Input([3, 4]);
  const [y, scores] = new MultiHeadAttention(2, 2)(x, { returnAttentionScores: true });
  const [z, weights] = new Attention()([y, x], { returnAttentionScores: true });
  expect([y, scores, z, weights].map((t) => t.shape)).toEqual([
    [null, 3, 4],
    [null, 2, 3, 3],
    [null, 3, 4],
    [null, 3, 3],
  ]);
  const [sums] = new Model(x, [scores.sum(-1), weights])(ones([2, 3, 4])) as unknown as Tensor[];
  expect(sums?.sum().item()).toBeCloseTo(12, 4);
});

test('masks of scores fit into float16', () => {
  const q = constant([[[0.25, 0.5], [0.75, 1]]]); // biome-ignore format: rows
  const attention = new layers.Attention({ scoreMode: 'concat', dtype: 'float16' });
  const mask = [null, constant([[0, 1]]).cast('bool')];
  const [y, weights] = attention([q, q], { mask, useCausalMask: true, returnAttentionScores: true });
  expect(y.array()).toEqual([[[0.5, 0.75], [0.75, 1]]]); // biome-ignore format: rows
  expect(weights.array()).toEqual([[[0.5, 0.5], [0, 1]]]); // biome-ignore format: rows
});

// Floats of 16 bits from end to end: traced as eager, gradients, variables, training, files.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { halfBits, halfValue } from '@eagre/backend';
import { decodeSafetensors, encodeSafetensors } from '@eagre/formats';
import { afterAll, describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

const halves = ['float16', 'bfloat16'] as const;
const folder = mkdtempSync(join(tmpdir(), 'eagre-halves-'));
afterAll(() => rmSync(folder, { recursive: true }));

const bits = (x: tf.Tensor): number[] => [...(x.bitcast('uint16').data() as Uint16Array)];

describe.each(halves)('%s', (dtype) => {
  const x = tf.random.normal([6, 5], { dtype, seed: 3 });
  const y = tf.random.normal([6, 5], { dtype, seed: 4 });

  const computations: Record<string, (a: tf.Tensor, b: tf.Tensor) => tf.Tensor> = {
    arithmetic: (a, b) => a.mul(b).add(a).sub(b.mul(0.1)).div(b.square().add(1)),
    functions: (a, b) =>
      tf
        .tanh(a)
        .mul(tf.sigmoid(b))
        .add(tf.exp(a.mul(0.3)))
        .sub(tf.math.softplus(b)),
    choices: (a, b) => tf.where(a.greater(b), a.mul(3), tf.maximum(b, -0.5)).add(tf.nn.relu(a)),
    sums: (a, b) => a.mul(b).sum(1).add(a.mean(1)).sub(b.max(1)),
    products: (a, b) => a.matmul(b, { transposeB: true }).add(0.3).mul(2),
    rows: (a, b) => tf.nn.softmax(a.mul(2)).mul(b).add(tf.nn.logSoftmax(b)),
    moves: (a, b) =>
      tf
        .concat([a, b.mul(2)], 1)
        .transpose()
        .slice([1, 0], [4, 3])
        .cumsum(0),
    casts: (a, b) => a.cast('float32').mul(1.001).cast(dtype).add(b.cast('int32').cast(dtype)),
    norm: (a, b) =>
      a.sub(a.mean(1, { keepdims: true })).div(tf.sqrt(b.square().mean(1, { keepdims: true }).add(1e-3))),
  };
  it.each(Object.entries(computations))('%s have the same bits eagerly and traced', (_, of) => {
    const eager = of(x, y);
    expect(eager.dtype).toBe(dtype);
    const traced = tf.function(of);
    const result = traced(x, y);
    expect(result.dtype).toBe(dtype);
    expect(bits(result)).toEqual(bits(eager));
    const js = tf.experimental.withBackend('js', () =>
      of(tf.constant(x.ndarray()), tf.constant(y.ndarray())),
    );
    // Backends may differ in the last place of float32, which rounding can carry to the last place of 16 bits.
    bits(js).forEach((b, i) => {
      expect(Math.abs(b - (bits(eager)[i] as number))).toBeLessThanOrEqual(
        of === computations['arithmetic'] ? 0 : 4,
      );
    });
  });

  it('runs where sizes are not known while it is traced', () => {
    const f = tf.function((a: tf.Tensor) => tf.nn.softmax(a.mul(2)).sum(0).add(a.mean(0)), {
      inputSignature: [new tf.TensorSpec([null, 5], dtype)],
    });
    for (const n of [1, 4, 6]) {
      const a = x.slice([0, 0], [n, 5]);
      expect(bits(f(a))).toEqual(bits(tf.nn.softmax(a.mul(2)).sum(0).add(a.mean(0))));
    }
    const loop = tf.function((a: tf.Tensor) => tf.scan((s: tf.Tensor, row: tf.Tensor) => s.add(row), a));
    expect(bits(loop(x))).toEqual(bits(tf.scan((s: tf.Tensor, row: tf.Tensor) => s.add(row), x)));
  });

  it('has gradients', () => {
    const f = (a: tf.Tensor): tf.Tensor => tf.nn.softmax(tf.tanh(a).mul(a)).mul(y.cast(a.dtype)).sum();
    const wide = tf.autodiff.grad(f)(x.cast('float32')).data();
    const narrow = tf.autodiff.grad(f)(x);
    expect(narrow.dtype).toBe(dtype);
    const step = dtype === 'float16' ? 2 ** -8 : 2 ** -5;
    narrow.data().forEach((v, i) => {
      expect(Math.abs(Number(v) - Number(wide[i]))).toBeLessThan(step);
    });
  });

  it('is trained by optimizers, eagerly and traced', () => {
    for (const make of [
      () => new tf.optimizers.SGD({ learningRate: 0.25 }),
      () => new tf.optimizers.SGD({ learningRate: 0.25, momentum: 0.5 }),
      () => new tf.optimizers.Adam({ learningRate: 0.125 }),
      () => new tf.optimizers.RMSprop({ learningRate: 0.125 }),
    ]) {
      const results = [true, false].map((traced) => {
        const v = new tf.Variable(tf.constant([1, -2, 3], dtype));
        const optimizer = make();
        const step = (): void => {
          const tape = new tf.GradientTape();
          const loss = v.square().sum();
          optimizer.applyGradients([[tape.gradient(loss, v), v]]);
        };
        const run = traced ? tf.function(step) : step;
        for (let i = 0; i < 3; i++) run();
        expect(v.dtype).toBe(dtype);
        return [...v.data()];
      });
      expect(results[0]).toEqual(results[1]);
      expect(results[0]?.every((value, i) => Math.abs(Number(value)) < [1, 2, 3][i]!)).toBe(true);
    }
  });

  it('lives in variables and checkpoints', async () => {
    const v = new tf.Variable(x);
    expect(v.dtype).toBe(dtype);
    v.assignAdd(y);
    expect(bits(v.read())).toEqual(bits(x.add(y)));
    const path = await new tf.train.Checkpoint({ v }).save(join(folder, dtype));
    const w = new tf.Variable(tf.zeros([6, 5], { dtype }));
    await new tf.train.Checkpoint({ v: w }).restore(path);
    expect(bits(w.read())).toEqual(bits(v.read()));
  });

  it('is not restored into another dtype, as in TensorFlow', async () => {
    const path = await new tf.train.Checkpoint({ v: new tf.Variable(x) }).save(
      join(folder, `${dtype}-other`),
    );
    const w = new tf.Variable([5, 6]);
    expect(() => new tf.train.Checkpoint({ v: w }).restore(path)).toThrow(
      `expected dtype float32 does not equal original dtype ${dtype}`,
    );
    expect(w.array()).toEqual([5, 6]);
  });

  it('passes through datasets', async () => {
    const rows = await tf.data.Dataset.fromTensorSlices(x).batch(4).toArray();
    expect(rows.map((r) => r.dtype)).toEqual([dtype, dtype]);
    expect(bits(tf.concat(rows, 0))).toEqual(bits(x));
  });
});

it.each(halves)('%s of files are those of tensors: both packages convert them alike', (dtype) => {
  // @eagre/formats imports nothing, so it has a conversion of its own.
  const every = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i);
  const values = Float32Array.from(every, (b) => halfValue(b, dtype));
  const file = encodeSafetensors({ x: { dtype, shape: [every.length], data: values } });
  expect(decodeSafetensors(file).tensors.get('x')?.data).toEqual(values);
  const stored = new Uint16Array(file.slice(-2 * every.length).buffer);
  expect(stored).toEqual(Uint16Array.from(values, (v) => halfBits(v, dtype)));
  // Numbers between two values, ties among them.
  const between = Float32Array.from(
    { length: 40_000 },
    (_, i) => (i % 2 === 0 ? 1 : -1) * 1.0007 ** (i - 20_000),
  );
  const rounded = encodeSafetensors({ x: { dtype, shape: [between.length], data: between } });
  const expected = Uint16Array.from(between, (v) => halfBits(v, dtype));
  expect(new Uint16Array(rounded.slice(-2 * between.length).buffer)).toEqual(expected);
});

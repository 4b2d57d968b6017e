// Calls of kernels for GPUs that a recorder notes: those of all ops' samples, larger ones, and those that tensor cores make. Tests run them, and the tool that
// compiles kernels for the package compiles their programs.
import { GradientTape } from '@eagre/autodiff';
import { type NumericDType, registerBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { execute, listOps, type Op } from '@eagre/core/internal';
import { Recorder } from '../../../gpu-kernels/src/testing/recorder.ts';
import { generator, hasFloats, materialize } from '../values.ts';

/** The calls that the samples of all ops make, in float32 and in 16 bits. */
export function recordCalls(): Recorder {
  const recorder = new Recorder(jsBackend);
  registerBackend(recorder, -1);
  for (const op of listOps().values()) {
    recorder.ulp = op.ulp;
    for (const [index, sample] of op.samples().entries()) {
      for (const float of ['float32', 'float16', 'bfloat16'] as const) {
        if (float !== 'float32' && !hasFloats(sample)) continue;
        recorder.label = `${op.name}, sample ${index}, ${float}`;
        withBackend('recorder', () => execute(op, materialize(sample, float, index + 1), sample.attrs ?? {}));
      }
    }
  }
  recordLarge(recorder);
  return recorder;
}

/** Calls that take several tiles or passes, with ends that fill none, which samples are too small for. */
function recordLarge(recorder: Recorder): void {
  const random = generator(7);
  const record = (label: string, ulp: number, run: () => unknown): void => {
    Object.assign(recorder, { label, ulp });
    withBackend('recorder', run);
  };
  const numbers = (shape: readonly number[], of: () => number, dtype: NumericDType = 'float32'): Tensor =>
    constant(Array.from({ length: shape.reduce((a, b) => a * b, 1) }, of), dtype).reshape(shape);
  const special = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    0,
    -0,
    1,
    -1,
    1e-40,
    -1e-40,
  ];
  const few = (): number => special[Math.floor(random() * special.length)];
  for (const dtype of ['float32', 'float64'] as const)
    record(`sort of ${dtype}`, 0, () => {
      for (const direction of ['ASCENDING', 'DESCENDING'] as const) {
        core.argsort(numbers([3, 70], few, dtype), { direction });
        core.argsort(
          numbers([2, 3500], () => (random() < 0.1 ? few() : random() - 0.5), dtype),
          { direction },
        );
      }
    });
  for (const dtype of ['int8', 'int16', 'uint8', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const)
    record(`topK of ${dtype}`, 0, () => {
      const low = dtype.startsWith('u') ? 0 : -90;
      const some = (): number => low + Math.floor(random() * 120);
      core.topK(numbers([2100], some, dtype), 5);
      core.topK(numbers([5, 1], some, dtype), 1);
    });
  record('topK of a long row', 0, () => {
    const x = numbers([9000], () => Math.floor(random() * 2000));
    for (const k of [1, 1500]) core.topK(x, k);
  });
  for (const dtype of ['float32', 'bfloat16'] as const)
    record(`images of ${dtype}`, dtype === 'float32' ? 256 : 4, () => {
      const image = numbers([2, 17, 9, 3], () => random() - 0.5, dtype);
      for (const size of [
        [5, 40],
        [34, 3],
        [1, 1],
      ] as const)
        execute(listOps().get('ResizeBilinear') as Op, [image], { size });
      execute(listOps().get('MirrorPadGrad') as Op, [image], {
        before: [0, 4, 1, 1],
        after: [0, 3, 3, 0],
        mode: 2,
      });
      execute(listOps().get('MirrorPadGrad') as Op, [image], {
        before: [0, 3, 2, 0],
        after: [0, 5, 3, 0],
        mode: 1,
      });
    });
  for (const dtype of ['float32', 'float64', 'float16', 'bool', 'int8', 'int64'] as const)
    record(`places of ${dtype}`, 0, () => {
      const some = (): number =>
        random() < 0.4 ? 0 : dtype === 'bool' ? 1 : dtype.startsWith('f') ? few() : 3;
      core.nonzero(numbers([3, 7, 1100], some, dtype));
      core.nonzero(numbers([130], some, dtype));
    });
  for (const dtype of ['float16', 'bfloat16'] as const)
    record(`batch normalization of ${dtype}`, 4000, () => {
      const floats = (...shape: number[]): Tensor => numbers(shape, () => random() - 0.5, dtype);
      const batch = [floats(9, 5, 6, 7), floats(7), floats(7)];
      const run = (name: string, inputs: Tensor[]): readonly Tensor[] =>
        execute(listOps().get(name) as Op, inputs, { epsilon: 0.001 });
      const [y, mean, variance] = run('FusedBatchNormV3', batch);
      run('FusedBatchNormGradV3', [y, batch[0], batch[1], mean, variance]);
    });
  // Near 0 a normal number is the cosine of an angle near a quarter of a turn.
  record('normal numbers', 64, () => {
    for (const seed of [1, 2]) {
      core.random.statelessNormal([3001], [seed, 7]);
      core.random.statelessTruncatedNormal([3001], [seed, 7], { mean: 0.25, stddev: 3 });
    }
  });
  // Sums of both signs: off by a few units of the largest result's last place, which are many of the smallest ones'.
  record('attention', 4000, () => {
    const floats = (...shape: number[]): Tensor => numbers(shape, () => random() - 0.5);
    const bools = numbers([2, 1, 37, 1], () => (random() < 0.8 ? 1 : 0), 'bool');
    for (const [mask, isCausal, timeFirst] of [
      [undefined, true, false],
      [bools, false, false],
      [floats(1, 2, 1, 70), true, true],
    ] as const) {
      const shape = (time: number, width: number): number[] =>
        timeFirst ? [2, time, 2, width] : [2, 2, time, width];
      const inputs = [floats(...shape(37, 35)), floats(...shape(70, 35)), floats(...shape(70, 66))] as const;
      const tape = new GradientTape();
      for (const x of inputs) tape.watch(x);
      const y = tape.record(() =>
        core.nn.scaledDotProductAttention(...inputs, { mask, isCausal, timeFirst }),
      );
      tape.gradient(y, inputs, { outputGradients: floats(...shape(37, 66)) });
    }
  });
  for (const dtype of ['float16', 'bfloat16'] as const)
    record(`products and sums of ${dtype}`, 4000, () => {
      const floats = (...shape: number[]): Tensor => numbers(shape, () => random() - 0.5, dtype);
      const [a, b] = [floats(2, 37, 70), floats(70, 45)];
      core.matmul(a, b);
      core.matmul(a, floats(2, 45, 70), { transposeB: true });
      core.sum(floats(20_000));
      core.mean(floats(300, 5), 0);
      const [q, k, v] = [floats(1, 2, 37, 35), floats(1, 2, 70, 35), floats(1, 2, 70, 66)];
      core.nn.scaledDotProductAttention(q, k, v, { mask: floats(1, 1, 1, 70), isCausal: true });
    });
  record('recurrent networks', 4000, () => {
    const floats = (...shape: number[]): Tensor => numbers(shape, () => random() - 0.5);
    const execOp = (name: string, inputs: Tensor[], attrs = {}): readonly Tensor[] =>
      execute(listOps().get(name) as Op, inputs, attrs);
    for (const [batch, time, features, units] of [
      [18, 3, 5, 20],
      [2, 0, 3, 2],
    ]) {
      const [x, dh] = [floats(batch, time, features), floats(batch, time, units)];
      const [h0, c0, dH, dC] = Array.from({ length: 4 }, () => floats(batch, units));
      const weights = (gates: number): [Tensor, Tensor] => [
        floats(features, gates * units),
        floats(units, gates * units),
      ];
      const lstm = [x, h0, c0, ...weights(4)];
      const [h, , , reserve] = execOp('LSTM', [...lstm, floats(4 * units)]);
      execOp('LSTMGrad', [...lstm, h, reserve, dh, dH, dC], { inputGradient: true });
      const gru = [x, h0, ...weights(3)];
      const [h2, , reserve2] = execOp('GRU', [...gru, floats(2, 3 * units)]);
      execOp('GRUGrad', [...gru, h2, reserve2, dh, dH], { inputGradient: true });
    }
  });
}

/** Rows, depth and columns: whole tiles, ends of tiles, rows that begin at no multiple of 16 bytes. */
const PRODUCTS = [
  [128, 32, 128],
  [136, 104, 48],
  [33, 17, 131],
] as const;
/** So deep that Hopper's cores use each place for a tile several times. */
export const DEEP_PRODUCT = [72, 420, 72] as const;
/** So deep that it is cut into parts, with batches. */
const CUT_PRODUCT = [2, 20, 1100, 18] as const;
/** So many tiles that these cores make wide ones. */
const MANY_TILES = [120, 16, 20, 132] as const;

/** Products that tensor cores make: edges, transposes, batches, rows that begin at no multiple of 16 bytes, biases. */
export function recordProducts(capability = 80): Recorder {
  const recorder = new Recorder(jsBackend);
  recorder.capability = capability;
  registerBackend(recorder, -1);
  const random = generator(11);
  const matmul = listOps().get('_FusedMatMul') as Op;
  for (const dtype of ['float32', 'float16', 'bfloat16'] as const) {
    const of = (...shape: number[]): Tensor =>
      constant(
        // Eighths have few bits, so that TensorFloat-32 has all of them.
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.round(random() * 16 - 8) / 8),
        dtype,
      ).reshape(shape);
    recorder.ulp = 8;
    for (const [transposeA, transposeB] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const)
      for (const [m, k, n] of capability === 90 ? [...PRODUCTS.slice(1), DEEP_PRODUCT] : PRODUCTS) {
        recorder.label = `${dtype} ${m} · ${k} · ${n}, ${transposeA}, ${transposeB}`;
        const a = transposeA ? of(k, m) : of(m, k);
        const b = transposeB ? of(n, k) : of(k, n);
        withBackend('recorder', () => core.matmul(a, b, { transposeA, transposeB }));
      }
    recorder.label = `${dtype}, batches`;
    withBackend('recorder', () => core.matmul(of(2, 1, 24, 40), of(3, 40, 16)));
    recorder.label = `${dtype}, parts`;
    withBackend('recorder', () => {
      const [batches, m, k, n] = CUT_PRODUCT;
      const [a, b] = [of(batches, m, k), of(batches, k, n)];
      core.matmul(a, b);
      execute(matmul, [a, b, of(n)], { transposeA: false, transposeB: false, activation: 1 });
    });
    if (capability === 90) {
      recorder.label = `${dtype}, many tiles`;
      const [batches, m, k, n] = MANY_TILES;
      withBackend('recorder', () => core.matmul(of(batches, m, k), of(k, n)));
    }
    recorder.label = `${dtype}, bias`;
    for (const activation of [0, 1])
      withBackend('recorder', () =>
        execute(matmul, [of(40, 48), of(48, 24), of(24)], {
          transposeA: false,
          transposeB: false,
          activation,
        }),
      );
  }
  return recorder;
}

/** Convolutions that tensor cores make: strides, dilations, padding, groups, channels that are whole chunks of 16 bytes and others, depths that are cut. */
export function recordConvolutions(capability = 80): Recorder {
  const recorder = new Recorder(jsBackend);
  recorder.capability = capability;
  registerBackend(recorder, -1);
  const random = generator(13);
  const op = (name: string): Op => listOps().get(name) as Op;
  for (const dtype of ['float32', 'float16', 'bfloat16'] as const) {
    const of = (...shape: number[]): Tensor =>
      constant(
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.round(random() * 16 - 8) / 8),
        dtype,
      ).reshape(shape);
    recorder.ulp = 8;
    for (const [x, filter, attrs] of [
      [[2, 9, 8, 16], [3, 3, 16, 24], {}],
      [[1, 13, 12, 16], [3, 2, 16, 72], { strides: [2, 3], padding: [1, 1, 0, 1] }],
      [[1, 9, 12, 32], [3, 3, 16, 32], { dilations: [2, 1], padding: [2, 2, 1, 1], groups: 2 }],
      [[2, 11, 7, 3], [3, 3, 3, 17], { strides: [2, 2], padding: [1, 1, 1, 1] }],
      [[2, 24, 24, 16], [1, 1, 16, 16], {}],
    ] as const) {
      const geometry = {
        strides: [1, 1],
        dilations: [1, 1],
        padding: [0, 0, 0, 0],
        groups: 1,
        ...attrs,
      } satisfies Record<string, number | readonly number[]>;
      const {
        strides: [down, right],
        dilations: [farDown, farRight],
        padding: [top, bottom, left, side],
      } = geometry;
      const out = [
        x[0],
        Math.floor((x[1] + top + bottom - (filter[0] - 1) * farDown - 1) / down) + 1,
        Math.floor((x[2] + left + side - (filter[1] - 1) * farRight - 1) / right) + 1,
        filter[3],
      ];
      recorder.label = `${dtype} ${x} * ${filter}, ${JSON.stringify(attrs)}`;
      const [image, weights, dy] = [of(...x), of(...filter), of(...out)];
      withBackend('recorder', () => {
        execute(op('Conv2D'), [image, weights], geometry);
        execute(op('_FusedConv2D'), [image, weights, of(filter[3])], { ...geometry, activation: 1 });
        execute(op('Conv2DBackpropInput'), [weights, dy], { ...geometry, shape: x });
        execute(op('Conv2DBackpropFilter'), [image, dy], { ...geometry, shape: filter });
      });
    }
  }
  return recorder;
}

/** Attention that tensor cores make, with its gradients: masks, widths that are whole chunks of 16 bytes and others, ends that fill no tile. */
export function recordAttention(): Recorder {
  const recorder = new Recorder(jsBackend);
  recorder.capability = 80;
  registerBackend(recorder, -1);
  const random = generator(17);
  for (const dtype of ['float32', 'float16', 'bfloat16'] as const) {
    // Weights and slopes of scores are rounded to 16 bits, or to the 11 of TensorFloat-32, before they are multiplied.
    recorder.ulp = dtype === 'float32' ? 4 * 2 ** 13 : 4;
    const of = (...shape: number[]): Tensor =>
      constant(
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random() - 0.5),
        dtype,
      ).reshape(shape);
    const seen = constant(
      Array.from({ length: 150 }, () => random() < 0.8),
      'bool',
    );
    for (const [mask, isCausal, timeFirst, queries, keys, width, values, heads = 2] of [
      [undefined, true, false, 70, 70, 32, 32],
      [undefined, false, false, 90, 75, 48, 20],
      [seen.reshape([2, 1, 75, 1]), false, false, 75, 90, 16, 40],
      [of(1, 2, 1, 130), true, true, 37, 130, 35, 66],
      [of(2, 1, 66, 20), false, true, 66, 20, dtype === 'float32' ? 64 : 128, dtype === 'float32' ? 52 : 128],
      // Workgroups of 128 rows, which take many heads.
      ...(dtype === 'bfloat16'
        ? ([
            [undefined, true, true, 66, 70, 16, 16, 60],
            [undefined, false, false, 66, 40, 72, 16, 60],
          ] as const)
        : []),
      ...(dtype === 'float32' ? ([[undefined, true, false, 66, 66, 16, 19, 60]] as const) : []),
    ] as const) {
      const shape = (time: number, size: number): number[] =>
        timeFirst ? [2, time, heads, size] : [2, heads, time, size];
      recorder.label = `${dtype}, ${queries} · ${keys}, ${width}, ${values}`;
      const inputs = [
        of(...shape(queries, width)),
        of(...shape(keys, width)),
        of(...shape(keys, values)),
      ] as const;
      const tape = new GradientTape();
      for (const x of inputs) tape.watch(x);
      withBackend('recorder', () => {
        const y = tape.record(() =>
          core.nn.scaledDotProductAttention(...inputs, { mask, isCausal, timeFirst }),
        );
        // Those of wide heads are made by workgroups of 64.
        if (width !== 72) tape.gradient(y, inputs, { outputGradients: of(...shape(queries, values)) });
      });
    }
  }
  return recorder;
}

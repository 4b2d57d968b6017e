// The GPU kernels as CUDA C++, compiled for the processor, against the reference: every call of a kernel that the ops' samples make.
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { isHalf, type NumericDType, registerBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { execute, listOps, type Op } from '@eagre/core/internal';
import { cudaPrelude, runsOn } from '@eagre/gpu-kernels';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CudaAddon, called, loadCudaAddon } from '../../backend-cuda/src/addon.ts';
import { findCompiler } from '../../backend-cuda/src/libraries.ts';
import { CudaShim, compiler, textOf } from '../../gpu-kernels/src/testing/cuda-shim.ts';
import { distance, type Recorded, Recorder } from '../../gpu-kernels/src/testing/recorder.ts';
import { generator, hasFloats, materialize } from './values.ts';

/** The calls that the samples of all ops make, in float32 and in 16 bits. */
function recordCalls(): Recorder {
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

/** Both sides compute in float32, whose last bit may be one of 16 bits; single values are the same. */
function limitOf({ kernel, ulp }: Recorded, dtype: NumericDType): number {
  if (!isHalf(dtype)) return ulp;
  return kernel === 'elementwise' ? 0 : 1;
}

/** What is wrong with the results of the calls, as lines. */
function failures(shim: CudaShim, calls: readonly Recorded[], order: number, ofLargest = false): string[] {
  const buffers = calls.flatMap((call) => call.buffers);
  let first = 0;
  const starts = calls.map((call) => (first += call.buffers.length) - call.buffers.length);
  const dispatches = calls.flatMap((call, i) =>
    call.dispatches.map((dispatch) => ({
      ...dispatch,
      buffers: dispatch.buffers.map((buffer) => buffer + starts[i]),
    })),
  );
  const results = shim.run(buffers, dispatches, order);
  return calls.flatMap((call, i) =>
    call.outputs.flatMap(({ buffer, dtype, expected }, output) => {
      const got = results[starts[i] + buffer].subarray(0, expected.length);
      const off = distance(dtype, got, expected, ofLargest);
      return off <= (ofLargest ? call.ulp : limitOf(call, dtype))
        ? []
        : [`${call.label}: ${call.kernel}, output ${output} (${dtype}): off by ${off}`];
    }),
  );
}

describe.skipIf(compiler === undefined)('CUDA kernels on the processor', () => {
  it('agree with the reference in every order of threads', () => {
    const { recorded } = recordCalls();
    expect(new Set(recorded.map(({ kernel }) => kernel)).size).toBeGreaterThan(40);
    const narrow = recorded.filter(({ outputs }) => outputs[0]?.dtype === 'bfloat16');
    expect(narrow.map(({ kernel }) => kernel)).toEqual(
      expect.arrayContaining(['MatMul', 'Conv2D', 'Softmax', 'Sum', 'ScaledDotProductAttention']),
    );
    const programs = recorded.flatMap((call) => call.dispatches.map(({ program }) => program));
    const shim = new CudaShim(programs);
    try {
      console.log(`${recorded.length} calls of ${new Set(programs).size} programs`);
      for (const order of [0, 1, 12345]) expect(failures(shim, recorded, order)).toEqual([]);
    } finally {
      shim.end();
    }
  }, 600_000);
});

/** Rows, depth and columns: whole tiles, ends of tiles, rows that begin at no multiple of 16 bytes. */
const PRODUCTS = [
  [128, 32, 128],
  [136, 104, 48],
  [33, 17, 131],
] as const;
/** So deep that Hopper's cores use each place for a tile several times. */
const DEEP_PRODUCT = [72, 420, 72] as const;
/** So many tiles that these cores make wide ones. */
const MANY_TILES = [120, 16, 20, 132] as const;

/** Products that tensor cores make: edges, transposes, batches, rows that begin at no multiple of 16 bytes, biases. */
function recordProducts(capability = 80): Recorder {
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
function recordConvolutions(capability = 80): Recorder {
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
function recordAttention(): Recorder {
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
    for (const [mask, isCausal, timeFirst, queries, keys, width, values] of [
      [undefined, true, false, 70, 70, 32, 32],
      [seen.reshape([2, 1, 75, 1]), false, false, 75, 90, 16, 40],
      [of(1, 2, 1, 130), true, true, 37, 130, 35, 66],
      [of(2, 1, 66, 20), false, true, 66, 20, dtype === 'float32' ? 64 : 128, dtype === 'float32' ? 52 : 128],
    ] as const) {
      const shape = (time: number, size: number): number[] =>
        timeFirst ? [2, time, 2, size] : [2, 2, time, size];
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
        tape.gradient(y, inputs, { outputGradients: of(...shape(queries, values)) });
      });
    }
  }
  return recorder;
}

/** Copies arrive late in even orders; products are made early in those whose half is odd. */
const ORDERS = [0, 1, 2, 12347] as const;

describe.skipIf(compiler === undefined)('tensor cores, on the processor', () => {
  it.each([
    ['products', recordProducts, 45, false, [0, 1, 12345]],
    ['convolutions', recordConvolutions, 45, false, [0, 1, 12345]],
    ['attention', recordAttention, 44, true, [0, 1, 12345]],
    ['products by warpgroups', () => recordProducts(90), 48, false, ORDERS],
    ['convolutions by warpgroups', () => recordConvolutions(90), 45, false, ORDERS],
  ] as const)(
    'agree in their %s with the reference in every order of threads',
    (_, record, least, ofLargest, orders) => {
      const { recorded } = record();
      const programs = recorded.flatMap((call) => call.dispatches.map(({ program }) => program));
      expect(programs.filter((program) => 'print' in program).length).toBeGreaterThanOrEqual(least);
      const shim = new CudaShim(programs);
      try {
        for (const order of orders) expect(failures(shim, recorded, order, ofLargest)).toEqual([]);
      } finally {
        shim.end();
      }
    },
    600_000,
  );

  it('show what a kernel for warpgroups lacks', () => {
    const recorder = new Recorder(jsBackend);
    recorder.capability = 90;
    registerBackend(recorder, -1);
    const random = generator(19);
    const of = (dtype: NumericDType, ...shape: number[]): Tensor =>
      constant(
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.round(random() * 16 - 8) / 8),
        dtype,
      ).reshape(shape);
    withBackend('recorder', () => {
      const [m, k, n] = DEEP_PRODUCT;
      core.matmul(of('float32', m, k), of('float32', k, n));
      core.matmul(of('bfloat16', m, k), of('bfloat16', k, n));
    });
    const mistakes: readonly (readonly [what: string, text: RegExp, instead: string])[] = [
      ['that copies are waited for', /tc_wait<2>\(\);/, ''],
      ['that the cores see what was written', /tc_fence_async\(\);/, ''],
      ['that a place is free', /if \(step >= 4u\) tc_barrier_wait\(&empty.*/, ''],
      ['that a tile is there', /tc_barrier_wait\(&full.*/, ''],
      ['that a place is given back behind its last use', /tc_wgmma_wait<1>\(\);/, 'tc_wgmma_wait<2>();'],
      ['that a place is given back', /if \(step > 0u && lane == 0u\).*/, ''],
      ['that sums are waited for', /tc_wgmma_finish\(sums\);/, ''],
      ['a fence before sums are used', /tc_wgmma_fence\(\);/, ''],
      ['a barrier behind the setting up', /__syncthreads\(\);/, ''],
    ];
    const planted = mistakes.map(([what, text, instead]) =>
      recorder.recorded.map((call) => ({
        ...call,
        dispatches: call.dispatches.map((dispatch) => {
          const { program } = dispatch;
          if (!('print' in program)) throw new Error('a product that tensor cores do not make');
          const wrong = (name: string): string => {
            const body = program.print(name).replace(text, instead);
            if (body === program.print(name)) throw new Error(`no kernel needs ${what}`);
            return body;
          };
          return { ...dispatch, program: { ...program, print: wrong } };
        }),
      })),
    );
    const all = [recorder.recorded, ...planted].flat();
    const shim = new CudaShim(all.flatMap(({ dispatches }) => dispatches.map(({ program }) => program)));
    try {
      const found = (calls: readonly Recorded[], order: number): boolean => {
        try {
          return failures(shim, calls, order).length > 0;
        } catch {
          return true;
        }
      };
      for (const order of ORDERS) expect(found(recorder.recorded, order)).toBe(false);
      for (const [i, [what]] of mistakes.entries())
        for (const call of planted[i])
          expect(
            ORDERS.some((order) => found([call], order)),
            what,
          ).toBe(true);
    } finally {
      shim.end();
    }
  }, 120_000);
});

/** The NVRTC that `EAGRE_NVRTC` names, which compiles without a GPU too. It takes minutes. */
function openCompiler():
  | { readonly addon: CudaAddon; readonly path: string; readonly version: string }
  | undefined {
  if (!process.env.EAGRE_NVRTC) {
    console.log('CUDA kernels are not compiled for GPUs: EAGRE_NVRTC names no library.');
    return undefined;
  }
  const addon = loadCudaAddon();
  return { addon, ...findCompiler(addon) };
}
const nvrtc = openCompiler();

/** Turing, Ampere, Ada Lovelace, Hopper, Blackwell. */
const CAPABILITIES = [75, 80, 86, 89, 90, 100, 120];

describe.skipIf(nvrtc === undefined)('CUDA kernels for GPUs', () => {
  let programs: readonly Parameters<typeof textOf>[0][] = [];
  beforeAll(() => {
    const recorded = [
      recordCalls(),
      ...[80, 90].flatMap((capability) => [recordProducts(capability), recordConvolutions(capability)]),
      recordAttention(),
    ].flatMap((recorder) => recorder.recorded);
    programs = [...new Set(recorded.flatMap((call) => call.dispatches.map((d) => d.program)))];
  }, 600_000);

  it.each(CAPABILITIES)(
    'are compiled by NVRTC for compute capability %d',
    (capability) => {
      const { addon, path, version } = nvrtc as NonNullable<typeof nvrtc>;
      // Other GPUs have no such instructions; the backend gives them other kernels.
      const fitting = programs.filter((program) => runsOn(program, capability));
      expect(fitting.length).toBeGreaterThan(100);
      for (const program of fitting) {
        const image = called(() =>
          addon.compile([path], `${cudaPrelude}${textOf(program, 'k')}`, 'k', capability),
        );
        // A cubin: ELF.
        expect([...image.subarray(0, 4)]).toEqual([0x7f, 0x45, 0x4c, 0x46]);
      }
      console.log(
        `NVRTC ${version} compiled ${fitting.length} of ${programs.length} programs for compute capability ${capability / 10}`,
      );
    },
    900_000,
  );
});

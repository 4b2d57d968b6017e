// The GPU kernels as CUDA C++ and as PTX, compiled for the processor, against the reference: calls of kernels that the ops' samples make, all of them as CUDA C++.
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { isHalf, type NumericDType, registerBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import * as core from '@eagre/core';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { cudaPrelude, type GpuProgram, runsOn } from '@eagre/gpu-kernels';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CudaAddon, called, loadCudaAddon } from '../../backend-cuda/src/addon.ts';
import { findCompiler } from '../../backend-cuda/src/libraries.ts';
import { CudaShim, compiler, textOf } from '../../gpu-kernels/src/testing/cuda-shim.ts';
import { distance, type Recorded, Recorder } from '../../gpu-kernels/src/testing/recorder.ts';
import {
  BROUGHT_PRODUCT,
  DEEP_PRODUCT,
  recordAttention,
  recordBroughtProducts,
  recordCalls,
  recordConvolutions,
  recordProducts,
  recordRecurrent,
  recordWide,
} from './testing/recorded-calls.ts';
import { generator } from './values.ts';

const isLong = process.env.EAGRE_FUZZ_SECONDS !== undefined;

/** Both sides compute in float32, whose last bit may be one of 16 bits; single values are the same. */
function limitOf({ kernel, ulp }: Recorded, dtype: NumericDType): number {
  if (!isHalf(dtype)) return ulp;
  return kernel === 'elementwise' ? 0 : 1;
}

/** Calls with more bytes take long: they run in one order, the shuffled one. */
const isSmall = ({ buffers }: Recorded): boolean =>
  buffers.reduce((sum, { length }) => sum + length, 0) < 500_000;

/** What is wrong with the results of the calls, as lines. */
function failures(shim: CudaShim, calls: readonly Recorded[], order: number, ofLargest = false): string[] {
  const buffers = calls.flatMap((call) => call.buffers);
  let first = 0;
  const starts = calls.map((call) => (first += call.buffers.length) - call.buffers.length);
  const dispatches = calls.flatMap((call, i) =>
    call.dispatches.map((dispatch) => ({
      ...dispatch,
      buffers: dispatch.buffers.map((buffer) => buffer + starts[i]),
      maps: dispatch.maps?.map((map) => ({ ...map, operand: map.operand + starts[i] })),
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
  });
});

describe.skipIf(compiler === undefined)('numbers of 64 bits', () => {
  it.each(['cuda', 'ptx'] as const)(
    'are moved, cast and computed with as by the reference, as %s',
    (form) => {
      const { recorded } = recordWide();
      const shim = new CudaShim(
        recorded.flatMap(({ dispatches }) => dispatches.map(({ program }) => program)),
        form,
      );
      try {
        expect(recorded).toHaveLength(126);
        for (const order of [0, 1]) expect(failures(shim, recorded, order)).toEqual([]);
      } finally {
        shim.end();
      }
    },
  );
});

describe.skipIf(compiler === undefined)('kernels as PTX, on the processor', () => {
  it('agree with the reference in every order of threads', () => {
    const { recorded } = recordCalls();
    // All of them take minutes, and `pnpm fuzz`.
    const seen = new Map<string, number>();
    const calls = isLong
      ? recorded
      : recorded.filter(({ kernel }) => {
          const count = (seen.get(kernel) ?? 0) + 1;
          seen.set(kernel, count);
          return count % (kernel === 'elementwise' ? 80 : 20) === 1;
        });
    const programs = calls.flatMap((call) => call.dispatches.map(({ program }) => program as GpuProgram));
    const shim = new CudaShim(programs, 'ptx');
    try {
      console.log(`${calls.length} calls of ${new Set(programs).size} programs`);
      for (const order of [0, 1, 12345]) expect(failures(shim, calls, order)).toEqual([]);
    } finally {
      shim.end();
    }
  });
});

/** Copies arrive late in even orders; products are made early in those whose half is odd. */
const ORDERS = [0, 1, 2, 12347] as const;

/** What is taken from the text of a kernel, and what it has instead. */
type Mistake = readonly [what: string, text: RegExp, instead: string];

describe.skipIf(compiler === undefined)('tensor cores, on the processor', () => {
  it.each([
    ['products', recordProducts, 45, false, [0, 1, 12345]],
    ['convolutions', recordConvolutions, 45, false, [0, 1, 12345]],
    ['attention', recordAttention, 49, true, [0, 1, 12345]],
    ['recurrent networks', recordRecurrent, 40, true, [0, 1, 12345]],
    ['products by warpgroups', () => recordProducts(90), 48, false, ORDERS],
    ['products whose tiles TMA brings', recordBroughtProducts, 40, false, ORDERS],
    ['attention by warpgroups', () => recordAttention(90), 33, true, ORDERS],
    ['convolutions by warpgroups', () => recordConvolutions(90), 45, false, ORDERS],
  ] as const)(
    'agree in their %s with the reference in every order of threads',
    (_, record, least, ofLargest, orders) => {
      const { recorded } = record();
      const programs = recorded.flatMap((call) => call.dispatches.map(({ program }) => program));
      expect(programs.filter((program) => 'print' in program).length).toBeGreaterThanOrEqual(least);
      const shim = new CudaShim(programs);
      try {
        for (const order of orders) {
          const calls = isLong || order > 2 ? recorded : recorded.filter(isSmall);
          expect(failures(shim, calls, order, ofLargest)).toEqual([]);
        }
      } finally {
        shim.end();
      }
    },
  );

  /** Common to both kinds of kernels for warpgroups. */
  const mistakes: readonly Mistake[] = [
    ['that a tile is there', /tc_barrier_wait\(&full.*/, ''],
    ['that a place is given back behind its last use', /tc_wgmma_wait<1>\(\);/, 'tc_wgmma_wait<2>();'],
    ['that a place is given back', /if \(step > 0u && lane == 0u\).*/, ''],
    ['that sums are waited for', /tc_wgmma_finish\(sums\);/, ''],
    ['a fence before sums are used', /tc_wgmma_fence\(\);/, ''],
    ['a barrier behind the setting up', /__syncthreads\(\);/, ''],
  ];

  it.each<
    readonly [
      of: string,
      sizes: readonly [number, number, number],
      hasTensorMaps: boolean,
      own: readonly Mistake[],
    ]
  >([
    [
      'whose threads copy',
      DEEP_PRODUCT,
      false,
      [
        ['that copies are waited for', /tc_wait<3>\(\);/, ''],
        ['that the cores see what was written', /tc_fence_async\(\);/, ''],
        ['that a place is free', /if \(step >= 6u\) tc_barrier_wait\(&empty.*/, ''],
      ],
    ],
    [
      'whose tiles TMA brings',
      BROUGHT_PRODUCT,
      true,
      [
        ['that TMA sees barriers', /tc_fence_async\(\);/, ''],
        ['that a place is free', /tc_barrier_wait\(&empty.*/, ''],
        [
          'that bytes are counted',
          /tc_barrier_expect\(&full\[stage\], .*\);/,
          'tc_barrier_arrive(&full[stage]);',
        ],
        ['that all bytes are counted', /tc_barrier_expect\(&full\[stage\], /, '$&16u + '],
        ['that the last place is given back', /if \(lane == 0u\) tc_barrier_arrive.*/, ''],
        ['that a warp has written before it reads', /tc_sync_warp\(\);/, ''],
        ['that a warp has read before it writes', /tc_sync_warp\(\);\n {4}\}\n {2}\}/, '} }'],
      ],
    ],
  ])('show what a kernel for warpgroups lacks, %s', (_, [m, k, n], hasTensorMaps, own) => {
    const recorder = new Recorder(jsBackend);
    Object.assign(recorder, { capability: 90, hasTensorMaps });
    registerBackend(recorder, -1);
    const random = generator(19);
    const of = (dtype: NumericDType, ...shape: number[]): Tensor =>
      constant(
        Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.round(random() * 16 - 8) / 8),
        dtype,
      ).reshape(shape);
    withBackend('recorder', () => {
      core.matmul(of('float32', m, k), of('float32', n, k), { transposeB: true });
      core.matmul(of('bfloat16', m, k), of('bfloat16', k, n));
    });
    const all = [...mistakes, ...own];
    const planted = all.map(([what, text, instead]) =>
      recorder.recorded.map((call) => ({
        ...call,
        dispatches: call.dispatches.map((dispatch) => {
          const { program } = dispatch;
          if (!('print' in program) || program.maps > 0 !== hasTensorMaps)
            throw new Error('a product that another kernel makes');
          const wrong = (name: string): string => {
            const body = program.print(name).replace(text, instead);
            if (body === program.print(name)) throw new Error(`no kernel needs ${what}`);
            return body;
          };
          return { ...dispatch, program: { ...program, print: wrong } };
        }),
      })),
    );
    const calls = [recorder.recorded, ...planted].flat();
    const shim = new CudaShim(calls.flatMap(({ dispatches }) => dispatches.map(({ program }) => program)));
    try {
      const found = (some: readonly Recorded[], order: number): boolean => {
        try {
          return failures(shim, some, order).length > 0;
        } catch {
          return true;
        }
      };
      for (const order of ORDERS) expect(found(recorder.recorded, order)).toBe(false);
      for (const [i, [what]] of all.entries())
        for (const call of planted[i])
          expect(
            ORDERS.some((order) => found([call], order)),
            what,
          ).toBe(true);
    } finally {
      shim.end();
    }
  });

  it('show what a kernel of attention for warpgroups lacks', () => {
    const recorder = new Recorder(jsBackend);
    recorder.capability = 90;
    registerBackend(recorder, -1);
    const random = generator(23);
    const of = (time: number): Tensor =>
      constant(
        Array.from({ length: time * 40 }, () => random() - 0.5),
        'bfloat16',
      ).reshape([1, 1, time, 40]);
    // More tiles than there are at once, of keys and of queries: the kernels that make the result, and the gradients.
    for (const [queries, keys] of [
      [20, 390],
      [390, 20],
    ]) {
      const inputs = [of(queries), of(keys), of(keys)] as const;
      const tape = new GradientTape();
      tape.watch(inputs);
      withBackend('recorder', () => {
        const y = tape.record(() => core.nn.scaledDotProductAttention(...inputs));
        tape.gradient(y, inputs, { outputGradients: of(queries) });
      });
    }
    // Of scores that differ by much.
    withBackend('recorder', () => core.nn.scaledDotProductAttention(of(20).mul(200), of(384), of(384)));
    const [result, gradients, , others] = recorder.recorded;
    // Each place of each pattern is a mistake of its own. Waits behind each other are one.
    type Pattern = readonly [what: string, text: RegExp, instead: string];
    const patterns: readonly Pattern[] = [
      ['that copies are waited for', /tc_wait<2>\(\);/g, ''],
      ['that the cores see what was written', /tc_fence_async\(\);/g, ''],
      ['that a place is free', /if \(turn >= 4u\)\s*tc_barrier_wait\(&empty.*/g, ''],
      ['that a tile is there', /^\s*tc_barrier_wait\(&full\[.*/gm, ''],
      ['that a place is given back behind its last use', /&empty\[\(turn - 1u\)/g, '&empty[(turn)'],
      ['that a place is given back', /tc_barrier_arrive\(&empty\[\(turn - 1u\) % 4u\]\);/g, ';'],
      ['that products are waited for', /(?:tc_wgmma_wait_for<\d>\(flat\(\w+\)\);\s*)+/g, ''],
      ['a fence', /tc_wgmma_fence\(\);/g, ''],
      ['a barrier behind the setting up', /__syncthreads\(\);/g, ''],
    ];
    const kernels: readonly (readonly [string, Recorded, dispatch: number, readonly Pattern[]])[] = [
      ['result', result, 0, patterns],
      ['gradient of queries', gradients, 0, patterns],
      ['gradients of keys and values', others, 1, patterns],
      [
        'result of large scores',
        recorder.recorded[recorder.recorded.length - 1],
        0,
        [['that sums are made smaller', /kept\[0\]\[0\] != 1\.0f \|\| kept\[0\]\[1\] != 1\.0f/g, 'false']],
      ],
    ];
    const planted = kernels.flatMap(([name, call, at, mistakes]) => {
      const { program } = call.dispatches[at];
      if (!('print' in program)) throw new Error('attention that tensor cores do not make');
      return mistakes.flatMap(([what, text, instead]) => {
        // What the kernel does, not the functions that it has.
        const parts = (body: string): readonly [string, string] => {
          const begin = body.indexOf('extern "C"');
          return [body.slice(0, begin), body.slice(begin)];
        };
        const places = [...parts(program.print('k'))[1].matchAll(text)];
        expect(places.length, `${name}: ${what}`).toBeGreaterThan(0);
        return places.map((_, place) => {
          const print = (as: string): string => {
            const [before, body] = parts(program.print(as));
            let number = 0;
            return before + body.replace(text, (found) => (number++ === place ? instead : found));
          };
          const dispatches = call.dispatches.map((dispatch, i) =>
            i === at ? { ...dispatch, program: { ...program, print } } : dispatch,
          );
          return { what: `${name}: ${what}, ${place}`, call: { ...call, dispatches } };
        });
      });
    });
    const all = [...recorder.recorded, ...planted.map(({ call }) => call)];
    const shim = new CudaShim(all.flatMap(({ dispatches }) => dispatches.map(({ program }) => program)));
    try {
      const found = (calls: readonly Recorded[], order: number): boolean => {
        try {
          return failures(shim, calls, order, true).length > 0;
        } catch {
          return true;
        }
      };
      for (const order of ORDERS) expect(found(recorder.recorded, order)).toBe(false);
      expect(
        planted.filter(({ call }) => !ORDERS.some((order) => found([call], order))).map(({ what }) => what),
      ).toEqual([]);
    } finally {
      shim.end();
    }
  });
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
      recordBroughtProducts(),
      recordAttention(),
      recordAttention(90),
      recordRecurrent(),
    ].flatMap((recorder) => recorder.recorded);
    programs = [...new Set(recorded.flatMap((call) => call.dispatches.map((d) => d.program)))];
  });

  it.each(CAPABILITIES)('are compiled by NVRTC for compute capability %d', (capability) => {
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
  });
});

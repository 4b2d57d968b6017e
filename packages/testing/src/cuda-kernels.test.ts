// The GPU kernels as CUDA C++ and as PTX, compiled for the processor, against the reference: calls of kernels that the ops' samples make, all of them as CUDA C++.
import '@eagre/backend-js';
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
  DEEP_PRODUCT,
  recordAttention,
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

describe.skipIf(compiler === undefined)('numbers of 64 bits', () => {
  it.each(['cuda', 'ptx'] as const)(
    'are moved and cast as by the reference, as %s',
    (form) => {
      const { recorded } = recordWide();
      const shim = new CudaShim(
        recorded.flatMap(({ dispatches }) => dispatches.map(({ program }) => program)),
        form,
      );
      try {
        expect(recorded).toHaveLength(85);
        for (const order of [0, 1]) expect(failures(shim, recorded, order)).toEqual([]);
      } finally {
        shim.end();
      }
    },
    60_000,
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
  }, 900_000);
});

/** Copies arrive late in even orders; products are made early in those whose half is odd. */
const ORDERS = [0, 1, 2, 12347] as const;

describe.skipIf(compiler === undefined)('tensor cores, on the processor', () => {
  it.each([
    ['products', recordProducts, 45, false, [0, 1, 12345]],
    ['convolutions', recordConvolutions, 45, false, [0, 1, 12345]],
    ['attention', recordAttention, 49, true, [0, 1, 12345]],
    ['recurrent networks', recordRecurrent, 40, true, [0, 1, 12345]],
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
      core.matmul(of('float32', m, k), of('float32', n, k), { transposeB: true });
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
      recordRecurrent(),
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

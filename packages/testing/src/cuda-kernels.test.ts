// The GPU kernels as CUDA C++, compiled for the processor, against the reference: every call of a kernel that the ops' samples make.
import '@eagre/backend-js';
import { registerBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { withBackend } from '@eagre/core';
import { execute, listOps } from '@eagre/core/internal';
import { cudaPrelude, printCuda } from '@eagre/gpu-kernels';
import { describe, expect, it } from 'vitest';
import { type CudaAddon, called, loadCudaAddon } from '../../backend-cuda/src/addon.ts';
import { findCompiler } from '../../backend-cuda/src/libraries.ts';
import { CudaShim, compiler } from '../../gpu-kernels/src/testing/cuda-shim.ts';
import { distance, type Recorded, Recorder } from '../../gpu-kernels/src/testing/recorder.ts';
import { hasFloats, materialize } from './values.ts';

/** The calls that the samples of all ops make, in float32 and in 16 bits. */
function recordSamples(): Recorder {
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
  return recorder;
}

/** What is wrong with the results of the calls, as lines. */
function failures(shim: CudaShim, calls: readonly Recorded[], order: number): string[] {
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
      const off = distance(dtype, got, expected);
      return off <= call.ulp
        ? []
        : [`${call.label}: ${call.kernel}, output ${output} (${dtype}): off by ${off}`];
    }),
  );
}

describe.skipIf(compiler === undefined)('CUDA kernels on the processor', () => {
  it('agree with the reference in every order of threads', () => {
    const { recorded } = recordSamples();
    expect(new Set(recorded.map(({ kernel }) => kernel)).size).toBeGreaterThan(40);
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

describe.skipIf(nvrtc === undefined)('CUDA kernels for GPUs', () => {
  it('are compiled by NVRTC', () => {
    const { addon, path, version } = nvrtc as NonNullable<typeof nvrtc>;
    const programs = new Set(
      recordSamples().recorded.flatMap((call) => call.dispatches.map((d) => d.program)),
    );
    for (const { module } of programs) {
      const image = called(() => addon.compile([path], `${cudaPrelude}${printCuda(module, 'k')}`, 'k', 90));
      // A cubin: ELF.
      expect([...image.subarray(0, 4)]).toEqual([0x7f, 0x45, 0x4c, 0x46]);
    }
    console.log(`NVRTC ${version} compiled ${programs.size} programs for compute capability 9.0`);
  }, 600_000);
});

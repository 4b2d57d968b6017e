// The GPU kernels as CUDA C++, compiled for the processor, against the reference: every call of a kernel that the ops' samples make.
import '@eagre/backend-js';
import { registerBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { withBackend } from '@eagre/core';
import { execute, listOps } from '@eagre/core/internal';
import { describe, expect, it } from 'vitest';
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

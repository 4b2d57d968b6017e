// What webgpu-browser.deep.test.ts runs in a page.
import { getBackend, isComplex } from '@eagre/backend';
import { webgpuUnavailable } from '@eagre/backend-webgpu';
import * as core from '@eagre/core';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { copyTo, execute, hasGradient, listOps } from '@eagre/core/internal';
import { maxUlp } from './compare.ts';
import { hasFloats, materialize } from './values.ts';

/** Why there is no GPU; null where there is one. */
function unavailable(): string | null {
  return webgpuUnavailable ?? null;
}

/** Every op on its first sample in float32: what is further off than the op may be, as lines, and how many results were compared. */
async function conformance(): Promise<{ compared: number; wrong: string[] }> {
  const wrong: string[] = [];
  let compared = 0;
  for (const op of listOps().values()) {
    for (const [index, sample] of op.samples().slice(0, 1).entries()) {
      const attrs = sample.attrs ?? {};
      const wide = hasFloats(sample) ? 'float64' : 'float32';
      const expected = withBackend('js', () => execute(op, materialize(sample, wide, index + 1), attrs));
      const got = withBackend('webgpu', () => execute(op, materialize(sample, 'float32', index + 1), attrs));
      for (const [i, y] of got.entries()) {
        if (y.dtype === 'string') continue;
        const where = `${op.name}, sample ${index}, output ${i}`;
        const values = await y.read();
        const [local, reference] = [withBackend('js', () => like(y, values)), expected[i] as Tensor];
        compared++;
        if (hasGradient(y.dtype)) {
          const off = maxUlp(local, reference);
          if (!(off <= op.ulp)) wrong.push(`${where}: off by ${off}`);
        } else if (JSON.stringify(local.data(), wholes) !== JSON.stringify(reference.data(), wholes))
          wrong.push(where);
      }
    }
  }
  return { compared, wrong };
}

/** A tensor of what was read of another. */
function like(x: Tensor, values: Awaited<ReturnType<Tensor['read']>>): Tensor {
  // Parts of complex numbers are no elements.
  if (isComplex(x.dtype)) return copyTo(x, getBackend('js'));
  return constant(values as Float32Array, x.dtype, { shape: x.shape });
}

const wholes = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Reads without a turn of the event loop: how many elements are wrong of a tensor of all bytes. */
function synchronousRead(size: number): number {
  const values = Float32Array.from({ length: size }, (_, i) => Math.sin(i) * 10 ** (i % 30));
  const x = withBackend('webgpu', () => constant(values).mul(1));
  const read = x.data();
  return values.reduce((count, value, i) => count + Number(read[i] !== value), 0);
}

/** The error that the next read throws after an index out of range. */
async function lateError(): Promise<string> {
  const bad = withBackend('webgpu', () => core.gather(constant([1, 2]), constant([5], 'int32')));
  return bad.read().then(
    () => 'none',
    (error) => String(error),
  );
}

Object.assign(globalThis, {
  tests: {
    unavailable,
    conformance,
    synchronousRead,
    lateError,
  },
});

import '@eagre/backend-js';
import { dtypeTraits, getBackend, isHalf } from '@eagre/backend';
import { type Tensor, withBackend } from '@eagre/core';
import { copyTo, execute, hasGradient, listOps, type Op, type Sample } from '@eagre/core/internal';
import { describe, expect, it } from 'vitest';
import { maxUlp } from './compare.ts';
import { hasFloats, materialize } from './values.ts';

// Both sides compute in float32 and round once, so a last bit of float32 may be one of 16 bits; ops of several kernels round in between.
const HALF_ULP = 4;

type Float = 'float32' | 'float64' | 'float16' | 'bfloat16';

const references = new Map<string, readonly Tensor[]>();

/** What the reference makes of a sample of an op, once for all backends and precisions that are held against it. */
function reference(op: Op, sample: Sample, seed: number, float: Float): readonly Tensor[] {
  const key = `${op.name} ${seed} ${float}`;
  let outputs = references.get(key);
  if (outputs === undefined) {
    outputs = withBackend('js', () => execute(op, materialize(sample, float, seed), sample.attrs ?? {}));
    references.set(key, outputs);
  }
  return outputs;
}

const chosenOps = (names?: ReadonlySet<string>): Op[] =>
  [...listOps().values()].filter(({ name }) => names?.has(name) ?? true);

/**
 * Tests that every op on every sample gives on a backend, known by its name, what it gives on the reference, in all precisions.
 * @param names of the ops that are tested; all unless given.
 */
export function conformanceSuite(backend: string, names?: ReadonlySet<string>): void {
  floatsSuite(backend, names);
  halvesSuite(backend, names);
}

/** The part of `conformanceSuite` in float32 and float64, and in the dtypes that have no such choice. */
export function floatsSuite(backend: string, names?: ReadonlySet<string>): void {
  const js = getBackend('js');
  describe(`${backend} agrees with the reference`, () => {
    for (const op of chosenOps(names)) {
      it(op.name, () => {
        for (const [index, sample] of op.samples().entries()) {
          const attrs = sample.attrs ?? {};
          const floats = hasFloats(sample) ? (['float32', 'float64'] as const) : (['float32'] as const);
          for (const float of floats) {
            // The reference computes in float64 from the same numbers, so that only the other's rounding is seen.
            const wide = hasFloats(sample) ? 'float64' : 'float32';
            const expected = reference(op, sample, index + 1, wide);
            const got = withBackend(backend, () => execute(op, materialize(sample, float, index + 1), attrs));
            expect(got.length).toBe(expected.length);
            got.forEach((y, i) => {
              const want = expected[i] as Tensor;
              const where = `sample ${index}, ${float}, output ${i}`;
              expect(y.shape, where).toEqual(want.shape);
              const local = copyTo(y, js);
              if (hasGradient(y.dtype))
                expect(maxUlp(local, want), where).toBeLessThanOrEqual(limit(op.ulp, y));
              else expect(local.array(), where).toEqual(want.array());
            });
          }
        }
      });
    }
  });
}

/** The part of `conformanceSuite` in 16 bits. */
export function halvesSuite(backend: string, names?: ReadonlySet<string>): void {
  const js = getBackend('js');
  describe(`${backend} agrees with the reference in 16 bits`, () => {
    describe.each(['float16', 'bfloat16'] as const)('%s', (dtype) => {
      for (const op of chosenOps(names)) {
        const samples = op.samples().filter(hasFloats);
        if (samples.length === 0) continue;
        it(op.name, () => {
          for (const [index, sample] of samples.entries()) {
            const expected = reference(op, sample, index + 1, dtype);
            const got = withBackend(backend, () =>
              execute(op, materialize(sample, dtype, index + 1), sample.attrs ?? {}),
            );
            got.forEach((y, i) => {
              const want = expected[i] as Tensor;
              const where = `sample ${index}, output ${i}`;
              expect([y.dtype, y.shape], where).toEqual([want.dtype, want.shape]);
              const local = copyTo(y, js);
              // Results of 32 bits are not rounded to 16.
              const most = isHalf(y.dtype) ? HALF_ULP : Math.max(HALF_ULP, op.ulp);
              if (hasGradient(y.dtype)) expect(maxUlp(local, want), where).toBeLessThanOrEqual(most);
              else expect(local.array(), where).toEqual(want.array());
            });
          }
        });
      }
    });
  });
}

/** float64 kernels may use a library's functions, and both sides round there. */
function limit(ulp: number, y: Tensor): number {
  return dtypeTraits[y.dtype].digits > 24 ? Math.max(64, ulp * 4) : ulp;
}

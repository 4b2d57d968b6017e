// Calls of TensorFlow's functions, as tools/golden/cases.py writes them, against ours: eagerly, traced with unknown sizes, gradients.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as tf from '../../src/index.ts';
import { expectNear, type GoldenTensor, specialNumber, tensorOf } from './golden.ts';

interface Case {
  readonly op: string;
  readonly args: unknown[];
  readonly options?: Record<string, unknown>;
  readonly result: GoldenTensor[];
  /** For each float tensor among arguments and options. */
  readonly gradients?: (GoldenTensor | null)[];
  readonly traced?: false;
  readonly tolerance?: number;
  readonly error?: string;
}
// biome-ignore lint/suspicious/noExplicitAny: arguments of any function.
type Any = any;

const isValues = (v: unknown): v is GoldenTensor =>
  typeof v === 'object' && v !== null && Object.hasOwn(v, 'values');
/** Arguments with tensors in the place of their values. */
function given(v: unknown, leaf: (values: GoldenTensor) => unknown): unknown {
  if (isValues(v)) return leaf(v);
  if (Array.isArray(v)) return v.map((item) => given(item, leaf));
  if (typeof v === 'object' && v !== null)
    return Object.fromEntries(Object.entries(v).map(([key, item]) => [key, given(item, leaf)]));
  return typeof v === 'string' ? (specialNumber(v) ?? v) : v;
}
/** Results in the order of their names or places. */
function leavesOf(v: unknown): tf.Tensor[] {
  if (v instanceof tf.Tensor || v instanceof tf.Variable) return [v as tf.Tensor];
  if (Array.isArray(v)) return v.flatMap(leavesOf);
  if (typeof v === 'object' && v !== null) return Object.values(v).flatMap(leavesOf);
  return [tf.constant(v as number, Number.isInteger(v) ? 'int32' : 'float32')];
}
const fnOf = (op: string): ((...args: Any[]) => unknown) => {
  const fn = op.split('.').reduce<Any>((o, key) => o?.[key], tf);
  if (typeof fn !== 'function') throw new Error(`there is no tf.${op}`);
  return fn;
};
const precision: Readonly<Record<string, number>> = {
  float64: 1e-9,
  complex128: 1e-9,
  float16: 2e-3,
  bfloat16: 2e-2,
};

const near = (got: tf.Tensor, expected: GoldenTensor, where: string, tolerance?: number): void =>
  expectNear(got, expected, where, { tolerance: tolerance ?? precision[expected.dtype] ?? 2e-5 });

/** Adds the tests of a golden file. */
export function testCases(file: string): void {
  const { cases } = JSON.parse(readFileSync(new URL(`../../golden/${file}`, import.meta.url), 'utf8')) as {
    cases: Case[];
  };
  describe.each(cases.map((c, i) => [`${c.op} ${i}`, c] as const))('%s', (name, c) => {
    const call = (leaf: (values: GoldenTensor) => unknown): unknown => {
      const args = c.args.map((v) => given(v, leaf));
      const options = given(c.options ?? {}, leaf) as object;
      return Object.keys(options).length > 0 ? fnOf(c.op)(...args, options) : fnOf(c.op)(...args);
    };
    if (c.error !== undefined) {
      it('is refused by a typed error', () => {
        expect(() => leavesOf(call(tensorOf)).map((t) => t.data())).toThrow(Error);
        try {
          leavesOf(call(tensorOf));
        } catch (error) {
          expect(error).toBeInstanceOf(tf.errors.EagreError);
        }
      });
      return;
    }
    it('gives what TensorFlow gives', () => {
      const results = leavesOf(call(tensorOf));
      expect(results.length).toBe(c.result.length);
      c.result.forEach((expected, i) => {
        near(results[i], expected, name, c.tolerance);
      });
    });
    if (c.gradients !== undefined)
      it('has its gradients', () => {
        const sources: tf.Tensor[] = [];
        const tape = new tf.GradientTape();
        const results = leavesOf(
          call((values) => {
            const x = tensorOf(values);
            if (values.dtype.startsWith('float') || values.dtype === 'bfloat16') {
              tape.watch(x);
              sources.push(x);
            }
            return x;
          }),
        );
        const total = results
          .filter((y) => y.dtype.startsWith('float'))
          .map((y) => {
            const weights = tf.range(0, y.size, 1, { dtype: 'float32' }).cos().reshape(y.shape).cast(y.dtype);
            return y.mul(weights).sum().cast('float64');
          })
          .reduce((a, b) => a.add(b));
        const gradients = tape.gradient(total, sources) as (tf.Tensor | null)[];
        c.gradients?.forEach((expected, i) => {
          const own = gradients[i];
          if (expected === null) {
            // Derivatives that TensorFlow does not have.
            if (['math.betainc', 'math.zeta', 'math.polygamma'].includes(c.op)) return;
            // Zeros say the same.
            if (own !== null) expect(own.abs().max().item(), `${name}, gradient ${i}`).toBe(0);
          } else if (own === null) {
            expect(
              expected.values.every((v) => v === 0),
              `${name}: gradient ${i} is null`,
            ).toBe(true);
          } else near(own, expected, `${name}, gradient ${i}`, (c.tolerance ?? 1e-5) * 10);
        });
      });
    if (c.traced === false) return;
    it('gives the same for any size in a traced function', () => {
      const tensors: tf.Tensor[] = [];
      call((values) => {
        const t = tensorOf(values);
        tensors.push(t);
        return t;
      });
      if (tensors.length === 0) return;
      const specs = tensors.map(
        (t) =>
          new tf.TensorSpec(
            t.shape.map(() => null),
            t.dtype,
          ),
      );
      const traced = tf.function(
        (...own: tf.Tensor[]) => {
          let at = 0;
          return leavesOf(call(() => own[at++]));
        },
        { inputSignature: specs },
      ) as Any;
      const results = traced(...tensors) as tf.Tensor[];
      c.result.forEach((expected, i) => {
        near(results[i], expected, `${name}, traced`, c.tolerance);
      });
    });
  });
}

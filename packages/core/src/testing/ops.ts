// What the tests of ops share.
import { listBackends } from '@eagre/backend';
import { withBackend } from '../dispatch/device.ts';
import { type Attrs, execute, GradContext, listOps } from '../dispatch/op.ts';
import { constant } from '../tensor/constant.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** `fn` for every registered backend. */
export function everywhere(fn: (backend: string) => void): void {
  for (const { name } of listBackends()) withBackend(name, () => fn(name));
}

/** The values as numbers. */
export function numbers(x: Tensor): number[] {
  return Array.from(x.data() as ArrayLike<number | bigint>, Number);
}

/** Uniform pseudo-random numbers, the same every time. */
export function randoms(count: number, low: number, high: number, seed: number = 1): Float64Array {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + ((state >>> 8) / 2 ** 24) * (high - low);
  });
}

/** The largest difference, relative to the expected number or to 1. */
export function worst(got: Tensor, expected: ArrayLike<number>): number {
  const list = numbers(got);
  if (list.length !== expected.length) return Infinity;
  return list.reduce((most, x, i) => {
    const y = expected[i];
    return Object.is(x, y) || x === y
      ? most
      : Math.max(most, Math.abs(x - y) / Math.max(1, Math.abs(y)) || Infinity);
  }, 0);
}

/** What an op's gradient makes of ones. */
export function slopes(name: string, inputs: readonly Tensor[], attrs: Attrs = {}): (number[] | null)[] {
  const op = listOps().get(name);
  if (op?.grad === undefined) throw new Error(`${name} has no gradient`);
  const outputs = execute(op, inputs, attrs);
  const [{ dtype, shape }] = outputs;
  const dy = constant(1, dtype, { shape });
  const result = op.grad(new GradContext(inputs, outputs, attrs, () => true), dy);
  return [result].flat().map((g) => (g === null ? null : numbers(g as Tensor)));
}

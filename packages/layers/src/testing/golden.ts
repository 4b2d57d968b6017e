// Golden files: values that Keras has computed, and how near ours have to be.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { constant, type Tensor } from '@eagre/core';

/** A tensor as it stands in a golden file. */
export interface Values {
  readonly shape: number[];
  readonly values: number[];
}

/** What a golden file of the package holds. */
export function readGolden<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../golden/${name}.json`, import.meta.url), 'utf8')) as T;
}

export function tensorOf({ shape, values }: Values, dtype: 'float32' | 'int32' = 'float32'): Tensor {
  return constant(values, dtype, { shape });
}

/** @param tolerance relative to values of at least `least` */
export function assertClose(
  got: ArrayLike<number | bigint>,
  expected: readonly number[],
  what: string,
  tolerance: number,
  least = 1,
): void {
  assert.equal(got.length, expected.length, what);
  expected.forEach((v, i) => {
    if (!(Math.abs(Number(got[i]) - v) <= tolerance * Math.max(least, Math.abs(v))))
      assert.fail(`${what}: element ${i} is ${got[i]}, Keras has ${v}`);
  });
}

/** The same for a tensor, whose shape counts too. */
export function assertCloseTensor(
  got: Tensor,
  expected: Values,
  what: string,
  tolerance: number,
  least = 1,
): void {
  assert.deepEqual(got.shape, expected.shape, what);
  assertClose(got.data() as ArrayLike<number | bigint>, expected.values, what, tolerance, least);
}

// Special functions of float32, which have polynomials of their own, against those of float64.
import '@eagre/backend-js';
import { expect, test } from 'vitest';
import { constant, math, type Tensor } from '../../index.ts';

const { besselI0, besselI0e, besselI1, besselI1e } = math.special;
const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);
/** Places among floats of one sign. */
const placeOf = (x: number): number => {
  float[0] = Math.abs(x);
  return bits[0] as number;
};
const floats = (count: number, of: (i: number) => number): number[] =>
  Array.from({ length: count }, (_, i) => Math.fround(of(i)));

/** How many units in the last place float32 is off, at most. */
function off(fn: (x: Tensor) => Tensor, given: readonly number[]): number {
  const inputs = given.map(Math.fround);
  const narrow = fn(constant([...inputs], 'float32')).data() as Float32Array;
  const wide = fn(constant([...inputs], 'float64')).data() as Float64Array;
  let most = 0;
  for (const [i, exact] of wide.entries()) {
    const expected = Math.fround(exact);
    const found = narrow[i] as number;
    if (Object.is(found, expected) || (Number.isNaN(found) && Number.isNaN(exact))) continue;
    expect(Math.sign(found), `of ${inputs[i]}`).toBe(Math.sign(expected));
    most = Math.max(most, Math.abs(placeOf(found) - placeOf(expected)));
  }
  return most;
}

const sizes = [
  ...floats(4001, (i) => (i - 2000) / 200),
  ...floats(400, (i) => 1.2 ** i * 1e-20),
  ...floats(400, (i) => -(1.2 ** i) * 1e-20),
  ...floats(200, (i) => 7.9 + i / 1000),
];
test.each(Object.entries({ besselI0, besselI0e, besselI1, besselI1e }))('%s of float32', (_, fn) => {
  expect(
    off(
      fn,
      sizes.filter((x) => Math.abs(x) < 1e20),
    ),
  ).toBeLessThanOrEqual(10);
  // What comes near the largest float, and what is beyond.
  expect(off(fn, [87, 88.5, 89, 90, 91, 91.8, -91.8, 92, 100, 1000, -1000])).toBeLessThanOrEqual(10);
  expect(off(fn, [0, -0, 8, -8, Number.NaN])).toBeLessThanOrEqual(2);
});

test('ndtri of float32', () => {
  const all = [
    ...floats(4001, (i) => i / 4000),
    ...floats(900, (i) => 2 ** (-i / 6)),
    ...floats(140, (i) => 1 - 2 ** (-i / 6)),
    ...floats(200, (i) => 0.5 + (i - 100) * 2 ** -24),
  ];
  expect(off(math.ndtri, all)).toBeLessThanOrEqual(10);
  expect(off(math.ndtri, [0, -0, 1, -1, 2, Number.NaN, 2 ** -149, 1 - 2 ** -24])).toBeLessThanOrEqual(10);
  expect(math.ndtri(constant([0, 1, 0.5])).array()).toEqual([
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    0,
  ]);
});

import { InternalError, specialFunctions } from '@eagre/backend';
import { expect, it } from 'vitest';
import { kernels } from './special-function.ts';
import { run, tensor, values } from './testing/kernels.ts';

const at = (name: (typeof specialFunctions)[number], ...place: number[]): number =>
  values(
    run(
      kernels,
      'SpecialFunction',
      place.map((v) => tensor('float64', [1], [v])),
      'float64',
      [1],
      { function: specialFunctions.indexOf(name) },
    ),
  )[0] as number;

// native/tests/special_numbers_test.cc asks for more of them.
it('are known at some places', () => {
  for (const x of [0.01, 1.5, 30]) {
    expect(at('igamma', 1, x)).toBeCloseTo(-Math.expm1(-x), 13);
    expect(at('igammac', 2, x)).toBeCloseTo((1 + x) * Math.exp(-x), 13);
  }
  const step = 1e-5;
  const slope = (at('igamma', 2.5 + step, 3) - at('igamma', 2.5 - step, 3)) / (2 * step);
  expect(at('igammaGradA', 2.5, 3)).toBeCloseTo(slope, 8);
  expect(at('betainc', 2, 3, 0.5)).toBeCloseTo(0.6875, 13);
  expect(at('zeta', 2, 1)).toBeCloseTo(Math.PI ** 2 / 6, 13);
  expect(at('polygamma', 2, 1)).toBeCloseTo(-2 * 1.2020569031595942, 13);
});

it('have as many inputs as they take', () => {
  expect(() => at('betainc', 1, 1)).toThrow(InternalError);
  expect(() => at('zeta', 1, 1, 1)).toThrow(InternalError);
});

import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, ones, type Shape, zeros } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import * as constraints from '../constraints.ts';
import * as regularizers from '../regularizers.ts';
import * as initializers from './initializers.ts';

// Values of Keras and SciPy: tools/golden/initializers.py.
interface Golden {
  readonly stft: readonly {
    readonly options: Record<string, unknown>;
    readonly shape: Shape;
    readonly values: readonly number[];
  }[];
  readonly orthogonal: readonly {
    readonly options: Record<string, unknown>;
    readonly weight: readonly (readonly number[])[];
    readonly penalty: number;
  }[];
}
const golden = JSON.parse(
  readFileSync(new URL('../../golden/initializers.json', import.meta.url), 'utf8'),
) as Golden;

describe('STFT', () => {
  test.each(golden.stft.map((c) => [JSON.stringify(c.options), c] as const))(
    '%s',
    (_, { options, shape, values }) => {
      const made = new initializers.STFT(options)(shape, 'float64');
      expect(made.shape).toEqual(shape);
      const got = made.data() as Float64Array;
      values.forEach((value, i) => {
        expect(Math.abs((got[i] as number) - value), `${i}`).toBeLessThan(1e-12);
      });
    },
  );
  test('refuses other shapes and windows', () => {
    for (const fn of [
      () => initializers.stft()([3, 1]),
      () => initializers.stft()([3, 2, 3]),
      () => initializers.stft({ window: [1, 2] })([3, 1, 3]),
      () => initializers.stft({ window: 'han' as never }),
      () => initializers.stft('both' as never),
      () => initializers.stft({ scaling: 'none' as never }),
    ])
      expect(fn, String(fn)).toThrow(InvalidArgumentError);
    expect(initializers.get('stft')).toBeInstanceOf(initializers.STFTInitializer);
  });
});

describe('OrthogonalRegularizer', () => {
  test.each(golden.orthogonal.map((c) => [JSON.stringify(c.options), c] as const))(
    '%s',
    (_, { options, weight, penalty }) => {
      expect(new regularizers.OrthogonalRegularizer(options)(weight as never).item()).toBeCloseTo(penalty, 6);
    },
  );
  test('of a single row it is 0, and it is of matrices', () => {
    expect(
      regularizers
        .orthogonalRegularizer()(ones([1, 3]))
        .item(),
    ).toBe(0);
    expect(() => regularizers.orthogonalRegularizer()(ones([3]))).toThrow('needs a matrix, got shape [3]');
    expect(() => regularizers.orthogonalRegularizer({ mode: 'row' as never })).toThrow(InvalidArgumentError);
  });
});

test('serialize and deserialize', () => {
  const half: initializers.InitializerFunction = (shape, dtype) => zeros(shape, { dtype });
  for (const [space, object] of [
    [initializers, initializers.heNormal({ seed: 3 })],
    [regularizers, regularizers.l1L2(0.5)],
    [constraints, constraints.maxNorm(3)],
  ] as const) {
    const written = JSON.parse(JSON.stringify(space.serialize(object as never)));
    expect(written).toEqual(JSON.parse(JSON.stringify(object)));
    expect(JSON.stringify(space.deserialize(written))).toBe(JSON.stringify(object));
    expect(() => space.serialize('x' as never)).toThrow(InvalidArgumentError);
    expect(() => space.deserialize('x' as never)).toThrow('expected { class_name, config }');
    expect(() => space.deserialize(written, 3 as never)).toThrow(InvalidArgumentError);
  }
  const written = JSON.parse(JSON.stringify(initializers.serialize(half)));
  expect(written).toMatchObject({ class_name: 'function', config: 'half' });
  expect(initializers.deserialize(written, { half })).toBe(half);
  expect(() => initializers.deserialize(written)).toThrow('is not known: register it');
  class Third extends regularizers.L2 {}
  const third = JSON.parse(JSON.stringify(regularizers.serialize(new Third(0.5))));
  expect(regularizers.deserialize(third, { Third })).toBeInstanceOf(Third);
});

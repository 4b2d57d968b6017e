import { InvalidArgumentError } from '@eagre/backend';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Part, split } from './split.ts';

const x = {
  dtype: 'float32',
  shape: [5, 1, 2],
  data: Float32Array.from({ length: 10 }, (_, i) => i),
} as const;
const y = { dtype: 'uint8', shape: [5], data: new Uint8Array([0, 1, 2, 3, 4]) } as const;

describe('split', () => {
  it('cuts both arrays in order, without copying', () => {
    const [[xTrain, yTrain], [xHeld, yHeld]] = split(x, y, [3, 1]);
    expect([xTrain.shape, [...xTrain.data]]).toEqual([
      [3, 1, 2],
      [0, 1, 2, 3, 4, 5],
    ]);
    expect([yTrain.shape, [...yTrain.data]]).toEqual([[3], [0, 1, 2]]);
    expect([xHeld.shape, [...xHeld.data]]).toEqual([
      [1, 1, 2],
      [6, 7],
    ]);
    expect([...yHeld.data]).toEqual([3]);
    expect(xHeld.data.buffer).toBe(x.data.buffer);
  });

  it('has as many parts in its type as there are counts', () => {
    expectTypeOf(split(x, y, [2, 2, 1])).toEqualTypeOf<
      readonly [Part<'float32', 'uint8'>, Part<'float32', 'uint8'>, Part<'float32', 'uint8'>]
    >();
  });

  it('refuses what it cannot cut', () => {
    expect(() => split(x, y, [3, 3])).toThrow(/split 5 examples into parts of \[3,3\]/);
    expect(() => split(x, y, [-1])).toThrow(InvalidArgumentError);
    expect(() => split(x, { ...y, shape: [] }, [1])).toThrow(InvalidArgumentError);
    expect(() => split(x, { ...y, shape: [4], data: new Uint8Array(4) }, [1])).toThrow(
      /\[5,1,2\] and y is \[4\]/,
    );
  });
});

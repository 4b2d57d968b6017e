// What values become as elements.
import '@eagre/backend-js';
import { constant, type Tensor } from '@eagre/core';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';
import { values } from '../testing/elements.ts';

describe('an array', () => {
  it('of one kind of values is a tensor, of several kinds a tuple', () => {
    const mixed = Dataset.fromGenerator(function* () {
      yield [1, 'a', true] as const;
      yield [2, 'b', false] as const;
    });
    expectTypeOf(mixed).toEqualTypeOf<Dataset<[Tensor, Tensor, Tensor]>>();
    expect(values(mixed)).toEqual([
      [1, 'a', true],
      [2, 'b', false],
    ]);
    expect(values(mixed.batch(2))).toEqual([
      [
        [1, 2],
        ['a', 'b'],
        [true, false],
      ],
    ]);
    const columns = Dataset.fromTensorSlices([
      [1, 2],
      ['a', 'b'],
    ]);
    expectTypeOf(columns).toEqualTypeOf<Dataset<[Tensor, Tensor]>>();
    expect(values(columns)).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
    const rows = Dataset.fromTensorSlices([
      [1, 2],
      [3, 4],
    ]);
    expectTypeOf(rows).toEqualTypeOf<Dataset<Tensor>>();
    expect(values(rows)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const mapped = Dataset.range(2).map((x) => [Number(x.item()), 'x'], { runEagerly: true });
    expect(values(mapped)).toEqual([
      [0, 'x'],
      [1, 'x'],
    ]);
  });

  it('whose parts differ in length is no tensor', () => {
    expect(() => Dataset.fromTensors([[1], [1, 2]])).toThrow(/rectangular/);
    expect(values(Dataset.fromTensors([constant([1]), constant([1, 2])]))).toEqual([[[1], [1, 2]]]);
  });
});

it('a list of elements tells their number', () => {
  const list = Dataset.fromGenerator([
    [1, 'a'],
    [2, 'b'],
  ] as const);
  expect(list.cardinality()).toBe(2);
  expect(values(list.repeat(2))).toHaveLength(4);
  expect(Dataset.fromGenerator(() => [1]).cardinality()).toBe(-2);
});

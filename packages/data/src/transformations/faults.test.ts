// What comes behind an element that failed. The results are those of TensorFlow 2.21 for the same pipelines.
import '@eagre/backend-js';
import { DataLossError, InvalidArgumentError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Dataset } from '../index.ts';

/** 0 … 7, of which some fail. */
function numbers(...bad: readonly number[]): Dataset<Tensor> {
  const check = (x: Tensor): Tensor => {
    if (bad.includes(x.item())) throw new InvalidArgumentError(`${x.item()} is bad`);
    return x;
  };
  return Dataset.range(8, { outputType: 'int32' }).map(check, { runEagerly: true });
}

const plain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plain)
    : Number((value as Tensor).rank === 0 ? (value as Tensor).item() : Number.NaN);
const lists = (value: unknown): unknown => (value as Tensor).array();

/** All elements, with 'E' in the place of errors. */
function run(dataset: Dataset<never>, shown: (value: unknown) => unknown): unknown[] {
  const iterator = dataset.iterator();
  const out: unknown[] = [];
  for (let turn = 0; turn < 40; turn++) {
    try {
      const { done, value } = iterator.next();
      if (done === true) return out;
      out.push(shown(value));
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidArgumentError);
      out.push('E');
    }
  }
  return out;
}

describe('behind an element that failed', () => {
  test('rows of zip stay together', () => {
    const others = Dataset.range(8, { outputType: 'int32' });
    const rows = [[0, 0], [1, 1], 'E', [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]];
    expect(run(Dataset.zip([numbers(2), others]) as never, plain)).toEqual(rows);
    expect(run(Dataset.zip([others, numbers(2)]) as never, plain)).toEqual(rows);
  });
  test('windows keep its place, and fail with it', () => {
    const windows = (dataset: Dataset<Tensor>, size: number, options?: object): unknown[] =>
      run(
        dataset
          .window(size, options as never)
          .flatMap((w) => (w as unknown as Dataset<Tensor>).batch(size)) as never,
        lists,
      );
    expect(windows(numbers(3), 2)).toEqual([[0, 1], 'E', [4, 5], [6, 7]]);
    expect(windows(numbers(3), 3, { shift: 1 })).toEqual([
      [0, 1, 2],
      'E',
      'E',
      'E',
      [4, 5, 6],
      [5, 6, 7],
      [6, 7],
      [7],
    ]);
    expect(windows(numbers(3), 4, { shift: 3, stride: 2 })).toEqual([[0, 2, 4, 6], 'E', [6]]);
    expect(windows(numbers(2, 3, 7), 3, { dropRemainder: true })).toEqual(['E', 'E']);
  });
  test('interleave asks for the next one in the same place', () => {
    const twice = (x: Tensor): Dataset<Tensor> => Dataset.fromTensors(x).repeat(2) as Dataset<Tensor>;
    const found = run(numbers(3).interleave(twice as never, { cycleLength: 2 }) as never, plain);
    expect(found).toEqual([0, 1, 0, 1, 2, 'E', 4, 2, 4, 5, 6, 5, 6, 7, 7]);
  });
  test('its choice is used up', () => {
    const choices = Dataset.fromTensorSlices(constant([0, 1, 0, 0, 0, 1], 'int64'));
    const chosen = Dataset.chooseFromDatasets(
      [numbers(2), Dataset.range(3, { outputType: 'int32' })],
      choices as never,
    );
    expect(run(chosen as never, plain)).toEqual([0, 0, 1, 'E', 3, 1]);
  });
  test('a saved state keeps its place', () => {
    const make = () =>
      numbers(3)
        .window(3, { shift: 1 })
        .flatMap((w) => (w as unknown as Dataset<Tensor>).batch(3));
    const first = make().iterator();
    first.next();
    expect(() => first.next()).toThrow('3 is bad');
    const second = make().iterator();
    second.restoreState(first.saveState());
    expect(() => second.next()).toThrow('3 is bad');
    expect(() => second.next()).toThrow('3 is bad');
    expect(lists(second.next().value)).toEqual([4, 5, 6]);
  });
});

test('nothing is asked for behind all elements', () => {
  expect([...Dataset.range(3).repeat().skip(-1)]).toEqual([]);
  expect(run(numbers(0, 1).skip(-1) as never, plain)).toEqual([]);
});

test('elements that are larger than the row are lost data', () => {
  const long = Dataset.fromTensors([1, 2, 3]);
  expect(() => [...long.paddedBatch(1, { paddedShapes: [2] } as never)]).toThrow(DataLossError);
  expect(() => [...long.sparseBatch(1, [2])]).toThrow(DataLossError);
});

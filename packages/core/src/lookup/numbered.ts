// Texts and integers as numbers, so that the loops of functions that compare elements are over one kind of array.
import { type DType, dtypeTraits, isBig } from '@eagre/backend';
import { compareTexts } from '../ops/strings/bytes.ts';
import { numbersOf } from '../ops/strings/rows.ts';
import { constant } from '../tensor/constant.ts';
import { hostValues, type Tensor, textsOf } from '../tensor/tensor.ts';
import { tensorOfItems } from './table-items.ts';

/** Elements of one dtype as numbers: equal ones of equal elements, and in the same order. Also the tensor of such numbers. */
export interface Numbered {
  readonly lists: readonly Float64Array[];
  readonly tensorOf: (numbers: Float64Array) => Tensor;
}

/** The elements of several tensors. Those of int64 are themselves where floats hold them all, and texts are their places in order. */
export function numbered(values: readonly Tensor[]): Numbered {
  const { dtype } = values[0];
  if (dtype === 'string') return ranked(values.map(textsOf), compareTexts, dtype);
  const lists = values.map((x) => new Float64Array(numbersOf(x)));
  // Bigints take many times as long.
  if (isBig(dtype) && !lists.every(areSafe))
    return ranked(
      values.map((x) => hostValues(x) as BigInt64Array),
      (a, b) => (a < b ? -1 : a > b ? 1 : 0),
      dtype,
    );
  return {
    lists,
    tensorOf: (numbers) => {
      const data = dtype === 'int64' ? integersOf(numbers) : new dtypeTraits[dtype].array(numbers as never);
      return constant({ data: data as never, shape: [numbers.length], dtype });
    },
  };
}

function areSafe(numbers: Float64Array): boolean {
  for (let i = 0; i < numbers.length; i++) if (Math.abs(numbers[i]) > Number.MAX_SAFE_INTEGER) return false;
  return true;
}

/** Elements by their place among all different ones. */
function ranked<T extends string | bigint>(
  values: readonly ArrayLike<T>[],
  compare: (a: T, b: T) => number,
  dtype: DType,
): Numbered {
  // Each is looked up once: by the order in which they come, and then by their rank.
  const places = new Map<T, number>();
  const lists = values.map((list) => {
    const numbers = new Float64Array(list.length);
    for (let i = 0; i < numbers.length; i++) {
      let place = places.get(list[i]);
      if (place === undefined) places.set(list[i], (place = places.size));
      numbers[i] = place;
    }
    return numbers;
  });
  const items = [...places.keys()];
  const order = Array.from(items, (_, place) => place).sort((a, b) => compare(items[a], items[b]));
  const ranks = new Float64Array(order.length);
  for (let rank = 0; rank < order.length; rank++) ranks[order[rank]] = rank;
  for (const numbers of lists) for (let i = 0; i < numbers.length; i++) numbers[i] = ranks[numbers[i]];
  return {
    lists,
    tensorOf: (numbers) =>
      tensorOfItems(
        Array.from(numbers, (rank) => items[order[rank]]),
        dtype,
        [numbers.length],
      ),
  };
}

/** Safe integers as int64, by halves. */
function integersOf(numbers: Float64Array): BigInt64Array<ArrayBuffer> {
  const integers = new BigInt64Array(numbers.length);
  const words = new Int32Array(integers.buffer);
  for (let i = 0; i < numbers.length; i++) {
    words[2 * i] = numbers[i];
    words[2 * i + 1] = Math.floor(numbers[i] / 2 ** 32);
  }
  return integers;
}

/** Elements row by row, one behind the other, and where each row begins. */
export interface NumberedRows {
  readonly items: Float64Array;
  readonly starts: Int32Array;
}

/** The elements of a sparse tensor by the coordinates but the last of their places: rows of the axes `outer`, of which there are `count`. */
export function rowsOf(
  indices: Tensor,
  numbers: Float64Array,
  outer: readonly number[],
  count: number,
): NumberedRows {
  const places = numbersOf(indices);
  const rank = outer.length + 1;
  const rows = new Int32Array(numbers.length);
  const starts = new Int32Array(count + 1);
  for (let i = 0; i < rows.length; i++) {
    let row = 0;
    for (let axis = 0; axis < outer.length; axis++) row = row * outer[axis] + places[i * rank + axis];
    rows[i] = row;
    starts[row + 1]++;
  }
  for (let row = 0; row < count; row++) starts[row + 1] += starts[row];
  const next = starts.slice();
  const items = new Float64Array(numbers.length);
  for (let i = 0; i < rows.length; i++) items[next[rows[i]]++] = numbers[i];
  return { items, starts };
}

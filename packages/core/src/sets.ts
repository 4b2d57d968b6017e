/** `tf.sets`: the last axis of tensors as sets of integers or strings. */
import { type DType, InvalidArgumentError } from '@eagre/backend';
import * as kind from './arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from './arguments/arguments.ts';
import { checkOneOf } from './arguments/checks.ts';
import { type NumberedRows, numbered, rowsOf } from './lookup/numbered.ts';
import { onKnown } from './ops/strings/known-strings.ts';
import { numbersOf } from './ops/strings/rows.ts';
import { checkFlag, sameShape, showShape } from './shapes/shape.ts';
import { SparseTensor } from './sparse/sparse-tensor.ts';
import { constant } from './tensor/constant.ts';
import { type TensorLike, toTensor } from './tensor/convert.ts';
import { checkListSize } from './tensor/list-size.ts';
import type { Tensor } from './tensor/tensor.ts';

/** A set in each row of the last axis: of a tensor, or of a sparse one, whose indices are in order. */
export type SetsLike = TensorLike | SparseTensor;

const DTYPES: readonly DType[] = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'string'];

/** Rows whose elements are in order, each of them once. */
type Sets = NumberedRows;

const isSparse = (value: SetsLike): value is SparseTensor => value instanceof SparseTensor;

/** The tensors that sets are in. */
function partsOf(value: SetsLike, what: string, op: string): readonly Tensor[] {
  const parts = isSparse(value)
    ? [value.indices, value.values, value.denseShape]
    : [toTensor(value, 'int32')];
  checkOneOf(parts[isSparse(value) ? 1 : 0].dtype, DTYPES, `the dtype of ${what}`, op);
  if (!isSparse(value) && parts[0].rank < 2)
    throw new InvalidArgumentError(
      `${what} must have at least two axes, got ${showShape(parts[0].shape)}`,
      op,
    );
  return parts;
}

/** The axes but the last of the tensors that sets are in. */
function outerOf([first, values, denseShape]: readonly Tensor[], what: string, op: string): number[] {
  if (values === undefined) return first.shape.slice(0, -1);
  const shape = Array.from(numbersOf(denseShape as Tensor));
  if (shape.length < 2)
    throw new InvalidArgumentError(`${what} must have at least two axes, got [${shape}]`, op);
  return shape.slice(0, -1);
}

function setsIn(
  [first, values]: readonly Tensor[],
  numbers: Float64Array,
  outer: readonly number[],
  op: string,
): Sets {
  const count = outer.reduce((product, size) => product * size, 1);
  checkListSize(count, 'sets', 'make smaller tensors', op);
  if (values !== undefined) return sorted(rowsOf(first, numbers, outer, count));
  const n = first.shape.at(-1) as number;
  const starts = new Int32Array(count + 1);
  for (let row = 0; row < count; row++) starts[row + 1] = (row + 1) * n;
  return sorted({ items: numbers, starts });
}

// Longer rows are sorted by V8, whose calls take as long as so many elements.
const SHORT_ROW = 32;

/** The rows in order, each element once. In place. */
function sorted({ items, starts }: NumberedRows): Sets {
  let end = 0;
  for (let row = 0, from = 0; row + 1 < starts.length; row++) {
    const until = starts[row + 1];
    const first = end;
    if (until - from > SHORT_ROW) items.subarray(from, until).sort();
    for (let i = from; i < until; i++) {
      const item = items[i];
      let at = end;
      while (at > first && items[at - 1] > item) at--;
      if (at > first && items[at - 1] === item) continue;
      for (let k = end++; k > at; k--) items[k] = items[k - 1];
      items[at] = item;
    }
    from = until;
    starts[row + 1] = end;
  }
  return { items: items.subarray(0, end), starts };
}

/** What stays of two sets: what only the first has, what both have, what only the second has. */
interface Combine {
  readonly first?: boolean;
  readonly both?: boolean;
  readonly second?: boolean;
}

function merged(a: Sets, b: Sets, { first = false, both = false, second = false }: Combine): Sets {
  const items = new Float64Array(a.items.length + b.items.length);
  const starts = new Int32Array(a.starts.length);
  let end = 0;
  for (let row = 0, i = 0, j = 0; row + 1 < starts.length; row++) {
    const [aEnd, bEnd] = [a.starts[row + 1], b.starts[row + 1]];
    while (i < aEnd || j < bEnd) {
      const x = i < aEnd ? a.items[i] : Number.POSITIVE_INFINITY;
      const y = j < bEnd ? b.items[j] : Number.POSITIVE_INFINITY;
      if (x <= y) i++;
      if (y <= x) j++;
      if (x === y ? both : x < y ? first : second) items[end++] = Math.min(x, y);
    }
    starts[row + 1] = end;
  }
  return { items: items.subarray(0, end), starts };
}

function combined(a: SetsLike, b: SetsLike, validate: boolean, op: string, combine: Combine): SparseTensor {
  checkFlag(validate, 'validateIndices', op);
  // As in TensorFlow, where a sparse one comes last.
  const [x, y] = [partsOf(a, 'a', op), partsOf(b, 'b', op)];
  return onKnown(op, [...x, ...y], (...known) => {
    const [first, second] = [known.slice(0, x.length), known.slice(x.length)];
    const [outer, others] = [outerOf(first, 'a', op), outerOf(second, 'b', op)];
    const values = [first, second].map((parts) => parts[1] ?? (parts[0] as Tensor));
    if (values[0].dtype !== values[1].dtype || !sameShape(outer, others))
      throw new InvalidArgumentError(
        `a and b must have one dtype and agree in all axes but the last, got ${values[0].dtype} ${showShape(outer)} and ${values[1].dtype} ${showShape(others)}`,
        op,
      );
    const { lists, tensorOf } = numbered(values);
    const sets = merged(setsIn(first, lists[0], outer, op), setsIn(second, lists[1], outer, op), combine);
    return sparseOf(sets, outer, tensorOf(sets.items));
  });
}

function sparseOf({ items, starts }: Sets, outer: readonly number[], values: Tensor): SparseTensor {
  const rank = outer.length + 1;
  const indices = new BigInt64Array(items.length * rank);
  // The lower halves, as no axis of rows that are there has 2³² places.
  const words = new Uint32Array(indices.buffer);
  const at = new Uint32Array(rank);
  let longest = 0;
  for (let row = 0, place = 0; row + 1 < starts.length; row++) {
    const length = starts[row + 1] - starts[row];
    longest = Math.max(longest, length);
    for (let k = 0; k < length; k++) {
      for (let axis = 0; axis < outer.length; axis++, place += 2) words[place] = at[axis];
      words[place] = k;
      place += 2;
    }
    for (let axis = outer.length - 1; axis >= 0 && ++at[axis] === outer[axis]; axis--) at[axis] = 0;
  }
  return SparseTensor.of({
    indices: constant({ data: indices, shape: [items.length, rank], dtype: 'int64' }),
    values,
    sizes: [...outer, longest],
  });
}

type SetFunction = NamedFunction<
  [a: SetsLike, b: SetsLike, validateIndices?: boolean],
  ['a', 'b', 'validateIndices'],
  unknown,
  SparseTensor
>;
const setFunction = (name: string, combine: Combine): SetFunction =>
  defineFunction(
    `sets.${name}`,
    { a: kind.tensor, b: kind.tensor, validateIndices: kind.asIs },
    {},
    (a, b, validateIndices = true) => combined(a, b, validateIndices, `sets.${name}`, combine),
  );

/** What is in both sets of each row, in order: a sparse tensor. */
export const intersection: SetFunction = /* @__PURE__ */ setFunction('intersection', { both: true });
/** What is in one of the sets of each row, or both, in order: a sparse tensor. */
export const union: SetFunction = /* @__PURE__ */ setFunction('union', {
  first: true,
  both: true,
  second: true,
});
/** What is in the sets of a and not in those of b, in order: a sparse tensor. With aminusb false, the other way round. */
export const difference: NamedFunction<
  [a: SetsLike, b: SetsLike, aminusb?: boolean, validateIndices?: boolean],
  ['a', 'b', 'aminusb', 'validateIndices'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sets.difference',
  { a: kind.tensor, b: kind.tensor, aminusb: kind.asIs, validateIndices: kind.asIs },
  {},
  (a, b, aminusb = true, validateIndices = true) => {
    checkFlag(aminusb, 'aminusb', 'sets.difference');
    return combined(a, b, validateIndices, 'sets.difference', aminusb ? { first: true } : { second: true });
  },
);

/** How many different elements each set of a sparse tensor has (int32). */
export const size: NamedFunction<[a: SparseTensor, validateIndices?: boolean], ['a', 'validateIndices']> =
  /* @__PURE__ */ defineFunction(
    'sets.size',
    { a: kind.tensor, validateIndices: kind.asIs },
    {},
    (a, validateIndices = true) => {
      checkFlag(validateIndices, 'validateIndices', 'sets.size');
      if (!isSparse(a)) throw new InvalidArgumentError('a must be a SparseTensor', 'sets.size');
      return onKnown('sets.size', partsOf(a, 'a', 'sets.size'), (...known) => {
        const outer = outerOf(known, 'a', 'sets.size');
        const { lists } = numbered([known[1] as Tensor]);
        const { starts } = setsIn(known, lists[0], outer, 'sets.size');
        const data = new Int32Array(starts.length - 1);
        for (let row = 0; row < data.length; row++) data[row] = starts[row + 1] - starts[row];
        return constant({ data, shape: outer });
      });
    },
  );

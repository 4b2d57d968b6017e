/** `tf.sets`: the last axis of tensors as sets of integers or strings. */
import { type DType, InvalidArgumentError } from '@eagre/backend';
import * as kind from './arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from './arguments/arguments.ts';
import { checkOneOf } from './arguments/checks.ts';
import { itemsOf, type TableItem, tensorOfItems } from './lookup/table-items.ts';
import { compareTexts } from './ops/strings/bytes.ts';
import { onKnown } from './ops/strings/known-strings.ts';
import { checkFlag, sameShape, showShape } from './shapes/shape.ts';
import { SparseTensor } from './sparse/sparse-tensor.ts';
import { constant } from './tensor/constant.ts';
import { type TensorLike, toTensor } from './tensor/convert.ts';
import { type Tensor, viewOf } from './tensor/tensor.ts';

/** A set in each row of the last axis: of a tensor, or of a sparse one, whose indices are in order. */
export type SetsLike = TensorLike | SparseTensor;

const DTYPES: readonly DType[] = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'string'];

/** The rows of sets. */
interface Sets {
  readonly dtype: DType;
  /** The axes but the last. */
  readonly outer: readonly number[];
  readonly rows: readonly (readonly TableItem[])[];
}

const inOrder = (a: TableItem, b: TableItem): number =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : typeof a === 'string' || typeof b === 'string'
      ? compareTexts(String(a), String(b))
      : a < b
        ? -1
        : a > b
          ? 1
          : 0;

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

/** Whether the elements of sets are integers of int64 that are exact as numbers, which compare many times as fast as bigints. */
function areExact(parts: readonly Tensor[]): boolean {
  const values = parts[1] ?? (parts[0] as Tensor);
  if (values.dtype !== 'int64') return false;
  const view = viewOf(values) as BigInt64Array;
  for (let i = 0; i < view.length; i++) if (!Number.isSafeInteger(Number(view[i]))) return false;
  return true;
}

function setsIn(parts: readonly Tensor[], what: string, op: string, exact: boolean = areExact(parts)): Sets {
  const read = (t: Tensor): readonly TableItem[] => (exact ? itemsOf(t).map(Number) : itemsOf(t));
  const [first, values, denseShape] = parts;
  if (values === undefined) {
    const outer = first.shape.slice(0, -1);
    const n = first.shape.at(-1) as number;
    const items = read(first);
    const count = outer.reduce((product, size) => product * size, 1);
    return {
      dtype: first.dtype,
      outer,
      rows: Array.from({ length: count }, (_, i) => items.slice(i * n, (i + 1) * n)),
    };
  }
  const shape = itemsOf(denseShape as Tensor).map(Number);
  if (shape.length < 2)
    throw new InvalidArgumentError(`${what} must have at least two axes, got [${shape}]`, op);
  const outer = shape.slice(0, -1);
  const rows: TableItem[][] = Array.from({ length: outer.reduce((n, size) => n * size, 1) }, () => []);
  const places = Float64Array.from(viewOf(first) as ArrayLike<number | bigint>, Number);
  read(values).forEach((value, i) => {
    let row = 0;
    for (let axis = 0; axis < outer.length; axis++)
      row = row * (outer[axis] as number) + places[i * shape.length + axis];
    rows[row].push(value);
  });
  return { dtype: values.dtype, outer, rows };
}

type Combine = (a: ReadonlySet<TableItem>, b: ReadonlySet<TableItem>) => Iterable<TableItem>;

function combined(a: SetsLike, b: SetsLike, validate: boolean, op: string, combine: Combine): SparseTensor {
  checkFlag(validate, 'validateIndices', op);
  // As in TensorFlow, where a sparse one comes last.
  const [x, y] = [partsOf(a, 'a', op), partsOf(b, 'b', op)];
  return onKnown(op, [...x, ...y], (...known) => {
    // Numbers and bigints are never equal, so that both sets have one kind.
    const exact = [known.slice(0, x.length), known.slice(x.length)].every(areExact);
    const first = setsIn(known.slice(0, x.length), 'a', op, exact);
    const second = setsIn(known.slice(x.length), 'b', op, exact);
    if (first.dtype !== second.dtype || !sameShape(first.outer, second.outer))
      throw new InvalidArgumentError(
        `a and b must have one dtype and agree in all axes but the last, got ${first.dtype} ${showShape(first.outer)} and ${second.dtype} ${showShape(second.outer)}`,
        op,
      );
    const rows = first.rows.map((row, i) =>
      [...combine(new Set(row), new Set(second.rows[i]))].sort(inOrder),
    );
    return sparseOf(rows, first.outer, first.dtype);
  });
}

function sparseOf(
  rows: readonly (readonly TableItem[])[],
  outer: readonly number[],
  dtype: DType,
): SparseTensor {
  const values = rows.flat();
  const rank = outer.length + 1;
  const indices = new BigInt64Array(values.length * rank);
  let place = 0;
  rows.forEach((row, i) => {
    const at = outer.map(() => 0n);
    for (let axis = outer.length - 1, rest = i; axis >= 0; axis--) {
      at[axis] = BigInt(rest % (outer[axis] as number));
      rest = Math.floor(rest / (outer[axis] as number));
    }
    for (let k = 0; k < row.length; k++) {
      for (const index of at) indices[place++] = index;
      indices[place++] = BigInt(k);
    }
  });
  const sizes = [...outer, Math.max(0, ...rows.map((row) => row.length))];
  return SparseTensor.of({
    indices: constant({
      data: indices,
      shape: [values.length, rank],
      dtype: 'int64',
    }),
    values: tensorOfItems(values, dtype, [values.length]),
    sizes,
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

const without = (a: ReadonlySet<TableItem>, b: ReadonlySet<TableItem>): TableItem[] =>
  [...a].filter((item) => !b.has(item));

/** What is in both sets of each row, in order: a sparse tensor. */
export const intersection: SetFunction = /* @__PURE__ */ setFunction('intersection', (a, b) =>
  [...a].filter((item) => b.has(item)),
);
/** What is in one of the sets of each row, or both, in order: a sparse tensor. */
export const union: SetFunction = /* @__PURE__ */ setFunction('union', (a, b) => new Set([...a, ...b]));
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
    return combined(a, b, validateIndices, 'sets.difference', (x, y) =>
      aminusb ? without(x, y) : without(y, x),
    );
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
        const { rows, outer } = setsIn(known, 'a', 'sets.size');
        return constant({ data: Int32Array.from(rows, (row) => new Set(row).size), shape: outer });
      });
    },
  );

// Ragged and sparse tensors as elements, which `map_fn` and the like keep in lists, and what a branch keeps for its gradient, which is none
// where the other branch ran: variants. Elements have sizes of their own, which no trace has a form for, so functions with them run node by node.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { columnOf, context, hostDims, knownDim } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { intOf, type OpTable, several, type Translate } from '../op-row.ts';
import { type Composite, isVariant, type Value, VariantList, VariantTensor } from '../values.ts';

type Ragged = Extract<Composite, { readonly kind: 'ragged' }>;
type Sparse = Extract<Composite, { readonly kind: 'sparse' }>;

const NO_TRACE =
  'lists of ragged or sparse tensors have no form in a traced function: call it outside of one';

function numbers(c: OpCall, x: Tensor): number[] {
  if (context.tracer !== null) throw c.lacks(NO_TRACE);
  return hostDims(x, 'row splits', c.op).map(knownDim);
}

function variantAt(c: OpCall, i: number): VariantTensor {
  const value = c.inputs[i];
  if (value instanceof VariantTensor) return value;
  throw c.wrong(`input ${i} is no variant with a ragged or sparse tensor, or an optional value`);
}
function listAt(c: OpCall, i = 0): VariantList {
  const value = c.inputs[i];
  if (value instanceof VariantList) return value;
  throw c.wrong(`input ${i} is no list of variants`);
}

// ---- ragged

/** Elements from `start` to `end`, with the splits inside. */
function rowsOf(c: OpCall, { splits, values }: Ragged, start: number, end: number): Ragged {
  const [own, ...inner] = splits;
  const rest = (x: Tensor, from: number, to: number): Tensor =>
    tf.slice(x, [from, ...x.shape.slice(1).map(() => 0)], [to - from, ...x.shape.slice(1)]);
  if (own === undefined) return { kind: 'ragged', splits: [], values: rest(values, start, end) };
  const at = numbers(c, own);
  const [from, to] = [at[start], at[end]];
  if (from === undefined || to === undefined || to < from) throw c.wrong('the row splits do not fit');
  const below = rowsOf(c, { kind: 'ragged', splits: inner, values }, from, to);
  const moved = rest(own, start, end + 1).sub(tf.constant(from, own.dtype, { shape: [] }));
  return { kind: 'ragged', splits: [moved, ...below.splits], values: below.values };
}

const toVariant: Translate = (c) => {
  const ranks = c.intAttr('RAGGED_RANK');
  const splits = c.xs(0, ranks);
  const x: Ragged = { kind: 'ragged', splits, values: c.x(ranks) };
  if (!c.boolAttr('batched_input')) return new VariantTensor([x], 0);
  const [own, ...inner] = splits;
  const at = own === undefined ? null : numbers(c, own);
  if (context.tracer !== null) throw c.lacks(NO_TRACE);
  const count = at === null ? (x.values.shape[0] as number) : at.length - 1;
  const rest: Ragged = { kind: 'ragged', splits: inner, values: x.values };
  const item = (i: number): Ragged => {
    if (at !== null) return rowsOf(c, rest, at[i] as number, at[i + 1] as number);
    return { kind: 'ragged', splits: [], values: x.values.gather(i) };
  };
  return new VariantTensor(
    Array.from({ length: count }, (_, i) => item(i)),
    1,
  );
};

/** Splits of rows of these lengths. */
const splitsOf = (lengths: Tensor): Tensor =>
  tf.concat([tf.zeros([1], lengths.dtype), tf.cumsum(lengths)], 0);
const lengthsOf = (splits: Tensor): Tensor =>
  tf.slice(splits, [1], [-1]).sub(tf.slice(splits, [0], [splits.size - 1]));

// As TensorFlow's tensors have at most.
const MOST_RANKS = 254;

const fromVariant: Translate = (c) => {
  const variant = variantAt(c, 0);
  const ranks = c.intAttr('output_ragged_rank');
  const splitsDType = c.dtypeAttr('Tsplits', 'int64');
  const inner = ranks - variant.rank;
  if (!(inner >= 0 && ranks <= MOST_RANKS)) throw c.wrong(`there is no ragged rank ${ranks}`);
  const items = variant.items.map((item): Ragged => {
    if (item.kind !== 'ragged' || item.splits.length !== inner)
      throw c.wrong(`an element is no ragged tensor of ragged rank ${inner}`);
    return item;
  });
  const dtype = c.dtypeAttr('Tvalues');
  if (items.some(({ values }) => values.dtype !== dtype))
    throw c.wrong(`an element has values of another dtype than ${dtype}`);
  if (variant.rank === 0) {
    const [only] = items as [Ragged];
    return [...only.splits.map((s) => tf.cast(s, splitsDType)), only.values];
  }
  if (items.length === 0)
    return [...Array.from({ length: ranks }, () => tf.zeros([1], splitsDType)), tf.zeros([0], dtype)];
  const rows = items.map(({ splits: [own], values }) =>
    own === undefined ? (values.shape[0] as number) : own.size - 1,
  );
  const outer = tf.constant(rows, splitsDType);
  const deeper = Array.from({ length: inner }, (_, level) =>
    tf.concat(
      items.map(({ splits }) => lengthsOf(tf.cast(splits[level] as Tensor, splitsDType))),
      0,
    ),
  );
  const values = tf.concat(
    items.map((item) => item.values),
    0,
  );
  return [...[outer, ...deeper].map(splitsOf), values];
};

// ---- sparse

const sparseOf = (c: OpCall): Sparse => {
  if (c.node.attr?.get('out_type')?.type !== DT_VARIANT)
    throw c.lacks('sparse tensors are not serialized as strings here');
  return { kind: 'sparse', parts: [c.x(0), c.x(1), c.x(2)] };
};

/** The rows of a sparse tensor, each a sparse tensor of one rank less. */
const sparseRows: Translate = (c) => {
  const {
    parts: [indices, values, shape],
  } = sparseOf(c);
  const [count = 0] = numbers(c, shape);
  const row = numbers(c, columnOf(indices, 0));
  const at: number[][] = Array.from({ length: count }, () => []);
  row.forEach((r, i) => {
    const list = at[r];
    if (list === undefined) throw c.wrong(`element ${i} is in row ${r} of ${count}`);
    list.push(i);
  });
  const rest = tf.slice(indices, [0, 1], [-1, -1]);
  const size = tf.slice(shape, [1], [-1]);
  const item = (places: readonly number[]): Sparse => {
    const list = tf.constant([...places], 'int32', { shape: [places.length] });
    return { kind: 'sparse', parts: [tf.gather(rest, list), tf.gather(values, list), size] };
  };
  return new VariantTensor(at.map(item), 1);
};

const fromSparse: Translate = (c) => {
  const { items, rank } = variantAt(c, 0);
  const parts = items.map((item) => {
    if (item.kind !== 'sparse') throw c.wrong('an element is no sparse tensor');
    return item.parts;
  });
  const [first] = parts;
  if (first === undefined) throw c.lacks('no elements have no shape together');
  if (rank === 0) return [...first];
  const sizes = parts.map(([, , shape]) => numbers(c, shape));
  const largest = (sizes[0] as number[]).map((_, axis) => Math.max(...sizes.map((s) => s[axis] as number)));
  const indices = parts.map(([at], i) =>
    tf.concat([tf.fill([at.shape[0] as number, 1], tf.constant(i, 'int64')), at], 1),
  );
  return [
    tf.concat(indices, 0),
    tf.concat(
      parts.map(([, values]) => values),
      0,
    ),
    tf.constant([parts.length, ...largest], 'int64'),
  ];
};

// ---- ragged gradients

/** The gradient of flat values, of which each variant has a part: in the order of the rows. */
const fromVariantGradient: Translate = (c) => {
  const { items } = variantAt(c, 0);
  const parts = items.map((item) => {
    if (item.kind !== 'ragged') throw c.wrong('an element is no ragged tensor');
    return item.values;
  });
  const shape = c.shape(2);
  const dtype = c.dtypeAttr('Tvalues');
  return parts.length === 0 ? tf.zeros([...shape], dtype) : tf.reshape(tf.concat(parts, 0), [...shape]);
};

// ---- optional values

/** Values that may be none: of a branch, for its gradient. */
const optional = (values: readonly Value[] | null): VariantTensor =>
  new VariantTensor([{ kind: 'optional', values }], 0);
const optionalAt = (c: OpCall): Extract<Composite, { readonly kind: 'optional' }> => {
  const { items, rank } = variantAt(c, 0);
  const [item] = items;
  if (rank !== 0 || item?.kind !== 'optional') throw c.wrong('input 0 is no optional value');
  return item;
};
const optionalValues: Translate = (c) => {
  const { values, choices } = optionalAt(c);
  if (choices !== undefined)
    throw c.lacks(
      'a branch gave the optional value in shapes of its own, and another selector chooses here: call it outside of a traced function',
    );
  if (values === null) throw c.wrong('the optional value is none');
  return values;
};

// ---- lists

const DT_VARIANT = 21;
const isOfVariants = (c: OpCall): boolean =>
  c.inputs.some(isVariant) || c.node.attr?.get('element_dtype')?.type === DT_VARIANT;

/** An op of lists, which may be lists of variants. */
export const orVariants =
  (tensors: Translate, variants: Translate): Translate =>
  (c) =>
    isOfVariants(c) ? variants(c) : tensors(c);

/** A list of so many elements. */
export function reserveVariants(c: OpCall, size: number): VariantList {
  if (context.tracer !== null) throw c.lacks(NO_TRACE);
  if (!(size >= 0 && size <= MOST)) throw c.wrong(`a list cannot have ${size} elements`);
  return new VariantList(new Array<null>(size).fill(null));
}
const MOST = 2 ** 24;

export const listFromVariants: Translate = (c) => new VariantList(variantAt(c, 0).items);
export const stackVariants: Translate = (c) => {
  const { items } = listAt(c);
  const unset = items.indexOf(null);
  if (unset >= 0) throw c.wrong(`element ${unset} of the list has no value`);
  return new VariantTensor(items as readonly Composite[], 1);
};
export const getVariant: Translate = (c) => {
  const { items } = listAt(c);
  const at = c.int(1);
  const item = items[at];
  if (item === undefined || item === null) throw c.wrong(`the list has no element ${at}`);
  return new VariantTensor([item], 0);
};
export const setVariant: Translate = (c) => {
  const { items } = listAt(c);
  const at = c.int(1);
  const grows = c.boolAttr('resize_if_index_out_of_bounds', false);
  if (at < 0 || at > MOST || (at >= items.length && !grows))
    throw c.wrong(`the list has ${items.length} elements, and no element ${at}`);
  const next = [...items];
  while (next.length < at) next.push(null);
  next[at] = scalarAt(c, 2);
  return new VariantList(next);
};
export const pushVariant: Translate = (c) => new VariantList([...listAt(c).items, scalarAt(c, 1)]);
/** The sums of the elements of lists; one that is not set in a list is nothing there. */
export const addVariants: Translate = (c) => {
  const lists = c.inputs.map((_, i) => listAt(c, i).items);
  const [first = []] = lists;
  if (lists.some((items) => items.length !== first.length)) throw c.wrong('the lists differ in length');
  return new VariantList(
    first.map((_, at) =>
      sumOf(
        c,
        lists.flatMap((items) => items[at] ?? []),
      ),
    ),
  );
};

/** The sum of ragged tensors with the same splits. */
function sumOf(c: OpCall, items: readonly Composite[]): Composite | null {
  const [first] = items;
  if (first === undefined || items.length === 1) return first ?? null;
  const values = items.map((item) => {
    if (item.kind !== 'ragged' || first.kind !== 'ragged') throw c.lacks('sums of other than ragged tensors');
    return item.values;
  });
  return { ...(first as Ragged), values: tf.addN(values) };
}
export const popVariant: Translate = (c) => {
  const { items } = listAt(c);
  const last = items.at(-1);
  if (last === undefined || last === null) throw c.wrong('the list has no last element');
  return [new VariantList(items.slice(0, -1)), new VariantTensor([last], 0)];
};
export const joinVariants: Translate = (c) => new VariantList([...listAt(c).items, ...listAt(c, 1).items]);
export const countVariants: Translate = (c) => tf.constant(listAt(c).items.length, 'int32');

function scalarAt(c: OpCall, i: number): Composite {
  const { items, rank } = variantAt(c, i);
  if (rank !== 0) throw c.wrong(`input ${i} is several variants, expected one`);
  return items[0] as Composite;
}

export const variants: OpTable = {
  RaggedTensorToVariant: toVariant,
  RaggedTensorFromVariant: {
    outputs: ['output_nested_splits', 'output_dense_values'],
    counts: (node) => [intOf(node, 'output_ragged_rank', 0), 1],
    run: fromVariant,
  },
  RaggedTensorToVariantGradient: fromVariantGradient,
  OptionalFromValue: (c) => optional(c.inputs),
  OptionalNone: () => optional(null),
  OptionalHasValue: (c) => {
    const { values, has } = optionalAt(c);
    return has ?? tf.constant(values !== null);
  },
  OptionalGetValue: optionalValues,
  SerializeSparse: (c) => new VariantTensor([sparseOf(c)], 0),
  SerializeManySparse: sparseRows,
  DeserializeSparse: several(['sparse_indices', 'sparse_values', 'sparse_shape'], fromSparse),
};

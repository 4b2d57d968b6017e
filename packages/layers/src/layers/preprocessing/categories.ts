// Integers of categories as rows: one-hot, multi-hot, counts.
import {
  booleanMask,
  concat,
  constant,
  type DType,
  InvalidArgumentError,
  oneHot,
  type PartialShape,
  type SparseTensor,
  sparse,
  stack,
  type Tensor,
  unsortedSegmentSum,
  where,
} from '@eagre/core';
import {
  context,
  type Dim,
  dims,
  emptyTensor,
  integersAsNumbers,
  iota,
  isInteger,
  knownTensor,
  makeSparse,
  mulDims,
  type Option,
  partialShape,
  sizeOfDims,
  spaceOf,
  toShape,
  uploaded,
} from '@eagre/core/internal';
import {
  densified,
  isStored,
  kindOf,
  onValues,
  rowCount,
  type Stored,
  type TensorKind,
} from '../../layer/kinds.ts';
import type { Layer, Specs, TensorSpec } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail, plus, shapeOf, sizesOf } from '../common.ts';
import { flag, option } from '../options.ts';

/**
 * `int`: integers as they are. `oneHot`: a row for each. `multiHot`: one row for each example, 1 where a category is among its integers.
 * `count`: how often.
 */
export type CategoryMode = 'int' | 'oneHot' | 'multiHot' | 'count';

const written: Readonly<Record<string, string>> = {
  one_hot: 'oneHot',
  multi_hot: 'multiHot',
  binary: 'multiHot',
  tf_idf: 'tfIdf',
  'tf-idf': 'tfIdf',
};
const keras: Readonly<Record<string, string>> = { oneHot: 'one_hot', multiHot: 'multi_hot', tfIdf: 'tf_idf' };

/** One of some ways to give categories, also under Keras's names. */
export function modes<M extends string>(all: readonly M[], otherwise: M): Option<M> {
  return option<M, string>(
    (value, name, layer) => {
      const mode = (typeof value === 'string' ? (written[value] ?? value) : value) as M;
      if (!all.includes(mode))
        fail(layer, `needs ${name} to be ${all.map(show).join(', ')}, got ${show(value)}`);
      return mode;
    },
    otherwise,
    (mode) => keras[mode] ?? mode,
  );
}

/** The option `sparse` of layers that give categories. */
export const sparseFlag: Option<boolean> = flag(false);

/** @throws InvalidArgumentError where a layer cannot give sparse tensors */
export function checkSparse(layer: Layer & { readonly sparse: boolean }, mode: string): void {
  if (layer.sparse && mode === 'int')
    fail(
      layer,
      "takes sparse with another outputMode than 'int' only, as integers have no zeros to leave out",
    );
}

/** How integers become rows. */
interface Encoding {
  readonly mode: Exclude<CategoryMode, 'int'>;
  readonly depth: number;
  readonly dtype: DType;
  /** Of the integers, of `count`. */
  readonly weights?: Tensor | undefined;
  /** Whether the rows are a sparse tensor. */
  readonly sparse?: boolean;
}

/** Integers [...] as rows of a depth. What is below 0 or too large counts nowhere. */
export function encoded(ids: Tensor, encoding: Encoding): Tensor {
  const { mode, depth, dtype } = encoding;
  if (isStored(ids)) return ofStored(ids, encoding);
  return encoding.sparse === true
    ? asSparse(ids, encoding)
    : denseRows(ids, mode, depth, dtype, encoding.weights);
}

/** Of integers that are sparse or ragged: rows for each example. */
function ofStored(ids: Stored, { mode, depth, dtype, weights, sparse: isSparse = false }: Encoding): Tensor {
  if (mode !== 'oneHot') {
    const counts = counted(ids as unknown as Tensor, mode, depth, dtype, weights);
    return isSparse ? counts : densified(counts);
  }
  if (kindOf(ids) === 'sparse' || isSparse)
    throw new InvalidArgumentError(
      `outputMode 'oneHot' gives no ${isSparse ? 'sparse tensor of ragged ones' : 'rows of sparse tensors'}; make the input dense`,
      'encoding',
    );
  return onValues(ids as unknown as Tensor, (flat) => oneHot(flat, depth, { dtype }));
}

/** The same as a sparse tensor. */
function asSparse(ids: Tensor, { mode, depth, dtype, weights }: Encoding): Tensor {
  const x = ids.rank === 0 ? ids.reshape([1]) : ids;
  if (mode !== 'oneHot' && x.rank < 3) return counted(x, mode, depth, dtype, weights);
  if (mode !== 'oneHot')
    return sparse.fromDense(denseRows(x, mode, depth, dtype, weights)) as unknown as Tensor;
  const sizes = dims(x.rank > 1 && dims(x).at(-1) === 1 ? x.squeeze(-1) : x);
  const count = sizeOfDims(sizes);
  const flat = x.cast('int64').reshape(toShape([count]));
  const known = flat.greaterEqual(0).logicalAnd(flat.less(depth));
  const indices = booleanMask(stack([iota(count).cast('int64'), flat], 1), known);
  const values = booleanMask(flat.mul(0).add(1).cast(dtype), known);
  const sizesOfRows = concat([flat.shapeOf().cast('int64'), constant([depth], 'int64')], 0);
  const rows = makeSparse(indices, values, sizesOfRows);
  return sparse.reshape(rows, toShape([...sizes, depth])) as unknown as Tensor;
}

/** How often each integer occurs in each row, or whether it does, as a sparse tensor. */
function counted(
  ids: Tensor,
  mode: 'multiHot' | 'count',
  depth: number,
  dtype: DType,
  weights: Tensor | undefined,
): Tensor {
  // What is below 0 is left out as what is too large is.
  const known = onValues(ids, (x) => where(x.less(0), depth, x.cast('int64')));
  const found: SparseTensor = sparse.bincount(known, {
    axis: -1,
    minlength: depth,
    maxlength: depth,
    binaryOutput: mode === 'multiHot',
    weights: weights ?? null,
  });
  // A trace does not know the sizes that the integers give.
  const rows = isStored(ids) ? rowCount(ids) : ids.shapeOf().gather(0);
  const outer = ids.rank === 1 ? [] : [rows.cast('int64').reshape([1])];
  const shape = concat([...outer, constant([depth], 'int64')], 0);
  return makeSparse(found.indices, found.values.cast(dtype), shape) as unknown as Tensor;
}

/** The spec of what a layer gives for a spec of its input. @param int the dtype of integers */
export function encodedSpec(
  { shape, kind }: TensorSpec,
  {
    mode,
    depth,
    dtype,
    sparse: isSparse,
  }: { mode: CategoryMode; depth: number | null; dtype: DType; sparse: boolean },
  int: DType,
): Specs {
  const own: TensorKind | undefined =
    mode === 'int' || (mode === 'oneHot' && kind === 'ragged') ? kind : isSparse ? 'sparse' : undefined;
  return {
    list: [{ shape: encodedShape(shape, mode, depth), dtype: mode === 'int' ? int : dtype, kind: own }],
    many: false,
  };
}

function denseRows(
  ids: Tensor,
  mode: Exclude<CategoryMode, 'int'>,
  depth: number,
  dtype: DType,
  weights: Tensor | undefined,
): Tensor {
  const x = ids.rank === 0 ? ids.reshape([1]) : ids;
  if (mode === 'oneHot') {
    const single = x.rank > 1 && dims(x).at(-1) === 1;
    return oneHot(single ? x.squeeze(-1) : x, depth, { dtype });
  }
  const axis = x.rank > 1 ? 1 : 0;
  if (x.rank > 2) {
    const rows = oneHot(x, depth, { dtype });
    if (mode === 'multiHot') return rows.max(axis);
    return (weights === undefined ? rows : rows.mul(weights.cast(dtype).expandDims(-1))).sum(axis);
  }
  const now = weights === undefined ? filledRows(x, mode, depth, dtype) : null;
  if (now !== null) return now;
  // Sums at places of one long row, as rows for each integer would be large.
  const size = dims(x);
  const count: Dim = axis === 1 ? size[0] : 1;
  const known = x.greaterEqual(0).logicalAnd(x.less(depth));
  const first = axis === 1 ? iota(count).mul(depth).reshape([-1, 1]) : 0;
  const place = where(known, x.cast('int32').add(first), -1).reshape(toShape([sizeOfDims(size)]));
  const values = (weights ?? x.mul(0).add(1)).cast(dtype).reshape(toShape([sizeOfDims(size)]));
  const sums = unsortedSegmentSum(values, place, mulDims(count, depth) as number);
  const rows = sums.reshape(toShape(axis === 1 ? [count, depth] : [depth]));
  return mode === 'multiHot' ? rows.minimum(1) : rows;
}

/** The same of integers with values, of which few elements of rows are written; null of other ones. */
function filledRows(
  x: Tensor,
  mode: Exclude<CategoryMode, 'int' | 'oneHot'>,
  depth: number,
  dtype: DType,
): Tensor | null {
  const plain = dtype === 'float32' || dtype === 'float64' || dtype === 'int32' || dtype === 'int64';
  if (context.tracer !== null || !plain || !isInteger(x.dtype) || knownTensor(x) !== x) return null;
  // What is on a device stays there.
  if (!x.storage.allocator.isHost) return null;
  const count = x.rank > 1 ? (x.shape[0] as number) : 1;
  const shape = x.rank > 1 ? [count, depth] : [depth];
  const out = emptyTensor(dtype, shape, count * depth);
  const space = spaceOf(out);
  space.fill((dtype === 'int64' ? 0n : 0) as never);
  const each = dtype === 'int64' ? 2 : 1;
  const places =
    space instanceof BigInt64Array
      ? new Int32Array(space.buffer, space.byteOffset, 2 * space.length)
      : (space as Float32Array);
  const ids = integersAsNumbers(x);
  const width = count === 0 ? 0 : ids.length / count;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] as number;
    if (id < 0 || id >= depth) continue;
    const at = each * (Math.floor(i / width) * depth + id);
    places[at] = mode === 'count' ? (places[at] as number) + 1 : 1;
  }
  return uploaded(out, space);
}

/** The shape of encoded integers. */
export function encodedShape(shape: PartialShape, mode: CategoryMode, depth: number | null): PartialShape {
  if (mode === 'int') return shape;
  const sizes = sizesOf(shape);
  if (mode === 'oneHot') {
    const single = sizes.length > 1 && partialShape(shape).at(-1) === 1;
    return shapeOf([...(single ? sizes.slice(0, -1) : sizes), plus(depth, 0)]);
  }
  return shapeOf(
    [...sizes.slice(0, 1), ...sizes.slice(2)].slice(sizes.length > 1 ? 0 : 1).concat(plus(depth, 0)),
  );
}

/** @throws InvalidArgumentError for what holds no integers */
export function checkIntegers(layer: Layer, x: Tensor): Tensor {
  if (x.dtype === 'string') fail(layer, 'expects integers, got a string tensor');
  return x.dtype === 'int32' || x.dtype === 'int64' ? x : onValues(x, (values) => values.cast('int64'));
}

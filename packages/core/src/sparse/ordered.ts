// The functions of sparse tensors that layers and models need, in a file of their own for pages; and what the others share.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import { nonzero } from '../ops/array/gather.ts';
import { concat as denseConcat, stack } from '../ops/array/join.ts';
import { sizeScalar } from '../ragged/row-partition.ts';
import { addDims, type Dim, maxDims } from '../shapes/dim.ts';
import { dims } from '../shapes/dims.ts';
import { differs } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { sparseDenseProduct } from './products.ts';
import { placesOf, sortedOrder, sparseAxis } from './sparse-base.ts';
import { SparseTensor } from './sparse-tensor.ts';

/** @throws InvalidArgumentError for what is no sparse tensor. */
export function sparse(value: unknown, what: string, op: string): SparseTensor {
  if (value instanceof SparseTensor) return value;
  throw new InvalidArgumentError(`${what} must be a tf.SparseTensor, got ${shown(value)}`, op);
}

export type OfSparse<R, O = unknown> = NamedFunction<[spInput: SparseTensor], ['spInput'], O, R>;

export const int64 = (n: Dim): Tensor => sizeScalar(n, 'int64');
export const row = (sizes: readonly Dim[]): Tensor => stack(sizes.map(int64)).expandDims(0);

/** The same coordinates in row-major order, as most functions want them. */
export function reordered(x: SparseTensor): SparseTensor {
  const order = sortedOrder(placesOf(x.indices, x.sizes));
  return x.with({ indices: x.indices.gather(order, 0), values: x.values.gather(order, 0) });
}

/** The elements of a dense tensor that are not 0. */
export const fromDense: NamedFunction<[tensor: TensorLike], ['tensor'], unknown, SparseTensor> =
  /* @__PURE__ */ defineFunction('sparse.fromDense', { tensor: kind.tensor }, {}, (tensor) => {
    const x = toTensor(tensor);
    const indices = nonzero(x.dtype === 'string' ? x.notEqual('') : x);
    return SparseTensor.of({ indices, values: x.gatherNd(indices), sizes: dims(x) });
  });

/** The coordinates in row-major order. */
export const reorder: OfSparse<SparseTensor> = /* @__PURE__ */ defineFunction(
  'sparse.reorder',
  { spInput: kind.asIs },
  {},
  (spInput) => reordered(sparse(spInput, 'spInput', 'sparse.reorder')),
);

/** Joins sparse tensors along an axis. With `expandNonconcatDims` the other sizes may differ, and the largest count. */
export const concat: NamedFunction<
  [axis: IntegerLike, spInputs: readonly SparseTensor[]],
  ['axis', 'spInputs'],
  {
    /** Whether the other axes become as large as the largest; false by default, which wants them to be equal. */
    expandNonconcatDims?: boolean;
  },
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'sparse.concat',
  { axis: kind.axis, spInputs: kind.asIs },
  { expandNonconcatDims: kind.asIs },
  (axis: number, spInputs, { expandNonconcatDims = false }) => {
    const op = 'sparse.concat';
    const all = (Array.isArray(spInputs) ? spInputs : []).map((x) => sparse(x, 'spInputs', op));
    const [first] = all;
    if (first === undefined) throw new InvalidArgumentError('there is no sparse tensor to join', op);
    const a = sparseAxis(axis, first.rank, op);
    const sizes = [...first.sizes];
    const indices = [first.indices];
    for (const x of all.slice(1)) {
      if (x.rank !== first.rank)
        throw new InvalidArgumentError(`spInputs have the ranks ${first.rank} and ${x.rank}`, op);
      x.sizes.forEach((d, i) => {
        if (i === a) return;
        if (expandNonconcatDims) sizes[i] = maxDims(sizes[i] as Dim, d);
        else if (differs(d, sizes[i] as Dim))
          throw new InvalidArgumentError(
            `the sizes of axis ${i} are ${String(sizes[i])} and ${String(d)}`,
            op,
          );
      });
      const offset = row(sizes.map((d, i) => (i === a ? d : 0)));
      indices.push(x.indices.add(offset));
      sizes[a] = addDims(sizes[a] as Dim, x.sizes[a] as Dim);
    }
    const values = denseConcat(
      all.map((x) => x.values),
      0,
    );
    return reordered(SparseTensor.of({ indices: denseConcat(indices, 0), values, sizes }));
  },
);

/**
 * The product of a sparse matrix and a dense one, in either order.
 * @param options.adjointA transposes the first, and conjugates it; `adjointB` the second.
 */
export const sparseDenseMatmul: NamedFunction<
  [spA: SparseTensor | TensorLike, b: SparseTensor | TensorLike],
  ['spA', 'b'],
  {
    /** Whether the sparse matrix is transposed and conjugated first; false by default. */
    adjointA?: boolean;
    /** Whether the dense matrix is transposed and conjugated first; false by default. */
    adjointB?: boolean;
  }
> = /* @__PURE__ */ defineFunction(
  'sparse.sparseDenseMatmul',
  { spA: kind.asIs, b: kind.asIs },
  { adjointA: kind.asIs, adjointB: kind.asIs },
  (a, b, { adjointA = false, adjointB = false }) => {
    if (a instanceof SparseTensor)
      return sparseDenseProduct(a.coordinates, b as TensorLike, adjointA, adjointB);
    const other = sparse(b, 'spA or b', 'sparse.sparseDenseMatmul');
    return sparseDenseProduct(other.coordinates, a as TensorLike, !adjointB, !adjointA).transpose();
  },
);

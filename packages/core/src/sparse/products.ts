// Products with sparse matrices: as much work as there are values.
import { InvalidArgumentError, isComplex } from '@eagre/backend';
import { unsortedSegmentSum } from '../ops/array/gather.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims } from '../shapes/dims.ts';
import { differs } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type Coordinates, columnOf } from './sparse-base.ts';

/** The product of a sparse matrix and a dense one, either of which may be transposed and conjugated before. */
export function sparseDenseProduct(
  { indices, values, sizes }: Coordinates,
  dense: TensorLike,
  adjointA: boolean,
  adjointB: boolean,
): Tensor {
  const op = 'SparseTensorDenseMatMul';
  const b = adjointB ? adjoint(toTensor(dense, values.dtype)) : toTensor(dense, values.dtype);
  if (sizes.length !== 2 || b.rank !== 2)
    throw new InvalidArgumentError(`both must be matrices, got ranks ${sizes.length} and ${b.rank}`, op);
  if (b.dtype !== values.dtype)
    throw new InvalidArgumentError(`the values are ${values.dtype}, the dense matrix is ${b.dtype}`, op);
  const [outer, inner] = adjointA ? [1, 0] : [0, 1];
  if (differs(sizes[inner] as Dim, dims(b)[0] as Dim))
    throw new InvalidArgumentError(
      `the inner sizes ${String(sizes[inner])} and ${String(dims(b)[0])} differ`,
      op,
    );
  const own = adjointA && isComplex(values.dtype) ? values.conj() : values;
  const parts = b.gather(columnOf(indices, inner), 0).mul(own.expandDims(1));
  return unsortedSegmentSum(parts, columnOf(indices, outer), sizes[outer] as number);
}

const adjoint = (x: Tensor): Tensor => (isComplex(x.dtype) ? x.conj().transpose() : x.transpose());

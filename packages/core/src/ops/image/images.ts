// What ops on images share: one image [h, w, c] or a batch [n, h, w, c].
import { InvalidArgumentError } from '@eagre/backend';
import { type Dim, subDims } from '../../shapes/dim.ts';
import { dims, dimsOf } from '../../shapes/dims.ts';
import { listOf, show, showShape } from '../../shapes/shape.ts';
import { isSize } from '../../shapes/shape-env.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { expandDims, squeeze } from '../array/shaping.ts';

/** @throws InvalidArgumentError unless it is numbers of rank 3 or 4. */
export function toImages(value: TensorLike, op: string): Tensor {
  const x = toTensor(value);
  checkDType(x.dtype, 'numeric', 'images', op);
  if (x.rank !== 3 && x.rank !== 4) {
    throw new InvalidArgumentError(
      `images have shape ${showShape(x.shape)}, expected [height, width, channels] or [batch, height, width, channels]`,
      op,
    );
  }
  return x;
}

/** Computes with a batch, for one image too. */
export function ofBatch(x: Tensor, fn: (batch: Tensor) => Tensor): Tensor {
  return x.rank === 4 ? fn(x) : squeeze(fn(expandDims(x, 0)), 0);
}

/** Height and width of images. */
export function sidesOf(x: Tensor): readonly [height: Dim, width: Dim] {
  const all = dims(x);
  return [all[x.rank - 3], all[x.rank - 2]];
}

/** Two integers of at least `least`: [height, width]. */
export function twoSizes(value: unknown, what: string, op: string, least = 1): readonly [Dim, Dim] {
  const list = dimsOf(listOf(value as readonly number[], what, op));
  if (list.length !== 2 || !list.every((n) => isSize(n, least)))
    throw new InvalidArgumentError(
      `${what} must be [height, width], integers of at least ${least}, got ${show(value)}`,
      op,
    );
  return [list[0], list[1]];
}

/** The quotient of two sizes, in a dtype. */
export function ratio(a: Dim, b: Dim, dtype: 'float32' | 'float64'): number | Tensor {
  const [x, y] = [sizeValue(a, dtype), sizeValue(b, dtype)];
  if (typeof x !== 'number') return x.div(y);
  return typeof y === 'number' ? x / y : y.reciprocal().mul(x);
}

/** The last place along an axis of a size. */
export function lastPlace(size: Dim, dtype: 'float32' | 'float64'): number | Tensor {
  return sizeValue(subDims(size, 1), dtype);
}

/** 0, 1, … up to a size, as floats. */
export function places(size: Dim, dtype: 'float32' | 'float64'): Tensor {
  return iota(size).cast(dtype);
}

/** The floats to compute with: float64 stays, everything else becomes float32. */
export function asFloats(x: Tensor): Tensor & { readonly dtype: 'float32' | 'float64' } {
  return (x.dtype === 'float64' ? x : x.cast('float32')) as Tensor & { dtype: 'float32' | 'float64' };
}

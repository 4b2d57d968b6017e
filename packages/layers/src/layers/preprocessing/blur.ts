import { nn, type Tensor, where } from '@eagre/core';
import { type Dim, dims, iota, sizeValue, subDims, toShape } from '@eagre/core/internal';

type Two<T> = readonly [T, T];

/** Weights of a Gaussian at whole places about the middle, which sum to 1; 0 further from it than `reach`. */
function gaussian(size: Dim, sigma: Tensor, reach?: Tensor): Tensor {
  const last = sizeValue(subDims(size, 1), sigma.dtype);
  const place = iota(size)
    .cast(sigma.dtype)
    .sub(typeof last === 'number' ? last / 2 : last.mul(0.5));
  let weights = place.div(sigma).square().mul(-0.5).exp();
  if (reach !== undefined) weights = where(place.abs().lessEqual(reach), weights, 0);
  return weights.div(weights.sum());
}

/** Images [n, h, w, c], each channel by itself smoothed by filters along both directions; zeros lie beyond the border. */
export function smoothed(images: Tensor, down: Tensor, right: Tensor): Tensor {
  const channels = dims(images)[3];
  const filter = (weights: Tensor, shape: readonly number[]): Tensor =>
    weights
      .reshape([...shape])
      .broadcastTo(
        toShape([...shape.slice(0, 2).map((d) => (d === -1 ? dims(weights)[0] : d)), channels, 1]),
      );
  const along = (x: Tensor, weights: Tensor, shape: readonly number[]): Tensor =>
    nn.depthwiseConv2d(x, filter(weights, shape), { padding: 'SAME' });
  return along(along(images, down, [-1, 1, 1, 1]), right, [1, -1, 1, 1]);
}

/**
 * Images smoothed by a Gaussian.
 * @param sigma the standard deviation [along rows, along columns], scalars
 * @param reach a scalar: pixels further away than this along either direction do not count
 */
export function blurred(
  images: Tensor,
  [height, width]: Two<Dim>,
  [x, y]: Two<Tensor>,
  reach?: Tensor,
): Tensor {
  const along = (size: Dim, sigma: Tensor): Tensor => gaussian(size, sigma.cast(images.dtype), reach);
  return smoothed(images, along(height, y), along(width, x));
}

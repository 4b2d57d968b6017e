// Means, variances, and what is scaled by them.
import {
  type Axis,
  type AxisLike,
  type IntegerLike,
  type NamedFunction,
  nn,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  defineFunction,
  dims,
  kerasDefaults,
  kind,
  normalizeAxis,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { floating, type Keepdims, named } from '../define.ts';

/** The mean and the variance over axes: [mean, variance]. */
export const moments: NamedFunction<
  [x: TensorLike, axes: AxisLike],
  ['x', 'axes'],
  Keepdims & { readonly synchronized?: boolean },
  [mean: Tensor, variance: Tensor]
> = defineFunction(
  named('moments'),
  { x: kind.tensor, axes: kind.axes },
  { keepdims: kind.asIs, synchronized: kind.asIs },
  (x, axes: Axis, { keepdims }) => {
    const t = floating(x);
    return [t.mean(axes, { keepdims }), t.variance(axes, { keepdims })];
  },
);

/** (x − mean) / √(variance + epsilon), scaled and shifted, for each channel along an axis. */
export const batchNormalization: NamedFunction<
  [x: TensorLike, mean: TensorLike, variance: TensorLike, axis: IntegerLike],
  ['x', 'mean', 'variance', 'axis'],
  {
    readonly offset?: TensorLike | null;
    readonly scale?: TensorLike | null;
    /** 1e-3 by default. */
    readonly epsilon?: number;
  }
> = defineFunction(
  named('batchNormalization'),
  { x: kind.tensor, mean: kind.tensor, variance: kind.tensor, axis: kind.axis },
  { offset: kind.tensor, scale: kind.tensor, epsilon: kind.asIs },
  (x, mean, variance, axis: number, { offset = null, scale = null, epsilon = 1e-3 }) => {
    const t = floating(x);
    const at = normalizeAxis(axis, t.rank);
    const wide = (v: TensorLike): Tensor => {
      const own = toTensor(v);
      return own.reshape(toShape(dims(t).map((_, i) => (i === at ? dims(own)[0] : 1))));
    };
    const orNull = (v: TensorLike | null): Tensor | null => (v === null ? null : wide(v));
    return nn.batchNormalization(t, wide(mean), wide(variance), orNull(offset), orNull(scale), epsilon);
  },
);

/** x with mean 0 and variance 1 over axes, scaled by gamma and shifted by beta. */
export const layerNormalization: NamedFunction<
  [x: TensorLike, gamma?: TensorLike | null, beta?: TensorLike | null, axis?: AxisLike],
  ['x', 'gamma', 'beta', 'axis'],
  { readonly epsilon?: number | null }
> = defineFunction(
  named('layerNormalization'),
  { x: kind.tensor, gamma: kind.tensor, beta: kind.tensor, axis: kind.axes },
  { epsilon: kind.asIs },
  (x, gamma: TensorLike | null = null, beta: TensorLike | null = null, axis: Axis = -1, { epsilon }) =>
    nn.layerNormalization(floating(x), {
      scale: gamma,
      offset: beta,
      axis,
      epsilon: epsilon ?? kerasDefaults.epsilon,
    }),
);

/** x divided by the root of the mean of its squares over axes, scaled. */
export const rmsNormalization: NamedFunction<
  [x: TensorLike, scale?: TensorLike | null, axis?: AxisLike],
  ['x', 'scale', 'axis'],
  { readonly epsilon?: number | null }
> = defineFunction(
  named('rmsNormalization'),
  { x: kind.tensor, scale: kind.tensor, axis: kind.axes },
  { epsilon: kind.asIs },
  (x, scale: TensorLike | null = null, axis: Axis = -1, { epsilon }) =>
    nn.rmsNormalization(floating(x), { scale, axis, epsilon: epsilon ?? kerasDefaults.epsilon }),
);

/** x divided by its norm of an order (2 by default) along axes, so that this becomes 1. */
export const normalize: NamedFunction<
  [x: TensorLike, axis?: AxisLike, order?: number],
  ['x', 'axis', 'order'],
  { readonly epsilon?: number | null }
> = defineFunction(
  named('normalize'),
  { x: kind.tensor, axis: kind.axes, order: kind.asIs },
  { epsilon: kind.asIs },
  (x, axis: Axis = -1, order: number = 2, { epsilon }) => {
    const t = floating(x);
    const least = epsilon ?? kerasDefaults.epsilon;
    if (order === 2)
      return t.mul(
        t
          .square()
          .sum(axis, { keepdims: true })
          .maximum(least * least)
          .rsqrt(),
      );
    const size = t.abs();
    const norm =
      order === Infinity
        ? size.max(axis, { keepdims: true })
        : size
            .pow(order)
            .sum(axis, { keepdims: true })
            .pow(1 / order);
    return t.div(norm.maximum(least));
  },
);

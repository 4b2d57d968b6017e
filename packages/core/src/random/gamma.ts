// Numbers of gamma distributions, from normal and uniform ones.
import type { DType } from '@eagre/backend';
import type { ShapeLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { iota } from '../ops/array/iota.ts';
import { reshape } from '../ops/array/shaping.ts';
import { where } from '../ops/elementwise/select.ts';
import { sum } from '../ops/reduce/reduce.ts';
import { dims, dimsOf, toShape } from '../shapes/dims.ts';
import { checkShape, type Shape } from '../shapes/shape.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { normal, type SeedSource, uniform } from './random.ts';

/** What numbers are drawn with. */
export interface Draws {
  /** Of mean 0 and variance 1. */
  normal(shape: Shape): Tensor;
  /** From 0 to 1. */
  uniform(shape: Shape): Tensor;
}

// Each proposal is accepted with a probability of at least 0.95, so that all fail one time in 10^15.
const PROPOSALS = 12;

/**
 * Logarithms of gamma-distributed numbers, which are finite for the smallest alpha too (Marsaglia and Tsang, "A simple method for
 * generating gamma variables", 2000).
 * @param shape of the result; alpha broadcasts to it
 */
export function logGamma(shape: Shape, alpha: Tensor, draws: Draws): Tensor {
  const sizes = dimsOf(shape);
  const all = toShape([PROPOSALS, ...sizes]);
  // A number for alpha + 1, times u^(1 / alpha), is one for alpha.
  const small = alpha.less(1);
  const d = where(small, alpha.add(1), alpha).sub(1 / 3);
  const x = draws.normal(all);
  const root = x.div(d.mul(9).sqrt()).add(1);
  const v = root.square().mul(root);
  const positive = v.greater(0);
  const logV = where(positive, v, 1).log();
  const bound = x
    .square()
    .mul(0.5)
    .add(d.sub(v.mul(d)))
    .add(logV.mul(d));
  const accepted = positive.logicalAnd(draws.uniform(all).log().less(bound));
  const first = accepted.cast('int32').argMax(0, { dtype: 'int32' });
  const place = reshape(iota(PROPOSALS), [PROPOSALS, ...sizes.map(() => 1)]);
  const chosen = sum(where(place.equal(first), logV, 0), 0);
  const shrunk = draws
    .uniform(shape)
    .log()
    .div(where(small, alpha, 1));
  return d
    .log()
    .add(chosen)
    .add(where(small, shrunk, 0));
}

/**
 * Numbers of gamma distributions, for each alpha and beta so many as `shape` says: the result has `shape`, then the shape to which alpha
 * and beta broadcast. No gradient reaches alpha through what is drawn.
 * @param alpha the form, above 0
 */
export const gamma: NamedFunction<
  [shape: ShapeLike, alpha: TensorLike],
  ['shape', 'alpha'],
  {
    /** The inverse scale; 1 by default. */
    beta?: TensorLike;
    /** Of the numbers; float32 by default. */
    dtype?: DType;
    /** Makes the numbers the same in each run of the program; drawn anew unless given. */
    seed?: number | SeedSource;
  }
> = /* @__PURE__ */ defineFunction(
  'random.gamma',
  { shape: kind.shape, alpha: kind.tensor },
  { beta: kind.tensor, dtype: kind.asIs, seed: kind.asIs },
  (shape: Shape, alpha, options) => {
    const dtype = options.dtype ?? 'float32';
    checkDType(dtype, 'floating', 'dtype', 'random.gamma');
    checkShape(shape, 'random.gamma');
    const form = toTensor(alpha, dtype).stopGradient();
    const rate = toTensor(options.beta ?? 1, dtype);
    const each = form.add(rate.mul(0));
    const seed = options.seed === undefined ? {} : { seed: options.seed };
    const drawn = logGamma(toShape([...dimsOf(shape), ...dims(each)]), each, {
      normal: (all) => normal(all, { dtype, ...seed }),
      uniform: (all) => uniform(all, { dtype, ...seed }),
    });
    return drawn.exp().div(rate);
  },
);

/** Numbers of beta distributions. @param shape of the result, to which alpha and beta, both above 0, broadcast */
export const beta: NamedFunction<
  [shape: ShapeLike, alpha: TensorLike, beta: TensorLike],
  ['shape', 'alpha', 'beta'],
  {
    /** Of the numbers; float32 by default. */
    dtype?: DType;
    /** Makes the numbers the same in each run of the program; drawn anew unless given. */
    seed?: number | SeedSource;
  }
> = /* @__PURE__ */ defineFunction(
  'random.beta',
  { shape: kind.shape, alpha: kind.tensor, beta: kind.tensor },
  { dtype: kind.asIs, seed: kind.asIs },
  (shape: Shape, alpha, other, options) => {
    const dtype = options.dtype ?? 'float32';
    checkDType(dtype, 'floating', 'dtype', 'random.beta');
    checkShape(shape, 'random.beta');
    const seed = options.seed === undefined ? {} : { seed: options.seed };
    const draw = (form: TensorLike): Tensor =>
      logGamma(shape, toTensor(form, dtype).stopGradient(), {
        normal: (all) => normal(all, { dtype, ...seed }),
        uniform: (all) => uniform(all, { dtype, ...seed }),
      });
    return draw(alpha).sub(draw(other)).sigmoid();
  },
);

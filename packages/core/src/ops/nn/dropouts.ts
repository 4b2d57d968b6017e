// `tf.nn.experimental`: dropout by given random numbers.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkFunction, shown } from '../../arguments/checks.ts';
import type { StatelessSeed } from '../../random/random.ts';
import { type AlgorithmLike, statelessUniform } from '../../random/stateless.ts';
import { type PartialShape, type Shape, showShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { where } from '../elementwise/select.ts';
import { noiseShapeOf } from './noise-shape.ts';

type NoiseShape = readonly (number | null)[] | Tensor | null;
/** Gives uniform numbers from 0 to 1 of a shape. */
export type UniformSampler = (
  shape: Shape,
  dtype: 'float16' | 'bfloat16' | 'float32' | 'float64',
) => TensorLike;

function dropped(
  x: TensorLike,
  rate: TensorLike,
  noiseShape: NoiseShape,
  sampler: UniformSampler,
  op: string,
): Tensor {
  const t = toTensor(x);
  checkDType(t.dtype, 'floating', 'x', op);
  if (typeof rate === 'number' && !(rate >= 0 && rate < 1))
    throw new InvalidArgumentError(`rate is ${rate}, expected 0 ≤ rate < 1`, op);
  const share = toTensor(rate, t.dtype);
  if (share.rank !== 0)
    throw new InvalidArgumentError(`rate has shape ${showShape(share.shape)}, expected a scalar`, op);
  if (rate === 0) return t;
  const noise = toTensor(
    sampler(noiseShapeOf((noiseShape ?? t.shape) as PartialShape, t, op), t.dtype as 'float32'),
    t.dtype,
  );
  const scaled = t.mul(toTensor(1, t.dtype).div(toTensor(1, t.dtype).sub(share)));
  return where(noise.greaterEqual(share), scaled, toTensor(0, t.dtype));
}

/**
 * Puts elements to 0 where a number that `uniformSampler` gives is below `rate`, and scales the others by 1 / (1 − rate).
 * @param uniformSampler is called with a shape and a dtype
 * @param options.noiseShape broadcasts to x, as for `tf.nn.dropout`
 */
export const generalDropout: NamedFunction<
  [x: TensorLike, rate: TensorLike, uniformSampler: UniformSampler],
  ['x', 'rate', 'uniformSampler'],
  {
    /** Dimensions of 1 are dropped or kept as a whole; the input's shape by default. */
    readonly noiseShape?: NoiseShape;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.experimental.generalDropout',
  { x: kind.tensor, rate: kind.tensor, uniformSampler: kind.asIs },
  { noiseShape: kind.shape },
  (x, rate, uniformSampler, { noiseShape = null }) => {
    const op = 'nn.experimental.generalDropout';
    checkFunction(uniformSampler, 'uniformSampler', op);
    return dropped(x, rate, noiseShape, uniformSampler, op);
  },
);

/** `tf.nn.dropout` as a pure function of a seed of two integers: with TensorFlow's numbers. */
export const statelessDropout: NamedFunction<
  [x: TensorLike, rate: TensorLike, seed: StatelessSeed],
  ['x', 'rate', 'seed'],
  {
    /** The algorithm of the random numbers; `'auto_select'` by default. */
    readonly rngAlg?: AlgorithmLike | null;
    /** Dimensions of 1 are dropped or kept as a whole; the input's shape by default. */
    readonly noiseShape?: NoiseShape;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.experimental.statelessDropout',
  { x: kind.tensor, rate: kind.tensor, seed: kind.asIs },
  { rngAlg: kind.asIs, noiseShape: kind.shape },
  (x, rate, seed, { rngAlg = null, noiseShape = null }) => {
    const op = 'nn.experimental.statelessDropout';
    if (seed === null || typeof seed !== 'object')
      throw new InvalidArgumentError(`seed must be two integers, got ${shown(seed)}`, op);
    return dropped(
      x,
      rate,
      noiseShape,
      (shape, dtype) => statelessUniform(shape, seed, { dtype, alg: rngAlg }),
      op,
    );
  },
);

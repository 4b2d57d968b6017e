/** `tf.keras.ops.nn`: activations, convolutions, pooling, normalization, attention, losses. */
import {
  gelu as coreGelu,
  leakyRelu as coreLeakyRelu,
  type NamedFunction,
  type TensorLike,
} from '@eagre/core';
import { defineFunction, kind } from '@eagre/core/internal';
import { floating, named } from './define.ts';

export {
  elu,
  hardSigmoid,
  hardSilu,
  hardSilu as hardSwish,
  logSigmoid,
  relu,
  relu6,
  selu,
  silu,
  silu as swish,
  softplus,
  softsign,
} from '@eagre/core';
export {
  celu,
  glu,
  hardShrink,
  hardTanh,
  logSoftmax,
  sigmoid,
  softmax,
  softShrink,
  sparsemax,
  sparsePlus,
  sparseSigmoid,
  squareplus,
  tanhShrink,
  threshold,
} from '../activations.ts';
export * from './nn/attention.ts';
export * from './nn/categories.ts';
export * from './nn/conv.ts';
export * from './nn/losses.ts';
export * from './nn/normalization.ts';
export * from './nn/patches.ts';
export * from './nn/pooling.ts';

/** x where it is positive, negativeSlope · x elsewhere; 0.2 unless given. */
export const leakyRelu: NamedFunction<[x: TensorLike, negativeSlope?: number], ['x', 'negativeSlope']> =
  defineFunction(
    named('leakyRelu'),
    { x: kind.tensor, negativeSlope: kind.asIs },
    {},
    (x, negativeSlope: number = 0.2) => coreLeakyRelu(floating(x), { alpha: negativeSlope }),
  );

/** x · Φ(x), Φ being the normal distribution's; computed by tanh unless `approximate` is false. */
export const gelu: NamedFunction<[x: TensorLike, approximate?: boolean], ['x', 'approximate']> =
  defineFunction(
    named('gelu'),
    { x: kind.tensor, approximate: kind.asIs },
    {},
    (x, approximate: boolean = true) => coreGelu(floating(x), { approximate }),
  );

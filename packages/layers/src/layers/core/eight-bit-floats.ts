// Products as those of floats of 8 bits are, and the scales that these need (Micikevicius and others, "FP8 formats for deep learning", 2022).
import { customGradient } from '@eagre/autodiff';
import type { Tensor, Variable } from '@eagre/core';
import {
  computeFloat8AmaxHistory,
  computeFloat8Scale,
  type Float8DType,
  LARGEST_FLOAT8,
  quantizeAndDequantize,
} from '../../quantizers.ts';

/** The scale of a tensor, and the largest magnitudes of its last steps. */
export interface Scaled {
  readonly scale: Variable;
  readonly history: Variable;
}
/** Of a product. */
export interface EightBits {
  readonly inputs: Scaled;
  readonly kernel: Scaled;
  /** Of the gradient of the outputs. */
  readonly outputsGrad: Scaled;
}

const next = (x: Tensor, scale: Tensor, history: Tensor, dtype: Float8DType): [Tensor, Tensor] => [
  computeFloat8Scale(history.max(), scale, LARGEST_FLOAT8[dtype]),
  computeFloat8AmaxHistory(x, history),
];

/** What 8 bits leave of a tensor. In training, the gradients of scale and history are their next values. */
function narrowed(x: Tensor, { scale, history }: Scaled, training: boolean): Tensor {
  const dtype = 'float8_e4m3fn';
  const computeDtype = x.dtype as 'float32';
  if (!training)
    return customGradient((value: Tensor, by: Tensor) => [
      quantizeAndDequantize(value, by, dtype, computeDtype),
      (dy: Tensor): Tensor[] => [dy, by.mul(0)],
    ])(x, scale.read());
  return customGradient((value: Tensor, by: Tensor, before: Tensor) => [
    quantizeAndDequantize(value, by, dtype, computeDtype),
    (dy: Tensor): Tensor[] => [dy, ...next(value, by, before, dtype)],
  ])(x, scale as never, history as never);
}

/** A tensor as it is, whose gradient loses what 8 bits do not hold. */
function withNarrowGradient(x: Tensor, { scale, history }: Scaled): Tensor {
  const dtype = 'float8_e5m2';
  return customGradient((value: Tensor, by: Tensor, before: Tensor) => [
    value.mul(1),
    (dy: Tensor): Tensor[] => [
      quantizeAndDequantize(dy, by, dtype, x.dtype as 'float32'),
      ...next(dy, by, before, dtype),
    ],
  ])(x, scale as never, history as never);
}

/** The product of inputs and a kernel. */
export function productOfEightBits(
  x: Tensor,
  kernel: Tensor,
  { inputs, kernel: own, outputsGrad }: EightBits,
  training: boolean,
  product: (x: Tensor, kernel: Tensor) => Tensor,
): Tensor {
  const y = product(narrowed(x, inputs, training), narrowed(kernel, own, training));
  return withNarrowGradient(y, outputsGrad);
}

/** A bias as it is next to products of 8 bits: float32 becomes bfloat16 and back. */
export function biasBesideEightBits(bias: Tensor): Tensor {
  return bias.dtype === 'float32' ? bias.cast('bfloat16').cast('float32') : bias;
}

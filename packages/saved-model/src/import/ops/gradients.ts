// Gradients as TensorFlow writes them into graphs of training steps.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { dims } from '@eagre/core/internal';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { vjp } from '../vjp.ts';
import { refuseChannelsFirst } from './array.ts';
import { avgPool, maxPool } from './nn.ts';

/** The gradient of an activation, given the gradient (input 0) and the activation's input (input 1). */
const ofInput =
  (fn: (x: Tensor) => Tensor): Translate =>
  (c) =>
    vjp(fn as never, [c.x(1)], c.x(0))[0] as Tensor;
/** Given the activation's result (input 0) and the gradient (input 1). */
const ofOutput =
  (fn: (y: Tensor, dy: Tensor) => Tensor): Translate =>
  (c) =>
    fn(c.x(0), c.x(1));

const avgPoolGrad: Translate = (c) => {
  const x = tf.zeros(c.shape(0) as number[], c.x(1).dtype);
  return vjp((x) => avgPool(c, x as Tensor), [x], c.x(1))[0] as Tensor;
};

const batchNormGrad: Translate = (c) => {
  refuseChannelsFirst(c);
  const [dy, x, scale] = [c.x(0), c.x(1), c.x(2)];
  const epsilon = c.floatAttr('epsilon', 1e-4);
  const dtype = scale.dtype;
  const offset = tf.zerosLike(scale);
  const training = c.boolAttr('is_training', true);
  const forward = (x: Tensor, scale: Tensor, offset: Tensor): Tensor => {
    const wide = tf.cast(x, dtype);
    const y = training
      ? tf.nn.fusedBatchNorm(wide, scale, offset, { epsilon, isTraining: true }).y
      : tf.nn.batchNormalization(wide, c.x(3), c.x(4), offset, scale, epsilon);
    return tf.cast(y, x.dtype);
  };
  const [dx, dScale, dOffset] = vjp(forward as never, [x, scale, offset], dy);
  const none = tf.zeros([0], dtype);
  return [dx as Tensor, dScale as Tensor, dOffset as Tensor, none, none];
};
/** The names of the gradients and of two outputs that nobody reads. */
const batchNormNames = (first: number): string[] => [
  'x_backprop',
  'scale_backprop',
  'offset_backprop',
  `reserve_space_${first}`,
  `reserve_space_${first + 1}`,
];

export const gradients: OpTable = {
  ReluGrad: ofInput(tf.relu),
  Relu6Grad: ofInput(tf.relu6),
  SoftplusGrad: ofInput(tf.softplus),
  SoftsignGrad: ofInput(tf.softsign),
  LeakyReluGrad: (c) =>
    vjp(
      (x) => tf.leakyRelu(x as Tensor, { alpha: c.floatAttr('alpha', 0.2) }),
      [c.x(1)],
      c.x(0),
    )[0] as Tensor,
  // These two are given the result, second.
  EluGrad: (c) => tf.where(c.x(1).less(0), c.x(0).mul(c.x(1).add(1)), c.x(0)),
  SeluGrad: (c) => {
    const [dy, y] = [c.x(0), c.x(1)];
    return tf.where(y.less(0), dy.mul(y.add(1.7580993408473768)), dy.mul(1.0507009873554805));
  },
  SigmoidGrad: ofOutput((y, dy) => dy.mul(y).mul(y.neg().add(1))),
  TanhGrad: ofOutput((y, dy) => dy.mul(y.square().neg().add(1))),
  SqrtGrad: ofOutput((y, dy) => dy.mul(0.5).div(y)),
  RsqrtGrad: ofOutput((y, dy) => dy.mul(-0.5).mul(y.mul(y).mul(y))),
  ReciprocalGrad: ofOutput((y, dy) => dy.neg().mul(y).mul(y)),
  InvGrad: ofOutput((y, dy) => dy.neg().mul(y).mul(y)),
  BiasAddGrad: (c) => {
    refuseChannelsFirst(c);
    const rank = c.x().rank;
    return tf.sum(
      c.x(),
      Array.from({ length: rank - 1 }, (_, i) => i),
    );
  },
  MaxPoolGrad: (c) => vjp((x) => maxPool(c, x as Tensor), [c.x(0)], c.x(2))[0] as Tensor,
  MaxPool3DGrad: (c) => vjp((x) => maxPool(c, x as Tensor), [c.x(0)], c.x(2))[0] as Tensor,
  AvgPoolGrad: avgPoolGrad,
  AvgPool3DGrad: avgPoolGrad,
  FusedBatchNormGrad: several(batchNormNames(3), batchNormGrad),
  FusedBatchNormGradV2: several(batchNormNames(3), batchNormGrad),
  FusedBatchNormGradV3: several(batchNormNames(4), batchNormGrad),
  ResizeBilinearGrad: (c) => {
    if (!c.boolAttr('half_pixel_centers', false)) throw c.lacks('it needs half_pixel_centers');
    const [dy, x] = [c.x(0), c.x(1)];
    const [height, width] = dims(dy).slice(1, 3) as [number, number];
    return vjp((x) => tf.image.resize(x as Tensor, [height, width]), [x], dy)[0] as Tensor;
  },
  MirrorPadGrad: (c) => {
    const mode = c.textAttr('mode').toUpperCase() as 'REFLECT' | 'SYMMETRIC';
    const pads = c.ints(1);
    const sizes = dims(c.x(0)).map(
      (d, i) => (d as number) - (pads[2 * i] as number) - (pads[2 * i + 1] as number),
    );
    const x = tf.zeros(sizes, c.x(0).dtype);
    return vjp((x) => tf.pad(x as Tensor, c.x(1), { mode }), [x], c.x(0))[0] as Tensor;
  },
};

// Gradients as TensorFlow writes them into graphs of training steps.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { dims, pooledBy } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { vjp } from '../vjp.ts';
import { refuseChannelsFirst } from './array.ts';
import { resized } from './image.ts';
import { avgPool, localResponse, maxPool, maxPoolOfInputs } from './nn.ts';

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
/** The same of functions with a pole, where no gradient stays none. */
const ofPole = (fn: (y: Tensor, dy: Tensor) => Tensor): Translate =>
  ofOutput((y, dy) => tf.where(dy.equal(0), tf.zerosLike(dy), fn(y, dy)));

/** The gradient of images of another size, for those in input 1. */
const resizeGradient =
  (fn: (c: OpCall, x: Tensor, size: [number, number]) => Tensor): Translate =>
  (c) => {
    const [dy, x] = [c.x(0), c.x(1)];
    const size = dims(dy).slice(1, 3) as [number, number];
    return vjp((x) => fn(c, x as Tensor, size), [x], dy)[0] as Tensor;
  };

const avgPoolGrad: Translate = (c) => {
  const x = tf.zeros(c.shape(0) as number[], c.x(1).dtype);
  return vjp((x) => avgPool(c, x as Tensor), [x], c.x(1))[0] as Tensor;
};

/** The derivative of largest values in the direction of the last input: elements of it at the places of those. */
const maxPoolGradGrad =
  (fn: (c: OpCall, x: Tensor) => Tensor): Translate =>
  (c) => {
    const backward = (dy: Tensor): Tensor => vjp((x) => fn(c, x as Tensor), [c.x(0)], dy)[0] as Tensor;
    return vjp((dy) => backward(dy as Tensor), [tf.zerosLike(c.x(1))], c.x(2))[0] as Tensor;
  };

/** The gradient of pools of windows of given borders, which are the inputs after that of the gradient. */
const fractionalGrad = (c: OpCall, x: Tensor, dy: number, average: boolean): Tensor => {
  const overlapping = c.boolAttr('overlapping', false);
  const borders = [c.x(dy + 1), c.x(dy + 2)] as const;
  return vjp((x) => pooledBy(x as Tensor, borders, overlapping, average), [x], c.x(dy))[0] as Tensor;
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

/** The gradient of an op whose row is known, for the first input: what it computes is linear or depends on the inputs that are there. */
const ofFirst =
  (fn: (c: OpCall, x: Tensor) => Tensor, input: number, dy: number): Translate =>
  (c) =>
    vjp((x) => fn(c, x as Tensor), [c.x(input)], c.x(dy))[0] as Tensor;

const bits = (c: OpCall): { readonly numBits: number; readonly narrowRange: boolean } => ({
  numBits: c.intAttr('num_bits', 8),
  narrowRange: c.boolAttr('narrow_range', false),
});
const RANGE_GRADIENTS = ['backprops_wrt_input', 'backprop_wrt_min', 'backprop_wrt_max'];

const dilated = (c: OpCall, x: Tensor, filter: Tensor): Tensor =>
  tf.nn.dilation2d(
    x,
    filter,
    c.intsAttr('strides'),
    c.textAttr('padding') as 'SAME',
    'NHWC',
    c.intsAttr('rates'),
  );

const cropped = (c: OpCall, x: Tensor, boxes: Tensor, places: Tensor, dy: Tensor): Tensor =>
  tf.image.cropAndResize(x, boxes, places, dims(dy).slice(1, 3) as number[], {
    method: c.textAttr('method', 'bilinear') as 'bilinear',
  });

export const gradients: OpTable = {
  MaxPoolGradV2: (c) => vjp((x) => maxPoolOfInputs(c, x as Tensor, 3), [c.x(0)], c.x(2))[0] as Tensor,
  LRNGrad: ofFirst(localResponse, 1, 0),
  Dilation2DBackpropInput: (c) => vjp((x) => dilated(c, x as Tensor, c.x(1)), [c.x(0)], c.x(2))[0] as Tensor,
  Dilation2DBackpropFilter: (c) => vjp((f) => dilated(c, c.x(0), f as Tensor), [c.x(1)], c.x(2))[0] as Tensor,
  CropAndResizeGradImage: (c) => {
    const x = tf.zeros(c.shape(3) as number[], 'float32');
    const dx = vjp((x) => cropped(c, x as Tensor, c.x(1), c.x(2), c.x(0)), [x], c.x(0))[0] as Tensor;
    return tf.cast(dx, c.dtypeAttr('T', 'float32'));
  },
  CropAndResizeGradBoxes: (c) =>
    vjp((b) => cropped(c, c.x(1), b as Tensor, c.x(3), c.x(0)), [c.x(2)], c.x(0))[0] as Tensor,
  FakeQuantWithMinMaxArgsGradient: (c) =>
    tf.quantization.fakeQuantWithMinMaxArgsGradient(c.x(0), c.x(1), {
      min: c.floatAttr('min', -6),
      max: c.floatAttr('max', 6),
      ...bits(c),
    }),
  FakeQuantWithMinMaxVarsGradient: several(RANGE_GRADIENTS, (c) => [
    ...tf.quantization.fakeQuantWithMinMaxVarsGradient(c.x(0), c.x(1), c.x(2), c.x(3), bits(c)),
  ]),
  FakeQuantWithMinMaxVarsPerChannelGradient: several(RANGE_GRADIENTS, (c) => [
    ...tf.quantization.fakeQuantWithMinMaxVarsPerChannelGradient(c.x(0), c.x(1), c.x(2), c.x(3), bits(c)),
  ]),
  ResizeBicubicGrad: resizeGradient((c, x, size) => {
    if (!c.boolAttr('half_pixel_centers', false)) throw c.lacks('it needs half_pixel_centers');
    return tf.image.resize(x, size, { method: 'bicubic' });
  }),
  ResizeNearestNeighborGrad: (c) => {
    const [dy, [height, width]] = [c.x(0), c.ints(1) as [number, number]];
    const [n, rows, columns, channels] = dims(dy) as [number, number, number, number];
    const x = tf.zeros([n, height, width, channels], dy.dtype);
    return vjp((x) => resized(c, x as Tensor, [rows, columns], 'nearest'), [x], dy)[0] as Tensor;
  },
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
  SqrtGrad: ofPole((y, dy) => dy.mul(0.5).div(y)),
  RsqrtGrad: ofPole((y, dy) => dy.mul(-0.5).mul(y.mul(y).mul(y))),
  ReciprocalGrad: ofPole((y, dy) => dy.neg().mul(y).mul(y)),
  InvGrad: ofPole((y, dy) => dy.neg().mul(y).mul(y)),
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
  MaxPoolGradGrad: maxPoolGradGrad(maxPool),
  MaxPoolGradGradV2: maxPoolGradGrad((c, x) => maxPoolOfInputs(c, x, 3)),
  MaxPool3DGradGrad: maxPoolGradGrad(maxPool),
  FractionalMaxPoolGrad: (c) => fractionalGrad(c, c.x(0), 2, false),
  FractionalAvgPoolGrad: (c) => fractionalGrad(c, tf.zeros(c.shape(0) as number[], c.x(1).dtype), 1, true),
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

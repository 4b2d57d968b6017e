// Convolutions, pooling, normalization and losses.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { dims, knownDim, toShape } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { vjp } from '../vjp.ts';
import { oldResize } from './image.ts';

/** Padding as Eagre's functions take it: pairs of pixels where it is explicit. */
export type Padding = 'SAME' | 'VALID' | [number, number][];

/** The geometry of windows over images or volumes with channels last. */
export interface Windows {
  readonly strides: number[];
  readonly padding: Padding;
  readonly dilations: number[];
  readonly dataFormat: Format;
}

type Format = 'NHWC' | 'NCHW' | 'NDHWC' | 'NCDHW';
/** Where channels are. */
function formatOf(c: OpCall, rank = 2): Format {
  const known: readonly string[] = rank === 3 ? ['NDHWC', 'NCDHW'] : ['NHWC', 'NCHW'];
  const format = c.textAttr('data_format', known[0]);
  if (!known.includes(format)) throw c.lacks(`the data format '${format}' is not supported`);
  return format as Format;
}
const isFirst = (c: OpCall): boolean => c.textAttr('data_format', 'NHWC').startsWith('NC');

/** Sizes without those of the batch and of channels. */
const spatial = (c: OpCall, name: string, missing?: readonly number[]): number[] => {
  const list = c.intsAttr(name, missing);
  const channels = isFirst(c) ? 1 : list.length - 1;
  if (list.length < 3 || list[0] !== 1 || list[channels] !== 1)
    throw c.lacks(`${name} of batches and channels must be 1, got [${list.join(', ')}]`);
  return list.filter((_, i) => i !== 0 && i !== channels);
};

/** What a convolution says about its windows. */
export function windowsOf(c: OpCall, rank: number): Windows {
  const dataFormat = formatOf(c, rank);
  const ones = Array.from({ length: rank + 2 }, () => 1);
  return {
    strides: spatial(c, 'strides'),
    padding: paddingOf(c),
    dilations: spatial(c, 'dilations', ones),
    dataFormat,
  };
}

function paddingOf(c: OpCall, isLast = !isFirst(c)): Padding {
  const padding = c.textAttr('padding');
  if (padding === 'SAME' || padding === 'VALID') return padding;
  if (padding !== 'EXPLICIT') throw c.wrong(`'${padding}' is no padding`);
  const all = c.intsAttr('explicit_paddings');
  const pairs: [number, number][] = [];
  for (let i = 0; i < all.length; i += 2) pairs.push([all[i] as number, all[i + 1] as number]);
  const channels = isLast ? pairs.length - 1 : 1;
  return pairs.filter((_, i) => i !== 0 && i !== channels);
}

/** A convolution of any number of axes of windows, behind any number of axes of batches. */
const conv: Translate = (c) => {
  const batches = c.intAttr('batch_dims', 1);
  const rank = dims(c.x(1)).length - 2;
  if (rank !== 2 && rank !== 3) throw c.lacks(`windows of ${rank} axes`);
  if (c.intAttr('groups', 1) !== 1) throw c.lacks('groups of channels: TensorFlow has none either');
  const isLast = c.textAttr('data_format', 'CHANNELS_LAST') === 'CHANNELS_LAST';
  const last = rank === 2 ? 'NHWC' : 'NDHWC';
  const dataFormat = isLast ? last : rank === 2 ? 'NCHW' : 'NCDHW';
  const [x, filter] = [c.x(0), c.x(1)];
  if (batches < 1 || x.rank !== batches + rank + 1)
    throw c.wrong(`an input of rank ${x.rank} has no ${batches} axes of batches and ${rank} of windows`);
  const inner = (list: readonly number[]): number[] => (isLast ? list.slice(1, -1) : list.slice(2));
  const dilations = c.intsAttr('dilations', []);
  const shape = tf.shapeOf(x);
  const one = batches === 1;
  const flat = one ? x : tf.reshape(x, tf.concat([[-1], tf.slice(shape, [batches], [-1])], 0));
  const y = tf.nn.convolution(flat, filter, {
    strides: inner(c.intsAttr('strides')),
    padding: paddingOf(c, isLast),
    ...(dilations.length > 0 ? { dilations: inner(dilations) } : {}),
    dataFormat,
  });
  if (one) return y;
  return tf.reshape(y, tf.concat([tf.slice(shape, [0], [batches]), tf.slice(tf.shapeOf(y), [1], [-1])], 0));
};

/** A convolution of images with mirrored borders, maybe in another size first; its windows then lie within them as padding says. */
const paddedConv = (c: OpCall, x: Tensor, paddings: number): Tensor => {
  const mode = c.textAttr('mode') as 'REFLECT' | 'SYMMETRIC';
  const strides = spatial(c, 'strides');
  return tf.nn.convolution(tf.pad(x, c.x(paddings), { mode }), c.x(paddings + 1), {
    strides,
    padding: paddingOf(c),
  });
};

const conv2d: Translate = (c) => tf.nn.convolution(c.x(0), c.x(1), windowsOf(c, 2));

/** A convolution with what the graph's optimizer put into it. */
const fusedConv2d: Translate = (c) => {
  let x = conv2d(c) as Tensor;
  let next = 2;
  for (const name of c.textsAttr('fused_ops')) {
    if (name === 'BiasAdd') x = tf.nn.biasAdd(x, c.x(next++), { dataFormat: formatOf(c) });
    else if (name === 'Relu') x = tf.relu(x);
    else if (name === 'Relu6') x = tf.relu6(x);
    else if (name === 'Elu') x = tf.elu(x);
    else if (name === 'LeakyRelu') x = tf.leakyRelu(x, { alpha: c.floatAttr('leakyrelu_alpha', 0.2) });
    else throw c.lacks(`'${name}' in a fused convolution is not supported`);
  }
  return x;
};

const depthwise = (c: OpCall, x: Tensor, filter: Tensor): Tensor =>
  tf.nn.depthwiseConv2d(x, filter, windowsOf(c, 2) as never);

const transposed =
  (rank: 2 | 3): Translate =>
  (c) =>
    tf.nn.convTranspose(c.x(2), c.x(1), c.shape(0) as number[], windowsOf(c, rank));

/** The gradient of a convolution for its filter, whose sizes are input 1. */
const filterGradient =
  (rank: number, conv: (c: OpCall, x: Tensor, filter: Tensor) => Tensor): Translate =>
  (c) => {
    const sizes = c.ints(1);
    if (sizes.length !== rank + 2) throw c.wrong(`the filter's sizes are [${sizes.join(', ')}]`);
    // It is linear in the filter: any filter will do.
    const filter = tf.zeros(sizes, c.x(2).dtype);
    return vjp((f) => conv(c, c.x(0), f as Tensor), [filter], c.x(2))[0] as Tensor;
  };

type Pool = (
  x: Tensor,
  ksize: number[],
  options: { strides: number[]; padding: Padding; dataFormat: Format },
) => Tensor;

/** @param value whether pooling of this kind gives values. */
export const pool =
  (fn: Pool): ((c: OpCall, x: Tensor) => Tensor) =>
  (c, x) => {
    const dataFormat = formatOf(c, x.rank - 2);
    return fn(x, spatial(c, 'ksize'), { strides: spatial(c, 'strides'), padding: paddingOf(c), dataFormat });
  };
/** Pooling of images and volumes. */
export const maxPool: (c: OpCall, x: Tensor) => Tensor = pool(tf.nn.maxPool as Pool);
export const avgPool: (c: OpCall, x: Tensor) => Tensor = pool(tf.nn.avgPool as Pool);

/** Pooling whose windows are inputs. */
export function maxPoolOfInputs(c: OpCall, x: Tensor, first: number): Tensor {
  const dataFormat = formatOf(c);
  return tf.nn.maxPool(x, c.ints(first), { strides: c.ints(first + 1), padding: paddingOf(c), dataFormat });
}

const BATCH_NORM = [
  'y',
  'batch_mean',
  'batch_variance',
  'reserve_space_1',
  'reserve_space_2',
  'reserve_space_3',
];

const batchNorm: Translate = (c) => {
  const last = batchNormOf(c, isFirst(c) ? tf.moveAxis(c.x(0), 1, -1) : c.x(0));
  return isFirst(c) ? [tf.moveAxis(last[0] as Tensor, -1, 1), ...last.slice(1)] : last;
};

/** Of images or volumes with channels last. */
const batchNormOf = (c: OpCall, x: Tensor): Tensor[] => {
  // TensorFlow computes halves in float32.
  const dtype = c.x(1).dtype;
  const wide = x.dtype === dtype ? x : tf.cast(x, dtype);
  const [scale, offset] = [c.x(1), c.x(2)];
  const epsilon = c.floatAttr('epsilon', 1e-4);
  const none = tf.zeros([0], dtype);
  if (!c.boolAttr('is_training', true)) {
    const [mean, variance] = [c.x(3), c.x(4)];
    const y = tf.nn.batchNormalization(wide, mean, variance, offset, scale, epsilon);
    return [tf.cast(y, x.dtype), mean, variance, mean, variance, none].slice(0, outputsOf(c));
  }
  const { y, mean, variance } = tf.nn.fusedBatchNorm(wide, scale, offset, { epsilon, isTraining: true });
  // The variance of the sample is corrected, as TensorFlow's op does.
  const all = tf.cast(tf.size(wide), dtype).div(tf.cast(tf.size(mean), dtype));
  const corrected = variance.mul(all.div(tf.maximum(all.sub(1), 1)));
  const factor = c.floatAttr('exponential_avg_factor', 1);
  const moved = (old: number, now: Tensor): Tensor =>
    factor === 1
      ? now
      : c
          .x(old)
          .mul(1 - factor)
          .add(now.mul(factor));
  return [tf.cast(y, x.dtype), moved(3, mean), moved(4, corrected), mean, variance, none].slice(
    0,
    outputsOf(c),
  );
};
const outputsOf = (c: OpCall): number => (c.op === 'FusedBatchNormV3' ? 6 : 5);

/** Loss and its gradient for the logits. */
const softmaxLoss: Translate = (c) => {
  const [logits, labels] = [c.x(0), c.x(1)];
  const loss = tf.nn.softmaxCrossEntropyWithLogits(labels, logits);
  return [loss, tf.softmax(logits).sub(labels)];
};
const sparseSoftmaxLoss: Translate = (c) => {
  const [logits, labels] = [c.x(0), c.x(1)];
  const loss = tf.nn.sparseSoftmaxCrossEntropyWithLogits(labels, logits);
  const one = tf.oneHot(labels, dims(logits).at(-1) as number, { dtype: logits.dtype });
  return [loss, tf.softmax(logits).sub(one)];
};

/** Each value divided by the values around it in the channels. */
export function localResponse(c: OpCall, x: Tensor): Tensor {
  const radius = c.intAttr('depth_radius', 5);
  const squares = tf.pad(x.square(), [
    [0, 0],
    [0, 0],
    [0, 0],
    [radius, radius],
  ]);
  const window = 2 * radius + 1;
  const depth = dims(x)[3] as number;
  const sums = tf.addN(
    Array.from({ length: window }, (_, i) =>
      tf.slice(squares, [0, 0, 0, i], toShape([...dims(x).slice(0, 3), depth]) as number[]),
    ),
  );
  const base = sums.mul(c.floatAttr('alpha', 1)).add(c.floatAttr('bias', 1));
  return x.div(base.pow(c.floatAttr('beta', 0.5)));
}

/** Where the elements of largest value are among those of all images. */
function imagePlaces(c: OpCall, argmax: Tensor): Tensor {
  const places = tf.cast(argmax, 'int64');
  if (c.boolAttr('include_batch_in_index', false)) return places;
  const shape = tf.cast(tf.shapeOf(c.x(0)), 'int64');
  const each = tf.prod(tf.slice(shape, [1], [3]));
  const batch = tf.range(tf.reshape(tf.slice(tf.shapeOf(c.x(0)), [0], [1]), []), { dtype: 'int32' });
  return places.add(tf.reshape(tf.cast(batch, 'int64').mul(each), [-1, 1, 1, 1]));
}

const FRACTIONAL = ['output', 'row_pooling_sequence', 'col_pooling_sequence'];
/** Windows of two lengths in random order. With a seed they repeat, but they are not those that TensorFlow draws. */
const fractional =
  (pool: typeof tf.nn.fractionalMaxPool): Translate =>
  (c) => {
    const seeds = [c.intAttr('seed', 0), c.intAttr('seed2', 0)];
    const repeats = c.boolAttr('deterministic', false) || seeds.some((seed) => seed !== 0);
    return pool(c.x(), c.floatsAttr('pooling_ratio'), {
      pseudoRandom: c.boolAttr('pseudo_random', false),
      overlapping: c.boolAttr('overlapping', false),
      seed: repeats ? Math.abs(seeds[0] as number) + Math.abs(seeds[1] as number) + 1 : 0,
    });
  };

export const nn: OpTable = {
  ComputeAccidentalHits: several(['indices', 'ids', 'weights'], (c) =>
    tf.nn.computeAccidentalHits(c.x(0), c.x(1), c.intAttr('num_true')),
  ),
  IsotonicRegression: several(['output', 'segments'], (c) =>
    tf.nn.isotonicRegression(tf.cast(c.x(0), c.dtypeAttr('output_dtype', 'float32'))),
  ),
  Dilation2D: (c) =>
    tf.nn.dilation2d(
      c.x(0),
      c.x(1),
      c.intsAttr('strides'),
      c.textAttr('padding') as 'SAME',
      'NHWC',
      c.intsAttr('rates'),
    ),
  BiasAdd: (c) => tf.nn.biasAdd(c.x(0), c.x(1), { dataFormat: c.textAttr('data_format', 'NHWC') }),
  BiasAddV1: (c) => tf.nn.biasAdd(c.x(0), c.x(1)),
  Conv: conv,
  FusedPadConv2D: (c) => paddedConv(c, c.x(0), 1),
  FusedResizeAndPadConv2D: (c) => {
    const corners = c.boolAttr('resize_align_corners', false);
    return paddedConv(c, oldResize(c, c.x(0), c.ints(1) as [number, number], 'bilinear', corners), 2);
  },
  NearestNeighbors: several(['nearest_center_indices', 'nearest_center_distances'], (c) => {
    const [points, centers] = [c.x(0), c.x(1)];
    const differences = tf.expandDims(points, 1).sub(tf.expandDims(centers, 0));
    const k = Math.min(c.int(2), knownDim(dims(centers)[0] as number));
    const { values, indices } = tf.topK(differences.square().sum(-1).neg(), k);
    return [tf.cast(indices, 'int64'), values.neg()];
  }),
  Conv2D: conv2d,
  Conv3D: (c) => tf.nn.convolution(c.x(0), c.x(1), windowsOf(c, 3)),
  _FusedConv2D: fusedConv2d,
  DepthwiseConv2dNative: (c) => depthwise(c, c.x(0), c.x(1)),
  Conv2DBackpropInput: transposed(2),
  Conv3DBackpropInputV2: transposed(3),
  Conv2DBackpropFilter: filterGradient(2, (c, x, f) => tf.nn.convolution(x, f, windowsOf(c, 2))),
  Conv3DBackpropFilterV2: filterGradient(3, (c, x, f) => tf.nn.convolution(x, f, windowsOf(c, 3))),
  DepthwiseConv2dNativeBackpropFilter: filterGradient(2, depthwise),
  DepthwiseConv2dNativeBackpropInput: (c) => {
    const x = tf.zeros(c.shape(0) as number[], c.x(2).dtype);
    return vjp((x) => depthwise(c, x as Tensor, c.x(1)), [x], c.x(2))[0] as Tensor;
  },
  FractionalAvgPool: several(FRACTIONAL, fractional(tf.nn.fractionalAvgPool)),
  FractionalMaxPool: several(FRACTIONAL, fractional(tf.nn.fractionalMaxPool)),
  MaxPool: (c) => maxPool(c, c.x()),
  MaxPoolV2: (c) => maxPoolOfInputs(c, c.x(), 1),
  MaxPool3D: (c) => maxPool(c, c.x()),
  MaxPoolWithArgmax: several(['output', 'argmax'], (c) => {
    const { output, argmax } = tf.nn.maxPoolWithArgmax(c.x(), spatial(c, 'ksize') as never, {
      strides: spatial(c, 'strides') as never,
      padding: paddingOf(c),
      outputType: c.dtypeAttr('Targmax', 'int64') as 'int64',
      includeBatchInIndex: c.boolAttr('include_batch_in_index', false),
    });
    return [output, argmax];
  }),
  MaxPoolGradWithArgmax: (c) => {
    const [x, dy, places] = [c.x(0), c.x(1), imagePlaces(c, c.x(2))];
    const sums = tf.unsortedSegmentSum(tf.reshape(dy, [-1]), tf.reshape(places, [-1]), tf.size(x));
    return tf.reshape(sums, tf.shapeOf(x));
  },
  MaxPoolGradGradWithArgmax: (c) => tf.gather(tf.reshape(c.x(1), [-1]), imagePlaces(c, c.x(2))),
  // Each patch is what a filter of ones and zeros finds.
  ExtractImagePatches: (c) => {
    const [height, width] = spatial(c, 'ksizes') as [number, number];
    const channels = knownDim(dims(c.x())[3] as number);
    const n = height * width * channels;
    const filter = tf.reshape(tf.eye(n, null, { dtype: c.x().dtype }), [height, width, channels, n]);
    return tf.nn.convolution(c.x(), filter, {
      strides: spatial(c, 'strides'),
      padding: paddingOf(c),
      dilations: spatial(c, 'rates'),
    });
  },
  AvgPool: (c) => avgPool(c, c.x()),
  AvgPool3D: (c) => avgPool(c, c.x()),
  FusedBatchNorm: several(BATCH_NORM.slice(0, 5), batchNorm),
  FusedBatchNormV2: several(BATCH_NORM.slice(0, 5), batchNorm),
  FusedBatchNormV3: several(BATCH_NORM, batchNorm),
  BatchNormWithGlobalNormalization: (c) => {
    const scale = c.boolAttr('scale_after_normalization') ? c.x(4) : null;
    return tf.nn.batchNormalization(c.x(0), c.x(1), c.x(2), c.x(3), scale, c.floatAttr('variance_epsilon'));
  },
  LRN: (c) => localResponse(c, c.x()),
  SoftmaxCrossEntropyWithLogits: several(['loss', 'backprop'], softmaxLoss),
  SparseSoftmaxCrossEntropyWithLogits: several(['loss', 'backprop'], sparseSoftmaxLoss),
  InTopK: (c) => tf.nn.inTopK(c.x(1), c.x(0), c.intAttr('k')),
  InTopKV2: (c) => tf.nn.inTopK(c.x(1), c.x(0), c.x(2)),
};

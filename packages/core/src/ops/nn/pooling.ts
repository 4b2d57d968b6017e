// Pooling of sequences [n, w, c], images [n, h, w, c] and volumes [n, d, h, w, c].
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { type Attrs, defineOp, execute, execute1, type Op } from '../../dispatch/op.ts';
import { distinct, uniform, values } from '../../dispatch/samples.ts';
import { type Dims, mulDims } from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import { checkFlag, checkList, type Shape } from '../../shapes/shape.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zerosLike } from '../array/creation.ts';
import { iota } from '../array/iota.ts';
import { expandDims, reshape, squeeze } from '../array/shaping.ts';
import {
  between,
  channelLast,
  checkWindowed,
  directionsOf,
  type FormatOption,
  outputSize,
  perDirection,
  pixels,
  type Sizes,
  type Strides2D,
  type Strides3D,
  type WindowPadding,
  withChannelsLast,
} from './windows.ts';

/** Options of pooling; numbers for all directions, or one for each. */
export interface PoolOptions<S extends Sizes = Strides2D> extends FormatOption {
  /** The window's size by default, so that windows do not overlap. */
  readonly strides?: S;
  /** `VALID` by default. */
  readonly padding?: WindowPadding;
}

const poolShape = (x: Tensor, attrs: Attrs): Dims => {
  const { window, strides, padding } = attrs as unknown as Record<
    'window' | 'strides' | 'padding',
    readonly number[]
  >;
  return [
    dims(x)[0],
    ...outputSize(between(dims(x)), window, strides, dimsOf(padding), [1, 1], 'pool'),
    dims(x)[3],
  ];
};

const poolSamples = [
  { window: [2, 2], strides: [2, 2], padding: [0, 0, 0, 0] },
  { window: [3, 2], strides: [2, 1], padding: [1, 1, 0, 1] },
];

/** The largest value of each window, and where it is. */
const maxPoolOp: Op = defineOp({
  name: 'MaxPoolWithArgmax',
  kernel: 'MaxPool',
  infer: ([x], attrs) => {
    const shape = poolShape(x, attrs);
    return [
      { dtype: x.dtype, shape },
      { dtype: 'int32', shape },
    ];
  },
  grad: ({ x, outputs }, dy) => execute1(maxPoolGradOp, [dy, outputs[1], x]),
  samples: () => poolSamples.map((attrs) => ({ inputs: [distinct([2, 4, 5, 2])], attrs })),
});
// Places in [2, 2, 3, 2] images, -1 for none.
const places = values([0, 7, 2, 7, -1, 11, 4, 1], [2, 2, 1, 2], 'int32');
/** The gradient of max pooling at x: each value added where the maximum was. It does not change with x, nearly everywhere. */
const maxPoolGradOp: Op = defineOp({
  name: 'MaxPoolGradWithArgmax',
  compose: ([dy, argmax, x]) => execute1(maxPoolScatterOp, [dy, argmax], { shape: x.shape }),
  grad: (g, ddx) => [
    g.needs(0) ? execute1(maxPoolGatherOp, [ddx, g.inputs[1]]) : null,
    null,
    g.needs(2) ? zerosLike(g.inputs[2]) : null,
  ],
  samples: () => [{ inputs: [uniform([2, 2, 1, 2]), places, uniform([2, 2, 3, 2])] }],
});
/** Zeros of a shape, plus each value where the maximum was. */
const maxPoolScatterOp: Op = defineOp({
  name: 'MaxPoolScatter',
  kernel: 'MaxPoolGrad',
  infer: ([dy], { shape }) => ({ dtype: dy.dtype, shape: shape as Shape }),
  grad: ({ inputs }, ddx) => [execute1(maxPoolGatherOp, [ddx, inputs[1]]), null],
  samples: () => [{ inputs: [uniform([2, 2, 1, 2]), places], attrs: { shape: [2, 2, 3, 2] } }],
});
/** The gradient of the gradient of max pooling: the values where the maxima were. */
const maxPoolGatherOp: Op = defineOp({
  name: 'MaxPoolGradGradWithArgmax',
  kernel: 'MaxPoolGather',
  infer: ([x, argmax]) => ({ dtype: x.dtype, shape: argmax.shape }),
  grad: ({ inputs }, dy) => [execute1(maxPoolScatterOp, [dy, inputs[1]], { shape: inputs[0].shape }), null],
  samples: () => [{ inputs: [uniform([2, 2, 3, 2]), places] }],
});
/** The mean of each window; padding does not count. */
const avgPoolOp: Op = defineOp({
  name: 'AvgPool',
  kernel: 'AvgPool',
  infer: ([x], attrs) => ({ dtype: x.dtype, shape: poolShape(x, attrs) }),
  grad: ({ x, attrs }, dy) => execute1(avgPoolGradOp, [dy], { ...attrs, shape: x.shape }),
  samples: () => poolSamples.map((attrs) => ({ inputs: [uniform([2, 4, 5, 2])], attrs })),
});
/** The gradient of average pooling. */
const avgPoolGradOp: Op = defineOp({
  name: 'AvgPoolGrad',
  kernel: 'AvgPoolGrad',
  infer: ([dy], { shape }) => ({ dtype: dy.dtype, shape: shape as Shape }),
  grad: ({ attrs }, ddx) => {
    const { window, strides, padding } = attrs;
    return execute1(avgPoolOp, [ddx], { window, strides, padding });
  },
  samples: () => [
    { inputs: [uniform([2, 2, 2, 2], 0.1, 2)], attrs: { ...poolSamples[0], shape: [2, 4, 5, 2] } },
    { inputs: [uniform([2, 2, 5, 2], 0.1, 2)], attrs: { ...poolSamples[1], shape: [2, 4, 5, 2] } },
  ],
});

/** The padding of some of the directions. */
const paddingOf = (padding: WindowPadding, from: number, to: number): WindowPadding =>
  typeof padding === 'string' ? padding : padding.slice(from, to);

/** Images [n, h, w, c] in one kernel. */
function pooled(
  op: Op,
  x: Tensor,
  window: readonly number[],
  strides: readonly number[],
  given: WindowPadding,
  called: string,
): readonly Tensor[] {
  const none = window.map(() => 1);
  const size = between(dims(x));
  const padding = pixels(given, size, window, strides, none, called);
  outputSize(size, window, strides, padding, none, called);
  return execute(op, [x], { window, strides, padding: toShape(padding) });
}

/** Of any number of directions: a window of a volume is one of its images, then one along the depth of what these gave. */
function pool(
  op: Op,
  value: TensorLike,
  ksize: Sizes,
  options: PoolOptions<Sizes>,
  called: string,
  wanted?: number,
): Tensor {
  const x = toTensor(value);
  const rank = wanted ?? directionsOf(x, called);
  checkWindowed(x, rank, called);
  const window = perDirection(ksize, rank, 'ksize', called);
  const strides = perDirection(options.strides ?? window, rank, 'strides', called);
  const given = options.padding ?? 'VALID';
  const padding: WindowPadding =
    typeof given !== 'string' && given.length === rank + 2 ? given.slice(1, -1) : given;
  if (rank === 2) return pooled(op, x, window, strides, padding, called)[0];
  if (typeof padding !== 'string') checkList(padding, 'padding', called);
  if (rank === 1) {
    const flat: WindowPadding = typeof padding === 'string' ? padding : [[0, 0], ...padding];
    return squeeze(pooled(op, expandDims(x, 1), [1, ...window], [1, ...strides], flat, called)[0], 1);
  }
  // All sizes are checked before anything is computed.
  pixels(padding, between(dims(x)), window, strides, [1, 1, 1], called);
  const [n, d, h, w, c] = dims(x);
  const images = reshape(x, toShape([mulDims(n, d), h, w, c]));
  const [flat] = pooled(op, images, window.slice(1), strides.slice(1), paddingOf(padding, 1, 3), called);
  const [, height, width] = dims(flat);
  const columns = reshape(flat, toShape([n, d, mulDims(height, width), c]));
  const along = paddingOf(padding, 0, 1);
  const [y] = pooled(
    op,
    columns,
    [window[0], 1],
    [strides[0], 1],
    typeof along === 'string' ? along : [...along, [0, 0]],
    called,
  );
  return reshape(y, toShape([n, dims(y)[1], height, width, c]));
}

type Pooling<S extends Sizes> = NamedFunction<
  [x: TensorLike, ksize: S],
  ['x|input', 'ksize'],
  PoolOptions<S>
>;

/** @param called in messages. @param rank how many directions there are; those of x by default. */
const definePooling = <S extends Sizes>(name: string, op: Op, called: string, rank?: number): Pooling<S> =>
  defineFunction(
    name,
    { 'x|input': kind.tensor, ksize: kind.asIs },
    { strides: kind.asIs, padding: kind.asIs, dataFormat: kind.asIs },
    (x, ksize, options) =>
      withChannelsLast(x, options, rank, called, (t, turned, first) =>
        pool(op, t, first ? channelLast(ksize, toTensor(t).rank - 2) : ksize, turned, called, rank),
      ),
  );

/** The largest value of each window of sequences [n, w, c], images [n, h, w, c] or volumes [n, d, h, w, c]. */
export const maxPool: Pooling<Sizes> = /* @__PURE__ */ definePooling('nn.maxPool', maxPoolOp, 'maxPool');
/** The largest value of each window of sequences [n, w, c]. */
export const maxPool1d: Pooling<number> = /* @__PURE__ */ definePooling(
  'nn.maxPool1d',
  maxPoolOp,
  'maxPool1d',
  1,
);
/** The largest value of each window of images [n, h, w, c]. `tf.nn.maxPool2d(x, 2)` */
export const maxPool2d: Pooling<Strides2D> = /* @__PURE__ */ definePooling(
  'nn.maxPool2d',
  maxPoolOp,
  'MaxPool',
  2,
);
/** The largest value of each window of volumes [n, d, h, w, c]. */
export const maxPool3d: Pooling<Strides3D> = /* @__PURE__ */ definePooling(
  'nn.maxPool3d',
  maxPoolOp,
  'MaxPool3D',
  3,
);

/**
 * Like `maxPool2d`, with the place of each maximum (int64 by default): its index within one image's h · w · c elements, or with
 * `includeBatchInIndex` within those of all images.
 */
export const maxPoolWithArgmax: NamedFunction<
  [x: TensorLike, ksize: Strides2D],
  ['x|input', 'ksize'],
  Omit<PoolOptions, 'dataFormat'> & {
    /** Of the places; int64 by default. */
    readonly outputType?: 'int32' | 'int64';
    /** TensorFlow's name of `outputType`. */
    readonly outputDtype?: 'int32' | 'int64';
    /** Whether the places count on from image to image; false by default. */
    readonly includeBatchInIndex?: boolean;
  },
  { output: Tensor; argmax: Tensor }
> = /* @__PURE__ */ defineFunction(
  'nn.maxPoolWithArgmax',
  { 'x|input': kind.tensor, ksize: kind.asIs },
  {
    strides: kind.asIs,
    padding: kind.asIs,
    outputType: kind.asIs,
    outputDtype: kind.asIs,
    includeBatchInIndex: kind.asIs,
  },
  (x, ksize, options) => {
    const op = 'MaxPoolWithArgmax';
    const dtype = options.outputType ?? options.outputDtype ?? 'int64';
    checkDType(dtype, 'index', 'outputType', op);
    const window = perDirection(ksize, 2, 'ksize', op);
    const strides = perDirection(options.strides ?? window, 2, 'strides', op);
    const images = checkWindowed(toTensor(x), 2, op);
    const [output, argmax] = pooled(maxPoolOp, images, window, strides, options.padding ?? 'VALID', op);
    const own = dtype === 'int32' ? argmax : argmax.cast(dtype);
    if (!checkFlag(options.includeBatchInIndex, 'includeBatchInIndex', op)) return { output, argmax: own };
    const [n, h, w, c] = dims(images);
    const size = toTensor(sizeValue(mulDims(h, mulDims(w, c)), dtype), dtype);
    const before = reshape(iota(n).cast(dtype).mul(size), toShape([n, 1, 1, 1]));
    return { output, argmax: own.add(before) };
  },
);

/** The mean of each window of sequences, images or volumes; padding does not count. */
export const avgPool: Pooling<Sizes> = /* @__PURE__ */ definePooling('nn.avgPool', avgPoolOp, 'avgPool');
/** The mean of each window of sequences [n, w, c]; steps of the padding do not count. */
export const avgPool1d: Pooling<number> = /* @__PURE__ */ definePooling(
  'nn.avgPool1d',
  avgPoolOp,
  'avgPool1d',
  1,
);
/** The mean of each window of images [n, h, w, c]; pixels of the padding do not count. */
export const avgPool2d: Pooling<Strides2D> = /* @__PURE__ */ definePooling(
  'nn.avgPool2d',
  avgPoolOp,
  'AvgPool',
  2,
);
/** The mean of each window of volumes [n, d, h, w, c]; what pads does not count. */
export const avgPool3d: Pooling<Strides3D> = /* @__PURE__ */ definePooling(
  'nn.avgPool3d',
  avgPoolOp,
  'AvgPool3D',
  3,
);

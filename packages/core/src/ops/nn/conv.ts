// Convolutions and pooling over images [n, h, w, c].
import { InvalidArgumentError } from '@eagre/backend';
import type { ShapeLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import {
  type Attrs,
  defineOp,
  execute,
  execute1,
  type GradContext,
  type Op,
  pair,
} from '../../dispatch/op.ts';
import { distinct, type Sample, type SampleInput, uniform, values } from '../../dispatch/samples.ts';
import {
  addDims,
  type Dim,
  type Dims,
  floorDivDims,
  maxDims,
  modDims,
  mulDims,
  subDims,
} from '../../shapes/dim.ts';
import { dims, dimsOf, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { checkList, listOf, type Shape, show, showShape } from '../../shapes/shape.ts';
import { atMost, lessThan } from '../../shapes/shape-env.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zerosLike } from '../array/creation.ts';
import { disposeAll, ownShape } from '../array/moving.ts';
import { expandDims, reshape, squeeze } from '../array/shaping.ts';
import { reluGrad } from '../gradients.ts';
import { checkBias } from '../linalg/products.ts';

/** One number for both directions, or [height, width]. */
export type Size2D = number | readonly [height: number, width: number];
/**
 * `VALID`: none. `SAME`: as much as makes the result ceil(size / stride), an odd pixel at the end. Or pixels:
 * [[top, bottom], [left, right]].
 */
export type Padding2D = 'SAME' | 'VALID' | readonly (readonly [before: number, after: number])[];

/** Options of convolutions. */
export interface ConvOptions {
  /** 1 by default. */
  readonly strides?: Size2D;
  /** `VALID` by default. */
  readonly padding?: Padding2D;
  /** Distance of the filter's taps; 1 by default. */
  readonly dilations?: Size2D;
}

// ---- geometry

function twoNumbers(value: Size2D, what: string, op: string): [number, number] {
  let list = listOf(value, what, op);
  // TensorFlow also writes [1, h, w, 1].
  if (list.length === 4 && list[0] === 1 && list[3] === 1) list = list.slice(1, 3);
  if (list.length === 1) list = [list[0], list[0]];
  if (list.length !== 2 || !list.every((n) => Number.isSafeInteger(n) && n >= 1)) {
    throw new InvalidArgumentError(
      `${what} must be an integer of at least 1 or two of them, got ${show(value)}`,
      op,
    );
  }
  return [list[0], list[1]];
}

/** How many pixels a window covers. */
const reachOf = (size: Dim, dilation: number): Dim => addDims(mulDims(subDims(size, 1), dilation), 1);

/** [top, bottom, left, right] in pixels. */
function pixels(
  padding: Padding2D,
  size: Dims,
  window: Dims,
  strides: readonly number[],
  dilations: readonly number[],
  op: string,
): Dim[] {
  if (typeof padding === 'string') {
    const mode = padding.toUpperCase();
    if (mode === 'VALID') return [0, 0, 0, 0];
    if (mode !== 'SAME')
      throw new InvalidArgumentError(`padding '${padding}' is not SAME, VALID or [[t, b], [l, r]]`, op);
    return [0, 1].flatMap((i) => {
      const reach = reachOf(window[i], dilations[i]);
      const steps = floorDivDims(addDims(size[i], strides[i] - 1), strides[i]);
      const reached = addDims(mulDims(addDims(steps, -1), strides[i]), reach);
      const total = maxDims(0, subDims(reached, size[i]));
      const before = floorDivDims(total, 2);
      return [before, subDims(total, before)];
    });
  }
  checkList(padding, 'padding', op);
  const list = padding.length === 4 ? padding.slice(1, 3) : padding;
  const flat = list.flat();
  if (list.length !== 2 || flat.length !== 4 || !flat.every((n) => Number.isSafeInteger(n) && n >= 0)) {
    throw new InvalidArgumentError(
      `padding must be 'SAME', 'VALID' or [[top, bottom], [left, right]] of integers of at least 0, got ${show(padding)}`,
      op,
    );
  }
  return flat;
}

/** Size of the result along both directions. */
function outputSize(
  size: Dims,
  window: Dims,
  strides: readonly number[],
  padding: Dims,
  dilations: readonly number[],
  op: string,
): [Dim, Dim] {
  const [h, w] = [0, 1].map((i) => {
    const reach = reachOf(window[i], dilations[i]);
    const padded = addDims(size[i], addDims(padding[2 * i], padding[2 * i + 1]));
    const room = subDims(padded, reach);
    if (lessThan(room, 0)) {
      throw new InvalidArgumentError(
        `a window of ${reach} is larger than ${size[i]} pixels with padding ${padding[2 * i]} and ${padding[2 * i + 1]}`,
        op,
      );
    }
    return addDims(floorDivDims(room, strides[i]), 1);
  });
  return [h, w];
}

function image(x: TensorLike, op: string): Tensor {
  const t = toTensor(x);
  checkDType(t.dtype, 'floating', 'x', op);
  if (t.rank !== 4)
    throw new InvalidArgumentError(`x has shape ${showShape(t.shape)}, expected [n, h, w, c]`, op);
  return t;
}

// ---- convolution: three ops, each linear in both inputs, whose gradients are the other two

interface ConvAttrs extends Attrs {
  readonly strides: readonly number[];
  readonly padding: readonly number[];
  readonly dilations: readonly number[];
  /** A number, once sizes are known. */
  readonly groups: Dim;
}

const convShape = (x: Tensor, filter: Tensor, attrs: Attrs): Dims => {
  const { strides, padding, dilations } = attrs as ConvAttrs;
  const own = dims(x);
  const size = outputSize(own.slice(1, 3), dims(filter), strides, dimsOf(padding), dilations, 'Conv2D');
  return [own[0], ...size, dims(filter)[3]];
};

const conv = (x: Tensor, filter: Tensor, attrs: Attrs): Tensor =>
  execute1(conv2dOp, [x, filter], geometry(attrs));
const inputGrad = (filter: Tensor, dy: Tensor, shape: Shape, attrs: Attrs): Tensor =>
  execute1(inputGradOp, [filter, dy], { ...geometry(attrs), shape });
const filterGrad = (x: Tensor, dy: Tensor, shape: Shape, attrs: Attrs): Tensor =>
  execute1(filterGradOp, [x, dy], { ...geometry(attrs), shape });
const geometry = ({ strides, padding, dilations, groups }: Attrs): Attrs => ({
  strides,
  padding,
  dilations,
  groups,
});

const plainly = { strides: [1, 1], padding: [0, 0, 0, 0], dilations: [1, 1], groups: 1 };
const convSamples: readonly (ConvAttrs & { x: Shape; filter: Shape; y: Shape })[] = [
  { ...plainly, x: [1, 4, 5, 2], filter: [2, 3, 2, 3], y: [1, 3, 3, 3] },
  {
    ...plainly,
    x: [2, 5, 4, 1],
    filter: [3, 3, 1, 2],
    y: [2, 3, 2, 2],
    strides: [2, 2],
    padding: [1, 1, 0, 1],
  },
  { ...plainly, x: [1, 6, 6, 2], filter: [2, 2, 2, 1], y: [1, 4, 4, 1], dilations: [2, 2] },
  { ...plainly, x: [1, 4, 4, 4], filter: [3, 3, 1, 4], y: [1, 4, 4, 4], padding: [1, 1, 1, 1], groups: 4 },
  { ...plainly, x: [1, 3, 3, 4], filter: [1, 1, 2, 6], y: [1, 3, 3, 6], groups: 2 },
];

// Products of one sign, so that sums do not cancel and rounding errors stay small.
const positive = (shape: Shape): SampleInput => uniform(shape, 0.1, 2);
const negative = (shape: Shape): SampleInput => uniform(shape, -2, -0.1);

/** Convolution of images with filters. */
const conv2dOp: Op = defineOp({
  name: 'Conv2D',
  ulp: 16,
  kernel: 'Conv2D',
  kernelAttrs: (attrs) => ({ ...(attrs as ConvAttrs), activation: 0 }) as never,
  infer: ([x, filter], attrs) => ({ dtype: x.dtype, shape: convShape(x, filter, attrs) }),
  grad: (g, dy) => convGrads(g, dy),
  samples: () =>
    convSamples.map((s) => ({ inputs: [positive(s.x), negative(s.filter)], attrs: geometry(s) })),
});
/** The gradient of Conv2D for its images, which is a transposed convolution. */
const inputGradOp: Op = defineOp({
  name: 'Conv2DBackpropInput',
  ulp: 16,
  kernel: 'Conv2DBackpropInput',
  infer: ([, dy], { shape }) => ({ dtype: dy.dtype, shape: shape as Shape }),
  grad: (g, ddx) => {
    const [filter, dy] = g.inputs;
    return [
      g.needs(0) ? filterGrad(ddx, dy, filter.shape, g.attrs) : null,
      g.needs(1) ? conv(ddx, filter, g.attrs) : null,
    ];
  },
  samples: () =>
    convSamples.map((s) => ({
      inputs: [positive(s.filter), negative(s.y)],
      attrs: { ...geometry(s), shape: s.x },
    })),
});
/** The gradient of Conv2D for its filters. */
const filterGradOp: Op = defineOp({
  name: 'Conv2DBackpropFilter',
  ulp: 16,
  kernel: 'Conv2DBackpropFilter',
  infer: ([x], { shape }) => ({ dtype: x.dtype, shape: shape as Shape }),
  grad: (g, ddf) => {
    const [x, dy] = g.inputs;
    return [
      g.needs(0) ? inputGrad(ddf, dy, x.shape, g.attrs) : null,
      g.needs(1) ? conv(x, ddf, g.attrs) : null,
    ];
  },
  samples: () =>
    convSamples.map((s) => ({
      inputs: [positive(s.x), negative(s.y)],
      attrs: { ...geometry(s), shape: s.filter },
    })),
});
/** A convolution with a bias and an activation. */
const fusedConv2dOp: Op = defineOp({
  name: '_FusedConv2D',
  ulp: 16,
  kernel: 'Conv2D',
  infer: ([x, filter], attrs) => ({ dtype: x.dtype, shape: convShape(x, filter, attrs) }),
  grad: (g, dy) => {
    const d = g.attrs.activation === 1 ? reluGrad(dy, g.y) : dy;
    const grads = convGrads(g, d);
    return g.inputs.length === 2 ? grads : [...grads, g.needs(2) ? d.sum([0, 1, 2]) : null];
  },
  samples: (): readonly Sample[] => {
    const s = convSamples[1];
    return [
      {
        inputs: [positive(s.x), negative(s.filter), negative([2])],
        attrs: { ...geometry(s), activation: 0 },
      },
      { inputs: [positive(s.x), negative(s.filter)], attrs: { ...geometry(s), activation: 0 } },
      {
        inputs: [uniform(s.x, 0.1, 1), uniform(s.filter, 0.1, 1), values([0.5, -99])],
        attrs: { ...geometry(s), activation: 1 },
      },
    ];
  },
});

function convGrads(g: GradContext, dy: Tensor): [Tensor | null, Tensor | null] {
  const [x, filter] = g.inputs;
  return [
    g.needs(0) ? inputGrad(filter, dy, x.shape, g.attrs) : null,
    g.needs(1) ? filterGrad(x, dy, filter.shape, g.attrs) : null,
  ];
}

function convArguments(
  images: TensorLike,
  filters: TensorLike,
  options: ConvOptions & { groups?: number },
  op: string,
  given: Dim | undefined = options.groups,
): { x: Tensor; filter: Tensor; attrs: ConvAttrs } {
  const [a, filter] = pair(images, filters, op);
  const x = image(a, op);
  if (filter.rank !== 4) {
    throw new InvalidArgumentError(
      `filters have shape ${showShape(filter.shape)}, expected [height, width, in, out]`,
      op,
    );
  }
  const c = dims(x)[3];
  const [, , inner, out] = dims(filter);
  const groups = given ?? (!differs(c, inner) || atMost(inner, 0) ? 1 : floorDivDims(c, inner));
  const count = typeof groups !== 'number' || Number.isInteger(groups);
  if (
    !count ||
    lessThan(groups, 1) ||
    differs(mulDims(inner, groups), c) ||
    differs(modDims(out, groups), 0)
  ) {
    throw new InvalidArgumentError(
      `x ${showShape(x.shape)} has ${c} channels, filters ${showShape(filter.shape)} take ${inner} and give ${out}` +
        `${groups === 1 ? '' : ` in ${groups} groups`}: they do not fit`,
      op,
    );
  }
  const strides = twoNumbers(options.strides ?? 1, 'strides', op);
  const dilations = twoNumbers(options.dilations ?? 1, 'dilations', op);
  const padding = pixels(
    options.padding ?? 'VALID',
    dims(x).slice(1, 3),
    dims(filter),
    strides,
    dilations,
    op,
  );
  outputSize(dims(x).slice(1, 3), dims(filter), strides, padding, dilations, op);
  return { x, filter, attrs: { strides, padding: toShape(padding), dilations, groups } };
}

/**
 * Convolution of images [n, h, w, c] with filters [height, width, c / groups, out]; gives [n, h', w', out].
 * `tf.nn.conv2d(images, filters, { strides: 2, padding: 'SAME' })`
 * @param options.groups channels are cut into that many groups, each with its own filters; found from the shapes unless given.
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const conv2d: NamedFunction<
  [x: TensorLike, filters: TensorLike],
  ['x', 'filters'],
  ConvOptions & { groups?: number }
> = defineFunction(
  'nn.conv2d',
  { x: kind.tensor, filters: kind.tensor },
  { strides: kind.asIs, padding: kind.asIs, dilations: kind.asIs, groups: kind.asIs },
  (x, filters, options) => {
    const { x: images, filter, attrs } = convArguments(x, filters, options, 'Conv2D');
    return execute1(conv2dOp, [images, filter], attrs);
  },
);

/** @internal A convolution with a bias (or null) and an activation (0 none, 1 relu), in one kernel. */
export function fusedConv2d(
  x: TensorLike,
  filters: TensorLike,
  bias: TensorLike | null,
  options: ConvOptions & { groups?: number; activation?: 0 | 1 } = {},
): Tensor {
  const { x: images, filter, attrs } = convArguments(x, filters, options, '_FusedConv2D');
  const inputs = [images, filter];
  if (bias !== null) inputs.push(checkBias(bias, filter, 3, '_FusedConv2D'));
  return execute1(fusedConv2dOp, inputs, { ...attrs, activation: options.activation ?? 0 });
}

/**
 * Convolution of each channel with its own `m` filters: images [n, h, w, c] and filters [height, width, c, m] give
 * [n, h', w', c · m].
 */
export const depthwiseConv2d: NamedFunction<
  [x: TensorLike, filter: TensorLike],
  ['x', 'filter'],
  ConvOptions
> = defineFunction(
  'nn.depthwiseConv2d',
  { x: kind.tensor, filter: kind.tensor },
  { strides: kind.asIs, padding: kind.asIs, dilations: kind.asIs },
  (x, filter, options) => {
    const op = 'DepthwiseConv2dNative';
    const [a, f] = pair(x, filter, op);
    const images = image(a, op);
    if (f.rank !== 4 || differs(dims(f)[2], dims(images)[3])) {
      throw new InvalidArgumentError(
        `filters have shape ${showShape(f.shape)}, expected [height, width, ${dims(images)[3]}, multiplier] for x ${showShape(images.shape)}`,
        op,
      );
    }
    const [h, w, c, m] = dims(f);
    const filters = reshape(f, toShape([h, w, 1, mulDims(c, m)]));
    const { attrs } = convArguments(images, filters, options, 'Conv2D', c);
    return disposeAll(execute1(conv2dOp, [images, filters], attrs), filters);
  },
);

/** A depthwise convolution with [height, width, c, m], then one over channels with pointwise filters [1, 1, c · m, out]. */
export const separableConv2d: NamedFunction<
  [x: TensorLike, depthwiseFilter: TensorLike, pointwiseFilter: TensorLike],
  ['x', 'depthwiseFilter', 'pointwiseFilter'],
  ConvOptions
> = defineFunction(
  'nn.separableConv2d',
  { x: kind.tensor, depthwiseFilter: kind.tensor, pointwiseFilter: kind.tensor },
  { strides: kind.asIs, padding: kind.asIs, dilations: kind.asIs },
  (x, depthwiseFilter, pointwiseFilter, options) => {
    const f = toTensor(pointwiseFilter);
    if (f.rank !== 4 || differs(dims(f)[0], 1) || differs(dims(f)[1], 1)) {
      throw new InvalidArgumentError(
        `pointwise filters have shape ${showShape(f.shape)}, expected [1, 1, in, out]`,
        'separableConv2d',
      );
    }
    return conv2d(depthwiseConv2d(x, depthwiseFilter, options), f, { groups: 1 });
  },
);

/**
 * The transposed convolution, which is the gradient of `conv2d`: images [n, h, w, in] and filters [height, width, out, in]
 * give `outputShape`, [n, h', w', out]. Without a shape (null): h · stride for `SAME`, else (h − 1) · stride + the filter's reach
 * less the padding.
 * @throws InvalidArgumentError when `conv2d` of `outputShape` would not give x's shape.
 */
export const conv2dTranspose: NamedFunction<
  [x: TensorLike, filters: TensorLike, outputShape: ShapeLike | null],
  ['x', 'filters', 'outputShape'],
  ConvOptions
> = defineFunction(
  'nn.conv2dTranspose',
  { x: kind.tensor, filters: kind.tensor, outputShape: kind.shape },
  { strides: kind.asIs, padding: kind.asIs, dilations: kind.asIs },
  (x, filters, outputShape: Shape | null, options) => {
    const op = 'Conv2DBackpropInput';
    const [a, filter] = pair(x, filters, op);
    const dy = image(a, op);
    if (filter.rank !== 4 || differs(dims(filter)[3], dims(dy)[3])) {
      throw new InvalidArgumentError(
        `filters have shape ${showShape(filter.shape)}, expected [height, width, out, ${dims(dy)[3]}] for x ${showShape(dy.shape)}`,
        op,
      );
    }
    const strides = twoNumbers(options.strides ?? 1, 'strides', op);
    const dilations = twoNumbers(options.dilations ?? 1, 'dilations', op);
    const given = options.padding ?? 'VALID';
    const [own, taps] = [dims(dy), dims(filter)];
    let shape: Dims;
    if (outputShape === null) {
      const fixed =
        typeof given === 'string' ? [0, 0, 0, 0] : pixels(given, [0, 0], taps, strides, dilations, op);
      const size = [0, 1].map((i) => {
        const reach = reachOf(taps[i], dilations[i]);
        const same = typeof given === 'string' && given.toUpperCase() === 'SAME';
        const n = own[i + 1];
        if (same) return mulDims(n, strides[i]);
        const cut = addDims(fixed[2 * i], fixed[2 * i + 1]);
        return maxDims(0, subDims(addDims(mulDims(subDims(n, 1), strides[i]), reach), cut));
      });
      shape = [own[0], ...size, taps[2]];
    } else {
      shape = dimsOf(ownShape(outputShape, op));
    }
    const padding = pixels(given, shape.slice(1, 3), taps, strides, dilations, op);
    const size =
      shape.length === 4 ? outputSize(shape.slice(1, 3), taps, strides, padding, dilations, op) : [];
    if (
      shape.length !== 4 ||
      differs(shape[0], own[0]) ||
      differs(shape[3], taps[2]) ||
      differs(size[0], own[1]) ||
      differs(size[1], own[2])
    ) {
      throw new InvalidArgumentError(
        `an output of shape ${showShape(shape)} is not possible for x ${showShape(dy.shape)} and filters ${showShape(filter.shape)}`,
        op,
      );
    }
    return inputGrad(filter, dy, toShape(shape), {
      strides,
      padding: toShape(padding),
      dilations,
      groups: 1,
    });
  },
);

// ---- one direction: images of height 1

/** Options of convolutions over sequences. */
export interface Conv1dOptions {
  /** 1 by default. */
  readonly stride?: number;
  /** `VALID` by default; [before, after] in steps. */
  readonly padding?: 'SAME' | 'VALID' | readonly [before: number, after: number];
  readonly dilations?: number;
  readonly groups?: number;
}

const flatPadding = (padding: Conv1dOptions['padding']): Padding2D =>
  padding === undefined ? 'VALID' : typeof padding === 'string' ? padding : [[0, 0], padding];

function rank3(value: TensorLike, what: string, form: string, op: string): Tensor {
  const t = toTensor(value);
  if (t.rank !== 3)
    throw new InvalidArgumentError(`${what} shape ${showShape(t.shape)}, expected ${form}`, op);
  return t;
}

/**
 * Convolution of sequences [n, w, c] with filters [width, c / groups, out]; gives [n, w', out]. There may be several batch axes
 * instead of n, but not none.
 */
export const conv1d: NamedFunction<[x: TensorLike, filters: TensorLike], ['x', 'filters'], Conv1dOptions> =
  defineFunction(
    'nn.conv1d',
    { x: kind.tensor, filters: kind.tensor },
    { stride: kind.asIs, padding: kind.asIs, dilations: kind.asIs, groups: kind.asIs },
    (x, filters, options) => {
      const [a, b] = pair(x, filters, 'conv1d');
      if (a.rank > 3) {
        const batch = dims(a).slice(0, -2);
        const y = conv1d(reshape(a, toShape([sizeOfDims(batch), ...dims(a).slice(-2)])), b, options);
        return reshape(y, toShape([...batch, ...dims(y).slice(1)]));
      }
      const t = rank3(a, 'x has', '[n, w, c]', 'conv1d');
      const f = rank3(b, 'filters have', '[width, in, out]', 'conv1d');
      const [rows, kernels] = [expandDims(t, 1), expandDims(f, 0)];
      const y = conv2d(rows, kernels, {
        strides: [1, options.stride ?? 1],
        dilations: [1, options.dilations ?? 1],
        padding: flatPadding(options.padding),
        ...(options.groups === undefined ? {} : { groups: options.groups }),
      });
      return disposeAll(squeeze(y, 1), rows, kernels, y);
    },
  );

/** The transposed convolution of sequences [n, w, in] with filters [width, out, in]; see `conv2dTranspose`. */
export const conv1dTranspose: NamedFunction<
  [x: TensorLike, filters: TensorLike, outputShape: ShapeLike | null],
  ['x', 'filters', 'outputShape'],
  Omit<Conv1dOptions, 'groups'>
> = defineFunction(
  'nn.conv1dTranspose',
  { x: kind.tensor, filters: kind.tensor, outputShape: kind.shape },
  { stride: kind.asIs, padding: kind.asIs, dilations: kind.asIs },
  (x, filters, outputShape: Shape | null, options) => {
    const [a, b] = pair(x, filters, 'conv1dTranspose');
    const t = rank3(a, 'x has', '[n, w, in]', 'conv1dTranspose');
    const f = rank3(b, 'filters have', '[width, out, in]', 'conv1dTranspose');
    const full = outputShape === null ? null : checkList(outputShape, 'outputShape', 'conv1dTranspose');
    const shape = full === null ? null : [full[0], 1, ...full.slice(1)];
    const [rows, kernels] = [expandDims(t, 1), expandDims(f, 0)];
    const y = conv2dTranspose(rows, kernels, shape, {
      strides: [1, options.stride ?? 1],
      dilations: [1, options.dilations ?? 1],
      padding: flatPadding(options.padding),
    });
    return disposeAll(squeeze(y, 1), rows, kernels, y);
  },
);

// ---- pooling

/** Options of pooling. */
export interface PoolOptions {
  /** The window's size by default, so that windows do not overlap. */
  readonly strides?: Size2D;
  /** `VALID` by default. */
  readonly padding?: Padding2D;
}

const poolShape = (x: Tensor, attrs: Attrs): Dims => {
  const { window, strides, padding } = attrs as unknown as Record<
    'window' | 'strides' | 'padding',
    readonly number[]
  >;
  return [
    dims(x)[0],
    ...outputSize(dims(x).slice(1, 3), window, strides, dimsOf(padding), [1, 1], 'pool'),
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
    { inputs: [positive([2, 2, 2, 2])], attrs: { ...poolSamples[0], shape: [2, 4, 5, 2] } },
    { inputs: [positive([2, 2, 5, 2])], attrs: { ...poolSamples[1], shape: [2, 4, 5, 2] } },
  ],
});

function poolArguments(
  x: TensorLike,
  ksize: Size2D,
  options: PoolOptions,
  op: string,
): { x: Tensor; attrs: Attrs } {
  const t = image(x, op);
  const window = twoNumbers(ksize, 'ksize', op);
  const strides = twoNumbers(options.strides ?? window, 'strides', op);
  const size = dims(t).slice(1, 3);
  const padding = pixels(options.padding ?? 'VALID', size, window, strides, [1, 1], op);
  outputSize(size, window, strides, padding, [1, 1], op);
  return { x: t, attrs: { window, strides, padding: toShape(padding) } };
}

type Pooling2D = NamedFunction<[x: TensorLike, ksize: Size2D], ['x', 'ksize'], PoolOptions>;

/** @param called in messages. */
const definePooling2D = (name: string, op: Op, called: string): Pooling2D =>
  defineFunction(
    name,
    { x: kind.tensor, ksize: kind.asIs },
    { strides: kind.asIs, padding: kind.asIs },
    (x, ksize, options) => {
      const { x: t, attrs } = poolArguments(x, ksize, options, called);
      return execute1(op, [t], attrs);
    },
  );

/** The largest value of each window of images [n, h, w, c]. `tf.nn.maxPool2d(x, 2)` */
export const maxPool2d: Pooling2D = definePooling2D('nn.maxPool2d', maxPoolOp, 'MaxPool');

/** Like `maxPool2d`, with the place of each maximum (int32): its index within one image's h · w · c elements. */
export const maxPoolWithArgmax: NamedFunction<
  [x: TensorLike, ksize: Size2D],
  ['x', 'ksize'],
  PoolOptions,
  { output: Tensor; argmax: Tensor }
> = defineFunction(
  'nn.maxPoolWithArgmax',
  { x: kind.tensor, ksize: kind.asIs },
  { strides: kind.asIs, padding: kind.asIs },
  (x, ksize, options) => {
    const { x: t, attrs } = poolArguments(x, ksize, options, 'MaxPoolWithArgmax');
    const [output, argmax] = execute(maxPoolOp, [t], attrs);
    return { output, argmax };
  },
);

/** The mean of each window of images [n, h, w, c]; pixels of the padding do not count. */
export const avgPool2d: Pooling2D = definePooling2D('nn.avgPool2d', avgPoolOp, 'AvgPool');

/** Options of pooling over sequences. */
export interface Pool1dOptions {
  /** The window's size by default. */
  readonly strides?: number;
  readonly padding?: 'SAME' | 'VALID';
}

type Pooling1D = NamedFunction<[x: TensorLike, ksize: number], ['x', 'ksize'], Pool1dOptions>;

const definePooling1D = (name: string, pool: Pooling2D): Pooling1D =>
  defineFunction(
    `nn.${name}`,
    { x: kind.tensor, ksize: kind.asIs },
    { strides: kind.asIs, padding: kind.asIs },
    (x, ksize, options) => {
      const rows = expandDims(rank3(x, 'x has', '[n, w, c]', name), 1);
      const strides = options.strides ?? ksize;
      return squeeze(
        pool(rows, [1, ksize], { strides: [1, strides], padding: options.padding ?? 'VALID' }),
        1,
      );
    },
  );

/** The largest value of each window of sequences [n, w, c]. */
export const maxPool1d: Pooling1D = definePooling1D('maxPool1d', maxPool2d);

/** The mean of each window of sequences [n, w, c]. */
export const avgPool1d: Pooling1D = definePooling1D('avgPool1d', avgPool2d);

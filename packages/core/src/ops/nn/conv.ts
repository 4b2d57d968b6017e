// Convolutions over sequences [n, w, c], images [n, h, w, c] and volumes [n, d, h, w, c]. Kernels know images: sequences are images of
// height 1, and volumes are images of each depth whose channels are those of all the depths that a filter sees.
import { InvalidArgumentError } from '@eagre/backend';
import type { ShapeLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { shown } from '../../arguments/checks.ts';
import {
  type Attrs,
  defineOp,
  execute1,
  type GradContext,
  type Op,
  opHooks,
  pair,
} from '../../dispatch/op.ts';
import { type Sample, type SampleInput, uniform, values } from '../../dispatch/samples.ts';
import {
  addDims,
  type Dim,
  type Dims,
  floorDivDims,
  isExpression,
  maxDims,
  modDims,
  mulDims,
  subDims,
} from '../../shapes/dim.ts';
import { dims, dimsOf, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { type Shape, showShape } from '../../shapes/shape.ts';
import { atMost, lessThan } from '../../shapes/shape-env.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zeros } from '../array/creation.ts';
import { gather } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { disposeAll, ownShape } from '../array/moving.ts';
import { expandDims, pad, reshape, squeeze, swapAxes, transpose } from '../array/shaping.ts';
import { reluGrad } from '../gradients.ts';
import { checkBias } from '../linalg/products.ts';
import {
  between,
  channelLast,
  channelsFirst,
  checkWindowed,
  directionsOf,
  type FormatOption,
  outputSize,
  perDirection,
  pixels,
  reachOf,
  type Sizes,
  type Strides2D,
  type Strides3D,
  type WindowPadding,
  withChannelsLast,
} from './windows.ts';

/** Options of convolutions; numbers for all directions, or one for each. */
export interface ConvOptions<S extends Sizes = Strides2D> extends FormatOption {
  /** 1 by default. */
  readonly strides?: S;
  /** `VALID` by default. */
  readonly padding?: WindowPadding;
  /** Distance of the filter's taps; 1 by default. */
  readonly dilations?: S;
}
interface GroupOptions {
  /** Channels are cut into that many groups, each with its own filters; found from the shapes unless given. */
  readonly groups?: number;
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
  const size = outputSize(between(own), dims(filter), strides, dimsOf(padding), dilations, 'Conv2D');
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

// ---- any number of directions, as images

const filterForms = ['', '[width, in, out]', '[height, width, in, out]', '[depth, height, width, in, out]'];

/** @throws InvalidArgumentError for channels that do not fit. @returns the number of groups. */
function checkGroups(x: Tensor, filter: Tensor, given: Dim | undefined, op: string): Dim {
  if (given !== undefined && typeof given !== 'number' && !isExpression(given))
    throw new InvalidArgumentError(`groups must be an integer of at least 1, got ${shown(given)}`, op);
  const [inner, out] = dims(filter).slice(-2);
  const c = dims(x)[x.rank - 1];
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
        `${groups === 1 || groups === 0 ? '' : ` in ${groups} groups`}: they do not fit`,
      op,
    );
  }
  return groups;
}

function checkFilter(filter: Tensor, rank: number, op: string): void {
  if (filter.rank !== rank + 2)
    throw new InvalidArgumentError(
      `filters have shape ${showShape(filter.shape)}, expected ${filterForms[rank]}`,
      op,
    );
}

/** Filters [depth, height, width, in, out] for images that have the channels of all depths. */
function flatFilters(filter: Tensor): Tensor {
  const [d, h, w, inner, out] = dims(filter);
  return reshape(transpose(filter, [1, 2, 0, 3, 4]), toShape([h, w, mulDims(d, inner), out]));
}

/** How a filter moves along the depth. */
interface Depth {
  readonly taps: Dim;
  readonly stride: number;
  readonly dilation: number;
  /** What is added at both ends. */
  readonly padding: readonly [Dim, Dim];
  /** Where it stops. */
  readonly steps: Dim;
  readonly groups: Dim;
}

/** Along the first of three directions. */
function depthOf(
  taps: Dim,
  strides: readonly number[],
  padding: readonly Dim[],
  dilations: readonly number[],
  steps: Dim,
  groups: Dim,
): Depth {
  const [front, back] = padding;
  return { taps, stride: strides[0], dilation: dilations[0], padding: [front, back], steps, groups };
}

/** What a kernel of images is told of sequences, which are images of height 1. */
const ofRows = (
  strides: readonly number[],
  padding: readonly Dim[],
  dilations: readonly number[],
  groups: Dim,
): ConvAttrs => ({
  strides: [1, ...strides],
  padding: toShape([0, 0, ...padding]),
  dilations: [1, ...dilations],
  groups,
});
/** What it is told of volumes, whose depth is seen to before. */
const behindDepth = (
  strides: readonly number[],
  padding: readonly Dim[],
  dilations: readonly number[],
  groups: Dim,
): ConvAttrs => ({
  strides: strides.slice(1),
  padding: toShape(padding.slice(2)),
  dilations: dilations.slice(1),
  groups,
});

/** Volumes [n, d, h, w, c] as images [n · steps, h, w, taps · c] of what a filter sees of the depth; channels of one group side by side. */
function flatVolumes(x: Tensor, { taps, stride, dilation, padding, steps, groups }: Depth): Tensor {
  const none = [0, 0] as const;
  const padded = padding.every((p) => p === 0)
    ? x
    : pad(x, [none, toShape(padding) as readonly [number, number], none, none, none]);
  const [n, , h, w, c] = dims(x);
  const places = expandDims(iota(steps, stride), 1).add(iota(taps, dilation));
  const inGroup = floorDivDims(c, groups);
  const seen = reshape(gather(padded, places, 1), toShape([n, steps, taps, h, w, groups, inGroup]));
  return reshape(
    transpose(seen, [0, 1, 3, 4, 5, 2, 6]),
    toShape([mulDims(n, steps), h, w, mulDims(c, taps)]),
  );
}

/** The convolution of images that one of other directions is. */
interface AsImages {
  readonly x: Tensor;
  readonly filter: Tensor;
  readonly attrs: ConvAttrs;
  /** The result as it was asked for. */
  readonly back: (y: Tensor) => Tensor;
}

function asImages(
  images: TensorLike,
  filters: TensorLike,
  options: ConvOptions<Sizes> & { readonly groups?: Dim },
  op: string,
  wanted?: number,
): AsImages {
  const [x, filter] = pair(images, filters, op);
  const rank = wanted ?? directionsOf(x, op);
  checkWindowed(x, rank, op);
  checkFilter(filter, rank, op);
  const groups = checkGroups(x, filter, options.groups, op);
  const strides = perDirection(options.strides ?? 1, rank, 'strides', op);
  const dilations = perDirection(options.dilations ?? 1, rank, 'dilations', op);
  const taps = dims(filter);
  const padding = pixels(options.padding ?? 'VALID', between(dims(x)), taps, strides, dilations, op);
  const size = outputSize(between(dims(x)), taps, strides, padding, dilations, op);
  if (rank === 2)
    return { x, filter, attrs: { strides, padding: toShape(padding), dilations, groups }, back: (y) => y };
  if (rank === 1) {
    const [rows, kernels] = [expandDims(x, 1), expandDims(filter, 0)];
    return {
      x: rows,
      filter: kernels,
      attrs: ofRows(strides, padding, dilations, groups),
      back: (y) => disposeAll(squeeze(y, 1), rows, kernels, y),
    };
  }
  const depth = depthOf(taps[0], strides, padding, dilations, size[0], groups);
  const shape = toShape([dims(x)[0], ...size, taps[4]]);
  return {
    x: flatVolumes(x, depth),
    filter: flatFilters(filter),
    attrs: behindDepth(strides, padding, dilations, groups),
    back: (y) => reshape(y, shape),
  };
}

function convolve(
  x: TensorLike,
  filters: TensorLike,
  options: ConvOptions<Sizes> & GroupOptions,
  op: string,
  rank?: number,
): Tensor {
  const flat = asImages(x, filters, options, op, rank);
  return flat.back(execute1(conv2dOp, [flat.x, flat.filter], flat.attrs));
}

const convKinds = { strides: kind.asIs, padding: kind.asIs, dilations: kind.asIs, dataFormat: kind.asIs };

type Convolution<S extends Sizes> = NamedFunction<
  [x: TensorLike, filters: TensorLike],
  ['x|input', 'filters'],
  ConvOptions<S> & GroupOptions
>;

/** @param called in messages. @param rank how many directions there are; those of x by default. */
const defineConvolution = <S extends Sizes>(name: string, called: string, rank?: number): Convolution<S> =>
  defineFunction(
    name,
    { 'x|input': kind.tensor, filters: kind.tensor },
    { ...convKinds, groups: kind.asIs },
    (x, filters, options) =>
      withChannelsLast(x, options, rank, called, (t, turned) => convolve(t, filters, turned, called, rank)),
  );

/**
 * Convolution of sequences [n, w, c], images [n, h, w, c] or volumes [n, d, h, w, c] with filters [..., c / groups, out], whose first axes are
 * the sizes of their windows.
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const convolution: Convolution<Sizes> = /* @__PURE__ */ defineConvolution(
  'nn.convolution',
  'convolution',
);

/**
 * Convolution of images [n, h, w, c] with filters [height, width, c / groups, out]; gives [n, h', w', out].
 * `tf.nn.conv2d(images, filters, { strides: 2, padding: 'SAME' })`
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const conv2d: Convolution<Strides2D> = /* @__PURE__ */ defineConvolution('nn.conv2d', 'Conv2D', 2);

/**
 * Convolution of volumes [n, d, h, w, c] with filters [depth, height, width, c / groups, out]; gives [n, d', h', w', out].
 * @throws InvalidArgumentError for shapes that do not fit.
 */
export const conv3d: Convolution<Strides3D> = /* @__PURE__ */ defineConvolution('nn.conv3d', 'Conv3D', 3);

/** @internal `convolution` with a bias (or null) and an activation (0 none, 1 relu), in one kernel. */
export function fusedConvolution(
  x: TensorLike,
  filters: TensorLike,
  bias: TensorLike | null,
  options: ConvOptions<Sizes> & GroupOptions & { activation?: 0 | 1 } = {},
): Tensor {
  const op = '_FusedConv2D';
  const flat = asImages(x, filters, options, op);
  const inputs = [flat.x, flat.filter];
  if (bias !== null) inputs.push(checkBias(bias, flat.filter, 3, op));
  const y = execute1(fusedConv2dOp, inputs, { ...flat.attrs, activation: options.activation ?? 0 });
  return flat.back(y);
}

/**
 * Convolution of each channel with its own `m` filters: images [n, h, w, c] and filters [height, width, c, m] give
 * [n, h', w', c · m].
 */
export const depthwiseConv2d: NamedFunction<
  [x: TensorLike, filter: TensorLike],
  ['x|input', 'filter'],
  ConvOptions
> = /* @__PURE__ */ defineFunction(
  'nn.depthwiseConv2d',
  { 'x|input': kind.tensor, filter: kind.tensor },
  convKinds,
  (x, filter, options) =>
    withChannelsLast(x, options, 2, 'DepthwiseConv2dNative', (t, turned) => depthwise(t, filter, turned)),
);

function depthwise(x: TensorLike, filter: TensorLike, options: ConvOptions): Tensor {
  const op = 'DepthwiseConv2dNative';
  const [a, f] = pair(x, filter, op);
  const images = checkWindowed(a, 2, op);
  if (f.rank !== 4 || differs(dims(f)[2], dims(images)[3])) {
    throw new InvalidArgumentError(
      `filters have shape ${showShape(f.shape)}, expected [height, width, ${dims(images)[3]}, multiplier] for x ${showShape(images.shape)}`,
      op,
    );
  }
  const [h, w, c, m] = dims(f);
  const filters = reshape(f, toShape([h, w, 1, mulDims(c, m)]));
  const { attrs } = asImages(images, filters, { ...options, groups: c }, 'Conv2D', 2);
  return disposeAll(execute1(conv2dOp, [images, filters], attrs), filters);
}

/** A depthwise convolution with [height, width, c, m], then one over channels with pointwise filters [1, 1, c · m, out]. */
export const separableConv2d: NamedFunction<
  [x: TensorLike, depthwiseFilter: TensorLike, pointwiseFilter: TensorLike],
  ['x|input', 'depthwiseFilter', 'pointwiseFilter'],
  ConvOptions
> = /* @__PURE__ */ defineFunction(
  'nn.separableConv2d',
  { 'x|input': kind.tensor, depthwiseFilter: kind.tensor, pointwiseFilter: kind.tensor },
  convKinds,
  (x, depthwiseFilter, pointwiseFilter, options) => {
    const f = toTensor(pointwiseFilter);
    if (f.rank !== 4 || differs(dims(f)[0], 1) || differs(dims(f)[1], 1)) {
      throw new InvalidArgumentError(
        `pointwise filters have shape ${showShape(f.shape)}, expected [1, 1, in, out]`,
        'separableConv2d',
      );
    }
    return withChannelsLast(x, options, 2, 'separableConv2d', (t, turned) =>
      convolve(depthwise(t, depthwiseFilter, turned), f, { groups: 1 }, 'Conv2D', 2),
    );
  },
);

// ---- the gradients of convolutions for their images

/** Of a transposed convolution: of which sizes its result is, and what a convolution of that would have. */
interface Transposed {
  readonly dy: Tensor;
  readonly filter: Tensor;
  readonly shape: Dims;
  readonly strides: readonly number[];
  readonly padding: readonly Dim[];
  readonly dilations: readonly number[];
}

function transposedArguments(
  x: TensorLike,
  filters: TensorLike,
  outputShape: Shape | null,
  options: ConvOptions<Sizes>,
  op: string,
  wanted?: number,
): Transposed {
  const [dy, filter] = pair(x, filters, op);
  const rank = wanted ?? directionsOf(dy, op);
  checkWindowed(dy, rank, op);
  const [own, taps] = [dims(dy), dims(filter)];
  if (filter.rank !== rank + 2 || differs(taps[rank + 1], own[rank + 1])) {
    throw new InvalidArgumentError(
      `filters have shape ${showShape(filter.shape)}, expected ${(filterForms[rank] as string).replace('in, out', `out, ${own[rank + 1]}`)} for x ${showShape(dy.shape)}`,
      op,
    );
  }
  const strides = perDirection(options.strides ?? 1, rank, 'strides', op);
  const dilations = perDirection(options.dilations ?? 1, rank, 'dilations', op);
  const given = options.padding ?? 'VALID';
  let shape: Dims;
  if (outputShape === null) {
    const fixed =
      typeof given === 'string'
        ? new Array<Dim>(2 * rank).fill(0)
        : pixels(given, between(own), taps, strides, dilations, op);
    const size = strides.map((stride, i) => {
      const reach = reachOf(taps[i], dilations[i]);
      const same = typeof given === 'string' && given.toUpperCase() === 'SAME';
      const n = own[i + 1];
      if (same) return mulDims(n, stride);
      const cut = addDims(fixed[2 * i], fixed[2 * i + 1]);
      return maxDims(0, subDims(addDims(mulDims(subDims(n, 1), stride), reach), cut));
    });
    shape = [own[0], ...size, taps[rank]];
  } else {
    shape = dimsOf(ownShape(outputShape, op));
  }
  const isWhole = shape.length === rank + 2;
  const padding = isWhole ? pixels(given, between(shape), taps, strides, dilations, op) : [];
  const size = isWhole ? outputSize(between(shape), taps, strides, padding, dilations, op) : [];
  if (
    !isWhole ||
    differs(shape[0], own[0]) ||
    differs(shape[rank + 1], taps[rank]) ||
    size.some((s, i) => differs(s, own[i + 1]))
  ) {
    throw new InvalidArgumentError(
      `an output of shape ${showShape(shape)} is not possible for x ${showShape(dy.shape)} and filters ${showShape(filter.shape)}`,
      op,
    );
  }
  return { dy, filter, shape, strides, padding, dilations };
}

function transposed(
  x: TensorLike,
  filters: TensorLike,
  outputShape: Shape | null,
  options: ConvOptions<Sizes>,
  op: string,
  wanted?: number,
): Tensor {
  const { dy, filter, shape, strides, padding, dilations } = transposedArguments(
    x,
    filters,
    outputShape,
    options,
    op,
    wanted,
  );
  if (dy.rank === 4)
    return inputGrad(filter, dy, toShape(shape), {
      strides,
      padding: toShape(padding),
      dilations,
      groups: 1,
    });
  if (dy.rank === 3) {
    const [rows, kernels] = [expandDims(dy, 1), expandDims(filter, 0)];
    const to = toShape([shape[0], 1, ...shape.slice(1)]);
    const y = inputGrad(kernels, rows, to, ofRows(strides, padding, dilations, 1));
    return disposeAll(squeeze(y, 1), rows, kernels, y);
  }
  const [n, steps, h, w, c] = dims(dy);
  const [, , height, width, out] = shape;
  const depth = depthOf(dims(filter)[0], strides, padding, dilations, steps, 1);
  const flat = inputGrad(
    flatFilters(filter),
    reshape(dy, toShape([mulDims(n, steps), h, w, c])),
    toShape([mulDims(n, steps), height, width, mulDims(depth.taps, out)]),
    behindDepth(strides, padding, dilations, 1),
  );
  // What each step of the depth saw is added up where it saw it.
  const space = zeros(toShape(shape), dy.dtype as 'float32');
  return opHooks.vjp(([volumes]) => [flatVolumes(volumes, depth)], [space], [flat])[0] as Tensor;
}

/** A shape with channels before the directions, as one with the channels last. */
function lastOfShape(shape: Shape | null, op: string): Shape | null {
  if (shape === null) return null;
  const own = dimsOf(ownShape(shape, op));
  return toShape(channelLast(own, own.length - 2));
}

type TransposedConvolution<S extends Sizes> = NamedFunction<
  [x: TensorLike, filters: TensorLike, outputShape: ShapeLike | null],
  ['x|input', 'filters', 'outputShape'],
  ConvOptions<S>
>;

/** As `defineConvolution`. */
const defineTransposed = <S extends Sizes>(
  name: string,
  called: string,
  rank?: number,
): TransposedConvolution<S> =>
  defineFunction(
    name,
    { 'x|input': kind.tensor, filters: kind.tensor, outputShape: kind.shape },
    convKinds,
    (x, filters, outputShape: Shape | null, options) =>
      withChannelsLast(x, options, rank, called, (t, turned, first) =>
        transposed(t, filters, first ? lastOfShape(outputShape, called) : outputShape, turned, called, rank),
      ),
  );

/**
 * The transposed convolution, which is the gradient of `conv2d`: images [n, h, w, in] and filters [height, width, out, in]
 * give `outputShape`, [n, h', w', out]. Without a shape (null): h · stride for `SAME`, else (h − 1) · stride + the filter's reach
 * less the padding.
 * @throws InvalidArgumentError when `conv2d` of `outputShape` would not give x's shape.
 */
export const conv2dTranspose: TransposedConvolution<Strides2D> = /* @__PURE__ */ defineTransposed(
  'nn.conv2dTranspose',
  'Conv2DBackpropInput',
  2,
);

/** The transposed convolution of volumes [n, d, h, w, in] with filters [depth, height, width, out, in]; see `conv2dTranspose`. */
export const conv3dTranspose: TransposedConvolution<Strides3D> = /* @__PURE__ */ defineTransposed(
  'nn.conv3dTranspose',
  'Conv3DBackpropInputV2',
  3,
);

/** The transposed convolution of sequences, images or volumes with filters [..., out, in]; see `conv2dTranspose`. */
export const convTranspose: TransposedConvolution<Sizes> = /* @__PURE__ */ defineTransposed(
  'nn.convTranspose',
  'convTranspose',
);

// ---- sequences

/** Options of convolutions over sequences. */
export interface Conv1dOptions {
  /** 1 by default. */
  readonly stride?: number;
  /** `VALID` by default; [before, after] in steps. */
  readonly padding?: 'SAME' | 'VALID' | readonly [before: number, after: number];
  /** The distance of the kernel's taps; 1 by default. */
  readonly dilations?: number;
  /** How many groups the channels are cut into, each with filters of its own; 1 by default. */
  readonly groups?: number;
  /** `NWC` by default, or `NCW`. */
  readonly dataFormat?: 'NWC' | 'NCW' | null;
}

const alongOne = ({
  stride,
  padding,
  dilations,
  groups,
}: Conv1dOptions): ConvOptions<Sizes> & GroupOptions => ({
  strides: stride ?? 1,
  padding: padding === undefined ? 'VALID' : typeof padding === 'string' ? padding : [padding],
  dilations: dilations ?? 1,
  ...(groups === undefined ? {} : { groups }),
});

/**
 * Convolution of sequences [n, w, c] with filters [width, c / groups, out]; gives [n, w', out]. There may be several batch axes
 * instead of n, but not none.
 */
export const conv1d: NamedFunction<
  [x: TensorLike, filters: TensorLike],
  ['x|input', 'filters'],
  Conv1dOptions
> = /* @__PURE__ */ defineFunction(
  'nn.conv1d',
  { 'x|input': kind.tensor, filters: kind.tensor },
  {
    stride: kind.asIs,
    padding: kind.asIs,
    dilations: kind.asIs,
    groups: kind.asIs,
    dataFormat: kind.asIs,
  },
  (x, filters, options) => {
    const [given, b] = pair(x, filters, 'conv1d');
    const first = channelsFirst(options, 1, 'conv1d');
    const a = first && given.rank >= 3 ? swapAxes(given, -2, -1) : given;
    const batch = dims(a).slice(0, -2);
    const rows = a.rank <= 3 ? a : reshape(a, toShape([sizeOfDims(batch), ...dims(a).slice(-2)]));
    const y = convolve(rows, b, alongOne(options), 'conv1d', 1);
    const all = a.rank <= 3 ? y : reshape(y, toShape([...batch, ...dims(y).slice(1)]));
    return first ? swapAxes(all, -2, -1) : all;
  },
);

/** The transposed convolution of sequences [n, w, in] with filters [width, out, in]; see `conv2dTranspose`. */
export const conv1dTranspose: NamedFunction<
  [x: TensorLike, filters: TensorLike, outputShape: ShapeLike | null],
  ['x|input', 'filters', 'outputShape'],
  Omit<Conv1dOptions, 'groups' | 'stride'> & {
    /** 1 by default. */
    readonly strides?: number;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.conv1dTranspose',
  { 'x|input': kind.tensor, filters: kind.tensor, outputShape: kind.shape },
  convKinds,
  (x, filters, outputShape: Shape | null, options) => {
    const op = 'conv1dTranspose';
    const own = alongOne({ ...options, stride: options.strides ?? 1 });
    return withChannelsLast(x, options, 1, op, (t, _, first) =>
      transposed(t, filters, first ? lastOfShape(outputShape, op) : outputShape, own, op, 1),
    );
  },
);

// Images of another size. What follows from sizes alone is computed now where they are known, otherwise in each run.
import { gather, maximum, minimum, type Tensor, transpose, unsortedSegmentSum, where } from '@eagre/core';
import {
  addDims,
  context,
  type Dim,
  dims,
  floorDivDims,
  hostDims,
  identicalDims,
  inInitScope,
  iota,
  isExpression,
  mulDims,
  sizeValue,
} from '@eagre/core/internal';
import { floating, type NodeCall, type OnnxOp, type OpTable, type Run } from '../node.ts';
import { sizeTensor } from './arrays.ts';
import { range, scalar, shaped } from './helpers.ts';

/** A number, or a scalar of float32 where only a run tells it. */
type Real = number | Tensor;

/** What one axis becomes. */
interface Axis {
  readonly from: Dim;
  readonly to: Dim;
  readonly scale: Real;
  /** Start and end, as parts of the axis, for `tf_crop_and_resize`. */
  readonly roi: readonly [Real, Real];
}

// Floats, as in ONNX Runtime: of two pixels that are equally near, the rounding chooses.
const REAL = 'float32';
const real = (value: Real): Tensor => (typeof value === 'number' ? scalar(value, REAL) : value);
const realSize = (size: Dim): Tensor => sizeTensor(size, REAL);
const half = (x: Tensor): Tensor => x.mul(real(0.5));

type Place = (i: Tensor, axis: Axis) => Tensor;
const centred: Place = (i, { scale }) => i.add(0.5).div(real(scale)).sub(0.5);

/** Where the places of the result lie in the source, by the mode. */
const PLACES: Readonly<Record<string, Place>> = {
  half_pixel: centred,
  half_pixel_symmetric: (i, axis) => {
    const size = realSize(axis.from);
    const rest = real(1).sub(realSize(axis.to).div(size.mul(real(axis.scale))));
    return centred(i, axis).add(half(size).mul(rest));
  },
  pytorch_half_pixel: (i, axis) => where(realSize(axis.to).greater(1), centred(i, axis), real(0)),
  align_corners: (i, { from, to, scale }) => {
    const size = realSize(from);
    const stretched = i.mul(size.sub(1)).div(size.mul(real(scale)).sub(1));
    return where(realSize(to).equal(1), real(0), stretched);
  },
  asymmetric: (i, { scale }) => i.div(real(scale)),
  tf_half_pixel_for_nn: (i, { scale }) => i.add(0.5).div(real(scale)),
  tf_crop_and_resize: (i, { from, to, roi }) => {
    const [start, end] = [real(roi[0]), real(roi[1])];
    const [last, steps] = [realSize(from).sub(1), realSize(to).sub(1)];
    const along = start.mul(last).add(i.mul(end.sub(start)).mul(last).div(steps));
    return where(steps.greater(0), along, half(start.add(end)).mul(last));
  },
};

const ROUNDED: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  round_prefer_floor: (x) => x.sub(0.5).ceil(),
  round_prefer_ceil: (x) => x.add(0.5).floor(),
  floor: (x) => x.floor(),
  ceil: (x) => x.ceil(),
};

/** The weight of a pixel at a distance, which is not negative. */
type Kernel = (distance: Tensor) => Tensor;
const linearKernel: Kernel = (d) => maximum(real(1).sub(d), real(0));
const cubicKernel =
  (a: number): Kernel =>
  (d) => {
    const polynomial = (...coefficients: readonly number[]): Tensor =>
      coefficients.reduce<Tensor>((sum, c) => sum.mul(d).add(c), real(0));
    const far = where(d.less(2), polynomial(a, -5 * a, 8 * a, -4 * a), real(0));
    return where(d.lessEqual(1), polynomial(a + 2, -(a + 3), 0, 1), far);
  };

interface Interpolation {
  readonly kernel: Kernel;
  readonly radius: number;
  readonly antialias: boolean;
  readonly excludeOutside: boolean;
  readonly place: Place;
  /** The value of what lies outside; null for that of the nearest pixel. */
  readonly outside: number | null;
}

/** What depends on sizes alone: a constant where they are known. */
const ofAxis = <T>(axis: Axis, make: () => T): T =>
  [axis.from, axis.to].some(isExpression) || ![axis.scale, ...axis.roi].every((v) => typeof v === 'number')
    ? make()
    : inInitScope(make);

const placesOf = (axis: Axis, place: Place): Tensor => place(iota(axis.to).cast(REAL), axis);
const within = (places: Tensor, { from }: Axis): Tensor =>
  maximum(minimum(places, realSize(from).sub(1)), real(0));

/** The weights of all pixels of an axis for each place of the result, [to, from], and which places lie outside. */
function weightsOf(axis: Axis, how: Interpolation): { rows: Tensor; outside: Tensor | null } {
  const { from, to, scale } = axis;
  const x = placesOf(axis, how.place);
  const stretch = how.antialias ? maximum(real(1).div(real(scale)), real(1)) : real(1);
  const reach = how.antialias ? wholeSize(stretch.mul(how.radius).ceil()) : how.radius;
  // As many pixels on each side as the kernel reaches: [to, pixels].
  const offsets = iota(addDims(mulDims(reach, 2), 1))
    .cast(REAL)
    .sub(realSize(reach));
  const at = x.floor().expandDims(1).add(offsets);
  const known = how.kernel(at.sub(x.expandDims(1)).abs().div(stretch));
  const inside = within(at, axis);
  const weights = how.excludeOutside ? where(at.equal(inside), known, real(0)) : known;
  const rows = iota(to).cast('int64').mul(sizeTensor(from, 'int64'));
  const cells = rows.expandDims(1).add(inside.cast('int64'));
  const sums = unsortedSegmentSum(
    shaped(weights.div(weights.sum(1, { keepdims: true })), [-1]),
    shaped(cells, [-1]),
    sizeValue(mulDims(to, from), 'int64') as number,
  );
  const outside = how.outside === null ? null : x.less(0).logicalOr(x.greater(realSize(from).sub(1)));
  return { rows: shaped(sums, [to, from]), outside };
}

function alongAxis(x: Tensor, axis: number, fn: (last: Tensor) => Tensor): Tensor {
  const last = x.rank - 1;
  if (axis === last) return fn(x);
  const order = range(0, x.rank).map((i) => (i === axis ? last : i === last ? axis : i));
  return transpose(fn(transpose(x, order)), order);
}

function resizedAxis(x: Tensor, axis: number, info: Axis, how: Interpolation): Tensor {
  const { rows, outside } = ofAxis(info, () => {
    const weights = weightsOf(info, how);
    return { ...weights, rows: weights.rows.cast(x.dtype) };
  });
  return alongAxis(x, axis, (t) => {
    const y = t.matmul(rows, { transposeB: true });
    return outside === null ? y : outside.where(how.outside ?? 0, y);
  });
}

// More than any image or signal has.
const MOST_SIZE = 2 ** 26;

/** A size that floats give, which may be of a run. */
const wholeSize = (x: Tensor): Dim =>
  hostDims(maximum(x.floor(), real(0)).cast('int64').reshape([1]), 'a size', 'Resize')[0] as Dim;

/** How long an axis becomes: onnxruntime multiplies floats. */
function scaledSize(from: Dim, scale: Real): Dim {
  if (typeof from === 'number' && typeof scale === 'number') return Math.floor(Math.fround(from * scale));
  if (typeof scale === 'number') {
    // Of halves, quarters and so on nothing is lost: a size that follows from another is known to.
    const parts = [1, 2, 4, 8, 16, 32, 64].find((n) => Number.isInteger(scale * n) && scale * n <= 1024);
    if (parts !== undefined) return floorDivDims(mulDims(from, scale * parts), parts);
  }
  return wholeSize(realSize(from).mul(real(scale)));
}

/** The sizes of the result, and by how much each axis grows. */
function axesOf(node: NodeCall, x: Tensor, old: boolean): (Axis | null)[] {
  const { rank } = x;
  const shape = dims(x);
  const axes = node.attrs.has('axes')
    ? node.attrs.ints('axes').map((a) => node.axis(a, rank))
    : range(0, rank);
  const bySizes = !old && node.maybe(3) !== null && node.x(3).size > 0;
  const roi = !old && node.maybe(1) !== null ? reals(node, 1) : [];
  const found: (Axis | null)[] = shape.map(() => null);
  const policy = node.attrs.text('keep_aspect_ratio_policy', 'stretch');
  const sizes = bySizes ? node.sizes(3) : [];
  const scales = bySizes
    ? []
    : node.attrs.has('scales')
      ? node.attrs.floats('scales')
      : reals(node, old ? 1 : 2);
  if ((bySizes ? sizes : scales).length !== axes.length)
    node.fail(`there are ${(bySizes ? sizes : scales).length} sizes or scales for ${axes.length} axes`);
  const ratios = axes.map((axis, i) => (bySizes ? ratio(sizes[i] as Dim, shape[axis] as Dim) : 1));
  const common =
    !bySizes || policy === 'stretch' ? null : policy === 'not_larger' ? least(ratios) : most(ratios);
  axes.forEach((axis, i) => {
    const from = shape[axis] as Dim;
    const scale = bySizes ? (common ?? (ratios[i] as Real)) : (scales[i] as Real);
    const to = !bySizes
      ? scaledSize(from, scale)
      : common === null
        ? (sizes[i] as Dim)
        : typeof common === 'number' && typeof from === 'number'
          ? Math.floor(common * from + 0.5)
          : wholeSize(real(common).mul(realSize(from)).add(0.5));
    if (typeof to === 'number' && !(to >= 0 && to <= MOST_SIZE))
      node.fail(`axis ${axis} cannot be resized from ${from} to ${to}`);
    const part: readonly [Real, Real] =
      roi.length === 0 ? [0, 1] : [roi[i] as Real, roi[i + axes.length] as Real];
    found[axis] = { from, to, scale, roi: part };
  });
  return found;
}

function ratio(to: Dim, from: Dim): Real {
  if (typeof to === 'number' && typeof from === 'number') return to / from;
  return identicalDims(to, from) ? 1 : realSize(to).div(realSize(from));
}
const numbers = (list: readonly Real[]): list is readonly number[] =>
  list.every((v) => typeof v === 'number');
const least = (list: readonly Real[]): Real =>
  numbers(list) ? Math.min(...list) : list.map(real).reduce((a, b) => minimum(a, b));
const most = (list: readonly Real[]): Real =>
  numbers(list) ? Math.max(...list) : list.map(real).reduce((a, b) => maximum(a, b));

/** The numbers of an input: scalars where only a run tells them. */
function reals(node: NodeCall, input: number): readonly Real[] {
  const x = node.x(input);
  if (context.tracer === null || context.tracer.constant(x) !== null) return node.numbers(input);
  const count = dims(x)[0];
  if (typeof count !== 'number') return node.numbers(input);
  return range(0, count).map((i) => x.at(i).cast(REAL));
}

const resized: Run = (node) => {
  const { attrs } = node;
  const x = node.x();
  const old = node.opset < 11;
  const mode = attrs.text('mode', 'nearest');
  const coordinates = old ? 'asymmetric' : attrs.text('coordinate_transformation_mode', 'half_pixel');
  const place =
    own(PLACES, coordinates) ?? node.fail(`the coordinate_transformation_mode '${coordinates}' is unknown`);
  const axes = axesOf(node, x, old);
  const crop = coordinates === 'tf_crop_and_resize';
  const idle = (axis: Axis): boolean => identicalDims(axis.from, axis.to) && axis.scale === 1 && !crop;
  if (mode === 'nearest') {
    const rounding = old ? 'floor' : attrs.text('nearest_mode', 'round_prefer_floor');
    const rounded = own(ROUNDED, rounding) ?? node.fail(`the nearest_mode '${rounding}' is unknown`);
    return axes.reduce((y, axis, i) => {
      if (axis === null || idle(axis)) return y;
      const places = ofAxis(axis, () => within(rounded(placesOf(axis, place)), axis).cast('int32'));
      return gather(y, places, i);
    }, x.identity());
  }
  if (!['linear', 'bilinear', 'cubic'].includes(mode))
    node.unsupported(`the mode '${mode}' is not translated`);
  const cubic = mode === 'cubic';
  const how: Interpolation = {
    kernel: cubic ? cubicKernel(attrs.float('cubic_coeff_a', -0.75)) : linearKernel,
    radius: cubic ? 2 : 1,
    antialias: attrs.int('antialias', 0) === 1,
    excludeOutside: attrs.int('exclude_outside', 0) === 1,
    place,
    outside: crop ? attrs.float('extrapolation_value', 0) : null,
  };
  const work = floating(x.dtype) ? x : x.cast('float32');
  const y = axes.reduce(
    (t, axis, i) => (axis === null || idle(axis) ? t : resizedAxis(t, i, axis, how)),
    work.identity(),
  );
  return y.cast(x.dtype);
};
const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

export const resizing: OpTable = {
  Resize: { constants: [1, 2, 3], run: resized } satisfies OnnxOp,
  Upsample: { constants: [1], run: resized } satisfies OnnxOp,
};

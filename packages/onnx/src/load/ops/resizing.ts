// Images of another size.
import { constant, gather, type Tensor, transpose } from '@eagre/core';
import { floating, type NodeCall, type OpTable, type Run } from '../node.ts';
import { range } from './helpers.ts';

/** What one axis becomes. */
interface Axis {
  readonly from: number;
  readonly to: number;
  readonly scale: number;
  /** Start and end, as parts of the axis, for `tf_crop_and_resize`. */
  readonly roi: readonly [number, number];
}

/** Where the place `i` of the result lies in the source. */
function sourceOf(mode: string, i: number, { from, to, scale, roi: [start, end] }: Axis): number {
  switch (mode) {
    case 'half_pixel':
      return (i + 0.5) / scale - 0.5;
    case 'half_pixel_symmetric': {
      const adjustment = to / (scale * from);
      return (from / 2) * (1 - adjustment) + (i + 0.5) / scale - 0.5;
    }
    case 'pytorch_half_pixel':
      return to > 1 ? (i + 0.5) / scale - 0.5 : 0;
    case 'align_corners':
      return to === 1 ? 0 : (i * (from - 1)) / (scale * from - 1);
    case 'asymmetric':
      return i / scale;
    case 'tf_half_pixel_for_nn':
      return (i + 0.5) / scale;
    case 'tf_crop_and_resize':
      return to > 1
        ? start * (from - 1) + (i * (end - start) * (from - 1)) / (to - 1)
        : 0.5 * (start + end) * (from - 1);
    default:
      return Number.NaN;
  }
}

function nearestOf(mode: string, x: number): number {
  switch (mode) {
    case 'round_prefer_floor':
      return Math.ceil(x - 0.5);
    case 'round_prefer_ceil':
      return Math.floor(x + 0.5);
    case 'floor':
      return Math.floor(x);
    case 'ceil':
      return Math.ceil(x);
    default:
      return Number.NaN;
  }
}

/** The weight of a pixel at a distance. */
type Kernel = (distance: number) => number;
const linearKernel: Kernel = (d) => Math.max(0, 1 - Math.abs(d));
const cubicKernel =
  (a: number): Kernel =>
  (given) => {
    const d = Math.abs(given);
    if (d <= 1) return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1;
    return d < 2 ? a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a : 0;
  };

interface Interpolation {
  readonly kernel: Kernel;
  readonly radius: number;
  readonly antialias: boolean;
  readonly excludeOutside: boolean;
  readonly place: (i: number, axis: Axis) => number;
  /** The value of what lies outside; null for that of the nearest pixel. */
  readonly outside: number | null;
}

/** The weights of all pixels of an axis for each place of the result, and which places lie outside. */
function weightsOf(axis: Axis, how: Interpolation): { rows: Float64Array; outside: boolean[] } {
  const { from, to, scale } = axis;
  const rows = new Float64Array(to * from);
  const outside: boolean[] = [];
  const stretch = how.antialias && scale < 1 ? 1 / scale : 1;
  for (let i = 0; i < to; i++) {
    const x = how.place(i, axis);
    outside.push(how.outside !== null && (x < 0 || x > from - 1));
    const reach = how.radius * stretch;
    const first = Math.floor(x - reach) + (how.antialias ? 0 : 1);
    const last = Math.ceil(x + reach) - (how.antialias ? 0 : 1);
    let sum = 0;
    const taps: [number, number][] = [];
    for (let at = Math.min(first, Math.floor(x)); at <= Math.max(last, Math.floor(x) + 1); at++) {
      const inside = at >= 0 && at < from;
      if (!inside && how.excludeOutside) continue;
      const weight = how.kernel((at - x) / stretch);
      if (weight === 0) continue;
      taps.push([Math.min(from - 1, Math.max(0, at)), weight]);
      sum += weight;
    }
    for (const [at, weight] of taps) rows[i * from + at] = (rows[i * from + at] as number) + weight / sum;
  }
  return { rows, outside };
}

function alongAxis(x: Tensor, axis: number, fn: (last: Tensor) => Tensor): Tensor {
  const last = x.rank - 1;
  if (axis === last) return fn(x);
  const order = range(0, x.rank).map((i) => (i === axis ? last : i === last ? axis : i));
  return transpose(fn(transpose(x, order)), order);
}

function resizedAxis(x: Tensor, axis: number, info: Axis, how: Interpolation): Tensor {
  const { rows, outside } = weightsOf(info, how);
  const matrix = constant({ data: rows, shape: [info.to, info.from], dtype: 'float64' }).cast(x.dtype);
  return alongAxis(x, axis, (t) => {
    const y = t.matmul(matrix, { transposeB: true });
    if (!outside.includes(true)) return y;
    return constant(outside).where(how.outside ?? 0, y);
  });
}

// More than any image or signal has.
const MOST_SIZE = 2 ** 26;

/** The sizes of the result, and by how much each axis grows. */
function axesOf(node: NodeCall, x: Tensor, old: boolean): (Axis | null)[] {
  const { shape, rank } = x;
  const axes = node.attrs.has('axes')
    ? node.attrs.ints('axes').map((a) => node.axis(a, rank))
    : range(0, rank);
  const scaleInput = old ? 1 : 2;
  const bySizes = !old && node.maybe(3) !== null && node.x(3).size > 0;
  const roi = !old && node.maybe(1) !== null ? node.numbers(1) : [];
  const found: (Axis | null)[] = shape.map(() => null);
  const policy = node.attrs.text('keep_aspect_ratio_policy', 'stretch');
  const sizes = bySizes ? node.ints(3) : [];
  const scales = bySizes ? [] : scalesOf(node, scaleInput);
  if ((bySizes ? sizes : scales).length !== axes.length)
    node.fail(`there are ${(bySizes ? sizes : scales).length} sizes or scales for ${axes.length} axes`);
  let common = 0;
  if (bySizes && policy !== 'stretch') {
    const ratios = axes.map((axis, i) => (sizes[i] as number) / (shape[axis] as number));
    common = policy === 'not_larger' ? Math.min(...ratios) : Math.max(...ratios);
  }
  axes.forEach((axis, i) => {
    const from = shape[axis] as number;
    const to = bySizes
      ? common === 0
        ? (sizes[i] as number)
        : Math.floor(common * from + 0.5)
      : Math.floor(from * (scales[i] as number));
    if (!(to >= 0 && to <= MOST_SIZE)) node.fail(`axis ${axis} cannot be resized from ${from} to ${to}`);
    const scale = bySizes ? (common === 0 ? to / from : common) : (scales[i] as number);
    const part: readonly [number, number] =
      roi.length === 0 ? [0, 1] : [roi[i] as number, roi[i + axes.length] as number];
    found[axis] = { from, to, scale, roi: part };
  });
  return found;
}

function scalesOf(node: NodeCall, input: number): readonly number[] {
  return node.attrs.has('scales') ? node.attrs.floats('scales') : node.numbers(input);
}

const resized: Run = (node) => {
  const { attrs } = node;
  const x = node.x();
  const old = node.opset < 11;
  const mode = attrs.text('mode', 'nearest');
  const coordinates = old ? 'asymmetric' : attrs.text('coordinate_transformation_mode', 'half_pixel');
  if (Number.isNaN(sourceOf(coordinates, 0, { from: 2, to: 4, scale: 2, roi: [0, 1] })))
    node.fail(`the coordinate_transformation_mode '${coordinates}' is unknown`);
  const place = (i: number, axis: Axis): number => sourceOf(coordinates, i, axis);
  const axes = axesOf(node, x, old);
  const crop = coordinates === 'tf_crop_and_resize';
  const idle = (axis: Axis | null): boolean =>
    axis === null || (axis.from === axis.to && axis.scale === 1 && !crop);
  if (mode === 'nearest') {
    const rounding = old ? 'floor' : attrs.text('nearest_mode', 'round_prefer_floor');
    if (Number.isNaN(nearestOf(rounding, 0))) node.fail(`the nearest_mode '${rounding}' is unknown`);
    return axes.reduce((y, axis, i) => {
      if (axis === null || idle(axis)) return y;
      const places = range(0, axis.to).map((at) =>
        Math.min(axis.from - 1, Math.max(0, nearestOf(rounding, place(at, axis)))),
      );
      return gather(y, constant(places, 'int32').reshape([-1]), i);
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

export const resizing: OpTable = {
  Resize: { hosts: [1, 2, 3], run: resized },
  Upsample: { hosts: [1], run: resized },
};

import {
  InternalError,
  InvalidArgumentError,
  type Kernel,
  type KernelName,
  type NumericDType,
  type TensorRef,
} from '@eagre/backend';
import { castNumber, saturateBig } from './numeric.ts';
import { bigints, list, type NumberArray, numbers, product, view } from './view.ts';

/** The elements for a kernel that only moves them: typed as numbers, though int64's bigints pass through just as well. */
export function movable(t: TensorRef): NumberArray {
  return view(t) as NumberArray;
}

/** A number as an element of t, for writing it into `movable(t)`. */
export function element(t: TensorRef, value: number): number {
  if (t.dtype === 'int64') return saturateBig(value) as unknown as number;
  return castNumber(value, t.dtype as Exclude<NumericDType, 'int64'>);
}

/** Row-major strides. */
export function strides(shape: readonly number[]): number[] {
  const result = Array<number>(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) result[axis] = result[axis + 1] * shape[axis + 1];
  return result;
}

/** For every axis and every position on it, what it adds to the place of an element in another tensor. */
type Places = readonly (readonly number[])[];

function places(shape: readonly number[], place: (axis: number, i: number) => number): Places {
  // An axis beside one of size 0 may be longer than any memory.
  if (product(shape) === 0) return shape.map(() => []);
  return shape.map((n, axis) => Array.from({ length: n }, (_, i) => place(axis, i)));
}

/** Visits all positions in row-major order: `i` counts them, `place` is the sum of what their axes add. */
function forEachPlace(places: Places, visit: (i: number, place: number) => void): void {
  const count = product(places.map((axis) => axis.length));
  if (count === 0) return;
  const inner = places.length === 0 ? [0] : places[places.length - 1];
  const outer = places.slice(0, -1);
  const at = outer.map(() => 0);
  for (let i = 0; i < count; ) {
    let start = 0;
    for (let axis = 0; axis < outer.length; axis++) start += outer[axis][at[axis]];
    for (const offset of inner) visit(i++, start + offset);
    for (let axis = outer.length - 1; axis >= 0 && ++at[axis] === outer[axis].length; axis--) at[axis] = 0;
  }
}

/** y[i] = x[place of i] */
function take(x: TensorRef, y: TensorRef, from: Places): void {
  const data = movable(x);
  const out = movable(y);
  forEachPlace(from, (i, place) => {
    out[i] = data[place];
  });
}

/** y[place of i] = x[i] */
function put(x: TensorRef, y: TensorRef, to: Places): void {
  const data = movable(x);
  const out = movable(y);
  forEachPlace(to, (i, place) => {
    out[place] = data[i];
  });
}

/** Where position `i` of an axis that was padded comes from; -1 for the constant. */
function padSource(i: number, n: number, before: number, mode: number): number {
  const at = i - before;
  if (at >= 0 && at < n) return at;
  if (mode === 0) return -1;
  const edge = mode === 2 ? 1 : 0;
  return at < 0 ? -at - edge : 2 * n - 2 + edge - at;
}

/** The places in `small` of the elements of `large`; negative for the constant. */
function padPlaces(
  small: TensorRef,
  large: TensorRef,
  before: readonly number[],
  after: readonly number[],
  mode: number,
  op: string,
): Places {
  small.shape.forEach((n, axis) => {
    const most = mode === 0 ? Infinity : mode === 1 ? n - 1 : n;
    if ((before[axis] > 0 || after[axis] > 0) && Math.max(before[axis], after[axis]) > most) {
      throw new InvalidArgumentError(`axis ${axis} of size ${n} is too short to mirror`, op);
    }
  });
  const steps = strides(small.shape);
  return places(large.shape, (axis, i) => {
    const source = padSource(i, small.shape[axis], before[axis], mode);
    return source < 0 ? -Infinity : source * steps[axis];
  });
}

function pad(
  x: TensorRef,
  y: TensorRef,
  before: readonly number[],
  after: readonly number[],
  mode: number,
  value: number,
): void {
  const constant = element(y, value);
  const data = movable(x);
  const out = movable(y);
  forEachPlace(padPlaces(x, y, before, after, mode, 'Pad'), (i, place) => {
    out[i] = place < 0 ? constant : data[place];
  });
}

function mirrorPadGrad(
  dy: TensorRef,
  dx: TensorRef,
  before: readonly number[],
  after: readonly number[],
  mode: number,
): void {
  const from = padPlaces(dx, dy, before, after, mode, 'MirrorPadGrad');
  if (dx.dtype === 'int64') {
    const data = bigints(dy);
    const out = bigints(dx).fill(0n);
    forEachPlace(from, (i, place) => {
      out[place] += data[i];
    });
    return;
  }
  const data = numbers(dy);
  const sums = new Float64Array(dx.size);
  forEachPlace(from, (i, place) => {
    sums[place] += data[i];
  });
  numbers(dx).set(sums);
}

/** The places in `whole` of its region begin + i · steps. */
function slicePlaces(
  whole: TensorRef,
  part: TensorRef,
  begin: readonly number[],
  step: readonly number[],
): Places {
  const steps = strides(whole.shape);
  return places(part.shape, (axis, i) => {
    const at = begin[axis] + i * step[axis];
    if (at < 0 || at >= whole.shape[axis]) throw new InternalError(`slice of axis ${axis} leaves the tensor`);
    return at * steps[axis];
  });
}

function concat(inputs: readonly TensorRef[], y: TensorRef, axis: number): void {
  const steps = strides(y.shape);
  let start = 0;
  for (const x of inputs) {
    const offset = start;
    put(
      x,
      y,
      places(x.shape, (k, i) => (k === axis ? offset + i : i) * steps[k]),
    );
    start += x.shape[axis];
  }
  if (start !== y.shape[axis]) throw new InternalError('the inputs do not fill the output', 'Concat');
}

export const kernels: Partial<Record<KernelName, Kernel>> = {
  Transpose: ([x], [y], attrs) => {
    const perm = list(attrs.perm);
    const steps = strides(x.shape);
    take(
      x,
      y,
      places(y.shape, (axis, i) => i * steps[perm[axis]]),
    );
  },
  Reverse: ([x], [y], attrs) => {
    const axes = list(attrs.axes);
    const steps = strides(x.shape);
    take(
      x,
      y,
      places(y.shape, (axis, i) => (axes.includes(axis) ? x.shape[axis] - 1 - i : i) * steps[axis]),
    );
  },
  Pad: ([x], [y], attrs) =>
    pad(x, y, list(attrs.before), list(attrs.after), attrs.mode as number, attrs.value as number),
  MirrorPadGrad: ([dy], [dx], attrs) =>
    mirrorPadGrad(dy, dx, list(attrs.before), list(attrs.after), attrs.mode as number),
  Slice: ([x], [y], attrs) => take(x, y, slicePlaces(x, y, list(attrs.begin), list(attrs.strides))),
  SliceGrad: ([dy], [dx], attrs) => {
    movable(dx).fill(element(dx, 0));
    put(dy, dx, slicePlaces(dx, dy, list(attrs.begin), list(attrs.strides)));
  },
  Concat: (inputs, [y], attrs) => concat(inputs, y, attrs.axis as number),
  Tile: ([x], [y]) => {
    const steps = strides(x.shape);
    take(
      x,
      y,
      places(y.shape, (axis, i) => (i % x.shape[axis]) * steps[axis]),
    );
  },
};

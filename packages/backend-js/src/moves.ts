import {
  InternalError,
  InvalidArgumentError,
  isBig,
  type Kernel,
  type KernelName,
  list,
  type NumericDType,
  storedElement,
  stridesOf,
  type TensorRef,
} from '@eagre/backend';
import { bigints, type NumberArray, numbers, view } from './view.ts';

/** The elements for a kernel that only moves them: typed as numbers, though bigints pass through just as well. */
export function movable(t: TensorRef): NumberArray {
  return view(t) as NumberArray;
}

/** A number as an element of t, for writing it into `movable(t)`. */
export function element(t: TensorRef, value: number): number {
  return storedElement(value, t.dtype as NumericDType) as number;
}

/** Positions of an axis one after another: `count` of them, whose places in another tensor begin at `start` and are `step` apart. */
interface Run {
  readonly count: number;
  readonly start: number;
  readonly step: number;
}
/** An axis: its runs, and all of them again, `times` in all. A table of its positions could outgrow every array. */
interface Axis {
  readonly runs: readonly Run[];
  readonly times: number;
}

const axisOf = (...runs: Run[]): Axis => ({ runs: runs.filter((run) => run.count > 0), times: 1 });

/**
 * Visits all positions in row-major order, run by run of the last axis: position `i + k` has the place `place + k · step`, the sum of what
 * its axes say, for k below `count`.
 */
function forEachRun(
  axes: readonly Axis[],
  visit: (i: number, place: number, step: number, count: number) => void,
): void {
  // An axis beside one of size 0 may be longer than any time.
  if (axes.some(({ runs, times }) => runs.length === 0 || times === 0)) return;
  const last = axes.length - 1;
  let i = 0;
  const walk = (axis: number, from: number): void => {
    const { runs, times } = axes[axis];
    for (let t = 0; t < times; t++) {
      for (const { count, start, step } of runs) {
        let place = from + start;
        if (axis === last) {
          visit(i, place, step, count);
          i += count;
        } else for (let k = 0; k < count; k++, place += step) walk(axis + 1, place);
      }
    }
  };
  if (last < 0) visit(0, 0, 0, 1);
  else walk(0, 0);
}

// Shorter runs are copied faster one by one.
const BULK = 32;

/** y[i] = x[place of i], or `constant` where that is negative. */
function take(x: TensorRef, y: TensorRef, from: readonly Axis[], constant = 0): void {
  const data = movable(x);
  const out = movable(y);
  forEachRun(from, (i, place, step, count) => {
    if (place < 0) out.fill(constant, i, i + count);
    else if (count < BULK || (step !== 0 && step !== 1))
      for (let k = 0; k < count; k++) out[i + k] = data[place + k * step];
    else if (step === 0) out.fill(data[place], i, i + count);
    else out.set(data.subarray(place, place + count), i);
  });
}

/** y[place of i] = x[i] */
function put(x: TensorRef, y: TensorRef, to: readonly Axis[]): void {
  const data = movable(x);
  const out = movable(y);
  forEachRun(to, (i, place, step, count) => {
    if (step === 1 && count >= BULK) out.set(data.subarray(i, i + count), place);
    else for (let k = 0; k < count; k++) out[place + k * step] = data[i + k];
  });
}

/** The places in `small` of the elements of `large`; negative for the constant. */
function padPlaces(
  small: TensorRef,
  before: readonly number[],
  after: readonly number[],
  mode: number,
  op: string,
): Axis[] {
  const steps = stridesOf(small.shape);
  const edge = mode === 2 ? 1 : 0;
  return small.shape.map((n, axis) => {
    const most = mode === 0 ? Infinity : n - 1 + edge;
    const [left, right, step] = [before[axis], after[axis], steps[axis]];
    if ((left > 0 || right > 0) && Math.max(left, right) > most)
      throw new InvalidArgumentError(`axis ${axis} of size ${n} is too short to mirror`, op);
    const around = (count: number, source: number): Run =>
      mode === 0 ? { count, start: -Infinity, step: 0 } : { count, start: source * step, step: -step };
    return axisOf(around(left, left - edge), { count: n, start: 0, step }, around(right, n - 2 + edge));
  });
}

function mirrorPadGrad(
  dy: TensorRef,
  dx: TensorRef,
  before: readonly number[],
  after: readonly number[],
  mode: number,
): void {
  const from = padPlaces(dx, before, after, mode, 'MirrorPadGrad');
  if (isBig(dx.dtype)) {
    const data = bigints(dy);
    const out = bigints(dx).fill(0n);
    forEachRun(from, (i, place, step, count) => {
      for (let k = 0; k < count; k++) out[place + k * step] += data[i + k];
    });
    return;
  }
  const data = numbers(dy);
  const sums = new Float64Array(dx.size);
  forEachRun(from, (i, place, step, count) => {
    for (let k = 0; k < count; k++) sums[place + k * step] += data[i + k];
  });
  numbers(dx).set(sums);
}

/** The places in `whole` of its region begin + i · steps. */
function slicePlaces(
  whole: TensorRef,
  part: TensorRef,
  begin: readonly number[],
  step: readonly number[],
): Axis[] {
  const steps = stridesOf(whole.shape);
  return part.shape.map((count, axis) => {
    const first = begin[axis];
    const last = first + (count - 1) * step[axis];
    const n = whole.shape[axis];
    if (count > 0 && (Math.min(first, last) < 0 || Math.max(first, last) >= n))
      throw new InvalidArgumentError(`slice of axis ${axis} leaves the tensor`);
    return axisOf({ count, start: first * steps[axis], step: step[axis] * steps[axis] });
  });
}

function concat(inputs: readonly TensorRef[], y: TensorRef, axis: number): void {
  const steps = stridesOf(y.shape);
  let start = 0;
  for (const x of inputs) {
    const offset = start;
    put(
      x,
      y,
      x.shape.map((count, k) => axisOf({ count, start: k === axis ? offset * steps[k] : 0, step: steps[k] })),
    );
    start += x.shape[axis];
  }
  if (start !== y.shape[axis]) throw new InternalError('the inputs do not fill the output', 'Concat');
}

/** The kernels of elements that change their places. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Transpose: ([x], [y], attrs) => {
    const perm = list(attrs.perm);
    const steps = stridesOf(x.shape);
    take(
      x,
      y,
      y.shape.map((count, axis) => axisOf({ count, start: 0, step: steps[perm[axis]] })),
    );
  },
  Reverse: ([x], [y], attrs) => {
    const axes = list(attrs.axes);
    const steps = stridesOf(x.shape);
    take(
      x,
      y,
      y.shape.map((count, axis) => {
        const step = steps[axis];
        return axisOf(
          axes.includes(axis) ? { count, start: (count - 1) * step, step: -step } : { count, start: 0, step },
        );
      }),
    );
  },
  Pad: ([x], [y], attrs) =>
    take(
      x,
      y,
      padPlaces(x, list(attrs.before), list(attrs.after), attrs.mode as number, 'Pad'),
      element(y, attrs.value as number),
    ),
  MirrorPadGrad: ([dy], [dx], attrs) =>
    mirrorPadGrad(dy, dx, list(attrs.before), list(attrs.after), attrs.mode as number),
  Slice: ([x], [y], attrs) => take(x, y, slicePlaces(x, y, list(attrs.begin), list(attrs.strides))),
  SliceGrad: ([dy], [dx], attrs) => {
    movable(dx).fill(element(dx, 0));
    put(dy, dx, slicePlaces(dx, dy, list(attrs.begin), list(attrs.strides)));
  },
  Concat: (inputs, [y], attrs) => concat(inputs, y, attrs.axis as number),
  Tile: ([x], [y]) => {
    if (y.size === 0) return;
    const steps = stridesOf(x.shape);
    take(
      x,
      y,
      y.shape.map((count, axis) => {
        const n = x.shape[axis];
        if (n === 1) return axisOf({ count, start: 0, step: 0 });
        return { runs: [{ count: n, start: 0, step: steps[axis] }], times: count / n };
      }),
    );
  },
};

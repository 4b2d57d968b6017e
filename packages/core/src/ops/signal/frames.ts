// Signals as frames that overlap, and back.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { addDims, type Dim, floorDivDims, maxDims, mulDims, subDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, normalizeAxis, showShape } from '../../shapes/shape.ts';
import { checkSize, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { pad, reshape, swapAxes } from '../array/shaping.ts';

const negated = (d: Dim): Dim => subDims(0, d);
/** ⌈a / b⌉. */
const ceilDiv = (a: Dim, b: Dim): Dim => negated(floorDivDims(negated(a), b));

/** Options of `frame`. */
export interface FrameOptions {
  /** Whether the end is filled up, so that no number is left out; false by default. */
  readonly padEnd?: boolean;
  /** What it is filled with, 0 by default. */
  readonly padValue?: number;
}

/**
 * Frames of `frameLength` numbers along an axis, the last by default, each `frameStep` behind the one before: [..., n, ...] gives
 * [..., frames, frameLength, ...].
 *
 *     tf.signal.frame([1, 2, 3, 4, 5], 3, 2); // [[1, 2, 3], [3, 4, 5]]
 *
 * @throws InvalidArgumentError for scalars, and lengths that are none.
 */
export const frame: NamedFunction<
  [signal: TensorLike, frameLength: IntegerLike, frameStep: IntegerLike],
  ['signal', 'frameLength', 'frameStep'],
  FrameOptions & {
    /** The axis that is cut into frames; the last by default. */
    readonly axis?: IntegerLike;
  }
> = /* @__PURE__ */ defineFunction(
  'signal.frame',
  { signal: kind.tensor, frameLength: kind.size, frameStep: kind.size },
  { padEnd: kind.asIs, padValue: kind.asIs, axis: kind.axis },
  (signal, frameLength, frameStep, { padEnd, padValue = 0, axis = -1 }) => {
    const name = 'signal.frame';
    let x = toTensor(signal);
    checkDType(x.dtype, 'any', 'signal', name);
    if (x.rank === 0) throw new InvalidArgumentError('signal is a scalar, expected rank 1 or more', name);
    const place = normalizeAxis(axis as number, x.rank, name);
    const length = checkSize(frameLength, 'frameLength', name, 1);
    const step = checkSize(frameStep, 'frameStep', name, 1);
    const n = dims(x)[place];
    let count = maxDims(0, addDims(floorDivDims(subDims(n, length), step), 1));
    if (checkFlag(padEnd, 'padEnd', name)) {
      if (typeof padValue !== 'number')
        throw new InvalidArgumentError(`padValue is ${String(padValue)}, expected a number`, name);
      count = ceilDiv(n, step);
      const more = maxDims(0, subDims(addDims(length, mulDims(step, subDims(count, 1))), n));
      const paddings = dims(x).map((_, i) => toShape(i === place ? [0, more] : [0, 0])) as never;
      x = pad(x, paddings, { constantValues: padValue });
    }
    return x.gather(iota(count).mul(sizeValue(step, 'int32')).expandDims(1).add(iota(length)), place);
  },
);

/**
 * The sums of frames that overlap: [..., frames, frameLength], each frame `frameStep` behind the one before, gives
 * [..., (frames − 1) · frameStep + frameLength].
 * @throws InvalidArgumentError for what has less than two axes, and steps that are none.
 */
export const overlapAndAdd: NamedFunction<
  [signal: TensorLike, frameStep: IntegerLike],
  ['signal', 'frameStep']
> = /* @__PURE__ */ defineFunction(
  'signal.overlapAndAdd',
  { signal: kind.tensor, frameStep: kind.size },
  {},
  (signal, frameStep) => {
    const name = 'signal.overlapAndAdd';
    const x = toTensor(signal);
    checkDType(x.dtype, 'numeric', 'signal', name);
    if (x.rank < 2)
      throw new InvalidArgumentError(`signal has shape ${showShape(x.shape)}, expected rank 2 or more`, name);
    const step = checkSize(frameStep, 'frameStep', name, 1);
    const lead = dims(x).slice(0, -2);
    const [frames, length] = dims(x).slice(-2);
    // Each frame as segments as long as the step: those of one number in their frames lie behind each other in the sum.
    const segments = ceilDiv(length, step);
    const widened = padded(x, 1, subDims(mulDims(segments, step), length));
    const cut = reshape(widened, toShape([...lead, frames, segments, step]));
    const rows = padded(swapAxes(cut, -3, -2), 2, segments);
    // One row less in each, so that each begins one place later than the one before.
    const all = addDims(frames, segments);
    const flat = reshape(rows, toShape([...lead, mulDims(mulDims(segments, all), step)]));
    const shorter = mulDims(mulDims(segments, subDims(all, 1)), step);
    const shifted = reshape(
      front(flat, shorter),
      toShape([...lead, segments, mulDims(subDims(all, 1), step)]),
    );
    return front(shifted.sum(-2), addDims(mulDims(subDims(frames, 1), step), length));
  },
);
/** Zeros behind what is along an axis counted from the end. */
const padded = (x: Tensor, fromEnd: number, count: Dim): Tensor =>
  pad(x, dims(x).map((_, i) => toShape(i === x.rank - fromEnd ? [0, count] : [0, 0])) as never);
/** The first numbers along the last axis. */
const front = (x: Tensor, count: Dim): Tensor =>
  x.slice(new Array<number>(x.rank).fill(0), toShape([...dims(x).slice(0, -1), count]));

// Windows that convolutions and pooling move over sequences [n, w, c], images [n, h, w, c] and volumes [n, d, h, w, c].
import { InvalidArgumentError } from '@eagre/backend';
import { checkOneOf } from '../../arguments/checks.ts';
import { addDims, type Dim, type Dims, floorDivDims, maxDims, mulDims, subDims } from '../../shapes/dim.ts';
import { checkList, listOf, show, showShape } from '../../shapes/shape.ts';
import { lessThan } from '../../shapes/shape-env.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { transpose } from '../array/shaping.ts';

/** A number for all directions, or one for each. */
export type Sizes = number | readonly number[];
/** One number for both directions, or [height, width]. */
export type Size2D = number | readonly [height: number, width: number];
/** One number for all directions, or [depth, height, width]. */
export type Size3D = number | readonly [depth: number, height: number, width: number];
/** The same, or one for each axis, as TensorFlow writes it: [1, height, width, 1]. */
export type Strides2D = Size2D | readonly [number, number, number, number];
/** The same, or one for each axis, as TensorFlow writes it: [1, depth, height, width, 1]. */
export type Strides3D = Size3D | readonly [number, number, number, number, number];
/**
 * `VALID`: none. `SAME`: as much as makes the result ceil(size / stride), an odd pixel at the end. Or pixels for each direction:
 * [[top, bottom], [left, right]].
 */
export type WindowPadding = 'SAME' | 'VALID' | readonly (readonly [before: number, after: number])[];

/** Where the channels of sequences, images and volumes are: last, or before the directions. */
export type DataFormat = 'NWC' | 'NCW' | 'NHWC' | 'NCHW' | 'NDHWC' | 'NCDHW';
/** Where channels are. */
export interface FormatOption {
  /** `NWC`, `NHWC` or `NDHWC` by default; with `NCW`, `NCHW` or `NCDHW`, lists for all axes have that order too. */
  readonly dataFormat?: DataFormat | null;
}
const formats = [[], ['NWC', 'NCW'], ['NHWC', 'NCHW'], ['NDHWC', 'NCDHW']];

/** Whether channels stand before so many directions. @throws InvalidArgumentError for what is no format of these */
export function channelsFirst({ dataFormat }: FormatOption, rank: number, op: string): boolean {
  if (dataFormat === undefined || dataFormat === null) return false;
  const known = formats[rank] as readonly string[];
  checkOneOf(dataFormat, known, 'dataFormat', op);
  return dataFormat === known[1];
}

/** A list for all axes, of which that of channels comes last; others as they are. */
export function channelLast<T>(value: T, rank: number): T {
  if (!Array.isArray(value) || value.length !== rank + 2) return value;
  const [n, c, ...rest] = value as unknown[];
  return [n, ...rest, c] as T;
}

/** Calls what takes channels in the last axis, also with what has them before the directions, as options say. */
export function withChannelsLast<O extends FormatOption>(
  given: TensorLike,
  options: O,
  wanted: number | undefined,
  op: string,
  run: (x: TensorLike, options: O, first: boolean) => Tensor,
): Tensor {
  if (options.dataFormat === undefined || options.dataFormat === null) return run(given, options, false);
  const x = toTensor(given);
  const rank = wanted ?? directionsOf(x, op);
  if (!channelsFirst(options, rank, op)) return run(x, options, false);
  if (x.rank !== rank + 2)
    throw new InvalidArgumentError(
      `x has shape ${showShape(x.shape)}, expected ${(axesOf[rank] as string).replace(/(, .*), c/, ', c$1')}`,
      op,
    );
  const turned = Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, channelLast<unknown>(value, rank)]),
  );
  const axes = Array.from({ length: x.rank }, (_, i) => i);
  const y = run(transpose(x, channelLast(axes, rank)), turned as unknown as O, true);
  return transpose(y, [0, rank + 1, ...axes.slice(1, -1)]);
}

const multiples = ['', '', ' or two of them', ' or three of them'];
const axesOf = ['', '[n, w, c]', '[n, h, w, c]', '[n, d, h, w, c]'];
const sides = [
  '',
  '[[before, after]]',
  '[[top, bottom], [left, right]]',
  '[[front, back], [top, bottom], [left, right]]',
];

/** How many directions x has beside examples and channels: 1, 2 or 3. @throws InvalidArgumentError */
export function directionsOf(x: Tensor, op: string): number {
  if (x.rank < 3 || x.rank > 5)
    throw new InvalidArgumentError(
      `x has shape ${showShape(x.shape)}, expected ${axesOf[1]}, ${axesOf[2]} or ${axesOf[3]}`,
      op,
    );
  return x.rank - 2;
}

/** A number of at least 1 for each of so many directions. */
export function perDirection(value: Sizes, rank: number, what: string, op: string): readonly number[] {
  let list: readonly number[] = listOf(value, what, op);
  // TensorFlow also writes [1, h, w, 1].
  if (list.length === rank + 2 && list[0] === 1 && list.at(-1) === 1) list = list.slice(1, -1);
  if (list.length === 1) list = new Array<number>(rank).fill(list[0]);
  if (list.length !== rank || !list.every((n) => Number.isSafeInteger(n) && n >= 1)) {
    throw new InvalidArgumentError(
      `${what} must be an integer of at least 1${multiples[rank]}, got ${show(value)}`,
      op,
    );
  }
  return list;
}

/** How many pixels a window covers. */
export const reachOf = (size: Dim, dilation: number): Dim => addDims(mulDims(subDims(size, 1), dilation), 1);

/** Pixels around each direction: [top, bottom, left, right]. */
export function pixels(
  padding: WindowPadding,
  size: Dims,
  window: Dims,
  strides: readonly number[],
  dilations: readonly number[],
  op: string,
): Dim[] {
  const rank = strides.length;
  if (typeof padding === 'string') {
    const mode = padding.toUpperCase();
    if (mode === 'VALID') return new Array<Dim>(2 * rank).fill(0);
    if (mode !== 'SAME')
      throw new InvalidArgumentError(`padding '${padding}' is not SAME, VALID or ${sides[rank]}`, op);
    return strides.flatMap((stride, i) => {
      const reach = reachOf(window[i], dilations[i]);
      const steps = floorDivDims(addDims(size[i], stride - 1), stride);
      const reached = addDims(mulDims(addDims(steps, -1), stride), reach);
      const total = maxDims(0, subDims(reached, size[i]));
      const before = floorDivDims(total, 2);
      return [before, subDims(total, before)];
    });
  }
  checkList(padding, 'padding', op);
  const list = padding.length === rank + 2 ? padding.slice(1, -1) : padding;
  const flat = list.flat();
  if (
    list.length !== rank ||
    flat.length !== 2 * rank ||
    !flat.every((n) => Number.isSafeInteger(n) && n >= 0)
  ) {
    throw new InvalidArgumentError(
      `padding must be 'SAME', 'VALID' or ${sides[rank]} of integers of at least 0, got ${show(padding)}`,
      op,
    );
  }
  return flat;
}

/** Size of the result along each direction. @throws InvalidArgumentError where the window does not fit, or has no pixels. */
export function outputSize(
  size: Dims,
  window: Dims,
  strides: readonly number[],
  padding: Dims,
  dilations: readonly number[],
  op: string,
): Dim[] {
  const pixels = window.slice(0, strides.length);
  if (pixels.includes(0)) throw new InvalidArgumentError(`the window ${showShape(pixels)} has no pixels`, op);
  return strides.map((stride, i) => {
    const reach = reachOf(window[i], dilations[i]);
    const padded = addDims(size[i], addDims(padding[2 * i], padding[2 * i + 1]));
    const room = subDims(padded, reach);
    if (lessThan(room, 0)) {
      throw new InvalidArgumentError(
        `a window of ${reach} is larger than ${size[i]} pixels with padding ${padding[2 * i]} and ${padding[2 * i + 1]}`,
        op,
      );
    }
    return addDims(floorDivDims(room, stride), 1);
  });
}

/** The sizes between that of the examples and that of the channels. */
export const between = (sizes: Dims): Dims => sizes.slice(1, -1);

/** @throws InvalidArgumentError unless x is floating and has so many directions beside examples and channels. */
export function checkWindowed(x: Tensor, rank: number, op: string): Tensor {
  checkDType(x.dtype, 'floating', 'x', op);
  if (x.rank !== rank + 2)
    throw new InvalidArgumentError(`x has shape ${showShape(x.shape)}, expected ${axesOf[rank]}`, op);
  return x;
}

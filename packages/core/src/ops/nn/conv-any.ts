// `tf.conv`: convolutions of two or three axes of space, behind any number of batch axes.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkOneOf, shown } from '../../arguments/checks.ts';
import { pair } from '../../dispatch/op.ts';
import { type Dim, mulDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { showShape } from '../../shapes/shape.ts';
import type { TensorLike } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { reshape, transpose } from '../array/shaping.ts';
import { convolution } from './conv.ts';

const OP = 'conv';

/** Options of `conv`. */
export interface ConvAnyOptions {
  /** For padding EXPLICIT: how much is added before and after each axis, one after the other. */
  readonly explicitPaddings?: readonly number[];
  /** Where the channels are; last by default. */
  readonly dataFormat?: 'CHANNELS_FIRST' | 'CHANNELS_LAST';
  /** Distances of the filter's taps, of all axes; 1 by default. */
  readonly dilations?: readonly number[];
  /** How many axes the batch has; 1 by default. */
  readonly batchDims?: number;
  /** Channels are cut into that many groups, each with filters of its own; 1 by default. */
  readonly groups?: number;
}

/** The numbers of the axes of space, of a list for all axes. */
function ofSpace(list: readonly number[], count: number, first: boolean, what: string): number[] {
  const [, ...rest] = list;
  const own = first ? rest.slice(1) : rest.slice(0, count);
  const channel = first ? rest[0] : rest[count];
  if (list.length !== count + 2 || list[0] !== 1 || channel !== 1)
    throw new InvalidArgumentError(
      `${what} must be ${count + 2} integers, 1 for batch and channels, got ${shown(list)}`,
      OP,
    );
  return own;
}

/**
 * A convolution of two or three axes of space, with TensorFlow's arguments for all axes; `tf.nn.convolution` has shorter ones.
 * @param input [...batch, ...space, channels]
 * @param filter [...window, channels, outputs]
 * @param strides for all axes, 1 for batch and channels
 */
export const conv: NamedFunction<
  [input: TensorLike, filter: TensorLike, strides: readonly number[], padding: 'SAME' | 'VALID' | 'EXPLICIT'],
  ['input', 'filter', 'strides', 'padding'],
  ConvAnyOptions
> = /* @__PURE__ */ defineFunction(
  OP,
  { input: kind.tensor, filter: kind.tensor, strides: kind.asIs, padding: kind.asIs },
  {
    explicitPaddings: kind.asIs,
    dataFormat: kind.asIs,
    dilations: kind.asIs,
    batchDims: kind.asIs,
    groups: kind.asIs,
  },
  (input, filter, strides, padding, options) => {
    const {
      explicitPaddings = [],
      dataFormat = 'CHANNELS_LAST',
      dilations = [],
      batchDims = 1,
      groups = 1,
    } = options;
    checkOneOf(padding, ['SAME', 'VALID', 'EXPLICIT'], 'padding', OP);
    checkOneOf(dataFormat, ['CHANNELS_FIRST', 'CHANNELS_LAST'], 'dataFormat', OP);
    checkCount(batchDims, 'batchDims', OP, 1);
    checkCount(groups, 'groups', OP, 1);
    for (const [name, list] of Object.entries({ strides, dilations, explicitPaddings }))
      if (!Array.isArray(list) || !list.every(Number.isSafeInteger))
        throw new InvalidArgumentError(`${name} must be a list of integers, got ${shown(list)}`, OP);
    const [x, f] = pair(input, filter, OP);
    const count = f.rank - 2;
    if (count < 2 || count > 3 || x.rank !== count + 1 + batchDims)
      throw new InvalidArgumentError(
        `filter ${showShape(f.shape)} must have two or three axes of space, and input ${showShape(x.shape)} as many behind ${batchDims} of the batch`,
        OP,
      );
    const first = dataFormat === 'CHANNELS_FIRST';
    const outer = dims(x).slice(0, batchDims);
    const inner = dims(x).slice(batchDims);
    let t: Tensor = reshape(x, toShape([outer.reduce(mulDims, 1), ...inner]));
    // Channels last, and back.
    const space = Array.from({ length: count }, (_, i) => i);
    if (first) t = transpose(t, [0, ...space.map((i) => i + 2), 1]);
    const borders = padding === 'EXPLICIT' ? pairsOfSpace(explicitPaddings, count, first) : padding;
    if (padding !== 'EXPLICIT' && explicitPaddings.length > 0)
      throw new InvalidArgumentError("explicitPaddings are for padding 'EXPLICIT'", OP);
    const y = convolution(t, f, {
      strides: ofSpace(strides, count, first, 'strides') as [number, number],
      padding: borders as never,
      dilations: (dilations.length === 0 ? 1 : ofSpace(dilations, count, first, 'dilations')) as never,
      groups,
    });
    const back = first ? transpose(y, [0, count + 1, ...space.map((i) => i + 1)]) : y;
    return reshape(back, toShape([...outer, ...(dims(back).slice(1) as Dim[])]));
  },
);

/** The paddings of the axes of space. */
function pairsOfSpace(list: readonly number[], count: number, first: boolean): [number, number][] {
  const pairs = Array.from({ length: list.length / 2 }, (_, i): [number, number] => [
    list[2 * i] as number,
    list[2 * i + 1] as number,
  ]);
  const own = first ? pairs.slice(2) : pairs.slice(1, count + 1);
  const others = first ? pairs.slice(0, 2) : [pairs[0], pairs[count + 1]];
  if (
    list.length !== 2 * (count + 2) ||
    !list.every((n) => n >= 0) ||
    others.some((p) => p?.[0] !== 0 || p[1] !== 0)
  )
    throw new InvalidArgumentError(
      `explicitPaddings must be ${2 * (count + 2)} integers of at least 0, 0 for batch and channels, got ${shown(list)}`,
      OP,
    );
  return own;
}

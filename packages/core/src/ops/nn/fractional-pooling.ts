// Pooling by ratios that are no integers (Graham, "Fractional max-pooling", 2014).
import { InvalidArgumentError, type Philox, shuffleBy } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, shown } from '../../arguments/checks.ts';
import { defineOp, execute1, type Op } from '../../dispatch/op.ts';
import { values } from '../../dispatch/samples.ts';
import { streamOfWords, wordsOfCall } from '../../random/call-stream.ts';
import { checkFlag, checkList, showShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { gather } from '../array/gather.ts';
import { where } from '../elementwise/select.ts';

/** The lengths of the windows: the same fraction on, begun at a random place. */
function pseudoRandomSteps(input: number, output: number, u01: number): number[] {
  const alpha = input / output;
  const k = Math.floor(alpha);
  const most = Math.min((k + 2) / alpha - 1, (input + 1 - k) / alpha - (output - 1));
  const u = u01 * most;
  const borders = Array.from({ length: output + 1 }, (_, i) =>
    i === 0 ? 1 : i === output ? input + 1 : Math.ceil(alpha * (i + u)),
  );
  return borders.slice(1).map((b, i) => b - (borders[i] as number));
}
/** The lengths of the windows: the shorter and the longer ones in random order. */
function randomSteps(input: number, output: number, stream: Philox): number[] {
  const k = Math.floor(input / output);
  const steps = Array.from({ length: output }, (_, i) => k + (i < input % output ? 1 : 0));
  return shuffleBy(stream, steps);
}

/** Where windows begin, and the last ends, drawn by two words. */
const sequenceOp: Op = /* @__PURE__ */ defineOp({
  name: 'FractionalPoolingSequence',
  infer: (_, { output }) => ({ dtype: 'int64', shape: [(output as number) + 1] }),
  host: ([words], attrs) => {
    const { input, output, pseudoRandom } = attrs as unknown as {
      input: number;
      output: number;
      pseudoRandom: boolean;
    };
    const stream = streamOfWords(words);
    const steps = pseudoRandom
      ? pseudoRandomSteps(input, output, stream.double())
      : randomSteps(input, output, stream);
    let at = 0;
    const borders = [0n, ...steps.map((step) => BigInt((at += step)))];
    return [toTensor({ data: BigInt64Array.from(borders), shape: [output + 1] })];
  },
  notDifferentiable: 'windows are places',
  samples: () => [
    { inputs: [values([5, 6], [2], 'int32')], attrs: { input: 11, output: 7, pseudoRandom: true } },
    { inputs: [values([5, 6], [2], 'int32')], attrs: { input: 11, output: 7, pseudoRandom: false } },
  ],
});

/** Options of fractional pools. */
export interface FractionalPoolOptions {
  /** Whether the windows are as regular as the ratio allows, else the lengths stand in random order; false by default. */
  readonly pseudoRandom?: boolean;
  /** Whether windows share their last pixel with the next; false by default. */
  readonly overlapping?: boolean;
  /** Other than 0 for windows that repeat. */
  readonly seed?: number;
}
/** The pooled images, and where windows begin, and the last ends, along rows and columns, int64. */
export type FractionalPooled = [output: Tensor, rowPoolingSequence: Tensor, colPoolingSequence: Tensor];

/**
 * The places of the first elements of windows along an axis, and those of the second ones, and so on: windows that are not so long have their last
 * one again. `inside` tells which of these are so long.
 */
interface Layers {
  readonly first: Tensor;
  readonly more: readonly Tensor[];
  readonly inside: (layer: number) => Tensor;
}

function layersOf(n: number, borders: Tensor, overlapping: boolean): Layers {
  const windows = (borders.shape[0] as number) - 1;
  const longest = Math.floor(n / windows) + 1 + (overlapping ? 1 : 0);
  const [first, until] = [borders.at(':-1'), borders.at('1:')];
  const last = overlapping ? until.minimum(BigInt(n - 1)) : until.sub(1n);
  const places = Array.from({ length: longest - 1 }, (_, i) => first.add(BigInt(i + 1)));
  return {
    first,
    more: places.map((each) => each.minimum(last)),
    inside: (layer) => (places[layer] as Tensor).lessEqual(last),
  };
}

function pooled(
  value: TensorLike,
  poolingRatio: number | readonly number[],
  options: FractionalPoolOptions,
  average: boolean,
  op: string,
): FractionalPooled {
  const x = toTensor(value);
  checkDType(x.dtype, 'floating', 'value', op);
  if (x.rank !== 4)
    throw new InvalidArgumentError(
      `value must be [batch, height, width, channels], got ${showShape(x.shape)}`,
      op,
    );
  const list =
    typeof poolingRatio === 'number'
      ? [poolingRatio, poolingRatio]
      : [...checkList(poolingRatio, 'poolingRatio', op)];
  const two = list.length === 4 ? list.slice(1, 3) : list.length === 1 ? [list[0], list[0]] : list;
  const whole = list.length !== 4 || (list[0] === 1 && list[3] === 1);
  if (two.length !== 2 || !whole || !two.every((r) => typeof r === 'number' && r >= 1 && Number.isFinite(r)))
    throw new InvalidArgumentError(
      `poolingRatio must be one or two numbers of at least 1, or four with 1 for batch and channels, got ${shown(poolingRatio)}`,
      op,
    );
  const pseudoRandom = checkFlag(options.pseudoRandom, 'pseudoRandom', op);
  const overlapping = checkFlag(options.overlapping, 'overlapping', op);
  const { seed = 0 } = options;
  checkCount(seed, 'seed', op);
  const sequences = two.map((ratio, i) => {
    const input = x.shape[i + 1] as number;
    const output = Math.floor(input / (ratio as number));
    if (output < 1)
      throw new InvalidArgumentError(`poolingRatio ${shown(ratio)} leaves nothing of ${input} pixels`, op);
    const words = wordsOfCall(seed === 0 ? null : seed);
    return execute1(sequenceOp, [words], { input, output, pseudoRandom });
  }) as [Tensor, Tensor];
  return [pooledBy(x, sequences, overlapping, average), ...sequences];
}

/** @internal Pools windows whose borders are given. */
export function pooledBy(
  x: Tensor,
  [rows, columns]: readonly [rows: Tensor, columns: Tensor],
  overlapping: boolean,
  average: boolean,
): Tensor {
  const along = (y: Tensor, axis: 1 | 2): Tensor => {
    const { first, more, inside } = layersOf(
      y.shape[axis] as number,
      axis === 1 ? rows : columns,
      overlapping,
    );
    const begun = gather(y, first, axis);
    // The gradient goes to the first of equal ones, and what comes again changes nothing.
    if (!average) return more.reduce((most, places) => most.maximum(gather(y, places, axis)), begun);
    const shape = axis === 1 ? [1, -1, 1, 1] : [1, 1, -1, 1];
    let sum = begun;
    let count: Tensor | number = 1;
    more.forEach((places, i) => {
      const isInside = inside(i).reshape(shape);
      sum = sum.add(where(isInside, gather(y, places, axis), 0));
      count = isInside.cast(x.dtype).add(count);
    });
    return sum.div(count);
  };
  // Columns first: of equal largest values the first one counts, row by row.
  return along(along(x, 2), 1);
}

type FractionalPool = NamedFunction<
  [value: TensorLike, poolingRatio: number | readonly number[]],
  ['value', 'poolingRatio'],
  FractionalPoolOptions,
  FractionalPooled
>;
const fractionalPool = (name: string, average: boolean): FractionalPool =>
  defineFunction(
    `nn.${name}`,
    { value: kind.tensor, poolingRatio: kind.asIs },
    { pseudoRandom: kind.asIs, overlapping: kind.asIs, seed: kind.asIs },
    (value, poolingRatio, options) => pooled(value, poolingRatio, options, average, `nn.${name}`),
  );
/**
 * The largest values of windows of images [batch, height, width, channels] whose number is the size over a ratio of at least 1, such as 1.44: windows of
 * two lengths in random order. Height and width must be known.
 */
export const fractionalMaxPool: FractionalPool = /* @__PURE__ */ fractionalPool('fractionalMaxPool', false);
/** The means of such windows, see `fractionalMaxPool`. */
export const fractionalAvgPool: FractionalPool = /* @__PURE__ */ fractionalPool('fractionalAvgPool', true);

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
import { range } from '../array/creation.ts';
import { gather } from '../array/gather.ts';
import { where } from '../elementwise/select.ts';
import { argMax } from '../reduce/reduce.ts';

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

/** The windows along an axis: values [.., output, longest, ..], and which of them count. */
function windowed(
  x: Tensor,
  axis: 1 | 2,
  borders: Tensor,
  longest: number,
  overlapping: boolean,
): { readonly values: Tensor; readonly inside: Tensor } {
  const n = x.shape[axis] as number;
  const [from, until] = [borders.at(':-1').expandDims(1), borders.at('1:').expandDims(1)];
  const places = from.add(range(longest, { dtype: 'int32' }).cast('int64'));
  const end = (overlapping ? until.add(1n) : until).minimum(BigInt(n));
  const inside = places.less(end);
  return { values: gather(x, places.minimum(BigInt(n - 1)), axis), inside };
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

/** The largest values along an axis, whose gradient goes to the first of equal ones. */
function firstLargest(x: Tensor, axis: number): Tensor {
  const places = range(x.shape[axis] as number, { dtype: 'int64' });
  const isFirst = argMax(x, axis)
    .expandDims(axis)
    .equal(places.reshape(x.shape.map((_, i) => (i === axis ? -1 : 1))));
  return where(isFirst, x, 0).sum(axis);
}

/** @internal Pools windows whose borders are given. */
export function pooledBy(
  x: Tensor,
  sequences: readonly [rows: Tensor, columns: Tensor],
  overlapping: boolean,
  average: boolean,
): Tensor {
  const longest = (axis: 1 | 2): number => {
    const windows = (sequences[axis - 1].shape[0] as number) - 1;
    return Math.floor((x.shape[axis] as number) / windows) + 1 + (overlapping ? 1 : 0);
  };
  // Columns first: of equal largest values the first one counts, row by row.
  const columns = windowed(x, 2, sequences[1], longest(2), overlapping);
  const inColumns = columns.inside.reshape([1, 1, -1, longest(2), 1]);
  const together = average ? (y: Tensor, axis: number): Tensor => y.sum(axis) : firstLargest;
  const filler = average ? 0 : Number.NEGATIVE_INFINITY;
  const first = together(where(inColumns, columns.values, filler), 3);
  const rows = windowed(first, 1, sequences[0], longest(1), overlapping);
  const inRows = rows.inside.reshape([1, -1, longest(1), 1, 1]);
  const all = together(where(inRows, rows.values, filler), 2);
  if (!average) return all;
  const count = (inside: Tensor, shape: readonly number[]): Tensor =>
    inside
      .cast(x.dtype)
      .sum(1)
      .reshape([...shape]);
  return all.div(count(rows.inside, [1, -1, 1, 1]).mul(count(columns.inside, [1, 1, -1, 1])));
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

// Windows of series, with a target for each.

import { InvalidArgumentError } from '@eagre/backend';
import {
  convertToTensor,
  expandDims,
  gather,
  type NamedFunction,
  range,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import { type Arguments, defineFunction, type OptionNames } from '@eagre/core/internal';
import { Dataset } from '../pipeline/dataset.ts';
import { checkCount } from '../pipeline/options.ts';

/** Options of `timeseriesDatasetFromArray`. */
export interface TimeseriesOptions {
  /** Steps between the beginnings of sequences; 1 unless set. */
  readonly sequenceStride?: number;
  /** Steps between the elements of a sequence; 1 unless set. */
  readonly samplingRate?: number;
  /** Sequences in a batch, 128 unless set; null gives them one by one. */
  readonly batchSize?: number | null;
  /** Whether sequences come in another order; false unless set. */
  readonly shuffle?: boolean;
  /** Makes the order of `shuffle` the same in each run of the program; drawn anew unless given. */
  readonly seed?: number;
  /** Only what lies from here on is used. */
  readonly startIndex?: number;
  /** What lies from here on is not used. */
  readonly endIndex?: number;
}

const timeseriesNames: OptionNames<TimeseriesOptions> = {
  sequenceStride: true,
  samplingRate: true,
  batchSize: true,
  shuffle: true,
  seed: true,
  startIndex: true,
  endIndex: true,
};
const WHAT = 'timeseriesDatasetFromArray';

/**
 * Sequences of `sequenceLength` steps of a series, in batches; with targets, pairs. `targets[i]` belongs to the sequence that begins at
 * step i (of the part that is used).
 *
 * @param data [steps, …]
 * @param targets [n, …], or null for sequences alone.
 * @throws InvalidArgumentError for counts that are no positive integers, and for an end before the start.
 */
export const timeseriesDatasetFromArray: {
  (
    ...args: Arguments<
      [data: TensorLike, targets: null, sequenceLength: number],
      ['data', 'targets', 'sequenceLength'],
      TimeseriesOptions
    >
  ): Dataset<Tensor>;
  (
    ...args: Arguments<
      [data: TensorLike, targets: TensorLike, sequenceLength: number],
      ['data', 'targets', 'sequenceLength'],
      TimeseriesOptions
    >
  ): Dataset<[sequences: Tensor, targets: Tensor]>;
} = defineFunction<
  NamedFunction<
    [data: TensorLike, targets: TensorLike | null, sequenceLength: number],
    ['data', 'targets', 'sequenceLength'],
    TimeseriesOptions,
    Dataset<unknown>
  >
>(
  'tf.data.timeseriesDatasetFromArray',
  { data: true, targets: true, sequenceLength: true },
  timeseriesNames,
  (data, targets, sequenceLength, options) => {
    const { sequenceStride: stride = 1, samplingRate: rate = 1, batchSize = 128, shuffle = false } = options;
    checkCount(sequenceLength, 'sequenceLength', WHAT);
    checkCount(stride, 'sequenceStride', WHAT);
    checkCount(rate, 'samplingRate', WHAT);
    const series = rows(data, 'data', options);
    const goals = targets === null ? null : rows(targets, 'targets', options);
    const possible = series.shape[0] - (sequenceLength - 1) * rate;
    const count = Math.max(0, Math.min(possible, goals?.shape[0] ?? possible));
    if (batchSize !== null) checkCount(batchSize, 'batchSize', WHAT);

    let starts = Dataset.range(0, count, stride);
    if (shuffle && count > 0) {
      // Only numbers are moved about, so all of them are.
      starts = starts.shuffle(
        Math.ceil(count / stride),
        options.seed === undefined ? {} : { seed: options.seed },
      );
    }
    // Beginnings are batched, so that one operation makes a whole batch of sequences.
    if (batchSize !== null) starts = starts.batch(batchSize);
    const steps = range(sequenceLength).mul(rate).cast('int64');
    const sequences = (at: Tensor): Tensor => gather(series, expandDims(at, -1).add(steps));
    return goals === null ? starts.map(sequences) : starts.map((at) => [sequences(at), gather(goals, at)]);
  },
) as never;

/** The part that is used, [steps, …]. */
function rows(values: TensorLike, name: string, { startIndex = 0, endIndex }: TimeseriesOptions): Tensor {
  const tensor = convertToTensor(values);
  if (tensor.rank === 0)
    throw new InvalidArgumentError(`${name} must have a first axis, the time steps`, WHAT);
  const size = tensor.shape[0];
  checkCount(startIndex, 'startIndex', WHAT, 0);
  const end = Math.min(endIndex === undefined ? size : checkCount(endIndex, 'endIndex', WHAT), size);
  if (endIndex !== undefined && endIndex <= startIndex)
    throw new InvalidArgumentError(`endIndex ${endIndex} must be after startIndex ${startIndex}`, WHAT);
  return startIndex === 0 && end === size ? tensor : tensor.at(`${Math.min(startIndex, end)}:${end}`);
}

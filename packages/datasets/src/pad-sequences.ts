import { InvalidArgumentError } from '@eagre/backend';
import { type Arguments, defineFunction, type NamedFunction, shown } from '@eagre/core/internal';
import type { NDArrayOf, TypedArray } from '@eagre/formats';
import * as kind from './kinds.ts';

const OP = 'tf.keras.utils.padSequences';

/** The dtypes that padded sequences can have. */
export type PaddedDType =
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'float32'
  | 'float64';

const ARRAYS: { readonly [D in PaddedDType]: new (length: number) => TypedArray } = {
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
};

/** A number, or a list of items of equal shapes: the features of a step. */
export type SequenceItem = number | ArrayLike<number> | readonly SequenceItem[];

/** Options of {@link padSequences}. */
export interface PadSequencesOptions<D extends PaddedDType = PaddedDType> {
  /** The length of all sequences. Default: that of the longest. */
  maxlen?: number | undefined;
  /** Of the result; integers drop fractions, as NumPy does. Default: `'int32'`. */
  dtype?: D | undefined;
  /** Where to pad. Default: `'pre'`. */
  padding?: 'pre' | 'post' | undefined;
  /** Where to cut what is too long. Default: `'pre'`. */
  truncating?: 'pre' | 'post' | undefined;
  /** What to pad with. Default: 0. */
  value?: number | undefined;
}

type Sequences = readonly ArrayLike<SequenceItem>[];

/**
 * Sequences as one array [count, maxlen, ...shape of an item], as Keras's `pad_sequences`: short ones are padded, long
 * ones are cut.
 *
 * @throws InvalidArgumentError for a wrong option, items of different shapes, or when there is no sequence to take the length from.
 */
export const padSequences: <D extends PaddedDType = 'int32'>(
  ...args: Arguments<[sequences: Sequences], ['sequences'], PadSequencesOptions<D>>
) => NDArrayOf<D> = defineFunction<
  NamedFunction<[sequences: Sequences], ['sequences'], PadSequencesOptions, NDArrayOf<PaddedDType>>
>(
  OP,
  { sequences: true },
  {
    maxlen: kind.count(1),
    dtype: kind.oneOf(...Object.keys(ARRAYS)),
    padding: kind.oneOf('pre', 'post'),
    truncating: kind.oneOf('pre', 'post'),
    value: kind.number,
  },
  pad,
) as never;

function pad(
  sequences: Sequences,
  { maxlen, dtype = 'int32', padding = 'pre', truncating = 'pre', value = 0 }: PadSequencesOptions,
): NDArrayOf<PaddedDType> {
  if (!Array.isArray(sequences)) kind.refuse('sequences', 'an array of sequences', sequences, OP);
  sequences.forEach((sequence: unknown, i) => {
    if (!isList(sequence)) kind.refuse(`sequences[${i}]`, 'a list', sequence, OP);
  });
  if (maxlen === undefined && sequences.length === 0)
    throw new InvalidArgumentError('there is no sequence; give maxlen', OP);
  if (!dtype.startsWith('float') && !Number.isSafeInteger(value))
    kind.refuse('value', `an integer, which ${dtype} needs`, value, OP);
  const length = maxlen ?? sequences.reduce((most, sequence) => Math.max(most, sequence.length), 0);
  const shape = shapeOf(sequences.find((sequence) => sequence.length > 0)?.[0]);
  const size = shape.reduce((n, d) => n * d, 1);
  const data: TypedArray = new ARRAYS[dtype](sequences.length * length * size);
  const write: (at: number, item: number) => void =
    data instanceof BigInt64Array || data instanceof BigUint64Array
      ? (at, item) => {
          data[at] = BigInt(Number.isFinite(item) ? Math.trunc(item) : 0);
        }
      : (at, item) => {
          data[at] = item;
        };
  if (value !== 0) for (let i = 0; i < data.length; i++) write(i, value);
  sequences.forEach((sequence, row) => {
    const kept = Math.min(sequence.length, length);
    const from = truncating === 'pre' ? sequence.length - kept : 0;
    const to = row * length + (padding === 'pre' ? length - kept : 0);
    for (let i = 0; i < kept; i++) {
      const item = sequence[from + i];
      if (shape.length === 0 && typeof item === 'number') write(to + i, item);
      else put(item, shape, (to + i) * size, `sequences[${row}][${from + i}]`, write);
    }
  });
  return { dtype, shape: [sequences.length, length, ...shape], data } as NDArrayOf<PaddedDType>;
}

const isList = (value: unknown): value is ArrayLike<SequenceItem> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

/** The shape of an item, by its first elements. */
function shapeOf(item: unknown): number[] {
  return isList(item) ? [item.length, ...shapeOf(item[0])] : [];
}

/** Writes an item and what it holds from `at` on. */
function put(
  item: unknown,
  [first, ...rest]: readonly number[],
  at: number,
  place: string,
  write: (at: number, item: number) => void,
): void {
  if (first === undefined) {
    if (typeof item !== 'number')
      throw new InvalidArgumentError(`${place} must be a number, got ${shown(item)}`, OP);
    write(at, item);
    return;
  }
  if (!isList(item) || item.length !== first)
    throw new InvalidArgumentError(
      `${place} must be a list of ${first}, as the first item is, got ${shown(item)}`,
      OP,
    );
  const size = rest.reduce((n, d) => n * d, 1);
  for (let i = 0; i < first; i++) put(item[i], rest, at + i * size, `${place}[${i}]`, write);
}

import { InvalidArgumentError } from '@eagre/backend';
import { defineFunction, type NamedFunction, shown } from '@eagre/core/internal';
import type { NDArrayOf } from '@eagre/formats';
import * as kind from './kinds.ts';

const OP = 'tf.keras.utils.padSequences';

/** Options of {@link padSequences}. */
export interface PadSequencesOptions {
  /** The length of all sequences. Default: that of the longest. */
  maxlen?: number | undefined;
  /** Where to pad. Default: `'pre'`. */
  padding?: 'pre' | 'post' | undefined;
  /** Where to cut what is too long. Default: `'pre'`. */
  truncating?: 'pre' | 'post' | undefined;
  /** What to pad with, an integer of 32 bits. Default: 0. */
  value?: number | undefined;
}

/**
 * Sequences of integers as one array, int32 [count, maxlen], as Keras's `pad_sequences`: short ones are padded, long
 * ones are cut.
 *
 * @throws InvalidArgumentError for a wrong option, or when there is no sequence to take the length from.
 */
export const padSequences: NamedFunction<
  [sequences: readonly ArrayLike<number>[]],
  ['sequences'],
  PadSequencesOptions,
  NDArrayOf<'int32'>
> = defineFunction(
  OP,
  { sequences: true },
  {
    maxlen: kind.count(1),
    padding: kind.oneOf('pre', 'post'),
    truncating: kind.oneOf('pre', 'post'),
    value: kind.int32,
  },
  pad,
);

function pad(
  sequences: readonly ArrayLike<number>[],
  { maxlen, padding = 'pre', truncating = 'pre', value = 0 }: PadSequencesOptions,
): NDArrayOf<'int32'> {
  if (!Array.isArray(sequences)) kind.refuse('sequences', 'an array of sequences', sequences, OP);
  sequences.forEach((sequence: unknown, i) => {
    if (!Array.isArray(sequence) && !ArrayBuffer.isView(sequence))
      kind.refuse(`sequences[${i}]`, 'a list of integers', sequence, OP);
  });
  if (maxlen === undefined && sequences.length === 0)
    throw new InvalidArgumentError('there is no sequence; give maxlen', OP);
  const length = maxlen ?? sequences.reduce((most, sequence) => Math.max(most, sequence.length), 0);
  const data = new Int32Array(sequences.length * length).fill(value);
  sequences.forEach((sequence, row) => {
    const kept = Math.min(sequence.length, length);
    const from = truncating === 'pre' ? sequence.length - kept : 0;
    const to = row * length + (padding === 'pre' ? length - kept : 0);
    for (let i = 0; i < kept; i++) {
      const item = sequence[from + i];
      if (typeof item !== 'number')
        throw new InvalidArgumentError(
          `sequences[${row}][${from + i}] must be a number, got ${shown(item)}`,
          OP,
        );
      data[to + i] = item;
    }
  });
  return { dtype: 'int32', shape: [sequences.length, length], data };
}

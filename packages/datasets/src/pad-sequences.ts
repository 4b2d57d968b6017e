import type { NDArrayOf } from '@eagre/formats';

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
 * @throws RangeError for a wrong option, or when there is no sequence to take the length from.
 */
export function padSequences(
  sequences: readonly ArrayLike<number>[],
  options: PadSequencesOptions = {},
): NDArrayOf<'int32'> {
  const { padding = 'pre', truncating = 'pre', value = 0 } = options;
  for (const [name, side] of Object.entries({ padding, truncating })) {
    if (side !== 'pre' && side !== 'post')
      throw new RangeError(`${name}: expected 'pre' or 'post', got ${side}`);
  }
  if (options.maxlen === undefined && sequences.length === 0)
    throw new RangeError('padSequences: there is no sequence; give maxlen');
  const length = options.maxlen ?? sequences.reduce((most, sequence) => Math.max(most, sequence.length), 0);
  if (!Number.isInteger(length) || length < 0 || (options.maxlen !== undefined && length < 1))
    throw new RangeError(`maxlen: expected an integer from 1, got ${options.maxlen}`);
  if (value !== (value | 0)) throw new RangeError(`value: expected an integer of 32 bits, got ${value}`);

  const data = new Int32Array(sequences.length * length).fill(value);
  sequences.forEach((sequence, row) => {
    const kept = Math.min(sequence.length, length);
    const from = truncating === 'pre' ? sequence.length - kept : 0;
    const to = row * length + (padding === 'pre' ? length - kept : 0);
    for (let i = 0; i < kept; i++) data[to + i] = sequence[from + i]!;
  });
  return { dtype: 'int32', shape: [sequences.length, length], data };
}

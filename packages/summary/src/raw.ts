import { DataLossError, InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import { defineFunction } from '@eagre/core/internal';
import { FormatError, tensorflow } from '@eagre/formats';
import { record } from './record.ts';
import type { Step } from './state.ts';

/** Options of `writeRawPb`. */
export interface RawOptions {
  /** That of `setStep` or of the default scope unless given. */
  readonly step?: Step;
  /** The name of TensorFlow's op; nothing here has it. */
  readonly name?: string;
}

/**
 * Writes serialised `Summary` messages, all of a call in one event: for code that makes them itself, as in TensorFlow 1. In a traced function
 * each run writes the same.
 * @returns as `tf.summary.scalar`.
 * @throws DataLossError for bytes that are no summary; InvalidArgumentError for what is no bytes, or a missing step.
 */
export const writeRawPb: NamedFunction<
  [data: Uint8Array | readonly Uint8Array[]],
  ['data|tensor'],
  RawOptions,
  boolean
> = defineFunction(
  'tf.summary.experimental.writeRawPb',
  { 'data|tensor': true },
  { step: true, name: true },
  (data, options) => {
    const what = 'tf.summary.experimental.writeRawPb';
    const all = data instanceof Uint8Array ? [data] : data;
    if (!Array.isArray(all) || !all.every((bytes) => bytes instanceof Uint8Array))
      throw new InvalidArgumentError('expected the bytes of a Summary, or an array of such', what);
    return record({ what, step: options.step, raw: () => ({ value: all.flatMap(valuesOf) }) });
  },
);

function valuesOf(bytes: Uint8Array, i: number): readonly tensorflow.SummaryValue[] {
  try {
    return tensorflow.Summary.decode(bytes).value ?? [];
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new DataLossError(`item ${i} is not the bytes of a Summary`, 'tf.summary.experimental.writeRawPb', {
      cause,
    });
  }
}

import { FormatError } from '@eagre/formats';
import { DatasetError } from './errors.ts';

/** Runs a step that decodes a file; what is wrong with the file becomes a {@link DatasetError} that names it. */
export async function decoding<T>(dataset: string, file: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    const { what, expected, got } = cause;
    throw new DatasetError({ code: 'corrupt', dataset, file, what, expected, got, cause });
  }
}

/** The error for a file whose content is not what the data set has. */
export function corrupt(
  dataset: string,
  file: string,
  what: string,
  expected: string,
  got: string,
): DatasetError {
  return new DatasetError({ code: 'corrupt', dataset, file, what, expected, got });
}

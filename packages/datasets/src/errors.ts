/**
 * Why a data set could not be loaded: `missing` (a file is not where it was to be), `corrupt` (a file is there but
 * wrong), `download` (no mirror gave it), `cache` (the cache folder cannot be read or written).
 */
export type DatasetErrorCode = 'missing' | 'corrupt' | 'download' | 'cache';

/** What a {@link DatasetError} says. */
export interface DatasetErrorDetails {
  /** What kind of error it is. */
  code: DatasetErrorCode;
  /** The name of the data set. */
  dataset: string;
  /** The path of the file in question. */
  file: string;
  /** What is wrong. */
  what: string;
  /** What should have been there. */
  expected?: string | undefined;
  /** What was there. */
  got?: string | undefined;
  /** What the user can do about it. */
  hint?: string | undefined;
  /** The error that led to this one. */
  cause?: unknown;
}

/** A data set that could not be loaded. The message names the file, what was expected there, and what to do. */
export class DatasetError extends Error {
  /** `DatasetError`. */
  override readonly name: string = 'DatasetError';
  /** What kind of error it is. */
  readonly code: DatasetErrorCode;
  /** The name of the data set. */
  readonly dataset: string;
  /** The path of the file in question. */
  readonly file: string;
  /** What should have been there. */
  readonly expected: string | undefined;
  /** What was there. */
  readonly got: string | undefined;

  constructor({ code, dataset, file, what, expected, got, hint, cause }: DatasetErrorDetails) {
    const contrast = [expected && `expected ${expected}`, got && `got ${got}`].filter(Boolean).join(', ');
    const message = `${dataset}: ${file}: ${what}${contrast && `: ${contrast}`}${hint ? `. ${hint}` : ''}`;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.dataset = dataset;
    this.file = file;
    this.expected = expected;
    this.got = got;
  }
}

/** What a source of bytes that is no file can be in the way of; names of Eagre's codes. */
export type SourceProblem =
  | 'ALREADY_EXISTS'
  | 'CANCELLED'
  | 'DATA_LOSS'
  | 'FAILED_PRECONDITION'
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE'
  | 'UNIMPLEMENTED';

/** What went wrong with a URL, a `File` or the storage of a page. */
export class SourceError extends Error {
  override readonly name: string = 'SourceError';
  readonly code: SourceProblem;

  constructor(code: SourceProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** There is nothing at a URL. */
export const missing = (url: string): SourceError =>
  new SourceError('NOT_FOUND', `there is nothing at ${url}; tf.io.listModels() lists what is there`);

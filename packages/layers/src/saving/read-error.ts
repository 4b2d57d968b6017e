import { fileError } from '@eagre/backend';
import { DataLossError, FailedPreconditionError, NotFoundError } from '@eagre/core';
import { FormatError } from '@eagre/formats';

/** What went wrong when a file was read, with the errors of formats as those of lost data. */
export function readError(cause: unknown, path: string, op: string): unknown {
  if (cause instanceof FormatError) return new DataLossError(cause.message, op, { cause });
  const { code, path: missing } = (cause ?? {}) as NodeJS.ErrnoException;
  // Of a model in several files it may be another one.
  if (code === 'ENOENT') return new NotFoundError(`there is no file ${missing ?? path}`, op, { cause });
  return fileError(cause, path, op);
}

/** What went wrong when a file was written: where a folder, a pipe or a device stands in its place too. */
export function writeError(cause: unknown, path: string, op: string): unknown {
  if (cause instanceof FormatError) return new FailedPreconditionError(cause.message, op, { cause });
  return fileError(cause, path, op);
}

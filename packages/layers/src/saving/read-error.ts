import { fileError } from '@eagre/backend';
import { DataLossError, NotFoundError } from '@eagre/core';
import { FormatError } from '@eagre/formats';

/** What went wrong when a file was read, with the errors of formats as those of lost data. */
export function readError(cause: unknown, path: string, op: string): unknown {
  if (cause instanceof FormatError) return new DataLossError(cause.message, op, { cause });
  if ((cause as NodeJS.ErrnoException | null)?.code === 'ENOENT')
    return new NotFoundError(`there is no file ${path}`, op, { cause });
  return fileError(cause, path, op);
}

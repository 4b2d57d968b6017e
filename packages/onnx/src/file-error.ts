import {
  InvalidArgumentError,
  NotFoundError,
  PermissionDeniedError,
  ResourceExhaustedError,
} from '@eagre/backend';

/** What the file system's error is for who reads or writes a model. */
export function fileError(path: string, cause: unknown, op: string): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new NotFoundError(`there is no file or folder for ${path}`, op, { cause });
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new PermissionDeniedError(`${path}: ${message}`, op, { cause });
  if (code === 'ENOSPC') return new ResourceExhaustedError(`${path}: ${message}`, op, { cause });
  return new InvalidArgumentError(`${path}: ${message}`, op, { cause });
}

import {
  AlreadyExistsError,
  EagreError,
  errorFromCode,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  PermissionDeniedError,
  ResourceExhaustedError,
  UnavailableError,
  UnimplementedError,
  UnknownError,
} from './errors.ts';

type Maker = new (message: string, op?: string, options?: ErrorOptions) => EagreError;

// By the code of the system: the error, and what to do.
const KNOWN: Readonly<Record<string, readonly [Maker, string]>> = {
  ENOENT: [NotFoundError, 'there is no such file or folder'],
  ENOTDIR: [NotFoundError, 'a part of the path is a file, not a folder'],
  EACCES: [
    PermissionDeniedError,
    'permission denied: change the rights of the file, or choose another place',
  ],
  EPERM: [PermissionDeniedError, 'the system does not permit it: choose another place'],
  EROFS: [PermissionDeniedError, 'the file system is read-only: choose another place'],
  ENOSPC: [ResourceExhaustedError, 'no space is left on the device: free some, or choose another place'],
  EDQUOT: [ResourceExhaustedError, 'the disk quota is used up: free some space, or choose another place'],
  EFBIG: [ResourceExhaustedError, 'the file would be larger than the system permits: see `ulimit -f`'],
  EMFILE: [ResourceExhaustedError, 'the process has too many open files: close some, or raise `ulimit -n`'],
  ENFILE: [ResourceExhaustedError, 'the system has too many open files: close some'],
  ENOMEM: [ResourceExhaustedError, 'the system has no memory left'],
  EISDIR: [FailedPreconditionError, 'it is a folder, not a file'],
  EEXIST: [AlreadyExistsError, 'it exists already'],
  ENOTEMPTY: [FailedPreconditionError, 'the folder is not empty'],
  ENAMETOOLONG: [FailedPreconditionError, 'the name is too long'],
  ELOOP: [FailedPreconditionError, 'there are too many symbolic links'],
  ENXIO: [FailedPreconditionError, 'it is a socket, or a device that is not there'],
  EBUSY: [UnavailableError, 'another program uses it: try again later'],
  ETXTBSY: [UnavailableError, 'another program uses it: try again later'],
  EIO: [UnavailableError, 'the device failed to read or write: try again, and look after the disk'],
};

/**
 * What the file system threw, as an error of Eagre that names the file and says what to do; the original is its cause. Everything else
 * comes back as it is.
 * @param path the file, where the system's error does not name it.
 * @param op what was called.
 */
export function fileError(cause: unknown, path?: string, op?: string): unknown {
  if (!(cause instanceof Error) || cause instanceof EagreError) return cause;
  // Of @eagre/formats: of URLs, of files that were chosen, of what pages keep.
  if (cause.name === 'SourceError') {
    const error = errorFromCode((cause as unknown as EagreError).code, cause.message, op);
    error.cause = cause;
    return error;
  }
  // Of @eagre/formats, in pages.
  if (cause.name === 'NoFilesError') return new UnimplementedError(cause.message, op, { cause });
  // Node looks at paths before it asks the system: none holds a NUL.
  if (
    (cause as NodeJS.ErrnoException).code === 'ERR_INVALID_ARG_VALUE' &&
    cause.message.includes('null bytes')
  )
    return new InvalidArgumentError(`a path has no NUL in it, got ${JSON.stringify(path ?? '')}`, op, {
      cause,
    });
  if (!('syscall' in cause)) return cause;
  const { code = '', path: named, syscall } = cause as NodeJS.ErrnoException;
  const [Kind, help] = KNOWN[code] ?? [];
  const where = named ?? path ?? 'a file';
  return Kind === undefined || help === undefined
    ? new UnknownError(`${where}: the system failed to ${syscall}: ${cause.message}`, op, { cause })
    : new Kind(`${where}: ${help} (${code})`, op, { cause });
}

/** Runs `fn`; what the file system throws becomes an error of Eagre. */
export function withFileErrors<T>(path: string | undefined, op: string | undefined, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw fileError(cause, path, op);
  }
}

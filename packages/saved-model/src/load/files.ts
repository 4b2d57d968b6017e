// Files of a SavedModel, and their errors as Eagre's.
import { fileError } from '@eagre/backend';
import {
  DataLossError,
  EagreError,
  InvalidArgumentError,
  NotFoundError,
  UnimplementedError,
} from '@eagre/core';
import { FormatError, readFileBytes, UnsupportedFormatError } from '@eagre/formats';

/** What goes on between two names in a path on any system. */
const SEPARATORS = /[\\/]+/;

/** The path of something in a folder. */
export function inside(folder: string, ...names: readonly string[]): string {
  return [folder.replace(/[\\/]+$/, '') || '/', ...names].join('/');
}

/** The path of a file that a model names. @throws InvalidArgumentError for a path that leads out of the folder. */
export function checkedPath(folder: string, name: string): string {
  const parts = name.split(SEPARATORS);
  const leaves = name === '' || /^([\\/]|[a-z]:)/i.test(name) || name.includes('\0') || parts.includes('..');
  if (leaves)
    throw new InvalidArgumentError(`the model names the file '${name}', which is not in its folder`, OP);
  return inside(folder, ...parts);
}

/** The bytes of a file. @throws NotFoundError, PermissionDeniedError, … for what the file system refuses. */
export async function bytesOf(path: string): Promise<Uint8Array> {
  try {
    return await readFileBytes(path);
  } catch (cause) {
    throw fileError(cause, path, OP);
  }
}

/** Errors of files and formats as Eagre's. */
export function translatedError(cause: unknown, path: string): unknown {
  if (cause instanceof EagreError) return cause;
  if (cause instanceof UnsupportedFormatError) return new UnimplementedError(cause.message, OP, { cause });
  if (cause instanceof FormatError) return new DataLossError(cause.message, OP, { cause });
  const { code, path: missing } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new NotFoundError(`there is no file ${missing ?? path}`, OP, { cause });
  return fileError(cause, path, OP);
}

export const OP = 'savedModel.load';

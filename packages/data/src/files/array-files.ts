// Files of arrays, with errors of Eagre for what the file system throws.
import { fileError } from '@eagre/backend';
import * as formats from '@eagre/formats';

function typed<A extends [path: string, ...unknown[]], R>(
  op: string,
  fn: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return await fn(...args);
    } catch (cause) {
      throw fileError(cause, args[0], op);
    }
  };
}

/** Reads an IDX file, gzipped or not. */
export const readIdxFile: typeof formats.readIdxFile = typed('readIdxFile', formats.readIdxFile);
/** Reads a `.npy` file. */
export const readNpyFile: typeof formats.readNpyFile = typed('readNpyFile', formats.readNpyFile);
/** Reads a `.npz` file. */
export const readNpzFile: typeof formats.readNpzFile = typed('readNpzFile', formats.readNpzFile);
/** Reads a safetensors file. */
export const readSafetensorsFile: typeof formats.readSafetensorsFile = typed(
  'readSafetensorsFile',
  formats.readSafetensorsFile,
);
/** Writes a `.npy` file, whole or not at all. */
export const writeNpyFile: typeof formats.writeNpyFile = typed('writeNpyFile', formats.writeNpyFile);
/** Writes a `.npz` file, whole or not at all. */
export const writeNpzFile: typeof formats.writeNpzFile = typed('writeNpzFile', formats.writeNpzFile);
/** Writes a safetensors file, whole or not at all. */
export const writeSafetensorsFile: typeof formats.writeSafetensorsFile = typed(
  'writeSafetensorsFile',
  formats.writeSafetensorsFile,
);

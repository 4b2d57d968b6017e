// Files of arrays, with errors of Eagre for what the file system throws and for arrays that make no sense.
import { DataLossError, fileError, InvalidArgumentError } from '@eagre/backend';
import {
  checkPath,
  checkText,
  defineFunction,
  isPlain,
  kind,
  type NamedFunction,
  shown,
} from '@eagre/core/internal';
import type { NamedArrays, NDArray, Safetensors } from '@eagre/formats';
import * as formats from '@eagre/formats';

function checkArray(value: unknown, what: string, op: string): void {
  const { dtype, shape, data } = (value ?? {}) as { dtype?: unknown; shape?: unknown; data?: unknown };
  if (typeof dtype === 'string' && Array.isArray(shape) && ArrayBuffer.isView(data)) return;
  throw new InvalidArgumentError(
    `${what} must be { dtype, shape, data }, as tensor.ndarray() returns it, got ${shown(value)}`,
    op,
  );
}

function checkArrays(arrays: unknown, what: string, op: string): void {
  if (!(arrays instanceof Map) && !isPlain(arrays))
    throw new InvalidArgumentError(`${what} must be an object or a map of arrays, got ${shown(arrays)}`, op);
  const entries: Iterable<readonly [unknown, unknown]> =
    arrays instanceof Map ? arrays.entries() : Object.entries(arrays);
  for (const [name, item] of entries) {
    checkText(name, `a name in ${what}`, op);
    checkArray(item, `${what}.${String(name)}`, op);
  }
}

async function withFile<R>(
  op: string,
  file: string,
  Wrong: typeof DataLossError | typeof InvalidArgumentError,
  run: () => Promise<R>,
): Promise<R> {
  checkPath(file, 'path', op);
  try {
    return await run();
  } catch (cause) {
    if (cause instanceof formats.FormatError) throw new Wrong(cause.message, op, { cause });
    throw fileError(cause, file, op);
  }
}

// What cannot be written is an argument, where what cannot be read is a file.
const reading = <R>(op: string, file: string, read: () => Promise<R>): Promise<R> =>
  withFile(op, file, DataLossError, read);
const writing = (op: string, file: string, write: () => Promise<void>): Promise<void> =>
  withFile(op, file, InvalidArgumentError, write);

/** Reads an IDX file, gzipped or not. */
export const readIdxFile: NamedFunction<[path: string], ['path'], unknown, Promise<NDArray>> = defineFunction(
  'tf.io.readIdxFile',
  { path: true },
  {},
  async (path) => await reading('tf.io.readIdxFile', path, () => formats.readIdxFile(path)),
);

/** Reads a `.npy` file. */
export const readNpyFile: NamedFunction<[path: string], ['path'], unknown, Promise<NDArray>> = defineFunction(
  'tf.io.readNpyFile',
  { path: true },
  {},
  async (path) => await reading('tf.io.readNpyFile', path, () => formats.readNpyFile(path)),
);

/** Reads a `.npz` file. */
export const readNpzFile: NamedFunction<
  [path: string],
  ['path'],
  formats.DecodeNpzOptions,
  Promise<Map<string, NDArray>>
> = defineFunction(
  'tf.io.readNpzFile',
  { path: true },
  { file: true, filter: true, maxBytes: true },
  async (path, options) => await reading('tf.io.readNpzFile', path, () => formats.readNpzFile(path, options)),
);

/** Reads a safetensors file. */
export const readSafetensorsFile: NamedFunction<
  [path: string],
  ['path'],
  formats.DecodeSafetensorsOptions,
  Promise<Safetensors>
> = defineFunction(
  'tf.io.readSafetensorsFile',
  { path: true },
  { file: true, filter: true },
  async (path, options) =>
    await reading('tf.io.readSafetensorsFile', path, () => formats.readSafetensorsFile(path, options)),
);

/** Writes a `.npy` file, whole or not at all. */
export const writeNpyFile: NamedFunction<
  [path: string, array: NDArray],
  ['path', 'array'],
  unknown,
  Promise<void>
> = defineFunction('tf.io.writeNpyFile', { path: true, array: kind.structure }, {}, async (path, array) => {
  checkArray(array, 'array', 'tf.io.writeNpyFile');
  await writing('tf.io.writeNpyFile', path, () => formats.writeNpyFile(path, array));
});

/**
 * Writes a `.npz` file, whole or not at all. `{ arrays }` is the argument by its name: an array alone that is called so itself is written as
 * `{ arrays: { arrays } }`.
 */
export const writeNpzFile: NamedFunction<
  [path: string, arrays: NamedArrays],
  ['path', 'arrays'],
  formats.EncodeNpzOptions,
  Promise<void>
> = defineFunction(
  'tf.io.writeNpzFile',
  { path: true, arrays: kind.structure },
  { compress: true },
  async (path, arrays, options) => {
    checkArrays(arrays, 'arrays', 'tf.io.writeNpzFile');
    await writing('tf.io.writeNpzFile', path, () => formats.writeNpzFile(path, arrays, options));
  },
);

/**
 * Writes a safetensors file, whole or not at all. `{ tensors }` and `{ metadata }` are the arguments by their names: what is called so
 * itself is written as `{ tensors: { tensors } }`.
 */
export const writeSafetensorsFile: NamedFunction<
  [path: string, tensors: NamedArrays, metadata?: Readonly<Record<string, string>>],
  ['path', 'tensors', 'metadata'],
  unknown,
  Promise<void>
> = defineFunction(
  'tf.io.writeSafetensorsFile',
  { path: true, tensors: kind.structure, metadata: kind.structure },
  {},
  async (path, tensors, metadata: Readonly<Record<string, string>> = {}) => {
    const op = 'tf.io.writeSafetensorsFile';
    checkArrays(tensors, 'tensors', op);
    if (!isPlain(metadata))
      throw new InvalidArgumentError(`metadata must be an object, got ${shown(metadata)}`, op);
    for (const [name, text] of Object.entries(metadata)) checkText(text, `metadata.${name}`, op);
    await writing(op, path, () => formats.writeSafetensorsFile(path, tensors, metadata));
  },
);

// The formats between which `eagre convert` converts: a row each.
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import {
  BundleReader,
  BundleWriter,
  dataTypeInfo,
  dataTypeNumber,
  type NDArray,
  readNpyFile,
  readNpzFile,
  SafetensorsModel,
  safetensorsKind,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsModel,
  writeSafetensorsTensors,
} from '@eagre/formats';
import { encodeElements } from '@eagre/formats/internal';
import { newestIn } from '../inspect/checkpoint.ts';
import { type ArraySource, onlyArray, readAll, sourceOf } from './array-source.ts';

/** How something is read. */
export interface ReadOptions {
  /** Whether arrays of texts are left out, and not refused. */
  readonly skipStrings?: boolean | undefined;
}

/** How something is written. */
export interface WriteOptions {
  /** The most bytes of each of several safetensors files. */
  readonly maxShardSize?: number | undefined;
}

/** One format. */
export interface Format {
  /** What `--from` and `--to` call it. */
  readonly name: string;
  /** What it is, for people. */
  readonly title: string;
  /** Whether there is such a thing at a path. */
  reads(path: string): boolean;
  /** Whether a path stands for it when something is written. */
  writes(path: string, options: WriteOptions): boolean;
  /** The files that are written, of which none may be there. */
  files(path: string): readonly string[];
  open(path: string, options: ReadOptions): Promise<ArraySource>;
  /** Writes everything or nothing. */
  write(path: string, source: ArraySource, options: WriteOptions): Promise<void>;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
const endsIn =
  (...endings: readonly string[]) =>
  (path: string): boolean =>
    endings.some((ending) => path.toLowerCase().endsWith(ending));
const INDEX = 'model.safetensors.index.json';

const safetensors: Format = {
  name: 'safetensors',
  title: 'a .safetensors file',
  reads: endsIn('.safetensors'),
  writes: endsIn('.safetensors'),
  files: (path) => [path],
  open: openSafetensors,
  write: (path, { arrays, metadata }) => writeSafetensorsTensors(path, arrays, metadata),
};

const shards: Format = {
  name: 'safetensors-folder',
  title: 'a folder of .safetensors files, with an index if there are several',
  reads: (path) =>
    path.endsWith('.safetensors.index.json') ||
    (isFolder(path) && [INDEX, 'model.safetensors'].some((name) => existsSync(join(path, name)))),
  writes: (path, { maxShardSize }) => maxShardSize !== undefined || /[/\\]$/.test(path),
  files: (path) => [join(path, INDEX), join(path, 'model.safetensors')],
  open: openSafetensors,
  write: async (path, { arrays, metadata }, { maxShardSize }) => {
    await writeSafetensorsModel(path, arrays, { maxShardSize, metadata });
  },
};

const npz: Format = {
  name: 'npz',
  title: 'a .npz file of NumPy',
  reads: endsIn('.npz'),
  writes: endsIn('.npz'),
  files: (path) => [path],
  open: async (path) => sourceOf(await readNpzFile(path)),
  write: async (path, source) => {
    refuseBrainFloats(source, path);
    await writeNpzFile(path, await readAll(source));
  },
};

const npy: Format = {
  name: 'npy',
  title: 'a .npy file of NumPy, with one array',
  reads: endsIn('.npy'),
  writes: endsIn('.npy'),
  files: (path) => [path],
  // An array without a name gets that of its file.
  open: async (path) => sourceOf(new Map([[basename(path).replace(/\.npy$/i, ''), await readNpyFile(path)]])),
  write: async (path, source) => {
    const array = onlyArray(source, path);
    refuseBrainFloats(source, path);
    await writeNpyFile(path, await array.read());
  },
};

const checkpoint: Format = {
  name: 'checkpoint',
  title: 'a TensorFlow checkpoint, by its prefix',
  reads: (path) =>
    existsSync(`${path}.index`) ||
    /\.(index|data-\d{5}-of-\d{5})$/.test(path) ||
    (isFolder(path) && newestIn(path) !== undefined),
  // A prefix has no extension; `ckpt-3.5` would be one, too.
  writes: (path) => !/\.[a-z]\w*$/i.test(path),
  files: (path) => [`${path}.index`],
  open: openCheckpoint,
  write: writeCheckpoint,
};

/** All formats. The first that fits a path is taken. */
export const formats: readonly Format[] = [safetensors, shards, npz, npy, checkpoint];

async function openSafetensors(path: string): Promise<ArraySource> {
  const model = await SafetensorsModel.open(path);
  const arrays = [...model.entries].map(([name, { dtype, shape, file }]) => ({
    name,
    dtype: safetensorsKind(name, dtype, file),
    shape,
    read: () => model.read(name),
  }));
  const texts = Object.entries(model.metadata).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    arrays,
    metadata: texts.length === 0 ? undefined : Object.fromEntries(texts),
    close: () => model.close(),
  };
}

/** NumPy has no name for bfloat16. */
function refuseBrainFloats({ arrays }: ArraySource, path: string): void {
  const found = arrays.find(({ dtype }) => dtype === 'bfloat16');
  if (found === undefined) return;
  throw new UnimplementedError(
    `${path}: '${found.name}' is bfloat16, which NumPy's files cannot hold; pass --dtype float32`,
    'convert',
  );
}

// The graph of objects beside the values of a checkpoint, which names alone do not make.
const OBJECT_GRAPH = '_CHECKPOINTABLE_OBJECT_GRAPH';

async function openCheckpoint(path: string, { skipStrings = false }: ReadOptions): Promise<ArraySource> {
  const prefix = isFolder(path)
    ? (newestIn(path) as string)
    : path.replace(/\.(index|data-\d{5}-of-\d{5})$/, '');
  const reader = await BundleReader.open(prefix);
  const arrays = [...reader.entries()].flatMap(([name, { dtype, shape }]) => {
    if (name === OBJECT_GRAPH || (skipStrings && dtype === 'string')) return [];
    // Quantized integers are integers here.
    const kind = dataTypeInfo(dataTypeNumber(dtype) ?? 0)?.kind;
    if (kind === undefined)
      throw new UnimplementedError(
        `${prefix}: '${name}' is ${dtype}, which is no array of numbers${dtype === 'string' ? '; pass --skip-strings to leave texts out' : ''}`,
        'convert',
      );
    const read = async (): Promise<NDArray> => (await reader.readAsync(name)) as NDArray;
    return [{ name, dtype: kind, shape, read }];
  });
  return { arrays, close: async () => {} };
}

async function writeCheckpoint(path: string, { arrays }: ArraySource): Promise<void> {
  if (arrays.some(({ name }) => name === ''))
    throw new InvalidArgumentError('an array of a checkpoint must have a name', 'convert');
  const writer = new BundleWriter(path);
  try {
    for (const { name, dtype, shape, read } of arrays)
      await writer.addAsync(name, dtype, shape, encodeElements(await read()));
    await writer.finishAsync();
  } catch (cause) {
    writer.abort();
    throw cause;
  }
}

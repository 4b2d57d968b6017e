// The formats between which `eagre convert` converts: a row each.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import {
  BundleReader,
  BundleWriter,
  dataTypeInfo,
  dataTypeNumber,
  encodeHdf5,
  type Hdf5Group,
  Hdf5GroupBuilder,
  isHdf5Dataset,
  type NDArray,
  readHdf5File,
  readNpyFile,
  readNpzFile,
  SafetensorsModel,
  safetensorsKind,
  writeFileAtomic,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsModel,
  writeSafetensorsTensors,
} from '@eagre/formats';
import { encodeElements } from '@eagre/formats/internal';
import {
  parseTfjsModel,
  readTfjsModel,
  readTfjsWeights,
  TFJS_MODEL_FILE,
  type TfjsModel,
} from '@eagre/formats/tensorflow-js';
import { newestIn } from '../inspect/checkpoint.ts';
import { tfjsFileAt } from '../inspect/tfjs.ts';
import { type ArraySource, onlyArray, readAll, sourceOf } from './array-source.ts';
import {
  loadKeras,
  loadOnnx,
  loadSavedModel,
  type ModelSource,
  openWeights,
  saveKeras,
  saveOnnx,
  saveSavedModel,
} from './models.ts';

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

/** How arrays of a format are read and written, one by one. */
export interface Arrays {
  open(path: string, options: ReadOptions): Promise<ArraySource>;
  /** Writes everything or nothing. */
  write(path: string, source: ArraySource, options: WriteOptions): Promise<void>;
}

/** How models of a format are read and written. */
export interface Models {
  load(path: string): Promise<ModelSource>;
  /** Writes everything or nothing; of a format that is only read there is none. */
  readonly save?: (path: string, source: ModelSource) => Promise<void>;
  /** Whether they are layers of Keras, and not functions. */
  readonly ofLayers?: boolean;
}

/** One format: of arrays, of models, or of models whose weights can be read as arrays. */
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
  readonly arrays?: Pick<Arrays, 'open'> & Partial<Arrays>;
  readonly models?: Models;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
const endsIn =
  (...endings: readonly string[]) =>
  (path: string): boolean =>
    endings.some((ending) => path.toLowerCase().endsWith(ending));
/** Whether a path ends as the files of a format do. */
const isFileName = endsIn('.safetensors', '.npz', '.npy', '.h5', '.keras', '.onnx');
const INDEX = 'model.safetensors.index.json';

const safetensors: Format = {
  name: 'safetensors',
  title: 'a .safetensors file',
  reads: endsIn('.safetensors'),
  writes: endsIn('.safetensors'),
  files: (path) => [path],
  arrays: {
    open: openSafetensors,
    write: (path, { arrays, metadata }) => writeSafetensorsTensors(path, arrays, metadata),
  },
};

const shards: Format = {
  name: 'safetensors-folder',
  title: 'a folder of .safetensors files, with an index if there are several',
  reads: (path) =>
    path.endsWith('.safetensors.index.json') ||
    (isFolder(path) && [INDEX, 'model.safetensors'].some((name) => existsSync(join(path, name)))),
  writes: (path, { maxShardSize }) =>
    (maxShardSize !== undefined && !isFileName(path)) || /[/\\]$/.test(path),
  files: (path) => [join(path, INDEX), join(path, 'model.safetensors')],
  arrays: {
    open: openSafetensors,
    write: async (path, { arrays, metadata }, { maxShardSize }) => {
      await writeSafetensorsModel(path, arrays, { maxShardSize, metadata });
    },
  },
};

const npz: Format = {
  name: 'npz',
  title: 'a .npz file of NumPy',
  reads: endsIn('.npz'),
  writes: endsIn('.npz'),
  files: (path) => [path],
  arrays: {
    open: async (path) => sourceOf(await readNpzFile(path)),
    write: async (path, source) => {
      refuseBrainFloats(source, path);
      await writeNpzFile(path, await readAll(source));
    },
  },
};

const npy: Format = {
  name: 'npy',
  title: 'a .npy file of NumPy, with one array',
  reads: endsIn('.npy'),
  writes: endsIn('.npy'),
  files: (path) => [path],
  // An array without a name gets that of its file.
  arrays: {
    open: async (path) =>
      sourceOf(new Map([[basename(path).replace(/\.npy$/i, ''), await readNpyFile(path)]])),
    write: async (path, source) => {
      const array = onlyArray(source, path);
      refuseBrainFloats(source, path);
      await writeNpyFile(path, await array.read());
    },
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
  arrays: {
    open: openCheckpoint,
    write: writeCheckpoint,
  },
};

const weightsH5: Format = {
  name: 'weights-h5',
  title: "weights in Keras's .weights.h5 file",
  reads: endsIn('.weights.h5'),
  writes: endsIn('.weights.h5'),
  files: (path) => [path],
  arrays: {
    open: async (path) => sourceOf(await readHdf5File(path, (root) => hdf5Arrays(root, path))),
    write: async (path, source) => {
      const root = new Hdf5GroupBuilder();
      for (const [name, array] of await readAll(source)) putArray(root, name, array);
      await writeFileAtomic(path, encodeHdf5(root));
    },
  },
};

const keras: Format = {
  name: 'keras',
  title: "a model in Keras's .keras file",
  reads: endsIn('.keras'),
  writes: endsIn('.keras'),
  files: (path) => [path],
  arrays: { open: openWeights },
  models: { load: loadKeras, save: saveKeras, ofLayers: true },
};

const kerasH5: Format = {
  name: 'keras-h5',
  title: "a model in Keras's older .h5 file",
  reads: (path) => endsIn('.h5', '.hdf5')(path) && !weightsH5.reads(path),
  writes: (path) => endsIn('.h5')(path) && !weightsH5.writes(path, {}),
  files: (path) => [path],
  arrays: { open: openWeights },
  models: { load: loadKeras, save: saveKeras, ofLayers: true },
};

const onnx: Format = {
  name: 'onnx',
  title: 'an .onnx file',
  reads: endsIn('.onnx'),
  writes: endsIn('.onnx'),
  files: (path) => [path],
  models: { load: loadOnnx, save: saveOnnx },
};

const savedModel: Format = {
  name: 'saved-model',
  title: "a folder with TensorFlow's SavedModel",
  reads: (path) => isFolder(path) && existsSync(join(path, 'saved_model.pb')),
  writes: (path) => !/\.[a-z]\w*$/i.test(path),
  files: (path) => [join(path, 'saved_model.pb')],
  models: { load: loadSavedModel, save: saveSavedModel },
};

/** The kind of a model of TensorFlow.js; a file that is none is read as one, and refused then. */
function tfjsKind(path: string): TfjsModel['kind'] | null {
  if (isFolder(path) ? existsSync(join(path, 'saved_model.pb')) : !isTfjsName(path)) return null;
  const file = tfjsFileAt(path);
  if (file === undefined || !existsSync(file)) return null;
  // A pipe would be waited for.
  if (!statSync(file).isFile()) return 'graph-model';
  try {
    return parseTfjsModel(readFileSync(file), file).kind;
  } catch {
    return 'graph-model';
  }
}
const isTfjsName = (path: string): boolean =>
  path.endsWith('.json') && !/\.(weights|index)\.json$/.test(path);

/** The file of a graph: a path by itself, or in a folder. */
const graphFile = (path: string): string => (isTfjsName(path) ? path : join(path, TFJS_MODEL_FILE));

const tfjsLayers: Format = {
  name: 'tfjs-layers',
  title: 'a model of Keras in a model.json of TensorFlow.js',
  reads: (path) => tfjsKind(path) === 'layers-model',
  writes: isTfjsName,
  files: (path) => [path],
  arrays: { open: openWeights },
  models: { load: loadKeras, save: saveKeras, ofLayers: true },
};

const tfjsGraph: Format = {
  name: 'tfjs-graph',
  title: 'a graph in a model.json of TensorFlow.js',
  reads: (path) => tfjsKind(path) === 'graph-model',
  writes: isTfjsName,
  files: (path) => [graphFile(path)],
  arrays: { open: openConstants },
  models: { load: loadSavedModel, save: (path, source) => saveSavedModel(graphFile(path), source) },
};

/** All formats. The first that fits a path, and what is converted, is taken. */
export const formats: readonly Format[] = [
  safetensors,
  shards,
  npz,
  npy,
  weightsH5,
  keras,
  kerasH5,
  onnx,
  savedModel,
  tfjsLayers,
  tfjsGraph,
  checkpoint,
];

/** Whether what is read has the layers that are written. */
export const hasLayersFor = (from: Format, to: Format): boolean =>
  to.models?.ofLayers !== true || from.models?.ofLayers === true;

/** How one format becomes another: as models, or by their arrays. Null where it cannot. */
export function wayBetween(from: Format, to: Format): 'models' | 'arrays' | null {
  if (from.models !== undefined && to.models?.save !== undefined) return 'models';
  return from.arrays !== undefined && to.arrays?.write !== undefined ? 'arrays' : null;
}

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

/** The constants of a graph of TensorFlow.js. */
async function openConstants(path: string): Promise<ArraySource> {
  const model = await readTfjsModel(tfjsFileAt(path) ?? path);
  const arrays = new Map<string, NDArray>();
  for (const [name, value] of await readTfjsWeights(model)) {
    if (value.dtype === 'string')
      throw new UnimplementedError(`${path}: '${name}' holds texts, and is no array of numbers`, 'convert');
    arrays.set(name, value);
  }
  return sourceOf(arrays);
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

/** The arrays of an HDF5 file by their paths. */
function hdf5Arrays(root: Hdf5Group, path: string): Map<string, NDArray> {
  const arrays = new Map<string, NDArray>();
  const visit = (group: Hdf5Group, prefix: string): void => {
    for (const [name, child] of group.children) {
      if (!isHdf5Dataset(child)) visit(child, `${prefix}${name}/`);
      else if (child.dtype === null)
        throw new UnimplementedError(
          `${path}: '${prefix}${name}' is ${child.type}, which is no array of numbers`,
          'convert',
        );
      else arrays.set(`${prefix}${name}`, child.read());
    }
  };
  visit(root, '');
  return arrays;
}

function putArray(root: Hdf5GroupBuilder, path: string, array: NDArray): void {
  const at = path.lastIndexOf('/');
  const { children } = at < 0 ? root : root.group(path.slice(0, at));
  const name = path.slice(at + 1);
  if (name === '' || children.has(name))
    throw new InvalidArgumentError(
      `'${path}' is no name that an HDF5 file can have beside the others`,
      'convert',
    );
  children.set(name, { shape: array.shape, dtype: array.dtype, read: () => array });
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

// Whole models and weights in Keras's files: `.keras`, `.weights.h5`, `.weights.json` and the older `.h5`. Loaded when the first one is used.
import { DataLossError, InvalidArgumentError, UnimplementedError } from '@eagre/core';
import type { FetchOptions, RequestOptions } from '@eagre/formats';
import {
  encodeHdf5,
  type FileParts,
  makeFolders,
  readFileBytes,
  readHdf5,
  readHdf5File,
  writeFileAtomic,
  writeFilesAtomic,
} from '@eagre/formats';
import {
  deleteLeftoverFolders,
  folderBeside,
  hasFiles,
  isUrl,
  joined,
  nodeBuiltin,
  replaceFolder,
  restoreFolder,
} from '@eagre/formats/internal';
import { beginsAsJson, TFJS_MODEL_FILE } from '@eagre/formats/tensorflow-js';
import type { Layer } from '../layer/layer.ts';
import { Model } from '../models/model.ts';
import {
  ASSETS,
  archiveOf,
  CONFIG,
  checkName,
  encodeArchive,
  METADATA,
  modelOfArchive,
  readArchive,
  WEIGHTS,
} from './keras-archive.ts';
import { loadState, saveState } from './keras-state.ts';
import { encodeLegacyModel, loadLegacyWeights, modelOfLegacy } from './legacy-h5.ts';
import type { ModelReading } from './model-config.ts';
import { readError, writeError } from './read-error.ts';
import { isModelPath, unbuilt } from './saving.ts';
import { loadShards, saveShards } from './sharded-weights.ts';
import { loadTfjsModel, modelOfTfjs, readTfjsBytes } from './tfjs-model.ts';
import { encodeTfjs } from './tfjs-writer.ts';

/** Of `model.save` and `saveModel`. */
export interface SaveOptions {
  /** Whether a file, or a folder, of that name is replaced; true unless given. Otherwise it is an error. */
  readonly overwrite?: boolean;
  /** Whether the files of the model are packed into one; true unless given. If not, the path is a folder's. */
  readonly zipped?: boolean;
  /** Of `.h5` files: whether what the model was compiled with is saved too; true unless given. */
  readonly includeOptimizer?: boolean;
  /** Of `http://` and `https://`: how the model is sent: `method`, `headers`, `credentials` and others of `fetch`. */
  readonly requestInit?: RequestOptions | null;
}

/** Of `loadModel`. */
export interface LoadOptions extends FetchOptions {
  /** Classes and functions of your own by name. */
  readonly customObjects?: Readonly<Record<string, unknown>> | null;
  /** Whether a model that was compiled is compiled again, with the state of its optimizer; true unless given. */
  readonly compile?: boolean;
  /** Whether layers with functions of Python are refused in any case; true unless given. Code in files is never run. */
  readonly safeMode?: boolean;
}

/** Of `saveWeights` into Keras's files. */
export interface SaveWeightsOptions {
  /** Whether a file that is there already is replaced; true by default. */
  readonly overwrite?: boolean;
  /** The most gigabytes (2^30 bytes) in one file: writes `.weights.json` and files beside it. */
  readonly maxShardSize?: number | null;
}

/** Of `loadWeights` from Keras's files. */
export interface LoadWeightsOptions {
  /** Whether layers whose weights do not fit are passed over, with a warning; false unless given. */
  readonly skipMismatch?: boolean;
  /** Of older `.h5` files: whether layers are found by their names, others being left out, instead of by their places. */
  readonly byName?: boolean;
  /** Of `.weights.h5` and `.weights.json`: layers that keep their values, with all inside. */
  readonly objectsToSkip?: readonly object[] | null;
}

const isLegacy = (path: string): boolean => isModelPath(path) && !path.endsWith('.keras');
const LEGACY = "this is Keras's older format; prefer model.save('model.keras')";

/** @throws InvalidArgumentError where there is something that is not to be replaced */
function checkOverwrite(path: string, overwrite: boolean, op: string): void {
  if (overwrite || !nodeBuiltin('node:fs').existsSync(path)) return;
  throw new InvalidArgumentError(`${path} exists, and overwrite is false`, op);
}

/** Writes a file, whole or not at all, with the folders above it. */
export async function writeWhole(path: string, parts: FileParts, op: string): Promise<void> {
  try {
    makeFolders(nodeBuiltin('node:path').dirname(path));
    await writeFileAtomic(path, parts);
  } catch (cause) {
    throw writeError(cause, path, op);
  }
}

/** Writes a model, whole or not at all. */
export async function saveModel(
  model: Layer,
  path: string,
  { overwrite = true, zipped = true, includeOptimizer = true }: SaveOptions,
): Promise<void> {
  if (!hasFiles())
    throw new UnimplementedError(
      'a page has no files: saveModelToBytes(model) gives the bytes of a .keras file',
      'saveModel',
    );
  const refuse = (message: string): never => {
    throw new InvalidArgumentError(message, 'saveModel');
  };
  if (path.endsWith('.json') && !path.endsWith('.weights.json') && zipped)
    return writeTfjs(model, path, overwrite, includeOptimizer);
  const isKeras = path.endsWith('.keras');
  if (!zipped && isKeras)
    refuse(`with zipped: false the path is a folder's, which must not end in .keras, got ${path}`);
  if (zipped && !isKeras && !isLegacy(path))
    refuse(
      path.endsWith('.weights.h5')
        ? `${path} is a path of weights: use model.saveWeights(path), or a path that ends in .keras`
        : `the path must end in .keras, in .h5 for Keras's older format, or in .json for TensorFlow.js, got ${path}`,
    );
  checkOverwrite(path, overwrite, 'saveModel');
  const missing = model instanceof Model ? unbuilt(model) : undefined;
  if (missing !== undefined)
    console.warn(
      missing === model
        ? `${path}: '${model.name}' is not built, so the file has no weights of it; call the model on an example first`
        : `${path}: '${missing.name}' is not built, as nothing has called it, so the file has no weights of it`,
    );
  if (isLegacy(path) && zipped) {
    if (!(model instanceof Model)) return refuse(`a ${model.constructor.name} is kept in .keras files alone`);
    console.warn(`${path}: ${LEGACY}`);
    await writeWhole(path, encodeLegacyModel(model, includeOptimizer), 'saveModel');
  } else if (zipped) await writeWhole(path, encodeArchive(model), 'saveModel');
  else await writeFolder(model, path);
}

/** The files of a model for TensorFlow.js: `model.json`, and beside it those of the weights. */
async function writeTfjs(model: Layer, path: string, overwrite: boolean, optimizer: boolean): Promise<void> {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  checkOverwrite(path, overwrite, 'saveModel');
  const missing = model instanceof Model ? unbuilt(model) : undefined;
  if (!(model instanceof Model) || missing !== undefined)
    throw new InvalidArgumentError(
      `'${missing?.name ?? model.name}' is ${missing === undefined ? 'no model' : 'not built: call the model on an example first'}`,
      'saveModel',
    );
  const files = encodeTfjs(model, basename(path), optimizer);
  try {
    makeFolders(dirname(path));
    await writeFilesAtomic(files.map(([name, content]) => [join(dirname(path), name), content] as const));
  } catch (cause) {
    throw writeError(cause, path, 'saveModel');
  }
}

/** The files of a model in a folder, which appears as a whole. */
async function writeFolder(model: Layer, path: string): Promise<void> {
  const fs = nodeBuiltin('node:fs');
  const { dirname, join, resolve } = nodeBuiltin('node:path');
  const files = archiveOf(model);
  const found = fs.statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !(found.isDirectory() && isModelFolder(path, fs.readdirSync(path))))
    throw new InvalidArgumentError(
      `${path} is something else than the folder of a model, and is not replaced`,
      'saveModel',
    );
  const target = resolve(path);
  const temporary = folderBeside(target);
  try {
    makeFolders(dirname(target));
    deleteLeftoverFolders(target);
    for (const [name, content] of files) {
      const file = join(temporary, name);
      makeFolders(dirname(file));
      await writeFileAtomic(file, content);
    }
    replaceFolder(target, temporary);
  } catch (cause) {
    fs.rmSync(temporary, { recursive: true, force: true });
    throw writeError(cause, path, 'saveModel');
  }
}
/** Whether a folder may be replaced: it is empty, or holds what a model's does. */
function isModelFolder(path: string, names: readonly string[]): boolean {
  const own: readonly string[] = [CONFIG, METADATA, WEIGHTS, ASSETS];
  return names.every((name) => own.includes(name)) && path !== '';
}

/** The bytes of a `.keras` file, for where there are no files. */
export function modelBytes(model: Model): Uint8Array {
  return joined([...encodeArchive(model)]);
}

/**
 * Reads a model of a path, in pages of a URL, or of the bytes of a `.keras` or `.h5` file. The path may be that of a `model.json` of TensorFlow.js.
 * @param named what messages call bytes
 */
export async function loadModel(
  source: string | Uint8Array,
  { customObjects = null, compile = true, safeMode = true }: LoadOptions,
  named = 'bytes',
): Promise<Model> {
  const file = typeof source === 'string' ? source : named;
  const reading: ModelReading = { file, customObjects, compile, safeMode };
  try {
    if (typeof source !== 'string' && beginsAsJson(source))
      return await modelOfTfjs(...(await readTfjsBytes(source, file)), reading);
    if (typeof source !== 'string')
      return isHdf5(source)
        ? await readHdf5(source, (root) => modelOfLegacy(root, reading), { file })
        : await modelOfArchive(readArchive(source, file), reading);
    // A page fetches it. A save of a folder that was killed may have moved that away.
    if (!isUrl(source)) restoreFolder(nodeBuiltin('node:path').resolve(source));
    const json = tfjsModelAt(source);
    if (json !== null) return await loadTfjsModel(json, { ...reading, file: json });
    if (isLegacy(source)) return await readHdf5File(source, (root) => modelOfLegacy(root, reading));
    if (hasFiles() && nodeBuiltin('node:fs').statSync(source).isDirectory())
      return await modelOfArchive(await readFolder(source), reading);
    if (!source.endsWith('.keras'))
      throw new InvalidArgumentError(
        `${source}: a model is in a file that ends in .keras or .h5, in a folder with a ${CONFIG}, or in a ${TFJS_MODEL_FILE} of TensorFlow.js; for weights alone make the model first and use model.loadWeights`,
        'loadModel',
      );
    return await modelOfArchive(readArchive(await readFileBytes(source), file), reading);
  } catch (cause) {
    throw readError(cause, file, 'loadModel');
  }
}
/** The `model.json` of TensorFlow.js that is meant: the path itself, in pages before what stands behind it in a URL, or one in a folder that has no model of Keras. */
function tfjsModelAt(path: string): string | null {
  if (/\.weights\.json$/.test(path)) return null;
  if (isUrl(path)) return /\.json([?#]|$)/.test(path) ? path : null;
  const { existsSync, statSync } = nodeBuiltin('node:fs');
  const { join } = nodeBuiltin('node:path');
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return path.endsWith('.json') ? path : null;
  const file = join(path, TFJS_MODEL_FILE);
  return existsSync(file) && !existsSync(join(path, CONFIG)) ? file : null;
}
const HDF5_SIGNATURE = [0x89, 0x48, 0x44, 0x46];
const isHdf5 = (bytes: Uint8Array): boolean => HDF5_SIGNATURE.every((byte, i) => bytes[i] === byte);

/** The files in the folder of a model. */
async function readFolder(path: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const fs = nodeBuiltin('node:fs');
  const { join } = nodeBuiltin('node:path');
  const files = new Map<string, Uint8Array>();
  const read = async (inside: string): Promise<void> => {
    for (const entry of fs.readdirSync(join(path, inside), { withFileTypes: true })) {
      const name = inside === '' ? entry.name : `${inside}/${entry.name}`;
      const isOwn = [CONFIG, METADATA, WEIGHTS].includes(name) || name === ASSETS || inside !== '';
      // Something else, such as a README.
      if (!isOwn) continue;
      checkName(name, path);
      if (entry.isDirectory()) await read(name);
      else if (entry.isFile()) files.set(name, await readFileBytes(join(path, name)));
    }
  };
  await read('');
  return files;
}

/** Writes weights, with the state of the optimizer of `compile`. */
export async function saveKerasWeights(
  model: Model,
  path: string,
  { overwrite = true, maxShardSize = null }: SaveWeightsOptions,
): Promise<void> {
  checkOverwrite(path, overwrite, 'saveWeights');
  const { weights } = saveState(model);
  if (maxShardSize === null) return writeWhole(path, encodeHdf5(weights), 'saveWeights');
  return saveShards(weights, path, maxShardSize);
}

/** Reads weights of any of Keras's files. */
export async function loadKerasWeights(
  model: Model,
  path: string,
  { skipMismatch = false, byName = false, objectsToSkip = null }: LoadWeightsOptions,
): Promise<void> {
  const refuse = (name: string, where: string): never => {
    throw new InvalidArgumentError(`${name} works for ${where} only, got ${path}`, 'loadWeights');
  };
  if (byName && !isLegacy(path)) refuse('byName', 'older .h5 and .hdf5 files');
  const options = { file: path, skipMismatch, skip: objectsToSkip ?? [] };
  if (objectsToSkip !== null && !/\.weights\.(h5|json)$/.test(path))
    refuse('objectsToSkip', '.weights.h5 and .weights.json files');
  try {
    if (path.endsWith('.weights.json')) await loadShards(model, path, options);
    else if (path.endsWith('.keras')) {
      const bytes = readArchive(await readFileBytes(path), path).get(WEIGHTS);
      if (bytes === undefined)
        throw new DataLossError(`${path}: there is no ${WEIGHTS} in it`, 'loadWeights');
      await readHdf5(bytes, (root) => loadState(model, root, options), { file: path });
    } else if (isLegacy(path))
      await readHdf5File(path, (root) => loadLegacyWeights(model, root, { ...options, byName }));
    else await readHdf5File(path, (root) => loadState(model, root, options));
  } catch (cause) {
    throw readError(cause, path, 'loadWeights');
  }
}

// The files of weights that are TensorFlow's checkpoints or arrays by name. Loaded when there is one to write or to read.
import { Checkpoint, type CheckpointOptions, type LoadStatus } from '@eagre/checkpoint';
import { updateCheckpointState } from '@eagre/checkpoint/internal';
import { type DType, InvalidArgumentError, type TypedArray, UnimplementedError } from '@eagre/core';
import { sameShape, showShape } from '@eagre/core/internal';
import {
  decodeNpz,
  decodeSafetensors,
  makeFolders,
  type NDArray,
  readFileBytes,
  writeNpzFile,
  writeSafetensorsFile,
} from '@eagre/formats';
import { mostUnpacked, nodeBuiltin, readRegularSync } from '@eagre/formats/internal';
import type { NamedWeight } from '../layer/layer.ts';
import type { Model } from '../models/model.ts';
import { readError, writeError } from './read-error.ts';
import { builtWeights, formatOf } from './saving.ts';

type ArrayFormat = 'npz' | 'safetensors';

export async function writeCheckpoint(
  model: Model,
  path: string,
  options: CheckpointOptions | undefined,
): Promise<void> {
  await new Checkpoint(model).writeAsync(path, options);
  updateCheckpointState(nodeBuiltin('node:path').dirname(path), { latest: path, all: [path] });
}

export async function writeArrays(
  path: string,
  format: ArrayFormat,
  arrays: ReadonlyMap<string, NDArray>,
): Promise<void> {
  try {
    makeFolders(nodeBuiltin('node:path').dirname(path));
    if (format === 'npz') await writeNpzFile(path, arrays);
    else await writeSafetensorsFile(path, arrays, { format: 'eagre' });
  } catch (cause) {
    throw writeError(cause, path, 'saveWeights');
  }
}

/** Reads and checks everything before the first weight changes. */
export async function readArrays(
  model: Model,
  weights: readonly NamedWeight[],
  path: string,
  format: ArrayFormat,
): Promise<void> {
  let file: ReadonlyMap<string, NDArray>;
  try {
    file = arraysOf(await readFileBytes(path), path, format);
  } catch (cause) {
    throw readError(cause, path, 'loadWeights');
  }
  setWeights(model, weights, file, path);
}

function arraysOf(bytes: Uint8Array, file: string, format: ArrayFormat): ReadonlyMap<string, NDArray> {
  return format === 'npz'
    ? decodeNpz(bytes, { file, maxBytes: mostUnpacked(bytes.length) })
    : decodeSafetensors(bytes, { file }).tensors;
}

/** `loadWeights` at once, for a model that is handed out with its weights. */
export function loadWeightsSync(model: Model, path: string): void {
  const format = formatOf(path);
  if (format === 'keras')
    throw new UnimplementedError(
      `${path}: Keras's files are read later only; make the model without weights, and then await model.loadWeights(path)`,
    );
  if (format === 'checkpoint') {
    readCheckpoint(model, path);
    return;
  }
  const weights = builtWeights(model, 'loadWeights');
  let file: ReadonlyMap<string, NDArray>;
  try {
    file = arraysOf(readRegularSync(path, format), path, format);
  } catch (cause) {
    throw readError(cause, path, 'loadWeights');
  }
  setWeights(model, weights, file, path);
}

export function readCheckpoint(model: Model, path: string): LoadStatus {
  const status = new Checkpoint(model).read(path);
  // What is built and finds nothing would go on with initial values.
  if (model.weights.length > 0) status.assertNontrivialMatch();
  return status;
}

/** @throws InvalidArgumentError unless names, shapes and dtypes are those of the file. */
function setWeights(
  model: Model,
  weights: readonly NamedWeight[],
  file: ReadonlyMap<string, NDArray>,
  path: string,
): void {
  const missing = weights.filter((w) => !file.has(w.path)).map((w) => w.path);
  const names = new Set(weights.map((w) => w.path));
  const unknown = [...file.keys()].filter((name) => !names.has(name));
  if (missing.length > 0 || unknown.length > 0) {
    throw new InvalidArgumentError(
      `${path} does not match the model '${model.name}': ${[
        missing.length > 0 ? `the file lacks ${missing.join(', ')}` : '',
        unknown.length > 0 ? `the model lacks ${unknown.join(', ')}` : '',
      ]
        .filter((s) => s !== '')
        .join('; ')}`,
      'loadWeights',
    );
  }
  for (const { path: name, variable } of weights) {
    const array = file.get(name) as NDArray;
    if (!sameShape(array.shape, variable.shape) || array.dtype !== variable.dtype) {
      throw new InvalidArgumentError(
        `${path}: ${name} is ${array.dtype} ${showShape(array.shape)}, the model has ${variable.dtype} ${showShape(variable.shape)}`,
        'loadWeights',
      );
    }
  }
  for (const { path: name, variable } of weights) {
    const { data, shape, dtype } = file.get(name) as NDArray;
    variable.assign({ data: data as TypedArray, shape, dtype: dtype as DType });
  }
}

import { fileError } from '@eagre/backend';
import { Checkpoint, type CheckpointOptions, type LoadStatus } from '@eagre/checkpoint';
import { updateCheckpointState } from '@eagre/checkpoint/internal';
import {
  DataLossError,
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  type TypedArray,
} from '@eagre/core';
import { checkPath, sameShape, showShape } from '@eagre/core/internal';
import {
  decodeNpz,
  decodeSafetensors,
  FormatError,
  makeFolders,
  type NDArray,
  readNpzFile,
  readSafetensorsFile,
  writeNpzFile,
  writeSafetensorsFile,
} from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { Layer, type NamedWeight } from '../layer/layer.ts';
import type { Model } from '../models/model.ts';

/** How weights are kept: arrays by name in one file, or a checkpoint of TensorFlow. */
type Format = 'safetensors' | 'npz' | 'checkpoint';

/**
 * The format that a path stands for.
 * @throws InvalidArgumentError for an ending that stands for none.
 */
export function formatOf(path: string): Format {
  checkPath(path, 'the path of the weights');
  const ending = /\.([a-z]\w*)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) return 'checkpoint';
  if (ending === 'safetensors' || ending === 'npz') return ending;
  throw new InvalidArgumentError(
    `${path}: weights can be saved in .safetensors and .npz files, or in TensorFlow checkpoints, whose paths have no extension`,
  );
}

/** @throws InvalidArgumentError for options of checkpoints where the path is one of a file. */
export function checkOptionsFor(path: string, options: CheckpointOptions | undefined, op: string): void {
  if (options !== undefined && formatOf(path) !== 'checkpoint')
    throw new InvalidArgumentError(
      `options work for checkpoints only, whose paths have no extension; ${path} has one`,
      op,
    );
}

/** Writes every weight: under its path (`dense/kernel`) or, in a checkpoint, with its place in the model. */
export async function saveWeights(model: Model, path: string, options?: CheckpointOptions): Promise<void> {
  const format = formatOf(path);
  checkOptionsFor(path, options, 'saveWeights');
  const weights = builtWeights(model, 'saveWeights');
  if (format === 'checkpoint') {
    await new Checkpoint(model).writeAsync(path, options);
    updateCheckpointState(nodeBuiltin('node:path').dirname(path), { latest: path, all: [path] });
    return;
  }
  const arrays = new Map<string, NDArray>();
  for (const { path: name, variable } of weights) {
    arrays.set(name, variable.ndarray());
  }
  makeFolders(nodeBuiltin('node:path').dirname(path));
  if (format === 'npz') await writeNpzFile(path, arrays);
  else await writeSafetensorsFile(path, arrays, { format: 'eagre' });
}

/** Reads and checks everything before the first weight changes. @returns the status of a checkpoint, null for a file. */
export async function loadWeights(model: Model, path: string): Promise<LoadStatus | null> {
  const format = formatOf(path);
  if (format === 'checkpoint') return readCheckpoint(model, path);
  const weights = builtWeights(model, 'loadWeights');
  let file: ReadonlyMap<string, NDArray>;
  try {
    file = format === 'npz' ? await readNpzFile(path) : (await readSafetensorsFile(path)).tensors;
  } catch (cause) {
    throw readError(cause, path);
  }
  setWeights(model, weights, file, path);
  return null;
}

/** The same at once, for a model that is handed out with its weights. */
export function loadWeightsSync(model: Model, path: string): void {
  const format = formatOf(path);
  if (format === 'checkpoint') {
    readCheckpoint(model, path);
    return;
  }
  const weights = builtWeights(model, 'loadWeights');
  let file: ReadonlyMap<string, NDArray>;
  try {
    const bytes = nodeBuiltin('node:fs').readFileSync(path);
    file =
      format === 'npz' ? decodeNpz(bytes, { file: path }) : decodeSafetensors(bytes, { file: path }).tensors;
  } catch (cause) {
    throw readError(cause, path);
  }
  setWeights(model, weights, file, path);
}

function readCheckpoint(model: Model, path: string): LoadStatus {
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

/** What went wrong when a file was read. */
function readError(cause: unknown, path: string): unknown {
  if (cause instanceof FormatError) return new DataLossError(cause.message, 'loadWeights', { cause });
  if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
    return new NotFoundError(`there is no file ${path}`, 'loadWeights', { cause });
  return fileError(cause, path, 'loadWeights');
}

/** Every weight with its name. @throws FailedPreconditionError before there are all of them. */
export function builtWeights(model: Model, what: string): NamedWeight[] {
  const missing = unbuilt(model);
  if (missing !== undefined) {
    throw new FailedPreconditionError(
      `'${missing.name}' has no weights yet; call the model on an example or model.build([null, …]) first`,
      what,
    );
  }
  return model.namedWeights;
}

/** @internal The first layer, the model itself included, that will make weights only when it is called. */
export function unbuilt(model: Model): Layer | undefined {
  return [model, ...model.submodules].find(
    (m): m is Layer => m instanceof Layer && (m === model ? !m.built : m.awaitsBuild),
  );
}

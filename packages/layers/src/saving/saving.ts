import type { CheckpointOptions, LoadStatus } from '@eagre/checkpoint';
import { FailedPreconditionError, InvalidArgumentError, UnimplementedError } from '@eagre/core';
import { checkFlag, checkPath, type OptionNames } from '@eagre/core/internal';
import type { NDArray } from '@eagre/formats';
import { hasFiles, nodeBuiltin, schemeOf } from '@eagre/formats/internal';
import { Layer, type NamedWeight } from '../layer/layer.ts';
import { show } from '../layer/show.ts';
import type { Model } from '../models/model.ts';
import { whileReading } from './being-read.ts';
import type { LoadWeightsOptions, SaveOptions, SaveWeightsOptions } from './keras-files.ts';

/** How weights are kept: arrays by name in one file, a checkpoint of TensorFlow, or a file of Keras. */
type Format = 'safetensors' | 'npz' | 'checkpoint' | 'keras';

/**
 * The format that a path stands for.
 * @throws InvalidArgumentError for an ending that stands for none.
 */
export function formatOf(path: string): Format {
  checkPath(path, 'the path of the weights');
  const ending = /\.([a-z]\w*)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) return 'checkpoint';
  if (ending === 'safetensors' || ending === 'npz') return ending;
  if (/\.(h5|hdf5|keras|weights\.json)$/.test(path)) return 'keras';
  throw new InvalidArgumentError(
    `${path}: weights can be saved in .weights.h5, .safetensors and .npz files, or in TensorFlow checkpoints, whose paths have no extension`,
  );
}

/** The format of a path that weights are saved to. @throws InvalidArgumentError for one of which they are only read */
export function formatToSave(path: string, maxShardSize: number | null = null): Format {
  const format = formatOf(path);
  const ending = maxShardSize === null ? '.weights.h5' : '.weights.json';
  if (format !== 'keras' || path.endsWith(ending)) return format;
  throw new InvalidArgumentError(
    maxShardSize === null
      ? `the path of weights in Keras's format must end in .weights.h5 (or in .weights.json with maxShardSize), got ${path}`
      : `with maxShardSize the path must end in .weights.json, got ${path}`,
    'saveWeights',
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

/** Whether a path is one of a whole model in a file of Keras. */
export function isModelPath(path: string): boolean {
  return /\.(keras|h5|hdf5)$/.test(path) && !path.endsWith('.weights.h5');
}

/** The names of the options of `save`. */
export const saveOptionNames: OptionNames<SaveOptions> = {
  overwrite: true,
  zipped: true,
  includeOptimizer: true,
  requestInit: true,
};
/** Those of `loadWeights`. */
export const loadWeightsOptionNames: OptionNames<LoadWeightsOptions> = {
  skipMismatch: true,
  byName: true,
  objectsToSkip: true,
};

/** Writes a whole model. */
export async function save(model: Layer, path: unknown, options: SaveOptions): Promise<void> {
  checkPath(path, 'the path of the model');
  for (const name of ['overwrite', 'zipped', 'includeOptimizer'] as const)
    checkFlag(options[name] ?? true, name, 'save');
  if (schemeOf(path as string) !== undefined) {
    const { saveTo } = await import('./model-urls.ts');
    return saveTo(model, path as string, options);
  }
  const { requestInit } = options;
  if (requestInit !== undefined && requestInit !== null)
    throw new InvalidArgumentError(`requestInit is of http:// and https://, got ${path}`, 'saveModel');
  const { saveModel } = await import('./keras-files.ts');
  await saveModel(model, path as string, options);
}

/** Of `saveWeights`. */
export interface AllSaveWeightsOptions extends SaveWeightsOptions {
  /** How a checkpoint is written. */
  readonly options?: CheckpointOptions | undefined;
}

/** Writes every weight: under its path (`dense/kernel`) or, in a checkpoint and in Keras's files, with its place in the model. */
export async function saveWeights(
  model: Model,
  path: string,
  { options, ...own }: AllSaveWeightsOptions,
): Promise<void> {
  const { overwrite, maxShardSize } = own;
  checkFlag(overwrite, 'overwrite', 'saveWeights');
  if (maxShardSize !== undefined && maxShardSize !== null)
    checkPositive(maxShardSize, 'maxShardSize', 'saveWeights');
  const format = formatToSave(path, maxShardSize);
  if (schemeOf(path) !== undefined)
    throw new UnimplementedError(
      `${path}: weights alone are kept in files; model.save(url) keeps the whole model`,
      'saveWeights',
    );
  checkOptionsFor(path, options, 'saveWeights');
  if (maxShardSize !== undefined && maxShardSize !== null && format !== 'keras')
    throw new InvalidArgumentError(
      `maxShardSize works for .weights.json files only, got ${path}`,
      'saveWeights',
    );
  const weights = builtWeights(model, 'saveWeights');
  if (!hasFiles())
    throw new UnimplementedError(
      'a page has no files: saveModelToBytes(model) gives the bytes of a .keras file, and model.getWeights() the values',
      'saveWeights',
    );
  if (format === 'keras') {
    const { saveKerasWeights } = await import('./keras-files.ts');
    return saveKerasWeights(model, path, own);
  }
  if (
    overwrite === false &&
    nodeBuiltin('node:fs').existsSync(format === 'checkpoint' ? `${path}.index` : path)
  )
    throw new InvalidArgumentError(`${path} exists, and overwrite is false`, 'saveWeights');
  if (format === 'checkpoint') {
    const { writeCheckpoint } = await import('./weight-files.ts');
    return writeCheckpoint(model, path, options);
  }
  const arrays = new Map<string, NDArray>();
  for (const { path: name, variable } of weights) {
    arrays.set(name, variable.ndarray());
  }
  const { writeArrays } = await import('./weight-files.ts');
  await writeArrays(path, format, arrays);
}
function checkPositive(value: unknown, name: string, op: string): void {
  if (typeof value !== 'number' || !(value > 0))
    throw new InvalidArgumentError(`${name} must be a positive number, got ${show(value)}`, op);
}

/** Reads and checks everything before the first weight changes. @returns the status of a checkpoint, null for a file. */
export async function loadWeights(
  model: Model,
  path: string,
  options: LoadWeightsOptions,
): Promise<LoadStatus | null> {
  const format = formatOf(path);
  if (format === 'keras') {
    builtWeights(model, 'loadWeights');
    for (const name of ['skipMismatch', 'byName'] as const) checkFlag(options[name], name, 'loadWeights');
    await whileReading(model, async () => {
      const { loadKerasWeights } = await import('./keras-files.ts');
      await loadKerasWeights(model, path, options);
    });
    return null;
  }
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== null && value !== false)
      throw new InvalidArgumentError(`${name} works for Keras's files only, got ${path}`, 'loadWeights');
  if (format === 'checkpoint')
    return whileReading(model, async () => {
      const { readCheckpoint } = await import('./weight-files.ts');
      return readCheckpoint(model, path);
    });
  const weights = builtWeights(model, 'loadWeights');
  await whileReading(model, async () => {
    const { readArrays } = await import('./weight-files.ts');
    await readArrays(model, weights, path, format);
  });
  return null;
}

/** Every weight with its name; a layer that no call of the model has reached has none. @throws FailedPreconditionError before there is one. */
export function builtWeights(model: Model, what: string): NamedWeight[] {
  if (!model.built) {
    throw new FailedPreconditionError(
      `'${model.name}' has no weights yet; call the model on an example or model.build([null, …]) first`,
      what,
    );
  }
  return model.namedWeights;
}

/** @internal The first layer, the model itself included, that will make weights only when it is called. */
export function unbuilt(model: Layer): Layer | undefined {
  return [model, ...model.submodules].find(
    (m): m is Layer => m instanceof Layer && (m === model ? !m.built : m.awaitsBuild),
  );
}

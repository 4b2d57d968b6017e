// Models and weights in files of Keras, as functions.
import { InvalidArgumentError } from '@eagre/core';
import {
  checkFlag,
  checkPath,
  defineFunction,
  isPlain,
  kind,
  type NamedFunction,
  shown,
} from '@eagre/core/internal';
import type { FileLike } from '@eagre/formats';
import { isUrl } from '@eagre/formats/internal';
import type {
  LoadOptions,
  LoadWeightsOptions,
  SaveOptions,
  SaveWeightsOptions,
} from '../saving/keras-files.ts';
import { loadWeightsOptionNames, save, saveOptionNames } from '../saving/saving.ts';
import { Model } from './model.ts';

function checkModel(model: unknown, op: string): void {
  if (isPlain(model) || !(model instanceof Model))
    throw new InvalidArgumentError(`expected a model, got ${shown(model)}`, op);
}

/** `model.save(filepath)` as a function. */
export const saveModel: NamedFunction<
  [model: Model, filepath: string],
  ['model', 'filepath'],
  SaveOptions,
  Promise<void>
> = defineFunction(
  'keras.saving.saveModel',
  { model: kind.asIs, filepath: kind.asIs },
  saveOptionNames,
  async (model: Model, filepath: unknown, options) => {
    checkModel(model, 'keras.saving.saveModel');
    await save(model, filepath, options);
  },
);

/** The bytes of a `.keras` file, for where there are no files, as in browsers. `loadModel` reads them. */
export const saveModelToBytes: NamedFunction<
  [model: Model],
  ['model'],
  unknown,
  Promise<Uint8Array>
> = defineFunction('keras.saving.saveModelToBytes', { model: kind.asIs }, {}, async (model: Model) => {
  checkModel(model, 'keras.saving.saveModelToBytes');
  const { modelBytes } = await import('../saving/keras-files.ts');
  return modelBytes(model);
});

/**
 * The model of a `.keras` file, of a folder of `zipped: false`, of an older `.h5` file, written here or by Keras, or of a `model.json` of TensorFlow.js, with
 * its weights; compiled, with the state of its optimizer, if it was. Classes of your own are registered before, or given as `customObjects`. No code in a file is run.
 * @param filepath a path, the bytes of a file, a URL (`https://`, and `indexeddb://`, `localstorage://` and `opfs://` of a page), or a `File`, `Blob` or list of files that a user chose.
 * @throws (the promise) NotFoundError without such a file, DataLossError for a damaged one, InvalidArgumentError for classes that are not known.
 */
export const loadModel: NamedFunction<
  [filepath: string | Uint8Array | FileLike | ArrayLike<FileLike>],
  ['filepath'],
  LoadOptions,
  Promise<Model>
> = defineFunction(
  'keras.saving.loadModel',
  { filepath: kind.asIs },
  {
    customObjects: { plain: true },
    compile: true,
    safeMode: true,
    onProgress: true,
    signal: true,
    requestInit: { plain: true },
    integrity: { plain: true },
    cache: true,
  },
  async (filepath: unknown, options) => {
    const op = 'keras.saving.loadModel';
    const { customObjects = null } = options;
    const isBytes = filepath instanceof Uint8Array;
    const fromFiles = !isBytes && isFiles(filepath);
    if (!isBytes && !fromFiles) checkPath(filepath, 'the path of the model');
    for (const name of ['compile', 'safeMode'] as const) checkFlag(options[name] ?? true, name, op);
    if (customObjects !== null && !isPlain(customObjects))
      throw new InvalidArgumentError(
        `customObjects must be classes and functions by name, got ${shown(customObjects)}`,
        op,
      );
    if (fromFiles || (!isBytes && isUrl(filepath as string))) {
      const { loadFrom } = await import('../saving/model-urls.ts');
      return loadFrom(filepath as string | FileLike, options);
    }
    const { onProgress, signal, requestInit, integrity, cache } = options;
    const given = Object.entries({ onProgress, signal, requestInit, integrity, cache }).find(
      ([, value]) => value != null,
    );
    if (given !== undefined)
      throw new InvalidArgumentError(
        `${given[0]} is of URLs and of files that were chosen: leave it out for a path or bytes`,
        op,
      );
    const files = await import('../saving/keras-files.ts');
    return files.loadModel(filepath as string | Uint8Array, options);
  },
);

/** Whether a value is a `File` or `Blob`, or a list of them. */
function isFiles(value: unknown): boolean {
  const isOne = (one: unknown): boolean =>
    /^\[object (File|Blob)\]$/.test(Object.prototype.toString.call(one));
  if (typeof value !== 'object' || value === null) return false;
  const isList = Array.isArray(value) || Object.prototype.toString.call(value) === '[object FileList]';
  return isList ? Array.from(value as ArrayLike<unknown>).every(isOne) : isOne(value);
}

/** `model.saveWeights(filepath)` as a function. */
export const saveWeights: NamedFunction<
  [model: Model, filepath: string],
  ['model', 'filepath'],
  SaveWeightsOptions,
  Promise<void>
> = defineFunction(
  'keras.saving.saveWeights',
  { model: kind.asIs, filepath: kind.asIs },
  { overwrite: true, maxShardSize: true },
  async (model: Model, filepath: string, options) => {
    checkModel(model, 'keras.saving.saveWeights');
    await model.saveWeights(filepath, options);
  },
);

/** `model.loadWeights(filepath)` as a function. */
export const loadWeights: NamedFunction<
  [model: Model, filepath: string],
  ['model', 'filepath'],
  LoadWeightsOptions,
  Promise<void>
> = defineFunction(
  'keras.saving.loadWeights',
  { model: kind.asIs, filepath: kind.asIs },
  loadWeightsOptionNames,
  async (model: Model, filepath: string, options) => {
    checkModel(model, 'keras.saving.loadWeights');
    await model.loadWeights(filepath, options);
  },
);

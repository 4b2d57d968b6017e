import { fileError, withFileErrors } from '@eagre/backend';
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/core';
import { checkPath, inInitScope, shown } from '@eagre/core/internal';
import { makeFolders, writeFilesAtomic } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { ConcreteFunction, isTracedFunction, savedFunction } from '@eagre/graph';
import { optionsOf, SaveOptions } from '../options.ts';
import { isSavable } from './objects.ts';
import { savedModelOf } from './saved-model.ts';
import { onlySignature, type Signatures, signaturesOf } from './signatures.ts';
import { checkAssets, checkTarget, snapshotOf, writeSavedModel } from './write.ts';

const OP = 'savedModel.save';

/** Options of `tf.savedModel.save`. */
export interface SaveModelOptions {
  /**
   * What servers call: one function of `tf.function` (or a trace of one), as `serving_default`, or several by name. Unless given, the
   * model's own signature, or the only function of the object that has one trace and an `inputSignature`.
   */
  readonly signatures?: Signatures | null;
  /** TensorFlow's options. */
  readonly options?: SaveOptions | null;
}

/** Saves an object with its variables, functions and files as a SavedModel: see `tf.savedModel.save`. */
export async function save(obj: object, exportDir: string, options: SaveModelOptions = {}): Promise<void> {
  checkPath(exportDir, 'exportDir', OP);
  if (!isSavable(obj))
    throw new InvalidArgumentError(
      `${shown(obj)} has neither variables nor functions to save: expected a module, a Keras model or layer, a function of tf.function, or an object that holds some`,
      OP,
    );
  const own = optionsOf(options.options, SaveOptions, OP);
  if (/\.json$/.test(exportDir)) return saveGraphModel(obj, exportDir, options);
  checkTarget(exportDir);
  const root = rootOf(obj);
  const contents = inInitScope(() => savedModelOf(root, signaturesOf(root, options.signatures), own));
  checkAssets(contents.assets);
  const snapshot = snapshotOf(contents.entries);
  try {
    await writeSavedModel(exportDir, contents, snapshot);
  } finally {
    for (const [, tensor] of snapshot.tensors) tensor.dispose();
  }
}

/** Writes one signature as a graph of TensorFlow.js. */
async function saveGraphModel(
  obj: object,
  path: string,
  { signatures, options }: SaveModelOptions,
): Promise<void> {
  if (options !== undefined && options !== null)
    throw new InvalidArgumentError(`options is of SavedModels, and ${path} is a model of TensorFlow.js`, OP);
  const { encodeGraphModel } = await import('./graph-model.ts');
  const { basename, dirname, join } = nodeBuiltin('node:path');
  const found = withFileErrors(path, OP, () =>
    nodeBuiltin('node:fs').statSync(path, { throwIfNoEntry: false }),
  );
  if (found !== undefined && !found.isFile())
    throw new FailedPreconditionError(`${path} is there and no file`, OP);
  const files = inInitScope(() => encodeGraphModel(onlySignature(rootOf(obj), signatures), basename(path)));
  try {
    makeFolders(dirname(path));
    await writeFilesAtomic(files.map(([name, content]) => [join(dirname(path), name), content] as const));
  } catch (cause) {
    throw fileError(cause, path, OP);
  }
}

/** A function by itself is the one attribute of an object, under its name. */
function rootOf(obj: object): object {
  if (obj instanceof ConcreteFunction) return { [obj.saved.name]: obj };
  const fn = isTracedFunction(obj) ? savedFunction(obj) : null;
  return fn === null ? obj : { [fn.name]: obj };
}

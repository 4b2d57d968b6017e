import { InvalidArgumentError } from '@eagre/core';
import { checkPath, inInitScope, shown } from '@eagre/core/internal';
import { ConcreteFunction, isTracedFunction, savedFunction } from '@eagre/graph';
import { optionsOf, SaveOptions } from '../options.ts';
import { isSavable } from './objects.ts';
import { savedModelOf } from './saved-model.ts';
import { type Signatures, signaturesOf } from './signatures.ts';
import { checkAssets, checkTarget, snapshotOf, writeSavedModel } from './write.ts';

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
  checkPath(exportDir, 'exportDir', 'savedModel.save');
  if (!isSavable(obj))
    throw new InvalidArgumentError(
      `${shown(obj)} has neither variables nor functions to save: expected a module, a Keras model or layer, a function of tf.function, or an object that holds some`,
      'savedModel.save',
    );
  const own = optionsOf(options.options, SaveOptions, 'savedModel.save');
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

/** A function by itself is the one attribute of an object, under its name. */
function rootOf(obj: object): object {
  if (obj instanceof ConcreteFunction) return { [obj.saved.name]: obj };
  const fn = isTracedFunction(obj) ? savedFunction(obj) : null;
  return fn === null ? obj : { [fn.name]: obj };
}

// The functions of `tf.savedModel`. What they do is loaded by the first call.

import { checkPath, defineFunction, kind, type NamedFunction } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT } from './constants.ts';
import type { GraphDefFile } from './import/graph-def-file.ts';
import type { LoadModelOptions } from './load/load.ts';
import type { LoadedObject } from './load/loaded-object.ts';
import type { SaveModelOptions } from './save/save.ts';

/**
 * Loads the SavedModel in a folder: an object with its functions, variables and signatures.
 *
 *     const model = await tf.savedModel.load('exported');
 *     const { output_0 } = model.signatures.serving_default({ inputs: x });
 *
 * Also loads the graph of TensorFlow.js in a `model.json`, given by its path, its folder, or, in pages, its URL.
 *
 * @param options.tags which of the file's graphs; needed where it has several.
 * @param options.lazy an op that Eagre lacks is an error where it would run, and not while loading.
 * @param options.options TensorFlow's options.
 * @param options.allowPartialCheckpoint variables that the file has no value for get zeros.
 * @throws (the promise) NotFoundError where there is none, DataLossError where it is damaged, UnimplementedError for what Eagre cannot run,
 * with the node's name.
 */
export const load: NamedFunction<
  [exportDir: string],
  ['exportDir'],
  LoadModelOptions,
  Promise<LoadedObject>
> = /* @__PURE__ */ defineFunction(
  'savedModel.load',
  { exportDir: kind.asIs },
  { tags: kind.asIs, lazy: kind.asIs, allowPartialCheckpoint: kind.asIs, options: kind.asIs },
  async (exportDir, options) => (await import('./load/load.ts')).load(exportDir, options),
);

/**
 * Reads a graph of TensorFlow, such as a frozen model: a `.pb` file, or the bytes of one.
 *
 *     const graph = await tf.savedModel.loadGraphDef('frozen.pb');
 *     const predict = graph.prune(['x:0'], ['probabilities:0']);
 *     const [y] = predict(x);
 *
 * @throws (the promise) NotFoundError where there is none, DataLossError for other bytes.
 */
export const loadGraphDef: NamedFunction<
  [file: string | Uint8Array],
  ['file'],
  unknown,
  Promise<GraphDefFile>
> = /* @__PURE__ */ defineFunction('savedModel.loadGraphDef', { file: kind.asIs }, {}, async (file) =>
  (await import('./import/graph-def-file.ts')).loadGraphDef(file),
);

/**
 * Saves an object as a SavedModel: its variables, its functions with all of their traces, files and the objects inside. TensorFlow,
 * TensorFlow Serving and `tf.savedModel.load` read it.
 *
 *     await tf.savedModel.save(module, 'exported', { signatures: module.predict });
 *
 * Functions are written in TensorFlow's ops, with sizes that may be any where their signature has null. The folder appears whole, in the
 * place of a SavedModel that was there. A path that ends in `.json` is that of a graph for TensorFlow.js: one signature, whose variables
 * are constants, with files of weights beside it.
 * @param obj a module, a Keras model or layer, a function of `tf.function`, or an object that holds some. Attributes that begin with _ are
 * not looked at for functions, but for `__call__`.
 * @param options.signatures what servers call: a function, as `serving_default`, or several by name. It takes tensors, and returns one, a
 * list (`output_0`, …), or tensors by name.
 * @param options.options TensorFlow's options, such as other names for functions.
 * @throws (the promise) UnimplementedError for an op that TensorFlow has none for, with the node's name, or TensorFlow.js, with its own,
 * before anything is written;
 * InvalidArgumentError for what is nothing to save or no signature; FailedPreconditionError for a folder that holds other files, and for a
 * function that uses variables which are not part of the object.
 */
export const save: NamedFunction<
  [obj: object, exportDir: string],
  ['obj', 'exportDir'],
  SaveModelOptions,
  Promise<void>
> = /* @__PURE__ */ defineFunction(
  'savedModel.save',
  { obj: kind.structure, exportDir: kind.asIs },
  { signatures: kind.asIs, options: kind.asIs },
  async (obj, exportDir, options) => (await import('./save/save.ts')).save(obj, exportDir, options),
);

/** Whether there is a SavedModel in a folder, as far as its name for the graph tells: a file `saved_model.pb` or `saved_model.pbtxt`. */
export const containsSavedModel: NamedFunction<[exportDir: string], ['exportDir'], unknown, boolean> =
  /* @__PURE__ */ defineFunction(
    'savedModel.containsSavedModel',
    { exportDir: kind.asIs },
    {},
    (exportDir) => {
      checkPath(exportDir, 'exportDir', 'savedModel.containsSavedModel');
      const { existsSync } = nodeBuiltin('node:fs');
      const { join } = nodeBuiltin('node:path');
      return [SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT].some((name) =>
        existsSync(join(exportDir, name)),
      );
    },
  );

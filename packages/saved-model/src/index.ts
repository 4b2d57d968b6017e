/** SavedModels and TensorFlow's graphs. */
export * from './constants.ts';
export { containsSavedModel, load, loadGraphDef, save } from './functions.ts';
export { GraphDefFile } from './import/graph-def-file.ts';
export type { LoadedConcreteFunction, LoadedFunction, SignatureFunction } from './load/functions.ts';
export type { LoadModelOptions } from './load/load.ts';
export { LoadedObject } from './load/loaded-object.ts';
export type { PrunedFunction } from './load/version1.ts';
export { LoadOptions, SaveOptions } from './options.ts';
export type { SaveModelOptions } from './save/save.ts';
export type { Signatures } from './save/signatures.ts';

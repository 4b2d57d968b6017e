/** SavedModels and TensorFlow's graphs. */
export { GraphDefFile, loadGraphDef } from './import/graph-def-file.ts';
export type { LoadedFunction, SignatureFunction } from './load/functions.ts';
export { type LoadOptions, load } from './load/load.ts';
export { LoadedObject } from './load/loaded-object.ts';
export type { PrunedFunction } from './load/version1.ts';
export { type SaveModelOptions, save } from './save/save.ts';
export type { Signatures } from './save/signatures.ts';

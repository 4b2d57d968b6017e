/** What Eagre's other packages build on. No promise is made to anyone else: names here change without notice. */
export { type Bundle, openBundle, type Values, writeBundle, writeBundleAsync } from './bundle.ts';
export * from './index.ts';
export { withoutSlots } from './lists.ts';
export { describe, type Entry, type Look, type ObjectGraph, Seen, walk } from './object-graph.ts';
export { deleteCheckpoint, updateCheckpointState } from './state.ts';
export { PythonState } from './trackable-views.ts';
export { type View, viewOf } from './view.ts';

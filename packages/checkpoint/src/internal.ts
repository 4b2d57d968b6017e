/** What Eagre's other packages build on. No promise is made to anyone else: names here change without notice. */
export { type Bundle, openBundle, type Values, writeBundle } from './bundle.ts';
export { deleteCheckpoint, updateCheckpointState } from './state.ts';

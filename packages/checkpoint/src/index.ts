/** `tf.train`: checkpoints in TensorFlow's format. */
export { Checkpoint, type CheckpointConstructor } from './checkpoint.ts';
export {
  CheckpointReader,
  type ListedVariable,
  listVariables,
  loadCheckpoint,
  loadVariable,
} from './inspect.ts';
export { CheckpointManager, type CheckpointManagerOptions, type ManagerSaveOptions } from './manager.ts';
export { CheckpointOptions } from './options.ts';
export {
  type CheckpointState,
  type CheckpointsIteratorOptions,
  checkpointsIterator,
  getCheckpointState,
  latestCheckpoint,
} from './state.ts';
export type { LoadStatus } from './status.ts';
export { CheckpointView, TrackableView } from './trackable-views.ts';

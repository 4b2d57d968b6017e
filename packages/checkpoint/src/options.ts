/** How a checkpoint is written or read: `checkpoint.save(path, new tf.train.CheckpointOptions({ enableAsync: true }))`. */
export class CheckpointOptions {
  /**
   * `save` returns at once, with the values of the call, and the files are written while the program goes on; `await checkpoint.sync()`
   * waits for them. An error of writing is thrown there, or by the next save.
   */
  readonly enableAsync: boolean;
  /** Leave out the slots of optimizers when reading. */
  readonly experimentalSkipSlotVariables: boolean;
  /** Called with the path of each checkpoint that was written completely. */
  readonly experimentalWriteCallbacks: readonly ((path: string) => void)[];
  /** Into how many data files the values go; 1 unless said. */
  readonly shards: number;

  constructor(options: Partial<CheckpointOptions> = {}) {
    this.enableAsync = options.enableAsync ?? false;
    this.experimentalSkipSlotVariables = options.experimentalSkipSlotVariables ?? false;
    this.experimentalWriteCallbacks = options.experimentalWriteCallbacks ?? [];
    this.shards = options.shards ?? 1;
  }
}

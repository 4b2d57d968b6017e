import { Checkpoint, CheckpointManager } from '@eagre/checkpoint';
import { DataLossError, FailedPreconditionError, NotFoundError, random, Variable } from '@eagre/core';
import { argumentsOf, flagOption, setOptions, takesOptions } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { strategyOf } from '../trainers/compile.ts';
import { Callback } from './callback.ts';
import { onChief } from './on-chief.ts';
import { path } from './options.ts';
import { type SaveFreq, SaveTimes, saveFreq } from './save-times.ts';

/** Options of `BackupAndRestore`. */
export interface BackupAndRestoreOptions {
  /** After each epoch by default, or after that many batches. */
  readonly saveFreq?: SaveFreq;
  /** Keep the backup before the last one too, for when the last one is damaged. */
  readonly doubleCheckpoint?: boolean;
  /** Delete the folder when training has ended; true by default. */
  readonly deleteCheckpoint?: boolean;
}

/** All arguments of `BackupAndRestore`, by name. */
export interface BackupAndRestoreArguments extends BackupAndRestoreOptions {
  /** A folder for this purpose alone. */
  readonly backupDir: string;
}

/**
 * Makes training survive the end of its process: keeps weights, the state of the optimizer, random numbers and the number of the epoch in
 * a folder, and the next `fit` with the same folder goes on there. With backups after epochs the outcome is the same as without the
 * interruption, bit by bit; those after batches go on from the start of the epoch, as in Keras.
 */
export class BackupAndRestore extends Callback {
  /** A folder for this purpose alone. */
  declare readonly backupDir: string;
  /** After each epoch or after that many batches. */
  declare readonly saveFreq: SaveFreq;
  /** Keep the backup before the last one too, for when the last one is damaged. */
  declare readonly doubleCheckpoint: boolean;
  /** Delete the folder when training has ended. */
  declare readonly deleteCheckpoint: boolean;
  readonly #times: SaveTimes;
  // The epoch to go on with.
  readonly #epoch: Variable = new Variable(0, { dtype: 'int32', trainable: false, name: 'epoch' });
  #manager: CheckpointManager | undefined;
  #checkpoint: Checkpoint | undefined;

  /** @param backupDir a folder for this purpose alone. */
  constructor(...args: [backupDir: string | BackupAndRestoreArguments, options?: BackupAndRestoreOptions]) {
    super();
    setOptions(this, argumentsOf<BackupAndRestoreArguments>(BackupAndRestore, new.target, args));
    this.#times = new SaveTimes(this.saveFreq);
  }

  /** @throws FailedPreconditionError for a model without weights: to draw them later would take random numbers that were not drawn before. */
  override onTrainBegin(): void {
    if (!this.model.built) {
      throw new FailedPreconditionError(
        `To use the BackupAndRestore callback, your model must be built before you call fit(); '${this.model.name}' is not. Give its first layer an inputShape, or call it on a batch of data.`,
        'BackupAndRestore',
      );
    }
    const checkpoint = new Checkpoint({ model: this.model, epoch: this.#epoch, random: random.globalStream });
    this.#checkpoint = checkpoint;
    const maxToKeep = this.doubleCheckpoint ? 2 : 1;
    this.#manager = new CheckpointManager(checkpoint, this.backupDir, { maxToKeep });
    this.#epoch.assign(this.params.initialEpoch ?? 0);
    const found = this.#manager.checkpoints.reverse();
    if (found.length === 0) return;
    try {
      checkpoint.restore(found[0]);
    } catch (error) {
      if (!(error instanceof DataLossError || error instanceof NotFoundError) || found.length < 2)
        throw error;
      checkpoint.restore(found[1]);
    }
    this.params.initialEpoch = this.#epoch.item();
  }
  /** @internal */
  override readsBatches(kind: 'train' | 'test' | 'predict'): boolean {
    return super.readsBatches(kind, BackupAndRestore.prototype);
  }
  override async onTrainBatchEnd(batch: number): Promise<void> {
    if (this.#times.afterBatch(batch)) await this.#save();
  }
  override async onEpochEnd(epoch: number): Promise<void> {
    this.#epoch.assign(epoch + 1);
    if (this.#times.afterEpoch()) await this.#save();
  }
  /** Of several processes that train together the first one saves, and all restore. */
  async #save(): Promise<void> {
    await onChief(this.model, this.backupDir, (folder) => {
      if (folder === this.backupDir) this.#manager?.save();
      else this.#checkpoint?.write(`${folder}/backup`);
    });
  }
  override onTrainEnd(): void {
    if (this.deleteCheckpoint && strategyOf(this.model)?.isChief !== false)
      nodeBuiltin('node:fs').rmSync(this.backupDir, { recursive: true, force: true });
  }
}
takesOptions<BackupAndRestoreArguments, BackupAndRestore>(
  {
    positional: ['backupDir'],
    options: {
      backupDir: path('the folder'),
      saveFreq,
      doubleCheckpoint: flagOption(false),
      deleteCheckpoint: flagOption(true),
    },
  },
  BackupAndRestore,
);

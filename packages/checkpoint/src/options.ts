import { InvalidArgumentError } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkCount,
  checkFlag,
  checkFunction,
  checkList,
  checkOneOf,
  shown,
  takesArguments,
} from '@eagre/core/internal';

const OP = 'CheckpointOptions';
const MOST_SHARDS = 1000;

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
  /**
   * How the state of optimizers is written: as slots of their variables (`'slots'` by default), which Keras 2's legacy optimizers restore,
   * or as attributes and lists (`'lists'`), which its newer ones do. Either refuses the other's files; Eagre reads both.
   */
  readonly optimizerState: 'slots' | 'lists';
  /** Into how many data files the values go; 1 by default. */
  readonly shards: number;

  /** @throws InvalidArgumentError for an unknown option or a wrong value. */
  constructor(...args: Arguments<[], [], Partial<CheckpointOptions>>) {
    const options = argumentsOf<Partial<CheckpointOptions>>(CheckpointOptions, new.target, args);
    const {
      enableAsync,
      experimentalSkipSlotVariables,
      experimentalWriteCallbacks = [],
      optimizerState = 'slots',
      shards = 1,
    } = options;
    this.enableAsync = checkFlag(enableAsync, 'enableAsync', OP);
    this.experimentalSkipSlotVariables = checkFlag(
      experimentalSkipSlotVariables,
      'experimentalSkipSlotVariables',
      OP,
    );
    this.experimentalWriteCallbacks = checkList(experimentalWriteCallbacks, 'experimentalWriteCallbacks', OP);
    for (const [i, fn] of experimentalWriteCallbacks.entries())
      checkFunction(fn, `experimentalWriteCallbacks[${i}]`, OP);
    checkOneOf(optimizerState, ['slots', 'lists'], 'optimizerState', OP);
    this.optimizerState = optimizerState;
    checkCount(shards, 'shards', OP, 1);
    if (shards > MOST_SHARDS)
      throw new InvalidArgumentError(
        `${shards} shards are too many; at most ${MOST_SHARDS} are possible`,
        OP,
      );
    this.shards = shards;
  }
}

takesArguments<Partial<CheckpointOptions>>(
  {
    names: {
      enableAsync: true,
      experimentalSkipSlotVariables: true,
      experimentalWriteCallbacks: true,
      optimizerState: true,
      shards: true,
    },
  },
  CheckpointOptions,
);

/** Options as they were given. @throws InvalidArgumentError for what was not made by the class. */
export function checkOptions(options: CheckpointOptions, op: string): void {
  if (!(options instanceof CheckpointOptions))
    throw new InvalidArgumentError(
      `expected new tf.train.CheckpointOptions({ … }), got ${shown(options)}`,
      op,
    );
}

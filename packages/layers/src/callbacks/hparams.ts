import { FailedPreconditionError } from '@eagre/core';
import { argumentsOf, checkPath, checkText, setOptions, takesOptions } from '@eagre/core/internal';
import * as summary from '@eagre/summary';
import { hparamsByName } from '@eagre/summary/internal';
import { Callback } from './callback.ts';

/** Options of the callback `HParams`. */
export interface HParamsCallbackOptions {
  /** Trials of one name are shown as one; a hash of the values unless given. */
  readonly trialId?: string;
}
/** All arguments of `HParams`, by name. */
export interface HParamsArguments extends HParamsCallbackOptions {
  /** A writer of `tf.summary`, or the folder that one is made for. */
  readonly writer: summary.SummaryWriter | string;
  /** The hyperparameters of this run: texts, numbers and booleans by name. */
  readonly hparams: summary.HParamValues;
}

/**
 * Writes the hyperparameters of one call of `fit` when it begins, and that it has ended when it does, `failure` if by an error:
 * TensorBoard's `hp.KerasCallback`. Each callback is for one call.
 *
 *     const logs = `logs/search/${units}`;
 *     await model.fit(x, y, { callbacks: [new tf.keras.callbacks.TensorBoard(logs), new tf.keras.callbacks.HParams(logs, { units })] });
 */
export class HParams extends Callback {
  /** A writer of `tf.summary`, or the folder that one is made for. */
  declare readonly writer: summary.SummaryWriter | string;
  /** The hyperparameters of this run: texts, numbers and booleans by name. */
  declare readonly hparams: summary.HParamValues;
  /** Trials of one name are shown as one. */
  declare readonly trialId: string | undefined;
  #open: summary.SummaryWriter | null = null;
  #used = false;

  /**
   * @param writer what is written to, or the folder of the trial.
   * @param hparams the values, by name, or by `tf.summary.HParam` in a map.
   * @throws InvalidArgumentError for values that are no numbers, booleans or strings, and for a name that comes twice.
   */
  constructor(
    ...args: [
      writer: summary.SummaryWriter | string | HParamsArguments,
      hparams?: summary.HParamValues,
      options?: HParamsCallbackOptions,
    ]
  ) {
    super();
    setOptions(this, argumentsOf<HParamsArguments>(HParams, new.target, args));
  }

  /** @throws FailedPreconditionError (the fit) when the callback has been used before. */
  override onTrainBegin(): void {
    if (this.#used)
      throw new FailedPreconditionError(
        'this callback works for one call of fit: create a new one',
        'HParams',
      );
    this.#used = true;
    this.#open = typeof this.writer === 'string' ? summary.createFileWriter(this.writer) : this.writer;
    const { trialId } = this;
    this.#write(() => summary.hparams(this.hparams, trialId === undefined ? {} : { trialId }));
  }

  override onTrainEnd(): void {
    this.#end('success');
  }

  override close(): void {
    this.#end('failure');
  }

  #end(status: 'success' | 'failure'): void {
    if (this.#open === null) return;
    this.#write(() => summary.hparamsEnd(status));
    if (typeof this.writer === 'string') this.#open.close();
    this.#open = null;
  }

  #write(write: () => boolean): void {
    this.#open?.asDefault(() => summary.recordIf(true, write));
  }
}
takesOptions<HParamsArguments, HParams>(
  {
    positional: ['writer', 'hparams'],
    objects: ['hparams'],
    options: {
      writer: {
        read: (given) => {
          if (!(given instanceof summary.SummaryWriter))
            checkPath(given as string, 'the writer or the folder', 'HParams');
          return given as summary.SummaryWriter | string;
        },
      },
      hparams: { read: (given) => new Map(hparamsByName(given as summary.HParamValues, 'HParams')) },
      trialId: {
        read: (given, name) => {
          if (given !== undefined) checkText(given, name, 'HParams');
          return given as string | undefined;
        },
      },
    },
  },
  HParams,
);

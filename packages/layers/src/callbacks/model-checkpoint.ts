import type { CheckpointOptions } from '@eagre/checkpoint';
import { InvalidArgumentError } from '@eagre/core';
import {
  anyOption,
  argumentsOf,
  flagOption,
  numberOption,
  type Option,
  orNull,
  setOptions,
  takesOptions,
} from '@eagre/core/internal';
import { checkOptionsFor, formatToSave, isModelPath } from '../saving/saving.ts';
import { printMessage } from '../utils/messages.ts';
import { Callback, type Logs } from './callback.ts';
import { Monitor, type MonitorOptions, minDelta, mode, monitor } from './monitor.ts';
import { onChief } from './on-chief.ts';
import { path, verbose } from './options.ts';
import { pythonNumber } from './python-number.ts';
import { type SaveFreq, SaveTimes, saveFreq } from './save-times.ts';

/** Options of `ModelCheckpoint`. */
export interface ModelCheckpointOptions extends MonitorOptions {
  /** Write only when the watched number is the best so far. */
  readonly saveBestOnly?: boolean;
  /**
   * Whether the weights are saved, with the state of the optimizer where the file has a place for it, or the whole model. The path tells unless
   * given: files that end in `.keras` and `.h5` hold models, others weights.
   */
  readonly saveWeightsOnly?: boolean | null;
  /** After each epoch by default, or after that many batches. */
  readonly saveFreq?: SaveFreq;
  /** What the watched number must beat at first. */
  readonly initialValueThreshold?: number | null;
  /** How checkpoints are written, where the path has no ending. */
  readonly options?: CheckpointOptions;
  /** 1 prints what is saved; 0, the default, is silent. */
  readonly verbose?: 0 | 1;
}

/** All arguments of `ModelCheckpoint`, by name. */
export interface ModelCheckpointArguments extends ModelCheckpointOptions {
  /** Where to save; may hold `{epoch}`, `{batch}` and names of the logs: `model-{epoch:02d}-{val_loss:.2f}.keras`. */
  readonly filepath: string;
}

/**
 * Saves the model, or its weights, after each epoch, or after so many batches. The path is one for `model.save` or `model.saveWeights`, and
 * may hold `{epoch}` (from 1, `{epoch:02d}` pads), `{batch}`, and names of the logs with decimals: `model-{epoch:02d}-{val_loss:.2f}.keras`.
 */
export class ModelCheckpoint extends Callback {
  /** Where to save; may hold `{epoch}`, `{batch}` and names of the logs: `model-{epoch:02d}-{val_loss:.2f}.keras`. */
  declare readonly filepath: string;
  /** Name in the logs. */
  declare readonly monitor: string;
  /** 1 prints what is saved; 0 is silent. */
  declare readonly verbose: 0 | 1;
  /** Write only when the watched number is the best so far. */
  declare readonly saveBestOnly: boolean;
  /** Whether the weights are saved, with the state of the optimizer where the file has a place for it, or the whole model. */
  declare saveWeightsOnly: boolean;
  /** Whether smaller (`min`) or larger (`max`) is better; `auto` decides by the name (accuracy and AUC grow). */
  declare readonly mode: 'auto' | 'min' | 'max';
  /** After each epoch or after that many batches. */
  declare readonly saveFreq: SaveFreq;
  /** What the watched number must beat at first. */
  declare readonly initialValueThreshold: number | null;
  /** A smaller change does not count as better. */
  declare readonly minDelta: number;
  /** How checkpoints are written, where the path has no ending. */
  declare readonly options: CheckpointOptions | undefined;
  /** The best number so far; null before the first that was watched. */
  get best(): number | null {
    return this.#monitor.best ?? null;
  }
  readonly #monitor: Monitor;
  readonly #times: SaveTimes;
  #epoch = 0;

  /** @throws InvalidArgumentError for a path with another ending, or with something else in braces, and for unknown options. */
  constructor(...args: [filepath: string | ModelCheckpointArguments, options?: ModelCheckpointOptions]) {
    super();
    setOptions(this, argumentsOf<ModelCheckpointArguments>(ModelCheckpoint, new.target, args));
    const { filepath } = this;
    const filled = filepath.replace(PLACE, '0');
    checkOptionsFor(filled, this.options, 'ModelCheckpoint');
    const isModel = isModelPath(filled);
    if (!isModel) formatToSave(filled);
    this.saveWeightsOnly ??= !isModel;
    if (this.saveWeightsOnly === isModel)
      throw new InvalidArgumentError(
        isModel
          ? `with saveWeightsOnly the path must end in .weights.h5, or be another one of weights, got ${filepath}`
          : `with saveWeightsOnly: false the path must end in .keras, or in .h5, got ${filepath}`,
        'ModelCheckpoint',
      );
    for (const [place] of filepath.matchAll(/\{[^{}]*\}/g)) {
      if (!new RegExp(`^${PLACE.source}$`).test(place)) {
        throw new InvalidArgumentError(
          `the path ${filepath} has ${place}; expected forms such as {epoch}, {epoch:02d}, {val_loss:.2f}`,
          'ModelCheckpoint',
        );
      }
    }
    this.#monitor = new Monitor(this);
    this.#monitor.best = this.initialValueThreshold ?? undefined;
    this.#times = new SaveTimes(this.saveFreq);
  }

  override onEpochBegin(epoch: number): void {
    this.#epoch = epoch;
  }
  /** @internal */
  override readsBatches(kind: 'train' | 'test' | 'predict'): boolean {
    return (
      super.readsBatches(kind, ModelCheckpoint.prototype) || (kind === 'train' && this.saveFreq !== 'epoch')
    );
  }
  override async onTrainBatchEnd(batch: number, logs: Logs): Promise<void> {
    if (this.#times.afterBatch(batch)) await this.#save({ ...logs, batch: batch + 1 });
  }
  override async onEpochEnd(_epoch: number, logs: Logs): Promise<void> {
    if (this.#times.afterEpoch()) await this.#save(logs);
  }

  async #save(logs: Logs): Promise<void> {
    const { saveBestOnly, verbose } = this;
    const epoch = this.#epoch + 1;
    let why = '';
    if (saveBestOnly) {
      const value = this.#monitor.value(logs);
      if (value === undefined) return;
      const { name, best } = this.#monitor;
      const before = best === undefined ? 'None' : best.toFixed(5);
      if (!this.#monitor.better(value)) {
        if (verbose > 0) printMessage(`\nEpoch ${epoch}: ${name} did not improve from ${before}`);
        return;
      }
      this.#monitor.best = value;
      why = `${name} improved from ${before} to ${value.toFixed(5)}, `;
    }
    const path = fillIn(this.filepath, { ...logs, epoch });
    if (verbose > 0) printMessage(`\nEpoch ${epoch}: ${why}saving model to ${path}`);
    await onChief(this.model, path, async (own) => {
      if (this.saveWeightsOnly) await this.model.saveWeights(own, this.options);
      else await this.model.save(own);
    });
  }
}

// Name, width with or without zeros, decimals, kind: as Python formats.
const PLACE = /\{(\w+)(?::(0?)(\d*)(?:\.(\d+))?([df]?))?\}/g;

function fillIn(path: string, values: Readonly<Record<string, number>>): string {
  return path.replace(
    PLACE,
    (_, name: string, zero?: string, width?: string, decimals?: string, kind?: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined) {
        throw new InvalidArgumentError(
          `the path ${path} uses '${name}', which is not among ${Object.keys(values).join(', ')}`,
          'ModelCheckpoint',
        );
      }
      const fixed = decimals !== undefined || kind === 'f';
      const counts = name === 'epoch' || name === 'batch';
      const plain = counts ? String(value) : pythonNumber(value);
      const text = fixed && Number.isFinite(value) ? value.toFixed(Number(decimals ?? 6)) : plain;
      return text.padStart(Number(width ?? 0), zero === '0' ? '0' : ' ');
    },
  );
}
takesOptions<ModelCheckpointArguments, ModelCheckpoint>(
  {
    positional: ['filepath'],
    options: {
      filepath: path('the path'),
      monitor,
      verbose,
      saveBestOnly: flagOption(false),
      saveWeightsOnly: orNull(flagOption(false)) as Option<boolean>,
      mode,
      saveFreq,
      initialValueThreshold: orNull(numberOption(0)),
      minDelta: minDelta(),
      options: anyOption<CheckpointOptions | undefined>(undefined),
    },
  },
  ModelCheckpoint,
);

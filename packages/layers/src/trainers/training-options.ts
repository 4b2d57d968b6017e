// What fit, evaluate and predict take.
import { InvalidArgumentError, type Tensor, type TensorLike } from '@eagre/core';
import { checkCount, checkOptionNames, kerasDefaults, type OptionNames, shown } from '@eagre/core/internal';
import { Callback } from '../callbacks/callback.ts';
import type { Model } from '../models/model.ts';
import type { BatchSource, Inputs, Names } from './data-adapter.ts';
import type { DatasetCreator, DatasetFunction } from './dataset-creator.ts';
import { isByName } from './per-output.ts';

/** Targets: a tensor, for several outputs a list or tensors by name. */
export type Targets = Inputs;
export type Verbosity = 0 | 1 | 2 | 'auto';

export interface BatchOptions {
  /** Examples in a batch; unless given, of arrays as many as make `steps` batches, else 32. */
  readonly batchSize?: number;
  /** 0 silent, 1 a progress bar, 2 one line per epoch; `'auto'` (default) is 1. */
  readonly verbose?: Verbosity;
  /** What is told of epochs and batches, such as `new tf.keras.callbacks.EarlyStopping()`. */
  readonly callbacks?: readonly Callback[];
  /** Stop a pass after that many batches. */
  readonly steps?: number;
  /** Aborted, it ends the run between two steps: the promise is rejected with a CancelledError that says how far it came. */
  readonly signal?: AbortSignal;
}
/** Options of `model.evaluate(x, y, options)`. */
export interface EvaluateOptions extends BatchOptions {
  /** A factor for the loss of each example; for several outputs one for all, a list, or by name. */
  readonly sampleWeight?: Inputs;
  /** True, as the result is an object in any case. */
  readonly returnDict?: true;
}
/** Options of `model.predict(x, options)`. */
export interface PredictOptions extends BatchOptions {}

/** What is validated on: a list [x, y, sampleWeight?], an iterable of batches, or, where `fit` has no targets, x or [x]. */
export type ValidationData =
  | readonly [x: Inputs, y?: Inputs | undefined, sampleWeight?: Inputs | undefined]
  | Tensor
  | Readonly<Record<string, TensorLike>>
  | BatchSource
  | DatasetCreator
  | DatasetFunction;

/** Options of `model.fit(x, y, options)`. */
export interface FitOptions extends Omit<BatchOptions, 'steps'> {
  /** How often training goes through the data; the number of the last epoch where `initialEpoch` is given. 1 unless given. */
  readonly epochs?: number;
  /** Number of the first epoch, when training goes on. */
  readonly initialEpoch?: number;
  /** Batches in an epoch. The next epoch goes on where this one stopped, and starts anew when the data has ended. */
  readonly stepsPerEpoch?: number;
  /** Reorder the examples, or the batches of a `PyDataset`, before each epoch; true unless given. Does not apply to iterables. */
  readonly shuffle?: boolean;
  /** A factor for the loss of each example, and for `weightedMetrics`; for several outputs one for all, a list, or by name. */
  readonly sampleWeight?: Inputs;
  /** A weight for the examples of each class, by label. */
  readonly classWeight?: Readonly<Record<number, number>>;
  /** The last part of the examples, as a fraction, is held back for validation; `validationData` overrides it. */
  readonly validationSplit?: number;
  /** What the model is evaluated on after an epoch, without training: [x, y, sampleWeight?], or batches. Logs have `val_` before these numbers. */
  readonly validationData?: ValidationData;
  /** The examples in a batch of the validation; `batchSize` unless given. */
  readonly validationBatchSize?: number;
  /** Stop each validation after that many batches. */
  readonly validationSteps?: number;
  /** Validate after every that many epochs, 1 unless given, or after those of a list, of which the first is 1. */
  readonly validationFreq?: number | readonly number[];
}

export const batchOptionNames: OptionNames<BatchOptions> = {
  batchSize: true,
  verbose: true,
  callbacks: true,
  steps: true,
  signal: true,
};
export const evaluateOptionNames: OptionNames<EvaluateOptions> = {
  ...batchOptionNames,
  sampleWeight: true,
  returnDict: true,
};
export const fitOptionNames: OptionNames<FitOptions> = {
  epochs: true,
  batchSize: true,
  verbose: true,
  callbacks: true,
  signal: true,
  shuffle: true,
  initialEpoch: true,
  stepsPerEpoch: true,
  sampleWeight: true,
  classWeight: true,
  validationSplit: true,
  validationData: true,
  validationBatchSize: true,
  validationSteps: true,
  validationFreq: true,
};

/**
 * `(x, y, options)`, or `(x, options)` where there are no targets: with an iterable of batches, say.
 * @throws InvalidArgumentError for options that are not known
 */
export function splitArguments<O extends object>(
  second: Targets | O | null | undefined,
  options: O | null | undefined,
  { outputs, forms }: Names,
  known: OptionNames<O>,
  op: string,
): [Targets | undefined, O] {
  if (
    Object.keys(options ?? {}).length === 0 &&
    isByName(second) &&
    !areTargets(second, outputs, forms?.outputs)
  ) {
    checkOptionNames(second as unknown as O, known, op);
    return [undefined, second as unknown as O];
  }
  return [(second ?? undefined) as Targets | undefined, options ?? ({} as O)];
}

/** Whether an object holds targets by the names of outputs. */
function areTargets(value: object, names: readonly string[] | null, form: unknown): boolean {
  const keys = Object.keys(value);
  const isOne = (key: string): boolean =>
    names?.includes(key) === true || (isByName(form) && Object.hasOwn(form, key));
  return keys.length > 0 && keys.every(isOne);
}

/** The names of a model's inputs and outputs. */
export function namesOf(model: Model): Names {
  const forms = { inputs: model.inputForm, outputs: model.outputForm };
  return { inputs: model.inputNames, outputs: model.outputNames, forms, shape: model.knownInputShape };
}

/** @throws InvalidArgumentError where one that is given is no integer of at least `least`. */
export function checkCounts(counts: Readonly<Record<string, unknown>>, op: string, least = 1): void {
  for (const [name, value] of Object.entries(counts))
    if (value !== undefined) checkCount(value, name, op, least);
}

/** @throws InvalidArgumentError for `returnDict: false`: losses and metrics come by name */
export function checkReturnDict(returnDict: unknown, op: string): void {
  if (returnDict === undefined || returnDict === null || returnDict === true) return;
  throw new InvalidArgumentError(
    `returnDict must be true, got ${shown(returnDict)}: losses and metrics come by name, const { loss, accuracy } = …`,
    op,
  );
}

/** How many batches a pass has at most: those that are given, and not more than `setMaxStepsPerEpoch` allows. */
export function limitedSteps(given: unknown, name: string, op: string): number | undefined {
  checkCounts({ [name]: given }, op);
  const steps = given as number | undefined;
  const { maxStepsPerEpoch: most } = kerasDefaults;
  if (most === null || (steps !== undefined && steps <= most)) return steps;
  console.warn(`${op}: tf.keras.config.setMaxStepsPerEpoch limits ${name} to ${most}`);
  return most;
}

/** @throws InvalidArgumentError for what is no verbosity */
export function verbosity(verbose: Verbosity | undefined): 0 | 1 | 2 {
  if (verbose === undefined || verbose === 'auto') return 1;
  if (verbose !== 0 && verbose !== 1 && verbose !== 2)
    throw new InvalidArgumentError(`verbose must be 0, 1, 2 or 'auto', got ${shown(verbose)}`);
  return verbose;
}

/** @throws InvalidArgumentError for what is no list of callbacks */
export function checkCallbacks(callbacks: readonly Callback[] | undefined): readonly Callback[] {
  if (callbacks === undefined || callbacks === null) return [];
  if (!Array.isArray(callbacks)) throw new InvalidArgumentError('callbacks must be a list of callbacks');
  for (const callback of callbacks as unknown[]) {
    if (callback instanceof Callback) continue;
    throw new InvalidArgumentError(
      typeof callback === 'function'
        ? `callbacks contains the class ${callback.name}: write new ${callback.name}(…)`
        : 'callbacks contains something that is not a callback; wrap functions in new LambdaCallback({ onEpochEnd: … })',
    );
  }
  return callbacks as readonly Callback[];
}

import { argumentsOf, takesArguments } from '@eagre/core/internal';
import type { Tensors } from '../layer/batch-tensors.ts';
import type { Model } from '../models/model.ts';

/** Numbers by name: `loss`, `accuracy`, `val_loss`. */
export type Logs = Record<string, number>;

/** What `onPredictBatchEnd` is told. */
export interface PredictLogs {
  /** The outputs for the batch, in the form that the model gives them. */
  readonly outputs: Tensors;
}

/** What a training run is about to do. */
export interface FitParams {
  /** How many epochs were asked for. */
  readonly epochs: number;
  /** Batches in an epoch; undefined while it is not known. */
  steps: number | undefined;
  /** What `fit` shows: 0 nothing, 1 a progress bar, 2 a line for each epoch. */
  readonly verbose: 0 | 1 | 2;
  /** The epoch that comes first; `onTrainBegin` may change it. */
  initialEpoch?: number;
}

const batchEnds = {
  train: ['onTrainBatchEnd', 'onBatchEnd'],
  test: ['onTestBatchEnd'],
  predict: ['onPredictBatchEnd'],
} as const;

/** Something that follows training: override what is needed. Methods may be asynchronous; training waits. */
export class Callback {
  /** The model that is trained, evaluated or asked; set before the first method is called. */
  model!: Model;
  /** What was asked for: epochs, steps and what is shown. */
  params!: FitParams;

  constructor(...args: []) {
    argumentsOf(Callback, new.target, args);
  }

  /** @internal */
  attach(model: Model, params: FitParams): void {
    this.setParams(params);
    this.setModel(model);
  }
  /** Tells the model, before anything else is called. */
  setModel(model: Model): void {
    this.model = model;
  }
  /** Tells what the run is about to do. */
  setParams(params: FitParams): void {
    this.params = params;
  }

  /** @internal Runs a training step, or a method of a callback up to its first await, inside of what this callback holds around it. */
  aroundStep(step: () => void): void {
    step();
  }

  /**
   * @internal Whether it looks at the logs of single batches, or at predictions: processes that train together exchange them for it in every step.
   * @param known whose methods do not count: a class that knows when its own look
   */
  readsBatches(kind: 'train' | 'test' | 'predict', known: Callback = Callback.prototype): boolean {
    return batchEnds[kind].some((name) => this[name] !== known[name]);
  }

  /** @internal Ends what would go on when training is cut short by an error. */
  close(): void {}

  /** Called when `fit` begins. */
  onTrainBegin(_logs?: Logs): void | Promise<void> {}
  /** Called when `fit` ends, with the logs of the last epoch. */
  onTrainEnd(_logs: Logs): void | Promise<void> {}
  /** Called when an epoch begins; the first is 0. */
  onEpochBegin(_epoch: number): void | Promise<void> {}
  /** `epoch` counts from 0; `logs` has the epoch's means, `val_…` included. */
  onEpochEnd(_epoch: number, _logs: Logs): void | Promise<void> {}
  /** Called before a batch is trained on; the first of an epoch is 0. */
  onTrainBatchBegin(batch: number): void | Promise<void> {
    return this.onBatchBegin(batch);
  }
  /** Called after a batch was trained on, with the means over the epoch so far. */
  onTrainBatchEnd(batch: number, logs: Logs): void | Promise<void> {
    return this.onBatchEnd(batch, logs);
  }
  /** Another name for `onTrainBatchBegin`, which calls it. */
  onBatchBegin(_batch: number): void | Promise<void> {}
  /** Another name for `onTrainBatchEnd`, which calls it. */
  onBatchEnd(_batch: number, _logs: Logs): void | Promise<void> {}

  /** Around `evaluate`, and around the validation of an epoch. */
  onTestBegin(): void | Promise<void> {}
  /** Called when an evaluation ends, that of validation data in `fit` too. */
  onTestEnd(_logs: Logs): void | Promise<void> {}
  /** Called before a batch is evaluated. */
  onTestBatchBegin(_batch: number): void | Promise<void> {}
  /** Called after a batch was evaluated, with the means so far. */
  onTestBatchEnd(_batch: number, _logs: Logs): void | Promise<void> {}

  /** Called when `predict` begins. */
  onPredictBegin(): void | Promise<void> {}
  /** Called when `predict` ends. */
  onPredictEnd(_logs: Logs): void | Promise<void> {}
  /** Called before a batch is asked for its outputs. */
  onPredictBatchBegin(_batch: number): void | Promise<void> {}
  /** Called after a batch was asked, with its outputs. */
  onPredictBatchEnd(_batch: number, _logs: PredictLogs): void | Promise<void> {}
}

takesArguments<object>({ names: {} }, Callback);

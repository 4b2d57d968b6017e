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
  readonly epochs: number;
  /** Batches in an epoch; undefined while it is not known. */
  steps: number | undefined;
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
  model!: Model;
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

  onTrainBegin(_logs?: Logs): void | Promise<void> {}
  onTrainEnd(_logs: Logs): void | Promise<void> {}
  onEpochBegin(_epoch: number): void | Promise<void> {}
  /** `epoch` counts from 0; `logs` has the epoch's means, `val_…` included. */
  onEpochEnd(_epoch: number, _logs: Logs): void | Promise<void> {}
  onTrainBatchBegin(batch: number): void | Promise<void> {
    return this.onBatchBegin(batch);
  }
  onTrainBatchEnd(batch: number, logs: Logs): void | Promise<void> {
    return this.onBatchEnd(batch, logs);
  }
  /** Another name for `onTrainBatchBegin`, which calls it. */
  onBatchBegin(_batch: number): void | Promise<void> {}
  /** Another name for `onTrainBatchEnd`, which calls it. */
  onBatchEnd(_batch: number, _logs: Logs): void | Promise<void> {}

  /** Around `evaluate`, and around the validation of an epoch. */
  onTestBegin(): void | Promise<void> {}
  onTestEnd(_logs: Logs): void | Promise<void> {}
  onTestBatchBegin(_batch: number): void | Promise<void> {}
  onTestBatchEnd(_batch: number, _logs: Logs): void | Promise<void> {}

  onPredictBegin(): void | Promise<void> {}
  onPredictEnd(_logs: Logs): void | Promise<void> {}
  onPredictBatchBegin(_batch: number): void | Promise<void> {}
  onPredictBatchEnd(_batch: number, _logs: PredictLogs): void | Promise<void> {}
}

takesArguments<object>({ names: {} }, Callback);

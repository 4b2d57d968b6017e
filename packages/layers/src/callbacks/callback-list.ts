import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  flagOption,
  integerOption,
  orNull,
  setOptions,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { Model } from '../models/model.ts';
import { checkCallbacks } from '../trainers/training-options.ts';
import { Callback, type FitParams } from './callback.ts';
import { History } from './history.ts';
import { oneOf } from './options.ts';
import { ProgressBar } from './progress.ts';

/** Options of `CallbackList`. */
export interface CallbackListOptions {
  /** Add a `History` where there is none. */
  readonly addHistory?: boolean;
  /** Add a `ProgressBar` where there is none. */
  readonly addProgbar?: boolean;
  /** The model that is trained. */
  readonly model?: Model | null;
  /** What callbacks find in their `params`. */
  readonly epochs?: number;
  /** How many batches an epoch has, where that is known; in the callbacks' `params`. */
  readonly steps?: number | null;
  /** 0 silent, 1 a progress bar, 2 a line for each epoch; in the callbacks' `params`. */
  readonly verbose?: 0 | 1 | 2;
}

/** All arguments of `CallbackList`, by name. */
export interface CallbackListArguments extends CallbackListOptions {
  /** What is called, in this order; none by default. */
  readonly callbacks?: readonly Callback[] | null;
}

/**
 * Callbacks as one, for training loops of your own: each method calls that of all of them, one after another, and waits for those that are
 * asynchronous.
 *
 *     const list = new tf.keras.callbacks.CallbackList(callbacks, { model, epochs: 3, addHistory: true });
 *     await list.onTrainBegin({});
 */
export class CallbackList extends Callback {
  /** What is called, in this order. */
  readonly callbacks: readonly Callback[];
  /** The `History` among them, if there is one. */
  readonly history: History | null;
  /** Add a `History` where there is none. */
  declare readonly addHistory: boolean;
  /** Add a `ProgressBar` where there is none. */
  declare readonly addProgbar: boolean;
  /** What callbacks find in their `params`. */
  declare readonly epochs: number;
  /** How many batches an epoch has, where that is known; in the callbacks' `params`. */
  declare readonly steps: number | null;
  /** 0 silent, 1 a progress bar, 2 a line for each epoch; in the callbacks' `params`. */
  declare readonly verbose: 0 | 1 | 2;

  constructor(
    ...args: [callbacks?: readonly Callback[] | null | CallbackListArguments, options?: CallbackListOptions]
  ) {
    super();
    const options = argumentsOf<CallbackListArguments>(CallbackList, new.target, args);
    setOptions(this, options);
    const list = [...checkCallbacks(options.callbacks ?? [])];
    const lacks = (Class: typeof History | typeof ProgressBar): boolean =>
      !list.some((callback) => callback instanceof Class);
    if (this.addHistory && lacks(History)) list.push(new History());
    if (this.addProgbar && lacks(ProgressBar)) list.push(new ProgressBar());
    this.callbacks = list;
    this.history = list.find((callback) => callback instanceof History) ?? null;
    const { model = null } = options;
    if (model === null) return;
    if (!(model instanceof Model))
      throw new InvalidArgumentError(`model must be a model, got ${shown(model)}`, 'CallbackList');
    this.attach(model, { epochs: this.epochs, steps: this.steps ?? undefined, verbose: this.verbose });
  }

  /** @internal */
  override attach(model: Model, params: FitParams): void {
    super.attach(model, params);
    for (const callback of this.callbacks) callback.attach(model, params);
  }
  /** @internal */
  override aroundStep(step: () => void): void {
    const all = this.callbacks.reduceRight<() => void>(
      (inner, callback) => () => callback.aroundStep(inner),
      step,
    );
    all();
  }
  /** @internal */
  override readsBatches(kind: 'train' | 'test' | 'predict'): boolean {
    return (
      super.readsBatches(kind, CallbackList.prototype) ||
      this.callbacks.some((callback) => callback.readsBatches(kind))
    );
  }
  /** @internal */
  override close(): void {
    for (const callback of this.callbacks) callback.close();
  }
}

type Method = (this: Callback, ...args: unknown[]) => void | Promise<void>;
for (const name of Object.getOwnPropertyNames(Callback.prototype).filter((name) => /^on[A-Z]/.test(name)))
  Object.defineProperty(CallbackList.prototype, name, {
    value: async function (this: CallbackList, ...args: unknown[]): Promise<void> {
      for (const callback of this.callbacks)
        await (callback as unknown as Record<string, Method>)[name]?.call(callback, ...args);
    },
    writable: true,
    configurable: true,
  });

takesOptions<CallbackListArguments, CallbackList>(
  {
    positional: ['callbacks'],
    required: 0,
    options: {
      callbacks: true,
      addHistory: flagOption(false),
      addProgbar: flagOption(false),
      model: true,
      epochs: integerOption(1, 0),
      steps: orNull(integerOption(1, 0)),
      verbose: oneOf<0 | 1 | 2>(0, 1, 2),
    },
  },
  CallbackList,
);

import type { Model } from '../models/model.ts';
import { Callback, type FitParams } from './callback.ts';

/** The callbacks of one run. */
export class CallbackRun {
  readonly #list: readonly Callback[];
  /** Those that hold something around steps. */
  readonly #around: readonly Callback[];

  constructor(model: Model, params: FitParams, list: readonly Callback[] = []) {
    this.#list = list;
    this.#around = list.filter((callback) => callback.aroundStep !== Callback.prototype.aroundStep);
    for (const callback of list) callback.attach(model, params);
  }

  /** Whether one of them looks at what single batches give: the logs of training or of tests, or predictions. */
  readsBatches(kind: 'train' | 'test' | 'predict'): boolean {
    return this.#list.some((callback) => callback.readsBatches(kind));
  }

  /** Calls each, one after another. */
  async call(fn: (callback: Callback) => void | Promise<void>): Promise<void> {
    for (const callback of this.#list) {
      const pending = this.step(() => fn(callback));
      // Most have nothing to wait for, and this runs several times for each batch.
      if (pending !== undefined) await pending;
    }
  }

  /**
   * Runs what has no await in it inside of what callbacks hold around it. Whatever holds for a while ends before anything else can run, so
   * trainings beside each other do not meet.
   */
  step<T>(fn: () => T): T {
    if (this.#around.length === 0) return fn();
    let result: T | undefined;
    const run = (at: number): void => {
      const callback = this.#around[at];
      if (callback === undefined) result = fn();
      else callback.aroundStep(() => run(at + 1));
    };
    run(0);
    return result as T;
  }

  close(): void {
    for (const callback of this.#list) callback.close();
  }
}

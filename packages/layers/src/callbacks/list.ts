import type { Model } from '../model.ts';
import type { Callback, FitParams } from './callback.ts';

/** The callbacks of one run. */
export class CallbackList {
  readonly #list: readonly Callback[];

  constructor(model: Model, params: FitParams, list: readonly Callback[] = []) {
    this.#list = list;
    for (const callback of list) callback.attach(model, params);
  }

  /** Calls each, one after another. */
  async call(fn: (callback: Callback) => void | Promise<void>): Promise<void> {
    for (const callback of this.#list) {
      const pending = fn(callback);
      // Most have nothing to wait for, and this runs several times for each batch.
      if (pending !== undefined) await pending;
    }
  }

  close(): void {
    for (const callback of this.#list) callback.close();
  }
}

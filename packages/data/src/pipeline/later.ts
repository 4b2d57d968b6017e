// Waiting without gaps: what arrives passes all iterators of a pipeline in one synchronous step.

type Listener<T> = readonly [onValue: (value: T) => void, onError: (error: unknown) => void];

/**
 * A promise that calls its listeners at once when it is settled. Between two iterators an ordinary promise would hold an element for some
 * microtasks in which neither of them knows it, so that a state saved just then would lose it.
 */
export class Later<T> extends Promise<T> {
  #listeners: Listener<T>[] | null = [];
  #value: T | undefined;
  #error: unknown;
  #failed = false;

  // What `finally` makes is an ordinary promise.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor() {
    // The ordinary promise below is never asked: `await` and everything else calls `then`.
    super(() => undefined);
  }

  readonly settle = (value: T): void => {
    const listeners = this.#listeners;
    if (listeners === null) return;
    this.#listeners = null;
    this.#value = value;
    for (const [onValue] of listeners) onValue(value);
  };

  readonly fail = (error: unknown): void => {
    const listeners = this.#listeners;
    if (listeners === null) return;
    this.#listeners = null;
    this.#failed = true;
    this.#error = error;
    for (const [, onError] of listeners) onError(error);
  };

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  override then<A = T, B = never>(
    onValue?: ((value: T) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Later<A | B> {
    const out = new Later<A | B>();
    const run = (fn: () => A | B | PromiseLike<A | B>): void => {
      let result: A | B | PromiseLike<A | B>;
      try {
        result = fn();
      } catch (error) {
        out.fail(error);
        return;
      }
      if (result instanceof Promise) result.then(out.settle, out.fail);
      else out.settle(result as A | B);
    };
    const listener: Listener<T> = [
      (value) => (onValue ? run(() => onValue(value)) : out.settle(value as unknown as A)),
      (error) => (onError ? run(() => onError(error)) : out.fail(error)),
    ];
    if (this.#listeners !== null) this.#listeners.push(listener);
    else if (this.#failed) listener[1](this.#error);
    else listener[0](this.#value as T);
    return out;
  }
}

/** A promise as one without gaps from here on. */
export function later<T>(promise: Promise<T>): Later<T> {
  if (promise instanceof Later) return promise;
  const own = new Later<T>();
  promise.then(own.settle, own.fail);
  return own;
}

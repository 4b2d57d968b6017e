import { showInConsole } from '@eagre/core/internal';

/** What a scheduled function will have returned. */
export class RemoteValue<T = unknown> {
  readonly #value: Promise<T>;
  #isDone = false;
  #resolve: (value: T) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  /** @internal `ClusterCoordinator.schedule` makes them. */
  constructor() {
    this.#value = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Who does not fetch it is told by `join`.
    this.#value.catch(() => {});
  }

  /**
   * Waits for the value.
   * @throws (the promise) what the function threw; CancelledError where another one's error ended it before it ran
   */
  fetch(): Promise<T> {
    return this.#value;
  }
  /** The same as `fetch`: values come to the coordinator when functions have ended. */
  get(): Promise<T> {
    return this.#value;
  }

  /** @internal */
  resolve(value: T): void {
    this.#isDone = true;
    this.#resolve(value);
  }
  /** @internal */
  reject(error: unknown): void {
    this.#isDone = true;
    this.#reject(error);
  }

  toString(): string {
    return `RemoteValue(${this.#isDone ? 'done' : 'pending'})`;
  }
}
showInConsole(RemoteValue.prototype, String);

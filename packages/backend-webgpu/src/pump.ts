/**
 * Lets a program wait for WebGPU of Node without a turn of the event loop. Dawn has its events looked after by a function that it gives to the global
 * `setImmediate`. While this class starts something, it keeps that function, so that it can be called at will. In browsers there is nothing to keep,
 * and `poll` does nothing.
 */
export class Pump {
  #wanted: (() => void) | undefined;
  #scheduled = false;
  readonly #real: typeof globalThis.setImmediate | undefined = globalThis.setImmediate;

  /** Runs what may start work of the GPU. */
  within<T>(body: () => T): T {
    if (this.#real === undefined) return body();
    const before = globalThis.setImmediate;
    globalThis.setImmediate = ((fn: () => void) => {
      this.#wanted = fn;
    }) as never;
    try {
      return body();
    } finally {
      globalThis.setImmediate = before;
      this.#schedule();
    }
  }

  /** Looks after events now. @returns false where there are none to be expected. */
  poll(): boolean {
    const wanted = this.#wanted;
    if (wanted === undefined) return false;
    this.#wanted = undefined;
    this.within(wanted);
    return true;
  }

  // Programs that wait with `await` get their events in turns of the event loop, as without this class.
  #schedule(): void {
    if (this.#wanted === undefined || this.#scheduled) return;
    this.#scheduled = true;
    this.#real?.(() => {
      this.#scheduled = false;
      this.poll();
    });
  }
}

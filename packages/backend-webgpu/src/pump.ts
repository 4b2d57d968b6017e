/**
 * Lets a program wait for WebGPU of Node without a turn of the event loop. Dawn has its events looked after by a function that it gives to the global
 * `setImmediate`; on a lost device it gives one for each thing that is refused. While this class starts something, it keeps these functions, so that they can be called at will. In browsers there is nothing to keep,
 * and `poll` does nothing.
 */
export class Pump {
  #wanted: (() => void)[] = [];
  #scheduled = false;
  readonly #real: typeof globalThis.setImmediate | undefined = globalThis.setImmediate;

  /** Runs what may start work of the GPU. */
  within<T>(body: () => T): T {
    if (this.#real === undefined) return body();
    const before = globalThis.setImmediate;
    globalThis.setImmediate = ((fn: () => void) => {
      this.#wanted.push(fn);
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
    if (wanted.length === 0) return false;
    this.#wanted = [];
    for (const fn of wanted) this.within(fn);
    return true;
  }

  // Programs that wait with `await` get their events in turns of the event loop, as without this class.
  #schedule(): void {
    if (this.#wanted.length === 0 || this.#scheduled) return;
    this.#scheduled = true;
    this.#real?.(() => {
      this.#scheduled = false;
      this.poll();
    });
  }
}

import type { Watcher } from '@eagre/backend';

/** Tells of collected objects where there is no addon: between two turns of the event loop, when JavaScript's finalizers run. */
export class Finalizers implements Watcher {
  readonly #tokens: ({ readonly slot: number } | undefined)[] = [];
  readonly #gone: number[] = [];
  readonly #registry = new FinalizationRegistry<{ readonly slot: number }>((token) => {
    // The slot may be another object's by now.
    if (this.#tokens[token.slot] !== token) return;
    this.#tokens[token.slot] = undefined;
    this.#gone.push(token.slot);
  });

  watch(object: object, slot: number): void {
    const before = this.#tokens[slot];
    if (before !== undefined) this.#registry.unregister(before);
    const token = { slot };
    this.#tokens[slot] = token;
    this.#registry.register(object, token, token);
  }

  collected(slots: Uint32Array): number {
    let count = 0;
    while (count < slots.length && this.#gone.length > 0) slots[count++] = this.#gone.pop() as number;
    return count;
  }
}

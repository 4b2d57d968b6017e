import type { Watcher } from '@eagre/backend';

/** Tells of collected objects where there is no addon: between two turns of the event loop, when JavaScript's finalizers run. */
export class Finalizers implements Watcher {
  readonly #tokens: ({ readonly slot: number } | undefined)[] = [];
  readonly #gone = new Set<number>();
  readonly #registry = new FinalizationRegistry<{ readonly slot: number }>((token) => {
    // The slot may be another object's by now.
    if (this.#tokens[token.slot] !== token) return;
    this.#tokens[token.slot] = undefined;
    this.#gone.add(token.slot);
  });

  watch(object: object, slot: number): void {
    const before = this.#tokens[slot];
    if (before !== undefined) this.#registry.unregister(before);
    // That of one which was disposed of, and collected since: the slot is this object's now.
    this.#gone.delete(slot);
    const token = { slot };
    this.#tokens[slot] = token;
    this.#registry.register(object, token, token);
  }

  collected(slots: Uint32Array): number {
    let count = 0;
    for (const slot of this.#gone) {
      if (count === slots.length) break;
      slots[count++] = slot;
      this.#gone.delete(slot);
    }
    return count;
  }
}

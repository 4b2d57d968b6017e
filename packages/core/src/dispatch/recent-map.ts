/** A map of bounded size: beyond its limit it forgets what was asked for least recently. */
export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;
  readonly #forgotten: (value: V) => void;

  /** @param forgotten is told of each value that is forgotten. */
  constructor(limit: number, forgotten: (value: V) => void = () => {}) {
    this.#limit = limit;
    this.#forgotten = forgotten;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    // Few entries need no order, which costs a look-up in time.
    if (value !== undefined && this.#entries.size > this.#limit / 2) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): this {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#limit) {
      const [oldest] = this.#entries;
      if (oldest !== undefined) {
        this.#entries.delete(oldest[0]);
        this.#forgotten(oldest[1]);
      }
    }
    return this;
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }

  /** Forgets everything. */
  clear(): void {
    for (const value of this.#entries.values()) this.#forgotten(value);
    this.#entries.clear();
  }
}

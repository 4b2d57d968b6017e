/**
 * A list of which every change makes a new one. The newest is as fast as an array; older ones keep their values (Baker's trick:
 * each knows the next one and in which place it differs from that). Not private fields, so that memory scopes see the items.
 */
export class Versions<T> {
  readonly length: number;
  /** The items, which the newest list alone holds; there may be more than `length`. */
  items: T[] | null;
  /** What an older list differs from. */
  next: Versions<T> | null = null;
  place = 0;
  value: T | undefined = undefined;

  constructor(items: T[], length: number = items.length) {
    this.items = items;
    this.length = length;
  }

  get(place: number): T {
    return this.#newest()[place];
  }

  /** The list with another item, as long as this one, or longer by items that are `filler`. */
  with(place: number, value: T, filler: T): Versions<T> {
    const items = this.#newest();
    while (items.length <= place) items.push(filler);
    const after = new Versions(items, Math.max(this.length, place + 1));
    this.items = null;
    this.next = after;
    this.place = place;
    this.value = items[place];
    items[place] = value;
    return after;
  }

  /** The list without its last item. */
  shortened(): Versions<T> {
    const items = this.#newest();
    const after = new Versions(items, this.length - 1);
    this.items = null;
    this.next = after;
    this.place = this.length - 1;
    this.value = items[this.place];
    return after;
  }

  toArray(): T[] {
    return this.#newest().slice(0, this.length);
  }

  /** Makes this the newest of all versions. */
  #newest(): T[] {
    if (this.items !== null) return this.items;
    const older: Versions<T>[] = [];
    let newest: Versions<T> = this;
    for (; newest.next !== null; newest = newest.next) older.push(newest);
    const items = newest.items as T[];
    for (let version = older.pop(); version !== undefined; version = older.pop()) {
      const after = version.next as Versions<T>;
      after.items = null;
      after.next = version;
      after.place = version.place;
      after.value = items[version.place];
      items[version.place] = version.value as T;
      version.items = items;
      version.next = null;
      version.value = undefined;
    }
    return items;
  }
}

// Static tables from keys to values, as preprocessing layers have them.
import { type DType, FailedPreconditionError, InvalidArgumentError, type Tensor } from '@eagre/core';
import { hostValues } from '@eagre/core/internal';

/** A key or a value of a table. */
export type TableItem = string | number | bigint;

/** A table from keys to values. Values are scalars. */
export class LookupTable {
  readonly name: string;
  readonly keyDType: DType;
  readonly valueDType: DType;
  readonly #items: Map<string | bigint, TableItem> = new Map();
  #initialized = false;

  constructor(name: string, keyDType: DType, valueDType: DType) {
    this.name = name;
    this.keyDType = keyDType;
    this.valueDType = valueDType;
  }

  get size(): number {
    return this.#items.size;
  }
  get initialized(): boolean {
    return this.#initialized;
  }

  /** The keys and values, in the order in which they came. */
  entries(): [TableItem, TableItem][] {
    return [...this.#items];
  }

  /** Adds keys; a static table takes each key once. @throws InvalidArgumentError for a second value of a key. */
  insert(keys: readonly TableItem[], values: readonly TableItem[], replaces: boolean): void {
    if (keys.length !== values.length)
      throw new InvalidArgumentError(`${keys.length} keys for ${values.length} values`, this.name);
    keys.forEach((key, i) => {
      const id = idOf(key);
      const before = this.#items.get(id);
      if (!replaces && before !== undefined && before !== values[i])
        throw new InvalidArgumentError(`the key ${String(key)} has two values`, this.name);
      this.#items.set(id, values[i] as TableItem);
    });
    this.#initialized = true;
  }

  /** Removes everything. */
  clear(): void {
    this.#items.clear();
  }

  /** The value of each key. @throws FailedPreconditionError before it was filled. */
  find(keys: readonly TableItem[], missing: TableItem): TableItem[] {
    if (!this.#initialized)
      throw new FailedPreconditionError('the table has not been initialized', this.name);
    return keys.map((key) => this.#items.get(idOf(key)) ?? missing);
  }
}

const idOf = (key: TableItem): string | bigint => (typeof key === 'string' ? key : BigInt(key));

/** The elements of a tensor with values as items: text, or numbers. */
export function itemsOf(tensor: Tensor): TableItem[] {
  if (tensor.dtype === 'string') return tensor.strings();
  return Array.from(hostValues(tensor) as ArrayLike<number | bigint>);
}

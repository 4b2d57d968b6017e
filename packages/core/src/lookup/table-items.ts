// Tables from keys to values, as preprocessing has them.
import { type DType, FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { constant } from '../tensor/constant.ts';
import { hostValues, stringTensor, type Tensor } from '../tensor/tensor.ts';

/** A key, or one number or text of a value. */
export type TableItem = string | number | bigint;

/** A table from keys to values, which are scalars, or vectors of so many items. */
export class LookupTable {
  readonly name: string;
  readonly keyDType: DType;
  readonly valueDType: DType;
  /** The shape of a value. */
  readonly valueShape: readonly number[];
  /** Keys that cannot be used, since they stand for none and for removed ones. */
  reserved: readonly TableItem[] = [];
  readonly #items: Map<string | bigint, readonly TableItem[]> = new Map();
  readonly #width: number;
  #initialized = false;

  constructor(name: string, keyDType: DType, valueDType: DType, valueShape: readonly number[] = []) {
    this.name = name;
    this.keyDType = keyDType;
    this.valueDType = valueDType;
    this.valueShape = valueShape;
    this.#width = valueShape.reduce((n, size) => n * size, 1);
  }

  get size(): number {
    return this.#items.size;
  }
  get initialized(): boolean {
    return this.#initialized;
  }

  /** All keys, and the value of each, in the order in which they came. */
  contents(): [keys: Tensor, values: Tensor] {
    const keys = [...this.#items.keys()];
    const values = [...this.#items.values()].flat();
    return [
      tensorOfItems(keys, this.keyDType, [keys.length]),
      tensorOfItems(values, this.valueDType, [keys.length, ...this.valueShape]),
    ];
  }

  /**
   * Adds keys, all or none; a static table takes each key once.
   * @throws InvalidArgumentError for a second value of a key, and for a reserved key.
   */
  insert(keys: readonly TableItem[], values: readonly TableItem[], replaces: boolean): void {
    this.#checkCounts(keys, values);
    this.#checkKeys(keys);
    const added = new Map<string | bigint, readonly TableItem[]>();
    keys.forEach((key, i) => {
      const id = idOf(key);
      const value = values.slice(i * this.#width, (i + 1) * this.#width);
      const before = added.get(id) ?? this.#items.get(id);
      if (!replaces && before?.some((item, k) => item !== value[k]))
        throw new InvalidArgumentError(`the key ${String(key)} has two values`, this.name);
      added.set(id, value);
    });
    for (const [id, value] of added) this.#items.set(id, value);
    this.#initialized = true;
  }

  /** Gives it other contents. Reserved keys, which files of TensorFlow have too, are left out. */
  replace(keys: readonly TableItem[], values: readonly TableItem[]): void {
    this.#checkCounts(keys, values);
    const width = this.#width;
    const kept = keys.flatMap((key, i) => (this.reserved.includes(key) ? [] : [i]));
    this.#items.clear();
    this.insert(
      kept.map((i) => keys[i] as TableItem),
      kept.flatMap((i) => values.slice(i * width, (i + 1) * width)),
      true,
    );
  }

  /** Removes keys; those that it does not have do not matter. @throws InvalidArgumentError for a reserved key. */
  remove(keys: readonly TableItem[]): void {
    this.#checkKeys(keys);
    for (const key of keys) this.#items.delete(idOf(key));
  }

  /**
   * The values of keys, one behind the other. `missing` is one value, or one for each key.
   * @throws FailedPreconditionError before it was filled, InvalidArgumentError for a reserved key.
   */
  find(keys: readonly TableItem[], missing: readonly TableItem[]): TableItem[] {
    this.#checkKeys(keys);
    if (!this.#initialized)
      throw new FailedPreconditionError('the table has not been initialized', this.name);
    const width = this.#width;
    const isOne = missing.length === width;
    return keys.flatMap(
      (key, i) => this.#items.get(idOf(key)) ?? (isOne ? missing : missing.slice(i * width, (i + 1) * width)),
    );
  }

  #checkCounts(keys: readonly TableItem[], values: readonly TableItem[]): void {
    if (keys.length * this.#width !== values.length)
      throw new InvalidArgumentError(`${keys.length} keys for ${values.length} values`, this.name);
  }
  #checkKeys(keys: readonly TableItem[]): void {
    const wrong = keys.find((key) => this.reserved.includes(key));
    if (wrong !== undefined)
      throw new InvalidArgumentError(
        `the key ${String(wrong)} stands for none, or for removed ones, and cannot be used`,
        this.name,
      );
  }
}

const idOf = (key: TableItem): string | bigint => (typeof key === 'string' ? key : BigInt(key));

/** The elements of a tensor with values as items: text, or numbers. */
export function itemsOf(tensor: Tensor): TableItem[] {
  if (tensor.dtype === 'string') return tensor.strings();
  return Array.from(hostValues(tensor) as ArrayLike<number | bigint>);
}

/** A tensor of items. */
export function tensorOfItems(items: readonly TableItem[], dtype: DType, shape: readonly number[]): Tensor {
  if (dtype === 'string') return stringTensor(items as readonly string[], shape);
  const values =
    dtype === 'int64' || dtype === 'uint64' ? items.map((item) => BigInt(item)) : items.map(Number);
  return constant(values as number[], dtype, { shape });
}

/** Which part of a line a key or a value is: its number, all of it, or a column from 0 on. */
export const LINE_NUMBER = -1;
export const WHOLE_LINE = -2;

/** The items of one column of lines of text. */
export function columnOfLines(
  lines: readonly string[],
  column: number,
  delimiter: string,
  numberOffset: number,
  read: (text: string, line: number) => TableItem,
  fail: (why: string) => Error,
): TableItem[] {
  return lines.map((line, i) => {
    if (column === LINE_NUMBER) return BigInt(i + numberOffset);
    if (column === WHOLE_LINE) return read(line, i);
    const fields = line.split(delimiter);
    const field = fields[column];
    if (field === undefined) throw fail(`line ${i} has ${fields.length} columns, and no column ${column}`);
    return read(field, i);
  });
}

/** The lines of a text file, without their ends. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

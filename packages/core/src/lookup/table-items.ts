// Tables from keys to values, as preprocessing has them.
import {
  type DType,
  dtypeTraits,
  FailedPreconditionError,
  InvalidArgumentError,
  type TypedArray,
} from '@eagre/backend';
import { constant } from '../tensor/constant.ts';
import { hostValues, stringTensor, Tensor, textsOf } from '../tensor/tensor.ts';
import { type KeyIndex, keyIndexOf } from './key-index.ts';

/** A key, or one number or text of a value. */
export type TableItem = string | number | bigint;
/** Keys, or values, one behind the other. */
export type TableItems = Tensor | readonly TableItem[];

/** A table from keys to values, which are scalars, or vectors of so many items. */
export class LookupTable {
  readonly name: string;
  readonly keyDType: DType;
  readonly valueDType: DType;
  /** The shape of a value. */
  readonly valueShape: readonly number[];
  /** Keys that cannot be used, since they stand for none and for removed ones. */
  reserved: readonly TableItem[] = [];
  #keys: KeyIndex;
  /** The values, by the numbers of their keys. */
  #values: Parts | null;
  readonly #width: number;
  #initialized = false;

  constructor(name: string, keyDType: DType, valueDType: DType, valueShape: readonly number[] = []) {
    this.name = name;
    this.keyDType = keyDType;
    this.valueDType = valueDType;
    this.valueShape = valueShape;
    this.#keys = keyIndexOf(keyDType);
    this.#values = valueDType === 'string' ? [] : null;
    this.#width = valueShape.reduce((n, size) => n * size, 1);
  }

  get size(): number {
    return this.#keys.size;
  }
  get initialized(): boolean {
    return this.#initialized;
  }

  /** All keys, and the value of each, in the order in which they came. */
  contents(): [keys: Tensor, values: Tensor] {
    const [numbers, keys] = this.#keys.contents();
    const none = this.#tensor([], this.valueDType, [0]);
    return [
      keys.dtype === this.keyDType ? keys : keys.cast(this.keyDType),
      this.valuesAt(numbers, none, [numbers.length, ...this.valueShape]),
    ];
  }

  /**
   * Adds keys, all or none; a static table takes each key once.
   * @throws InvalidArgumentError for a second value of a key, and for a reserved key.
   */
  insert(newKeys: TableItems, newValues: TableItems, replaces: boolean): void {
    const keys = this.#tensor(newKeys, this.keyDType);
    const values = this.#tensor(newValues, this.valueDType);
    if (keys.size * this.#width !== values.size)
      throw new InvalidArgumentError(`${keys.size} keys for ${values.size} values`, this.name);
    this.#checkKeys(keys);
    const before = this.#keys.count;
    const numbers = this.#keys.add(keys);
    const given = partsOf(values);
    const each = partsOfEach(given, values) * this.#width;
    const own = roomFor(this.#values, given, each * this.#keys.count);
    this.#values = own;
    if (replaces && own instanceof Int32Array && given instanceof Int32Array) {
      put(own, given, numbers, each);
      this.#initialized = true;
      return;
    }
    const seen = replaces ? null : new Uint8Array(this.#keys.count).fill(1, 0, before);
    for (let i = 0; i < numbers.length; i++) {
      const to = each * numbers[i];
      const from = each * i;
      if (seen?.[numbers[i]] === 1) {
        for (let k = 0; k < each; k++)
          if (own[to + k] !== given[from + k]) throw this.#twice(keys, i, numbers, before);
      } else for (let k = 0; k < each; k++) own[to + k] = given[from + k];
      if (seen !== null) seen[numbers[i]] = 1;
    }
    this.#initialized = true;
  }
  /** Takes the keys that were new back. */
  #twice(keys: Tensor, at: number, numbers: Int32Array, before: number): InvalidArgumentError {
    const items = itemsOf(keys);
    const added = items.filter((_, i) => numbers[i] >= before);
    this.#keys.remove(this.#tensor(added, keys.dtype));
    return new InvalidArgumentError(`the key ${String(items[at])} has two values`, this.name);
  }

  /** Gives it other contents. Reserved keys, which files of TensorFlow have too, are left out. */
  replace(keys: Tensor, values: Tensor): void {
    const width = this.#width;
    const [ownKeys, ownValues] = [itemsOf(keys), itemsOf(values)];
    const kept = ownKeys.flatMap((key, i) => (this.reserved.includes(key) ? [] : [i]));
    this.#keys = keyIndexOf(this.keyDType);
    this.insert(
      kept.map((i) => ownKeys[i] as TableItem),
      kept.flatMap((i) => ownValues.slice(i * width, (i + 1) * width)),
      true,
    );
  }

  /** Removes keys; those that it does not have do not matter. @throws InvalidArgumentError for a reserved key. */
  remove(keys: Tensor): void {
    this.#checkKeys(keys);
    this.#keys.remove(keys);
    // What was removed takes memory until there is more of it than of the rest.
    if (this.#keys.count > 64 && this.#keys.count > 2 * this.#keys.size) this.#compact();
  }
  #compact(): void {
    const [keys, values] = this.contents();
    this.#keys = keyIndexOf(this.keyDType);
    this.#values = this.valueDType === 'string' ? [] : null;
    this.insert(keys, values, true);
  }

  /**
   * The values of keys. `missing` is one value, or one for each key.
   * @throws FailedPreconditionError before it was filled, InvalidArgumentError for a reserved key.
   */
  find(keys: Tensor, missing: Tensor): Tensor {
    return this.valuesAt(this.numbers(keys), missing, [...keys.shape, ...this.valueShape]);
  }
  /** The numbers of keys, in the order in which they came; -1 of those that are not there. */
  numbers(keys: Tensor): Int32Array<ArrayBuffer> {
    this.#checkKeys(keys);
    if (!this.#initialized)
      throw new FailedPreconditionError('the table has not been initialized', this.name);
    return this.#keys.find(keys);
  }
  /** The values of numbers of keys; `missing` ones for those that are not there. */
  valuesAt(numbers: Int32Array, missing: Tensor, shape: readonly number[]): Tensor {
    const others = partsOf(missing);
    const each = partsOfEach(others, missing) * this.#width;
    const own = this.#values ?? others;
    const step = missing.size === this.#width ? 0 : each;
    if (own instanceof Int32Array && others instanceof Int32Array)
      return tensorOfParts(copied(numbers, own, others, each, step), this.valueDType, shape);
    const out = partsLike(others, each * numbers.length);
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i];
      const from = number < 0 ? step * i : each * number;
      for (let k = 0; k < each; k++) out[each * i + k] = number < 0 ? others[from + k] : own[from + k];
    }
    return tensorOfParts(out, this.valueDType, shape);
  }

  #tensor(items: TableItems, dtype: DType, shape?: readonly number[]): Tensor {
    return items instanceof Tensor ? items : tensorOfItems(items, dtype, shape ?? [items.length]);
  }
  #checkKeys(keys: Tensor): void {
    if (this.reserved.length === 0) return;
    const found = keyIndexOf(keys.dtype);
    found.add(this.#tensor(this.reserved, keys.dtype));
    const numbers = found.find(keys);
    let at = 0;
    while (at < numbers.length && numbers[at] < 0) at++;
    if (at < numbers.length)
      throw new InvalidArgumentError(
        `the key ${String(itemsOf(keys)[at])} stands for none, or for removed ones, and cannot be used`,
        this.name,
      );
  }
}

/** Elements as they are copied: texts; what has 32 or 64 bits as one or two integers, so that one loop is for all of these; or other numbers. */
interface Parts {
  [at: number]: string | number;
  readonly length: number;
}

function partsOf(x: Tensor): Parts {
  if (x.dtype === 'string') return textsOf(x) as Parts;
  const values = hostValues(x);
  return values.BYTES_PER_ELEMENT < 4
    ? (values as unknown as Parts)
    : new Int32Array(values.buffer, values.byteOffset, values.byteLength / 4);
}
/** How many parts an element has. */
const partsOfEach = (parts: Parts, { dtype }: Tensor): number =>
  parts instanceof Int32Array ? Math.max(1, dtypeTraits[dtype].bytes / 4) : 1;
function partsLike(parts: Parts, count: number): Parts {
  if (Array.isArray(parts)) return new Array<string>(count);
  return new (parts.constructor as new (size: number) => Parts)(count);
}
/** Puts parts where the numbers of their keys say, `each` of a value. */
function put(own: Int32Array, given: Int32Array, numbers: Int32Array, each: number): void {
  for (let i = 0; i < numbers.length; i++)
    for (let k = 0; k < each; k++) own[each * numbers[i] + k] = given[each * i + k];
}
/** The parts by the numbers of keys, `each` of a value, and those of `others`, `step` behind one another, where a number is negative. */
function copied(
  numbers: Int32Array,
  own: Int32Array,
  others: Int32Array,
  each: number,
  step: number,
): Int32Array {
  const out = new Int32Array(each * numbers.length);
  // Loops of few rounds take longer than what they copy.
  if (each <= 2 && step === 0) {
    const [first, second] = [others[0], others[each - 1]];
    for (let i = 0; i < numbers.length; i++) {
      const from = each * numbers[i];
      out[each * i + each - 1] = from < 0 ? second : own[from + each - 1];
      out[each * i] = from < 0 ? first : own[from];
    }
    return out;
  }
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i];
    const from = number < 0 ? step * i : each * number;
    const source = number < 0 ? others : own;
    for (let k = 0; k < each; k++) out[each * i + k] = source[from + k];
  }
  return out;
}
/** The same parts, with room for so many. */
function roomFor(own: Parts | null, like: Parts, count: number): Parts {
  if (own !== null && (Array.isArray(own) || own.length >= count)) return own;
  const longer = partsLike(like, Math.max(count, own === null ? 0 : own.length + (own.length >> 1)));
  if (own !== null) (longer as Int32Array).set(own as Int32Array);
  return longer;
}
function tensorOfParts(parts: Parts, dtype: DType, shape: readonly number[]): Tensor {
  if (dtype === 'string') return stringTensor(parts as unknown as string[], shape);
  const halves = dtype === 'float16' || dtype === 'bfloat16';
  const type = halves ? Float32Array : dtypeTraits[dtype].array;
  const data =
    parts instanceof Int32Array
      ? new (type as unknown as new (buffer: ArrayBufferLike) => TypedArray)(parts.buffer)
      : parts;
  return halves
    ? constant(data as never, dtype, { shape })
    : constant({ data: data as never, shape: [...shape], dtype });
}

/** The elements of a tensor with values as items: text, or numbers. */
export function itemsOf(tensor: Tensor): TableItem[] {
  if (tensor.dtype === 'string') return [...textsOf(tensor)];
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

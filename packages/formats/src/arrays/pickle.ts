import { type ErrorMaker, quote } from '../errors.ts';

/** A global that a pickle names; only NumPy's three that rebuild an array have a meaning here. */
interface Global {
  readonly global: string;
}

/** An array that is being rebuilt, or its dtype. */
interface Rebuilt {
  readonly of: 'array' | 'dtype';
  state: Value | undefined;
}

interface Tuple {
  readonly tuple: readonly Value[];
}

type Value = number | string | boolean | null | Uint8Array | Value[] | Tuple | Global | Rebuilt;

const MARK = Symbol('mark');
const GLOBALS = new Set([
  'ndarray',
  'dtype',
  'core.multiarray._reconstruct',
  '_core.multiarray._reconstruct',
]);

/**
 * Reads the pickle of a one-dimensional NumPy array of lists of 32-bit integers, protocols 0 to 5: the form in which
 * ragged sequences stand in `.npz` files. No code is run: a pickle is a program, and here it can build tuples, lists,
 * numbers and text, and name NumPy's `ndarray`, `dtype` and `_reconstruct`; every other instruction is refused. Lists that
 * a pickle repeats are shared, so what is built is never larger than a few times the file.
 *
 * @throws FormatError (through `error`) for a damaged pickle; UnsupportedFormatError for other contents.
 */
export function readPickledLists(bytes: Uint8Array, error: ErrorMaker): Int32Array[] {
  const array = new PickleReader(bytes, error).read();
  if (!isRebuilt(array, 'array')) throw error.unsupported('pickle', 'an array of lists', describe(array));
  const parts = isTuple(array.state) ? array.state.tuple : [];
  const [shape, dtype, rows] = [parts[1], parts[2], parts[4]];
  if (!isTuple(shape) || !isRebuilt(dtype, 'dtype') || !Array.isArray(rows))
    throw error('pickled array', 'a shape, a dtype and a list', 'something else');
  if (shape.tuple.length !== 1 || shape.tuple[0] !== rows.length)
    throw error('pickled array', `the shape of ${rows.length} rows`, shape.tuple.map(String).join(', '));

  const shared = new Map<Value[], Int32Array>();
  return rows.map((row, i) => {
    if (!Array.isArray(row)) throw error.unsupported(`row ${i}`, 'a list of integers', describe(row));
    let values = shared.get(row);
    if (values === undefined) {
      for (const value of row) {
        if (typeof value !== 'number') throw error.unsupported(`row ${i}`, 'integers', describe(value));
      }
      values = Int32Array.from(row as number[]);
      shared.set(row, values);
    }
    return values;
  });
}

class PickleReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #error: ErrorMaker;
  readonly #stack: (Value | typeof MARK)[] = [];
  readonly #memo = new Map<number, Value>();
  #at = 0;

  constructor(bytes: Uint8Array, error: ErrorMaker) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#error = error;
  }

  /** Runs to the end and gives the one value that is left. */
  read(): Value {
    for (;;) {
      const code = this.#bytes[this.#advance(1)];
      if (code !== 0x2e) this.#step(code);
      else if (this.#at !== this.#bytes.length)
        throw this.#error('pickle', 'its end', `${this.#bytes.length - this.#at} more bytes`);
      else if (this.#stack.length === 1) return this.#pop();
      else throw this.#error('pickle', 'one value', `${this.#stack.length}`);
    }
  }

  #step(code: number): void {
    switch (code) {
      case 0x80: // PROTO
        this.#advance(1);
        break;
      case 0x95: // FRAME
        this.#advance(8);
        break;
      case 0x28: // MARK
        this.#stack.push(MARK);
        break;
      case 0x4e: // NONE
        this.#push(null);
        break;
      case 0x88: // NEWTRUE
      case 0x89: // NEWFALSE
        this.#push(code === 0x88);
        break;
      case 0x49: // INT
      case 0x4c: // LONG
        this.#push(this.#decimal());
        break;
      case 0x4a: // BININT
        this.#push(this.#view.getInt32(this.#advance(4), true));
        break;
      case 0x4b: // BININT1
        this.#push(this.#bytes[this.#advance(1)]);
        break;
      case 0x4d: // BININT2
        this.#push(this.#view.getUint16(this.#advance(2), true));
        break;
      case 0x8a: // LONG1
        this.#push(this.#long(this.#bytes[this.#advance(1)]));
        break;
      case 0x55: // SHORT_BINSTRING
      case 0x43: // SHORT_BINBYTES
        this.#push(this.#take(this.#bytes[this.#advance(1)]));
        break;
      case 0x54: // BINSTRING
      case 0x42: // BINBYTES
        this.#push(this.#take(this.#view.getUint32(this.#advance(4), true)));
        break;
      case 0x8c: // SHORT_BINUNICODE
        this.#push(this.#text(this.#bytes[this.#advance(1)]));
        break;
      case 0x58: // BINUNICODE
        this.#push(this.#text(this.#view.getUint32(this.#advance(4), true)));
        break;
      case 0x29: // EMPTY_TUPLE
        this.#push({ tuple: [] });
        break;
      case 0x85: // TUPLE1
      case 0x86: // TUPLE2
      case 0x87: // TUPLE3
        this.#push({ tuple: Array.from({ length: code - 0x84 }, () => this.#pop()).reverse() });
        break;
      case 0x74: // TUPLE
        this.#push({ tuple: this.#toMark() });
        break;
      case 0x5d: // EMPTY_LIST
        this.#push([]);
        break;
      case 0x6c: // LIST
        this.#push(this.#toMark());
        break;
      case 0x61: // APPEND
        this.#append([this.#pop()]);
        break;
      case 0x65: // APPENDS
        this.#append(this.#toMark());
        break;
      case 0x71: // BINPUT
        this.#remember(this.#bytes[this.#advance(1)]);
        break;
      case 0x72: // LONG_BINPUT
        this.#remember(this.#view.getUint32(this.#advance(4), true));
        break;
      case 0x70: // PUT
        this.#remember(this.#decimal());
        break;
      case 0x94: // MEMOIZE
        this.#remember(this.#memo.size);
        break;
      case 0x68: // BINGET
        this.#recall(this.#bytes[this.#advance(1)]);
        break;
      case 0x6a: // LONG_BINGET
        this.#recall(this.#view.getUint32(this.#advance(4), true));
        break;
      case 0x67: // GET
        this.#recall(this.#decimal());
        break;
      case 0x63: // GLOBAL
        this.#global(this.#line(), this.#line());
        break;
      case 0x93: {
        // STACK_GLOBAL
        const name = this.#pop();
        this.#global(this.#pop(), name);
        break;
      }
      case 0x52: // REDUCE
        this.#reduce();
        break;
      case 0x62: // BUILD
        this.#build();
        break;
      default: {
        const got = `0x${code.toString(16)} at ${this.#at - 1}`;
        throw this.#error.unsupported('pickle instruction', 'those of arrays of integer lists', got);
      }
    }
  }

  #global(module: Value, name: Value): void {
    const global = `${typeof module === 'string' ? module : '?'}.${typeof name === 'string' ? name : '?'}`;
    if (!global.startsWith('numpy.') || !GLOBALS.has(global.slice('numpy.'.length)))
      throw this.#error.unsupported('pickle', 'only what rebuilds a NumPy array', quote(global));
    this.#push({ global: global.slice('numpy.'.length) });
  }

  #reduce(): void {
    const args = this.#pop();
    const callee = this.#pop();
    const name = typeof callee === 'object' && callee && 'global' in callee ? callee.global : undefined;
    if (!isTuple(args) || name === undefined || name === 'ndarray')
      throw this.#error('pickled call', '_reconstruct or dtype', describe(callee));
    if (name === 'dtype' && !isObjectDtype(args.tuple[0]))
      throw this.#error.unsupported('pickled dtype', 'O', describe(args.tuple[0] ?? null));
    this.#push({ of: name === 'dtype' ? 'dtype' : 'array', state: undefined });
  }

  #build(): void {
    const state = this.#pop();
    const target = this.#top();
    if (!isRebuilt(target, 'array') && !isRebuilt(target, 'dtype'))
      throw this.#error('pickled state', 'an array or a dtype to give it to', describe(target));
    target.state = state;
  }

  #append(values: Value[]): void {
    const list = this.#top();
    if (!Array.isArray(list)) throw this.#error('pickle', 'a list to append to', describe(list));
    for (const value of values) list.push(value);
  }

  #remember(index: number): void {
    this.#memo.set(index, this.#top());
  }

  #recall(index: number): void {
    const value = this.#memo.get(index);
    if (value === undefined) throw this.#error('pickle', 'something remembered', `entry ${index}`);
    this.#push(value);
  }

  #toMark(): Value[] {
    const at = this.#stack.lastIndexOf(MARK);
    if (at < 0) throw this.#error('pickle', 'a mark', 'none');
    const values = this.#stack.splice(at);
    return values.slice(1) as Value[];
  }

  #push(value: Value): void {
    this.#stack.push(value);
  }

  #pop(): Value {
    const value = this.#stack.pop();
    if (value === undefined || value === MARK) throw this.#error('pickle', 'a value', 'none');
    return value;
  }

  #top(): Value {
    const value = this.#stack.at(-1);
    if (value === undefined || value === MARK) throw this.#error('pickle', 'a value', 'none');
    return value;
  }

  #advance(length: number): number {
    const at = this.#at;
    if (length > this.#bytes.length - at)
      throw this.#error('pickle', `${length} more bytes at ${at}`, 'its end');
    this.#at += length;
    return at;
  }

  #take(length: number): Uint8Array {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  #text(length: number): string {
    return new TextDecoder().decode(this.#take(length));
  }

  #line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#at);
    if (end < 0) throw this.#error('pickle', 'a line', 'its end');
    const text = this.#text(Math.min(end - this.#at, 256));
    this.#at = end + 1;
    return text;
  }

  #decimal(): number {
    const line = this.#line();
    if (!/^-?\d{1,10}L?$/.test(line)) throw this.#error('pickle', 'an integer', quote(line));
    return this.#int32(Number.parseInt(line, 10));
  }

  #long(length: number): number {
    if (length > 8) throw this.#error.unsupported('pickle', 'integers of 32 bits', `${length} bytes`);
    let value = 0n;
    for (const [i, byte] of this.#take(length).entries()) value |= BigInt(byte) << BigInt(8 * i);
    return this.#int32(Number(BigInt.asIntN(8 * length, value)));
  }

  #int32(value: number): number {
    if (value !== (value | 0)) throw this.#error.unsupported('pickle', 'integers of 32 bits', value);
    return value;
  }
}

function isTuple(value: Value | undefined): value is Tuple {
  return typeof value === 'object' && value !== null && 'tuple' in value;
}

function isRebuilt(value: Value | undefined, of: Rebuilt['of']): value is Rebuilt {
  return typeof value === 'object' && value !== null && 'of' in value && value.of === of;
}

/** Python 2 writes text as bytes. */
function isObjectDtype(value: Value | undefined): boolean {
  const text = value instanceof Uint8Array ? new TextDecoder('latin1').decode(value) : value;
  return typeof text === 'string' && /^\|?O[48]?$/.test(text);
}

function describe(value: Value): string {
  if (value instanceof Uint8Array) return 'bytes';
  if (Array.isArray(value)) return 'a list';
  if (value === null || typeof value !== 'object') return quote(String(value));
  if ('tuple' in value) return 'a tuple';
  return 'global' in value ? quote(value.global) : `another ${value.of}`;
}

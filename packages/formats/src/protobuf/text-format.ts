// Messages in protobuf's text format, such as `name: "a" sizes: [1, 2] inner { flag: true }`.
import { errorsFor, type FormatError } from '../errors.ts';
import type { EnumDescriptor, FieldDescriptor, MessageDescriptor, ScalarValue } from './descriptors.ts';
import { DynamicMessage } from './dynamic-message.ts';
import { DEEPEST } from './protobuf.ts';
import { unescaped } from './text-strings.ts';

type Kind = 'name' | 'integer' | 'float' | 'string' | 'symbol' | 'end';
interface Token {
  readonly kind: Kind;
  readonly text: string;
  readonly at: number;
}

// Blanks and comments, then one token. A number must not be followed by a letter.
const TOKEN =
  /(?:[ \t\r\n\f\v]|#[^\n]*(?:\n|$))*(?:([A-Za-z_]\w*)|((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?|\d+(?:[eE][+-]?\d+[fF]?|[fF]))(?![\w.])|(0[xX][\da-fA-F]+|0[0-7]*|[1-9]\d*)(?![\w.])|("(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\\\n]|\\[^\n])*')|([[\]{}<>:;,./-])|$)/y;
const KINDS: readonly Kind[] = ['name', 'float', 'integer', 'string', 'symbol'];

const NAMED_FLOATS: ReadonlyMap<string, number> = /* @__PURE__ */ new Map([
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['nan', Number.NaN],
]);
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '<': '>' };

/**
 * The message in its text form. As in protobuf, a field that is not repeated may be there once.
 * @throws FormatError for other text
 */
export function parseTextFormat(bytes: Uint8Array, descriptor: MessageDescriptor): DynamicMessage {
  const parser = new TextParser(latin1(bytes));
  const message = new DynamicMessage(descriptor);
  parser.fields(message, undefined, 0);
  return message;
}

/** A character for each byte, so that strings may hold any. */
function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

class TextParser {
  readonly #text: string;
  #next: Token;

  constructor(text: string) {
    this.#text = text;
    this.#next = this.#token(0);
  }

  #token(from: number): Token {
    TOKEN.lastIndex = from;
    const match = TOKEN.exec(this.#text);
    if (match === null) throw this.#fail('there is no such token', from);
    const group = match.slice(1).findIndex((part) => part !== undefined);
    const text = group < 0 ? '' : (match[group + 1] as string);
    return { kind: KINDS[group] ?? 'end', text, at: TOKEN.lastIndex - text.length };
  }

  #fail(what: string, at: number = this.#next.at): FormatError {
    return errorsFor('protobuf text', undefined)(`${what} at byte ${at}`);
  }

  #take(): string {
    const { text, at } = this.#next;
    this.#next = this.#token(at + text.length);
    return text;
  }

  #is(symbol: string): boolean {
    return this.#next.kind === 'symbol' && this.#next.text === symbol;
  }

  /** Whether the symbol stood there, which is then behind us. */
  #skips(symbol: string): boolean {
    if (!this.#is(symbol)) return false;
    this.#take();
    return true;
  }

  #expect(symbol: string): void {
    if (!this.#skips(symbol)) throw this.#fail(`expected '${symbol}', got '${this.#next.text}'`);
  }

  /** Fields up to what closes the message, or the end of the text. */
  fields(message: DynamicMessage, closing: string | undefined, depth: number): void {
    if (depth > DEEPEST) throw this.#fail(`more than ${DEEPEST} levels`);
    while (closing === undefined ? this.#next.kind !== 'end' : !this.#is(closing)) {
      this.#field(message, depth);
      if (!this.#skips(';')) this.#skips(',');
    }
    if (closing !== undefined) this.#take();
  }

  #field(message: DynamicMessage, depth: number): void {
    const field = this.#named(message.descriptor);
    const add = (value: ScalarValue | DynamicMessage): void => {
      const before = field.isRepeated ? undefined : message.setAlready(field);
      if (before !== undefined)
        throw this.#fail(`'${field.name}' is not repeated, and '${before.name}' is set already`);
      message.add(field, value);
    };
    const hasColon = this.#skips(':');
    if (!hasColon && field.message === undefined) throw this.#fail(`expected ':' behind '${field.name}'`);
    const one = (): void =>
      add(field.message === undefined ? this.#scalar(field) : this.#inner(field.message, depth));
    if (!this.#is('[')) {
      one();
      return;
    }
    if (!field.isRepeated) throw this.#fail(`'${field.name}' is not repeated, so it has no list`);
    this.#take();
    if (this.#skips(']')) return;
    do one();
    while (this.#skips(','));
    this.#expect(']');
  }

  #named({ byName, extensions, fullName }: MessageDescriptor): FieldDescriptor {
    const { at } = this.#next;
    if (this.#skips('[')) {
      let name = this.#name();
      while (this.#is('.') || this.#is('/')) name += this.#take() + this.#name();
      this.#expect(']');
      const extension = extensions.get(name);
      if (extension === undefined) throw this.#fail(`'${fullName}' has no extension '${name}'`, at);
      return extension;
    }
    const name = this.#name();
    // A group goes by the name of its type too.
    const group = byName.get(name.toLowerCase());
    const field =
      byName.get(name) ?? (group?.type === 'group' && group.message?.name === name ? group : undefined);
    if (field === undefined) throw this.#fail(`'${fullName}' has no field '${name}'`, at);
    return field;
  }

  #name(): string {
    if (this.#next.kind !== 'name') throw this.#fail(`expected a name, got '${this.#next.text}'`);
    return this.#take();
  }

  #inner(descriptor: MessageDescriptor, depth: number): DynamicMessage {
    const closing = this.#next.kind === 'symbol' ? CLOSING[this.#next.text] : undefined;
    if (closing === undefined) throw this.#fail(`expected '{', got '${this.#next.text}'`);
    this.#take();
    const message = new DynamicMessage(descriptor);
    this.fields(message, closing, depth + 1);
    return message;
  }

  #scalar({ type, enum: ofEnum }: FieldDescriptor): ScalarValue {
    if (type === 'string' || type === 'bytes') return this.#string();
    if (type === 'bool') return this.#bool();
    if (type === 'enum') return this.#enumValue(ofEnum as EnumDescriptor);
    if (type === 'float' || type === 'double') return this.#float();
    const bits = type.endsWith('64') ? 64n : 32n;
    const isUnsigned = type.startsWith('u') || type.startsWith('fixed');
    const value = isUnsigned ? this.#integer(0n, 1n << bits) : this.#signed(bits);
    return bits === 64n ? value : Number(value);
  }

  #string(): Uint8Array {
    if (this.#next.kind !== 'string') throw this.#fail(`expected a string, got '${this.#next.text}'`);
    const parts: number[] = [];
    while (this.#next.kind === 'string') {
      const part = unescaped(this.#next.text.slice(1, -1));
      if (part === undefined) throw this.#fail('a wrong escape in the string');
      for (const byte of part) parts.push(byte);
      this.#take();
    }
    return Uint8Array.from(parts);
  }

  /** @param size the first integer that is too large */
  #integer(least: bigint, size: bigint): bigint {
    const { kind, text } = this.#next;
    const value = kind !== 'integer' ? -1n : BigInt(/^0[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text);
    if (value < least || value >= size) throw this.#fail(`expected an integer in range, got '${text}'`);
    this.#take();
    return value;
  }

  #signed(bits: bigint): bigint {
    const half = 1n << (bits - 1n);
    return this.#skips('-') ? -this.#integer(0n, half + 1n) : this.#integer(0n, half);
  }

  #bool(): boolean {
    if (this.#next.kind === 'integer') return this.#integer(0n, 2n) === 1n;
    const { text } = this.#next;
    const value = ['true', 'True', 't'].includes(text);
    if (!value && !['false', 'False', 'f'].includes(text))
      throw this.#fail(`expected true or false, got '${text}'`);
    this.#take();
    return value;
  }

  #enumValue({ name, numbers, known, isClosed }: EnumDescriptor): number {
    const { kind, text, at } = this.#next;
    const value = kind === 'name' ? numbers.get(this.#take()) : Number(this.#signed(32n));
    if (value === undefined || (isClosed && !known.has(value)))
      throw this.#fail(`'${name}' has no value ${text}`, at);
    return value;
  }

  #float(): number {
    const sign = this.#skips('-') ? -1 : 1;
    const { kind, text } = this.#next;
    // Octal and hexadecimal numbers are no floats.
    const isNumber = kind === 'float' || (kind === 'integer' && !/^0./.test(text));
    const value = isNumber ? Number(text.replace(/[fF]$/, '')) : NAMED_FLOATS.get(text.toLowerCase());
    if (value === undefined) throw this.#fail(`expected a number, got '${text}'`);
    this.#take();
    return sign * value;
  }
}

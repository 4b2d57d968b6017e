// Messages as JSON, in protobuf's own form of it: integers of 64 bits as texts, bytes in base64, data types by their names.
import { type ErrorMaker, errorsFor, quote, show } from '../errors.ts';
import { isObject } from '../plain-object.ts';
import { DEEPEST, type JsonField, type JsonKind, type MessageType } from './protobuf.ts';

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The data types of `types.proto` by their numbers. */
const DATA_TYPES: readonly string[] = (
  'INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32 BFLOAT16 QINT16 QUINT16 UINT16 COMPLEX128 HALF ' +
  'RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E4M3FNUZ FLOAT8_E4M3B11FNUZ FLOAT8_E5M2FNUZ INT4 UINT4'
)
  .split(' ')
  .map((name) => `DT_${name}`);
/** Added to the number of a type for a reference to a variable. */
const REFERENCE = 100;

interface Known {
  readonly key: string;
  readonly field: JsonField;
}
const tables = new WeakMap<MessageType<never>, Map<string, Known>>();

const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The fields of a message by both spellings of their names, which readers of protobuf accept. */
function fieldsOf(type: MessageType<never>): Map<string, Known> {
  let table = tables.get(type);
  if (table === undefined) {
    table = new Map();
    for (const [key, { json: field }] of type.fields) {
      if (field === undefined) continue;
      table.set(key, { key, field });
      table.set(camelCase(key), { key, field });
    }
    tables.set(type, table);
  }
  return table;
}

/**
 * The message that JSON spells. Fields that are not known are left out, as readers of protobuf do that are told so.
 *
 * @throws FormatError for values of another kind, with their place.
 */
export function fromProtoJson<T>(
  type: MessageType<T>,
  value: unknown,
  { file, at }: { readonly file: string; readonly at: string },
): T {
  return messageOf(type as MessageType<never>, value, at, 0, errorsFor(type.name, file));
}

function messageOf(
  type: MessageType<never>,
  value: unknown,
  at: string,
  depth: number,
  error: ErrorMaker,
): never {
  if (depth > DEEPEST) throw error(at.slice(-60), `at most ${DEEPEST} levels`);
  if (!isObject(value)) throw error(at, 'an object', show(value));
  const table = fieldsOf(type);
  const result: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const known = table.get(name);
    if (known === undefined || item === null) continue;
    result[known.key] = fieldOf(known.field, item, `${at}.${name}`, depth, error);
  }
  return result as never;
}

function fieldOf(field: JsonField, value: unknown, at: string, depth: number, error: ErrorMaker): unknown {
  const { kind, holds } = field;
  const one = (item: unknown, where: string): unknown =>
    kind === 'message'
      ? messageOf((field.type as () => MessageType<never>)(), item, where, depth + 1, error)
      : scalarOf(kind, item, where, error);
  switch (holds) {
    case 'one':
      return one(value, at);
    case 'list':
      if (!Array.isArray(value)) throw error(at, 'an array', show(value));
      return value.map((item, i) => one(item, `${at}[${i}]`));
    case 'entries':
      if (!isObject(value)) throw error(at, 'an object', show(value));
      return Object.entries(value).map(([key, item]) => {
        const entry = { key: integerOf(key, at, false, error), value: item };
        return one(entry, `${at}[${quote(key)}]`);
      });
    default:
      if (!isObject(value)) throw error(at, 'an object', show(value));
      return new Map(
        Object.entries(value).map(([key, item]) => [key, one(item, `${at}[${quote(key)}]`)] as const),
      );
  }
}

function scalarOf(kind: JsonKind, value: unknown, at: string, error: ErrorMaker): unknown {
  switch (kind) {
    case 'text':
      if (typeof value !== 'string') throw error(at, 'text', show(value));
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw error(at, 'true or false', show(value));
      return value;
    case 'bytes':
      return bytesOf(value, at, error);
    case 'float':
      return floatOf(value, at, error);
    case 'dataType':
      return dataTypeOf(value, at, error);
    default:
      return integerOf(value, at, kind === 'wide', error);
  }
}

/** Base64 of either alphabet; JavaScript's libraries also write lists of bytes. */
function bytesOf(value: unknown, at: string, error: ErrorMaker): Uint8Array {
  const wrong = (): Error => error(at, 'bytes in base64', show(value));
  if (Array.isArray(value)) {
    if (!value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256)) throw wrong();
    return Uint8Array.from(value as number[]);
  }
  if (typeof value !== 'string' || !/^[\w+/-]*={0,2}$/.test(value)) throw wrong();
  try {
    const text = atob(value.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  } catch {
    throw wrong();
  }
}

const FLOATS: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};
function floatOf(value: unknown, at: string, error: ErrorMaker): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    if (Object.hasOwn(FLOATS, value)) return FLOATS[value] as number;
    if (/^-?\d+(\.\d*)?(e[+-]?\d+)?$/i.test(value)) return Number(value);
  }
  throw error(at, 'a number', show(value));
}

function integerOf(value: unknown, at: string, isWide: boolean, error: ErrorMaker): number | bigint {
  const isText = typeof value === 'string' && /^-?\d{1,20}$/.test(value);
  const near = typeof value === 'number' || isText ? Number(value) : Number.NaN;
  if (!isWide && (near < -(2 ** 31) || near >= 2 ** 32))
    throw error(at, 'an integer of 32 bits', show(value));
  if (Number.isSafeInteger(near)) return near;
  if (!isText) throw error(at, 'an integer', show(value));
  return BigInt(value);
}

function dataTypeOf(value: unknown, at: string, error: ErrorMaker): number {
  if (typeof value === 'number') return integerOf(value, at, false, error) as number;
  const text = typeof value === 'string' ? value : '';
  const isReference = text.endsWith('_REF');
  const number = DATA_TYPES.indexOf(isReference ? text.slice(0, -'_REF'.length) : text);
  if (number < 0) throw error(at, 'the name of a data type, such as DT_FLOAT', show(value));
  return isReference ? number + REFERENCE : number;
}

/** A message as JSON. */
export function toProtoJson<T>(type: MessageType<T>, message: T): Json {
  const result: Record<string, Json> = {};
  for (const [key, { json: field }] of type.fields) {
    const value = (message as Readonly<Record<string, unknown>>)[key];
    if (value === undefined || value === null || field === undefined) continue;
    const one = (item: unknown): Json =>
      field.kind === 'message'
        ? toProtoJson((field.type as () => MessageType<never>)(), item as never)
        : printed(field.kind, item);
    if (field.holds === 'list') {
      const list = value as readonly unknown[];
      if (list.length > 0) result[camelCase(key)] = list.map(one);
    } else if (field.holds === 'map')
      result[camelCase(key)] = Object.fromEntries(
        [...(value as ReadonlyMap<string, unknown>)].map(([name, item]) => [name, one(item)]),
      );
    else if (field.holds === 'entries')
      result[camelCase(key)] = Object.fromEntries(
        (value as readonly unknown[]).map((item) => {
          const { key: number = 0, value: inner = {} } = one(item) as { readonly [name: string]: Json };
          return [String(number), inner];
        }),
      );
    else result[camelCase(key)] = one(value);
  }
  return result;
}

function printed(kind: JsonKind, value: unknown): Json {
  switch (kind) {
    case 'wide':
      return String(value);
    case 'bytes':
      return base64(value as Uint8Array);
    case 'float':
      return Number.isFinite(value) ? (value as number) : String(value);
    case 'dataType': {
      const number = value as number;
      const name = DATA_TYPES[number % REFERENCE];
      if (name === undefined) return number;
      return number >= REFERENCE ? `${name}_REF` : name;
    }
    default:
      return value as Json;
  }
}

function base64(bytes: Uint8Array): string {
  let text = '';
  // In pieces, since each byte is an argument.
  for (let at = 0; at < bytes.length; at += 4096)
    text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(text);
}

// Messages of protocol buffers: declared as tables of typed fields, on the wire format of `pbf`.
import { PbfReader, PbfWriter } from 'pbf';
import { errorsFor, FormatError } from '../errors.ts';

/** More levels than this are a hostile file; the readers of protobuf and TensorFlow stop there too. */
export const DEEPEST = 100;
/** The kind of fields that begin with their length. */
export const DELIMITED = 2;

// A writer for the next message: growing a new one from nothing costs more than most messages. Whoever uses it takes it away.
let spare: PbfWriter | undefined;
const MOST_SPARE_BYTES = 2 ** 20;

/** How JSON spells values of one type; `dataType` is an enumeration, by the names of `types.proto`. */
export type JsonKind = 'text' | 'bytes' | 'bool' | 'float' | 'int' | 'wide' | 'dataType' | 'message';

/** How values of one type are written. */
interface Kind<T> {
  /** 0 varint, 1 eight bytes, 2 delimited, 5 four bytes. */
  readonly wire: 0 | 1 | 2 | 5;
  /** How JSON spells it. */
  readonly json: JsonKind;
  /** Of messages. */
  readonly type?: () => MessageType<T>;
  write(writer: PbfWriter, value: T): void;
  read(reader: PbfReader, depth: number): T;
}

/** One field of a message: its number and how its value is written. */
export interface Field<T> {
  readonly number: number;
  write(writer: PbfWriter, value: T): void;
  /** The value with what comes next added; undefined where the bytes are not of the field's type, which skips them. */
  read(reader: PbfReader, before: T | undefined, depth: number): T | undefined;
  /** What JSON has in its place: see json-format.ts. */
  readonly json?: JsonField;
}

/** A field in JSON. */
export interface JsonField {
  readonly kind: JsonKind;
  /** `entries` is a map that is a list of entries here, since its keys are numbers. */
  readonly holds: 'one' | 'list' | 'map' | 'entries';
  /** Of messages. */
  readonly type?: (() => MessageType<never>) | undefined;
}

/** The fields of a message. A field that is not set is absent from an object, also in what is read. */
export type Fields<T> = { readonly [K in keyof T]-?: Field<NonNullable<T[K]>> };

/** A kind of message: turns objects into bytes and back. */
export interface MessageType<T> {
  readonly name: string;
  /** The numbers of its fields. */
  readonly numbers: Readonly<Record<string, number>>;
  /** @internal Its fields by name. */
  readonly fields: readonly (readonly [name: string, field: { readonly json?: JsonField }])[];
  /** @throws FormatError for what the format cannot hold. */
  encode(message: T): Uint8Array;
  /** @throws FormatError when the bytes are no such message. Unknown fields are skipped. */
  decode(bytes: Uint8Array, options?: { readonly file?: string }): T;
  /** @internal */
  write(message: T, writer: PbfWriter): void;
  /** @internal */
  read(reader: PbfReader, end: number, depth: number): T;
}

/** Declares a message; `fields` is a function, so that messages may hold themselves. */
export function message<T extends object>(name: string, fields: () => Fields<T>): MessageType<T> {
  type Key = keyof T & string;
  type Any = Field<NonNullable<T[Key]>>;
  let table: readonly (readonly [Key, Any])[] | undefined;
  const list = (): readonly (readonly [Key, Any])[] =>
    (table ??= Object.entries(fields()) as unknown as (readonly [Key, Any])[]);
  let numbered: Map<number, readonly [Key, Any]> | undefined;
  const byNumber = (): Map<number, readonly [Key, Any]> =>
    (numbered ??= new Map(list().map((entry) => [entry[1].number, entry])));
  const type: MessageType<T> = {
    name,
    get numbers() {
      return Object.fromEntries(list().map(([key, { number }]) => [key, number]));
    },
    get fields() {
      return list();
    },
    encode(value) {
      const writer = spare ?? new PbfWriter();
      spare = undefined;
      writer.pos = 0;
      type.write(value, writer);
      const encoded = writer.buf.slice(0, writer.pos);
      if (writer.buf.length <= MOST_SPARE_BYTES) spare = writer;
      return encoded;
    },
    decode(bytes, options = {}) {
      try {
        return type.read(new PbfReader(bytes), bytes.length, 0);
      } catch (cause) {
        const error = errorsFor(name, options.file);
        if (cause instanceof FormatError) throw error(cause.what, cause.expected, cause.got);
        throw error('broken message', undefined, (cause as Error).message, cause);
      }
    },
    write(value, writer) {
      for (const [key, field] of list()) {
        const set = value[key];
        if (set !== undefined && set !== null) field.write(writer, set);
      }
    },
    read(reader, end, depth) {
      if (depth > DEEPEST) throw errorsFor(name, undefined)('nesting', `at most ${DEEPEST} levels`);
      const result: Partial<T> = {};
      const known = byNumber();
      while (reader.pos < end) {
        const number = reader.nextField(end);
        // pbf skips what nobody read at the next field, so that the last one may lie behind the end.
        if (number === 0) break;
        const entry = known.get(number);
        const value = entry?.[1].read(reader, result[entry[0]] ?? undefined, depth);
        if (entry !== undefined && value !== undefined) result[entry[0]] = value;
        else reader.skip(reader.type);
      }
      if (reader.pos !== end)
        throw errorsFor(name, undefined)('truncated', `an end at byte ${end}`, reader.pos);
      return result as T;
    },
  };
  return type;
}

/** The end of a delimited value whose length comes next. */
function endOf(reader: PbfReader): number {
  const length = reader.readVarint();
  if (!(length >= 0 && length <= reader.length - reader.pos)) {
    throw errorsFor('protobuf', undefined)('length', `at most ${reader.length - reader.pos}`, length);
  }
  return reader.pos + length;
}

/** Checks the length of a delimited value before the library reads it. */
function checked<T>(reader: PbfReader, read: () => T): T {
  const before = reader.pos;
  endOf(reader);
  reader.pos = before;
  return read();
}

const utf8 = new TextEncoder();

const kinds = {
  string: {
    wire: DELIMITED,
    json: 'text',
    // pbf 5.1 writes other characters for those from U+20000 on.
    write: (w, v) => (/[\ud800-\udfff]/.test(v) ? w.writeBytes(utf8.encode(v)) : w.writeString(v)),
    read: (r) => checked(r, () => r.readString()),
  } satisfies Kind<string>,
  bytes: {
    wire: DELIMITED,
    json: 'bytes',
    write: (w, v) => w.writeBytes(v),
    read: (r) => checked(r, () => r.readBytes()),
  } satisfies Kind<Uint8Array>,
  bool: {
    wire: 0,
    json: 'bool',
    write: (w, v) => w.writeBoolean(v),
    read: (r) => r.readBoolean(),
  } satisfies Kind<boolean>,
  float: {
    wire: 5,
    json: 'float',
    write: (w, v) => w.writeFloat(v),
    read: (r) => r.readFloat(),
  } satisfies Kind<number>,
  double: {
    wire: 1,
    json: 'float',
    write: (w, v) => w.writeDouble(v),
    read: (r) => r.readDouble(),
  } satisfies Kind<number>,
  int32: {
    wire: 0,
    json: 'int',
    write: (w, v) => w.writeVarint(v),
    read: (r) => r.readVarint(true) | 0,
  } satisfies Kind<number>,
  uint32: {
    wire: 0,
    json: 'int',
    write: (w, v) => w.writeVarint(v),
    read: (r) => r.readVarint() >>> 0,
  } satisfies Kind<number>,
  fixed32: {
    wire: 5,
    json: 'int',
    write: (w, v) => w.writeFixed32(v),
    read: (r) => r.readFixed32(),
  } satisfies Kind<number>,
  int64: { wire: 0, json: 'wide', write: writeInt64, read: readInt64 } satisfies Kind<number | bigint>,
  uint64: { wire: 0, json: 'wide', write: writeInt64, read: readUint64 } satisfies Kind<number | bigint>,
  sint64: {
    wire: 0,
    json: 'wide',
    write: (w, v) => writeInt64(w, BigInt.asUintN(64, (BigInt(v) << 1n) ^ (BigInt(v) >> 63n))),
    read: (r) => {
      const zigzag = BigInt.asUintN(64, BigInt(readInt64(r)));
      const exact = (zigzag >> 1n) ^ -(zigzag & 1n);
      return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
    },
  } satisfies Kind<number | bigint>,
};

function writeInt64(writer: PbfWriter, value: number | bigint): void {
  const near = Number(value);
  if (Number.isSafeInteger(near)) {
    writer.writeVarint(near);
    return;
  }
  if (typeof value === 'number')
    throw errorsFor('protobuf', undefined)('int64', 'an integer that a number holds exactly', value);
  writer.realloc(10);
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) writer.buf[writer.pos++] = Number(rest & 127n) | 128;
  writer.buf[writer.pos++] = Number(rest);
}

/** A number, or a bigint where a number would not be exact. */
function readInt64(reader: PbfReader): number | bigint {
  const start = reader.pos;
  const near = reader.readVarint(true);
  if (Number.isSafeInteger(near)) return near;
  let exact = 0n;
  for (let at = reader.pos - 1; at >= start; at--) exact = (exact << 7n) | BigInt(reader.buf[at] & 127);
  return BigInt.asIntN(64, exact);
}

function readUint64(reader: PbfReader): number | bigint {
  const value = readInt64(reader);
  return value < 0 ? BigInt.asUintN(64, BigInt(value)) : value;
}

function messageKind<T>(type: () => MessageType<T>): Kind<T> {
  return {
    wire: DELIMITED,
    json: 'message',
    type,
    write: (w, v) => w.writeRawMessage((m, inner) => type().write(m, inner), v),
    read: (r, depth) => type().read(r, endOf(r), depth + 1),
  };
}

function inJson<T>({ json: kind, type }: Kind<T>, holds: JsonField['holds']): JsonField {
  return { kind, holds, type: type as (() => MessageType<never>) | undefined };
}

function one<T>(number: number, kind: Kind<T>): Field<T> {
  return {
    number,
    json: inJson(kind, 'one'),
    write(writer, value) {
      writer.writeTag(number, kind.wire);
      kind.write(writer, value);
    },
    read: (reader, _, depth) => (reader.type === kind.wire ? kind.read(reader, depth) : undefined),
  };
}

function many<T>(number: number, kind: Kind<T>): Field<readonly T[]> {
  const single = one(number, kind);
  const packed = kind.wire !== DELIMITED;
  return {
    number,
    json: inJson(kind, 'list'),
    write(writer, values) {
      if (!packed) for (const value of values) single.write(writer, value);
      else if (values.length > 0) {
        writer.writeMessage(
          number,
          (list, inner) => {
            for (const value of list) kind.write(inner, value);
          },
          values,
        );
      }
    },
    read(reader, before, depth) {
      // Appended to as it is read; only `read` of the message has it before it is done.
      const list = (before ?? []) as T[];
      if (reader.type === kind.wire) list.push(kind.read(reader, depth));
      else if (packed && reader.type === DELIMITED) {
        const end = endOf(reader);
        while (reader.pos < end) list.push(kind.read(reader, depth));
      } else return undefined;
      return list;
    },
  };
}

/** A field of text. */
export const text = (number: number): Field<string> => one(number, kinds.string);
export const bytes = (number: number): Field<Uint8Array> => one(number, kinds.bytes);
export const bool = (number: number): Field<boolean> => one(number, kinds.bool);
export const float = (number: number): Field<number> => one(number, kinds.float);
export const double = (number: number): Field<number> => one(number, kinds.double);
/** Also for enums. */
export const int32 = (number: number): Field<number> => one(number, kinds.int32);
/** A data type of `types.proto`. */
export const dataType = (number: number): Field<number> => one(number, { ...kinds.int32, json: 'dataType' });
/** A bigint where a number would not be exact. */
export const int64 = (number: number): Field<number | bigint> => one(number, kinds.int64);
/** Zigzag: small negative numbers are short. A bigint where a number would not be exact. */
export const sint64 = (number: number): Field<number | bigint> => one(number, kinds.sint64);
export const uint64 = (number: number): Field<number | bigint> => one(number, kinds.uint64);
export const fixed32 = (number: number): Field<number> => one(number, kinds.fixed32);
/** A message inside. */
export const nested = <T>(number: number, type: () => MessageType<T>): Field<T> =>
  one(number, messageKind(type));

export const texts = (number: number): Field<readonly string[]> => many(number, kinds.string);
export const bytesList = (number: number): Field<readonly Uint8Array[]> => many(number, kinds.bytes);
export const bools = (number: number): Field<readonly boolean[]> => many(number, kinds.bool);
export const floats = (number: number): Field<readonly number[]> => many(number, kinds.float);
export const doubles = (number: number): Field<readonly number[]> => many(number, kinds.double);
export const int32s = (number: number): Field<readonly number[]> => many(number, kinds.int32);
export const dataTypes = (number: number): Field<readonly number[]> =>
  many(number, { ...kinds.int32, json: 'dataType' });
export const int64s = (number: number): Field<readonly (number | bigint)[]> => many(number, kinds.int64);
export const uint32s = (number: number): Field<readonly number[]> => many(number, kinds.uint32);
export const uint64s = (number: number): Field<readonly (number | bigint)[]> => many(number, kinds.uint64);
export const nestedList = <T>(number: number, type: () => MessageType<T>): Field<readonly T[]> =>
  many(number, messageKind(type));

/** The entries of a map whose keys are numbers. */
export const nestedEntries = <T>(number: number, type: () => MessageType<T>): Field<readonly T[]> => {
  const kind = messageKind(type);
  return { ...many(number, kind), json: inJson(kind, 'entries') };
};

/** A map with keys of text. */
export function map<T>(
  number: number,
  value: (number: number) => Field<T>,
  missing: () => T,
): Field<ReadonlyMap<string, T>> {
  interface Entry {
    readonly key?: string;
    readonly value?: T;
  }
  const entry = message<Entry>('map entry', () => ({
    key: text(1),
    value: value(2) as Field<NonNullable<T>>,
  }));
  const kind = messageKind(() => entry);
  const single = one(number, kind);
  return {
    number,
    get json() {
      const { kind, type } = value(2).json as JsonField;
      return { kind, holds: 'map' as const, type };
    },
    write(writer, entries) {
      for (const [key, item] of entries) single.write(writer, { key, value: item });
    },
    read(reader, before, depth) {
      if (reader.type !== DELIMITED) return undefined;
      const entries = (before ?? new Map()) as Map<string, T>;
      const read = kind.read(reader, depth);
      return entries.set(read.key ?? '', read.value ?? missing());
    },
  };
}

// Fields as bytes, for messages that are known only by descriptors.
import { PbfWriter } from 'pbf';
import { errorsFor, type FormatError } from '../errors.ts';
import type { FieldDescriptor, FieldType, ScalarValue } from './descriptors.ts';
import { DEEPEST, DELIMITED } from './protobuf.ts';

export const VARINT = 0;
export const FIXED64 = 1;
export const START_GROUP = 3;
export const END_GROUP = 4;
export const FIXED32 = 5;

const WIRE_TYPES: Readonly<Record<FieldType, number>> = {
  double: FIXED64,
  float: FIXED32,
  int64: VARINT,
  uint64: VARINT,
  int32: VARINT,
  fixed64: FIXED64,
  fixed32: FIXED32,
  bool: VARINT,
  string: DELIMITED,
  group: START_GROUP,
  message: DELIMITED,
  bytes: DELIMITED,
  uint32: VARINT,
  enum: VARINT,
  sfixed32: FIXED32,
  sfixed64: FIXED64,
  sint32: VARINT,
  sint64: VARINT,
};
export const wireTypeOf = (type: FieldType): number => WIRE_TYPES[type];

/** Reads the fields of a message, and refuses what ends too early. */
export class WireReader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  readonly end: number;
  position: number;
  /** The field that comes next. */
  number = 0;
  wire = 0;
  // The halves of the last integer.
  #low = 0;
  #high = 0;

  constructor(bytes: Uint8Array, start: number = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.position = start;
    this.end = end;
  }

  fail(what: string): FormatError {
    return errorsFor('protobuf', undefined)(`${what} at byte ${this.position}`);
  }

  /** Reads the number and the kind of the next field; false at the end. */
  nextField(): boolean {
    if (this.position >= this.end) return false;
    this.#varint();
    if (this.#high !== 0) throw this.fail('a tag is too large');
    this.number = this.#low >>> 3;
    this.wire = this.#low & 7;
    if (this.number === 0) throw this.fail('there is a field 0');
    return true;
  }

  #varint(): void {
    let [low, high] = [0, 0];
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.position >= this.end) throw this.fail('an integer ends too early');
      const byte = this.bytes[this.position++] as number;
      if (shift < 28) low |= (byte & 127) << shift;
      else if (shift === 28) {
        low |= (byte & 127) << 28;
        high = (byte & 127) >> 4;
      } else high |= (byte & 127) << (shift - 32);
      if (byte < 128) {
        this.#low = low >>> 0;
        // The tenth byte has one bit.
        this.#high = high >>> 0;
        return;
      }
    }
    throw this.fail('an integer is too long');
  }

  #take(count: number): number {
    if (count > this.end - this.position) throw this.fail('a value ends too early');
    this.position += count;
    return this.position - count;
  }

  /** The bytes of a delimited value. */
  delimited(): Uint8Array {
    this.#varint();
    const length = this.#high === 0 ? this.#low : Number.POSITIVE_INFINITY;
    const start = this.#take(length);
    return this.bytes.subarray(start, this.position);
  }

  /** What stands between the tags of the group that has begun. */
  group(depth: number = 0): Uint8Array {
    const { number, position: start } = this;
    for (;;) {
      const before = this.position;
      if (!this.nextField()) throw this.fail('a group ends too early');
      if (this.wire === END_GROUP) {
        if (this.number !== number) throw this.fail('the end of another group');
        return this.bytes.subarray(start, before);
      }
      this.skip(depth + 1);
    }
  }

  /** Goes behind the value of this field. */
  skip(depth: number = 0): void {
    if (depth > DEEPEST) throw this.fail(`more than ${DEEPEST} levels`);
    if (this.wire === VARINT) this.#varint();
    else if (this.wire === FIXED64) this.#take(8);
    else if (this.wire === FIXED32) this.#take(4);
    else if (this.wire === DELIMITED) this.delimited();
    else if (this.wire === START_GROUP) this.group(depth);
    else throw this.fail(this.wire === END_GROUP ? 'the end of no group' : `there is no kind ${this.wire}`);
  }

  /** The value of a field, which must be of the kind of its type. */
  value(type: FieldType): ScalarValue {
    switch (WIRE_TYPES[type]) {
      case FIXED32: {
        const at = this.#take(4);
        if (type === 'float') return this.#view.getFloat32(at, true);
        return type === 'fixed32' ? this.#view.getUint32(at, true) : this.#view.getInt32(at, true);
      }
      case FIXED64: {
        const at = this.#take(8);
        if (type === 'double') return this.#view.getFloat64(at, true);
        return type === 'fixed64' ? this.#view.getBigUint64(at, true) : this.#view.getBigInt64(at, true);
      }
      case VARINT:
        this.#varint();
        return this.#integer(type);
      default:
        return type === 'group' ? this.group() : this.delimited();
    }
  }

  #integer(type: FieldType): ScalarValue {
    const [low, high] = [this.#low, this.#high];
    if (type === 'bool') return (low | high) !== 0;
    if (type === 'uint32') return low;
    if (type === 'sint32') return (low >>> 1) ^ -(low & 1);
    if (type === 'int32' || type === 'enum') return low | 0;
    const whole = (BigInt(high) << 32n) | BigInt(low);
    if (type === 'uint64') return whole;
    return BigInt.asIntN(64, type === 'int64' ? whole : (whole >> 1n) ^ -(whole & 1n));
  }

  /** The numbers that stand in one piece. */
  packed(type: FieldType): ScalarValue[] {
    const part = this.delimited();
    const start = this.position - part.length;
    const reader = new WireReader(this.bytes, start, this.position);
    const values: ScalarValue[] = [];
    while (reader.position < reader.end) values.push(reader.value(type));
    return values;
  }
}

/** Writes fields as bytes. */
export class WireWriter {
  readonly #writer = new PbfWriter();

  finish(): Uint8Array {
    return this.#writer.finish().slice();
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    const writer = this.#writer;
    writer.realloc(bytes.length);
    writer.buf.set(bytes, writer.pos);
    writer.pos += bytes.length;
  }

  /** All values of a field, with its tag. */
  field({ number, type, isPacked }: FieldDescriptor, values: readonly ScalarValue[]): void {
    if (values.length === 0) return;
    if (isPacked) {
      const inner = new WireWriter();
      for (const value of values) inner.#value(type, value);
      this.#writer.writeBytesField(number, inner.finish());
      return;
    }
    for (const value of values) {
      this.#writer.writeTag(number, WIRE_TYPES[type]);
      if (type === 'group') {
        this.raw(value as Uint8Array);
        this.#writer.writeTag(number, END_GROUP);
      } else this.#value(type, value);
    }
  }

  /** Numbers lose the bits that the type has no room for. */
  #value(type: FieldType, value: ScalarValue): void {
    const writer = this.#writer;
    if (value instanceof Uint8Array) writer.writeBytes(value);
    else if (type === 'double') writer.writeDouble(Number(value));
    else if (type === 'float') writer.writeFloat(Number(value));
    else if (type === 'bool') writer.writeBoolean(value === true);
    else if (type.endsWith('64')) this.#wide(type, BigInt(value));
    else {
      const low = Number(BigInt.asIntN(32, BigInt(value)));
      if (type === 'fixed32') writer.writeFixed32(low >>> 0);
      else if (type === 'sfixed32') writer.writeSFixed32(low);
      else if (type === 'uint32') writer.writeVarint(low >>> 0);
      else if (type === 'sint32') writer.writeVarint(((low << 1) ^ (low >> 31)) >>> 0);
      else writer.writeVarint(low);
    }
  }

  #wide(type: FieldType, value: bigint): void {
    const writer = this.#writer;
    if (type.endsWith('fixed64')) {
      writer.realloc(8);
      new DataView(writer.buf.buffer, writer.buf.byteOffset).setBigUint64(
        writer.pos,
        BigInt.asUintN(64, value),
        true,
      );
      writer.pos += 8;
      return;
    }
    let rest = BigInt.asUintN(64, type === 'sint64' ? (value << 1n) ^ (value >> 63n) : value);
    writer.realloc(10);
    for (; rest > 127n; rest >>= 7n) writer.buf[writer.pos++] = Number(rest & 127n) | 128;
    writer.buf[writer.pos++] = Number(rest);
  }
}

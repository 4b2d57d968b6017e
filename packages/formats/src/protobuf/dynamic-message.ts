// Messages that are known only by descriptors, as protobuf's own library reads and writes them.
import { errorsFor } from '../errors.ts';
import type { FieldDescriptor, MessageDescriptor, ScalarValue } from './descriptors.ts';
import { DEEPEST, DELIMITED } from './protobuf.ts';
import { WireReader, WireWriter, wireTypeOf } from './wire.ts';

export type FieldValue = ScalarValue | DynamicMessage;

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });

export class DynamicMessage {
  readonly descriptor: MessageDescriptor;
  readonly #values = new Map<FieldDescriptor, FieldValue[]>();
  /** Fields that the descriptor does not know, with their tags. */
  readonly #unknown: Uint8Array[] = [];

  constructor(descriptor: MessageDescriptor) {
    this.descriptor = descriptor;
  }

  /** The field of its oneof that is set, or the field itself if it is. */
  setAlready(field: FieldDescriptor): FieldDescriptor | undefined {
    if (field.oneof === undefined) return this.#values.has(field) ? field : undefined;
    for (const other of this.#values.keys()) if (other.oneof === field.oneof) return other;
    return undefined;
  }

  /** Adds to a repeated field; sets another, and clears the rest of its oneof. */
  add(field: FieldDescriptor, value: FieldValue): void {
    const list = this.#values.get(field);
    if (field.isRepeated && list !== undefined) {
      list.push(value);
      return;
    }
    const other = this.setAlready(field);
    if (other !== undefined) this.#values.delete(other);
    this.#values.set(field, [value]);
  }

  /** Adds what is in bytes. @throws FormatError for damaged bytes, and for text that is not UTF-8 where that is asked for */
  merge(bytes: Uint8Array, depth: number = 0): this {
    const reader = new WireReader(bytes);
    if (depth > DEEPEST) throw reader.fail(`more than ${DEEPEST} levels`);
    for (let start = 0; reader.nextField(); start = reader.position) {
      const field = this.descriptor.byNumber.get(reader.number);
      const wire = field === undefined ? -1 : wireTypeOf(field.type);
      if (field !== undefined && reader.wire === wire) this.#read(field, reader, depth, start);
      else if (field?.isRepeated === true && reader.wire === DELIMITED && field.message === undefined)
        for (const value of reader.packed(field.type))
          this.#addNumber(field, value, () => unpacked(field, value));
      else {
        reader.skip();
        this.#unknown.push(bytes.subarray(start, reader.position));
      }
    }
    return this;
  }

  #read(field: FieldDescriptor, reader: WireReader, depth: number, start: number): void {
    const value = reader.value(field.type);
    if (field.message !== undefined) {
      const before = field.isRepeated ? undefined : (this.#values.get(field)?.[0] as DynamicMessage);
      const inner = before ?? new DynamicMessage(field.message);
      inner.merge(value as Uint8Array, depth + 1);
      if (before === undefined) this.add(field, inner);
      return;
    }
    if (field.checksUtf8) {
      try {
        utf8.decode(value as Uint8Array);
      } catch {
        throw reader.fail(`the text of '${field.fullName}' is not UTF-8`);
      }
    }
    this.#addNumber(field, value, () => reader.bytes.subarray(start, reader.position));
  }

  /** Numbers that a closed enum does not name are kept as unknown fields. */
  #addNumber(field: FieldDescriptor, value: ScalarValue, asUnknown: () => Uint8Array): void {
    if (field.enum?.isClosed === true && !field.enum.known.has(value as number))
      this.#unknown.push(asUnknown());
    else this.add(field, value);
  }

  /** Its bytes: fields in the order of their numbers, without defaults that need not be written. @throws FormatError where a required field is missing */
  encode(): Uint8Array {
    const { byNumber, isMapEntry, fullName } = this.descriptor;
    const writer = new WireWriter();
    for (const [, field] of [...byNumber].sort(([a], [b]) => a - b)) {
      const values = this.#values.get(field);
      if (values === undefined && field.isRequired)
        throw errorsFor('protobuf', undefined)(`'${fullName}' lacks the required field '${field.name}'`);
      // Entries of maps have both of their fields.
      const given = values ?? (isMapEntry ? [field.defaultValue] : []);
      const bytes = given.map((value) => (value instanceof DynamicMessage ? value.encode() : value));
      const isLeftOut = !isMapEntry && !field.isRepeated && !field.hasPresence && bytes.every(isZero);
      if (!isLeftOut) writer.field(field, bytes);
    }
    for (const bytes of this.#unknown) writer.raw(bytes);
    return writer.finish();
  }
}

function unpacked(field: FieldDescriptor, value: ScalarValue): Uint8Array {
  const writer = new WireWriter();
  writer.field({ ...field, isPacked: false }, [value]);
  return writer.finish();
}

const isZero = (value: ScalarValue): boolean =>
  value instanceof Uint8Array
    ? value.length === 0
    : value === false || value === 0n || (value === 0 && !Object.is(value, -0));

/**
 * The bytes of a message as protobuf writes them again after it has read them.
 * @throws FormatError for damaged bytes
 */
export function reserialized(bytes: Uint8Array, descriptor: MessageDescriptor): Uint8Array {
  return new DynamicMessage(descriptor).merge(bytes).encode();
}

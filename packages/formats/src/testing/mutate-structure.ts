/** For tests: damage that keeps the outer form of a file, so that what is inside is reached. The same way each time. */
import { mutate } from './mutate.ts';

type Random = () => number;
const below = (limit: number, random: Random): number => Math.floor(random() * limit);
const pick = <T>(list: readonly T[], random: Random): T => list[below(list.length, random)] as T;

const TEXTS = [
  '',
  '__proto__',
  'constructor',
  '^x',
  ':0',
  '../x',
  'é',
  '\0',
  '1',
  '-1',
  '*',
  'x'.repeat(3000),
];

/** A field of a message as it is on the wire. */
interface WireField {
  readonly number: number;
  readonly wire: number;
  /** A varint, or the bytes of all else. */
  readonly value: bigint | Uint8Array;
}

function readVarint(bytes: Uint8Array, from: number): { value: bigint; next: number } | undefined {
  let value = 0n;
  for (let i = 0; i < 10 && from + i < bytes.length; i++) {
    const byte = bytes[from + i] as number;
    value |= BigInt(byte & 127) << BigInt(7 * i);
    if (byte < 128) return { value, next: from + i + 1 };
  }
  return undefined;
}

/** The fields of a message, or undefined for bytes that are none. */
function fieldsOf(bytes: Uint8Array): WireField[] | undefined {
  const fields: WireField[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    if (tag === undefined || tag.value >= 2n ** 32n || tag.value < 8n) return undefined;
    const [number, wire] = [Number(tag.value >> 3n), Number(tag.value & 7n)];
    at = tag.next;
    if (wire === 0) {
      const varint = readVarint(bytes, at);
      if (varint === undefined) return undefined;
      fields.push({ number, wire, value: varint.value });
      at = varint.next;
      continue;
    }
    let length = wire === 1 ? 8 : wire === 5 ? 4 : -1;
    if (wire === 2) {
      const size = readVarint(bytes, at);
      if (size === undefined || size.value > bytes.length) return undefined;
      length = Number(size.value);
      at = size.next;
    }
    if (length < 0 || at + length > bytes.length) return undefined;
    fields.push({ number, wire, value: bytes.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)];
    bytes.push(Number(rest & 127n) | 128);
  }
}

function encoded(fields: readonly WireField[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { number, wire, value } of fields) {
    parts.push(Uint8Array.from(varint(BigInt(number * 8 + wire))));
    if (typeof value === 'bigint') parts.push(Uint8Array.from(varint(value)));
    else {
      if (wire === 2) parts.push(Uint8Array.from(varint(BigInt(value.length))));
      parts.push(value);
    }
  }
  return Buffer.concat(parts);
}

const NUMBERS = [
  ...[0n, 1n, 2n, 7n, 99n, -1n, -2n, 1000n],
  ...[31n, 32n, 40n, 53n, 62n, 63n].flatMap((n) => [2n ** n - 1n, 2n ** n]),
];
const FLOATS = [0, -0, 1, -1, 1e30, -1e30, NaN, Infinity, -Infinity, 1e-45, 0.5];

/** A field of the message at random, not always of the outermost. */
function anyField(fields: readonly WireField[], random: Random): WireField {
  const field = pick(fields, random);
  const inner = field.wire === 2 && random() < 0.8 ? fieldsOf(field.value as Uint8Array) : undefined;
  return inner === undefined || inner.length === 0 ? field : anyField(inner, random);
}

function otherValue(
  { wire, value }: WireField,
  siblings: readonly WireField[],
  root: readonly WireField[],
  random: Random,
): bigint | Uint8Array {
  if (typeof value === 'bigint')
    return random() < 0.3 ? value + pick([1n, -1n], random) : pick(NUMBERS, random);
  if (wire !== 2) {
    const bytes = new DataView(new ArrayBuffer(value.length));
    if (value.length === 4) bytes.setFloat32(0, pick(FLOATS, random), true);
    else bytes.setFloat64(0, pick(FLOATS, random), true);
    return new Uint8Array(bytes.buffer);
  }
  const others = siblings.filter((field) => field.wire === 2);
  switch (below(6, random)) {
    case 0:
      return pick(others, random).value;
    case 1: {
      const field = anyField(root, random);
      return field.wire === 2 ? field.value : new Uint8Array(0);
    }
    case 2:
      return new TextEncoder().encode(pick(TEXTS, random));
    case 3: {
      // In itself, deeper than any reader may follow.
      let deep: Uint8Array = value;
      for (let i = 0; i < 200 && deep.length < 1e5; i++)
        deep = encoded([
          ...(i === 0 ? (fieldsOf(value) ?? []) : []),
          { number: 1 + below(8, random), wire: 2, value: deep },
        ]);
      return deep;
    }
    case 4:
      return value.subarray(0, below(value.length + 1, random));
    default:
      return value.length === 0 ? Uint8Array.of(1) : mutate(value, random);
  }
}

function changedFields(
  fields: readonly WireField[],
  root: readonly WireField[],
  random: Random,
): WireField[] {
  const at = below(fields.length, random);
  const field = fields[at] as WireField;
  const inner = field.wire === 2 && random() < 0.85 ? fieldsOf(field.value as Uint8Array) : undefined;
  if (inner !== undefined && inner.length > 0)
    return fields.with(at, { ...field, value: encoded(changedFields(inner, root, random)) });
  switch (below(8, random)) {
    case 0:
      return fields.toSpliced(at, 1);
    case 1:
      return fields.toSpliced(at, 0, ...Array<WireField>(pick([1, 1, 100], random)).fill(field));
    case 2: {
      const other = below(fields.length, random);
      return fields.with(at, fields[other] as WireField).with(other, field);
    }
    case 3:
      return fields.with(at, { ...field, number: pick([1, 2, 3, 5, field.number + 1, 2 ** 29 - 1], random) });
    case 4:
      return fields.toSpliced(below(fields.length + 1, random), 0, anyField(root, random));
    default:
      return fields.with(at, { ...field, value: otherValue(field, fields, root, random) });
  }
}

/** A copy of a protocol buffer with a field or two that are gone, there twice, moved, of another kind or of odd values. */
export function mutateProto(bytes: Uint8Array, random: Random): Uint8Array {
  let out = bytes;
  for (let faults = 1 + below(2, random); faults > 0; faults--) {
    const fields = fieldsOf(out);
    if (fields === undefined || fields.length === 0) return mutate(out, random);
    out = encoded(changedFields(fields, fields, random));
  }
  return out;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const entriesOf = (value: Json): [string, Json][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];
/** Keys such as `__proto__` are keys, too. */
const fromEntries = (entries: readonly (readonly [string, Json])[], like: Json): Json =>
  Array.isArray(like) ? entries.map(([, value]) => value) : Object.fromEntries(entries);

const ODD: readonly Json[] = [
  ...[null, true, false, 0, 1, -1, 2, 0.5, 7, 1e9, 2 ** 31, 2 ** 53, 1e300, -1e300],
  ...['', 'Infinity', 'NaN', 'float16', 'string', 'linear', '__lambda__', '../../x', '\0'],
  ...[[], {}, [null], [[[[]]]], [-1], [1e15, 1e15], [0, 0]],
  { class_name: 'Dense', config: {} },
  { class_name: '__tensor__', config: { value: [1e9], dtype: 'float32' } },
  { class_name: '__numpy__', config: { value: [[1], [1, 2]], dtype: 'int64' } },
  { class_name: 'function', config: 'relu', module: 'os', registered_name: 'system' },
];

function anyJson(value: Json, random: Random): Json {
  const entries = entriesOf(value);
  return entries.length === 0 || random() < 0.15 ? value : anyJson(pick(entries, random)[1], random);
}

function otherJson(value: Json, root: Json, random: Random): Json {
  if (typeof value === 'number' && random() < 0.5)
    return pick([value + 1, value - 1, -value, value * 1e6, value + 0.5], random);
  if (random() < 0.4) {
    const other = anyJson(root, random);
    // One of its kind is more often taken for right.
    if (typeof other === typeof value || random() < 0.3) return other;
  }
  if (random() < 0.05) {
    let deep: Json = value;
    for (let i = 0; i < 3000; i++) deep = random() < 0.5 ? [deep] : { config: deep };
    return deep;
  }
  return pick(ODD, random);
}

function changedJson(value: Json, root: Json, random: Random): Json {
  const entries = entriesOf(value);
  if (entries.length === 0) return otherJson(value, root, random);
  const at = below(entries.length, random);
  const [key, part] = entries[at] as [string, Json];
  if (random() < (entriesOf(part).length > 0 ? 0.9 : 0.6))
    return fromEntries(entries.with(at, [key, changedJson(part, root, random)]), value);
  switch (below(5, random)) {
    case 0:
      return fromEntries(entries.toSpliced(at, 1), value);
    case 1:
      return fromEntries([...entries, [isObject(value) ? pick(TEXTS, random) : '', part]], value);
    case 2: {
      const other = below(entries.length, random);
      const [otherKey, otherPart] = entries[other] as [string, Json];
      return fromEntries(entries.with(at, [key, otherPart]).with(other, [otherKey, part]), value);
    }
    case 3:
      return fromEntries(entries.with(at, [isObject(value) ? pick(TEXTS, random) : key, part]), value);
    default:
      return fromEntries(entries.with(at, [key, otherJson(part, root, random)]), value);
  }
}

/** Another text of JSON: with a part or two that are gone, there twice, moved, or something else. */
export function mutateJson(text: string, random: Random): string {
  let value = JSON.parse(text) as Json;
  for (let faults = 1 + below(2, random); faults > 0; faults--) value = changedJson(value, value, random);
  return JSON.stringify(value);
}

/** A copy with a number or two of 2, 4 or 8 bytes that are odd, or those of another place: sizes and addresses, also in circles. */
export function mutateWords(bytes: Uint8Array, random: Random): Uint8Array {
  const out = new Uint8Array(bytes);
  const view = new DataView(out.buffer);
  for (let faults = 1 + below(3, random); faults > 0; faults--) {
    const width = pick([2, 4, 8, 8], random);
    const places = Math.floor(out.length / width);
    if (places === 0) return mutate(bytes, random);
    const at = width * below(random() < 0.5 ? places : Math.min(places, 512), random);
    const number = pick(
      [...NUMBERS, BigInt(out.length), BigInt(at), BigInt(8 * below(places, random))],
      random,
    );
    const from = width * below(places, random);
    if (random() < 0.4) out.copyWithin(at, from, from + width);
    else if (width === 2) view.setUint16(at, Number(BigInt.asUintN(16, number)), true);
    else if (width === 4) view.setUint32(at, Number(BigInt.asUintN(32, number)), true);
    else view.setBigUint64(at, BigInt.asUintN(64, number), true);
  }
  return out;
}

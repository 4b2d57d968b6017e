import { type ErrorMaker, errorsFor, quote, show } from '../errors.ts';
import { isObject } from '../plain-object.ts';
import { findDuplicateKey } from '../protobuf/json-keys.ts';
import { FILE_DTYPES } from './dtypes.ts';
import { decodeElements, encodeElements, fileBytes, kindsBy } from './elements.ts';
import {
  checkNDArray,
  type DTypeName,
  elementCount,
  entriesOf,
  type NamedArrays,
  type NDArray,
} from './ndarray.ts';

/** Every dtype the format knows, with its bits per element. */
const BITS: Readonly<Record<string, number>> = {
  BOOL: 8,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  C64: 64,
  F64: 64,
  I64: 64,
  U64: 64,
};

/** The dtypes that can be read. */
const KINDS = kindsBy(({ safetensors }) => safetensors);

/** The reference writer lays tensors out by dtype in this order, then by name. */
const WRITE_ORDER: readonly DTypeName[] = [
  'uint64',
  'int64',
  'float64',
  'complex64',
  'float32',
  'uint32',
  'int32',
  'bfloat16',
  'float16',
  'uint16',
  'int16',
  'int8',
  'uint8',
  'bool',
];

/** The longest header that readers accept. */
export const MAX_HEADER_BYTES = 100_000_000;
const METADATA = '__metadata__';

/** Options of the safetensors readers. */
export interface DecodeSafetensorsOptions {
  /** The file's name, for error messages. */
  file?: string | undefined;
  /** Decode only the tensors whose name this accepts; the whole file is checked all the same. */
  filter?: ((name: string) => boolean) | undefined;
}

/** Where one tensor lies in a safetensors file. */
export interface SafetensorsEntry {
  /** The dtype as the file spells it, e.g. `BF16`. */
  dtype: string;
  shape: readonly number[];
  /** First byte, from the start of the file. */
  begin: number;
  /** One past the last byte, from the start of the file. */
  end: number;
}

/** The header of a safetensors file. */
export interface SafetensorsHeader {
  metadata: Record<string, string>;
  entries: Map<string, SafetensorsEntry>;
}

/** The contents of a safetensors file. */
export interface Safetensors {
  metadata: Record<string, string>;
  /** The tensors by name, in the order of their data. */
  tensors: Map<string, NDArray>;
}

/**
 * Encodes tensors of any dtype and shape as a safetensors file, byte for byte as the reference writer lays it out.
 *
 * @throws FormatError when an array is inconsistent or a name is not one the format allows; UnsupportedFormatError for complex128.
 */
export function encodeSafetensors(
  tensors: NamedArrays,
  metadata?: Readonly<Record<string, string>>,
): Uint8Array {
  const specs = entriesOf(tensors).map(([name, array]) => {
    checkNDArray(array, 'safetensors', name);
    return { name, ...array };
  });
  const { header, ordered, bytes } = layOutSafetensors(specs, metadata);
  const out = new Uint8Array(header.length + bytes);
  out.set(header);
  let at = header.length;
  for (const array of ordered) {
    out.set(encodeElements(array), at);
    at += fileBytes(array);
  }
  return out;
}

/** What is known of a tensor before its elements are. */
export interface TensorSpec {
  readonly name: string;
  readonly dtype: DTypeName;
  readonly shape: readonly number[];
}

/**
 * The beginning of a safetensors file, up to the elements, and the tensors in the order in which their elements follow.
 *
 * @throws FormatError when a name or a shape is not one the format allows; UnsupportedFormatError for complex128.
 */
export function layOutSafetensors<T extends TensorSpec>(
  tensors: readonly T[],
  metadata?: Readonly<Record<string, string>>,
): { header: Uint8Array; ordered: T[]; bytes: number } {
  const error = errorsFor('safetensors', undefined);
  const ordered = [...tensors].sort(
    (a, b) =>
      WRITE_ORDER.indexOf(a.dtype) - WRITE_ORDER.indexOf(b.dtype) ||
      compareBytes(new TextEncoder().encode(a.name), new TextEncoder().encode(b.name)),
  );
  const header: [string, unknown][] =
    metadata === undefined ? [] : [[METADATA, checkMetadata(error, metadata)]];
  let offset = 0;
  for (const tensor of ordered) {
    const begin = offset;
    offset += safetensorsBytes(tensor);
    header.push([
      tensor.name,
      {
        dtype: FILE_DTYPES[tensor.dtype].safetensors,
        shape: tensor.shape,
        data_offsets: [begin, offset],
      },
    ]);
  }
  // Member by member: an object would move names that look like integers to the front.
  const json = `{${header.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
  const text = new TextEncoder().encode(json);
  const headerBytes = Math.ceil(text.length / 8) * 8;
  if (headerBytes > MAX_HEADER_BYTES)
    throw error('header too long', `at most ${MAX_HEADER_BYTES} bytes`, headerBytes);
  const out = new Uint8Array(8 + headerBytes);
  new DataView(out.buffer).setBigUint64(0, BigInt(headerBytes), true);
  out.set(text, 8);
  out.fill(0x20, 8 + text.length);
  return { header: out, ordered, bytes: offset };
}

/** How many bytes a tensor takes in a file. @throws FormatError for a name, dtype or shape that the format does not allow. */
export function safetensorsBytes({ name, dtype, shape }: TensorSpec): number {
  const error = errorsFor('safetensors', undefined);
  checkText(error, 'tensor name', name);
  if (name === METADATA) throw error(`a tensor cannot be named ${quote(METADATA)}`);
  if (!Object.hasOwn(FILE_DTYPES, dtype) || FILE_DTYPES[dtype].safetensors === '')
    throw error.unsupported(`tensor ${quote(name)}: dtype`, Object.keys(KINDS).join(', '), dtype);
  const bytes = (elementCount(shape) ?? NaN) * FILE_DTYPES[dtype].bytes;
  if (!Number.isSafeInteger(bytes))
    throw error(`tensor ${quote(name)}: shape`, 'sizes with a product below 2^53', `[${shape.join(', ')}]`);
  return bytes;
}

/**
 * Reads and checks the header of a safetensors file: where each tensor lies, without touching its elements.
 *
 * @param options `fileBytes` where `bytes` are only the beginning: the size of the whole file.
 * @throws FormatError when the file is not a correct safetensors file; holes, overlaps and trailing bytes included.
 */
export function decodeSafetensorsHeader(
  bytes: Uint8Array,
  options: DecodeSafetensorsOptions & { fileBytes?: number | undefined } = {},
): SafetensorsHeader {
  const error = errorsFor('safetensors', options.file);
  const { text, dataStart } = headerText(bytes, error);
  const header = parseHeader(text, error);
  const fileBytes = options.fileBytes ?? bytes.length;
  const metadata = checkMetadata(error, header[METADATA] ?? {});
  const entries = new Map<string, SafetensorsEntry>();
  for (const [name, info] of Object.entries(header)) {
    if (name === METADATA) continue;
    checkText(error, 'tensor name', name);
    entries.set(name, parseEntry(name, info, dataStart, fileBytes, error));
  }
  const inFileOrder = [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  checkCoverage(inFileOrder, dataStart, fileBytes, error);
  return { metadata, entries: new Map(inFileOrder) };
}

/**
 * Decodes a safetensors file. The values of F16 and BF16 come as float32. Other tensors share memory with `bytes` where alignment allows, as it does in files of the reference writer.
 *
 * @throws FormatError when the file is not a correct safetensors file.
 * @throws UnsupportedFormatError when a selected tensor has a dtype that Eagre lacks (F8, F4).
 */
export function decodeSafetensors(bytes: Uint8Array, options: DecodeSafetensorsOptions = {}): Safetensors {
  const { metadata, entries } = decodeSafetensorsHeader(bytes, options);
  const tensors = new Map<string, NDArray>();
  for (const [name, entry] of entries) {
    if (options.filter && !options.filter(name)) continue;
    const { begin, end } = entry;
    tensors.set(name, decodeSafetensorsTensor(name, entry, bytes.subarray(begin, end), options.file));
  }
  return { metadata, tensors };
}

/** The tensor whose bytes these are. @throws UnsupportedFormatError for a dtype that Eagre lacks. */
export function decodeSafetensorsTensor(
  name: string,
  { dtype, shape }: Pick<SafetensorsEntry, 'dtype' | 'shape'>,
  bytes: Uint8Array,
  file?: string,
): NDArray {
  return decodeElements(safetensorsKind(name, dtype, file), bytes, shape);
}

/** The dtype here of one that the format spells so. @throws UnsupportedFormatError for a dtype that Eagre lacks. */
export function safetensorsKind(name: string, dtype: string, file?: string): DTypeName {
  const kind = Object.hasOwn(KINDS, dtype) ? KINDS[dtype] : undefined;
  if (kind !== undefined) return kind;
  const known = Object.keys(KINDS).join(', ');
  throw errorsFor('safetensors', file).unsupported(`tensor ${quote(name)}: dtype`, known, dtype);
}

function headerText(bytes: Uint8Array, error: ErrorMaker): { text: string; dataStart: number } {
  if (bytes.length < 8) throw error('truncated header length', '8 bytes', bytes.length);
  const length = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(MAX_HEADER_BYTES))
    throw error('header length', `at most ${MAX_HEADER_BYTES}`, String(length));
  const dataStart = 8 + Number(length);
  if (dataStart > bytes.length) throw error('truncated header', `${length} bytes`, bytes.length - 8);
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return { text: decoder.decode(bytes.subarray(8, dataStart)), dataStart };
  } catch (cause) {
    throw error('header', 'UTF-8 text', 'other bytes', cause);
  }
}

function parseHeader(text: string, error: ErrorMaker): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (cause) {
    throw error('header', 'JSON', cause instanceof Error ? cause.message : 'other text', cause);
  }
  if (!isObject(header)) throw error('header', 'a JSON object', text.trimStart().slice(0, 20));
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) throw error('header', 'distinct keys', `${quote(duplicate)} twice`);
  return header;
}

function parseEntry(
  name: string,
  info: unknown,
  dataStart: number,
  fileBytes: number,
  error: ErrorMaker,
): SafetensorsEntry {
  const where = `tensor ${quote(name)}`;
  if (!isObject(info)) throw error(`${where}: description`, 'an object', show(info));
  const { dtype, shape, data_offsets: offsets } = info;
  if (typeof dtype !== 'string' || !Object.hasOwn(BITS, dtype)) {
    throw error(`${where}: dtype`, Object.keys(BITS).join(', '), show(dtype));
  }
  const count = isNumbers(shape) ? elementCount(shape) : undefined;
  if (!isNumbers(shape) || count === undefined) {
    throw error(`${where}: shape`, 'non-negative integers with a product below 2^53', show(shape));
  }
  if (
    !isNumbers(offsets) ||
    offsets.length !== 2 ||
    !offsets.every((at) => Number.isSafeInteger(at) && at >= 0)
  ) {
    throw error(`${where}: data_offsets`, '[begin, end] with 0 <= begin <= end', show(offsets));
  }
  const begin = dataStart + offsets[0];
  const end = dataStart + offsets[1];
  if (begin > end || end > fileBytes) {
    throw error(
      `${where}: data_offsets`,
      `0 <= begin <= end <= ${fileBytes - dataStart}`,
      `[${offsets.join(', ')}]`,
    );
  }
  const size = (count * BITS[dtype]) / 8;
  if (size !== end - begin) {
    throw error(`${where}: ${dtype} of shape [${shape.join(', ')}]`, `${size} bytes`, end - begin);
  }
  return { dtype, shape, begin, end };
}

/** The tensors must cover the data exactly: what lies between them is where other content could hide. */
function checkCoverage(
  entries: readonly [string, SafetensorsEntry][],
  dataStart: number,
  fileBytes: number,
  error: ErrorMaker,
): void {
  let covered = dataStart;
  for (const [name, { begin, end }] of entries) {
    if (begin !== covered) {
      const what = `tensor ${quote(name)}: ${begin > covered ? 'hole before its data' : 'its data overlaps another tensor'}`;
      throw error(what, `begin at ${covered - dataStart}`, begin - dataStart);
    }
    covered = end;
  }
  if (covered !== fileBytes) {
    throw error('trailing bytes after the tensors', `${covered} bytes in all`, fileBytes);
  }
}

function checkMetadata(error: ErrorMaker, metadata: unknown): Record<string, string> {
  if (!isObject(metadata)) throw error(METADATA, 'an object of strings', show(metadata));
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string') throw error(`${METADATA} ${quote(key)}`, 'a string', show(value));
    checkText(error, METADATA, key);
    checkText(error, METADATA, value);
  }
  return metadata as Record<string, string>;
}

/** A lone surrogate has no UTF-8 form, so other readers refuse the file. */
function checkText(error: ErrorMaker, where: string, text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw error(where, 'well-formed Unicode', quote(text));
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number');
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i] - b[i];
  }
  return a.length - b.length;
}

import { type ErrorMaker, errorsFor, quote } from '../errors.ts';
import { FILE_DTYPES } from './dtypes.ts';
import {
  decodeElements,
  type ElementKind,
  elementBytes,
  encodeElements,
  fileBytes,
  kindsBy,
} from './elements.ts';
import { toRowMajor } from './fortran.ts';
import { checkNDArray, type DTypeName, elementCount, type NDArray } from './ndarray.ts';
import { readPickledLists } from './pickle.ts';
import { type PythonLiteral, parsePythonLiteral } from './python-literal.ts';

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
/** NumPy's own limit is 10,000; longer headers only describe structured arrays. */
const MAX_HEADER_BYTES = 1 << 20;
/** NumPy leaves room to rewrite the first dimension when rows are appended. */
const GROWTH_DIGITS = 21;

const KINDS = kindsBy(({ numpy }) => numpy);

/** NumPy's name of a dtype, with its byte order where there is one. */
function descrOf(dtype: DTypeName): string {
  const { numpy, bytes } = FILE_DTYPES[dtype];
  return `${bytes === 1 ? '|' : '<'}${numpy}`;
}

/** Options of the `.npy` reader. */
export interface DecodeNpyOptions {
  /** The file's name, for error messages. */
  file?: string | undefined;
}

interface NpyHeader {
  kind: ElementKind;
  little: boolean;
  fortran: boolean;
  shape: number[];
}

/**
 * Encodes an array of any dtype and shape as a `.npy` file, as NumPy itself would write it.
 *
 * @throws FormatError when dtype, shape and data disagree.
 */
export function encodeNpy(array: NDArray): Uint8Array {
  checkNDArray(array, 'npy');
  const { dtype, shape } = array;
  const { numpy } = FILE_DTYPES[dtype];
  if (numpy === '')
    throw errorsFor('npy', undefined).unsupported('dtype', Object.values(KINDS).join(', '), dtype);
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const growth = shape.length === 0 ? 0 : Math.max(0, GROWTH_DIGITS - String(shape[0]).length);
  const dict = `{'descr': '${descrOf(dtype)}', 'fortran_order': False, 'shape': (${sizes}), }${' '.repeat(growth)}`;
  // Version 1 counts the header in 16 bits; version 2 in 32.
  const version = dict.length + 64 < 0x10000 ? 1 : 2;
  const prefix = version === 1 ? 10 : 12;
  const dataStart = Math.ceil((prefix + dict.length + 1) / 64) * 64;

  const out = new Uint8Array(dataStart + fileBytes(array));
  const view = new DataView(out.buffer);
  out.set(MAGIC);
  out[6] = version;
  if (version === 1) view.setUint16(8, dataStart - prefix, true);
  else view.setUint32(8, dataStart - prefix, true);
  out.fill(0x20, prefix, dataStart);
  out.set(new TextEncoder().encode(dict), prefix);
  out[dataStart - 1] = 0x0a;
  out.set(encodeElements(array), dataStart);
  return out;
}

/**
 * Decodes a `.npy` file of version 1 to 3, either byte order, row- or column-major. The values of `f2` come as float32. The result shares memory with `bytes` where alignment, order and dtype allow.
 *
 * @throws FormatError when the file is not a correct `.npy` file; bytes after the array included.
 * @throws UnsupportedFormatError for dtypes that Eagre lacks: text, structured,
 * and pickled objects, which are never run.
 */
export function decodeNpy(bytes: Uint8Array, options: DecodeNpyOptions = {}): NDArray {
  const error = errorsFor('npy', options.file);
  const { text, dataStart } = headerText(bytes, error);
  const { kind, little, fortran, shape } = parseHeader(text, error);
  const dataBytes = checkedCount(shape, error) * elementBytes(kind);
  if (dataBytes !== bytes.length - dataStart) {
    throw error(`data of shape (${shape.join(', ')})`, `${dataBytes} bytes`, bytes.length - dataStart);
  }
  const stored = bytes.subarray(dataStart);
  const data = fortran ? toRowMajor(stored, elementBytes(kind), shape) : stored;
  return decodeElements(kind, data, shape, little);
}

/** What a `.npy` file holds. */
export interface NpyInfo {
  /** NumPy's dtype, such as `<f4`; null for a list of fields. */
  readonly descr: string | null;
  readonly shape: readonly number[];
  /** Where the elements begin. */
  readonly dataStart: number;
}

/**
 * The header of a `.npy` file of any dtype, also of those that Eagre lacks.
 *
 * @param bytes the file, or its beginning.
 * @throws FormatError when it is no correct header.
 */
export function decodeNpyHeader(bytes: Uint8Array, options: DecodeNpyOptions = {}): NpyInfo {
  const error = errorsFor('npy', options.file);
  const { text, dataStart } = headerText(bytes, error);
  const { descr, shape } = parseFields(text, error);
  checkedCount(shape, error);
  return { descr: typeof descr === 'string' ? descr : null, shape, dataStart };
}

/** An array of texts. */
export interface TextArray {
  /** In row-major order; those of `|S5` as their bytes. */
  readonly texts: readonly (string | Uint8Array)[];
  readonly shape: readonly number[];
}

/**
 * {@link decodeNpy} for files that may also hold texts of a fixed width, NumPy's `<U5` and `|S5`, without the zeros at their ends.
 *
 * @throws as {@link decodeNpy}; FormatError for characters that are none.
 */
export function decodeNpyOrTexts(bytes: Uint8Array, options: DecodeNpyOptions = {}): NDArray | TextArray {
  const error = errorsFor('npy', options.file);
  const { text, dataStart } = headerText(bytes, error);
  const { descr, fortran, shape } = parseFields(text, error);
  const [, order, kind, digits] = /^([<>|=]?)([US])(\d{1,9})$/.exec(String(descr)) ?? [];
  if (kind === undefined) return decodeNpy(bytes, options);
  const width = Number(digits) * (kind === 'U' ? 4 : 1);
  const count = checkedCount(shape, error);
  if (count * width !== bytes.length - dataStart)
    throw error(`data of shape (${shape.join(', ')})`, `${count * width} bytes`, bytes.length - dataStart);
  const stored = bytes.subarray(dataStart);
  const data = fortran && width > 0 ? toRowMajor(stored, width, shape) : stored;
  const textAt = kind === 'U' ? charactersOf(data, order !== '>', error) : bytesAsText(data);
  return { texts: Array.from({ length: count }, (_, i) => textAt(i * width, (i + 1) * width)), shape };
}

type TextAt = (from: number, to: number) => string | Uint8Array;
/** Texts of characters of four bytes. */
function charactersOf(data: Uint8Array, little: boolean, error: ErrorMaker): TextAt {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return (from, to) => {
    const codes: number[] = [];
    for (let at = from; at < to; at += 4) {
      const code = view.getUint32(at, little);
      if (code > 0x10ffff) throw error('text', 'characters of Unicode', code);
      codes.push(code);
    }
    while (codes.at(-1) === 0) codes.pop();
    return codes.map((code) => String.fromCodePoint(code)).join('');
  };
}
/** Texts of bytes. */
function bytesAsText(data: Uint8Array): TextAt {
  return (from, to) => {
    let end = to;
    while (end > from && data[end - 1] === 0) end--;
    return data.subarray(from, end);
  };
}

/**
 * Decodes a `.npy` file that holds a one-dimensional array of lists of integers, which NumPy pickles
 * (`np.array([[1, 2], [3]], dtype=object)`). The pickle is read, not run: see {@link readPickledLists}.
 *
 * @throws FormatError when the file is damaged.
 * @throws UnsupportedFormatError when it holds something else.
 */
export function decodeNpyLists(bytes: Uint8Array, options: DecodeNpyOptions = {}): Int32Array[] {
  const error = errorsFor('npy', options.file);
  const { text, dataStart } = headerText(bytes, error);
  if (!isObjectHeader(text)) throw error.unsupported('descr', "'|O'", quote(text.trim()));
  return readPickledLists(bytes.subarray(dataStart), error);
}

/** Whether a `.npy` file holds pickled objects. */
export function holdsObjects(bytes: Uint8Array, options: DecodeNpyOptions = {}): boolean {
  return isObjectHeader(headerText(bytes, errorsFor('npy', options.file)).text);
}

function isObjectHeader(text: string): boolean {
  return /^\{\s*'descr'\s*:\s*'\|O8?'/.test(text);
}

function headerText(bytes: Uint8Array, error: ErrorMaker): { text: string; dataStart: number } {
  if (bytes.length < 10) throw error('truncated', 'at least 10 bytes', bytes.length);
  if (!MAGIC.every((byte, i) => bytes[i] === byte))
    throw error('magic', '\\x93NUMPY', hex(bytes.subarray(0, 6)));
  const version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] !== 0) {
    throw error('version', '1.0, 2.0 or 3.0', `${version}.${bytes[7]}`);
  }
  const prefix = version === 1 ? 10 : 12;
  if (bytes.length < prefix) throw error('truncated', `at least ${prefix} bytes`, bytes.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > MAX_HEADER_BYTES) throw error('header length', `at most ${MAX_HEADER_BYTES}`, length);
  const dataStart = prefix + length;
  if (dataStart > bytes.length) throw error('truncated header', `${length} bytes`, bytes.length - prefix);
  try {
    const decoder = new TextDecoder(version === 3 ? 'utf-8' : 'latin1', { fatal: true });
    return { text: decoder.decode(bytes.subarray(prefix, dataStart)), dataStart };
  } catch (cause) {
    throw error('header', 'UTF-8 text', 'other bytes', cause);
  }
}

function parseHeader(text: string, error: ErrorMaker): NpyHeader {
  const { descr, fortran, shape } = parseFields(text, error);
  return { ...parseDescr(descr, error), fortran, shape };
}

function parseFields(
  text: string,
  error: ErrorMaker,
): { descr: PythonLiteral; fortran: boolean; shape: number[] } {
  let header: PythonLiteral;
  try {
    header = parsePythonLiteral(text);
  } catch (cause) {
    throw error(`header: ${(cause as SyntaxError).message}`, undefined, undefined, cause);
  }
  if (!(header instanceof Map)) throw error('header', 'a dict', quote(text.trim()));
  const { descr, fortran_order: fortran, shape } = Object.fromEntries(header);
  if (header.size !== 3 || descr === undefined) {
    throw error('header', 'the keys descr, fortran_order and shape', [...header.keys()].join(', '));
  }
  if (typeof fortran !== 'boolean') throw error('fortran_order', 'True or False', quote(text.trim()));
  if (!Array.isArray(shape) || !shape.every((size) => typeof size === 'number')) {
    throw error('shape', 'a tuple of integers', quote(text.trim()));
  }
  return { descr, fortran, shape };
}

function checkedCount(shape: readonly number[], error: ErrorMaker): number {
  const count = elementCount(shape);
  if (count !== undefined) return count;
  throw error('shape', 'non-negative sizes with a product below 2^53', `(${shape.join(', ')})`);
}

function parseDescr(descr: PythonLiteral, error: ErrorMaker): { kind: ElementKind; little: boolean } {
  if (Array.isArray(descr)) throw error.unsupported('structured arrays', 'a plain dtype', 'a list of fields');
  const [, order, code] = (typeof descr === 'string' && /^([<>|=])([a-zA-Z]\d*)$/.exec(descr)) || [];
  if (code === undefined)
    throw error('descr', "a dtype such as '<f4'", typeof descr === 'string' ? quote(descr) : 'no text');
  if (code.startsWith('O'))
    throw error.unsupported('descr: pickled Python objects are never read', undefined, descr as string);
  const kind = KINDS[code];
  if (!kind) throw error.unsupported('descr', Object.keys(KINDS).join(', '), descr as string);
  return { kind, little: order !== '>' };
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

// The weights of TensorFlow.js: files of bytes, and a list of which array is where.
import { decodeElements, elementBytes } from '../arrays/elements.ts';
import { elementCount, type NDArray } from '../arrays/ndarray.ts';
import { joined } from '../bytes.ts';
import { type ErrorMaker, errorsFor, quote, show } from '../errors.ts';
import { isObject } from '../plain-object.ts';
import type { TensorValue } from '../tensorflow/data-types.ts';

export const FORMAT = 'TensorFlow.js model';

/** The dtypes that weights have. */
export type TfjsDType = 'float32' | 'int32' | 'bool' | 'string' | 'complex64';
const DTYPES: ReadonlySet<unknown> = new Set<TfjsDType>(['float32', 'int32', 'bool', 'string', 'complex64']);

/** How an array is stored in fewer bits: `stored · scale + min`, or as halves. */
export interface TfjsQuantization {
  readonly dtype: 'uint8' | 'uint16' | 'float16';
  readonly scale?: number;
  readonly min?: number;
}

/** An array of the list. */
export interface TfjsWeight {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: TfjsDType;
  readonly quantization?: TfjsQuantization;
  /** What it is of; of the model unless given. */
  readonly group?: 'model' | 'optimizer';
}

/** Arrays whose bytes lie one after the other in some files. */
export interface TfjsWeightGroup {
  /** The paths from the folder of the model on. */
  readonly paths: readonly string[];
  readonly weights: readonly TfjsWeight[];
}

/** The names are those of the file, so they are no keys of objects here. */
/** The list of weights in JSON. @throws FormatError for what is none, with its place */
export function parseWeightsManifest(value: unknown, file: string): readonly TfjsWeightGroup[] {
  const error = errorsFor(FORMAT, file);
  if (!Array.isArray(value)) throw error('weightsManifest', 'an array', show(value));
  const names = new Set<string>();
  return value.map((group: unknown, i) => {
    const at = `weightsManifest[${i}]`;
    if (!isObject(group)) throw error(at, 'an object', show(group));
    const { paths, weights } = group;
    if (!Array.isArray(paths)) throw error(`${at}.paths`, 'an array of names of files', show(paths));
    for (const path of paths)
      if (!isInside(path))
        throw error(`${at}.paths`, 'the path of a file in the folder of the model', show(path));
    if (!Array.isArray(weights)) throw error(`${at}.weights`, 'an array', show(weights));
    return {
      paths: paths as string[],
      weights: weights.map((weight: unknown, j) => {
        const parsed = parseWeight(weight, `${at}.weights[${j}]`, error);
        if (names.has(parsed.name)) throw error('weightsManifest', 'distinct names', quote(parsed.name));
        names.add(parsed.name);
        return parsed;
      }),
    };
  });
}

/** Whether a path stays in its folder on any system. */
function isInside(path: unknown): path is string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  if (typeof path !== 'string' || path === '' || /[\\:?#\u0000-\u001f]/.test(path)) return false;
  return path.split('/').every((part, i) => part !== '..' && (part !== '' || i > 0)) && !path.endsWith('/');
}

function parseWeight(value: unknown, at: string, error: ErrorMaker): TfjsWeight {
  if (!isObject(value)) throw error(at, 'an object', show(value));
  const { name, shape, dtype, quantization, group } = value;
  if (typeof name !== 'string') throw error(`${at}.name`, 'text', show(name));
  const where = `weight ${quote(name)}`;
  if (!DTYPES.has(dtype)) throw error(`${where}: dtype`, [...DTYPES].join(', '), show(dtype));
  if (!Array.isArray(shape) || shape.length > 254 || elementCount(shape as number[]) === undefined)
    throw error(`${where}: shape`, 'sizes that are not negative', show(shape));
  return {
    name,
    shape: shape as number[],
    dtype: dtype as TfjsDType,
    ...(quantization === undefined || quantization === null
      ? {}
      : { quantization: parseQuantization(quantization, dtype as TfjsDType, where, error) }),
    ...(group === 'optimizer' ? { group } : {}),
  };
}

function parseQuantization(
  value: unknown,
  dtype: TfjsDType,
  where: string,
  error: ErrorMaker,
): TfjsQuantization {
  if (!isObject(value)) throw error(`${where}: quantization`, 'an object', show(value));
  const { dtype: stored, scale, min } = value;
  const at = `${where}: quantization`;
  if (stored === 'float16') {
    if (dtype !== 'float32') throw error(`${at} in float16`, 'a weight of float32', dtype);
    return { dtype: stored };
  }
  if (stored !== 'uint8' && stored !== 'uint16')
    throw error(`${at}.dtype`, 'uint8, uint16, float16', show(stored));
  if (dtype !== 'float32' && dtype !== 'int32') throw error(at, 'a weight of float32 or int32', dtype);
  if (!Number.isFinite(scale) || !Number.isFinite(min))
    throw error(at, 'numbers scale and min', `${show(scale)} and ${show(min)}`);
  return { dtype: stored, scale: scale as number, min: min as number };
}

/**
 * The arrays of a group, by name, out of the bytes of its files. Nothing is allocated for sizes that the bytes do not have.
 *
 * @throws FormatError where the bytes do not fit the list.
 */
export function decodeWeightGroup(
  { paths, weights }: TfjsWeightGroup,
  files: readonly Uint8Array[],
  file: string,
): Map<string, TensorValue> {
  const error = errorsFor(FORMAT, file);
  const bytes = files.length === 1 ? (files[0] as Uint8Array) : joined(files);
  const sizes = (): string =>
    `${bytes.length} bytes${paths.length <= 8 ? ` in ${paths.map((path, i) => `${path} (${files[i]?.length})`).join(', ')}` : ` in ${paths.length} files, ${paths[0]} to ${paths.at(-1)}`}`;
  const arrays = new Map<string, TensorValue>();
  let at = 0;
  for (const weight of weights) {
    const { name, shape } = weight;
    const where = `weight ${quote(name)}`;
    const count = elementCount(shape) as number;
    if (weight.dtype === 'string') {
      const { data, end } = decodeTexts(bytes, at, count, where, error);
      arrays.set(name, { dtype: 'string', shape, data });
      at = end;
      continue;
    }
    const stored = weight.quantization?.dtype ?? weight.dtype;
    const length = count * elementBytes(stored);
    if (length > bytes.length - at)
      throw error(`${where} of the shape [${shape.join(', ')}]`, `${length} bytes from ${at} on`, sizes());
    arrays.set(name, decoded(weight, decodeElements(stored, bytes.subarray(at, at + length), shape)));
    at += length;
  }
  if (at !== bytes.length) throw error('the weights', `${at} bytes`, sizes());
  return arrays;
}

function decoded({ dtype, shape, quantization }: TfjsWeight, stored: NDArray): NDArray {
  if (quantization === undefined) return stored;
  if (quantization.dtype === 'float16') return { dtype: 'float32', shape, data: stored.data as Float32Array };
  const { scale = 1, min = 0 } = quantization;
  const from = stored.data as Uint8Array | Uint16Array;
  if (dtype === 'int32')
    return { dtype, shape, data: Int32Array.from(from, (value) => Math.round(value * scale + min)) };
  const data = new Float32Array(from.length);
  for (let i = 0; i < data.length; i++) data[i] = (from[i] as number) * scale + min;
  return { dtype: 'float32', shape, data };
}

/** Each text behind its length in four bytes. */
function decodeTexts(
  bytes: Uint8Array,
  start: number,
  count: number,
  where: string,
  error: ErrorMaker,
): { readonly data: readonly Uint8Array[]; readonly end: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const misfit = (): Error =>
    error(where, `${count} texts behind their lengths`, `${bytes.length - start} bytes`);
  if (count * 4 > bytes.length - start) throw misfit();
  const data: Uint8Array[] = [];
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + 4 > bytes.length) throw misfit();
    const length = view.getUint32(at, true);
    at += 4;
    if (length > bytes.length - at) throw misfit();
    data.push(bytes.slice(at, at + length));
    at += length;
  }
  return { data, end: at };
}

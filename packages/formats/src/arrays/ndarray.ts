import { FormatError } from '../errors.ts';
import { type DataOf, FILE_DTYPES } from './dtypes.ts';

export type { DataOf };

/** The dtypes that host arrays have. */
export type DTypeName = keyof DataOf;

/** The typed arrays that host arrays hold. */
export type TypedArray = DataOf[DTypeName];

/** A host array of exactly one dtype. */
export interface NDArrayOf<D extends DTypeName> {
  /** The elements in row-major order, as many as the shape's product; of complex ones, both parts. */
  readonly data: DataOf[D];
  /** The sizes of the dimensions; empty for a scalar. */
  readonly shape: readonly number[];
  /** The kind of the elements, which `data` and files have. */
  readonly dtype: D;
}

/** A host array; testing `dtype` narrows `data`. */
export type NDArray<D extends DTypeName = DTypeName> = D extends DTypeName ? NDArrayOf<D> : never;

/** Arrays by name: what `.npz` and safetensors files hold. */
export type NamedArrays = ReadonlyMap<string, NDArray> | Readonly<Record<string, NDArray>>;

/**
 * The number of elements of a shape (1 for a scalar), or `undefined` when a dimension is not a non-negative
 * integer or the product is beyond 2^53 - 1, which no file can hold.
 */
export function elementCount(shape: readonly number[]): number | undefined {
  let count = 1;
  let overflow = false;
  for (const size of shape) {
    if (!Number.isSafeInteger(size) || size < 0) return undefined;
    if (size === 0) count = 0;
    else if (count !== 0) count *= size;
    overflow ||= !Number.isSafeInteger(count);
  }
  return count === 0 ? 0 : overflow ? undefined : count;
}

/** Throws a {@link FormatError} unless the array's dtype, shape and data agree; every encoder calls it first. */
export function checkNDArray(array: NDArray, format: string, name?: string): void {
  const where = name === undefined ? 'array' : `array ${JSON.stringify(name)}`;
  const constructor = Object.hasOwn(FILE_DTYPES, array.dtype) ? FILE_DTYPES[array.dtype].array : undefined;
  if (!constructor) {
    const expected = Object.keys(FILE_DTYPES).join(', ');
    throw new FormatError({ format, what: `${where}: unknown dtype`, expected, got: String(array.dtype) });
  }
  if (!(array.data instanceof constructor)) {
    const what = `${where}: data does not suit dtype ${array.dtype}`;
    throw new FormatError({
      format,
      what,
      expected: constructor.name,
      got: Object(array.data).constructor?.name,
    });
  }
  const count = elementCount(array.shape);
  const numbers = count === undefined ? undefined : count * FILE_DTYPES[array.dtype].parts;
  if (numbers !== array.data.length) {
    const what = `${where}: shape [${array.shape.join(', ')}] does not suit the data`;
    const unit = numbers === count ? 'elements' : 'numbers';
    const got = `${array.data.length} ${unit}`;
    throw new FormatError({ format, what, expected: `${numbers ?? 'a countable number of'} ${unit}`, got });
  }
}

/** The entries of named arrays, whichever container holds them. */
export function entriesOf(arrays: NamedArrays): [string, NDArray][] {
  return arrays instanceof Map ? [...arrays] : Object.entries(arrays as Readonly<Record<string, NDArray>>);
}

// Arrays of a file by name, of which one is in memory at a time.
import { InvalidArgumentError } from '@eagre/core';
import type { NDArray, TensorSource, TypedArray } from '@eagre/formats';

/** What a file of arrays holds. */
export interface ArraySource {
  readonly arrays: readonly TensorSource[];
  /** What the file says of itself, where its format has a place for that. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Closes the file. */
  close(): Promise<void>;
}

/** The dtypes of floats, which can be cast. */
export const FLOATS = ['float16', 'bfloat16', 'float32', 'float64'] as const;
export type FloatName = (typeof FLOATS)[number];

/** Arrays that are in memory already. */
export function sourceOf(arrays: ReadonlyMap<string, NDArray>): ArraySource {
  return {
    arrays: [...arrays].map(([name, array]) => ({
      name,
      dtype: array.dtype,
      shape: array.shape,
      read: () => array,
    })),
    close: async () => {},
  };
}

/** The same with another dtype for all floats. */
export function withFloats(source: ArraySource, dtype: FloatName): ArraySource {
  const arrays = source.arrays.map((array): TensorSource => {
    if (!FLOATS.includes(array.dtype as FloatName) || array.dtype === dtype) return array;
    return { ...array, dtype, read: async () => cast(await array.read(), dtype) };
  });
  return { ...source, arrays };
}

function cast({ data, shape }: NDArray, dtype: FloatName): NDArray {
  // Floats of 16 bits are held as float32, and rounded when they are written.
  const Wanted = dtype === 'float64' ? Float64Array : Float32Array;
  const values: TypedArray = data instanceof Wanted ? data : Wanted.from(data as Float32Array);
  return { dtype, shape, data: values } as NDArray;
}

/** The same, and calls `told` before each array is read. */
export function withProgress(source: ArraySource, told: (name: string) => void): ArraySource {
  const arrays = source.arrays.map((array) => ({
    ...array,
    read: () => {
      told(array.name);
      return array.read();
    },
  }));
  return { ...source, arrays };
}

/** All arrays at once, for formats that are written in one piece. */
export async function readAll({ arrays }: ArraySource): Promise<Map<string, NDArray>> {
  const all = new Map<string, NDArray>();
  for (const array of arrays) all.set(array.name, await array.read());
  return all;
}

/** The only array. @throws InvalidArgumentError for none, and for several. */
export function onlyArray({ arrays }: ArraySource, path: string): TensorSource {
  const [only] = arrays;
  if (only !== undefined && arrays.length === 1) return only;
  throw new InvalidArgumentError(
    `${path}: a .npy file holds one array, and there are ${arrays.length}; write a .npz or .safetensors file`,
    'convert',
  );
}

// The files of a model for TensorFlow.js.
import { encodeElements } from '../arrays/elements.ts';
import type { NDArrayOf } from '../arrays/ndarray.ts';
import { joined } from '../bytes.ts';

/** The most bytes of one file of weights, as its converter writes them. */
const MOST_SHARD_BYTES = 4 * 2 ** 20;

/** An array with the name that layers know it by. */
export interface TfjsArray {
  readonly name: string;
  readonly array: NDArrayOf<'float32' | 'int32' | 'bool'>;
  /** What it is of; of the model unless given. */
  readonly group?: 'optimizer';
}

/** The files of a model: `group1-shard1of2.bin`, …, and last the JSON, which names them. @param json what stands beside the list of weights */
export function encodeTfjsModel(
  name: string,
  json: Readonly<Record<string, unknown>>,
  arrays: readonly TfjsArray[],
): readonly (readonly [name: string, content: Uint8Array])[] {
  const bytes = joined(arrays.map(({ array }) => encodeElements(array)));
  const count = Math.max(1, Math.ceil(bytes.length / MOST_SHARD_BYTES));
  const shards = Array.from({ length: count }, (_, i) => {
    const shard = bytes.subarray(i * MOST_SHARD_BYTES, (i + 1) * MOST_SHARD_BYTES);
    return [`group1-shard${i + 1}of${count}.bin`, shard] as const;
  });
  const weights = arrays.map(({ name, array: { shape, dtype }, group }) => ({
    name,
    shape,
    dtype,
    ...(group === undefined ? {} : { group }),
  }));
  const weightsManifest = [{ paths: shards.map(([path]) => path), weights }];
  return [...shards, [name, new TextEncoder().encode(JSON.stringify({ ...json, weightsManifest }))]];
}

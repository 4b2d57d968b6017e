// The memory of TensorFlow's dense tables, which goes into checkpoints as it is: a key and a value in each of a power of 2 of buckets.
import { plainHash } from '../ops/strings/hashes.ts';
import { sizeOf } from '../shapes/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { itemsOf, type TableItem, tensorOfItems } from './table-items.ts';

/** Where a key is looked for first: strings by a hash, integers by themselves. */
const hashOf = (key: TableItem): bigint =>
  typeof key === 'string' ? plainHash(key) : BigInt.asUintN(64, BigInt(key));

/**
 * Keys and values in buckets, [buckets, 1] and [buckets, ...]. A key that finds its bucket taken goes on by 1, 2, 3, … buckets.
 * @param empty the key of buckets that nobody has taken.
 */
export function denseBuckets([keys, values]: readonly [Tensor, Tensor], empty: Tensor): [Tensor, Tensor] {
  const own = itemsOf(keys);
  const items = itemsOf(values);
  const shape = values.rank === 1 ? [1] : values.shape.slice(1);
  const width = sizeOf(shape);
  let count = 4;
  while (count < 2 * own.length) count *= 2;
  const places = new Array<number>(count).fill(-1);
  own.forEach((key, i) => {
    let at = Number(hashOf(key) % BigInt(count));
    for (let step = 1; places[at] >= 0; step++) at = (at + step) % count;
    places[at] = i;
  });
  const [none] = itemsOf(empty);
  const blank = new Array<TableItem>(width).fill(values.dtype === 'string' ? '' : 0);
  const keysIn = places.map((i) => (i < 0 ? none : own[i]));
  const valuesIn = places.flatMap((i) => (i < 0 ? blank : items.slice(i * width, (i + 1) * width)));
  return [
    tensorOfItems(keysIn, keys.dtype, [count, 1]),
    tensorOfItems(valuesIn, values.dtype, [count, ...shape]),
  ];
}

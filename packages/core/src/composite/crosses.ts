// Crosses of features: what `tf.sparse.cross` and `tf.ragged.cross` have in common.
import {
  farmHash,
  InvalidArgumentError,
  joinedFingerprints,
  joinedHalves,
  remainderOf,
  upperHalf,
} from '@eagre/backend';
import { fingerprint64 } from '../ops/strings/hashes.ts';
import { onKnown } from '../ops/strings/known-strings.ts';
import { eachUtf8 } from '../ops/strings/utf8.ts';
import { setInteger } from '../ops/strings/wide-integers.ts';
import { showShape } from '../shapes/shape.ts';
import { toTensor } from '../tensor/convert.ts';
import { isInteger } from '../tensor/dtypes.ts';
import { hostValues, stringTensor, type Tensor } from '../tensor/tensor.ts';

/** The tensors of a feature: its values [rows, n]; or its values and the splits of ragged rows; or values, indices and shape of a sparse tensor. */
export type Feature = readonly [values: Tensor, ...Tensor[]];
/** A combination of one value of each feature. */
export type Combination = readonly (string | bigint)[];
/** The values of one feature, row by row. */
type Rows = readonly (readonly (string | bigint)[])[];

/** @throws InvalidArgumentError for what is no matrix of strings or integers */
export function checkFeature<F extends Feature>(feature: F, rank: number, op: string): F {
  const { dtype } = feature[0];
  if (dtype !== 'string' && !isInteger(dtype))
    throw new InvalidArgumentError(`inputs must be strings or integers, got ${dtype}`, op);
  if (rank !== 2) throw new InvalidArgumentError(`inputs must have two axes, got ${rank}`, op);
  return feature;
}

/** Strings, or integers as bigints. */
function itemsOf(values: Tensor): (string | bigint)[] {
  if (values.dtype === 'string') return values.strings();
  return Array.from(hostValues(values) as ArrayLike<number | bigint>, BigInt);
}
const integers = (x: Tensor): number[] => Array.from(hostValues(x) as ArrayLike<number | bigint>, Number);

function rowsOf([values, place, shape]: Feature, op: string): Rows {
  const all = itemsOf(values);
  if (place === undefined) {
    const [n, width] = values.shape as [number, number];
    return Array.from({ length: n }, (_, i) => all.slice(i * width, (i + 1) * width));
  }
  const at = integers(place);
  if (shape === undefined) return at.slice(1).map((end, i) => all.slice(at[i], end));
  const n = integers(shape)[0] as number;
  const rows: (string | bigint)[][] = Array.from({ length: n }, () => []);
  all.forEach((v, i) => {
    const row = rows[at[2 * i] as number];
    if (row === undefined)
      throw new InvalidArgumentError(`inputs have a value outside of ${showShape([n])} rows`, op);
    row.push(v);
  });
  return rows;
}

/** What a function makes of the combinations in each row of features. @throws InvalidArgumentError for other numbers of rows */
export function onRows<R>(
  op: string,
  features: readonly Feature[],
  fn: (rows: readonly (readonly Combination[])[]) => R,
): R {
  return onKnown(op, features.flat(), (...known) => {
    let next = 0;
    const lists = features.map((feature) =>
      rowsOf(feature.map(() => known[next++] as Tensor) as unknown as Feature, op),
    );
    const n = rowCount(lists, op);
    return fn(Array.from({ length: n }, (_, row) => [...combinations(lists, row)]));
  });
}

/** What a cross is: the values of combinations. */
export type Values = (combinations: readonly Combination[]) => Tensor;

/** Combinations as texts. */
export const joinedValues =
  (separator: string): Values =>
  (all) =>
    stringTensor(
      all.map((values) => values.join(separator)),
      [all.length],
    );
/** Combinations as bins, int64. @throws InvalidArgumentError for what is no number of bins or no key */
export function hashedValues(numBuckets: unknown, hashKey: unknown, op: string): Values {
  const [buckets, key] = checkHashing(numBuckets, hashKey, op);
  return (all) =>
    toTensor({
      data: BigInt64Array.from(all, (values) => crossedBin(values, buckets, key)),
      shape: [all.length],
    });
}

/** Each combination of one value of each feature, the last feature first. */
function* combinations(features: readonly Rows[], row: number): Generator<(string | bigint)[]> {
  const lists = features.map((rows) => rows[row] as readonly (string | bigint)[]);
  if (lists.length === 0 || lists.some((list) => list.length === 0)) return;
  const places = lists.map(() => 0);
  for (;;) {
    yield places.map((place, i) => (lists[i] as readonly (string | bigint)[])[place] as string | bigint);
    let i = places.length - 1;
    while (i >= 0 && ++(places[i] as number) === (lists[i] as readonly unknown[]).length) places[i--] = 0;
    if (i < 0) return;
  }
}

const unsigned = (x: bigint): bigint => BigInt.asUintN(64, x);
/** TensorFlow's key of hashed crosses. */
export const CROSS_KEY = 0xdecafcaffen;

/** The bin of a combination: of so many, or of all that an int64 has. */
export function crossedBin(values: Combination, buckets: bigint, key: bigint): bigint {
  let hash = unsigned(key);
  for (const v of values)
    hash = joinedFingerprints(hash, typeof v === 'string' ? fingerprint64(v) : unsigned(v));
  return hash % (buckets > 0n ? buckets : 2n ** 63n - 1n);
}

/** The bins, of so many, of the elements of columns together (int64): strings, and integers of 64 bits. */
export function crossedBins(columns: readonly Tensor[], count: number): BigInt64Array<ArrayBuffer> {
  const size = (columns[0] as Tensor).size;
  // The halves of the hashes of all columns until now.
  const halves = new Int32Array(2 * size);
  for (let i = 0; i < size; i++) {
    halves[2 * i] = Number(BigInt.asIntN(32, CROSS_KEY));
    halves[2 * i + 1] = Number(BigInt.asIntN(32, CROSS_KEY >> 32n));
  }
  const take = (i: number, upper: number, lower: number): void => {
    halves[2 * i] = joinedHalves(halves[2 * i + 1] as number, halves[2 * i] as number, upper, lower);
    halves[2 * i + 1] = upperHalf();
  };
  for (const x of columns) {
    if (x.dtype !== 'string') {
      const { buffer, byteOffset } = hostValues(x);
      const own = new Int32Array(buffer, byteOffset, 2 * size);
      for (let i = 0; i < size; i++) take(i, own[2 * i + 1] as number, own[2 * i] as number);
    } else
      eachUtf8(x, ({ view, starts }, first) => {
        for (let i = 0; i + 1 < starts.length; i++) {
          const lower = farmHash(view, starts[i] as number, starts[i + 1] as number);
          take(first + i, upperHalf(), lower);
        }
      });
  }
  const data = new BigInt64Array(size);
  const words = new Uint32Array(data.buffer);
  for (let i = 0; i < size; i++)
    setInteger(words, i, remainderOf(halves[2 * i + 1] as number, halves[2 * i] as number, count));
  return data;
}

/** @throws InvalidArgumentError for features with different numbers of rows */
function rowCount(features: readonly Rows[], op: string): number {
  const counts = features.map((rows) => rows.length);
  if (counts.length === 0) throw new InvalidArgumentError('inputs is an empty list', op);
  if (counts.some((n) => n !== counts[0]))
    throw new InvalidArgumentError(`inputs have ${counts.join(', ')} rows, expected as many each`, op);
  return counts[0] as number;
}

function checkHashing(
  numBuckets: unknown,
  hashKey: unknown,
  op: string,
): readonly [buckets: bigint, key: bigint] {
  if (!Number.isSafeInteger(numBuckets) || (numBuckets as number) < 0)
    throw new InvalidArgumentError(
      `numBuckets must be an integer of at least 0, got ${String(numBuckets)}`,
      op,
    );
  const key = hashKey ?? CROSS_KEY;
  if (typeof key !== 'bigint' && !Number.isSafeInteger(key))
    throw new InvalidArgumentError(`hashKey must be an integer, got ${String(hashKey)}`, op);
  return [BigInt(numBuckets as number), BigInt(key as number)];
}

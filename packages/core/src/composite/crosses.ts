// Crosses of features: what `tf.sparse.cross` and `tf.ragged.cross` have in common.
import { InvalidArgumentError } from '@eagre/backend';
import { fingerprint64, joinedFingerprints } from '../ops/strings/hashes.ts';
import { hostValues, type Tensor } from '../tensor/tensor.ts';

/** The values of one feature, row by row. */
export type Rows = readonly (readonly (string | bigint)[])[];

/** Strings, or integers as bigints. */
export function featuresOf(values: Tensor): (string | bigint)[] {
  if (values.dtype === 'string') return values.strings();
  return Array.from(hostValues(values) as ArrayLike<number | bigint>, BigInt);
}

/** Each combination of one value of each feature, the last feature first. */
export function* combinations(features: readonly Rows[], row: number): Generator<(string | bigint)[]> {
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
export const DEFAULT_HASH_KEY = 0xdecafcaffen;

/** The bin of a combination: of so many, or of all that an int64 has. */
export function binOf(values: readonly (string | bigint)[], buckets: bigint, key: bigint): bigint {
  let hash = unsigned(key);
  for (const v of values)
    hash = joinedFingerprints(hash, typeof v === 'string' ? fingerprint64(v) : unsigned(v));
  return hash % (buckets > 0n ? buckets : 2n ** 63n - 1n);
}

/** @throws InvalidArgumentError for features with different numbers of rows */
export function rowCount(features: readonly Rows[], op: string): number {
  const counts = features.map((rows) => rows.length);
  if (counts.length === 0) throw new InvalidArgumentError('inputs is an empty list', op);
  if (counts.some((n) => n !== counts[0]))
    throw new InvalidArgumentError(`inputs have ${counts.join(', ')} rows, expected as many each`, op);
  return counts[0] as number;
}

/** @throws InvalidArgumentError for what is no number of bins or no key */
export function checkHashing(
  numBuckets: unknown,
  hashKey: unknown,
  op: string,
): readonly [buckets: bigint, key: bigint] {
  if (!Number.isSafeInteger(numBuckets) || (numBuckets as number) < 0)
    throw new InvalidArgumentError(
      `numBuckets must be an integer of at least 0, got ${String(numBuckets)}`,
      op,
    );
  const key = hashKey ?? DEFAULT_HASH_KEY;
  if (typeof key !== 'bigint' && !Number.isSafeInteger(key))
    throw new InvalidArgumentError(`hashKey must be an integer, got ${String(hashKey)}`, op);
  return [BigInt(numBuckets as number), BigInt(key as number)];
}

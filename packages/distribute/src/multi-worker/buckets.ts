// Which gradients travel together.
import { dtypeTraits } from '@eagre/backend';
import type { Tensor } from '@eagre/core';

/** The first bucket is small, so that something is on its way soon; then larger ones pay. */
const FIRST_BYTES = 2 ** 20;
const BYTES = 25 * 2 ** 20;

/** What decides about the buckets of a value: all processes see the same. */
export type Sized = Pick<Tensor, 'dtype' | 'shape'>;

/**
 * The places of gradients, bucket by bucket: from the last variable to the first, which is about the order in which a backward pass computes
 * them. A bucket is full when it has its bytes; one gradient is never divided between buckets.
 * @param bytesPerPack of every bucket; 0 for 1 MB in the first one and 25 MB in the others
 */
export function bucketsOf(values: readonly Sized[], bytesPerPack: number): readonly (readonly number[])[] {
  const buckets: number[][] = [];
  let open: number[] = [];
  let bytes = 0;
  for (let at = values.length - 1; at >= 0; at--) {
    open.push(at);
    bytes += bytesOfValue(values[at]);
    const most = bytesPerPack > 0 ? bytesPerPack : buckets.length === 0 ? FIRST_BYTES : BYTES;
    if (bytes < most) continue;
    buckets.push(open);
    open = [];
    bytes = 0;
  }
  if (open.length > 0) buckets.push(open);
  return buckets;
}

function bytesOfValue({ dtype, shape }: Sized): number {
  return shape.reduce((a, b) => a * b, 1) * dtypeTraits[dtype].bytes;
}

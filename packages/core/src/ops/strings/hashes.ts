// Hashes of texts, by their bytes.
import { farmHash, type HashOfBytes, murmurHash, sipHash, upperHalf, wholeHash } from '@eagre/backend';
import { bytesOf } from './bytes.ts';

/** A hash of bytes as one integer. */
export function hashOf(hash: HashOfBytes, { buffer, byteOffset, byteLength }: Uint8Array): bigint {
  const lower = hash(new DataView(buffer, byteOffset, byteLength), 0, byteLength);
  return wholeHash(upperHalf(), lower);
}

/** FarmHash's Fingerprint64 of a text's bytes. */
export const fingerprint64 = (text: string): bigint => hashOf(farmHash, bytesOf(text));
/** SipHash-2-4 of a text's bytes with a key of two integers. */
export const keyedHash = (text: string, key: readonly [bigint, bigint]): bigint =>
  hashOf(sipHash(key), bytesOf(text));
/** TensorFlow's own hash of a text's bytes. */
export const plainHash = (text: string): bigint => hashOf(murmurHash, bytesOf(text));

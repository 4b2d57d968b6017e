import { nodeBuiltin } from '@eagre/formats/internal';

/** A file's published checksum. */
export type Checksum = `sha256:${string}` | `md5:${string}`;

/** The checksum of `bytes` in the algorithm of `expected`, to be compared with it. */
export function checksumLike(expected: Checksum, bytes: Uint8Array): Checksum {
  const algorithm = expected.startsWith('sha256:') ? 'sha256' : 'md5';
  return `${algorithm}:${nodeBuiltin('node:crypto').createHash(algorithm).update(bytes).digest('hex')}`;
}

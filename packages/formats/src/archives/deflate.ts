import { zlib } from '../late.ts';

/** Packs bytes at once. @param level from 0 (none) to 9 (smallest); -1 is zlib's own choice. */
export function deflateBytes(bytes: Uint8Array, format: 'GZIP' | 'ZLIB', level: number = -1): Uint8Array {
  const options = { level: level as -1 };
  return format === 'GZIP' ? zlib.gzip(bytes, options) : zlib.deflate(bytes, options);
}

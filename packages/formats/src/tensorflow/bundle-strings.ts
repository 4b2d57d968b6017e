// How a checkpoint stores a tensor of strings: the lengths as varints, a checksum of the lengths, all bytes.

import { crc32c, maskCrc } from '../archives/crc32c.ts';
import { ByteBuilder, Cursor, readUint32 } from '../bytes.ts';
import type { ErrorMaker } from '../errors.ts';

/** The bytes of strings, and their masked checksum, which is not that of the bytes. */
export function encodeBundleStrings(strings: readonly Uint8Array[]): { bytes: Uint8Array; crc: number } {
  const out = new ByteBuilder();
  let crc = 0;
  for (const { length } of strings) {
    out.varint(length);
    crc = crc32c(lengthWord(length), crc);
  }
  const at = out.length;
  out.uint32(maskCrc(crc));
  crc = crc32c(out.view().subarray(at), crc);
  for (const item of strings) {
    out.add(item);
    crc = crc32c(item, crc);
  }
  return { bytes: out.view(), crc: maskCrc(crc) };
}

/**
 * The strings in `bytes`, sharing memory, whose masked checksum is `stored`.
 *
 * @throws FormatError when the bytes hold something else.
 */
export function decodeBundleStrings(
  bytes: Uint8Array,
  count: number,
  stored: number,
  where: string,
  error: ErrorMaker,
): Uint8Array[] {
  if (count > bytes.length) throw error(`${where}: strings`, `at most ${bytes.length}`, count);
  const cursor = new Cursor(bytes);
  const lengths: number[] = [];
  let crc = 0;
  for (let i = 0; i < count; i++) {
    const length = cursor.varint();
    if (length === undefined) throw error(`${where}: length of string ${i}`);
    lengths.push(length);
    crc = crc32c(lengthWord(length), crc);
  }
  const sum = cursor.take(4);
  if (sum === undefined || readUint32(sum, 0) !== maskCrc(crc))
    throw error(`${where}: checksum of the lengths`, String(maskCrc(crc)), sum && readUint32(sum, 0));
  crc = maskCrc(crc32c(bytes.subarray(cursor.at), crc32c(sum, crc)));
  if (crc !== stored) throw error(`${where}: checksum`, String(stored), crc);
  const strings = lengths.map((length, i) => {
    const item = cursor.take(length);
    if (item === undefined)
      throw error(`${where}: string ${i}`, 'one that lies in its tensor', `${length} bytes`);
    return item;
  });
  if (cursor.at !== bytes.length) throw error(`${where}: strings`, `${bytes.length} bytes`, cursor.at);
  return strings;
}

/** A length as the checksum sees it: four bytes, or eight for what needs more. */
function lengthWord(length: number): Uint8Array {
  const word = new DataView(new ArrayBuffer(length > 0xffffffff ? 8 : 4));
  word.setUint32(0, length, true);
  if (word.byteLength === 8) word.setUint32(4, Math.floor(length / 2 ** 32), true);
  return new Uint8Array(word.buffer);
}

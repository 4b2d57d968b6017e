import { deflateRaw } from 'pako';
import { ByteBuilder } from '../bytes.ts';
import { errorsFor } from '../errors.ts';
import { crc32 } from './crc32.ts';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const STORED = 0;
const DEFLATED = 8;
// What a reader must know: version 2.0.
const VERSION = 20;
const UTF8_NAME = 1 << 11;
// The earliest date that ZIP has, 1 January 1980, as numpy.savez uses.
const DATE = (1 << 5) | 1;

/**
 * Packs files as a ZIP file, which has no more than 4 GiB and 65534 files: no zip64. Nothing in it depends on the time.
 * @throws FormatError for a name of more than 65535 bytes.
 */
export function zip(
  files: Iterable<readonly [name: string, bytes: Uint8Array]>,
  compress: boolean,
): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory = new ByteBuilder();
  const utf8 = new TextEncoder();
  let at = 0;
  let count = 0;
  for (const [file, bytes] of files) {
    const name = utf8.encode(file);
    if (name.length > 0xffff) throw errorsFor('zip', undefined)('name', 'at most 65535 bytes', name.length);
    const packed = compress ? deflateRaw(bytes) : bytes;
    const entry = new ByteBuilder();
    for (const value of [VERSION, name.length === file.length ? 0 : UTF8_NAME, compress ? DEFLATED : STORED])
      entry.uint16(value);
    entry.uint32(DATE * 2 ** 16);
    for (const value of [crc32(bytes), packed.length, bytes.length]) entry.uint32(value);
    entry.uint32(name.length);

    const local = new ByteBuilder();
    local.uint32(LOCAL);
    local.add(entry.view());
    local.add(name);
    parts.push(local.view(), packed);

    directory.uint32(CENTRAL);
    directory.uint16(VERSION);
    directory.add(entry.view());
    // No comment, one disk, no attributes.
    directory.add(new Uint8Array(10));
    directory.uint32(at);
    directory.add(name);
    at += local.length + packed.length;
    count++;
  }
  const end = new ByteBuilder();
  end.uint32(END);
  end.uint32(0);
  for (const value of [count, count]) end.uint16(value);
  for (const value of [directory.length, at]) end.uint32(value);
  end.uint16(0);
  return joined([...parts, directory.view(), end.view()]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

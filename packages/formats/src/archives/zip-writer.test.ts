import { expect, test } from 'vitest';
import { FormatError } from '../errors.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import { unzip } from './zip.ts';
import { zip, zipParts } from './zip-writer.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const files: readonly (readonly [string, Uint8Array])[] = [
  ['a.txt', bytesOf('first')],
  ['ü/b.txt', new Uint8Array(300).fill(7)],
  ['empty', new Uint8Array(0)],
  ['last', bytesOf('x'.repeat(50))],
];
const packed = (zip64From?: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.concat([...zipParts(files, zip64From)]));
const unpacked = (bytes: Uint8Array): (readonly [string, Uint8Array])[] =>
  unzip(bytes).map(({ name, bytes: content }) => [name, Uint8Array.from(content)]);

test('what is packed is unpacked', () => {
  expect(unpacked(packed())).toEqual(files);
  expect(unpacked(zip(files, true))).toEqual(files);
  expect(zipParts(files).length).toBe(packed().length);
});

test('numbers of more than 32 bits are in zip64 fields', () => {
  // As if 32 bits held less: sizes, places, the directory and the number of files.
  for (const from of [0, 1, 4, 10, 100, 320, 400]) {
    const bytes = packed(from);
    expect(unpacked(bytes), `${from}`).toEqual(files);
    expect(bytes.length, `${from}`).toBeGreaterThan(packed().length);
    expect(zipParts(files, from).length).toBe(bytes.length);
  }
  expect(packed(10_000)).toEqual(packed());
});

test('a number of files that 16 bits cannot hold', () => {
  const many = Array.from({ length: 65_600 }, (_, i) => [`${i}`, Uint8Array.of(i & 255)] as const);
  const names = unzip(Buffer.concat([...zipParts(many)])).map(({ name }) => name);
  expect(names).toHaveLength(65_600);
  expect(names[65_599]).toBe('65599');
});

test('a file of more than 4 GiB has its size in 64 bits', () => {
  // Nobody has to hold them: the headers go by the length that is told.
  const parts = { length: 2 ** 32 + 1, *[Symbol.iterator]() {} };
  const archive = zipParts([
    ['large', parts],
    ['behind', bytesOf('it')],
  ]);
  const pieces = [...archive].map((part) => Uint8Array.from(part));
  const [head, tail] = [pieces[0]!, pieces.at(-1)!];
  expect(archive.length).toBe(parts.length + pieces.reduce((sum, { length }) => sum + length, 0));
  const view = new DataView(head.buffer);
  expect(view.getUint32(18, true)).toBe(0xffffffff);
  expect(view.getBigUint64(30 + 'large'.length + 4, true)).toBe(BigInt(parts.length));
  // The end: a directory that begins behind the files.
  const end = new DataView(tail.buffer);
  expect(end.getUint32(tail.length - 22 + 16, true)).toBe(0xffffffff);
  expect(end.getBigUint64(tail.length - 22 - 20 - 56 + 48, true)).toBeGreaterThan(BigInt(parts.length));
});

test('damaged archives with zip64 fields give a FormatError or files', () => {
  const random = randomSource(Number(process.env['EAGRE_FUZZ_SEED'] ?? 1));
  const bytes = packed(1);
  for (let run = 0; run < 3000; run++) {
    try {
      unzip(mutate(bytes, random));
    } catch (error) {
      expect(error).toBeInstanceOf(FormatError);
    }
  }
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c, maskCrc } from '../archives/crc32c.ts';
import { unpackSnappy } from '../archives/snappy.ts';
import { compareBytes } from '../bytes.ts';
import { FormatError } from '../errors.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import { readTable, type TableEntry, writeTable } from './table.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const plain = (entries: Iterable<TableEntry>): string[] =>
  [...entries].map((entry) => entry.map(hex).join(' '));

/** Puts right the checksums of the blocks, given by offset and size, so that damage gets past them. */
function repair(bytes: Uint8Array, blocks: readonly (readonly [number, number])[]): Uint8Array {
  const out = new Uint8Array(bytes);
  for (const [offset, size] of blocks)
    if (offset + size + 5 <= out.length)
      out.set(checksum(out.subarray(offset, offset + size + 1)), offset + size + 1);
  return out;
}

function checksum(block: Uint8Array): number[] {
  const sum = maskCrc(crc32c(block));
  return [sum, sum >>> 8, sum >>> 16, sum >>> 24];
}

describe('a table', () => {
  it('holds what was put in, in any number of blocks', () => {
    const entry = fc.tuple(fc.uint8Array({ maxLength: 12 }), fc.uint8Array({ maxLength: 30 }));
    const sorted = fc
      .uniqueArray(entry, { selector: ([key]) => hex(key), maxLength: 60 })
      .map((list) => list.sort(([a], [b]) => compareBytes(a, b)));
    fc.assert(
      fc.property(sorted, fc.constantFrom(1, 20, 100, 1 << 20), (entries, blockBytes) => {
        expect(plain(readTable(writeTable(entries, { blockBytes })))).toEqual(plain(entries));
      }),
    );
  });

  it('of nothing is short', () => {
    const bytes = writeTable([]);
    expect(bytes.length).toBe(8 + 5 + 8 + 5 + 48);
    expect([...readTable(bytes)]).toEqual([]);
  });

  it('needs its keys in order', () => {
    const pair = (key: string): TableEntry => [text(key), text('')];
    expect(() => writeTable([pair('b'), pair('a')])).toThrow('key "a": expected one behind "b"');
    expect(() => writeTable([pair('a'), pair('a')])).toThrow(FormatError);
  });

  it('may be packed by snappy', () => {
    const value = text('0123456789'.repeat(10));
    const bytes = writeTable([[text('key'), value]]);
    // One block of entries, packed by hand: a literal of the first 18 bytes, then copies from ten bytes before.
    const handle = [...readTable(bytes)];
    expect(handle).toHaveLength(1);
    const size = 3 + 3 + value.length + 8;
    const contents = bytes.subarray(0, size);
    const packed = [...varint(size), ...literal(contents.subarray(0, 16))];
    for (let left = 90; left > 0; left -= 30) packed.push(((30 - 1) << 2) | 2, 10, 0);
    packed.push(...literal(contents.subarray(106)));
    expect(unpackSnappy(Uint8Array.from(packed))).toEqual(contents);
    const block = [...packed, 1];
    const data = Uint8Array.from([...block, ...checksum(Uint8Array.from(block))]);
    expect(plain(readTable(tableOf(data, packed.length)))).toEqual(plain([[text('key'), value]]));
  });
});

describe('snappy data', () => {
  it('that is wrong is refused without much memory', () => {
    const wrong: number[][] = [
      [],
      [255, 255, 255, 255, 15, 0],
      [5, 0],
      [5, 4 << 2, 1, 2],
      [4, 3 << 2, 1, 2, 3, 4, 1, 1],
      [8, 0, 1, 1, 0],
      [8, 0, 1, 1, 2],
      [1, 60 << 2],
      [1, 63 << 2, 255, 255, 255, 255],
      [2, 0, 1],
    ];
    for (const bytes of wrong) expect(unpackSnappy(Uint8Array.from(bytes))).toBeUndefined();
    expect(unpackSnappy(Uint8Array.of(0))).toEqual(new Uint8Array(0));
    expect(unpackSnappy(Uint8Array.of(5, 0, 7, 1, 1))).toEqual(new Uint8Array(5).fill(7));
  });
});

describe('a damaged table', () => {
  const entries: TableEntry[] = Array.from({ length: 60 }, (_, i) => [
    text(`layer/${String(i).padStart(3, '0')}/kernel`),
    text(`value ${i}`.repeat(i % 5)),
  ]);

  it('(10,000 of them) gives a FormatError or entries', () => {
    const samples = [writeTable(entries), writeTable(entries, { blockBytes: 200 })];
    const layouts = samples.map(layoutOf);
    const random = randomSource(7);
    const result = { read: 0, refused: 0 };
    for (let run = 0; run < 10_000; run++) {
      let bytes = mutate(samples[run % 2]!, random);
      if (run % 4 < 3) bytes = repair(bytes, layouts[run % 2]!);
      try {
        let total = 0;
        for (const [key, value] of readTable(bytes)) total += key.length + value.length;
        expect(total).toBeLessThan(bytes.length * 66 + 2 ** 20);
        result.read++;
      } catch (error) {
        if (!(error instanceof FormatError)) throw new Error(`run ${run}`, { cause: error });
        result.refused++;
      }
    }
    expect(result.read).toBeGreaterThan(500);
    expect(result.refused).toBeGreaterThan(2000);
  });

  it('cannot ask for endless keys', () => {
    // Each entry shares all of the key before and adds a byte.
    const first = new Array<number>(60_000).fill(97);
    const entries = [0, ...varint(first.length), 0, ...first];
    for (let i = 0; i < 5000; i++) entries.push(...varint(first.length + i), 1, 0, 97);
    const block = Uint8Array.from([...entries, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    const data = Uint8Array.from([...block, ...checksum(block)]);
    expect(() => [...readTable(tableOf(data, block.length - 1))]).toThrow(
      'shorter ones for a file of this size',
    );
  });
});

/** The table of one block of entries, with its trailer. */
function tableOf(data: Uint8Array, size: number): Uint8Array {
  const handle = Uint8Array.of(0, ...varint(size));
  const inner = 3 + 1 + handle.length + 8;
  // The block of this entry serves as the index.
  const other = writeTable([[text('l'), handle]]);
  const footer = new Uint8Array(48);
  footer.set([...varint(data.length), inner, ...varint(data.length), inner]);
  footer.set(other.subarray(-8), 40);
  return Buffer.concat([data, other.subarray(0, inner + 5), footer]);
}

/** Offset and size of every block. */
function layoutOf(bytes: Uint8Array): [number, number][] {
  const out: [number, number][] = [];
  for (let at = 0; at < bytes.length - 48; ) {
    let size = 8;
    while (
      new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + size + 1, true) !==
      maskCrc(crc32c(bytes.subarray(at, at + size + 1)))
    )
      size++;
    out.push([at, size]);
    at += size + 5;
  }
  return out;
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}

function literal(bytes: Uint8Array): number[] {
  return [(bytes.length - 1) << 2, ...bytes];
}

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { crc32c, maskCrc } from '../archives/crc32c.ts';
import { FormatError } from '../errors.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import { encodeRecord, RecordParser, readRecords } from './tfrecord.ts';
import {
  defaultMaxRecordBytes,
  type RecordCompression,
  RecordFileReader,
  RecordFileWriter,
} from './tfrecord-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-tfrecord-'));
afterAll(() => rmSync(folder, { recursive: true }));

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const file = (...payloads: Uint8Array[]): Uint8Array =>
  new Uint8Array(Buffer.concat(payloads.map(encodeRecord)));
const all = (records: Iterable<Uint8Array>): string[] => [...records].map(hex);
async function allLater(records: AsyncIterable<Uint8Array>): Promise<string[]> {
  const out: string[] = [];
  for await (const record of records) out.push(hex(record));
  return out;
}
const compressions: RecordCompression[] = ['', 'GZIP', 'ZLIB'];

describe('a record', () => {
  it("has TensorFlow's bytes", () => {
    expect(hex(encodeRecord(text('abc')))).toBe('0300000000000000b099490e6162636e57f121');
    expect(hex(encodeRecord(text('')))).toBe('000000000000000029039807d8ea82a2');
  });

  it('comes out as it went in, however its bytes are cut', () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 8 });
    fc.assert(
      fc.property(payloads, fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (records, cuts) => {
        const bytes = file(...records);
        expect(all(readRecords(bytes))).toEqual(records.map(hex));
        const parser = new RecordParser();
        const out: string[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const end = Math.min(at + cuts[i % cuts.length]!, bytes.length);
          parser.push(bytes.subarray(at, end));
          for (let record = parser.next(); record; record = parser.next()) out.push(hex(record));
          at = end;
        }
        parser.end();
        expect(out).toEqual(records.map(hex));
        expect(parser.pending).toBe(0);
      }),
    );
  });

  it('shares memory with the piece that holds it', () => {
    const bytes = new Uint8Array(file(text('one'), text('two')));
    for (const record of readRecords(bytes)) expect(record.buffer).toBe(bytes.buffer);
  });

  it('that is cut off waits for more, and is an error at the end', () => {
    const bytes = file(text('first'), text('second'));
    for (const cut of [1, 11, 12, 13, 20, 21, 22, 35, bytes.length - 1]) {
      const parser = new RecordParser({ file: 'a.tfrecord' });
      parser.push(bytes.subarray(0, cut));
      while (parser.next());
      if (cut === 21) {
        parser.end();
      } else {
        expect(parser.pending).toBe(cut > 21 ? cut - 21 : cut);
        expect(() => parser.end()).toThrow(/^a\.tfrecord: truncated record at byte (0|21): expected/);
      }
      parser.push(bytes.subarray(cut));
      while (parser.next());
      parser.end();
    }
  });

  it('that is too long, or has a wrong checksum, is refused', () => {
    const bytes = file(text('first'));
    const broken = bytes.slice();
    broken[13]! ^= 1;
    expect(() => [...readRecords(broken)]).toThrow('checksum of the record at byte 0');
    const header = bytes.slice();
    header[7]! ^= 1;
    expect(() => [...readRecords(header)]).toThrow('checksum of the length of the record at byte 0');
    expect(() => [...readRecords(bytes, { maxRecordBytes: 4 })]).toThrow('expected at most 4, got 5');
  });
});

describe.each(compressions)('a file with compression %j', (compression) => {
  const path = join(folder, `file-${compression}`);
  const unpack = { '': (b: Uint8Array) => b, GZIP: gunzipSync, ZLIB: inflateSync }[compression];
  const pack = { '': (b: Uint8Array) => b, GZIP: gzipSync, ZLIB: deflateSync }[compression];

  it('is written and read', async () => {
    const payloads = ['', 'a', 'b'.repeat(70), 'c'.repeat(5000), 'd'].map(text);
    using writer = new RecordFileWriter(path, { compression, bufferSize: 64 });
    for (const payload of payloads) writer.write(payload);
    writer.flush();
    writer.write(text('last'));
    writer.close();
    expect(() => writer.write(text(''))).toThrow('the writer is closed');
    const expected = [...payloads, text('last')];
    expect(hex(unpack(readFileSync(path)))).toBe(hex(file(...expected)));
    for (const bufferSize of [1, 7, 64, 1 << 20]) {
      const reader = new RecordFileReader(path, { compression, bufferSize });
      expect(all(reader)).toEqual(expected.map(hex));
      expect(await allLater(reader)).toEqual(expected.map(hex));
    }
  });

  it('is whole however it was written and flushed', async () => {
    const records = fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.boolean()), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 1, max: 500 }), async (list, bufferSize) => {
        const writer = new RecordFileWriter(path, { compression, bufferSize });
        for (const [payload, flush] of list) {
          writer.write(payload);
          if (flush) writer.flush();
        }
        writer.close();
        const expected = list.map(([payload]) => hex(payload));
        expect(hex(unpack(readFileSync(path)))).toBe(hex(file(...list.map(([payload]) => payload))));
        const reader = new RecordFileReader(path, { compression, bufferSize });
        expect(all(reader)).toEqual(expected);
        expect(await allLater(reader)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('is read however it was packed', () => {
    const kinds = fc.record({
      level: fc.integer({ min: 0, max: 9 }),
      strategy: fc.integer({ min: 0, max: 4 }),
      memLevel: fc.integer({ min: 1, max: 9 }),
    });
    const payload = fc.oneof(fc.uint8Array({ maxLength: 3000 }), fc.constant(new Uint8Array(70_000)));
    fc.assert(
      fc.property(fc.array(payload), kinds, fc.integer({ min: 50, max: 9000 }), (list, kind, bufferSize) => {
        const bytes = file(...list);
        const packed =
          compression === ''
            ? bytes
            : compression === 'GZIP'
              ? gzipSync(bytes, kind)
              : deflateSync(bytes, kind);
        writeFileSync(path, packed);
        expect(all(new RecordFileReader(path, { compression, bufferSize }))).toEqual(list.map(hex));
      }),
      { numRuns: 40 },
    );
  });

  it('shows what was flushed', () => {
    using writer = new RecordFileWriter(path, { compression });
    writer.write(text('flushed'));
    expect(readFileSync(path).length).toBeLessThan(24);
    writer.flush();
    const reader = new RecordFileReader(path, { compression })[Symbol.iterator]();
    expect(reader.next().value).toEqual(text('flushed'));
    reader.return?.();
  });

  it('that is cut off or broken is refused, after what is good', async () => {
    const random = randomSource(3);
    const noise = Uint8Array.from({ length: 40_000 }, () => Math.floor(random() * 256));
    const whole = pack(file(text('good'), noise, text('more')));
    writeFileSync(path, whole.subarray(0, whole.length - 30));
    const reader = new RecordFileReader(path, { compression });
    expect(() => all(reader)).toThrow(FormatError);
    await expect(allLater(reader)).rejects.toThrow(FormatError);
    const broken = whole.slice();
    broken[20_000]! ^= 255;
    writeFileSync(path, broken);
    const records = reader[Symbol.iterator]();
    expect(records.next().value).toEqual(text('good'));
    expect(() => records.next()).toThrow(FormatError);
    await expect(allLater(reader)).rejects.toThrow(FormatError);
  });
});

describe('a disk that is full', () => {
  /** Takes so many bytes and no more, until it gets room; a write may be cut anywhere. */
  function disk(room: number): { room: number } {
    const state = { room };
    const fs = process.getBuiltinModule('node:fs');
    const { writeSync } = fs;
    vi.spyOn(fs, 'writeSync').mockImplementation(((
      file: number,
      bytes: Uint8Array,
      at: number,
      length: number,
      to: number | null,
    ) => {
      const most = Math.min(length, state.room);
      if (most === 0)
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
          code: 'ENOSPC',
          syscall: 'write',
        });
      state.room -= most;
      return writeSync(file, bytes, at, most, to);
    }) as typeof writeSync);
    return state;
  }
  afterEach(() => void vi.restoreAllMocks());
  const record = (i: number): Uint8Array => new Uint8Array(10 + ((i * 37) % 90)).fill(i);

  it.each(['', 'GZIP', 'ZLIB'] as const)(
    'loses nothing that was taken, once there is room: %s',
    (compression) => {
      const path = join(folder, `full-${compression}`);
      for (let room = 20; room < 900; room += 61) {
        const state = disk(room);
        const writer = new RecordFileWriter(path, { compression, bufferSize: 128 });
        const taken: string[] = [];
        let failures = 0;
        for (let i = 0; i < 60; i++) {
          try {
            writer.write(record(i));
            taken.push(hex(record(i)));
          } catch (error) {
            expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
            if (++failures > 5) state.room = Infinity;
          }
        }
        state.room = Infinity;
        writer.close();
        vi.restoreAllMocks();
        expect(failures).toBeGreaterThan(0);
        expect(all(new RecordFileReader(path, { compression }))).toEqual(taken);
      }
    },
  );

  it('leaves whole records where there never is room', () => {
    const path = join(folder, 'full-for-good');
    for (const append of [false, true]) {
      for (let room = 0; room < 700; room += 43) {
        writeFileSync(path, file(text('before')));
        disk(room);
        const writer = new RecordFileWriter(path, { bufferSize: 128, append });
        const taken: string[] = append ? [hex(text('before'))] : [];
        for (let i = 0; i < 30; i++) {
          try {
            // Some are larger than the buffer.
            const bytes = i % 5 === 4 ? new Uint8Array(300).fill(i) : record(i);
            writer.write(bytes);
            taken.push(hex(bytes));
          } catch {}
        }
        expect(() => writer.close()).toThrow('ENOSPC');
        vi.restoreAllMocks();
        const there = all(new RecordFileReader(path));
        expect(there).toEqual(taken.slice(0, there.length));
        using more = new RecordFileWriter(path, { append: true });
        more.write(text('after'));
        more.close();
        expect(all(new RecordFileReader(path))).toEqual([...there, hex(text('after'))]);
      }
    }
  });
});

it('a compressed record beyond the limit is refused, before it is in memory', async () => {
  const path = join(folder, 'record-bomb');
  const most = defaultMaxRecordBytes('GZIP');
  const header = file(new Uint8Array(0)).slice(0, 12);
  new DataView(header.buffer).setBigUint64(0, BigInt(most + 1), true);
  new DataView(header.buffer).setUint32(8, maskCrc(crc32c(header.subarray(0, 8))), true);
  writeFileSync(path, gzipSync(Buffer.concat([header, Buffer.alloc(1 << 20)])));
  const reader = new RecordFileReader(path, { compression: 'GZIP' });
  expect(() => all(reader)).toThrow(`at most ${most}`);
  await expect(allLater(reader)).rejects.toThrow(`at most ${most}`);
});

describe('files', () => {
  it('are appended to; gzip files may have several members', async () => {
    for (const compression of ['', 'GZIP'] as const) {
      const path = join(folder, `append-${compression}`);
      for (const [i, append] of [false, true, true].entries()) {
        using writer = new RecordFileWriter(path, { compression, append });
        writer.write(text(`part ${i}`));
      }
      for (const bufferSize of [1, 5, 1000]) {
        const reader = new RecordFileReader(path, { compression, bufferSize });
        expect(all(reader)).toEqual([0, 1, 2].map((i) => hex(text(`part ${i}`))));
        expect(await allLater(reader)).toEqual(all(reader));
      }
    }
  });

  it('that are missing, and options that make no sense, are errors', async () => {
    const missing = new RecordFileReader(join(folder, 'none'), { compression: 'GZIP' });
    expect(() => all(missing)).toThrow('ENOENT');
    await expect(allLater(missing)).rejects.toThrow('ENOENT');
    expect(() => new RecordFileReader('x', { compression: 'gzip' as 'GZIP' })).toThrow("'GZIP' or 'ZLIB'");
    expect(() => new RecordFileReader('x', { bufferSize: 0 })).toThrow('bufferSize');
    expect(() => new RecordFileWriter('x', { append: true, compression: 'ZLIB' })).toThrow(
      "'GZIP', which can go on",
    );
    expect(() => new RecordFileReader('x', { maxRecordBytes: -1 })).toThrow('maxRecordBytes');
  });

  it.runIf(existsSync('/proc/self/fd'))('do not stay open when nobody reads on', async () => {
    const path = join(folder, 'left');
    writeFileSync(path, file(text('a'), text('b')));
    const isOpen = (): boolean =>
      readdirSync('/proc/self/fd').some((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`) === path;
        } catch {
          return false; // closed meanwhile
        }
      });
    for await (const record of new RecordFileReader(path)) {
      expect([record, isOpen()]).toEqual([text('a'), true]);
      break;
    }
    await expect.poll(isOpen).toBe(false);
    for (const record of new RecordFileReader(path)) {
      expect([record, isOpen()]).toEqual([text('a'), true]);
      break;
    }
    expect(isOpen()).toBe(false);
  });

  it('do not fill the memory: a bomb is unpacked in pieces', async () => {
    const path = join(folder, 'bomb');
    // Zero bytes are no record: the first checksum is wrong.
    writeFileSync(path, gzipSync(Buffer.alloc(64 << 20)));
    const reader = new RecordFileReader(path, { compression: 'GZIP' });
    expect(() => all(reader)).toThrow('checksum of the length');
    await expect(allLater(reader)).rejects.toThrow('checksum of the length');
  });

  it('that are damaged, 10,000 times, give a FormatError or records', () => {
    const samples = [file(text('abc'), text(''), text('x'.repeat(200))), file(text('one'))];
    const random = randomSource(11);
    let refused = 0;
    for (let run = 0; run < 10_000; run++) {
      const bytes = mutate(samples[run % 2]!, random);
      try {
        let total = 0;
        for (const record of readRecords(bytes)) total += record.length;
        expect(total).toBeLessThanOrEqual(bytes.length);
      } catch (error) {
        if (!(error instanceof FormatError)) throw new Error(`run ${run}`, { cause: error });
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(5000);
  });
});

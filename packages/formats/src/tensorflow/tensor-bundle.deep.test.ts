import { spawnSync } from 'node:child_process';
import { fstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { crc32c, maskCrc } from '../archives/crc32c.ts';
import { FormatError, UnsupportedFormatError } from '../errors.ts';
import { useNativeFiles } from '../files/native-files.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import { encodeIndex } from './bundle-index.ts';
import { mergeBundles } from './bundle-merge.ts';
import { BundleEntryProto, BundleHeaderProto, type TensorSliceProto } from './bundle-messages.ts';
import { BundleReader } from './bundle-reader.ts';
import type { BundleReading } from './bundle-reading.ts';
import { BundleWriter } from './bundle-writer.ts';
import { writeTable } from './table.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-bundle-'));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;
const fresh = (): string => join(folder, String(count++), 'ckpt-1');
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const floats = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);

type Tensor = [key: string, dtype: string, shape: number[], data: Uint8Array | (string | Uint8Array)[]];
const tensors: Tensor[] = [
  ['w/.ATTRIBUTES/VARIABLE_VALUE', 'float32', [2, 2], floats(1, 2, 3, 4)],
  ['step', 'int64', [], new Uint8Array(BigInt64Array.of(-7n).buffer)],
  ['names', 'string', [3], ['ab', '', Uint8Array.of(0, 255)]],
  ['half', 'float16', [2], Uint8Array.of(0, 0x3c, 0, 0xc0)],
  ['none', 'float32', [0, 4], new Uint8Array(0)],
  ['complex', 'complex64', [1], floats(1, -1)],
  ['ü', 'uint32', [1], Uint8Array.of(255, 255, 255, 255)],
];

function expectTensors(reader: BundleReader): void {
  expect(reader.read('w/.ATTRIBUTES/VARIABLE_VALUE')).toEqual({
    dtype: 'float32',
    shape: [2, 2],
    data: Float32Array.of(1, 2, 3, 4),
  });
  expect(reader.read('step')).toEqual({ dtype: 'int64', shape: [], data: BigInt64Array.of(-7n) });
  expect(reader.read('names').data).toEqual([text('ab'), text(''), Uint8Array.of(0, 255)]);
  expect(reader.read('half').data).toEqual(Float32Array.of(1, -2));
  expect(reader.read('none')).toEqual({ dtype: 'float32', shape: [0, 4], data: new Float32Array(0) });
  expect(reader.read('complex')).toEqual({ dtype: 'complex64', shape: [1], data: Float32Array.of(1, -1) });
  expect(reader.readBytes('complex')).toEqual(floats(1, -1));
  expect(reader.read('ü').data).toEqual(Uint32Array.of(2 ** 32 - 1));
}

describe.each([1, 3])('a checkpoint in %i data files', (shards) => {
  const files = (prefix: string): string[] => readdirSync(join(prefix, '..')).sort();
  const names = [
    ...Array.from({ length: shards }, (_, i) => `ckpt-1.data-0000${i}-of-0000${shards}`),
    'ckpt-1.index',
  ];

  it('is written and read', () => {
    const prefix = fresh();
    using writer = new BundleWriter(prefix, { shards });
    for (const tensor of tensors) writer.add(...tensor);
    expect(files(prefix).every((name) => name.endsWith('.tmp'))).toBe(true);
    writer.finish();
    expect(files(prefix)).toEqual(names);
    const reader = BundleReader.openSync(prefix);
    expectTensors(reader);
    expect([...reader.entries().keys()]).toEqual(tensors.map(([key]) => key).sort());
    expect(reader.entries().get('half')).toMatchObject({ dtype: 'float16', shape: [2], bytes: 4 });
  });

  it('is written and read without blocking', async () => {
    const prefix = fresh();
    using writer = new BundleWriter(prefix, { shards });
    for (const tensor of tensors) await writer.addAsync(...tensor);
    await writer.finishAsync();
    expect(files(prefix)).toEqual(names);
    const reader = await BundleReader.open(prefix);
    expectTensors(reader);
    expect((await reader.readAsync('names')).data).toEqual([text('ab'), text(''), Uint8Array.of(0, 255)]);
    const target = new Uint8Array(8);
    await reader.readIntoAsync('complex', target);
    expect(target).toEqual(floats(1, -1));
  });

  it('holds large and small tensors as they come', async () => {
    const sizes = fc.array(fc.constantFrom(0, 1, 1000, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 3_000_001), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(sizes, fc.boolean(), async (list, later) => {
        const prefix = fresh();
        using writer = new BundleWriter(prefix, { shards });
        const data = list.map((size, i) => new Uint8Array(size).fill(i + 1));
        for (const [i, bytes] of data.entries()) {
          if (later) await writer.addAsync(`${i}`, 'uint8', [bytes.length], bytes);
          else writer.add(`${i}`, 'uint8', [bytes.length], bytes);
        }
        if (later) await writer.finishAsync();
        else writer.finish();
        const reader = BundleReader.openSync(prefix);
        for (const [i, bytes] of data.entries()) {
          expect(Buffer.compare(reader.readBytes(`${i}`), bytes)).toBe(0);
          const target = new Uint8Array(bytes.length);
          reader.readInto(`${i}`, target);
          expect(Buffer.compare(target, bytes)).toBe(0);
        }
        rmSync(join(prefix, '..'), { recursive: true });
      }),
      { numRuns: 12 },
    );
  });
});

describe('a writer', () => {
  it('leaves nothing behind when it is given up', () => {
    const prefix = fresh();
    {
      using writer = new BundleWriter(prefix);
      writer.add('a', 'float32', [1], floats(1));
    }
    expect(readdirSync(join(prefix, '..'))).toEqual([]);
  });

  it('refuses what no checkpoint can hold, and goes on', () => {
    const prefix = fresh();
    using writer = new BundleWriter(prefix);
    writer.add('a', 'float32', [1], floats(1));
    expect(() => writer.add('a', 'float32', [1], floats(1))).toThrow('tensor "a": expected each key once');
    expect(() => writer.add('', 'float32', [1], floats(1))).toThrow(FormatError);
    expect(() => writer.add('b', 'float33', [1], floats(1))).toThrow('got float33');
    expect(() => writer.add('b', 'float32', [2], floats(1))).toThrow('expected 8 bytes, got 4');
    expect(() => writer.add('b', 'float32', [-1], floats(1))).toThrow('shape');
    expect(() => writer.add('b', 'float32', [1], ['x'])).toThrow(FormatError);
    expect(() => writer.add('b', 'string', [2], ['x'])).toThrow('expected 2 strings, got 1');
    writer.finish();
    expect([...BundleReader.openSync(prefix).entries().keys()]).toEqual(['a']);
    expect(() => writer.add('c', 'float32', [1], floats(1))).toThrow('closed');
    expect(() => new BundleWriter(prefix, { shards: 0 })).toThrow('shards');
  });

  it('does one thing at a time', async () => {
    using writer = new BundleWriter(fresh());
    const large = writer.addAsync('a', 'uint8', [3_000_000], new Uint8Array(3_000_000));
    expect(() => writer.add('b', 'float32', [1], floats(1))).toThrow('busy');
    await large;
    writer.add('b', 'float32', [1], floats(1));
  });

  it('needs little memory for much, and lets others work', async () => {
    const prefix = fresh();
    const data = new Uint8Array(96 * 2 ** 20).fill(1);
    const small = data.subarray(0, 1000);
    const before = process.resourceUsage().maxRSS;
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    using writer = new BundleWriter(prefix);
    await writer.addAsync('large', 'uint8', [data.length], data);
    for (let i = 0; i < 1000; i++) await writer.addAsync(`${i}`, 'uint8', [1000], small);
    await writer.finishAsync();
    const reader = await BundleReader.open(prefix);
    await reader.readIntoAsync('large', data);
    isOver = true;
    expect(turns).toBeGreaterThan(5);
    // In KB.
    if (process.env.EAGRE_SANITIZED === undefined)
      expect(process.resourceUsage().maxRSS - before).toBeLessThan(64 * 1024);
    rmSync(join(prefix, '..'), { recursive: true });
  });

  it('puts a new checkpoint in place of an old one', () => {
    const prefix = fresh();
    for (const value of [1, 2]) {
      using writer = new BundleWriter(prefix);
      writer.add('a', 'float32', [1], floats(value));
      writer.finish();
    }
    expect(BundleReader.openSync(prefix).read('a').data).toEqual(Float32Array.of(2));
  });
});

it('has the disk begin while a large checkpoint is written', async () => {
  const prefix = fresh();
  const bytes = new Uint8Array(2 ** 20);
  const beginSync = vi.fn();
  const readRanges = (_: number, places: Float64Array) => new Float64Array(places.length / 2).fill(-1);
  useNativeFiles({ readRanges, beginRanges: vi.fn(), finishRanges: vi.fn(), beginSync });
  try {
    using writer = new BundleWriter(prefix);
    for (let i = 0; i < 40; i++) {
      // Without blocking, nothing is begun that could block.
      if (i < 5) await writer.addAsync(`${i}`, 'uint8', [bytes.length], bytes);
      else writer.add(`${i}`, 'uint8', [bytes.length], bytes);
    }
    writer.finish();
  } finally {
    useNativeFiles(undefined);
  }
  expect(beginSync.mock.calls.map(([, ...range]) => range)).toEqual([
    [0, 16 * 2 ** 20],
    [16 * 2 ** 20, 16 * 2 ** 20],
  ]);
});

describe('a writer among others', () => {
  it('takes a prefix that ends in a slash', () => {
    const prefix = `${fresh()}/`;
    const writer = new BundleWriter(prefix);
    writer.add('a', 'uint8', [1], Uint8Array.of(3));
    writer.finish();
    expect(readdirSync(prefix).sort()).toEqual(['.data-00000-of-00001', '.index']);
    expect(BundleReader.openSync(prefix).readBytes('a')).toEqual(Uint8Array.of(3));
  });

  it('of the same path at the same time: one of them is there, whole', async () => {
    const prefix = fresh();
    const write = async (value: number, size: number): Promise<void> => {
      const writer = new BundleWriter(prefix);
      await writer.addAsync('a', 'uint8', [size], new Uint8Array(size).fill(value));
      await writer.finishAsync();
    };
    for (let round = 0; round < 10; round++) {
      await Promise.all([write(1, 3_000_000), write(2, 5), write(3, 70_000)]);
      const bytes = BundleReader.openSync(prefix).readBytes('a');
      expect(bytes.every((byte) => byte === bytes[0])).toBe(true);
    }
    expect(readdirSync(join(prefix, '..')).length).toBe(2);
  });

  it('leaves what was there alone when there is no room for the index', () => {
    const prefix = fresh();
    const begin = (value: number): BundleWriter => {
      const writer = new BundleWriter(prefix);
      writer.add('a', 'uint8', [1], Uint8Array.of(value));
      return writer;
    };
    begin(1).finish();
    const second = begin(2);
    const full = vi.spyOn(process.getBuiltinModule('node:fs'), 'writeFileSync').mockImplementation(() => {
      throw new Error('ENOSPC');
    });
    expect(() => second.finish()).toThrow('ENOSPC');
    full.mockRestore();
    second.abort();
    expect(BundleReader.openSync(prefix).readBytes('a')).toEqual(Uint8Array.of(1));
    expect(readdirSync(join(prefix, '..')).length).toBe(2);
  });
});

describe('parts', () => {
  it('become one checkpoint', () => {
    const target = fresh();
    const parts = [`${target}-part-0`, `${target}-part-1`];
    for (const [i, part] of parts.entries()) {
      using writer = new BundleWriter(part, { shards: i + 1 });
      for (const tensor of tensors.filter((_, at) => at % 2 === i)) writer.add(...tensor);
      writer.finish();
    }
    mergeBundles(parts, target);
    expect(readdirSync(join(target, '..')).sort()).toEqual([
      ...[0, 1, 2].map((i) => `ckpt-1.data-0000${i}-of-00003`),
      'ckpt-1.index',
    ]);
    expectTensors(BundleReader.openSync(target));
  });

  it('with the same tensor stay as they are', () => {
    const target = fresh();
    const parts = ['x', 'y'].map((name) => `${target}-${name}`);
    for (const part of parts) {
      using writer = new BundleWriter(part);
      writer.add('a', 'float32', [1], floats(1));
      writer.finish();
    }
    expect(() => mergeBundles(parts, target)).toThrow('each key once');
    for (const part of parts) expect(BundleReader.openSync(part).has('a')).toBe(true);
  });
});

describe('a reader', () => {
  it('verifies without keeping', () => {
    const prefix = fresh();
    const writer = new BundleWriter(prefix);
    const bytes = Uint8Array.from({ length: 1_500_000 }, (_, i) => i % 251);
    writer.add('a', 'uint8', [bytes.length], bytes);
    writer.add('b', 'string', [], ['x']);
    writer.finish();
    BundleReader.openSync(prefix).verify(['a']);
    expect(() => BundleReader.openSync(prefix).verify(['a', 'b'])).toThrow(UnsupportedFormatError);
    expect(() => BundleReader.openSync(prefix).verify(['a', 'c'])).toThrow('no tensor "c"');
    const file = `${prefix}.data-00000-of-00001`;
    const data = readFileSync(file);
    data[1_400_000] = 255;
    writeFileSync(file, data);
    expect(() => BundleReader.openSync(prefix).verify(['a'])).toThrow(/tensor "a": checksum/);
    writeFileSync(file, data.subarray(0, 1_000_000));
    expect(() => BundleReader.openSync(prefix).verify(['a'])).toThrow(/truncated data/);
  });

  it('has native code read where it was given some, and finds out itself what that cannot read', () => {
    const prefix = sample();
    const path = `${prefix}.data-00000-of-00001`;
    const reader = BundleReader.openSync(prefix);
    const { offset } = reader.entries().get('complex') ?? {};
    const target = new Uint8Array(8);
    const native = vi.fn((_file: number, places: Float64Array, targets?: readonly Uint8Array[]) =>
      Array.from({ length: places.length / 2 }, (_, i) => {
        const [at = 0, length = 0] = places.subarray(2 * i);
        const part = readFileSync(path).subarray(at, at + length);
        targets?.[i]?.set(part);
        return part.length === length ? crc32c(part) : -1;
      }),
    );
    try {
      useNativeFiles({
        readRanges: native,
        beginRanges: vi.fn(),
        finishRanges: vi.fn(),
        beginSync: () => undefined,
      });
      const place = Float64Array.of(offset as number, 8);
      reader.verify(['complex']);
      expect(native).toHaveBeenLastCalledWith(expect.any(Number), place, undefined);
      reader.readInto('complex', target);
      expect(native).toHaveBeenLastCalledWith(expect.any(Number), place, [target]);
      expect(target).toEqual(floats(1, -1));
      expect(reader.read('names').data).toEqual([text('ab'), text(''), Uint8Array.of(0, 255)]);
      native.mockImplementation(() => [7]);
      expect(() => reader.verify(['complex'])).toThrow(/tensor "complex": checksum/);
      native.mockImplementation(() => [-1]);
      reader.readInto('complex', target.fill(0));
      expect(target).toEqual(floats(1, -1));
      writeFileSync(path, readFileSync(path).subarray(0, 4));
      expect(() => reader.verify(['complex'])).toThrow(
        /tensor "complex": truncated data: expected \d+ bytes/,
      );
    } finally {
      useNativeFiles(undefined);
    }
  });

  it('has native code read on another thread, and tells what is whole', () => {
    const prefix = sample();
    const path = `${prefix}.data-00000-of-00001`;
    const reader = BundleReader.openSync(prefix);
    const stopped: unknown[] = [];
    const native = {
      readRanges: vi.fn(),
      beginSync: vi.fn(),
      beginRanges: vi.fn((file: number, places: Float64Array, targets: readonly Uint8Array[]) => ({
        file,
        places,
        targets,
      })),
      finishRanges: vi.fn((reading: unknown, reads: boolean) => {
        const { file, places, targets } = reading as ReturnType<typeof native.beginRanges>;
        // The file is still open.
        fstatSync(file);
        if (!reads) {
          stopped.push(reading);
          return undefined;
        }
        return targets.map((target, i) => {
          target.set(readFileSync(path).subarray(places[2 * i], (places[2 * i] as number) + target.length));
          return crc32c(target);
        });
      }),
    };
    expect(reader.begin([['complex', new Uint8Array(8)]])).toBeUndefined();
    try {
      useNativeFiles(native);
      const target = new Uint8Array(8);
      const reading = reader.begin([['complex', target]]) as BundleReading;
      expect([...reading.finish()]).toEqual(['complex']);
      expect(target).toEqual(floats(1, -1));
      const [file] = native.beginRanges.mock.calls[0] as [number, ...unknown[]];
      expect(() => fstatSync(file)).toThrow('EBADF');
      reader.begin([['complex', target]])?.stop();
      expect(stopped).toHaveLength(2);
      native.finishRanges.mockImplementation((_, reads) => (reads ? [7] : undefined));
      expect(reader.begin([['complex', target]])?.finish().size).toBe(0);
      native.finishRanges.mockImplementation((_, reads) => (reads ? [-1] : undefined));
      expect(reader.begin([['complex', target]])?.finish().size).toBe(0);
      expect(() => reader.begin([['complex', new Uint8Array(7)]])).toThrow('room for tensor "complex"');
      native.beginRanges.mockImplementation(() => {
        throw new RangeError('no memory');
      });
      expect(() => reader.begin([['complex', target]])).toThrow('no memory');
    } finally {
      useNativeFiles(undefined);
    }
  });

  it.runIf(process.platform === 'linux')('does not wait for pipes', async () => {
    const prefix = sample();
    const path = `${prefix}.data-00000-of-00001`;
    rmSync(path);
    expect(spawnSync('mkfifo', [path]).status).toBe(0);
    const reader = BundleReader.openSync(prefix);
    expect(() => reader.verify(['step'])).toThrow('expected a regular one');
    expect(() => reader.readBytes('step')).toThrow(FormatError);
    await expect(reader.readAsync('step')).rejects.toThrow(FormatError);
    rmSync(`${prefix}.index`);
    expect(spawnSync('mkfifo', [`${prefix}.index`]).status).toBe(0);
    expect(() => BundleReader.openSync(prefix)).toThrow('expected a regular one');
    await expect(BundleReader.open(prefix)).rejects.toThrow(FormatError);
    expect(() => mergeBundles([prefix], `${prefix}-all`)).toThrow(FormatError);
  });

  const sample = (): string => {
    const prefix = fresh();
    using writer = new BundleWriter(prefix);
    for (const tensor of tensors) writer.add(...tensor);
    writer.finish();
    return prefix;
  };

  it('says what is missing', async () => {
    const prefix = sample();
    const reader = BundleReader.openSync(prefix);
    expect(() => reader.read('nothing')).toThrow('no tensor "nothing"');
    expect(() => reader.readBytes('names')).toThrow(UnsupportedFormatError);
    expect(() => reader.readInto('step', new Uint8Array(4))).toThrow('expected 8 bytes, got 4');
    rmSync(`${prefix}.data-00000-of-00001`);
    expect(() => reader.read('step')).toThrow('ENOENT');
    await expect(reader.readAsync('step')).rejects.toThrow('ENOENT');
    expect(() => BundleReader.openSync(`${prefix}-none`)).toThrow('ENOENT');
    await expect(BundleReader.open(`${prefix}-none`)).rejects.toThrow('ENOENT');
  });

  it('keeps few files open, and none for long', async () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    if (process.platform !== 'linux') return;
    const prefix = sample();
    const before = open();
    for (let i = 0; i < 100; i++) BundleReader.openSync(prefix).read('step');
    expect(open() - before).toBeLessThan(20);
    const reader = BundleReader.openSync(prefix);
    await Promise.all(tensors.map(([key]) => (key === 'complex' ? undefined : reader.readAsync(key))));
    await expect.poll(() => open() - before).toBeLessThanOrEqual(0);
  });

  it('finds damaged data', async () => {
    const prefix = sample();
    const path = `${prefix}.data-00000-of-00001`;
    const good = readFileSync(path);
    const reader = BundleReader.openSync(prefix);
    for (let at = 0; at < good.length; at++) {
      const bad = new Uint8Array(good);
      bad[at]! ^= 16;
      writeFileSync(path, bad);
      const outcomes = tensors.map(([key]) => {
        try {
          if (key === 'names') reader.read(key);
          else reader.readBytes(key);
          return undefined;
        } catch (error) {
          return error;
        }
      });
      const errors = outcomes.filter((outcome) => outcome !== undefined);
      expect(errors).toHaveLength(1);
      expect(errors[0]).toBeInstanceOf(FormatError);
    }
    writeFileSync(path, good.subarray(0, 4));
    expect(() => reader.read('step')).toThrow('truncated data');
    await expect(reader.readIntoAsync('step', new Uint8Array(8))).rejects.toThrow('truncated data');
  });

  const openIndex = (...entries: [string, Uint8Array][]): BundleReader => {
    const prefix = fresh();
    new BundleWriter(prefix).abort();
    writeFileSync(`${prefix}.index`, writeTable(entries.map(([key, value]) => [text(key), value])));
    return BundleReader.openSync(prefix);
  };
  const header = BundleHeaderProto.encode({ num_shards: 1 });

  it('refuses what it cannot read: other byte orders, newer versions', () => {
    const big = BundleHeaderProto.encode({ num_shards: 1, endianness: 1 });
    expect(() => openIndex(['', big])).toThrow(UnsupportedFormatError);
    const newer = BundleHeaderProto.encode({ num_shards: 1, version: { min_consumer: 2 } });
    expect(() => openIndex(['', newer])).toThrow(UnsupportedFormatError);
  });

  it('refuses parts that do not make up a variable', () => {
    const shape = { dim: [{ size: 4 }, { size: 2 }] };
    const opened = (...slices: TensorSliceProto[]): (() => BundleReader) => {
      const sliced = BundleEntryProto.encode({ dtype: 1, shape, slices });
      return () => openIndex(['', header], ['\0part', Uint8Array.of(1)], ['v', sliced]);
    };
    const rows = (start: number, length: number | bigint): TensorSliceProto => ({
      extent: [{ start, length }, {}],
    });
    expect(opened(rows(0, 1), rows(1, 3))).toThrow('no part at [0,0]');
    expect(opened(rows(0, 1), rows(2, 2))).toThrow('parts: expected one at 1, got 2');
    expect(opened(rows(0, 3), rows(2, 2))).toThrow('parts: expected one at 3, got 2');
    expect(opened(rows(0, 1))).toThrow('parts: expected 4 rows, got 1');
    expect(opened(rows(3, 2))).toThrow(FormatError);
    expect(opened(rows(-1, 2))).toThrow(FormatError);
    expect(opened(rows(0, 2n ** 60n))).toThrow(FormatError);
    expect(opened({ extent: [{ start: 0, length: 4 }] })).toThrow('2 axes');
    const quarter = (start: number): TensorSliceProto => ({ extent: [{ start, length: 2 }, { length: 1 }] });
    expect(opened(quarter(0), quarter(2))).toThrow(UnsupportedFormatError);
  });

  it('refuses an index that makes no sense', () => {
    expect(() => openIndex()).toThrow('no header');
    expect(() => openIndex(['', BundleHeaderProto.encode({})])).toThrow('number of data files');
    const bad: BundleEntryProto[] = [
      {},
      { dtype: 77 },
      { dtype: 1, size: 5 },
      { dtype: 1, size: 4, shard_id: 1 },
      { dtype: 1, size: 4, shard_id: -1 },
      { dtype: 1, size: 4, offset: -4 },
      { dtype: 7, size: -1 },
      { dtype: 1, shape: { dim: [{ size: 2 ** 40 }, { size: 2 ** 40 }] } },
      { dtype: 1, shape: { unknown_rank: true } },
    ];
    for (const entry of bad)
      expect(() => openIndex(['', header], ['v', BundleEntryProto.encode(entry)])).toThrow(FormatError);
    // A size that is right for the shape, but not there.
    const shape = { dim: [{ size: 2 ** 40 }] };
    const huge = openIndex(['', header], ['v', BundleEntryProto.encode({ dtype: 4, shape, size: 2 ** 40 })]);
    writeFileSync(`${huge.prefix}.data-00000-of-00001`, '');
    expect(() => huge.read('v')).toThrow('truncated data');
  });

  it('meets damaged checkpoints, 10,000 of them, with a FormatError or values', () => {
    const prefix = sample();
    const reader = BundleReader.openSync(prefix);
    const entries = new Map(reader.entries());
    const index = encodeIndex(1, entries);
    const data = new Uint8Array(readFileSync(`${prefix}.data-00000-of-00001`));
    const blockBytes = dataBlockBytes(index);
    const random = randomSource(13);
    const result = { read: 0, refused: 0 };
    const attempt = (run: number): void => {
      try {
        const damaged = BundleReader.openSync(prefix);
        let total = 0;
        for (const [key, entry] of damaged.entries()) {
          const value = damaged.read(key);
          const numbers = entry.shape.reduce((a, b) => a * b, entry.dtype.startsWith('complex') ? 2 : 1);
          expect(value.data.length).toBe(numbers);
          total += value.data.length;
        }
        expect(total).toBeLessThan(1000);
        result.read++;
      } catch (error) {
        // A damaged number of data files leads to one that is not there.
        const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
        if (!(error instanceof FormatError || missing)) throw new Error(`run ${run}`, { cause: error });
        result.refused++;
      }
    };
    let run = 0;
    for (; run < 3500; run++) {
      const bad = mutate(index, random);
      writeFileSync(`${prefix}.index`, run % 3 > 0 ? repaired(bad, blockBytes) : bad);
      attempt(run);
    }
    writeFileSync(`${prefix}.index`, index);
    for (; run < 5000; run++) {
      writeFileSync(`${prefix}.data-00000-of-00001`, mutate(data, random));
      attempt(run);
    }
    expect(result.refused).toBeGreaterThan(run / 3);
  });
});

/** The length of the first block of a table. */
function dataBlockBytes(table: Uint8Array): number {
  const view = new DataView(table.buffer, table.byteOffset);
  for (let size = 8; ; size++)
    if (view.getUint32(size + 1, true) === maskCrc(crc32c(table.subarray(0, size + 1)))) return size;
}

/** A table with the checksum of its first block put right. */
function repaired(table: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(table);
  if (size + 5 <= out.length)
    new DataView(out.buffer).setUint32(size + 1, maskCrc(crc32c(out.subarray(0, size + 1))), true);
  return out;
}

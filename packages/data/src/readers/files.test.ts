import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import '@eagre/backend-js';
import { EagreError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { RecordFileWriter } from '@eagre/formats';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';
import { golden, goldenFolder, goldenPath } from '../testing/golden.ts';
import { FixedLengthRecordDataset, TextLineDataset, TFRecordDataset } from './file-datasets.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-data-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const texts = (dataset: Dataset<Tensor>): string[] => [...dataset].map((t) => t.item<string>());
const bytes = (dataset: Dataset<Tensor>): number[][] =>
  [...dataset].map((t) => [...(t.data() as Uint8Array)]);
const parts = [0, 1, 2, 3].map((i) => goldenPath(`part-${i}.txt`));

/** What is left of a pass that is saved after each number of elements, and restored. */
function expectRestorable(make: () => Dataset<Tensor>): void {
  const all = [...make()].map((t) => t.toString());
  for (let taken = 0; taken <= all.length; taken++) {
    const first = make().iterator();
    for (let i = 0; i < taken; i++) first.next();
    const second = make().iterator();
    second.restoreState(JSON.parse(JSON.stringify(first.saveState())));
    first.close();
    expect([...second].map((t) => t.toString())).toEqual(all.slice(taken));
  }
}

describe('TextLineDataset', () => {
  for (const [name, lines] of Object.entries(golden.lines)) {
    it(`reads what TensorFlow reads: ${name}`, () => {
      for (const bufferSize of [1, 3, 1000])
        expect(texts(new TextLineDataset(goldenPath(`lines-${name}.txt`), { bufferSize }))).toEqual(lines);
    });
  }

  it('reads packed files, also by `for await`', async () => {
    const packed = new TextLineDataset(goldenPath('lines.txt.gz'), { compressionType: 'GZIP' });
    const found: string[] = [];
    for await (const line of packed) found.push(line.item<string>());
    expect(found).toEqual(['one', 'two']);
    expect(packed.elementSpec?.toString()).toContain('string');
  });

  for (const [reads, lines] of Object.entries(golden.turns)) {
    it(`takes turns between ${reads} files as TensorFlow does`, () => {
      const make = () => new TextLineDataset(parts, { numParallelReads: Number(reads) });
      expect(texts(make())).toEqual(lines);
      expectRestorable(make);
    });
  }

  it('refuses bytes that are no text, and names the place', () => {
    writeFileSync(join(root, 'a'), Uint8Array.of(0x61, 0x0a, 0xff, 0x0a, 0x62, 0x0a));
    const iterator = new TextLineDataset(join(root, 'a')).iterator();
    iterator.next();
    expect(() => iterator.next()).toThrow(/a: the line at byte 2 is not UTF-8/);
  });
});

describe('TFRecordDataset', () => {
  it('reads packed and plain files alike', () => {
    const plain = bytes(new TFRecordDataset(goldenPath('examples.tfrecord')));
    expect(plain.length).toBe(4);
    for (const bufferSize of [7, 2 ** 18])
      for (const compressionType of ['GZIP', 'ZLIB'] as const) {
        const path = goldenPath(`examples-${compressionType.toLowerCase()}.tfrecord`);
        expect(bytes(new TFRecordDataset(path, { compressionType, bufferSize }))).toEqual(plain);
      }
  });

  it('goes on where it was, also in packed files', () => {
    const plain = goldenPath('examples.tfrecord');
    expectRestorable(() => new TFRecordDataset([plain, plain], { numParallelReads: 2 }));
    expectRestorable(
      () => new TFRecordDataset(goldenPath('examples-zlib.tfrecord'), { compressionType: 'ZLIB' }),
    );
  });

  it('takes names from a dataset', () => {
    const names = Dataset.listFiles(`${goldenFolder}/part-*.txt`, { shuffle: false });
    expect(texts(new TextLineDataset(names))).toEqual(golden.turns['1']);
    expectRestorable(() => new TextLineDataset(Dataset.listFiles(`${goldenFolder}/part-*.txt`, { seed: 5 })));
  });

  it('names files that are missing, and goes on behind damaged ones', () => {
    const iterator = new TFRecordDataset([join(root, 'none'), goldenPath('examples.tfrecord')]).iterator();
    expect(() => iterator.next()).toThrow(/TFRecordDataset: .*none: there is no such file/);
    expect((iterator.next().value as Tensor).dtype).toBe('uint8');
    iterator.close();
    expect(iterator.next().done).toBe(true);
  });

  it('refuses wrong options', () => {
    expect(() => new TFRecordDataset('a', { compressionType: 'ZIP' as 'ZLIB' })).toThrow(/compressionType/);
    expect(() => new TFRecordDataset('a', { numParallelReads: 0 })).toThrow(/numParallelReads/);
    expect(() => new TFRecordDataset('')).toThrow(/file names/);
  });

  it('gives records or typed errors whatever the bytes', () => {
    const good = readFileSync(goldenPath('examples-gzip.tfrecord'));
    let failed = 0;
    for (let i = 0; i < good.length; i += 3) {
      const damaged = Uint8Array.from(good);
      damaged[i] = (damaged[i] as number) ^ 0x55;
      writeFileSync(join(root, 'damaged'), i % 2 ? damaged : damaged.subarray(0, i));
      try {
        bytes(new TFRecordDataset(join(root, 'damaged'), { compressionType: 'GZIP' }));
      } catch (error) {
        expect(error).toBeInstanceOf(EagreError);
        failed++;
      }
    }
    expect(failed).toBeGreaterThan(100);
  });

  it('reads what was written', () => {
    const path = join(root, 'w');
    using writer = new RecordFileWriter(path);
    for (let i = 0; i < 3; i++) writer.write(new Uint8Array(i).fill(i));
    writer.close();
    expect(bytes(new TFRecordDataset(path))).toEqual([[], [1], [2, 2]]);
  });
});

describe('FixedLengthRecordDataset', () => {
  it('reads what TensorFlow reads', () => {
    const make = (bufferSize = 100) =>
      new FixedLengthRecordDataset(goldenPath('fixed.bin'), 5, {
        headerBytes: 3,
        footerBytes: 2,
        bufferSize,
      });
    expect(bytes(make())).toEqual(golden.fixed);
    expect(bytes(make(1))).toEqual(golden.fixed);
    expectRestorable(make);
    writeFileSync(join(root, 'f.gz'), gzipSync(readFileSync(goldenPath('fixed.bin'))));
    const packed = new FixedLengthRecordDataset(join(root, 'f.gz'), 5, {
      headerBytes: 3,
      footerBytes: 2,
      compressionType: 'GZIP',
    });
    expect(bytes(packed)).toEqual(golden.fixed);
  });

  it('refuses files whose size does not fit', () => {
    expect(() => bytes(new FixedLengthRecordDataset(goldenPath('fixed.bin'), 6))).toThrow(/1 bytes are left/);
    expect(() => new FixedLengthRecordDataset('a', 0)).toThrow(/recordBytes/);
  });
});

describe('Dataset.listFiles', () => {
  const make = (...names: string[]): void => {
    for (const name of names) {
      mkdirSync(join(root, name, '..'), { recursive: true });
      writeFileSync(join(root, name), '');
    }
  };
  const found = (...patterns: string[]): string[] =>
    texts(
      Dataset.listFiles(
        patterns.map((p) => `${root}/${p}`),
        { shuffle: false },
      ),
    ).map((p) => p.slice(root.length + 1));

  it('matches patterns', () => {
    make('a1.txt', 'a2.txt', 'b1.csv', 'd/a3.txt', 'd/e/a4.txt', '.h.txt', 'x[1].txt');
    expect(found('a?.txt')).toEqual(['a1.txt', 'a2.txt']);
    expect(found('*.{csv,txt}')).toEqual(['.h.txt', 'a1.txt', 'a2.txt', 'b1.csv', 'x[1].txt']);
    expect(found('**/a[3-9].txt')).toEqual(['d/a3.txt', 'd/e/a4.txt']);
    expect(found('d/*')).toEqual(['d/a3.txt']);
    expect(found('d/**')).toEqual(['d/a3.txt', 'd/e/a4.txt']);
    expect(found('[!a]*.txt', '.h*', 'b1.csv', 'b*')).toEqual(['.h.txt', 'b1.csv', 'x[1].txt']);
    expect(found('*/*/*.txt')).toEqual(['d/e/a4.txt']);
    // As TensorFlow: a backslash makes a character plain.
    expect(found('x\\[1\\].txt', 'a\\1.txt', '\\*')).toEqual(['a1.txt', 'x[1].txt']);
    expect(texts(Dataset.listFiles(constant([`${root}/b*`]), { shuffle: false }))).toEqual([
      `${root}/b1.csv`,
    ]);
    expect(() => Dataset.listFiles({} as never)).toThrow(/filePattern must be given/);
    symlinkSync(join(root, 'd'), join(root, 'link'));
    expect(found('link/a3.txt', 'l*/*.txt')).toEqual(['link/a3.txt']);
    expect(() => found('*.png')).toThrow(/no file matches/);
    expect(() => found('[a')).toThrow(/without its \]/);
    expect(() => found('{a')).toThrow(/without its \}/);
  });

  it('shuffles by the seed, anew at each pass', () => {
    make(...Array.from({ length: 20 }, (_, i) => `f${String(i).padStart(2, '0')}`));
    const a = Dataset.listFiles(`${root}/*`, { seed: 3 });
    const b = Dataset.listFiles(`${root}/*`, { seed: 3 });
    const first = texts(a);
    expect(texts(b)).toEqual(first);
    expect(texts(a)).not.toEqual(first);
    expect([...first].sort()).toEqual(texts(Dataset.listFiles(`${root}/*`, { shuffle: false })));
    expect(a.cardinality()).toBe(20);
    expectRestorable(() => Dataset.listFiles(`${root}/f0*`, { seed: 3 }).repeat(3));
  });
});

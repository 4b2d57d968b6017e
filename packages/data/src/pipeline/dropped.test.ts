// Passes that nobody ends: they keep neither files nor threads, in synchronous loops either.
import { mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import {
  DataLossError,
  FailedPreconditionError,
  NotFoundError,
  ResourceExhaustedError,
} from '@eagre/backend';
import { ones, type Tensor } from '@eagre/core';
import { encodeRecord } from '@eagre/formats';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FixedLengthRecordDataset, TextLineDataset, TFRecordDataset } from '../readers/file-datasets.ts';
import { mapOnWorkers } from '../workers/map-on-workers.ts';
import { Dataset } from './dataset.ts';
import type { DatasetIterator } from './dataset-iterator.ts';

let folder: string;
let records: string;
let lines: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-dropped-'));
  records = join(folder, 'records');
  lines = join(folder, 'lines');
  writeFileSync(
    records,
    Buffer.concat(Array.from({ length: 50 }, (_, i) => encodeRecord(new Uint8Array(9).fill(i)))),
  );
  writeFileSync(lines, Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join(''));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** How many descriptors of this process are of files in the folder. */
const open = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false;
    }
  }).length;
const linux = process.platform === 'linux';

test.runIf(linux)('thousands of passes, dropped one after the other without a pause', async () => {
  const all = [
    new TFRecordDataset(records, { bufferSize: 20 }),
    new TextLineDataset(lines, { bufferSize: 20 }),
    new FixedLengthRecordDataset(records, 25, { bufferSize: 20 }),
  ];
  const kept = [];
  for (let i = 0; i < 3000; i++) {
    const pass = all[i % 3]?.iterator();
    pass?.next();
    if (i % 100 === 0) kept.push(pass);
    if (i % 500 === 0) expect(open()).toBeLessThanOrEqual(20);
  }
  expect(open()).toBeLessThanOrEqual(20);
  await expect.poll(open).toBe(0);
  // Those that were kept go on.
  for (const [i, pass] of kept.entries()) {
    const next = pass?.next().value;
    if ((i * 100) % 3 === 1) expect(next?.item()).toBe('line 1');
    else expect(next?.size).toBeGreaterThan(0);
  }
});

test.runIf(linux)('a pass that is left or fails closes its file at once', async () => {
  const dataset = new TextLineDataset(lines, { bufferSize: 20 });
  await expect.poll(open).toBe(0);
  for (const _ of dataset) break;
  expect(open()).toBe(0);
  expect(() => {
    for (const _ of dataset) throw new Error('enough');
  }).toThrow('enough');
  expect(open()).toBe(0);
  for await (const _ of dataset) break;
  expect(open()).toBe(0);
  expect([...dataset]).toHaveLength(50);
  expect(open()).toBe(0);
});

test.runIf(linux)(
  'passes that keep what they give keep no file open, and leave nothing once they are gone',
  async () => {
    const at = join(folder, 'kept');
    const all = [
      new TextLineDataset(lines).cache(at),
      new TextLineDataset(lines).snapshot(at, { compression: 'GZIP' }),
      // More than is gathered before it is written.
      Dataset.range(3)
        .map((x) => x.cast('float32').mul(ones([50_000])))
        .cache(at),
    ];
    const dropMany = (): void => {
      for (let i = 0; i < 60; i++) {
        const pass = all[i % 3]?.iterator() as DatasetIterator<Tensor>;
        pass.next();
        pass.next();
        expect(open()).toBeLessThanOrEqual(20);
      }
    };
    dropMany();
    expect(readdirSync(folder).some((name) => name.startsWith('.kept.'))).toBe(true);
    const kept = (): number => {
      (globalThis.gc as () => void)();
      return readdirSync(folder).filter((name) => name.includes('kept')).length;
    };
    // The engine may still hold a few.
    await expect.poll(kept).toBeLessThan(5);
    // One that is kept goes on.
    expect([...(all[2] as Dataset<Tensor>)].map((x) => x.size)).toEqual([50_000, 50_000, 50_000]);
    expect([...Dataset.load(at)]).toHaveLength(3);
  },
);

test('what the system refuses is told by its name', () => {
  const first = (path: string): unknown => new TextLineDataset(path).iterator().next();
  expect(() => first(join(folder, 'none'))).toThrow(NotFoundError);
  expect(() => first(folder)).toThrow(FailedPreconditionError);
  const fs = process.getBuiltinModule('node:fs');
  vi.spyOn(fs, 'openSync').mockImplementation(() => {
    throw Object.assign(new Error('EMFILE: too many open files'), {
      code: 'EMFILE',
      syscall: 'open',
      path: lines,
    });
  });
  try {
    expect(() => first(lines)).toThrow(ResourceExhaustedError);
    vi.spyOn(fs, 'readdirSync').mockImplementation(() => fs.openSync('any', 'r') as never);
    expect(() => Dataset.listFiles(join(folder, '*'))).toThrow(ResourceExhaustedError);
    expect(() => first(lines)).toThrow(
      /lines: the process has too many open files: close some, or raise `ulimit -n`/,
    );
  } finally {
    vi.restoreAllMocks();
  }
});

test('a file that is replaced while it is read is no other file’s rest', async () => {
  const path = join(folder, 'replaced');
  writeFileSync(path, 'one\n'.repeat(20));
  const pass = new TextLineDataset(path, { bufferSize: 8 }).iterator();
  pass.next();
  await new Promise((resolve) => setTimeout(resolve, 5));
  writeFileSync(`${path}.new`, 'two\n'.repeat(20));
  renameSync(`${path}.new`, path);
  expect(() => [...pass]).toThrow(DataLossError);
});

test('threads of passes that were dropped are few', async () => {
  const active = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  const worker = new URL('../testing/work.mjs', import.meta.url);
  for (let i = 0; i < 12; i++) {
    const mapped = mapOnWorkers(
      Dataset.range(3).batch(1),
      { worker, export: 'double' },
      { numParallelCalls: 2 },
    );
    await mapped.iterator().nextAsync();
  }
  await expect.poll(active).toBeLessThanOrEqual(2 * availableParallelism());
  // One that was kept past the end of its threads starts others.
  const kept = mapOnWorkers(
    Dataset.range(2).batch(1),
    { worker, export: 'double' },
    { numParallelCalls: 1 },
  ).iterator();
  expect((await kept.nextAsync()).value).toBeDefined();
  await kept.close();
});

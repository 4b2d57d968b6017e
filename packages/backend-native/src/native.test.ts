import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend, TensorRef } from '@eagre/backend';
import { HostAllocator, hostBytes, ResourceExhaustedError } from '@eagre/backend';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { nativeBackend, openWatcher } from './index.ts';
import { type Addon, loadAddon } from './load.ts';

test.runIf(nativeBackend !== undefined)('dropped memory is lent again within a synchronous loop', () => {
  const { allocator } = nativeBackend!;
  const before = allocator.info().bytesTaken;
  const kept = allocator.allocate(1 << 20);
  const view = hostBytes(kept, kept.capacity).fill(7);
  for (let i = 0; i < 1000; i++) {
    const dropped = allocator.allocate(1 << 20);
    hostBytes(dropped, dropped.capacity).fill(1);
  }
  for (let i = 0; i < 1_000_000; i++) allocator.allocate(256);
  expect(allocator.info().bytesTaken - before).toBeLessThan(150 << 20);
  expect(view.every((v) => v === 7)).toBe(true);
  expect(kept.refs).toBe(1);
});

test.runIf(nativeBackend !== undefined)('bfloat16 has kernels where the processor has tile registers', () => {
  const { description } = nativeBackend!;
  const kernels = ['MatMul', 'Conv2D', 'Conv2DBackpropInput', 'Conv2DBackpropFilter'] as const;
  for (const name of kernels)
    expect(nativeBackend!.kernel(name, ['bfloat16', 'bfloat16']) !== undefined).toBe(
      description.includes(' amx,'),
    );
  expect(nativeBackend!.kernel('MatMul', ['float16', 'float16'])).toBeUndefined();
  expect(nativeBackend!.kernel('Softmax', ['bfloat16'])).toBeUndefined();
});

test.runIf(nativeBackend !== undefined && process.platform === 'linux')(
  'blocks of 4 MB and more begin where a page of 2 MB does, smaller ones at a cache line',
  () => {
    const { allocator } = nativeBackend!;
    for (const bytes of [4 << 20, (4 << 20) + 1, 5_000_000, 64 << 20]) {
      const { address, capacity } = allocator.allocate(bytes);
      expect(capacity).toBeGreaterThanOrEqual(bytes);
      expect(address % (2 << 20)).toBe(0);
    }
    for (const bytes of [1, 5000, 1 << 20, 2 << 20]) expect(allocator.allocate(bytes).address % 64).toBe(0);
  },
);

test.runIf(nativeBackend !== undefined)(
  'the package twice in a process: neither touches what the other has',
  async () => {
    vi.resetModules();
    const { nativeBackend: second } = await import('./index.ts');
    expect(second).not.toBe(nativeBackend);
    const filled = (backend: Backend, value: number): Uint8Array => {
      const storage = backend.allocator.allocate(1 << 20);
      kept.push(storage);
      const out: TensorRef = { storage, dtype: 'uint8', shape: [1 << 20], size: 1 << 20 };
      backend.kernel('Fill', [])?.([], [out], { value });
      return hostBytes(storage, 1 << 20);
    };
    const kept: unknown[] = [];
    const views = [nativeBackend!, second!, nativeBackend!, second!].map((backend, i) =>
      filled(backend, i + 1),
    );
    for (let i = 0; i < 200; i++)
      for (const backend of [nativeBackend!, second!]) backend.allocator.allocate(1 << 20);
    expect(views.map((view) => [view[0], view.every((v) => v === view[0])])).toEqual(
      [1, 2, 3, 4].map((value) => [value, true]),
    );
    expect(kept).toHaveLength(4);
  },
);

test('where there is no memory left, old objects are collected too', () => {
  class Full extends HostAllocator {
    protected override take(): never {
      throw new RangeError('full');
    }
  }
  const allocator = new Full(undefined, openWatcher());
  const gone: number[] = [];
  const hold = (n: number): object => {
    const object = { n };
    allocator.watch(object, () => gone.push(n));
    return object;
  };
  const held = [1, 2].map(hold);
  // What outlives two collections is old.
  for (let i = 0; i < 3; i++) allocator.findDropped();
  held.length = 0;
  allocator.findDropped();
  expect(gone).toEqual([]);
  expect(() => allocator.allocate(1 << 20)).toThrow(ResourceExhaustedError);
  expect(gone.sort()).toEqual([1, 2]);
});

describe.runIf(nativeBackend !== undefined)('ranges of a file are read on another thread', () => {
  const { addon } = loadAddon() as { addon: Addon };
  const folder = mkdtempSync(join(tmpdir(), 'eagre-ranges-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31 + (i >> 9)) % 251);
  const path = join(folder, 'bytes');
  writeFileSync(path, bytes);
  const places = Float64Array.of(5, 2_000_000, 2_500_000, 1000, 0, 5, 2_999_999, 2);
  const room = (): Uint8Array[] => [2_000_000, 1000, 5, 2].map((length) => new Uint8Array(length));
  let file: number;
  beforeAll(() => {
    file = openSync(path, 'r');
  });
  afterAll(() => closeSync(file));

  test('as at once', async () => {
    const wanted = room();
    const crcs = addon.readRanges(file, places, wanted);
    for (let round = 0; round < 20; round++) {
      const targets = room();
      const reading = addon.beginRanges(file, places, targets);
      // Sometimes the other thread has read all.
      if (round % 2 === 1) await new Promise((done) => setTimeout(done, 5));
      expect(addon.finishRanges(reading, true)).toEqual(crcs);
      expect(crcs[3]).toBe(-1);
      for (let i = 0; i < 3; i++)
        expect(Buffer.compare(targets[i] as Uint8Array, wanted[i] as Uint8Array)).toBe(0);
      // Once more, and stopped when nothing is left.
      expect(addon.finishRanges(reading, true)).toEqual(crcs);
      expect(addon.finishRanges(reading, false)).toBeUndefined();
    }
  });

  test('after a stop nothing is written any more', async () => {
    for (let round = 0; round < 20; round++) {
      const targets = room();
      const reading = addon.beginRanges(file, places, targets);
      addon.finishRanges(reading, false);
      for (const target of targets) target.fill(255);
      await new Promise((done) => setTimeout(done, 1));
      expect(targets.every((target) => target.every((byte) => byte === 255))).toBe(true);
    }
  });

  test('memory stays while it is written to, though nobody holds it', async () => {
    for (let round = 0; round < 50; round++) addon.beginRanges(file, places, room());
    (nativeBackend as Backend).allocator.findDropped();
    await new Promise((done) => setTimeout(done, 20));
  });

  test('what makes no sense is refused', () => {
    for (const [wrong, at, targets] of [
      [-1, places, room()],
      ['a', places, room()],
      [file, places, undefined],
      [file, places, room().slice(1)],
      [file, places, [1, 2, 3, 4]],
      [file, Float64Array.of(0, 1.5), [new Uint8Array(1)]],
    ])
      expect(() => addon.beginRanges(wrong as number, at as Float64Array, targets as Uint8Array[])).toThrow(
        'beginRanges takes a file',
      );
    for (const wrong of [undefined, {}, 5])
      expect(() => addon.finishRanges(wrong, true)).toThrow('finishRanges takes what beginRanges gave');
  });
});

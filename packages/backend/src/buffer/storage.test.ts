import os from 'node:os';
import { expect, test, vi } from 'vitest';
import { ResourceExhaustedError } from '../errors.ts';
import { HostAllocator } from './host-allocator.ts';
import type { Watcher } from './pooled-allocator.ts';
import type { Storage } from './storage.ts';

/** Objects count as collected when a test says so. */
class Fake implements Watcher {
  readonly slots = new Map<number, object>();
  readonly gone = new Set<object>();

  watch(object: object, slot: number): void {
    this.slots.set(slot, object);
  }

  collected(out: Uint32Array): number {
    let n = 0;
    for (const [slot, object] of this.slots) {
      if (!this.gone.has(object) || n === out.length) continue;
      out[n++] = slot;
      this.slots.delete(slot);
    }
    return n;
  }
}

const MB = 1024 * 1024;

const numbers = new Map<object, number>();
/** Tells buffers apart. */
function bufferNumber(buffer: object): number {
  if (!numbers.has(buffer)) numbers.set(buffer, numbers.size);
  return numbers.get(buffer) as number;
}

test('what the machine never can hold is refused', () => {
  const total = vi.spyOn(os, 'totalmem').mockReturnValue(1.25e9);
  expect(() => new HostAllocator().allocate(1.3e9)).toThrow(ResourceExhaustedError);
  expect(new HostAllocator().allocate(1.1e9).capacity).toBeGreaterThanOrEqual(1.1e9);
  total.mockRestore();
});

test('what is refused does not count as in use', () => {
  const total = vi.spyOn(os, 'totalmem').mockReturnValue(1.25e9);
  const allocator = new HostAllocator(undefined, new Fake());
  expect(() => allocator.allocate(1.3e9)).toThrow(ResourceExhaustedError);
  total.mockRestore();
  expect(allocator.info()).toMatchObject({ bytesInUse: 0, bytesPeak: 0, bytesTaken: 0 });
});

test('what was dropped is lent again', () => {
  const fake = new Fake();
  const allocator = new HostAllocator(undefined, fake);
  const first = Array.from({ length: 16 }, () => allocator.allocate(MB));
  for (const storage of first.slice(1)) fake.gone.add(storage);
  const buffers = new Set(first.map((s) => s.buffer));
  const second = Array.from({ length: 15 }, () => allocator.allocate(MB));
  expect(second.filter((s) => buffers.has(s.buffer))).toHaveLength(15);
  expect(second.every((s) => s.buffer !== first[0]!.buffer)).toBe(true);
  expect(allocator.info().bytesTaken).toBe(16 * MB);
});

test('a block that a cache may hold is lent again at once', () => {
  const fake = new Fake();
  const allocator = new HostAllocator(undefined, fake);
  const first = allocator.allocate(8 * MB);
  fake.gone.add(first);
  const second = allocator.allocate(8 * MB);
  expect(second.buffer).toBe(first.buffer);
  // What is kept makes collections vain, and rarer: after one block, two, four and four more.
  const collections: number[] = [];
  const kept = [second];
  vi.spyOn(fake, 'collected').mockImplementation(() => {
    collections.push(kept.length);
    return 0;
  });
  while (kept.length < 12) kept.push(allocator.allocate(8 * MB));
  expect(collections).toEqual([1, 3, 7, 11]);
});

test('memory for what lives long does not have young objects collected, unless it is very much', () => {
  const fake = new Fake();
  const allocator = new HostAllocator(undefined, fake);
  const collected = vi.spyOn(fake, 'collected');
  const kept = Array.from({ length: 3 }, () => allocator.allocateAlone(32 * MB));
  kept.push(allocator.allocate(MB));
  expect(collected).not.toHaveBeenCalled();
  const dropped = kept.shift()!;
  fake.gone.add(dropped);
  expect(allocator.allocateAlone(32 * MB).buffer).toBe(dropped.buffer);
  expect(collected).toHaveBeenCalledTimes(1);
});

test('what was given back is not lent twice when its old object is collected', () => {
  const fake = new Fake();
  const allocator = new HostAllocator(undefined, fake);
  const a = allocator.allocate(MB);
  a.release();
  fake.gone.add(a);
  allocator.trim();
  const b = allocator.allocate(MB);
  b.release();
  const c = allocator.allocate(MB);
  expect(c.buffer).toBe(b.buffer);
  fake.gone.add(b);
  const others = Array.from({ length: 40 }, () => allocator.allocate(MB));
  expect(others.some((s) => s.buffer === c.buffer)).toBe(false);
});

test('more than a list of found blocks comes back at once', () => {
  const fake = new Fake();
  const allocator = new HostAllocator(undefined, fake);
  const many = Array.from({ length: 1500 }, () => allocator.allocate(8192));
  for (const storage of many) fake.gone.add(storage);
  const buffers = new Set(many.map((s) => s.buffer));
  const later = Array.from({ length: 3000 }, () => allocator.allocate(8192));
  const again = later.filter((s) => buffers.has(s.buffer));
  expect(again).toHaveLength(1500);
  expect(new Set(again.map((s) => s.buffer)).size).toBe(1500);
});

test('a slab is lent out until nothing of it is left', () => {
  const fake = new Fake();
  const allocator = new HostAllocator(undefined, fake);
  const small = allocator.allocate(100);
  expect(small.capacity).toBe(128);
  const neighbour = allocator.allocate(100);
  expect(neighbour.buffer).toBe(small.buffer);
  expect(neighbour.owner).toBe(small.owner);
  expect([...fake.slots.values()]).toEqual([small.owner]);
  // Pieces given back explicitly go to their own list.
  neighbour.release();
  expect(allocator.allocate(100).byteOffset).toBe(neighbour.byteOffset);
});

test('without a watcher dropped memory is left to the collector', () => {
  const allocator = new HostAllocator();
  const a = allocator.allocate(MB);
  a.release();
  expect(allocator.allocate(MB).buffer).toBe(a.buffer);
  expect(allocator.allocate(MB).buffer).not.toBe(a.buffer);
});

test('a tensor that is kept of every step holds a slab of its own only until many are kept', () => {
  const fake = new Fake();
  const allocator = new HostAllocator(undefined, fake);
  const kept: Storage[] = [];
  for (let step = 0; step < 600; step++) {
    const all = Array.from({ length: 3000 }, () => allocator.allocate(4));
    kept.push(all[0] as Storage);
    const held = new Set(kept.map((storage) => storage.owner));
    for (const { owner } of all) {
      // The allocator itself holds the slab that it cuts from.
      if (owner !== undefined && owner !== all.at(-1)?.owner && !held.has(owner)) fake.gone.add(owner);
    }
  }
  const MOST = 64 * 128 * 1024 + 2 * 8 * MB;
  expect(allocator.info().bytesTaken).toBeLessThan(MOST);
  const places = new Set(kept.map((s) => `${bufferNumber(s.buffer)}:${s.byteOffset}`));
  expect(places.size).toBe(kept.length);
  // When they are dropped, slabs are of full size again.
  for (const { owner } of kept) fake.gone.add(owner as object);
  for (let i = 0; i < 300; i++) {
    const all = Array.from({ length: 3000 }, () => allocator.allocate(4));
    for (const { owner } of all) if (owner !== all.at(-1)?.owner) fake.gone.add(owner as object);
  }
  const owners = new Set(Array.from({ length: 4096 }, () => allocator.allocate(4).owner));
  expect(owners.size).toBeLessThan(5);
});

test('without a watcher a kept tensor holds little', () => {
  const allocator = new HostAllocator();
  const owners = new Set(Array.from({ length: 1280 }, () => allocator.allocate(4).owner));
  expect(owners.size).toBe(10);
});

test('where every collection is one of all objects, there are few', async () => {
  const gc = vi.fn();
  vi.stubGlobal('Bun', { gc });
  vi.resetModules();
  try {
    const module = await import('./host-allocator.ts');
    const allocator = new module.HostAllocator(() => 0, new Fake());
    for (let i = 0; i < 600; i++) allocator.allocate(MB);
    expect(gc).toHaveBeenCalledWith(true);
    // Of young objects there would be 75.
    expect(gc.mock.calls.length).toBeLessThan(5);
    // Small tensors: their objects weigh more than their memory, and 256 MB of it would be 4 million of them.
    gc.mockClear();
    const small = new module.HostAllocator(() => 0, new Fake());
    for (let i = 0; i < 2_500_000; i++) small.allocate(64);
    expect(gc.mock.calls.length).toBeGreaterThanOrEqual(2);
    expect(gc.mock.calls.length).toBeLessThan(10);
  } finally {
    vi.unstubAllGlobals();
    vi.resetModules();
  }
});

test('small tensors are cut from large slabs again once old objects, too, were collected', () => {
  // Slabs that became old before they were dropped: only the second of two collections in a row finds them.
  const fake = new Fake();
  const old: object[] = [];
  let first = true;
  vi.spyOn(fake, 'watch').mockImplementation((object, slot) => {
    first = true;
    fake.slots.set(slot, object);
    if (!('capacity' in object)) old.push(object);
  });
  const collected = fake.collected.bind(fake);
  vi.spyOn(fake, 'collected').mockImplementation((out) => {
    if (!first) for (const slab of old.slice(0, -1)) fake.gone.add(slab);
    first = false;
    return collected(out);
  });
  const allocator = new HostAllocator(undefined, fake);
  const tensorsASlab = (128 * 1024) / 64;
  for (let i = 0; i < 200 * tensorsASlab; i++) allocator.allocate(64);
  const slabs = new Set(Array.from({ length: tensorsASlab / 2 }, () => allocator.allocate(64).owner));
  expect(slabs.size).toBeLessThanOrEqual(2);
});

import { expect, test } from 'vitest';
import { nativeBackend } from './index.ts';

test.runIf(nativeBackend !== undefined)('dropped memory is lent again within a synchronous loop', () => {
  const { allocator } = nativeBackend!;
  const before = allocator.info().bytesTaken;
  const kept = allocator.allocate(1 << 20);
  const view = new Uint8Array(kept.buffer, kept.byteOffset, kept.capacity).fill(7);
  for (let i = 0; i < 1000; i++) {
    const { buffer, byteOffset, capacity } = allocator.allocate(1 << 20);
    new Uint8Array(buffer, byteOffset, capacity).fill(1);
  }
  for (let i = 0; i < 1_000_000; i++) allocator.allocate(256);
  expect(allocator.info().bytesTaken - before).toBeLessThan(150 << 20);
  expect(view.every((v) => v === 7)).toBe(true);
  expect(kept.refs).toBe(1);
});

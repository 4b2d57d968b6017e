import { vi } from 'vitest';
import * as tf from '../../src/index.ts';

/** The bytes that tensors are given in a call. */
export function lentBy(fn: () => void): number {
  const { allocator } = tf.constant(0).backend;
  let lent = 0;
  const spies = (['allocate', 'allocateAlone'] as const).map((name) => {
    const before = allocator[name].bind(allocator);
    return vi.spyOn(allocator, name).mockImplementation((bytes: number) => {
      lent += bytes;
      return before(bytes);
    });
  });
  fn();
  for (const spy of spies) spy.mockRestore();
  return lent;
}

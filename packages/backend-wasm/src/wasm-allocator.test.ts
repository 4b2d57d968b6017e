import { ResourceExhaustedError } from '@eagre/backend';
import { expect, test } from 'vitest';
import { Finalizers } from './collected.ts';
import type { Exports, WasmMemory } from './memory.ts';
import { WasmAllocator } from './wasm-allocator.ts';

test('memory that is full tells how dropped tensors come back', () => {
  const exports: Partial<Exports> = { allocate: () => 0 };
  const allocator = new WasmAllocator({ exports, size: 0 } as unknown as WasmMemory, new Finalizers());
  expect(() => allocator.allocate(1e6)).toThrow(ResourceExhaustedError);
  expect(() => allocator.allocate(1e6)).toThrow(
    /no memory for 10\d{5} bytes: .*await something in a long loop/,
  );
});

import '@eagre/backend-js';
import { openWasm, wasmUnavailable } from '@eagre/backend-wasm';
import { withBackend } from '@eagre/core';
import { threads } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import { conformanceSuite } from './conformance-suite.ts';
import { gradientSuite } from './gradient-suite.ts';
import { tracedSuite } from './traced-suite.ts';

if (wasmUnavailable === undefined) {
  conformanceSuite('wasm');
  gradientSuite('wasm');
  tracedSuite('wasm');

  test('the number of threads is set where the kernels run', async () => {
    const backend = await openWasm({ threads: 2 });
    // Workers come by and by.
    await expect.poll(() => backend.threads()).toBe(2);
    for (const count of [1, 2]) {
      expect(withBackend('wasm', () => threads(count))).toBe(count);
      expect(backend.threads()).toBe(count);
    }
  });
} else describe.skip(`WebAssembly is not tested: ${wasmUnavailable}`, () => {});

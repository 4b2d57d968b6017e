import '@eagre/backend-js';
import { setFlagsFromString } from 'node:v8';
import { openWasm, wasmUnavailable } from '@eagre/backend-wasm';
import { describe, expect, it } from 'vitest';
import { conformanceSuite } from './conformance-suite.ts';

if (wasmUnavailable === undefined) {
  let backend = await openWasm();
  if (!backend.description.includes('relaxed')) {
    // Node 20 has it behind a flag.
    setFlagsFromString('--experimental-wasm-relaxed-simd');
    backend = await openWasm();
  }
  it('has relaxed SIMD', () => expect(backend.description).toContain('relaxed SIMD'));
  conformanceSuite('wasm');
} else describe.skip(`WebAssembly is not tested: ${wasmUnavailable}`, () => {});

import '@eagre/backend-js';
import { wasmUnavailable } from '@eagre/backend-wasm';
import { describe } from 'vitest';
import { conformanceSuite } from './conformance-suite.ts';
import { gradientSuite } from './gradient-suite.ts';
import { tracedSuite } from './traced-suite.ts';

if (wasmUnavailable === undefined) {
  conformanceSuite('wasm');
  gradientSuite('wasm');
  tracedSuite('wasm');
} else describe.skip(`WebAssembly is not tested: ${wasmUnavailable}`, () => {});

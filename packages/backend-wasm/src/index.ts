/**
 * The CPU backend of kernels that are compiled to WebAssembly, from the sources of the native ones. Importing it registers the backend, behind
 * native kernels and before those in JavaScript.
 */
import type { Backend } from '@eagre/backend';
import { notOpened, type Opened, openWasm, saysWhere } from './here.ts';

const { backend, unavailable } = await openWasm().then(
  (opened): Opened => ({ backend: opened, unavailable: undefined }),
  notOpened,
);
// A host that does not say where modules are is given them later.
if (unavailable !== undefined && saysWhere())
  console.warn(
    `Eagre's kernels of WebAssembly could not be opened, so those in JavaScript run instead, which are 10 to 100 times slower: ${unavailable}`,
  );

/** The backend, or undefined where the module could not be opened (`wasmUnavailable` says why). */
export const wasmBackend: Backend | undefined = backend;

/** Why there is no backend; undefined where there is one. */
export const wasmUnavailable: string | undefined = unavailable;

export { openWasm, type WasmOptions, type WasmSource } from './here.ts';

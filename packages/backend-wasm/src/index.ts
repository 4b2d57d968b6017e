/**
 * The CPU backend of kernels that are compiled to WebAssembly, from the sources of the native ones. Importing it registers the backend, behind
 * native kernels and before those in JavaScript.
 */
import type { Backend } from '@eagre/backend';
import { openOwn } from './own.ts';

const { backend, unavailable } = await openOwn();

/** The backend, or undefined where the module could not be opened (`wasmUnavailable` says why). */
export const wasmBackend: Backend | undefined = backend;

/** Why there is no backend; undefined where there is one. */
export const wasmUnavailable: string | undefined = unavailable;

export { openWasm, type WasmOptions, type WasmSource } from './here.ts';

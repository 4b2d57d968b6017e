// The same for Node, and hosts like it, without waiting: so it can be required.
import type { Backend } from '@eagre/backend';
import { notOpened, type Opened, openHere } from './here.ts';

function open(): Opened {
  try {
    return { backend: openHere?.(), unavailable: undefined };
  } catch (error) {
    return notOpened(error);
  }
}

const { backend, unavailable } = open();
export const wasmBackend: Backend | undefined = backend;
export const wasmUnavailable: string | undefined = unavailable;
export { openWasm, type WasmOptions, type WasmSource } from './here.ts';

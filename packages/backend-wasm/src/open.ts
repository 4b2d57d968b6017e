/** `openWasm` alone. To import this opens nothing, so no module waits: programs open the kernels when they want them, from where they have them. */
export { openWasm, type WasmOptions, type WasmSource } from './here.ts';

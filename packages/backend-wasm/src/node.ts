// The same for Node, and hosts like it, which read the module at once: so it can be required, as `@eagre/core` does where no addon fits.
import type { Backend } from '@eagre/backend';
import { naming, notOpened, type Opened, openModule, ownModule } from './open.ts';

function open(): Opened {
  try {
    const bytes = process.getBuiltinModule('node:fs').readFileSync(ownModule());
    return { backend: openModule(naming(() => new WebAssembly.Module(bytes))), unavailable: undefined };
  } catch (error) {
    return notOpened(error);
  }
}

const { backend, unavailable } = open();
export const wasmBackend: Backend | undefined = backend;
export const wasmUnavailable: string | undefined = unavailable;
export { openWasm, type WasmOptions } from './open.ts';

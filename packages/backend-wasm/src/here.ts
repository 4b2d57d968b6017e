// Opens the kernels where the module is a file, which is read at once: in Node, and hosts like it. `@eagre/core` does where no addon fits.
import { type Backend, listBackends } from '@eagre/backend';
import { naming, type Opened, openModules, ownModules, usesRelaxedSimd, withoutRelaxed } from './opening.ts';

// The other entries take the code from here, so that it is one module.
export { notOpened, type Opened, openWasm, type WasmOptions, type WasmSource } from './opening.ts';

/**
 * The backend; opened unless it is there already. undefined where modules have to be waited for.
 * @throws UnavailableError where the module is not there, or cannot run
 */
export const openHere: (() => Backend) | undefined = () =>
  listBackends().find(({ name }) => name === 'wasm') ?? naming(open);

/** As `openHere`, in hosts where modules have to be waited for; undefined in others. */
export const openLater: (() => Promise<Opened>) | undefined = undefined;

function open(): Backend {
  const { kernels, relaxed } = ownModules();
  return openModules({
    kernels: read(kernels),
    relaxed: usesRelaxedSimd() ? readProducts(relaxed) : undefined,
  });
}

function readProducts(url: URL): WebAssembly.Module | undefined {
  try {
    return read(url);
  } catch (error) {
    return withoutRelaxed(error);
  }
}

function read(url: URL): WebAssembly.Module {
  const { getBuiltinModule } = globalThis.process;
  const { existsSync, readFileSync } = getBuiltinModule('node:fs');
  if (existsSync(url)) return new WebAssembly.Module(readFileSync(url));
  // This is in a bundle, then.
  const { resolve } = getBuiltinModule('node:module').createRequire(import.meta.url);
  return new WebAssembly.Module(
    readFileSync(resolve(`@eagre/backend-wasm/${url.pathname.split('/').at(-1)}`)),
  );
}

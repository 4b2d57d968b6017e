// Opens the kernels where the module is a file, which is read at once: in Node, and hosts like it. `@eagre/core` does where no addon fits.
import { type Backend, listBackends } from '@eagre/backend';
import {
  type Opened,
  ofKernels,
  openModules,
  ownModules,
  usesRelaxedSimd,
  withoutRelaxed,
} from './opening.ts';
import { naming, readModule } from './sources.ts';

// In Node this is the module of the codecs, too.
export * from './codecs.ts';

// The other entries take the code from here, so that it is one module.
export { notOpened, type Opened, openWasm, type WasmOptions, type WasmSource } from './opening.ts';

/**
 * The backend; opened unless it is there already. undefined where modules have to be waited for.
 * @throws UnavailableError where the module is not there, or cannot run
 */
export const openHere: (() => Backend) | undefined = () =>
  listBackends().find(({ name }) => name === 'wasm') ?? naming(open, ofKernels);

/** As `openHere`, in hosts where modules have to be waited for; undefined in others. */
export const openLater: (() => Promise<Opened>) | undefined = undefined;

function open(): Backend {
  const { kernels, relaxed } = ownModules();
  return openModules({
    kernels: readModule(kernels),
    relaxed: usesRelaxedSimd() ? readProducts(relaxed) : undefined,
  });
}

function readProducts(url: URL): WebAssembly.Module | undefined {
  try {
    return readModule(url);
  } catch (error) {
    return withoutRelaxed(error);
  }
}

// Who reads and writes pictures in files: the addon, or the module of WebAssembly that is built of the same sources.
import {
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  ResourceExhaustedError,
  UnavailableError,
} from '@eagre/backend';
import { type Codecs, loadCodecs, nativeUnavailable } from '@eagre/backend-native/here';
import type { WasmSource } from './sources.ts';
import { checkSource, compiled, naming, type Opening, readModule, saysWhere, served } from './sources.ts';
import { WasmCodecs } from './wasm-codecs.ts';

export type { Codecs, WasmSource };

const opening: Opening = { op: 'io.loadImageCodecs', of: 'codecs' };

let opened: Codecs | undefined;
// Why this package's own module could not be opened.
let failure: Error | undefined;

/** Those of the module: this package's own is read at once where it is a file. @throws FailedPreconditionError, UnavailableError as `callCodecs` does */
export function moduleCodecs(what: string): Codecs {
  if (opened !== undefined) return opened;
  const hasFiles = globalThis.process?.getBuiltinModule !== undefined && saysWhere();
  if (!hasFiles)
    throw new FailedPreconditionError(
      'JPEG and PNG files are read and written by a module that is not loaded here: await tf.io.loadImageCodecs() first, ' +
        `or give it eagre-codecs.wasm of @eagre/backend-wasm as { module }${failure === undefined ? '' : ` (${failure.message})`}`,
      what,
      { cause: failure },
    );
  try {
    return openNow();
  } catch (cause) {
    throw new UnavailableError(
      `JPEG and PNG files need the native addon or its module of WebAssembly. ${nativeUnavailable ?? 'There is no eagre_codecs.node beside the addon.'}` +
        `\n  ${(cause as Error).message}`,
      what,
      { cause },
    );
  }
}

const ownModule = (): URL => served(new URL('../eagre-codecs.wasm', import.meta.url));

function openNow(): Codecs {
  opened = naming(() => new WasmCodecs(readModule(ownModule())), opening);
  return opened;
}

/**
 * Opens the module where there is no addon, which pages have to wait for: this package's own unless another is given.
 * @throws InvalidArgumentError for what is no module of the codecs. Why its own cannot be had, the first picture says.
 */
export async function openCodecs(module?: WasmSource): Promise<void> {
  if (module !== undefined) checkSource('module', module, opening.op);
  if (loadCodecs() !== undefined || (opened !== undefined && module === undefined)) return;
  if (module !== undefined) return open(module);
  // A host that has files opens it when it is needed.
  if (globalThis.process?.getBuiltinModule !== undefined || !saysWhere()) return;
  try {
    await open(ownModule());
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    failure = cause;
  }
}

async function open(source: WasmSource): Promise<void> {
  const module = await compiled(source, opening);
  opened = naming(() => new WasmCodecs(module), opening);
}

/**
 * Calls the codecs: those of the addon, where there is one, else those of the module.
 * @throws FailedPreconditionError where the module has to be opened first; UnavailableError where there is neither; InvalidArgumentError for damaged
 *   files, and for pictures that are too large; ResourceExhaustedError without memory
 */
export function callCodecs<T>(
  what: string,
  call: (codecs: Codecs) => T,
  codecs: Codecs = loadCodecs() ?? moduleCodecs(what),
): T {
  try {
    return call(codecs);
  } catch (cause) {
    const { code, message } = cause as { readonly code?: string; readonly message: string };
    if (code === 'RESOURCE_EXHAUSTED') throw new ResourceExhaustedError(message, what, { cause });
    if (code === 'INTERNAL') throw new InternalError(message, what, { cause });
    throw new InvalidArgumentError(message, what, { cause });
  }
}

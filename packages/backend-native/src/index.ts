/** The CPU backend of native kernels. Importing it registers the backend where the addon can be loaded. */
import { type Backend, HostAllocator, registerBackend, type Watcher } from '@eagre/backend';
import { CompiledBackend } from './compiled-backend.ts';
import { type Addon, loadAddon } from './load.ts';
import { checkInstructionSet, checkSettings, MAX_THREADS } from './settings.ts';

export { type Codecs, loadCodecs } from './codecs.ts';
// What other packages make a backend of, of kernels that they bring.
export { type Block, CANCELLED, type Kernels, STOPPED } from './load.ts';
export { CompiledBackend, checkSettings, MAX_THREADS };

const env = globalThis.process?.env ?? {};
checkSettings(env);
const loaded = loadAddon();
if (loaded.addon !== undefined) checkInstructionSet(env, loaded.addon.isa);

/** The backend, or undefined where no addon could be loaded (`nativeUnavailable` says why). */
export const nativeBackend: Backend | undefined =
  loaded.addon === undefined ? undefined : backendOf(loaded.addon);

function backendOf(addon: Addon): Backend {
  let watcher: Addon | undefined = addon;
  return new CompiledBackend('native', addon, () => {
    // Each has a watcher of its own.
    watcher ??= loadAddon().addon;
    const allocator = new HostAllocator(addon.addressOf, watcher);
    watcher = undefined;
    return allocator;
  });
}

/** What tells an allocator of collected objects, for backends that have no addon of their own; undefined where there is no addon. */
export function openWatcher(): Watcher | undefined {
  return loaded.addon === undefined ? undefined : loadAddon().addon;
}

/** Why there is no native backend and what to do about it; undefined where there is one. */
export const nativeUnavailable: string | undefined =
  loaded.addon === undefined ? `Eagre's native kernels could not be loaded. ${loaded.advice}` : undefined;

/** The CRC-32C of the bytes behind those whose CRC is `previous`, by the processor's instruction; undefined where there is no addon. */
export const nativeCrc32c: ((bytes: Uint8Array, previous: number) => number) | undefined =
  loaded.addon?.crc32c;

/** What reads files on several threads, and has them written to the disk early; undefined where there is no addon. */
export const nativeFiles:
  | Pick<Addon, 'readRanges' | 'beginRanges' | 'finishRanges' | 'beginSync'>
  | undefined = loaded.addon;

if (nativeBackend !== undefined) registerBackend(nativeBackend, 10);

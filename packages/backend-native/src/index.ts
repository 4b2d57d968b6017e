/** The CPU backend of native kernels. Importing it registers the backend where the addon can be loaded. */
import { type Backend, registerBackend, type Watcher } from '@eagre/backend';
import { type Addon, loadAddon } from './load.ts';
import { NativeBackend } from './native.ts';
import { checkInstructionSet, checkSettings } from './settings.ts';

const env = globalThis.process?.env ?? {};
checkSettings(env);
const loaded = loadAddon();
if (loaded.addon !== undefined) checkInstructionSet(env, loaded.addon.isa);

/** The backend, or undefined where no addon could be loaded (`nativeUnavailable` says why). */
export const nativeBackend: Backend | undefined =
  loaded.addon === undefined ? undefined : new NativeBackend(loaded.addon);

/** What tells an allocator of collected objects, for backends that have no addon of their own; undefined where there is no addon. */
export function openWatcher(): Watcher | undefined {
  return loaded.addon === undefined ? undefined : loadAddon().addon;
}

/** Why there is no native backend and what to do about it; undefined where there is one. */
export const nativeUnavailable: string | undefined =
  loaded.addon === undefined
    ? `Eagre's native kernels could not be loaded, so the slower JavaScript backend runs. ${loaded.advice}`
    : undefined;

/** The CRC-32C of the bytes behind those whose CRC is `previous`, by the processor's instruction; undefined where there is no addon. */
export const nativeCrc32c: ((bytes: Uint8Array, previous: number) => number) | undefined =
  loaded.addon?.crc32c;

/** What reads files on several threads, and has them written to the disk early; undefined where there is no addon. */
export const nativeFiles:
  | Pick<Addon, 'readRanges' | 'beginRanges' | 'finishRanges' | 'beginSync'>
  | undefined = loaded.addon;

if (nativeBackend !== undefined) registerBackend(nativeBackend, 10);

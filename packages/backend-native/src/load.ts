import type { ErrorCode, Watcher } from '@eagre/backend';

/** Numbers that kernels read where they lie. */
export interface Block {
  readonly numbers: Float64Array;
}

/** Kernels as JavaScript calls them: those of the addon built from `native/`, or of the module that is built from the same sources. */
export interface Kernels {
  readonly kernels: readonly string[];
  readonly isa: string;
  /** A block of zeros, which never moves. */
  newBlock(length: number): Block;
  /** Has arguments read from there. */
  setBlock(block: Block): void;
  /** undefined, or the number of an error whose text `lastError` gives. */
  run(kernel: number): number | undefined;
  lastError(): string;
  /**
   * Takes steps packed as in native/runtime/executor.h, and gives the number of a plan that is there as long as its owner. It keeps the
   * block, and takes over the references to the scalar programs that the steps call.
   * @throws Error where they do not fill the block, or make no sense.
   */
  preparePlan(owner: object, block: Block, programs?: readonly number[]): number;
  /**
   * Runs the steps of a plan from `first` on. undefined at the end, `STOPPED` at a step that is JavaScript's, or the number of an error;
   * `lastStep` tells where. `times` gets the seconds of each step added to its owner's.
   */
  runPlan(plan: number, times: Float64Array | undefined, first: number): number | undefined;
  /**
   * The same on another thread, or the number of an error for which it cannot start. `done` is called with the result, which may also be
   * `CANCELLED`, the step and the error's text. The plan can do nothing else meanwhile.
   */
  startPlan(
    owner: object,
    plan: number,
    first: number,
    done: (result: number | undefined, step: number, text: string) => void,
  ): number | undefined;
  /** Has a run on another thread end before its next step. */
  cancelPlan(plan: number): void;
  /**
   * Frees what a plan holds; it can run no more.
   * @throws Error while it runs.
   */
  dropPlan(plan: number): void;
  /** The number of the step at which `runPlan` stopped or failed. */
  lastStep(): number;
  /** The number of a scalar program, and a reference to it: one that no plan takes over keeps it for ever. */
  compileProgram(code: Float64Array): number;
  /** Gives back such a reference. */
  releaseProgram(program: number): void;
  threads(count?: number): number;
  /** How many jobs threads have shared since the start, modulo 2³². */
  jobs(): number;
}

/** What the addon gives each backend that opens it. */
export interface Addon extends Kernels, Watcher {
  /** Where the bytes of a fresh buffer are; asks for pages of 2 MB for a large one. */
  addressOf(buffer: ArrayBuffer): number;
  /** The CRC-32C of the bytes behind those whose CRC is `previous`. */
  crc32c(bytes: Uint8Array, previous: number): number;
  /**
   * Reads parts of an open file, whose offsets and lengths `places` has by turns, into `targets` of just these lengths, or nowhere, several pieces
   * at a time, and gives their CRC-32Cs; -1 where not all of one could be read, or the system cannot.
   */
  readRanges(file: number, places: Float64Array, targets: readonly Uint8Array[] | undefined): Float64Array;
  /**
   * Begins that on another thread, which reads until `finishRanges`, or the end. The file must stay open, and nobody may use the targets, until
   * that has returned.
   */
  beginRanges(file: number, places: Float64Array, targets: readonly Uint8Array[]): unknown;
  /** Reads what is left and gives the CRC-32Cs; `reads` false: stops the other thread, and gives nothing. */
  finishRanges(reading: unknown, reads: boolean): Float64Array | undefined;
  /** Has the system begin to bring a part of a file to the disk; does nothing except on Linux. */
  beginSync(file: number, offset: number, length: number): void;
}

/** The same as the addon has it, which knows arrays only. */
interface RawAddon extends Omit<Addon, 'newBlock' | 'setBlock' | 'preparePlan'> {
  setBlock(numbers: Float64Array): void;
  preparePlan(owner: object, numbers: Float64Array, programs?: readonly number[]): number;
}

function withBlocks(addon: RawAddon): Addon {
  return {
    ...addon,
    // A buffer of its own: V8 moves small ones that live in its heap.
    newBlock: (length) => ({ numbers: new Float64Array(new ArrayBuffer(length * 8)) }),
    setBlock: ({ numbers }) => addon.setBlock(numbers),
    preparePlan: (owner, { numbers }, programs) => addon.preparePlan(owner, numbers, programs),
  };
}

/** What becomes of running a plan, beside the end and errors: `kStopped` and `kCancelled` in native/binding/runs.h. */
export const STOPPED: number = -1;
/** The other of both: the plan was cancelled. */
export const CANCELLED: number = -2;

/** The numbers of steps that call no kernel: `Control` in native/runtime/executor.h. */
export const control: { readonly [K in 'jump' | 'switch' | 'push' | 'pop' | 'stop']: number } = {
  jump: -1,
  switch: -2,
  push: -3,
  pop: -4,
  stop: -5,
};

/** What the addon's error numbers mean: in the order of `Code` in native/runtime/tensor.h. */
export const errorCodes: readonly ErrorCode[] = [
  'INTERNAL',
  'INVALID_ARGUMENT',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'RESOURCE_EXHAUSTED',
  'INTERNAL',
];

/** The platforms for which there is a package with the addon: `process.platform` and `process.arch`, and Linux twice, for its two C libraries. */
const platforms: readonly string[] = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64',
  'linux-x64',
  'linuxmusl-arm64',
  'linuxmusl-x64',
  'win32-x64',
];

/** The addon, or why there is none and what to do about it. */
export type Loaded = { readonly addon: Addon } | { readonly addon: undefined; readonly advice: string };

/**
 * Finds the addon: the file that `EAGRE_ADDON` names and no other, if it is set; else the package with the binary for this platform,
 * which in a checkout is the build.
 * @param requires finds modules, in tests
 * @param system the platform, in tests
 */
export function loadAddon(requires?: NodeJS.Require, system?: string): Loaded {
  // No imports of Node's modules: this file is in bundles for browsers too.
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin === undefined) return { addon: undefined, advice: 'Native kernels are for Node.' };
  const require = requires ?? builtin('node:module').createRequire(import.meta.url);
  const given = process.env.EAGRE_ADDON;
  const named = given !== undefined && given !== '';
  const platform = named ? '' : (system ?? platformHere());
  const file = named ? builtin('node:path').resolve(given) : packageOf(platform);
  if (!named && !platforms.includes(platform)) {
    return { addon: undefined, advice: `There are none for ${platform}, only for ${platforms.join(', ')}.` };
  }
  try {
    if (!named) checkVersion(require, file);
    return { addon: withBlocks((load(require, file) as { open(): RawAddon }).open()) };
  } catch (error) {
    const message = (error as Partial<Error>).message?.split('\n')[0] ?? String(error);
    const advice = named ? 'EAGRE_ADDON names a file that cannot be loaded.' : whatToDo(require, file, error);
    return { addon: undefined, advice: `${advice}\n  ${file}: ${message}` };
  }
}

const packageOf = (platform: string): string => `@eagre/native-${platform}`;

let here: string | undefined;

function platformHere(): string {
  here ??= `${process.platform}${isMusl() ? 'musl' : ''}-${process.arch}`;
  return here;
}

/** Whether musl is this program's C library: it names the loader of its libraries at its beginning. (`process.report` takes much longer.) */
function isMusl(): boolean {
  // Deno is for glibc, and would ask the user for leave to read.
  if (process.platform !== 'linux' || 'Deno' in globalThis) return false;
  const { openSync, readSync, closeSync } = process.getBuiltinModule('node:fs');
  try {
    const program = openSync(process.execPath, 'r');
    const bytes = Buffer.alloc(4096);
    readSync(program, bytes);
    closeSync(program);
    return bytes.includes('/ld-musl-');
  } catch {
    return false;
  }
}

/**
 * Another addon of this platform: the file of this name beside the one that `EAGRE_ADDON` names, if that is set; else the one whose path a script of the
 * platform's package says. undefined where there is none, or it cannot be loaded.
 */
export function beside(script: string, name: string): unknown {
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin === undefined) return undefined;
  const require = builtin('node:module').createRequire(import.meta.url);
  const { dirname, join, resolve } = builtin('node:path');
  const given = process.env.EAGRE_ADDON;
  const platform = packageOf(platformHere());
  try {
    if (given !== undefined && given !== '') return load(require, join(dirname(resolve(given)), name));
    checkVersion(require, platform);
    return load(require, require(`${platform}/${script}`) as string);
  } catch {
    return undefined;
  }
}

class OtherVersion extends Error {}

/** Both sides of the addon change together. A bundle does not know which version it is. */
function checkVersion(require: NodeJS.Require, file: string): void {
  const version = (name: string): string => (require(`${name}/package.json`) as { version: string }).version;
  let own: string;
  try {
    own = version('@eagre/backend-native');
  } catch {
    return;
  }
  const its = version(file);
  if (its !== own) throw new OtherVersion(`it is of version ${its}, and @eagre/backend-native of ${own}`);
}

function load(require: NodeJS.Require, file: string): unknown {
  const path = require.resolve(file);
  // Deno's `require` reads the addon as a script once hooks of modules are registered (eagre/register). In a checkout it is a script.
  if (!('Deno' in globalThis) || !path.endsWith('.node')) return require(file);
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports;
}

function whatToDo(require: NodeJS.Require, file: string, error: unknown): string {
  const { message, code } = error as Partial<NodeJS.ErrnoException>;
  const install = `Install the package ${file}, of the same version as eagre`;
  if (error instanceof OtherVersion) return `${install}.`;
  if (code === 'MODULE_NOT_FOUND') {
    const other = platforms.map(packageOf).find((name) => name !== file && isThere(require, name));
    const why =
      other === undefined
        ? 'installs with --omit=optional leave it out, as do lockfiles made elsewhere.'
        : `${other} is there, so these packages were installed for another system.`;
    return `${install}: ${why}`;
  }
  const there = `The package ${file} is there, but this system cannot load it`;
  if (!/\bGLIBC_/.test(message ?? '')) return `${there} (on Linux it needs glibc 2.28 or newer).`;
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return `${there}: it needs glibc 2.28 or newer, and this is ${header.glibcVersionRuntime ?? 'no glibc'}.`;
}

function isThere(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

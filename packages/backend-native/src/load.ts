import type { ErrorCode, Watcher } from '@eagre/backend';

/** What the addon built from `native/` gives each backend that opens it. */
export interface Addon extends Watcher {
  readonly kernels: readonly string[];
  readonly isa: string;
  setBlock(block: Float64Array): void;
  /** undefined, or the number of an error whose text `lastError` gives. */
  run(kernel: number): number | undefined;
  lastError(): string;
  /**
   * Takes steps packed as in native/runtime/executor.h, and gives the number of a plan that is there as long as its owner. It keeps the
   * block, whose memory must never move, and takes over the references to the scalar programs that the steps call.
   * @throws Error where they do not fill the block, or make no sense.
   */
  preparePlan(owner: object, block: Float64Array, programs?: readonly number[]): number;
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
  /** Where the bytes of a fresh buffer are; asks for pages of 2 MB for a large one. */
  addressOf(buffer: ArrayBuffer): number;
  /** The number of a scalar program, and a reference to it: one that no plan takes over keeps it for ever. */
  compileProgram(code: Float64Array): number;
  /** Gives back such a reference. */
  releaseProgram(program: number): void;
  threads(count?: number): number;
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
  /** How many jobs threads have shared since the start, modulo 2³². */
  jobs(): number;
}

/** What becomes of running a plan, beside the end and errors: `kStopped` and `kCancelled` in native/binding/runs.h. */
export const STOPPED: number = -1;
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

/** The platforms for which there is a package with the addon, as `process.platform` and `process.arch` name them. */
const platforms: readonly string[] = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64'];

/** The addon, or why there is none and what to do about it. */
export type Loaded = { readonly addon: Addon } | { readonly addon: undefined; readonly advice: string };

/**
 * Finds the addon: the file that `EAGRE_ADDON` names and no other, if it is set; else the package with the binary for this platform,
 * which in a checkout is the build.
 */
export function loadAddon(): Loaded {
  // No imports of Node's modules: this file is in bundles for browsers too.
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin === undefined) return { addon: undefined, advice: 'Native kernels are for Node.' };
  const require = builtin('node:module').createRequire(import.meta.url);
  const platform = `${process.platform}-${process.arch}`;
  const given = process.env.EAGRE_ADDON;
  const named = given !== undefined && given !== '';
  const file = named ? builtin('node:path').resolve(given) : `@eagre/native-${platform}`;
  if (!named && !platforms.includes(platform)) {
    return { addon: undefined, advice: `There are none for ${platform}, only for ${platforms.join(', ')}.` };
  }
  try {
    return { addon: load(require, file).open() };
  } catch (error) {
    const { message, code } = error as Partial<NodeJS.ErrnoException>;
    const reason = `${file}: ${message?.split('\n')[0] ?? String(error)}`;
    return { addon: undefined, advice: `${whatToDo(named, code, file)}\n  ${reason}` };
  }
}

function load(require: NodeJS.Require, file: string): { open(): Addon } {
  const path = require.resolve(file);
  // Deno's `require` reads the addon as a script once hooks of modules are registered (eagre/register). In a checkout it is a script.
  if (!('Deno' in globalThis) || !path.endsWith('.node')) return require(file);
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports as { open(): Addon };
}

function whatToDo(named: boolean, code: string | undefined, file: string): string {
  if (named) return 'EAGRE_ADDON names a file that cannot be loaded.';
  if (code === 'MODULE_NOT_FOUND')
    return `Install the package ${file}, of the same version as eagre: installs with --omit=optional leave it out, as do lockfiles made elsewhere.`;
  return `The package ${file} is there, but this system cannot load it (on Linux it needs glibc 2.28 or newer).`;
}

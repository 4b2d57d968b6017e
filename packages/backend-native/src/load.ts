import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { ErrorCode, Watcher } from '@eagre/backend';

/** What the addon built from `native/` exports. */
export interface Addon extends Watcher {
  readonly kernels: readonly string[];
  readonly isa: string;
  setBlock(block: Float64Array): void;
  /** undefined, or the number of an error whose text `lastError` gives. */
  run(kernel: number): number | undefined;
  lastError(): string;
  /**
   * Takes calls packed as in native/runtime/executor.h. The handle keeps the block, whose memory must never move.
   * @throws Error where they do not fill the block.
   */
  preparePlan(block: Float64Array): object;
  /** Runs the calls of a handle from `first` up to `end`; the result is as that of `run`. `times` takes the seconds of each call. */
  runPlan(plan: object, times: Float64Array | undefined, first: number, end: number): number | undefined;
  /** Frees what a handle holds; it can run no more. */
  dropPlan(plan: object): void;
  /** The number of the call at which `runPlan` failed. */
  lastCall(): number;
  addressOf(buffer: ArrayBuffer): number;
  compileProgram(code: Float64Array): number;
  threads(count?: number): number;
  /** How many jobs threads have shared since the start, modulo 2³². */
  jobs(): number;
}

/** What the addon's error numbers mean: in the order of `Code` in native/runtime/tensor.h. */
export const errorCodes: readonly ErrorCode[] = [
  'INTERNAL',
  'INVALID_ARGUMENT',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'RESOURCE_EXHAUSTED',
  'INTERNAL',
];

/** The command that builds the addon in a checkout. */
export const buildCommand = 'pnpm build:native';

/**
 * Finds the addon: the file that `EAGRE_ADDON` names and no other, if it is set; else the checkout's own build, then the
 * package with the binary for this platform.
 * @returns the addon, or every reason why there is none.
 */
export function loadAddon(): { addon: Addon } | { addon: undefined; reasons: string[] } {
  const require = createRequire(import.meta.url);
  const given = process.env.EAGRE_ADDON;
  const candidates =
    given !== undefined && given !== ''
      ? [resolve(given)]
      : ['../../../native/build/Release/eagre.node', `@eagre/native-${process.platform}-${process.arch}`];
  const reasons: string[] = [];
  for (const candidate of candidates) {
    try {
      return { addon: require(candidate) as Addon };
    } catch (error) {
      reasons.push(
        `${candidate}: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`,
      );
    }
  }
  return { addon: undefined, reasons };
}

// Which modules are converted, whoever asks.
import { fileURLToPath } from 'node:url';

/** The endings of modules: CommonJS is left alone, since it has no imports to tell `tf.function` by. */
export const MODULES: RegExp = /\.(?:[jt]sx?|m[jt]s)(?:\?|$)/;
export const PACKAGES: RegExp = /[\\/]node_modules[\\/]/;
/** What every module that can have something to convert says. */
export const SAYS: RegExp = /eagre|use autograph|\btf\b/;

const slashed = (path: string): string => path.replaceAll('\\', '/');

// In a checkout, the library's own modules lie outside of node_modules.
const beside = /^(.*\/packages\/)autograph\/(?:src|dist)\//.exec(
  slashed(fileURLToPath(import.meta.url)),
)?.[1];

/** Whether a file is the library's own. */
export function isOwn(path: string): boolean {
  return beside !== undefined && slashed(path).startsWith(beside);
}

// Which modules are converted, whoever asks.

/** The endings of modules: CommonJS is left alone, since it has no imports to tell `tf.function` by. */
export const MODULES: RegExp = /\.(?:[jt]sx?|m[jt]s)(?:\?|$)/;
export const PACKAGES: RegExp = /[\\/]node_modules[\\/]/;
/** What every module that can have something to convert says. */
export const SAYS: RegExp = /eagre|use autograph/;

// In a checkout, the library's own modules lie outside of node_modules.
const beside = /^(?:file:\/\/)?(.*[\\/]packages[\\/])autograph[\\/](?:src|dist)[\\/]/.exec(
  import.meta.url,
)?.[1];

/** Whether a file is the library's own. @param path with slashes. */
export function isOwn(path: string): boolean {
  return beside !== undefined && path.startsWith(beside) && !path.includes('.test.');
}

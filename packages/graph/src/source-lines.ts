// Where code is: the library's or its users'.

// The library's own lines are not where a user's mistake is.
function isOwnLine(line: string): boolean {
  return /[\\/]@eagre[\\/]|[\\/]packages[\\/][\w-]+[\\/](src|dist)[\\/](?!.*\.test\.)/.test(line);
}

/** The first line of a stack that is a user's, such as `at step (/app/train.ts:3:7)`. */
export function userLine(stack: string | undefined): string | undefined {
  return stack
    ?.split('\n')
    .find((l) => /^\s+at /.test(l) && !l.endsWith('(<anonymous>)') && !isOwnLine(l))
    ?.trim();
}

const PACKAGES =
  'core|autodiff|autograph|layers|metrics|optimizers|graph|data|datasets|checkpoint|summary|formats|eagre|backend';

// The folder in which the packages lie beside each other: as far as this file shows.
const beside = import.meta.url.replace(/[^/]*\/[^/]*\/[^/]*$/, '').replace(/^file:\/\//, '');
const escaped = beside.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const installed = new RegExp(`/node_modules/(@eagre/(${PACKAGES})|eagre)/`);
const source = new RegExp(`^(file://)?${escaped}(${PACKAGES})/(src|dist)/(?!.*\\.test\\.)`);

interface CallSite {
  getFileName(): string | null | undefined;
  isNative(): boolean;
}

/**
 * Whether the code that has called `callee` is the library's. False where that cannot be told, as in bundles.
 * @param callee the function whose caller is asked for.
 */
export function calledByLibrary(callee: (...args: never[]) => unknown): boolean {
  const { prepareStackTrace, stackTraceLimit } = Error;
  if (typeof Error.captureStackTrace !== 'function') return false;
  let sites: readonly CallSite[] = [];
  Error.prepareStackTrace = (_, frames) => {
    sites = frames as unknown as readonly CallSite[];
    return '';
  };
  Error.stackTraceLimit = 6;
  try {
    const holder: { stack?: unknown } = {};
    Error.captureStackTrace(holder, callee);
    void holder.stack;
  } finally {
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
    else Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
  // Frames of JavaScript's own functions, such as Array.map, stand for who has called them.
  const file = sites
    .map((s) => s.getFileName())
    .find((f) => typeof f === 'string' && f !== '' && !f.startsWith('node:'));
  return typeof file === 'string' && (source.test(file) || installed.test(file.replaceAll('\\', '/')));
}

// Modules of WebAssembly: where they come from, and what is said where they cannot be had.
import { EagreError, InvalidArgumentError, UnavailableError } from '@eagre/backend';

/** A module: compiled, its bytes, or where it is. */
export type WasmSource = WebAssembly.Module | BufferSource | URL | string;

/** What opens a module, and what of. */
export interface Opening {
  readonly op: string;
  readonly of: string;
}

/** Whether modules know their own URL: at the edge they do not, and neither do those that a bundler has made one script of. */
export const saysWhere = (): boolean => URL.canParse('..', import.meta.url);

/**
 * Where a file of this package is served, of what a bundler has made of its URL. Next.js makes a path of it. Vite's development server moves the scripts of
 * dependencies into a folder of its own, and serves their other files from where they are.
 */
export const served = ({ href }: URL): URL =>
  new URL(
    href.replace(/(\/node_modules\/)\.vite\/(?=[^/]+$)/, '$1@eagre/backend-wasm/'),
    globalThis.location?.href,
  );

// Also those of another realm.
const isModule = (value: unknown): boolean =>
  typeof value === 'object' && Object.prototype.toString.call(value) === '[object WebAssembly.Module]';

/**
 * What URLs are relative to: this module, else the page. A text of its own: bundlers look for files in what stands beside `import.meta.url`. webpack has
 * pages know where a module was when it was bundled.
 */
const base = (): string | undefined => {
  const { protocol, href } = globalThis.location ?? {};
  const isElsewhere =
    protocol !== undefined && protocol !== 'file:' && `${import.meta.url}`.startsWith('file:');
  return saysWhere() && !isElsewhere ? `${import.meta.url}` : href;
};

/** @throws InvalidArgumentError for what is none */
export function checkSource(name: string, given: unknown, op: string): void {
  if (isModule(given) || given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return;
  if (typeof given !== 'string' && !(given instanceof URL))
    throw new InvalidArgumentError(
      `${name} must be a WebAssembly.Module, its bytes or its URL, got ${given === null ? 'null' : typeof given}`,
      op,
    );
  if (!URL.canParse(given, base())) throw new InvalidArgumentError(`${name} '${given}' is no URL`, op);
}

/** @throws InvalidArgumentError for what is no module; UnavailableError where it cannot be had, or cannot run */
export async function compiled(source: WasmSource, opening: Opening): Promise<WebAssembly.Module> {
  const { op } = opening;
  if (isModule(source)) return source as WebAssembly.Module;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
    return naming(() => WebAssembly.compile(source as BufferSource), opening);
  const url = new URL(source as URL | string, base());
  if (url.protocol === 'file:') {
    const builtin = globalThis.process?.getBuiltinModule;
    if (builtin === undefined) throw new UnavailableError(`${url}: this host reads no files`, op);
    const bytes = await builtin('node:fs/promises')
      .readFile(url)
      .catch((cause: Error) => {
        throw new UnavailableError(cause.message, op, { cause });
      });
    return naming(() => WebAssembly.compile(bytes), opening);
  }
  const response = await fetch(url).catch((cause: Error) => {
    throw new UnavailableError(`${url}: ${cause.message}`, op, { cause });
  });
  // Servers of pages answer with one where there is no file.
  const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
  if (!response.ok || isPage)
    throw new UnavailableError(
      `${url}: ${isPage ? 'a page, and no module' : `${response.status} ${response.statusText}`}: put the module there, which comes with @eagre/backend-wasm, or give its URL to ${op}({ module })`,
      op,
    );
  // Not all servers know the media type that streaming asks for.
  const bytes = await response.arrayBuffer();
  return naming(() => WebAssembly.compile(bytes), opening);
}

/** Has errors of WebAssembly say what to do. */
export function naming<T>(compute: () => T, { op, of }: Opening): T {
  const named = (cause: unknown): Error => {
    if (cause instanceof EagreError || !(cause instanceof Error)) return cause as Error;
    const { name, message } = cause;
    if (/content security policy|unsafe-eval/i.test(message))
      return new UnavailableError(
        `this page's content security policy forbids WebAssembly: its script-src needs 'wasm-unsafe-eval' (${message})`,
        op,
        { cause },
      );
    if (!hasSimd())
      return new UnavailableError(`this host has no SIMD in WebAssembly, which the ${of} need`, op, {
        cause,
      });
    if (name === 'CompileError' || name === 'LinkError' || name === 'TypeError')
      return new InvalidArgumentError(`that is no module of these ${of}: ${message}`, op, {
        cause,
      });
    return new UnavailableError(`the ${of} cannot run here: ${message}`, op, { cause });
  };
  try {
    const made = compute();
    return made instanceof Promise
      ? (made.catch((cause: unknown) => {
          throw named(cause);
        }) as T)
      : made;
  } catch (cause) {
    throw named(cause);
  }
}

/** Whether the host takes a module of one function, whose result is a vector. */
export function takes(...code: readonly number[]): boolean {
  const body = [10, code.length + 4, 1, code.length + 2, 0, ...code, 11];
  return WebAssembly.validate(
    Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, ...body),
  );
}
/** Makes a vector. */
export const ZEROS: readonly number[] = [65, 0, 253, 15];
const hasSimd = (): boolean => takes(...ZEROS, 253, 98);

/** A module that is a file beside this package's code, at once. */
export function readModule(url: URL): WebAssembly.Module {
  const { getBuiltinModule } = globalThis.process;
  const { existsSync, readFileSync } = getBuiltinModule('node:fs');
  if (existsSync(url)) return new WebAssembly.Module(readFileSync(url));
  // This is in a bundle, then.
  const { resolve } = getBuiltinModule('node:module').createRequire(import.meta.url);
  return new WebAssembly.Module(
    readFileSync(resolve(`@eagre/backend-wasm/${url.pathname.split('/').at(-1)}`)),
  );
}

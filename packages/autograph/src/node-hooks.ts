// Hooks of module loaders. In Node they run on a thread of their own where it has no others.
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FailedPreconditionError } from '@eagre/backend';
import { isOwn, MODULES, PACKAGES, SAYS } from './analysis/which.ts';
import { convert } from './convert.ts';

interface Context {
  readonly format?: string | null | undefined;
}
interface Loaded {
  readonly format: string | null | undefined;
  readonly source?: string | ArrayBuffer | NodeJS.TypedArray | null | undefined;
}
/** Files that Bun gives to the plugin: it takes no answer for a package's, where it is required. */
export const ofUser: RegExp = new RegExp(`^(?!.*${PACKAGES.source}).*${MODULES.source}`);

interface BunModule {
  readonly contents: string;
  readonly loader: string;
}
type SourceMap = NonNullable<ReturnType<typeof convert>['map']>;
type Next<T> = (url: string, context: Context) => T;

const { Deno: deno } = globalThis as { readonly Deno?: object };

/** The helpers of this copy of the library, wherever the module that is converted lies. */
const RUNTIME = new URL('./internal.js', import.meta.url).href;
/** Another copy of these hooks was there before. */
const CONVERTED = /^import \* as ag\$+ from ['"].*\/internal(?:\.js)?['"]/m;
const TYPED = /\.[mc]?tsx?$/;

/** Converts what the next hook loads. */
export async function load(
  url: string,
  context: Context,
  nextLoad: Next<Loaded | Promise<Loaded>>,
): Promise<Loaded> {
  try {
    return converted(url, await nextLoad(url, context));
  } catch (error) {
    throw explained(error, url);
  }
}

/** The same for hooks on the thread of the modules. */
export function loadSync(url: string, context: Context, nextLoad: Next<Loaded>): Loaded {
  try {
    return converted(url, nextLoad(url, context));
  } catch (error) {
    throw explained(error, url);
  }
}

function converted(url: string, loaded: Loaded): Loaded {
  const { format, source } = loaded;
  const path = pathOf(url);
  if (path === undefined) return loaded;
  if (format?.startsWith('commonjs')) {
    refuseDirective(path);
    return loaded;
  }
  if (!source || !isModule(format)) return loaded;
  const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
  // Deno gives TypeScript without its types.
  const before = deno === undefined ? readFileSync(path, 'utf8') : text;
  if (!SAYS.test(before)) return loaded;
  const { code, map } = convert(before, { filename: path, runtime: RUNTIME });
  if (map === null) return loaded;
  if (CONVERTED.test(text)) return loaded;
  if (text !== before && text !== before.replace(/^\uFEFF/, '')) {
    throw new FailedPreconditionError(
      `${path}: another loader has changed this module, so it cannot be converted: put --import eagre/register before other --import options, such as tsx`,
      'autograph',
    );
  }
  return { ...loaded, source: withMap(code, map, url) };
}

/** Deno names no formats; what is no module there has no imports, and is left as it is. */
function isModule(format: Loaded['format']): boolean {
  return format === 'module' || format === 'module-typescript' || (deno !== undefined && !format);
}

function withMap(code: string, map: SourceMap, url: string): string {
  const inline = Buffer.from(JSON.stringify({ ...map, sources: [url] })).toString('base64');
  return `${code}\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,${inline}\n`;
}

/**
 * What Bun's plugin loads instead of a module of the user's.
 * @throws FailedPreconditionError for CommonJS, which Bun would take for a module without exports.
 */
export function loadForBun({ path }: { readonly path: string }): BunModule {
  const source = readFileSync(path, 'utf8');
  if (/^(?:module\.)?exports\b/m.test(source) && !/^(?:import|export)\b/m.test(source))
    throw new FailedPreconditionError(
      `${path}: with eagre/register, Bun loads CommonJS only if it is named .cjs`,
      'autograph',
    );
  const [, ending = 'js'] = /\.[mc]?([jt]sx?)$/.exec(path) ?? [];
  // Bun itself takes JavaScript for JSX.
  const loader = ending === 'js' ? 'jsx' : ending;
  if (isOwn(path) || !SAYS.test(source)) return { contents: source, loader };
  const { code, map } = convert(source, { filename: path, runtime: RUNTIME });
  return { contents: map === null ? source : withMap(code, map, pathToFileURL(path).href), loader };
}

/** @throws FailedPreconditionError for a CommonJS module that asks to be converted: what it would have to import it cannot. */
function refuseDirective(path: string): void {
  if (!/^\s*(?:'use autograph'|"use autograph")/m.test(readFileSync(path, 'utf8'))) return;
  throw new FailedPreconditionError(
    `${path}: 'use autograph' is for modules with import and export: set "type": "module" in package.json, or name the file .mjs or .mts`,
    'autograph',
  );
}

/** The path of a module that may be converted. */
function pathOf(url: string): string | undefined {
  if (!url.startsWith('file:') || !MODULES.test(url) || PACKAGES.test(url)) return undefined;
  const path = fileURLToPath(url);
  return isOwn(path) ? undefined : path;
}

function explained(error: unknown, url: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const [file = url] = url.split(/[?#]/);
  if (code !== 'ERR_UNKNOWN_FILE_EXTENSION' || !TYPED.test(file)) return error;
  return new FailedPreconditionError(
    `${file}: Node ${process.versions.node} cannot run TypeScript. Use Node 22.18 or newer, or install tsx and run node --import eagre/register --import tsx …`,
    'autograph',
    { cause: error },
  );
}

// The files of URLs, by their schemes, and of `File` objects. Loaded when the first one is read or written.
import { beginsAsJson, tfjsWeightsPath } from '../tensorflow-js/model-json.ts';
import { checkIntegrity, fileName, listHttp, readHttp, removeHttp, writeHttp } from './http.ts';
import { hasFiles } from './node.ts';
import { type FetchOptions, type FileScheme, ownSchemes, type StoredFile, schemeOf } from './schemes.ts';
import { missing, SourceError } from './source-error.ts';
import { storages } from './storages.ts';
import { sharedStorages } from './tfjs-storages.ts';

export { SourceError } from './source-error.ts';

const httpOf = (scheme: string): FileScheme => ({
  read: readHttp,
  write: writeHttp,
  remove: removeHttp,
  list: () => listHttp(scheme),
});
const BUILT_IN: Readonly<Record<string, FileScheme>> = {
  ...storages,
  ...sharedStorages(storages),
  http: httpOf('http'),
  https: httpOf('https'),
};

/** What is read with options, or is no URL, while it is read: by a scheme of its own. */
const mounted = new Map<string, FileScheme>();
let mounts = 0;

function handlerOf(url: string, scheme: string): FileScheme {
  const found = mounted.get(scheme) ?? BUILT_IN[scheme] ?? ownSchemes.get(scheme);
  if (found !== undefined) return found;
  // A page fetches whatever its browser knows.
  if (!hasFiles()) return BUILT_IN['https'] as FileScheme;
  throw new SourceError(
    'UNIMPLEMENTED',
    scheme === 'file'
      ? `${url}: give the path of the file, which fileURLToPath(url) of node:url is`
      : `${url}: URLs of ${scheme}:// are not known; tf.io.registerScheme('${scheme}', { read }) says how to read them`,
  );
}

/** The bytes of a URL, or, in a page, of a path. */
export async function readUrl(url: string, options: FetchOptions = {}): Promise<Uint8Array> {
  const scheme = schemeOf(url);
  const bytes = await (scheme === undefined ? readHttp : handlerOf(url, scheme).read)(url, options);
  if (bytes instanceof Uint8Array) return bytes;
  throw new SourceError('INVALID_ARGUMENT', `${url}: read of the scheme must give a Uint8Array`);
}

/** Keeps bytes under a URL. */
export async function writeUrl(
  url: string,
  bytes: Uint8Array,
  options: Pick<FetchOptions, 'requestInit' | 'signal'> & { readonly overwrite?: boolean } = {},
): Promise<void> {
  const scheme = schemeOf(url) as string;
  const { write, list } = handlerOf(url, scheme);
  if (write === undefined) throw cannot('keep', url, scheme);
  if (options.overwrite === false) {
    if (list === undefined || /^https?$/.test(scheme))
      throw new SourceError(
        'INVALID_ARGUMENT',
        `${url}: whether there is something is not known there: leave overwrite out`,
      );
    if (url in (await list()))
      throw new SourceError('INVALID_ARGUMENT', `${url} exists, and overwrite is false`);
  }
  await write(url, bytes, options);
}

const cannot = (what: string, url: string, scheme: string): SourceError =>
  new SourceError('UNIMPLEMENTED', `${url}: ${scheme}:// cannot ${what} files`);

/** The files that a `model.json` names, whatever else is in it: its readers look closer. @throws SourceError for paths that lead elsewhere */
function pathsIn(bytes: Uint8Array, url: string): string[] {
  try {
    const { weightsManifest = [] } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as {
      weightsManifest?: readonly { readonly paths: readonly unknown[] }[];
    };
    const paths = weightsManifest.flatMap(({ paths }) => paths);
    const isName = (path: unknown): path is string =>
      typeof path === 'string' && path !== '' && !/[\\:?#]|^\/|(^|\/)\.\.?(\/|$)/.test(path);
    if (paths.every(isName)) return paths;
  } catch (cause) {
    throw new SourceError('DATA_LOSS', `${url}: it is no model.json: ${(cause as Error).message}`, cause);
  }
  throw new SourceError('DATA_LOSS', `${url}: weightsManifest names files that are not beside it`);
}

/** The URLs of a model: one of TensorFlow.js has files beside it. */
async function filesOf(url: string, bytes?: Uint8Array): Promise<string[]> {
  if (!/\.json([?#]|$)/.test(url) && !beginsAsJson(bytes)) return [url];
  const paths = pathsIn(bytes ?? (await readUrl(url)), url);
  // The one that names the others comes last.
  return [...paths.map((path) => tfjsWeightsPath(url, path)), url];
}

/** Deletes a model. @throws SourceError where there is none */
export async function removeFiles(url: string): Promise<void> {
  const scheme = schemeOf(url) as string;
  const { remove } = handlerOf(url, scheme);
  if (remove === undefined) throw cannot('delete', url, scheme);
  // What names the others goes first, so that nothing of it is found afterwards.
  const files = (await filesOf(url)).reverse();
  if (!(await remove(url))) throw missing(url);
  for (const file of files.slice(1)) await remove(file);
}

/** Copies a model. */
export async function copyFiles(from: string, to: string): Promise<void> {
  if (from === to)
    throw new SourceError('INVALID_ARGUMENT', `a model cannot be copied to its own place, ${from}`);
  const main = await readUrl(from);
  const sources = await filesOf(from, main);
  if (sources.length > 1 && !/\.json([?#]|$)/.test(to))
    throw new SourceError(
      'INVALID_ARGUMENT',
      `${from} has files beside it, so it is copied to a URL that ends in .json, such as …/model.json; got ${to}`,
    );
  const targets = await filesOf(to, main);
  const { list, remove } = handlerOf(to, schemeOf(to) as string);
  // Its files would be replaced one by one.
  if (sources.length > 1 && list !== undefined && to in (await list()))
    throw new SourceError(
      'ALREADY_EXISTS',
      `${to} exists, and is a model of several files: delete it first, by tf.io.removeModel`,
    );
  const written: string[] = [];
  try {
    for (const [i, source] of sources.entries()) {
      const target = targets[i] as string;
      await writeUrl(target, source === from ? main : await readUrl(source));
      written.push(target);
    }
  } catch (cause) {
    for (const target of written) await remove?.(target).catch(() => false);
    throw cause;
  }
}

/** Lists what is kept, by URL. */
export async function listFiles(): Promise<Record<string, StoredFile>> {
  const all = [...Object.values(BUILT_IN), ...ownSchemes.values()];
  const lists = await Promise.all(all.map(({ list }) => list?.() ?? {}));
  return Object.assign({}, ...lists);
}

/** A `File` or `Blob` of the page, or of Node. */
export interface FileLike {
  readonly size: number;
  readonly name?: string;
  readonly webkitRelativePath?: string;
  arrayBuffer(): Promise<ArrayBuffer>;
}
/** Where a model is read from: a URL, one file or several, as of `<input type="file" multiple>`. */
export type FileSource = string | FileLike | ArrayLike<FileLike>;

/**
 * Calls `read` with the path of a source, by which `readFileBytes` reads it, and what lies beside it: with these options.
 * @param isMain which one of several files is the first to be read
 */
export async function withSource<T>(
  source: FileSource,
  options: FetchOptions,
  isMain: (name: string) => boolean,
  read: (path: string) => Promise<T>,
): Promise<T> {
  const { scheme, rest, handler, real } = mount(source, options, isMain);
  mounted.set(scheme, handler);
  try {
    return await read(`${scheme}://${rest}`);
  } catch (error) {
    // Who has written the URL does not know the scheme.
    if (error instanceof Error && error.message.includes(scheme))
      error.message = error.message.replaceAll(`${scheme}://`, real);
    throw error;
  } finally {
    mounted.delete(scheme);
  }
}

interface Mount {
  readonly scheme: string;
  readonly rest: string;
  readonly handler: FileScheme;
  /** What stands for `scheme://` in messages. */
  readonly real: string;
}

function mount(source: FileSource, options: FetchOptions, isMain: (name: string) => boolean): Mount {
  const number = ++mounts;
  if (typeof source === 'string') {
    const own = schemeOf(source);
    const real = own === undefined ? '' : `${own}://`;
    const scheme = `${own ?? 'path'}+${number}`;
    const read = (url: string): Promise<Uint8Array> =>
      readUrl(`${real}${url.slice(scheme.length + 3)}`, options);
    return { scheme, rest: own === undefined ? source : source.slice(real.length), handler: { read }, real };
  }
  const files = isFile(source) ? [source] : Array.from(source as ArrayLike<FileLike>);
  const scheme = `files+${number}`;
  const nameOf = (file: FileLike): string => file.name ?? 'blob';
  const main = files.length === 1 ? files[0] : files.find((file) => isMain(nameOf(file)));
  if (main === undefined)
    throw new SourceError(
      'INVALID_ARGUMENT',
      files.length === 0
        ? 'no file was given'
        : `none of the files is a model: ${files.map(nameOf).join(', ')}`,
    );
  const read = async (url: string): Promise<Uint8Array> => {
    const name = fileName(url);
    const file = name === nameOf(main) ? main : files.find((one) => nameOf(one) === name);
    if (file === undefined)
      throw new SourceError(
        'NOT_FOUND',
        `the file ${name} is not among those that were given: ${files.map(nameOf).join(', ')}`,
      );
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (cause) {
      throw new SourceError(
        'UNAVAILABLE',
        `the file ${name} cannot be read: ${(cause as Error).message}`,
        cause,
      );
    }
    await checkIntegrity(bytes, name, options);
    options.onProgress?.(1, { url: name, loaded: bytes.length, total: bytes.length });
    return bytes;
  };
  return { scheme, rest: nameOf(main), handler: { read }, real: '' };
}

/** Whether a value is a `File` or a `Blob`, of whatever frame. */
export const isFile = (value: unknown): value is FileLike =>
  typeof value === 'object' &&
  value !== null &&
  /^\[object (File|Blob)\]$/.test(Object.prototype.toString.call(value));

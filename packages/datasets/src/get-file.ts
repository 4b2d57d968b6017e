import { fileError, InvalidArgumentError } from '@eagre/backend';
import { checkText, defineFunction, type NamedFunction, shown } from '@eagre/core/internal';
import { gunzip, isGzip, readFileBytes, unzip } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { type Checksum, checksumLike } from './checksum.ts';
import { decoding } from './corrupt.ts';
import { DatasetError } from './errors.ts';
import * as kind from './kinds.ts';
import { cacheRoot } from './locate.ts';
import { type LoadOptions, loadOptions } from './options.ts';
import { readTar, type TarMember } from './tar.ts';

const OP = 'tf.keras.utils.getFile';
const DEFAULT_MAX_BYTES = 2 ** 31 - 1;

/** Options of {@link getFile}; those of downloads are as everywhere. */
export interface GetFileOptions
  extends Pick<LoadOptions, 'cacheDir' | 'offline' | 'progress' | 'signal' | 'retries' | 'timeoutMs'> {
  /** The name to keep the file under. Default: the last part of the URL's path. */
  fname?: string | undefined;
  /** The file's checksum, `sha256:…` or `md5:…`, or its digits alone. Without one, what the server sends is believed. */
  fileHash?: Checksum | string | undefined;
  /** An older name of `fileHash`, of MD5. */
  md5Hash?: string | undefined;
  /** The folder in the cache, relative to it. Default: `datasets`. */
  cacheSubdir?: string | undefined;
  /** Unpack the file, a `.zip`, `.tar` or `.tar.gz`, into `<fname>_extracted`, and give that folder. Default: false. */
  extract?: boolean | undefined;
  /** An older name of `extract`. */
  untar?: boolean | undefined;
  /** Download it even when it is here. Default: false. */
  forceDownload?: boolean | undefined;
  /** The most bytes that the file, and what it unpacks to, may have. Default: 2 GiB. */
  maxBytes?: number | undefined;
}

/**
 * Downloads a file into the cache unless it is there, and gives its path, as Keras's `get_file`; with `extract` the
 * path of the folder that it was unpacked into. Both appear whole or not at all. An interrupted download is resumed
 * where there is a checksum to tell whether the parts fit.
 *
 * @throws InvalidArgumentError for what is no URL, and when there is no name for the file, or one that leads out of the cache.
 * @throws DatasetError that names the file: `download`, `cache`, `missing` (with `offline`), or `corrupt` (an archive
 * that is damaged, too large, or holds links or paths that lead out of its folder).
 */
export const getFile: NamedFunction<
  [origin: string],
  ['origin'],
  GetFileOptions,
  Promise<string>
> = defineFunction(
  OP,
  { origin: true },
  {
    cacheDir: loadOptions.cacheDir,
    offline: loadOptions.offline,
    progress: loadOptions.progress,
    signal: loadOptions.signal,
    retries: loadOptions.retries,
    timeoutMs: loadOptions.timeoutMs,
    fname: kind.text,
    fileHash: kind.text,
    md5Hash: kind.text,
    cacheSubdir: kind.text,
    extract: kind.flag,
    untar: kind.flag,
    forceDownload: kind.flag,
    maxBytes: kind.count(0),
  },
  async (origin, options) => await fetched(origin, options),
);

async function fetched(origin: string, options: GetFileOptions): Promise<string> {
  checkText(origin, 'origin', OP);
  const { join } = nodeBuiltin('node:path');
  const fileHash = checksumIn(options);
  const { cacheSubdir = 'datasets', maxBytes = DEFAULT_MAX_BYTES } = options;
  const name = options.fname ?? nameIn(origin);
  const folder = join(cacheRoot(options), checkedPath('cacheSubdir', cacheSubdir));
  const path = join(folder, checkedPath('fname', name));

  const here = options.forceDownload ? undefined : await existing(path, fileHash);
  if (!here && options.offline) {
    const what = 'there is no such file, or another one';
    const hint = 'Put it there, or allow the download by leaving out `offline`';
    throw new DatasetError({ code: 'missing', dataset: name, file: path, what, hint });
  }
  const bytes =
    here ??
    (await (
      await import('./download.ts')
    ).download(
      {
        dataset: name,
        name,
        checksum: fileHash,
        maxBytes,
        urls: [origin],
        path,
        hint: `Put the file there, or give another URL than ${origin}`,
      },
      options,
    ));
  return options.extract || options.untar
    ? await extracted(name, path, bytes, maxBytes, here === undefined)
    : path;
}

/** The checksum of the options, with the name of its kind. */
function checksumIn({ fileHash, md5Hash }: GetFileOptions): Checksum | undefined {
  const given = fileHash ?? md5Hash;
  if (given === undefined) return undefined;
  if (fileHash !== undefined && md5Hash !== undefined)
    throw new InvalidArgumentError('give either fileHash or md5Hash', OP);
  if (/^(sha256|md5):./.test(given)) return given as Checksum;
  if (/^([\da-f]{32}|[\da-f]{64})$/i.test(given))
    return `${given.length === 32 ? 'md5' : 'sha256'}:${given.toLowerCase()}` as Checksum;
  throw new InvalidArgumentError(
    `fileHash must be a checksum, 'sha256:…' or 'md5:…', got ${shown(given)}`,
    OP,
  );
}

/** The last part of a URL's path. */
function nameIn(origin: string): string {
  try {
    return decodeURIComponent(new URL(origin).pathname.split('/').at(-1) ?? '');
  } catch {
    throw new InvalidArgumentError(`origin must be a URL, got ${shown(origin)}`, OP);
  }
}

async function existing(path: string, checksum: Checksum | undefined): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFileBytes(path);
    return checksum === undefined || checksumLike(checksum, bytes) === checksum ? bytes : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw fileError(error, path, OP);
    return undefined;
  }
}

async function extracted(
  name: string,
  path: string,
  bytes: Uint8Array,
  maxBytes: number,
  isNew: boolean,
): Promise<string> {
  const { existsSync, promises } = nodeBuiltin('node:fs');
  const { dirname, join } = nodeBuiltin('node:path');
  const target = `${path}_extracted`;
  if (!isNew && existsSync(target)) return target;
  const members = await decoding(name, path, () => readArchive(path, bytes, maxBytes));
  for (const member of members) {
    if (isInside(member.path)) continue;
    const what = `${JSON.stringify(member.path.slice(0, 120))} leads out of the archive's folder`;
    throw new DatasetError({
      code: 'corrupt',
      dataset: name,
      file: path,
      what,
      hint: 'Do not trust this archive',
    });
  }
  // Unpacked beside its place, then moved there: a crash leaves no half of it.
  const temporary = await promises.mkdtemp(`${target}-`);
  try {
    for (const member of members) {
      const to = join(temporary, member.path);
      await promises.mkdir(member.kind === 'folder' ? to : dirname(to), { recursive: true });
      if (member.kind === 'file') await promises.writeFile(to, member.bytes);
    }
    await promises.rm(target, { recursive: true, force: true });
    await promises.rename(temporary, target);
  } catch (cause) {
    await promises.rm(temporary, { recursive: true, force: true });
    throw new DatasetError({
      code: 'cache',
      dataset: name,
      file: target,
      what: `cannot be written (${(cause as Error).message})`,
      hint: 'Name a writable folder by the option `cacheDir` or by $EAGRE_CACHE',
      cause,
    });
  }
  return target;
}

async function readArchive(file: string, bytes: Uint8Array, maxBytes: number): Promise<TarMember[]> {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) {
    return unzip(bytes, { file, maxBytes }).map((member) => ({
      path: member.name,
      kind: member.name.endsWith('/') ? 'folder' : 'file',
      bytes: member.bytes,
    }));
  }
  return await readTar(isGzip(bytes) ? await gunzip(bytes, { file, maxBytes }) : bytes, { file });
}

function checkedPath(what: string, path: string): string {
  if (path !== '' && isInside(path)) return path;
  throw new InvalidArgumentError(`${what} must be a relative path inside the cache, got ${shown(path)}`, OP);
}

/** Whether a relative path with forward slashes stays in its folder, on every system. */
function isInside(path: string): boolean {
  return !/^[/\\]|^[a-zA-Z]:|\\|\0/.test(path) && !path.split('/').includes('..');
}

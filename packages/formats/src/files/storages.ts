// Files in what pages keep: databases, local storage, a file system of their own; and downloads.
import type { FileScheme, StoredFile } from './schemes.ts';
import { missing, SourceError } from './source-error.ts';

/** What stands behind `scheme://`. @throws SourceError for nothing */
export function pathOf(url: string): string {
  const path = url.replace(/^[^:]*:\/\//, '');
  if (path === '' || path.includes('\0'))
    throw new SourceError(
      'INVALID_ARGUMENT',
      `${url}: a name must follow, such as ${url.split('://')[0]}://my-model`,
    );
  return path;
}

const lacking = (what: string, url: string): SourceError =>
  new SourceError('UNIMPLEMENTED', `${url}: there is no ${what} here`);

/** What a storage of the page threw. */
function storageError(cause: unknown, url: string): unknown {
  const { name, message } = (cause ?? {}) as Error;
  if (name === 'QuotaExceededError' || name === 'NS_ERROR_DOM_QUOTA_REACHED')
    return new SourceError(
      'RESOURCE_EXHAUSTED',
      `${url}: the storage of the page is full, and what was there is as it was: tf.io.removeModel(url) makes room`,
      cause,
    );
  if (name === 'SecurityError' || name === 'NotAllowedError')
    return new SourceError('PERMISSION_DENIED', `${url}: the page may keep nothing there: ${message}`, cause);
  if (cause instanceof SourceError || !/Error$/.test(name ?? '')) return cause;
  return new SourceError('UNAVAILABLE', `${url}: the storage of the page failed: ${name}: ${message}`, cause);
}

/** Runs `work` with what the storage throws as errors that say what to do. */
export async function guarded<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw storageError(cause, url);
  }
}

// ---- IndexedDB

/** A request to a database. */
export interface Request<T> {
  result: T;
  error: Error | null;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
  onupgradeneeded?: (() => void) | null;
  onblocked?: (() => void) | null;
}
interface Table {
  get(key: string): Request<unknown>;
  put(value: unknown, key: string): Request<unknown>;
  delete(key: string): Request<unknown>;
  getAll(): Request<readonly unknown[]>;
  getAllKeys(): Request<readonly string[]>;
}
interface Transaction {
  objectStore(name: string): Table;
  abort(): void;
  error: Error | null;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}
interface Database {
  createObjectStore(name: string): unknown;
  transaction(names: readonly string[], mode: 'readonly' | 'readwrite', options?: object): Transaction;
  close(): void;
}

const DATABASE = 'eagre-models';
const FILES = 'files';
/** Sizes and dates, so that a list reads no files. */
const ABOUT = 'about';

/** The result of a request. */
export function settled<T>(request: Request<T>): Promise<T> {
  const promise = new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  // Where another request fails first, nobody waits for it.
  promise.catch(() => undefined);
  return promise;
}

/** Runs a transaction to its end. */
async function inDatabase<T>(
  url: string,
  mode: 'readonly' | 'readwrite',
  work: (files: Table, about: Table) => Promise<T>,
): Promise<T> {
  const { indexedDB } = globalThis as {
    indexedDB?: { open(name: string, version: number): Request<Database> };
  };
  if (indexedDB === undefined) throw lacking('IndexedDB', url);
  return guarded(url, async () => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => {
      for (const name of [FILES, ABOUT]) opening.result.createObjectStore(name);
    };
    const database = await settled(opening);
    try {
      const transaction = database.transaction([FILES, ABOUT], mode, { durability: 'strict' });
      const ended = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
      ended.catch(() => undefined);
      try {
        const result = await work(transaction.objectStore(FILES), transaction.objectStore(ABOUT));
        await ended;
        return result;
      } catch (cause) {
        // Nothing of it happens then.
        try {
          transaction.abort();
        } catch {
          // It has ended.
        }
        await ended.catch(() => undefined);
        // Its own error says why its requests were aborted.
        throw transaction.error ?? cause;
      }
    } finally {
      database.close();
    }
  });
}

const indexeddb: FileScheme = {
  async read(url) {
    const key = pathOf(url);
    const bytes = await inDatabase(url, 'readonly', (files) => settled(files.get(key)));
    if (!(bytes instanceof Uint8Array)) throw missing(url);
    return bytes;
  },
  async write(url, bytes) {
    const key = pathOf(url);
    await inDatabase(url, 'readwrite', (files, about) =>
      Promise.all([
        settled(files.put(bytes, key)),
        settled(about.put({ bytes: bytes.length, dateSaved: new Date() }, key)),
      ]),
    );
  },
  async remove(url) {
    const key = pathOf(url);
    return inDatabase(url, 'readwrite', async (files, about) => {
      const found = await settled(about.get(key));
      await Promise.all([settled(files.delete(key)), settled(about.delete(key))]);
      return found !== undefined;
    });
  },
  async list() {
    if ((globalThis as { indexedDB?: unknown }).indexedDB === undefined) return {};
    return inDatabase('indexeddb://', 'readonly', async (_, about) => {
      const [keys, values] = await Promise.all([settled(about.getAllKeys()), settled(about.getAll())]);
      return Object.fromEntries(keys.map((key, i) => [`indexeddb://${key}`, values[i] as StoredFile]));
    });
  },
};

// ---- local storage

/** The page's local storage. */
export interface Texts {
  readonly length: number;
  key(i: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}
const PREFIX = 'eagre-models/';

/** The page's local storage. @throws SourceError where there is none */
export function texts(url: string): Texts {
  let found: Texts | undefined;
  try {
    // Node has one that asks for a file.
    if ((globalThis as { document?: unknown }).document !== undefined)
      found = (globalThis as { localStorage?: Texts }).localStorage;
  } catch (cause) {
    throw storageError(cause, url);
  }
  if (found === undefined) throw lacking('local storage, which only pages have, not their workers,', url);
  return found;
}

/** As a text of a date, a size and bytes in base64. */
function asText(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 8190)
    text += btoa(String.fromCharCode(...bytes.subarray(i, i + 8190)));
  return `${Date.now()}|${bytes.length}|${text}`;
}

const localstorage: FileScheme = {
  async read(url) {
    const [, , text] =
      texts(url)
        .getItem(PREFIX + pathOf(url))
        ?.split('|') ?? [];
    if (text === undefined) throw missing(url);
    try {
      return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    } catch (cause) {
      throw new SourceError('DATA_LOSS', `${url}: what is kept there is not what was saved`, cause);
    }
  },
  async write(url, bytes) {
    await guarded(url, async () => texts(url).setItem(PREFIX + pathOf(url), asText(bytes)));
  },
  async remove(url) {
    const key = PREFIX + pathOf(url);
    const found = texts(url).getItem(key) !== null;
    texts(url).removeItem(key);
    return found;
  },
  async list() {
    const files: Record<string, StoredFile> = {};
    if ((globalThis as { document?: unknown }).document === undefined) return files;
    const all = texts('localstorage://');
    for (let i = 0; i < all.length; i++) {
      const key = all.key(i) as string;
      if (!key.startsWith(PREFIX)) continue;
      const [date, bytes] = (all.getItem(key) ?? '').split('|', 2);
      files[`localstorage://${key.slice(PREFIX.length)}`] = {
        bytes: Number(bytes),
        dateSaved: new Date(Number(date)),
      };
    }
    return files;
  },
};

// ---- the file system of the page's origin

interface PageFile {
  readonly kind: 'file';
  getFile(): Promise<Blob & { readonly lastModified: number }>;
  createWritable?(): Promise<{
    write(bytes: Uint8Array): Promise<void>;
    close(): Promise<void>;
    abort(): Promise<void>;
  }>;
}
interface PageFolder {
  readonly kind: 'directory';
  getDirectoryHandle(name: string, options?: { create: boolean }): Promise<PageFolder>;
  getFileHandle(name: string, options?: { create: boolean }): Promise<PageFile>;
  removeEntry(name: string): Promise<void>;
  entries(): AsyncIterable<[string, PageFile | PageFolder]>;
}

async function rootFolder(url: string): Promise<PageFolder> {
  const { navigator } = globalThis as {
    navigator?: { storage?: { getDirectory?(): Promise<PageFolder> } };
  };
  if (navigator?.storage?.getDirectory === undefined)
    throw lacking('file system of the page, which needs HTTPS or a server on this machine,', url);
  return navigator.storage.getDirectory();
}

/** Calls `fn` with the folder of a file, and the file's name. */
async function inFolder<T>(
  url: string,
  create: boolean,
  fn: (folder: PageFolder, name: string) => Promise<T>,
): Promise<T> {
  const names = pathOf(url).split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    throw new SourceError(
      'INVALID_ARGUMENT',
      `${url}: a path is names with slashes between them, such as opfs://models/a.keras`,
    );
  try {
    let folder = await rootFolder(url);
    for (const name of names.slice(0, -1)) folder = await folder.getDirectoryHandle(name, { create });
    return await fn(folder, names.at(-1) as string);
  } catch (cause) {
    const { name } = cause as Error;
    if (name === 'NotFoundError') throw missing(url);
    if (name === 'TypeMismatchError')
      throw new SourceError(
        'FAILED_PRECONDITION',
        `${url}: a folder is where a file is wanted, or a file where a folder is`,
        cause,
      );
    throw storageError(cause, url);
  }
}

const opfs: FileScheme = {
  read: (url) =>
    inFolder(url, false, async (folder, name) => {
      const file = await (await folder.getFileHandle(name)).getFile();
      return new Uint8Array(await file.arrayBuffer());
    }),
  write: (url, bytes) =>
    inFolder(url, true, async (folder, name) => {
      const isNew = await folder.getFileHandle(name).then(
        () => false,
        (cause: Error) => cause.name === 'NotFoundError',
      );
      const file = await folder.getFileHandle(name, { create: true });
      try {
        if (file.createWritable === undefined)
          throw lacking('way to write a file whole or not at all in this browser', url);
        // The old content is there until it is closed.
        const writing = await file.createWritable();
        try {
          await writing.write(bytes);
          await writing.close();
        } catch (cause) {
          await writing.abort().catch(() => undefined);
          throw cause;
        }
      } catch (cause) {
        if (isNew) await folder.removeEntry(name).catch(() => undefined);
        throw cause;
      }
    }),
  remove: (url) =>
    inFolder(url, false, async (folder, name) => {
      await folder.getFileHandle(name);
      await folder.removeEntry(name);
      return true;
    }).catch((error: unknown) => {
      if (error instanceof SourceError && error.code === 'NOT_FOUND') return false;
      throw error;
    }),
  async list() {
    const files: Record<string, StoredFile> = {};
    const walk = async (folder: PageFolder, path: string): Promise<void> => {
      for await (const [name, entry] of folder.entries()) {
        if (entry.kind === 'directory') await walk(entry, `${path}${name}/`);
        // The page may keep other files there.
        else if (/\.(keras|h5|hdf5|json|onnx|safetensors)$/.test(name)) {
          const { size, lastModified } = await entry.getFile();
          files[`${path}${name}`] = { bytes: size, dateSaved: new Date(lastModified) };
        }
      }
    };
    const root = await rootFolder('opfs://').catch(() => undefined);
    if (root !== undefined) await guarded('opfs://', () => walk(root, 'opfs://'));
    return files;
  },
};

// ---- downloads

interface Link {
  href: string;
  download: string;
  click(): void;
}

const downloads: FileScheme = {
  async read(url) {
    throw new SourceError(
      'UNIMPLEMENTED',
      `${url}: downloads are only saved; give loadModel the File that the user chooses`,
    );
  },
  async write(url, bytes) {
    const { document } = globalThis as { document?: { createElement(name: 'a'): Link } };
    if (document === undefined) throw lacking('document, which downloads need,', url);
    const name = pathOf(url);
    const link = document.createElement('a');
    const file = URL.createObjectURL(
      new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/octet-stream' }),
    );
    link.href = file;
    link.download = name;
    link.click();
    // The browser reads it later.
    setTimeout(() => URL.revokeObjectURL(file), 60_000);
  },
};

export const storages: Readonly<Record<'indexeddb' | 'localstorage' | 'opfs' | 'downloads', FileScheme>> = {
  indexeddb,
  localstorage,
  opfs,
  downloads,
};

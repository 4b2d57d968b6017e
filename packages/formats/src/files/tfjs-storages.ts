// Models that TensorFlow.js has kept in a page, as files: a model.json and the bytes of its weights, under the model's name and in a folder of it.
import { isObject } from '../plain-object.ts';
import type { FileScheme, StoredFile } from './schemes.ts';
import { missing, SourceError } from './source-error.ts';
import { guarded, pathOf, type Request, settled, texts } from './storages.ts';

/** What is kept of a model, whoever has kept it. */
interface Kept {
  /** What stands in a `model.json` but for the list of weights. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly weightSpecs: unknown;
  readonly weights: Uint8Array;
}

/** Where TensorFlow.js keeps models, by their names. */
interface Place {
  read(name: string, url: string): Promise<Kept | undefined>;
  remove(name: string, url: string): Promise<boolean>;
  list(): Promise<Readonly<Record<string, unknown>>>;
}

const MODEL = '/model.json';
const WEIGHTS = '/weights.bin';

/** The parts of a `model.json`, in its order. */
const PARTS = [
  'format',
  'generatedBy',
  'convertedBy',
  'modelTopology',
  'trainingConfig',
  'userDefinedMetadata',
  'signature',
  'modelInitializer',
  'initializerSignature',
];

const partsOf = (artifacts: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(PARTS.flatMap((part) => (artifacts[part] == null ? [] : [[part, artifacts[part]]])));

const lost = (url: string, what: string, cause?: unknown): SourceError =>
  new SourceError('DATA_LOSS', `${url}: what TensorFlow.js has kept there has no ${what}`, cause);

/** The file that a URL stands for; undefined where there is no such model. */
async function fileOf(url: string, place: Place): Promise<Uint8Array | undefined> {
  const path = pathOf(url);
  const json = (kept: Kept, weights: string): Uint8Array => {
    if (!Array.isArray(kept.weightSpecs)) throw lost(url, 'list of weights');
    const weightsManifest = [{ paths: [weights], weights: kept.weightSpecs }];
    return new TextEncoder().encode(JSON.stringify({ ...kept.json, weightsManifest }));
  };
  const own = await place.read(path, url);
  if (own !== undefined) return json(own, path.slice(path.lastIndexOf('/') + 1) + WEIGHTS);
  for (const ending of [MODEL, WEIGHTS]) {
    if (!path.endsWith(ending)) continue;
    const kept = await place.read(path.slice(0, -ending.length), url);
    if (kept !== undefined) return ending === MODEL ? json(kept, WEIGHTS.slice(1)) : kept.weights;
  }
  return undefined;
}

/** How large a model is, and of when, as TensorFlow.js says it. */
function storedFile(info: unknown): StoredFile {
  const { dateSaved, ...sizes } = isObject(info) ? info : {};
  const bytes = ['modelTopologyBytes', 'weightSpecsBytes', 'weightDataBytes'].map((key) =>
    Number(sizes[key] ?? 0),
  );
  return { bytes: bytes.reduce((a, b) => a + b), dateSaved: new Date(dateSaved as string | Date) };
}

/** A scheme in which what TensorFlow.js has kept is found, too, where there is nothing of that name. */
function withModelsOf(scheme: string, own: FileScheme, place: Place): FileScheme {
  return {
    ...own,
    async read(url, options) {
      try {
        return await own.read(url, options);
      } catch (error) {
        if (!(error instanceof SourceError) || error.code !== 'NOT_FOUND') throw error;
        const found = await fileOf(url, place);
        if (found === undefined) throw missing(url);
        return found;
      }
    },
    remove: async (url) => (await own.remove?.(url)) === true || place.remove(pathOf(url), url),
    async list() {
      const theirs = Object.entries(await place.list());
      return {
        ...Object.fromEntries(
          theirs.map(([name, info]) => [`${scheme}://${name}`, storedFile(info)] as const),
        ),
        ...(await own.list?.()),
      };
    },
  };
}

// ---- IndexedDB

interface Table {
  get(key: string): Request<unknown>;
  delete(key: string): Request<unknown>;
  getAll(): Request<readonly unknown[]>;
}
interface Transaction {
  objectStore(name: string): Table;
  abort(): void;
  error: Error | null;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}
interface Database {
  readonly objectStoreNames: { contains(name: string): boolean };
  transaction(names: readonly string[], mode: 'readonly' | 'readwrite'): Transaction;
  close(): void;
}
const MODELS = 'models_store';
const INFOS = 'model_info_store';

/** Works with its database, where there is one. */
async function inDatabase<T>(
  url: string,
  mode: 'readonly' | 'readwrite',
  none: T,
  work: (models: Table, infos: Table) => Promise<T>,
): Promise<T> {
  const { indexedDB } = globalThis as {
    indexedDB?: { open(name: string): Request<Database> & { readonly transaction: Transaction } };
  };
  if (indexedDB === undefined) return none;
  return guarded(url, async () => {
    const opening = indexedDB.open('tensorflowjs');
    let isNew = false;
    // It is not ours to make.
    opening.onupgradeneeded = () => {
      isNew = true;
      opening.transaction.abort();
    };
    const database = await settled(opening).catch((error: unknown) => {
      if (isNew) return undefined;
      throw error;
    });
    if (database === undefined) return none;
    try {
      if (![MODELS, INFOS].every((name) => database.objectStoreNames.contains(name))) return none;
      const transaction = database.transaction([MODELS, INFOS], mode);
      const ended = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
      ended.catch(() => undefined);
      const result = await work(transaction.objectStore(MODELS), transaction.objectStore(INFOS));
      await ended;
      return result;
    } finally {
      database.close();
    }
  });
}

const database: Place = {
  read: (name, url) =>
    inDatabase(url, 'readonly', undefined, async (models): Promise<Kept | undefined> => {
      const found = await settled(models.get(name));
      if (found === undefined) return undefined;
      const artifacts = isObject(found) ? found['modelArtifacts'] : undefined;
      if (!isObject(artifacts)) throw lost(url, 'model');
      const { weightData, weightSpecs } = artifacts;
      const parts = Array.isArray(weightData) ? (weightData as readonly unknown[]) : [weightData];
      if (!parts.every((part) => part instanceof ArrayBuffer)) throw lost(url, 'weights');
      const weights = new Uint8Array(parts.reduce((size, part) => size + part.byteLength, 0));
      let at = 0;
      for (const part of parts) {
        weights.set(new Uint8Array(part), at);
        at += part.byteLength;
      }
      return { json: partsOf(artifacts), weightSpecs, weights };
    }),
  remove: (name, url) =>
    inDatabase(url, 'readwrite', false, async (models, infos) => {
      const found = await settled(models.get(name));
      await Promise.all([settled(models.delete(name)), settled(infos.delete(name))]);
      return found !== undefined;
    }),
  list: () =>
    inDatabase('indexeddb://', 'readonly', {}, async (_, infos) =>
      Object.fromEntries(
        (await settled(infos.getAll())).flatMap((info) =>
          isObject(info) ? [[String(info['modelPath']), info['modelArtifactsInfo']] as const] : [],
        ),
      ),
    ),
};

// ---- local storage

const PREFIX = 'tensorflowjs_models/';
const INFO = '/info';
const keysOf = (name: string): readonly string[] =>
  ['info', 'model_topology', 'weight_specs', 'weight_data', 'model_metadata'].map(
    (part) => `${PREFIX}${name}/${part}`,
  );

const localStorage: Place = {
  async read(name, url) {
    const [info, topology, specs, data, metadata] = keysOf(name).map((key) => texts(url).getItem(key));
    if (info == null) return undefined;
    const json = (text: string | null | undefined, what: string): unknown => {
      try {
        return JSON.parse(text ?? '');
      } catch (cause) {
        throw lost(url, what, cause);
      }
    };
    const parts = metadata == null ? {} : json(metadata, 'metadata');
    let weights: Uint8Array;
    try {
      weights = Uint8Array.from(atob(data ?? '?'), (sign) => sign.charCodeAt(0));
    } catch (cause) {
      throw lost(url, 'weights', cause);
    }
    return {
      json: partsOf({ ...(isObject(parts) ? parts : {}), modelTopology: json(topology, 'topology') }),
      weightSpecs: json(specs, 'list of weights'),
      weights,
    };
  },
  async remove(name, url) {
    const keys = keysOf(name);
    const found = texts(url).getItem(keys[0] as string) !== null;
    for (const key of keys) texts(url).removeItem(key);
    return found;
  },
  async list() {
    const found: Record<string, unknown> = {};
    if ((globalThis as { document?: unknown }).document === undefined) return found;
    const all = texts('localstorage://');
    for (let i = 0; i < all.length; i++) {
      const key = all.key(i) as string;
      if (!key.startsWith(PREFIX) || !key.endsWith(INFO)) continue;
      try {
        found[key.slice(PREFIX.length, -INFO.length)] = JSON.parse(all.getItem(key) ?? '');
      } catch {
        // Something else.
      }
    }
    return found;
  },
};

/** The page's storages, in which models of TensorFlow.js are found as well. */
export const sharedStorages = (
  own: Readonly<Record<'indexeddb' | 'localstorage', FileScheme>>,
): Record<string, FileScheme> => ({
  indexeddb: withModelsOf('indexeddb', own.indexeddb, database),
  localstorage: withModelsOf('localstorage', own.localstorage, localStorage),
});

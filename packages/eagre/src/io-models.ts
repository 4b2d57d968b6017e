// Models that pages keep, by URL.
import { fileError } from '@eagre/backend';
import { AlreadyExistsError, InvalidArgumentError } from '@eagre/core';
import { defineFunction, isPlain, kind, type NamedFunction, shown } from '@eagre/core/internal';
import type { FileScheme, StoredFile } from '@eagre/formats';
import { ownSchemes, schemeOf, urlFiles } from '@eagre/formats/internal';

function checkUrl(url: unknown, what: string, op: string): void {
  if (typeof url === 'string' && schemeOf(url) !== undefined) return;
  throw new InvalidArgumentError(
    `${what} must be a URL, such as 'indexeddb://my-model', got ${shown(url)}`,
    op,
  );
}

/** What goes wrong with URLs, as errors of Eagre. */
async function guarded<T>(
  op: string,
  work: (files: Awaited<ReturnType<typeof urlFiles>>) => Promise<T>,
): Promise<T> {
  try {
    return await work(await urlFiles());
  } catch (cause) {
    throw fileError(cause, undefined, op);
  }
}

/**
 * What the page keeps, with its size and date, by URL: `indexeddb://`, `localstorage://`, models in `opfs://`, what `loadModel` with `cache: true` has put into the cache, and that of schemes of
 * your own. In Node these alone.
 */
export const listModels: NamedFunction<
  [],
  [],
  unknown,
  Promise<Record<string, StoredFile>>
> = /* @__PURE__ */ defineFunction('io.listModels', {}, {}, async () =>
  guarded('io.listModels', (files) => files.listFiles()),
);

/** Deletes what is kept under a URL. @throws (the promise) NotFoundError if there is nothing */
export const removeModel: NamedFunction<
  [url: string],
  ['url'],
  unknown,
  Promise<void>
> = /* @__PURE__ */ defineFunction('io.removeModel', { url: kind.asIs }, {}, async (url) => {
  checkUrl(url, 'url', 'io.removeModel');
  await guarded('io.removeModel', (files) => files.removeFiles(url));
});

const places = { sourceURL: kind.asIs, destURL: kind.asIs } as const;
type Places = NamedFunction<
  [sourceURL: string, destURL: string],
  ['sourceURL', 'destURL'],
  unknown,
  Promise<void>
>;

function checkPlaces(sourceURL: unknown, destURL: unknown, op: string): void {
  checkUrl(sourceURL, 'sourceURL', op);
  checkUrl(destURL, 'destURL', op);
}

/** Copies what is kept under a URL, also from a server, to another one, in the place of what is there. A `model.json` takes the files along that it names. */
export const copyModel: Places = /* @__PURE__ */ defineFunction(
  'io.copyModel',
  places,
  {},
  async (sourceURL, destURL) => {
    checkPlaces(sourceURL, destURL, 'io.copyModel');
    await guarded('io.copyModel', (files) => files.copyFiles(sourceURL, destURL));
  },
);

/** `copyModel`, which then deletes the source. */
export const moveModel: Places = /* @__PURE__ */ defineFunction(
  'io.moveModel',
  places,
  {},
  async (sourceURL, destURL) => {
    checkPlaces(sourceURL, destURL, 'io.moveModel');
    await guarded('io.moveModel', async (files) => {
      await files.copyFiles(sourceURL, destURL);
      await files.removeFiles(sourceURL);
    });
  },
);

/**
 * Says how URLs of a scheme are read and kept, so that `loadModel('name://…')`, `model.save('name://…')` and readers of other formats use it.
 * @param handler `read(url)` gives the bytes; `write(url, bytes)`, `remove(url)` and `list()` may be left out
 * @throws AlreadyExistsError for a scheme that Eagre has itself
 */
export const registerScheme: NamedFunction<
  [scheme: string, handler: FileScheme],
  ['scheme', 'handler'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  'io.registerScheme',
  { scheme: kind.asIs, handler: kind.structure },
  {},
  (scheme, handler) => {
    const op = 'io.registerScheme';
    if (typeof scheme !== 'string' || !/^[a-z][a-z\d.-]+$/.test(scheme))
      throw new InvalidArgumentError(
        `scheme must be a name of small letters and digits, such as 'store', got ${shown(scheme)}`,
        op,
      );
    if (/^(indexeddb|localstorage|opfs|downloads|https?|file)$/.test(scheme))
      throw new AlreadyExistsError(`${scheme}:// is known already; choose another name`, op);
    const calls = handler as unknown as Readonly<Record<string, unknown>>;
    const names = ['read', 'write', 'remove', 'list'];
    const isObject = typeof handler === 'object' && handler !== null;
    const wrong = isObject
      ? names.find((name) => calls[name] !== undefined && typeof calls[name] !== 'function')
      : undefined;
    if (!isObject || typeof calls['read'] !== 'function' || wrong !== undefined)
      throw new InvalidArgumentError(
        `handler must be { read(url), write(url, bytes), remove(url), list() }, of which read must be there, got ${isPlain(handler) ? `${wrong ?? 'no read'}` : shown(handler)}`,
        op,
      );
    ownSchemes.set(scheme, handler);
  },
);

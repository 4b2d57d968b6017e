// Models behind URLs, in `File` objects, and in what pages keep.
import { fileError } from '@eagre/backend';
import { InvalidArgumentError } from '@eagre/core';
import { checkFlag, checkFunction, isPlain, shown } from '@eagre/core/internal';
import type { FetchOptions, FileSource } from '@eagre/formats';
import { readFileBytes } from '@eagre/formats';
import { joined, schemeOf, urlFiles } from '@eagre/formats/internal';
import type { Layer } from '../layer/layer.ts';
import { Model } from '../models/model.ts';
import { encodeArchive } from './keras-archive.ts';
import { type LoadOptions, loadModel, type SaveOptions } from './keras-files.ts';
import { encodeLegacyModel } from './legacy-h5.ts';

/** @throws InvalidArgumentError for options that do not say how bytes come */
function checkFetching(
  { onProgress, signal, requestInit, integrity, cache }: FetchOptions,
  op: string,
): void {
  const refuse = (what: string, expected: string, value: unknown): never => {
    throw new InvalidArgumentError(`${what} must be ${expected}, got ${shown(value)}`, op);
  };
  if (onProgress != null) checkFunction(onProgress, 'onProgress', op);
  if (cache !== undefined) checkFlag(cache, 'cache', op);
  if (signal != null && typeof (signal as Partial<typeof signal>).aborted !== 'boolean')
    refuse('signal', 'an AbortSignal', signal);
  if (requestInit != null && !isPlain(requestInit))
    refuse('requestInit', 'options of fetch, such as { headers }', requestInit);
  if (integrity != null && typeof integrity !== 'string' && !isPlain(integrity))
    refuse('integrity', 'a hash, or hashes by the names of files', integrity);
}

/** Loads a model of anything but a path of the file system, or bytes. */
export async function loadFrom(source: FileSource, options: LoadOptions & FetchOptions): Promise<Model> {
  checkFetching(options, 'keras.saving.loadModel');
  const { withSource } = await urlFiles();
  const isMain = (name: string): boolean => /\.(keras|h5|hdf5)$|(^|[-_.])model\.json$/i.test(name);
  try {
    return await withSource(source, options, isMain, async (path) => {
      // It names the files beside it.
      if (/\.json([?#]|$)/i.test(path)) return loadModel(path, options);
      return loadModel(await readFileBytes(path), options, path);
    });
  } catch (cause) {
    throw fileError(cause, undefined, 'loadModel');
  }
}

/** Saves a model under a URL, whole or not at all. */
export async function saveTo(
  model: Layer,
  url: string,
  { overwrite = true, zipped = true, includeOptimizer = true, requestInit = null }: SaveOptions,
): Promise<void> {
  const refuse = (message: string): never => {
    throw new InvalidArgumentError(message, 'saveModel');
  };
  if (!zipped) refuse(`zipped: false is of folders, and ${url} is a URL: leave it out`);
  if (requestInit !== null && !/^https?:/i.test(url))
    refuse(`requestInit is of http:// and https://, got ${url}`);
  const scheme = schemeOf(url);
  const path = url.replace(/[?#].*$/, '');
  const legacy = /\.(h5|hdf5)$/.test(path);
  if (legacy && !(model instanceof Model))
    refuse(`a ${model.constructor.name} is kept in .keras files alone`);
  const named = legacy || path.endsWith('.keras');
  if (scheme === 'opfs' && !named) refuse(`a path of opfs:// must end in .keras or .h5, got ${url}`);
  const target = scheme === 'downloads' && !named ? `${url}.keras` : url;
  const parts = legacy ? encodeLegacyModel(model as Model, includeOptimizer) : encodeArchive(model);
  try {
    const { writeUrl } = await urlFiles();
    await writeUrl(target, joined([...parts]), { overwrite, requestInit });
  } catch (cause) {
    throw fileError(cause, url, 'saveModel');
  }
}

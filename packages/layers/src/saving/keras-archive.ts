// `.keras` files: an archive of a model's configuration, its weights and what layers keep in files of their own.
import { DataLossError, InvalidArgumentError } from '@eagre/core';
import { isPlain } from '@eagre/core/internal';
import { encodeHdf5, type FileParts, readHdf5, unzip, zipParts } from '@eagre/formats';
import { mostUnpacked } from '@eagre/formats/internal';
import type { Layer } from '../layer/layer.ts';
import type { Model } from '../models/model.ts';
import { kerasJson } from './keras-json.ts';
import { isPlainPath, loadState, saveState } from './keras-state.ts';
import { checkDepth, type ModelReading, modelOfConfig, serializedModel } from './model-config.ts';

/** The names in an archive, and in the folder that is made of `zipped: false`. */
export const CONFIG = 'config.json';
export const METADATA = 'metadata.json';
export const WEIGHTS = 'model.weights.h5';
export const ASSETS = 'assets';
// The version of Keras whose files these are.
const KERAS_VERSION = '3.15.1';
const MOST_FOLDERS = 64;

/** The files of an archive by name. */
export type ArchiveFiles = ReadonlyMap<string, Uint8Array>;

/** The files that a model is saved as, in Keras's order. */
export function archiveOf(
  model: Layer,
): readonly (readonly [name: string, content: FileParts | Uint8Array])[] {
  const text = (value: unknown): Uint8Array => new TextEncoder().encode(kerasJson(value));
  const config = text(serializedModel(model));
  const { weights, assets } = saveState(model);
  const saved = new Date().toISOString().replace('T', '@').slice(0, 19);
  return [
    [METADATA, text({ keras_version: KERAS_VERSION, date_saved: saved })],
    [CONFIG, config],
    [WEIGHTS, encodeHdf5(weights)],
    ...[...assets].map(([path, bytes]) => [`${ASSETS}/${path}`, bytes] as const),
  ];
}

/** The bytes of a `.keras` file. */
export function encodeArchive(model: Layer): FileParts {
  return zipParts(archiveOf(model));
}

/**
 * The files of an archive.
 * @throws FormatError for a damaged archive, DataLossError for names that lead out of it
 */
export function readArchive(bytes: Uint8Array, file: string): ArchiveFiles {
  const maxBytes = mostUnpacked(bytes.length);
  const files = new Map<string, Uint8Array>();
  for (const { name, bytes: content } of unzip(bytes, { file, maxBytes })) {
    // Folders have names of their own in some archives.
    if (name.endsWith('/') && isPlainPath(name.slice(0, -1))) continue;
    checkName(name, file);
    if (files.has(name)) throw new DataLossError(`${file}: the archive has ${JSON.stringify(name)} twice`);
    files.set(name, content);
  }
  return files;
}

/** @throws DataLossError for a name that leads out of the archive */
export function checkName(name: string, file: string): void {
  if (isPlainPath(name) && name.split('/').length <= MOST_FOLDERS) return;
  const shown = JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
  throw new DataLossError(`${file}: the name ${shown} leads out of the archive`);
}

/** The model of an archive, with its state. */
export async function modelOfArchive(files: ArchiveFiles, reading: ModelReading): Promise<Model> {
  const { file } = reading;
  const config = jsonIn(files, CONFIG, file);
  const weights = files.get(WEIGHTS);
  if (weights === undefined)
    throw new DataLossError(
      `${file}: there is no ${WEIGHTS} in it${files.has('model.weights.npz') ? '; weights in .npz are not supported' : ''}`,
    );
  const assets = new Map<string, Uint8Array>();
  for (const [name, content] of files)
    if (name.startsWith(`${ASSETS}/`)) assets.set(name.slice(ASSETS.length + 1), content);
  const model = modelOfConfig(config, reading);
  await readHdf5(weights, (root) => loadState(model, root, { file, assets }), { file: `${file}/${WEIGHTS}` });
  return model;
}

/** The object in a file of an archive. @throws DataLossError where there is no such file, or it holds no JSON */
export function jsonIn(files: ArchiveFiles, name: string, file: string): Readonly<Record<string, unknown>> {
  const content = files.get(name);
  if (content === undefined)
    throw new DataLossError(`${file}: there is no ${name} in it, so it is no file of Keras`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch (cause) {
    throw new DataLossError(`${file}: ${name} is no JSON: ${(cause as Error).message}`, undefined, { cause });
  }
  if (!isPlain(value)) throw new InvalidArgumentError(`${file}: ${name} must hold an object`, 'loadModel');
  checkDepth(value, `${file}: ${name}`);
  return value as Readonly<Record<string, unknown>>;
}

// The files of TensorFlow.js: `model.json` with what a model is, and beside it the bytes of its weights.
import { errorsFor, show } from '../errors.ts';
import { isUrl, readFileBytes } from '../files/files.ts';
import { isObject } from '../plain-object.ts';
import type { TensorValue } from '../tensorflow/data-types.ts';
import { decodeWeightGroup, FORMAT, parseWeightsManifest, type TfjsWeightGroup } from './weights.ts';

/** What the file is called in a folder. */
export const TFJS_MODEL_FILE = 'model.json';

type JsonObject = Readonly<Record<string, unknown>>;

/** What a `model.json` says. What is in its objects is not checked but for the list of weights. */
export interface TfjsModel {
  /** The path, or the URL. */
  readonly file: string;
  /** A graph of TensorFlow, or a model of Keras. */
  readonly kind: 'graph-model' | 'layers-model';
  readonly topology: JsonObject;
  readonly manifest: readonly TfjsWeightGroup[];
  readonly signature: JsonObject | undefined;
  readonly trainingConfig: JsonObject | undefined;
  readonly userDefinedMetadata: JsonObject | undefined;
  /** The graph that fills tables. */
  readonly modelInitializer: JsonObject | undefined;
  readonly initializerSignature: JsonObject | undefined;
  /** Which programs wrote it, where it says so. */
  readonly generatedBy: string | undefined;
  readonly convertedBy: string | undefined;
}

/** Whether bytes, whatever their name, may be those of a `model.json`: they begin with a brace. */
export const beginsAsJson = (bytes: Uint8Array | undefined): boolean => bytes?.[0] === 0x7b;

/** Reads the text of a `model.json`. @throws FormatError for what is none */
export function parseTfjsModel(bytes: Uint8Array, file: string): TfjsModel {
  const error = errorsFor(FORMAT, file);
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw error('the file', 'a model.json of TensorFlow.js', (cause as Error).message, cause);
  }
  if (!isObject(json)) throw error('the file', 'a model.json of TensorFlow.js', show(json));
  const own = json;
  const part = (name: string): JsonObject | undefined => {
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw error(name, 'an object', show(value));
    return value;
  };
  const topology = part('modelTopology');
  if (topology === undefined) throw error('modelTopology', 'a graph or the configuration of a model', 'none');
  const text = (name: string): string | undefined => {
    const value = own[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    file,
    kind: kindOf(own['format'], topology, file),
    topology,
    manifest: parseWeightsManifest(own['weightsManifest'] ?? [], file),
    signature: part('signature'),
    trainingConfig: part('trainingConfig'),
    userDefinedMetadata: part('userDefinedMetadata'),
    modelInitializer: part('modelInitializer'),
    initializerSignature: part('initializerSignature'),
    generatedBy: text('generatedBy'),
    convertedBy: text('convertedBy'),
  };
}

/** Older files do not say what they are. */
function kindOf(format: unknown, topology: JsonObject, file: string): TfjsModel['kind'] {
  if (format === 'graph-model' || format === 'layers-model') return format;
  if (Array.isArray(topology['node'])) return 'graph-model';
  if (isObject(topology['model_config']) || typeof topology['class_name'] === 'string') return 'layers-model';
  throw errorsFor(FORMAT, file)('format', 'graph-model or layers-model', show(format));
}

/** Reads a `model.json` of a path, in pages of a URL. */
export async function readTfjsModel(path: string): Promise<TfjsModel> {
  return parseTfjsModel(await readFileBytes(path), path);
}

/** Where a file of weights is: in the folder of the model; what stands behind a URL's `?`, such as a signature, is kept. */
export function tfjsWeightsPath(model: string, path: string): string {
  const query = isUrl(model) ? model.search(/[?#]/) : -1;
  const [place, rest] = query < 0 ? [model, ''] : [model.slice(0, query), model.slice(query)];
  const slash = isUrl(model)
    ? place.lastIndexOf('/')
    : Math.max(place.lastIndexOf('/'), place.lastIndexOf('\\'));
  return `${place.slice(0, slash + 1)}${path}${rest}`;
}

/** Reads the weights of a model, group by group. @throws FormatError where they do not fit the list */
export async function readTfjsWeights({ file, manifest }: TfjsModel): Promise<Map<string, TensorValue>> {
  const all = new Map<string, TensorValue>();
  for (const group of manifest) {
    const files = await Promise.all(group.paths.map((path) => readFileBytes(tfjsWeightsPath(file, path))));
    for (const [name, array] of decodeWeightGroup(group, files, file)) all.set(name, array);
  }
  return all;
}

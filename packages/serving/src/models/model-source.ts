// What may be served: objects of the program, and folders.
import { InvalidArgumentError, NotFoundError } from '@eagre/backend';
import { checkOptionNames, isPlain, shown } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { ConcreteFunction } from '@eagre/graph';
import {
  functionSignature,
  isKerasModel,
  isTraced,
  type KerasModel,
  kerasSignature,
} from '../servable/function-servable.ts';
import { DEFAULT_SIGNATURE, type Servable, type ServableSignature } from '../servable/servable.ts';
import { checkLabels, checkModelName } from '../server-options.ts';
import { fingerprintOf, holdsModel, type VersionFolder, versionFolders } from './version-folder.ts';
import { checkPolicy, type VersionPolicy } from './version-policy.ts';

const OP = 'serving.createServer';

/** A model in a folder. */
export interface ModelConfig {
  /** A folder of versions, `PATH/1`, `PATH/2`, …, or a SavedModel, which is version 1. */
  readonly path: string;
  /** That of the server unless given. */
  readonly versionPolicy?: VersionPolicy;
  /** Numbers of versions by names that requests may use: `{ stable: 3 }`. None by default. */
  readonly versionLabels?: Readonly<Record<string, number>>;
}

/**
 * What is served under one name: a Keras model, a `tf.function` with an input signature or a concrete function, an object with signatures of
 * these or of one's own, or the path of a folder.
 */
export type ModelSource =
  | KerasModel
  | Servable
  | {
      /** What clients may call, by name: `serving_default`. */
      readonly signatures: Readonly<Record<string, ServableSignature | ((...args: never[]) => unknown)>>;
    }
  | ((...args: never[]) => unknown)
  | string
  | ModelConfig;

/** A model that is to be served. */
export type Source =
  | { readonly kind: 'servable'; readonly servable: Servable }
  | { readonly kind: 'folder'; readonly path: string; readonly config: ModelConfig };

/** A Keras model, a function or an object with signatures as what is served. */
function servableOf(model: unknown): Servable | undefined {
  if (isKerasModel(model)) return { signatures: { [DEFAULT_SIGNATURE]: kerasSignature(model) } };
  if (isTraced(model) || model instanceof ConcreteFunction)
    return { signatures: { [DEFAULT_SIGNATURE]: functionSignature(model) } };
  if (typeof model !== 'object' || model === null || !('signatures' in model)) return undefined;
  const { signatures } = model as Servable;
  if (typeof signatures !== 'object' || signatures === null || Object.keys(signatures).length === 0)
    throw new InvalidArgumentError('a model to be served needs at least one signature', OP);
  const own = Object.entries(signatures).map(([name, value]) => [name, signatureOf(name, value)] as const);
  const { dispose } = model as Servable;
  return {
    signatures: Object.fromEntries(own),
    ...(typeof dispose === 'function' ? { dispose: () => dispose.call(model) } : {}),
  };
}

function signatureOf(name: string, value: unknown): ServableSignature {
  if (isTraced(value) || value instanceof ConcreteFunction) return functionSignature(value, methodOf(name));
  if (isPlain(value) || (typeof value === 'object' && value !== null)) {
    const { inputs, outputs, run } = value as Partial<ServableSignature>;
    if (isPlain(inputs) && isPlain(outputs) && typeof run === 'function') return value as ServableSignature;
  }
  throw new InvalidArgumentError(
    `the signature ${name} must be a tf.function with an input signature, or { inputs, outputs, run }, got ${shown(value)}`,
    OP,
  );
}

/** A signature that is called after a method is for it. */
function methodOf(name: string): ServableSignature['methodName'] {
  const method = /^(?:tensorflow\/serving\/)?(classify|regress)$/.exec(name)?.[1];
  return method === undefined
    ? undefined
    : (`tensorflow/serving/${method}` as ServableSignature['methodName']);
}

/** One model as it is served. @throws InvalidArgumentError for what cannot be served */
function sourceOf(model: unknown): Source | undefined {
  if (typeof model === 'string')
    return { kind: 'folder', path: nodeBuiltin('node:path').resolve(model), config: { path: model } };
  if (isPlain(model) && typeof model['path'] === 'string') {
    const config = model as unknown as ModelConfig;
    checkOptionNames<ModelConfig>(config, { path: true, versionPolicy: true, versionLabels: true }, OP);
    if ((config.versionPolicy ?? null) !== null) checkPolicy(config.versionPolicy, OP);
    if ((config.versionLabels ?? null) !== null) checkLabels(config.versionLabels, OP);
    return { kind: 'folder', path: nodeBuiltin('node:path').resolve(config.path), config };
  }
  const servable = servableOf(model);
  return servable === undefined ? undefined : { kind: 'servable', servable };
}

/**
 * The models that are to be served, by name.
 *
 * @param models one model, or several in an object or a map by their names.
 * @throws InvalidArgumentError for what cannot be served
 */
export function sourcesOf(models: unknown, name: string | undefined): Map<string, Source> {
  const alone = sourceOf(models);
  if (alone !== undefined) {
    const own = alone.kind === 'folder' ? nodeBuiltin('node:path').basename(alone.path) : 'default';
    return new Map([[name ?? own, alone]]);
  }
  const entries: [unknown, unknown][] | undefined =
    models instanceof Map ? [...models] : isPlain(models) ? Object.entries(models) : undefined;
  if (entries === undefined || entries.length === 0)
    throw new InvalidArgumentError(
      `expected a model, a folder, or an object of models by their names, got ${shown(models)}`,
      OP,
    );
  if (name !== undefined)
    throw new InvalidArgumentError(
      'the option name is for one model; several have the names of their keys',
      OP,
    );
  return new Map(
    entries.map(([key, model]) => {
      checkModelName(key, OP);
      const source = sourceOf(model);
      if (source === undefined)
        throw new InvalidArgumentError(`the model ${key} cannot be served: got ${shown(model)}`, OP);
      return [key, source];
    }),
  );
}

/** What finds the versions of a folder: those in it, or the folder itself where it is a SavedModel. @throws NotFoundError where there is no folder */
export async function versionsOf(path: string): Promise<() => Promise<readonly VersionFolder[]>> {
  const found = await nodeBuiltin('node:fs')
    .promises.stat(path)
    .catch(() => undefined);
  if (found?.isDirectory() !== true) throw new NotFoundError(`there is no folder ${path}`, OP);
  if (!(await holdsModel(path))) return () => versionFolders(path);
  return async () => {
    const fingerprint = await fingerprintOf(path);
    return fingerprint === undefined ? [] : [{ version: 1, path, fingerprint }];
  };
}

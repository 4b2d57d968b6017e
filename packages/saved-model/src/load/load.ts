import { withFileErrors } from '@eagre/backend';
import { InvalidArgumentError, NotFoundError } from '@eagre/core';
import { checkFlag, checkPath } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { isUrl, nodeBuiltin, restoreFolder } from '@eagre/formats/internal';
import { TFJS_MODEL_FILE } from '@eagre/formats/tensorflow-js';
import { LoadOptions, optionsOf } from '../options.ts';
import { bytesOf, inside, OP, translatedError } from './files.ts';
import type { LoadedObject } from './loaded-object.ts';
import type { Settings } from './meta-graph.ts';
import { SavedValues } from './variables.ts';

/** Options of {@link load}. */
export interface LoadModelOptions {
  /** Which of the graphs in the file: the only one unless given. TensorFlow writes `serve`. */
  readonly tags?: string | readonly string[] | null;
  /** Whether an op that Eagre lacks is an error where it would run, and not while loading; false by default. */
  readonly lazy?: boolean;
  /** Whether variables that the file has no value for get zeros; false by default. */
  readonly allowPartialCheckpoint?: boolean;
  /** TensorFlow's options. */
  readonly options?: LoadOptions | null;
}

/** Loads the SavedModel in a folder, of TensorFlow 2 or 1, or the graph of a `model.json` of TensorFlow.js: see `tf.savedModel.load`. */
export async function load(exportDir: string, options: LoadModelOptions = {}): Promise<LoadedObject> {
  checkPath(exportDir, 'exportDir', OP);
  const lazy = checkFlag(options.lazy ?? false, 'lazy', OP);
  const own = optionsOf(options.options, LoadOptions, OP);
  const settings: Settings = {
    lazy,
    partial:
      checkFlag(options.allowPartialCheckpoint ?? false, 'allowPartialCheckpoint', OP) ||
      own.allowPartialCheckpoint,
    skips: own.experimentalSkipCheckpoint,
    aliases: own.experimentalLoadFunctionAliases,
  };
  const json = graphModelAt(exportDir);
  if (json !== null) {
    refuseFor(json, options, settings);
    return (await import('./graph-model.ts')).loadGraphModel(json, lazy);
  }
  const path = inside(exportDir, 'saved_model.pb');
  let values: SavedValues | null = null;
  try {
    const bytes = await modelBytes(exportDir, path);
    // First, as another thread reads the values while this one loads what runs graphs.
    values = settings.skips ? null : await SavedValues.open(exportDir);
    const meta = chosen(tensorflow.SavedModel.decode(bytes, { file: path }), options.tags ?? null, exportDir);
    const { loadMetaGraph } = await import('./meta-graph.ts');
    return await loadMetaGraph(exportDir, meta, values, settings);
  } catch (cause) {
    throw translatedError(cause, path);
  } finally {
    values?.close();
  }
}

/** The `model.json` that is meant: the path itself, in pages before what stands behind it in a URL, or one in a folder that has no SavedModel. */
function graphModelAt(path: string): string | null {
  if (isUrl(path)) return /\.json([?#]|$)/.test(path) ? path : null;
  const { existsSync, statSync } = nodeBuiltin('node:fs');
  if (path.endsWith('.json') && statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    return path;
  const file = inside(path, TFJS_MODEL_FILE);
  return existsSync(file) && !existsSync(inside(path, 'saved_model.pb')) ? file : null;
}

/** @throws InvalidArgumentError for options that say something of SavedModels alone */
function refuseFor(path: string, { tags }: LoadModelOptions, { partial, skips, aliases }: Settings): void {
  const given = [
    [tags !== undefined && tags !== null, 'tags'],
    [partial, 'allowPartialCheckpoint'],
    [skips, 'experimentalSkipCheckpoint'],
    [aliases, 'experimentalLoadFunctionAliases'],
  ] as const;
  const [, name] = given.find(([isGiven]) => isGiven) ?? [];
  if (name !== undefined)
    throw new InvalidArgumentError(
      `${name} is of SavedModels, and ${path} is a model of TensorFlow.js: leave it out`,
      OP,
    );
}

async function modelBytes(folder: string, path: string): Promise<Uint8Array> {
  try {
    // A save that was killed may have moved it away.
    withFileErrors(folder, OP, () => restoreFolder(nodeBuiltin('node:path').resolve(folder)));
    return await bytesOf(path);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new NotFoundError(
      `there is no SavedModel in ${folder}: it has no file saved_model.pb (one as text, saved_model.pbtxt, is not read), and no model.json of TensorFlow.js`,
      OP,
      { cause: error },
    );
  }
}

/** The graph with these tags. */
function chosen(model: tensorflow.SavedModel, tags: unknown, folder: string): tensorflow.MetaGraphDef {
  const graphs = model.meta_graphs ?? [];
  const tagsOf = (meta: tensorflow.MetaGraphDef): readonly string[] => meta.meta_info_def?.tags ?? [];
  const all = graphs.map((meta) => `[${tagsOf(meta).join(', ')}]`).join(', ');
  if (tags === null) {
    const [first] = graphs;
    if (first === undefined) throw new InvalidArgumentError(`the SavedModel in ${folder} has no graph`, OP);
    if (graphs.length > 1)
      throw new InvalidArgumentError(
        `the SavedModel in ${folder} has several graphs: give the tags of one, ${all}`,
        OP,
      );
    return first;
  }
  const wanted = typeof tags === 'string' ? [tags] : tags;
  if (!Array.isArray(wanted) || wanted.some((tag) => typeof tag !== 'string'))
    throw new InvalidArgumentError("tags must be text, or a list of texts, such as ['serve']", OP);
  const key = [...new Set(wanted as string[])].sort().join('\0');
  const found = graphs.find((meta) => [...tagsOf(meta)].sort().join('\0') === key);
  if (found === undefined)
    throw new NotFoundError(
      `the SavedModel in ${folder} has no graph with the tags [${wanted.join(', ')}], only ${all || 'none'}`,
      OP,
    );
  return found;
}

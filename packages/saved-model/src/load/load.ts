import { InvalidArgumentError, NotFoundError, type Tensor } from '@eagre/core';
import { checkFlag, checkPath } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { translatedOps } from '../import/ops/index.ts';
import { nothingAround, Runtime } from '../import/runtime.ts';
import { LoadOptions, optionsOf } from '../options.ts';
import { bytesOf, checkedPath, inside, OP, translatedError } from './files.ts';
import type { LoadedObject } from './loaded-object.ts';
import { loadObjects } from './object-graph.ts';
import { SavedValues } from './variables.ts';
import { assetsOf, loadVersion1, trainableIn } from './version1.ts';

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

/** Loads the SavedModel in a folder, of TensorFlow 2 or 1: see `tf.savedModel.load`. */
export async function load(exportDir: string, options: LoadModelOptions = {}): Promise<LoadedObject> {
  checkPath(exportDir, 'exportDir', OP);
  const lazy = checkFlag(options.lazy ?? false, 'lazy', OP);
  const own = optionsOf(options.options, LoadOptions, OP);
  const settings = {
    lazy,
    partial:
      checkFlag(options.allowPartialCheckpoint ?? false, 'allowPartialCheckpoint', OP) ||
      own.allowPartialCheckpoint,
    skips: own.experimentalSkipCheckpoint,
    aliases: own.experimentalLoadFunctionAliases,
  };
  const path = inside(exportDir, 'saved_model.pb');
  try {
    const model = tensorflow.SavedModel.decode(await modelBytes(exportDir, path), { file: path });
    return await loadMeta(exportDir, chosen(model, options.tags ?? null, exportDir), settings);
  } catch (cause) {
    throw translatedError(cause, path);
  }
}

async function modelBytes(folder: string, path: string): Promise<Uint8Array> {
  try {
    return await bytesOf(path);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new NotFoundError(
      `there is no SavedModel in ${folder}: it has no file saved_model.pb (one as text, saved_model.pbtxt, is not read)`,
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

/** What the options say. */
interface Settings {
  readonly lazy: boolean;
  readonly partial: boolean;
  /** Whether no values are read. */
  readonly skips: boolean;
  /** Whether functions are found by the other names that the file has for them. */
  readonly aliases: boolean;
}

async function loadMeta(
  folder: string,
  meta: tensorflow.MetaGraphDef,
  { lazy, partial, skips, aliases }: Settings,
): Promise<LoadedObject> {
  const assetDefs = assetsOf(meta);
  const assets = assetDefs.map(({ filename = '' }) => checkedPath(inside(folder, 'assets'), filename));
  // Graphs read no files but these.
  const texts = new Map<string, string>();
  for (const path of new Set(assets)) texts.set(path, new TextDecoder().decode(await bytesOf(path)));
  const values = skips ? null : await SavedValues.open(folder);
  const checkpoint = inside(folder, 'variables', 'variables');
  const restore = (prefix: string, names: readonly string[]): Tensor[] => {
    if (values === null || prefix !== checkpoint)
      throw new NotFoundError(`there is no checkpoint ${prefix}`, OP);
    return names.map((name) => values.readSync(name));
  };
  const runtime = new Runtime(meta.graph_def ?? {}, translatedOps(), {
    ...nothingAround(),
    restore,
    isTrainable: trainableIn(meta),
    assetText: (path, call) => {
      const text = texts.get(path);
      if (text === undefined) throw call.wrong(`'${path}' is no asset of the model`);
      return text;
    },
  });
  const { object_graph_def: graph } = meta;
  if (graph !== undefined && (graph.nodes ?? []).length > 0)
    return loadObjects({
      graph,
      runtime,
      values,
      assets,
      partial: partial || skips,
      lazy,
      aliases: aliases ? (meta.meta_info_def?.function_aliases ?? new Map()) : null,
    });
  return loadVersion1({
    meta,
    runtime,
    checkpoint,
    values,
    assets: assetDefs.map(({ tensor_info: info }, i) => ({
      tensor: info?.name ?? '',
      path: assets[i] as string,
    })),
    lazy,
  });
}

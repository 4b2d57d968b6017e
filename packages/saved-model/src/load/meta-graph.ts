// Loads one of the graphs of a SavedModel.
import { NotFoundError, type Tensor } from '@eagre/core';
import type { tensorflow } from '@eagre/formats';
import { translatedOps } from '../import/ops/index.ts';
import { nothingAround, Runtime } from '../import/runtime.ts';
import { bytesOf, checkedPath, inside, OP } from './files.ts';
import type { LoadedObject } from './loaded-object.ts';
import { loadObjects } from './object-graph.ts';
import type { SavedValues } from './variables.ts';
import { assetsOf, loadVersion1, trainableIn } from './version1.ts';

/** What the options say. */
export interface Settings {
  readonly lazy: boolean;
  readonly partial: boolean;
  /** Whether no values are read. */
  readonly skips: boolean;
  /** Whether functions are found by the other names that the file has for them. */
  readonly aliases: boolean;
}

/** What a graph of the SavedModel in a folder holds, with the values of its variables: null to leave them out, or where it has none. */
export async function loadMetaGraph(
  folder: string,
  meta: tensorflow.MetaGraphDef,
  values: SavedValues | null,
  { lazy, partial, skips, aliases }: Settings,
): Promise<LoadedObject> {
  const assetDefs = assetsOf(meta);
  const assets = assetDefs.map(({ filename = '' }) => checkedPath(inside(folder, 'assets'), filename));
  // Graphs read no files but these.
  const texts = new Map<string, string>();
  for (const path of new Set(assets)) texts.set(path, new TextDecoder().decode(await bytesOf(path)));
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

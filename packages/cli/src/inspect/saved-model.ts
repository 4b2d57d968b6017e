import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSavedModel, tagsOf } from '../saved-model/read.ts';
import { inspectCheckpoint } from './checkpoint.ts';
import type { Contents } from './contents.ts';

/** A folder with a SavedModel: its variables, tags, signatures and functions. */
export async function inspectSavedModel(path: string): Promise<Contents> {
  const { meta_graphs = [] } = readSavedModel(path);
  const variables = join(path, 'variables', 'variables');
  const { items = [] } = existsSync(`${variables}.index`) ? await inspectCheckpoint(variables) : {};
  const [meta = {}] = meta_graphs;
  const nodes = meta.object_graph_def?.nodes ?? [];
  const functions = (nodes[0]?.children ?? []).flatMap(({ node_id = 0, local_name = '' }) =>
    nodes[Number(node_id)]?.function === undefined ? [] : [local_name],
  );
  return {
    path,
    format: 'savedModel',
    items,
    about: {
      tags: meta_graphs.map((each) => tagsOf(each).join(', ')).join('; '),
      signatures: [...(meta.signature_def?.keys() ?? [])]
        .filter((key) => key !== '__saved_model_init_op')
        .sort(),
      functions,
      'TensorFlow version': meta.meta_info_def?.tensorflow_version,
    },
  };
}

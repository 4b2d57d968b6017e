import { join } from 'node:path';
import { BundleReader, readCheckpointState, tensorflow } from '@eagre/formats';
import type { Contents } from './contents.ts';

const GRAPH = '_CHECKPOINTABLE_OBJECT_GRAPH';

/** A checkpoint of TensorFlow by its prefix. */
export async function inspectCheckpoint(prefix: string): Promise<Contents> {
  const reader = await BundleReader.open(prefix);
  const items = [...reader.entries()].flatMap(([name, { dtype, shape, bytes }]) =>
    name === GRAPH ? [] : [{ name, dtype, shape, bytes }],
  );
  const graph = reader.has(GRAPH) ? reader.read(GRAPH) : undefined;
  const bytes = graph?.dtype === 'string' ? graph.data[0] : undefined;
  const nodes = bytes && tensorflow.TrackableObjectGraph.decode(bytes, { file: prefix }).nodes;
  return { path: prefix, format: 'checkpoint', items, about: nodes ? { objects: nodes.length } : {} };
}

/** The prefix of the newest checkpoint in a folder, as its file `checkpoint` names it. */
export function newestIn(folder: string): string | undefined {
  const path = readCheckpointState(join(folder, 'checkpoint'))?.model_checkpoint_path;
  return path === undefined ? undefined : join(folder, path);
}

import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import type * as graphs from '@eagre/formats';
import { readExternal, readModel } from './file.ts';
import { OnnxModel } from './model.ts';

/** Options of `tf.onnx.load`. */
export interface LoadOptions {
  /** Whether the weights are trainable; true by default. */
  readonly trainable?: boolean;
  /** Where the files of a model lie that is given as bytes, for weights that are not in it. */
  readonly folder?: string;
  /** The name of the module; that of the graph by default. */
  readonly name?: string;
}

const OP = 'tf.onnx.load';

/** Reads an ONNX file, or its bytes: see `tf.onnx.load`. */
export async function load(source: unknown, options: LoadOptions = {}): Promise<OnnxModel> {
  if (typeof source !== 'string' && !(source instanceof Uint8Array))
    throw new InvalidArgumentError(`source must be a path or a Uint8Array, got ${shown(source)}`, OP);
  const { trainable = true, folder, name } = options;
  if (typeof trainable !== 'boolean')
    throw new InvalidArgumentError(`trainable must be true or false, got ${shown(trainable)}`, OP);
  for (const [key, value] of Object.entries({ folder, name }))
    if (value !== undefined && value !== null && typeof value !== 'string')
      throw new InvalidArgumentError(`${key} must be a string, got ${shown(value)}`, OP);
  const model = await readModel(source);
  const graph = model.graph as graphs.onnx.GraphProto;
  const external = await readExternal(
    graph,
    folder ?? (typeof source === 'string' ? folderOf(source) : null),
  );
  const loaded = new OnnxModel(model, external, { trainable, name: moduleName(name ?? graph.name ?? '') });
  for (const prepare of loaded._prepare) await prepare();
  return loaded;
}

const folderOf = (path: string): string => path.replace(/[^/\\]*$/, '') || '.';
const moduleName = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, '_') || 'onnx_model';

import { InvalidArgumentError } from '@eagre/backend';
import { defineFunction, kind, type NamedFunction, shown } from '@eagre/core/internal';
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

type Load = NamedFunction<[source: string | Uint8Array], ['source'], LoadOptions, Promise<OnnxModel>>;

const OP = 'tf.onnx.load';

/**
 * Reads an ONNX file, or its bytes. The model is a function: `model(x, y)` gives the output, or a list of the outputs, and
 * `model({ x, y })` gives the outputs by name. Its weights are variables, so a tape or an optimizer can train them.
 *
 *     const model = await tf.onnx.load('model.onnx');
 *     model.inputs;                      // [{ name: 'x', dtype: 'float32', shape: [null, 4], sizes: ['N', null] }]
 *     const y = model(tf.zeros([2, 4]));
 *
 * @throws (the promise) NotFoundError without a file; DataLossError for bytes that are no model; InvalidArgumentError for a graph that makes no
 * sense; UnimplementedError for an op or a type that Eagre does not have, with the node and its opset; PermissionDeniedError for weights
 * outside of the file's folder.
 */
export const load: Load = /* @__PURE__ */ defineFunction<Load>(
  'onnx.load',
  { source: kind.asIs },
  { trainable: kind.asIs, folder: kind.asIs, name: kind.asIs },
  async (source: unknown, options: LoadOptions) => {
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
    return new OnnxModel(model, external, { trainable, name: moduleName(name ?? graph.name ?? '') });
  },
) as never;

const folderOf = (path: string): string => path.replace(/[^/\\]*$/, '') || '.';
const moduleName = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, '_') || 'onnx_model';

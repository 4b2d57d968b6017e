// GraphDefs by themselves: frozen models, and graphs to be written into other graphs.
import { checkPath } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { bytesOf, translatedError } from '../load/files.ts';
import { namesOf, type PrunedFunction, prunedFunction } from '../load/version1.ts';
import { translatedOps } from './ops/index.ts';
import { Runtime } from './runtime.ts';

/** A graph of TensorFlow. */
export class GraphDefFile {
  readonly #runtime: Runtime;

  /** @internal */
  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** The names of the nodes, in the file's order. */
  get nodeNames(): readonly string[] {
    return this.#runtime.graph.defs.map(({ name = '' }) => name);
  }
  /** The names of the placeholders: what a graph is computed from. */
  get placeholders(): readonly string[] {
    return this.#runtime.graph.defs.filter(({ op }) => op === 'Placeholder').map(({ name = '' }) => name);
  }

  /**
   * The function that computes some tensors of the graph from others, as `tf.compat.v1.wrap_function(…).prune` does.
   *
   *     const predict = graph.prune('x:0', 'probabilities:0');
   *     const [y] = predict(x);
   *
   * @throws InvalidArgumentError for names that are none, UnimplementedError for ops that Eagre lacks, with the node's name.
   */
  prune(feeds: string | readonly string[], fetches: string | readonly string[]): PrunedFunction {
    return prunedFunction(this.#runtime, namesOf(feeds, 'feeds'), namesOf(fetches, 'fetches'), {
      name: 'pruned',
      lazy: false,
    });
  }
}

/** Reads a GraphDef: a `.pb` file, or its bytes. */
export async function loadGraphDef(file: string | Uint8Array): Promise<GraphDefFile> {
  if (!(file instanceof Uint8Array)) checkPath(file, 'file', 'savedModel.loadGraphDef');
  const name = typeof file === 'string' ? file : 'GraphDef';
  try {
    const bytes = typeof file === 'string' ? await bytesOf(file) : file;
    return new GraphDefFile(new Runtime(tensorflow.GraphDef.decode(bytes, { file: name }), translatedOps()));
  } catch (cause) {
    throw translatedError(cause, name);
  }
}

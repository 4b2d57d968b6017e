// GraphDefs by themselves: frozen models, and graphs to be written into other graphs.
import { Tensor, UnimplementedError } from '@eagre/core';
import { checkPath } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import type { compat } from '@eagre/graph';
import { bytesOf, translatedError } from '../load/files.ts';
import { namesOf, type PrunedFunction, prunedFunction } from '../load/version1.ts';
import { dtypeOf, partialShapeOf } from './op-call.ts';
import { translatedOps } from './ops/index.ts';
import { Runtime } from './runtime.ts';
import type { Value } from './values.ts';

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

  /** @internal Writes nodes into a graph for sessions: see `tf.compat.v1.importGraphDef`. */
  importNodes({
    fed,
    wanted,
    placeholder,
  }: Parameters<Importable['importNodes']>[0]): ReadonlyMap<string, readonly (Tensor | undefined)[]> {
    const runtime = this.#runtime;
    const { graph } = runtime;
    const values = new Map<number, (Value | undefined)[]>();
    for (const [name, tensor] of fed) {
      const { node, output } = graph.ref(name.includes(':') ? name : `${name}:0`);
      const list = values.get(node) ?? [];
      list[output] = tensor;
      values.set(node, list);
    }
    const needed = graph.order(
      wanted === null ? graph.defs.map((_, id) => id) : wanted.map((name) => graph.ref(name).node),
      new Set(values.keys()),
    );
    const stateful = needed.find(({ def }) => STATEFUL.test(def.op ?? ''));
    if (stateful !== undefined)
      throw new UnimplementedError(
        `the node '${stateful.def.name}' is a ${stateful.def.op}: freeze the graph first, so that its values are constants`,
        'compat.v1.importGraphDef',
      );
    for (const { def, id } of needed) {
      if (def.op !== 'Placeholder') continue;
      const shape = partialShapeOf(def.attr?.get('shape')?.shape);
      const dtype = dtypeOf(def.attr?.get('dtype')?.type ?? 0, def.name ?? '');
      values.set(id, [placeholder(dtype, shape, def.name ?? '')]);
    }
    const given = new Set(values.keys());
    runtime.check(
      graph,
      [],
      needed.map(({ id }) => id),
      given,
    );
    const all = runtime.runNodes(
      graph,
      values,
      needed.map(({ id }) => id),
    );
    return new Map(
      [...all].map(([id, list]) => [
        graph.defs[id]?.name ?? '',
        list.map((value) => (value instanceof Tensor ? value : undefined)),
      ]),
    );
  }
}

type Importable = Pick<compat.v1.ImportableGraph, 'importNodes'>;

/** Ops of variables and tables. */
const STATEFUL =
  /^(VarHandleOp|Variable|VariableV2|HashTable|HashTableV2|MutableHashTable|MutableHashTableV2)$/;

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

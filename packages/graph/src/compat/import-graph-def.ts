// Graphs of files as parts of graphs for sessions.
import { InvalidArgumentError } from '@eagre/backend';
import { type DType, Tensor } from '@eagre/core';
import {
  checkList,
  checkText,
  defineFunction,
  inGraphScope,
  isPlain,
  kind,
  type NamedFunction,
  shown,
} from '@eagre/core/internal';
import { placeholder } from './default-graph.ts';
import { currentGraph } from './entering.ts';
import type { Operation } from './graph.ts';

/** A graph that can be written into another one: what `tf.savedModel.loadGraphDef` gives. */
export interface ImportableGraph {
  /**
   * Writes nodes into the graph that is open.
   * @param options.fed tensors in the place of those of the graph, by name, such as `x:0`.
   * @param options.wanted the names of what is needed; all nodes unless given.
   * @param options.placeholder makes a placeholder.
   * @returns the tensors of each node by its name; undefined for those that are no tensors.
   */
  importNodes(options: {
    readonly fed: ReadonlyMap<string, Tensor>;
    readonly wanted: readonly string[] | null;
    readonly placeholder: (dtype: DType, shape: readonly (number | null)[] | null, name: string) => Tensor;
  }): ReadonlyMap<string, readonly (Tensor | undefined)[]>;
}

/** Options of `importGraphDef`. */
export interface ImportOptions {
  /** Tensors of the default graph in the place of some of the file's, by their names: `{ 'x:0': x }`. */
  readonly inputMap?: Readonly<Record<string, Tensor>> | ReadonlyMap<string, Tensor> | null;
  /** The names of tensors (`y:0`) and operations (`y`) to return. What they do not need is left out. */
  readonly returnElements?: readonly string[] | null;
  /** What names in the graph begin with; `import` unless given. */
  readonly name?: string | null;
}

const OP = 'compat.v1.importGraphDef';

/**
 * Writes a graph of TensorFlow into the default graph. Tensors are found by their names: `graph.getTensorByName('import/y:0')`.
 *
 *     const graphDef = await tf.savedModel.loadGraphDef('frozen.pb');
 *     const [y] = tf.compat.v1.importGraphDef(graphDef, { inputMap: { 'x:0': x }, returnElements: ['y:0'] });
 *
 * @returns what `returnElements` names; nothing unless it is given.
 * @throws FailedPreconditionError in eager mode; UnimplementedError for an op that Eagre lacks, and for variables: freeze the graph.
 */
export const importGraphDef: NamedFunction<
  [graphDef: ImportableGraph],
  ['graphDef'],
  ImportOptions,
  (Tensor | Operation)[]
> = defineFunction(
  OP,
  { graphDef: kind.asIs },
  { inputMap: kind.structure, returnElements: kind.asIs, name: kind.asIs },
  (graphDef, options) => {
    const graph = currentGraph('tf.importGraphDef()');
    if (typeof (graphDef as Partial<ImportableGraph> | null)?.importNodes !== 'function')
      throw new InvalidArgumentError(
        `expected a graph that was read, got ${shown(graphDef)}: await tf.savedModel.loadGraphDef(file)`,
        OP,
      );
    const name = options.name ?? 'import';
    checkText(name, 'name', OP);
    const elements =
      options.returnElements === undefined || options.returnElements === null
        ? null
        : checkList(options.returnElements, 'returnElements', OP);
    for (const element of elements ?? []) checkText(element, 'an element of returnElements', OP);
    const fed = fedTensors(options.inputMap ?? {});
    const write = (): ReadonlyMap<string, readonly (Tensor | undefined)[]> =>
      graphDef.importNodes({
        fed,
        wanted: elements,
        placeholder: (dtype, shape, own) => placeholder(dtype, shape, { name: own }),
      });
    let scope = '';
    const imported =
      name === ''
        ? write()
        : inGraphScope(name, () => {
            scope = graph.body.nameScope;
            return write();
          });
    for (const [node, tensors] of imported) graph.imported.set(scope + node, tensors);
    return (elements ?? []).map((element) =>
      element.includes(':')
        ? graph.getTensorByName(scope + element)
        : graph.getOperationByName(scope + element),
    );
  },
);

function fedTensors(given: unknown): Map<string, Tensor> {
  const entries = given instanceof Map ? [...given] : isPlain(given) ? Object.entries(given as object) : null;
  if (entries === null)
    throw new InvalidArgumentError(`inputMap is ${shown(given)}, expected tensors by name`, OP);
  return new Map(
    entries.map(([key, value]) => {
      checkText(key, 'a name in inputMap', OP);
      if (!(value instanceof Tensor))
        throw new InvalidArgumentError(
          `inputMap['${String(key)}'] is ${shown(value)}, expected a tensor`,
          OP,
        );
      return [key as string, value];
    }),
  );
}

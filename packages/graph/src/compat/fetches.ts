// What a session is asked for, and how the results find their places.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, Tensor, Variable } from '@eagre/core';
import { checkLevel, checkList, defineFunction, kind, type NamedFunction, shown } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../graph.ts';
import { currentGraph } from './entering.ts';
import { type Graph, Operation } from './graph.ts';
import type { Session } from './session.ts';
import { AssignedVariable, eagerly } from './session-tracer.ts';

/** What a session is asked for: `'add:0'` is a tensor by its name, `'init'` an operation. */
export type Fetch = Tensor | Variable | Operation | UninitializedVariables | string;
/** Fetches in arrays, maps and objects. */
export type Fetches =
  | Fetch
  | readonly Fetches[]
  | ReadonlyMap<unknown, Fetches>
  | { readonly [key: string]: Fetches };

/** What comes back: a tensor for each tensor, variable and report, null for an operation. */
export type Fetched<F> = [Fetches] extends [F] ? unknown : FetchedOne<F>;
type FetchedOne<F> = F extends Tensor | Variable | UninitializedVariables
  ? Tensor
  : F extends Operation
    ? null
    : F extends string
      ? Tensor | null
      : F extends ReadonlyMap<infer K, infer V>
        ? Map<K, Fetched<V>>
        : { -readonly [K in keyof F]: Fetched<F[K]> };

/** What is collected from fetches in any structure. */
export interface Collected {
  readonly values: (GraphValue | Variable)[];
  readonly nodes: GraphNode[];
}

/** What a session is asked for to know which variables have no value in it yet. */
export class UninitializedVariables {
  readonly graph: Graph;
  readonly variables: readonly Variable[];

  /** @internal Use `reportUninitializedVariables`. */
  constructor(graph: Graph, variables: readonly Variable[]) {
    this.graph = graph;
    this.variables = variables;
  }

  /** @internal @throws InvalidArgumentError for a session of another graph. */
  namesIn(session: Session): Tensor {
    if (session.graph !== this.graph)
      throw new InvalidArgumentError('the report is not an element of this graph', 'Session.run');
    const names = this.variables.filter((v) => !session.isInitialized(v)).map((v) => v.name);
    return eagerly(() => constant(names, 'string', { shape: [names.length] }));
  }
}

/**
 * To be fetched: the names of variables without a value in the session, a string tensor of shape [n], as it is behind the run. (In
 * TensorFlow it is a tensor of the graph; here nothing else can be computed from it.)
 *
 *     session.run(v1.reportUninitializedVariables()).strings();
 *
 * @param varList all of the graph that there are now, unless given.
 * @throws FailedPreconditionError in eager mode; InvalidArgumentError for variables of another graph.
 */
export const reportUninitializedVariables: NamedFunction<
  [varList?: readonly Variable[] | null],
  ['varList'],
  unknown,
  UninitializedVariables
> = defineFunction('compat.v1.reportUninitializedVariables', { varList: kind.asIs }, {}, (varList = null) => {
  const graph = currentGraph('tf.reportUninitializedVariables()');
  if (varList === null) return new UninitializedVariables(graph, graph.globalVariables());
  for (const variable of checkList(varList, 'varList', 'reportUninitializedVariables'))
    graph.initializerOf(variable);
  return new UninitializedVariables(graph, varList);
});

/** Adds fetches to what is wanted. @returns what puts the results in their places. */
export function collectFetches(
  session: Session,
  fetches: Fetches,
  to: Collected,
  level = 0,
): (results: readonly Tensor[]) => unknown {
  const { graph } = session;
  checkLevel(level, 'Session.run');
  const collect = (more: Fetches): ((results: readonly Tensor[]) => unknown) =>
    collectFetches(session, more, to, level + 1);
  const value = (v: GraphValue | Variable): ((results: readonly Tensor[]) => unknown) => {
    const at = to.values.push(v) - 1;
    return (results) => results[at];
  };
  if (fetches instanceof AssignedVariable) {
    const node = graph.assignmentOf(fetches);
    return value(node.outputs[0] as GraphValue);
  }
  if (fetches instanceof Variable) return value(fetches);
  if (fetches instanceof Tensor) return value(graph.valueOf(fetches));
  if (typeof fetches === 'string')
    return collect(
      /:\d+$/.test(fetches) ? graph.getTensorByName(fetches) : graph.getOperationByName(fetches),
    );
  if (fetches instanceof UninitializedVariables) return () => fetches.namesIn(session);
  if (fetches instanceof Operation) {
    to.nodes.push(graph.nodeOf(fetches));
    return () => null;
  }
  if (Array.isArray(fetches)) {
    const items = (fetches as readonly Fetches[]).map((f) => collect(f));
    return (results) => items.map((fill) => fill(results));
  }
  if (fetches instanceof Map) {
    const items = [...(fetches as ReadonlyMap<unknown, Fetches>)].map(
      ([key, f]) => [key, collect(f)] as const,
    );
    return (results) => new Map(items.map(([key, fill]) => [key, fill(results)]));
  }
  const prototype: unknown =
    typeof fetches === 'object' && fetches !== null ? Object.getPrototypeOf(fetches) : undefined;
  if (prototype !== Object.prototype && prototype !== null)
    throw new InvalidArgumentError(
      `a session fetches tensors, variables, operations and their names, not ${shown(fetches)}`,
      'Session.run',
    );
  const items = Object.entries(fetches as { readonly [key: string]: Fetches }).map(
    ([key, f]) => [key, collect(f)] as const,
  );
  return (results) => Object.fromEntries(items.map(([key, fill]) => [key, fill(results)]));
}

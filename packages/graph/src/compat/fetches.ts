// What a session is asked for, and how the results find their places.
// Types in a circle: a session reads its fetches, which name variables of that session.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, Tensor, Variable } from '@eagre/core';
import { checkList, defineFunction, kind, type NamedFunction, shown, tree } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../ir/graph.ts';
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
    const names = this.variables.filter((v) => !session.isInitialized(v)).map((v) => v.path);
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

const RUN = 'Session.run';
type Fill = (results: readonly Tensor[]) => unknown;

/** Adds fetches to what is wanted. @returns what puts the results in their places. */
export function collectFetches(session: Session, fetches: Fetches, to: Collected): Fill {
  const places = tree.mapLeaves(fetches, RUN, (fetch) => collect(session, fetch, to));
  return (results) => tree.mapLeaves(places, RUN, (fill) => (fill as Fill)(results));
}

function collect(session: Session, fetch: unknown, to: Collected): Fill {
  const { graph } = session;
  const value = (v: GraphValue | Variable): Fill => {
    const at = to.values.push(v) - 1;
    return (results) => results[at];
  };
  if (fetch instanceof AssignedVariable) return value(graph.assignmentOf(fetch).outputs[0]);
  if (fetch instanceof Variable) return value(fetch);
  if (fetch instanceof Tensor) return value(graph.valueOf(fetch));
  if (typeof fetch === 'string') {
    const isTensor = /:\d+$/.test(fetch);
    return collect(session, isTensor ? graph.getTensorByName(fetch) : graph.getOperationByName(fetch), to);
  }
  if (fetch instanceof UninitializedVariables) return () => fetch.namesIn(session);
  if (fetch instanceof Operation) {
    to.nodes.push(graph.nodeOf(fetch));
    return () => null;
  }
  throw new InvalidArgumentError(
    `a fetch must be a tensor, a variable, an operation or a name, got ${shown(fetch)}`,
    RUN,
  );
}

// Which graph ops go into.
// Types in a circle: a graph opens scopes, which know the graph that they are of.
import { FailedPreconditionError } from '@eagre/backend';
import { context, eagerBackend, override, symbolic } from '@eagre/core/internal';
import type { Graph } from './graph.ts';

const stack: Graph[] = [];

/** Lets ops go into a graph. @returns what ends it. */
export function enterGraph(graph: Graph): () => boolean {
  const leave = override(context, {
    tapes: [],
    tracker: null,
    tracer: graph.tracer,
    lifting: null,
    nameScope: '',
    placement: '',
    eagerBackend: eagerBackend(),
    backend: symbolic,
  });
  const leaveSink = override(symbolic, { recorder: graph.tracer });
  stack.push(graph);
  return () => {
    stack.splice(stack.lastIndexOf(graph), 1);
    leaveSink();
    return leave();
  };
}

/** The innermost graph of `asDefault`, and how many there are. */
export function entered(): { readonly graph: Graph | undefined; readonly depth: number } {
  return { graph: stack.at(-1), depth: stack.length };
}

/** The graph that ops go into. @throws FailedPreconditionError in eager mode. */
export function currentGraph(what: string): Graph {
  const graph = stack.at(-1);
  if (graph === undefined || context.tracer === null)
    throw new FailedPreconditionError(`${what} is not compatible with eager execution.`);
  return graph;
}

/** Whether ops go into a graph of sessions. */
export function inGraphOfSession(): boolean {
  return stack.length > 0 && context.tracer !== null;
}

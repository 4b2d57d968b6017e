// Bodies of branches and loops that run again for their values.
import type { Tensor } from '@eagre/core';
import { GraphInterpreter } from '../function/interpret.ts';
import type { Graph, GraphValue } from '../ir/graph.ts';
import { bodiesOf } from '../ir/graph-bodies.ts';
import { FunctionTracer } from '../tracing/tracer.ts';

/** A body for its values alone: what it calls of the host it does not call again. */
export function withoutHost(graph: Graph): Graph {
  return callsHost(graph) ? replayed(graph, [], [], graph.outputs.length) : graph;
}

function callsHost(graph: Graph): boolean {
  return graph.nodes.some((node) => node.what.kind === 'host' || bodiesOf(node).some(callsHost));
}

/**
 * A body that gets some of its values instead of making them, as arguments behind its own.
 * @param like what the arguments are like.
 * @param values which values these are; null for arguments that it has no use for.
 * @param outputs how many of its outputs it gives.
 */
export function replayed(
  graph: Graph,
  like: readonly Tensor[],
  values: readonly (GraphValue | null)[],
  outputs: number,
): Graph {
  const tracer = new FunctionTracer(graph.name, false);
  tracer.run(() => {
    const args = graph.arguments.map(({ dtype, shape, node }) => tracer.argument(dtype, shape, node.name));
    const known = new Map<GraphValue, Tensor>();
    like.forEach(({ dtype, shape }, i) => {
      const argument = tracer.argument(dtype, shape, `drawn_${i}`);
      const value = values[i] ?? null;
      if (value !== null) known.set(value, argument);
    });
    tracer.finish(new GraphInterpreter(false, known).run(graph, args).slice(0, outputs));
  });
  tracer.graph.assignments = [];
  return tracer.graph;
}

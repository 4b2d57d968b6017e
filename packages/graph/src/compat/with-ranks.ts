// Graphs in which the ranks of all values are known, made of those with placeholders of any rank.
import type { Shape } from '@eagre/core';
import { inContext, symbolically, symbolicTensor, withOpName } from '@eagre/core/internal';
import { Graph, type GraphValue } from '../ir/graph.ts';

/**
 * A graph with values of unknown rank, for arguments of certain shapes.
 * @param names the nodes whose results have no rank.
 */
export function withRanks(traced: Graph, names: ReadonlySet<string>, shapes: readonly Shape[]): Graph {
  const graph = new Graph(traced.name);
  const now = new Map<GraphValue, GraphValue>();
  const get = (value: GraphValue): GraphValue => now.get(value) as GraphValue;
  for (const node of traced.nodes) {
    const { what, type, attrs, name, traced: at, draws } = node;
    const inputs = node.inputs.map(get);
    let outputs: readonly Pick<GraphValue, 'dtype' | 'shape'>[] = node.outputs;
    if (what.kind === 'argument') {
      const index = traced.arguments.findIndex((a) => a.node === node);
      outputs = node.outputs.map(({ dtype }) => ({ dtype, shape: shapes[index] }));
    } else if (what.kind === 'op' && names.has(name)) {
      const given = inputs.map(({ dtype, shape }) => symbolicTensor(dtype, shape));
      try {
        outputs = inContext({ tapes: [], tracker: null }, () =>
          symbolically(null, () => what.op.evaluate(given, attrs)),
        );
      } catch (error) {
        throw withOpName(error, what.op);
      }
    }
    const added = graph.add(type, what, inputs, attrs, outputs, { name, traced: at, draws });
    node.outputs.forEach((value, i) => {
      now.set(value, added.outputs[i]);
    });
  }
  graph.arguments.push(...traced.arguments.map(get));
  graph.outputs = traced.outputs.map(get);
  graph.assignments = traced.assignments.map(({ variable, value }) => ({ variable, value: get(value) }));
  return graph;
}

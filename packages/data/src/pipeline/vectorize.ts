// Functions of an element on many elements at once: the same ops on tensors with one more axis.
import type { Tensor } from '@eagre/core';
import { execute, isElementwise } from '@eagre/core/internal';
import { type Graph, type GraphNode, type GraphValue, tfFunction } from '@eagre/graph';
import { type ElementSpec, mapSpec } from '../elements/element-spec.ts';
import { type Element, flatten } from '../elements/structure.ts';

/** A function of elements, on as many as are stacked. */
export type BlockFunction = (block: Element) => Element;

/** Values of nodes: with the axis of the elements, or the same for all. */
type Values = Map<GraphValue, { readonly tensor: Tensor; readonly stacked: boolean }>;

/**
 * The function for stacked elements, which gives bit by bit what calls for each give; null where a graph does more than to compute element by
 * element and to reshape: calls for each keep their order and their effects then.
 */
export function blockFunction(graph: Graph, result: ElementSpec): BlockFunction | null {
  if (graph.assignments.length > 0) return null;
  const nodes = graph.liveNodes();
  if (!nodes.every(isPlain)) return null;
  const stacked = new Set<GraphValue>();
  for (const node of nodes) {
    if (node.what.kind === 'argument' || node.inputs.some((v) => stacked.has(v)))
      for (const output of node.outputs) stacked.add(output);
  }
  // What is the same for all would have to be repeated.
  if (!graph.outputs.every((v) => stacked.has(v))) return null;
  const body = (...blocks: readonly Tensor[]): readonly Tensor[] => {
    const values: Values = new Map();
    graph.arguments.forEach((v, i) => values.set(v, { tensor: blocks[i], stacked: true }));
    for (const node of nodes) run(node, values);
    return graph.outputs.map((v) => (values.get(v) as { tensor: Tensor }).tensor);
  };
  const traced = tfFunction(body, { name: graph.name, reduceRetracing: true });
  return (block) => {
    const results = traced(...(flatten(block) as Tensor[]));
    return mapSpec(result, (_, i) => results[i]) as Element;
  };
}

function isPlain({ what, draws, outputs }: GraphNode): boolean {
  // The number of elements could not be told from a reshaped tensor without values.
  if (outputs.some((v) => v.shape.includes(0))) return false;
  if (what.kind === 'argument' || what.kind === 'constant') return true;
  if (what.kind !== 'op' || draws) return false;
  return isElementwise(what.op) || reshapes.has(what.op.name);
}
/** Ops that give the same values another shape. */
const reshapes: ReadonlySet<string> = new Set(['Reshape', 'ExpandDims', 'Squeeze']);

function run(node: GraphNode, values: Values): void {
  const { what, attrs } = node;
  if (what.kind === 'constant') values.set(node.outputs[0], { tensor: what.tensor, stacked: false });
  if (what.kind !== 'op') return;
  const { length: rank } = node.outputs[0].shape;
  const given = node.inputs.map((v) => values.get(v) as { tensor: Tensor; stacked: boolean });
  const stacked = given.some((v) => v.stacked);
  if (stacked && reshapes.has(what.op.name)) {
    const { tensor } = given[0] as { tensor: Tensor };
    values.set(node.outputs[0], {
      tensor: tensor.reshape([-1, ...node.outputs[0].shape]),
      stacked,
    });
    return;
  }
  const inputs = given.map((v) => (v.stacked ? aligned(v.tensor, rank) : v.tensor));
  execute(what.op, inputs, attrs).forEach((tensor, i) => {
    values.set(node.outputs[i], { tensor, stacked });
  });
}

/** Shapes are aligned at their ends when they broadcast, but the axis of the elements stays the first. */
function aligned(x: Tensor, rank: number): Tensor {
  const own = x.shape.slice(1);
  return own.length === rank ? x : x.reshape([-1, ...new Array<number>(rank - own.length).fill(1), ...own]);
}

import {
  dtypeTraits,
  FailedPreconditionError,
  type KernelAttrs,
  type KernelName,
  type ScalarProgram,
  type TensorRef,
} from '@eagre/backend';
import type { Variable } from '@eagre/core';
import {
  hasUnknown,
  inContext,
  type KernelRecorder,
  sizeOf,
  symbolically,
  symbolicTensor,
} from '@eagre/core/internal';
import type { Graph, GraphNode } from '../ir/graph.ts';
import { bodiesOf } from '../ir/graph-bodies.ts';
import { productOperations } from './kernel-work.ts';

/**
 * What a graph consists of and how much work one run of it is. Nodes that no result needs count as `unused` only, those in the bodies of
 * branches and loops once.
 */
export interface GraphStatistics {
  /** Nodes that run: ops, updates of variables, arguments, constants and reads of variables. */
  readonly nodes: number;
  /** Nodes that were traced but that no result needs. */
  readonly unused: number;
  /** How many nodes there are of each type, the most frequent first. */
  readonly nodesByType: Readonly<Record<string, number>>;
  readonly arguments: number;
  readonly constants: number;
  /** Bytes of all constants; strings count as none. */
  readonly constantBytes: number;
  readonly variables: number;
  /** Bytes of all variables. */
  readonly variableBytes: number;
  /** Variables that have another value after a run. */
  readonly assignments: number;
  /**
   * Multiplications and additions of matrix products and convolutions, their gradients, attention and recurrent layers, also of
   * those inside of composite ops.
   */
  readonly floatingPointOperations: number;
  /** Elements that everything else writes, before anything is fused. */
  readonly elementsWritten: number;
}

/**
 * Counts the nodes of a graph and the work of the kernels that they are made of. Nothing is computed.
 * @throws FailedPreconditionError for a graph in which sizes may be any.
 */
export function graphStatistics(graph: Graph): GraphStatistics {
  if (graph.arguments.some((value) => hasUnknown(value.shape))) {
    throw new FailedPreconditionError(
      'the statistics depend on unknown sizes: concrete.specialize(x).graph.statistics() computes them for the sizes of x',
      graph.name,
    );
  }
  const nodes = allNodes(graph);
  const byType = new Map<string, number>();
  const variables = new Set<Variable>();
  let constants = 0;
  let constantBytes = 0;
  for (const { type, what } of nodes) {
    byType.set(type, (byType.get(type) ?? 0) + 1);
    if (what.kind === 'variable') variables.add(what.variable);
    if (what.kind !== 'constant') continue;
    constants++;
    constantBytes += bytesOf(what.tensor);
  }
  const work = workOf(graph);
  return {
    nodes: nodes.length,
    unused: graph.nodes.length - graph.liveNodes().length,
    nodesByType: Object.fromEntries(
      [...byType].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : a > b ? 1 : 0)),
    ),
    arguments: graph.arguments.length,
    constants,
    constantBytes,
    variables: variables.size,
    variableBytes: [...variables].reduce((sum, variable) => sum + bytesOf(variable), 0),
    assignments: graph.assignments.length,
    floatingPointOperations: work.operations,
    elementsWritten: work.elements,
  };
}

/** The nodes that run, and those in their bodies but for the arguments. */
function allNodes(graph: Graph): GraphNode[] {
  const inside = (body: Graph): GraphNode[] => allNodes(body).filter((n) => n.what.kind !== 'argument');
  return graph.liveNodes().flatMap((node) => [node, ...bodiesOf(node).flatMap(inside)]);
}

function bytesOf({ dtype, size }: Pick<TensorRef, 'dtype' | 'size'>): number {
  return dtype === 'string' ? 0 : size * dtypeTraits[dtype].bytes;
}

function workOf(graph: Graph): Counter {
  const counter = new Counter();
  const count = (): void => {
    for (const node of allNodes(graph)) {
      const { what, inputs, outputs, attrs } = node;
      if (bodiesOf(node).length > 0) continue;
      if (what.kind === 'op') {
        const given = inputs.map((v) => symbolicTensor(v.dtype, v.shape));
        what.op.evaluate(given, attrs);
      } else if (what.kind === 'update')
        counter.elements += outputs.reduce((sum, v) => sum + sizeOf(v.shape), 0);
    }
  };
  inContext({ tapes: [], tracker: null }, () => symbolically(counter, count));
  // Updates write into the variables themselves, all else is copied there at the end.
  for (const { value } of graph.assignments)
    if (value.node.what.kind !== 'update') counter.elements += sizeOf(value.shape);
  return counter;
}

class Counter implements KernelRecorder {
  operations = 0;
  elements = 0;

  call(
    kernel: KernelName | ScalarProgram,
    inputs: readonly TensorRef[],
    outputs: readonly TensorRef[],
    attrs: KernelAttrs,
  ): void {
    const shapes = (tensors: readonly TensorRef[]): (readonly number[])[] => tensors.map((t) => t.shape);
    const operations =
      typeof kernel === 'string' ? productOperations(kernel, shapes(inputs), shapes(outputs), attrs) : null;
    if (operations === null) this.elements += outputs.reduce((sum, t) => sum + t.size, 0);
    else this.operations += operations;
  }

  capture(x: Parameters<KernelRecorder['capture']>[0]): ReturnType<KernelRecorder['capture']> {
    return symbolicTensor(x.dtype, x.shape);
  }
}

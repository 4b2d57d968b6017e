// Graphs as the page draws them, whatever they were written as.
import { tensorflow } from '@eagre/formats';
import type { GraphAnswer, GraphNode } from '../api.ts';
import { kerasNodes } from './keras-graph.ts';
import type { StoredGraph } from './run.ts';

/** @throws FormatError for bytes that are no graph. */
export function graphAnswer({ kind, bytes }: StoredGraph): GraphAnswer {
  if (kind === 'keras') return { nodes: kerasNodes(new TextDecoder().decode(bytes)), functions: [] };
  if (kind === 'graph') return shown([tensorflow.GraphDef.decode(bytes)]);
  const { function_graphs = [], partition_graphs = [] } = tensorflow.RunMetadata.decode(bytes);
  const traced = function_graphs.flatMap((f) => f.pre_optimization_graph ?? f.partition_graphs ?? []);
  return shown(traced.length > 0 ? traced : partition_graphs);
}

function shown(graphs: readonly tensorflow.GraphDef[]): GraphAnswer {
  return {
    nodes: graphs.flatMap((g) => (g.node ?? []).map(shownNode)),
    functions: graphs.flatMap((g) =>
      (g.library?.function ?? []).map((f) => ({
        name: f.signature?.name ?? '',
        nodes: (f.node_def ?? []).map(shownNode),
      })),
    ),
  };
}

function shownNode(node: tensorflow.NodeDef): GraphNode {
  const attributes = new Map<string, string>();
  for (const [name, value] of node.attr ?? []) {
    const text = shownAttribute(value);
    if (text !== undefined) attributes.set(name, text);
  }
  return {
    name: node.name ?? '',
    op: node.op ?? '',
    inputs: node.input ?? [],
    device: node.device ?? '',
    attributes: Object.fromEntries(attributes),
  };
}

function shownAttribute(value: tensorflow.AttrValue): string | undefined {
  if (value.s !== undefined) return new TextDecoder().decode(value.s).slice(0, 200);
  if (value.i !== undefined) return String(value.i);
  if (value.f !== undefined) return String(value.f);
  if (value.b !== undefined) return String(value.b);
  if (value.type !== undefined)
    return Object.entries(tensorflow.DataType).find(([, n]) => n === value.type)?.[0] ?? String(value.type);
  if (value.shape !== undefined) return shownShape(value.shape);
  if (value.func !== undefined) return value.func.name ?? '';
  const shapes = value.list?.shape;
  return shapes === undefined || shapes.length === 0 ? undefined : shapes.map(shownShape).join(', ');
}

const shownShape = (shape: tensorflow.TensorShapeProto): string =>
  shape.unknown_rank
    ? '?'
    : `[${(shape.dim ?? []).map((d) => (Number(d.size ?? 0) < 0 ? '?' : (d.size ?? 0))).join(', ')}]`;

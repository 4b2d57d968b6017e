// Graphs of traced functions as graphs of ONNX.
import { InternalError, UnimplementedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import {
  dims,
  execute,
  hasUnknown,
  inInitScope,
  isElementwise,
  isExpression,
  listOps,
  sizeOfDims,
  withoutTapes,
} from '@eagre/core/internal';
import type { onnx } from '@eagre/formats';
import type { Graph, GraphNode, GraphValue } from '@eagre/graph';
import { expandGraph } from '@eagre/graph/interchange';
import { typeNumber } from '../tensors.ts';
import { arrays } from './ops/arrays.ts';
import { control } from './ops/control.ts';
import { elementwise } from './ops/elementwise.ts';
import { matrices } from './ops/matrices.ts';
import { networks } from './ops/networks.ts';
import { randoms } from './ops/random.ts';
import { reductions } from './ops/reductions.ts';
import { writeProgram } from './program.ts';
import type { Row, Rows } from './row.ts';
import { simplified } from './simplify.ts';
import { type File, GraphWriter, nodeProto, SizeNames } from './writer.ts';

const rows: Rows = {
  ...arrays,
  ...control,
  ...elementwise,
  ...matrices,
  ...networks,
  ...randoms,
  ...reductions,
};

/** The names of the ops that ONNX has a form of; others are replaced by those that they are composed of. */
export const writtenOps = (): string[] => Object.keys(rows).sort();

/** How an op is written: by its row, or by the program of an element-wise op. */
function rowOf(name: string): Row | undefined {
  if (Object.hasOwn(rows, name)) return rows[name];
  const op = listOps().get(name);
  return op !== undefined && isElementwise(op) ? writeProgram(op) : undefined;
}
const keeps = (op: string): boolean => rowOf(op) !== undefined;

export interface NamedValues {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** Writes a function's graph. */
export function writeGraph(
  file: File,
  traced: Graph,
  names: NamedValues,
): { readonly graph: onnx.GraphProto; readonly conditions: readonly string[] } {
  if (traced.assignments.length > 0)
    throw new UnimplementedError(
      `the function assigns to the variable '${traced.assignments[0]?.variable.path}', but an ONNX model keeps no state: return the value, or export without training`,
      'tf.onnx.save',
    );
  const graph = expandGraph(traced, keeps, 'ONNX');
  const w = new GraphWriter(file, graph, null);
  const sizes = new SizeNames();
  const input = graph.arguments.map((value, i) => {
    const name = file.name(names.inputs[i] as string);
    w.set(value, name);
    return valueInfo(name, value, sizes);
  });
  const reserved = names.outputs.map((name) => file.name(name));
  writeNodes(w, graph);
  const output = graph.outputs.map((value, i) => {
    const name = reserved[i] as string;
    w.nodes.push(nodeProto('Identity', file.name(`${name}/Identity`), [w.of(value)], [name], {}));
    return valueInfo(name, value, sizes);
  });
  const node = simplified(w.nodes, reserved);
  return { graph: { node, name: graph.name, input, output }, conditions: conditionsOf(graph, sizes) };
}

/** What the trace has found true of sizes that may be any: the file is for these sizes only. */
function conditionsOf(graph: Graph, sizes: SizeNames): string[] {
  const unknown = graph.arguments.flatMap((v) => dims(v).filter(isExpression));
  const [first] = unknown;
  if (first === undefined) return [];
  const signs = { equal: '=', differ: '≠', atMost: '≤' } as const;
  // That a size is not 1 or 0 is said of broadcasting, which ONNX's ops do by themselves.
  return first.env.guards
    .filter(({ kind }) => kind !== 'differ')
    .map(({ kind, a, b }) => `${sizes.text(a)} ${signs[kind]} ${sizes.text(b)}`);
}

/** The nodes of a graph whose arguments have names. */
export function writeNodes(w: GraphWriter, graph: Graph): void {
  const known = new Map<GraphValue, Tensor>();
  for (const node of graph.liveNodes(graph.measures.map(({ value }) => value))) {
    const { what } = node;
    w.node = node;
    const [value] = node.outputs as readonly [GraphValue];
    if (what.kind === 'argument') continue;
    if (what.kind === 'constant' || what.kind === 'variable') {
      const tensor = what.kind === 'constant' ? what.tensor : what.variable.read();
      known.set(value, tensor);
      w.set(
        value,
        what.kind === 'constant' ? w.file.initializer(node.name, tensor) : w.file.variable(what.variable),
      );
      continue;
    }
    if (what.kind === 'size') {
      w.set(value, w.cast(w.squeeze(w.size(what.size), [0]), 'int64', what.dtype));
      continue;
    }
    if (foldNode(w, node, known)) continue;
    writeNode(w, node);
  }
  w.node = null;
}

// A folded value may have as many elements as what it is made of, and these more.
const MOST_MORE = 65_536;

/** Computes a node of constants now. @returns whether that was possible and makes the file not much larger. */
function foldNode(w: GraphWriter, node: GraphNode, known: Map<GraphValue, Tensor>): boolean {
  const { what, inputs, outputs, attrs } = node;
  if (what.kind !== 'op' || node.draws || 'source' in attrs || CONTROL.has(node.type)) return false;
  if (outputs.some((v) => hasUnknown(v.shape) || v.dtype === 'string') || holdsSizes(attrs)) return false;
  const given = inputs.map((v) => known.get(v));
  if (!given.every((t) => t !== undefined)) return false;
  const before = given.reduce((sum, t) => sum + (t as Tensor).size, MOST_MORE);
  if (outputs.reduce((sum, v) => sum + (sizeOfDims(v.shape) as number), 0) > before) return false;
  const results = inInitScope(() => withoutTapes(() => execute(what.op, given as Tensor[], attrs)));
  outputs.forEach((v, i) => {
    const tensor = results[i] as Tensor;
    known.set(v, tensor);
    if (w.isUsed(v)) w.set(v, w.file.initializer(node.name, tensor));
  });
  return true;
}
const CONTROL: ReadonlySet<string> = new Set(['If', 'Case', 'While']);
const holdsSizes = (attrs: GraphNode['attrs']): boolean =>
  Object.values(attrs).some((v) => isExpression(v) || (Array.isArray(v) && hasUnknown(v)));

function writeNode(w: GraphWriter, node: GraphNode): void {
  const row = rowOf(node.type);
  if (row === undefined) throw new InternalError(`${node.type} was to be expanded`, 'tf.onnx.save');
  const bad = [...node.inputs, ...node.outputs].find(
    (v) => v.dtype === 'string' || v.dtype.startsWith('complex'),
  );
  if (bad !== undefined)
    throw new UnimplementedError(
      `the node '${node.name}' (${node.type}) is of ${bad.dtype}, of which ONNX has no ops`,
      'tf.onnx.save',
    );
  const made = row(
    w,
    node,
    node.inputs.map((v) => w.of(v)),
  );
  const names = typeof made === 'string' ? [made] : made;
  node.outputs.forEach((v, i) => {
    const name = names[i];
    if (typeof name === 'string') w.set(v, name);
  });
}

export function valueInfo(name: string, { dtype, shape }: GraphValue, sizes: SizeNames): onnx.ValueInfoProto {
  return {
    name,
    type: {
      tensor_type: {
        elem_type: typeNumber(dtype),
        shape: { dim: dims({ shape }).map((d) => sizes.dimension(d)) },
      },
    },
  };
}

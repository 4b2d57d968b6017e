// Branches and loops: their bodies are graphs, which use the values outside by their names.
import { UnimplementedError } from '@eagre/backend';
import type { Variable } from '@eagre/core';
import type { onnx } from '@eagre/formats';
import type { Graph, GraphNode, GraphValue } from '@eagre/graph';
import { typeNumber } from '../../tensors.ts';
import { attr, type Row, type Rows } from '../row.ts';
import { simplified } from '../simplify.ts';
import { GraphWriter, nodeProto } from '../writer.ts';

function refuseState(node: GraphNode): void {
  const [variable] = attr<readonly Variable[] | undefined>(node, 'written') ?? [];
  if (variable !== undefined)
    throw new UnimplementedError(
      `the node '${node.name}' (${node.type}) assigns to the variable '${variable.path}', but an ONNX model keeps no state`,
      'tf.onnx.save',
    );
}

/** The type of a value; sizes that may be any are left open. */
const typed = (name: string, { dtype, shape }: GraphValue): onnx.ValueInfoProto => ({
  name,
  type: {
    tensor_type: {
      elem_type: typeNumber(dtype),
      shape: { dim: Array.from({ length: shape.length }, () => ({})) },
    },
  },
});

/** Gives values names of their own, as outputs need them. */
function named(w: GraphWriter, values: readonly GraphValue[]): onnx.ValueInfoProto[] {
  return values.map((value) => {
    const name = w.file.name('output');
    w.nodes.push(nodeProto('Identity', w.file.name('Identity'), [w.of(value)], [name], {}));
    return typed(name, value);
  });
}

const finish = (
  w: GraphWriter,
  input: readonly onnx.ValueInfoProto[],
  output: readonly onnx.ValueInfoProto[],
): onnx.GraphProto => ({
  node: simplified(
    w.nodes,
    output.map((o) => o.name as string),
  ),
  name: w.file.name(w.graph.name),
  input,
  output,
});

/** A branch on values outside. */
function branchOf(
  outer: GraphWriter,
  graph: Graph,
  inputs: readonly string[],
  count: number,
): onnx.GraphProto {
  const w = new GraphWriter(outer.file, graph, outer);
  graph.arguments.forEach((value, i) => {
    w.set(value, inputs[i] as string);
  });
  w.file.writeNodes(w, graph);
  return finish(w, [], named(w, graph.outputs.slice(0, count)));
}

/** Branch `from` and those behind it, of which the last runs where there is none of a number. */
function choose(
  w: GraphWriter,
  node: GraphNode,
  index: string,
  inputs: readonly string[],
  from: number,
): string[] {
  const branches = attr<readonly Graph[]>(node, 'branches');
  const count = node.outputs.length;
  const test = w.add('Equal', [index, w.scalar(from, 'int32')]);
  const then_branch = branchOf(w, branches[from] as Graph, inputs, count);
  if (from + 2 >= branches.length)
    return w.several(
      'If',
      [test],
      { then_branch, else_branch: branchOf(w, branches[from + 1] as Graph, inputs, count) },
      count,
    );
  const inner = new GraphWriter(w.file, w.graph, w);
  const rest = choose(inner, node, index, inputs, from + 1);
  const output = rest.map((name, i) => typed(name, node.outputs[i] as GraphValue));
  return w.several('If', [test], { then_branch, else_branch: finish(inner, [], output) }, count);
}

const branch: Row = (w, node, [selector, ...inputs]) => {
  refuseState(node);
  const [yes, no] = attr<readonly Graph[]>(node, 'branches') as [Graph, Graph];
  const count = node.outputs.length;
  if (count === 0) return [];
  return w.several(
    'If',
    [selector as string],
    { then_branch: branchOf(w, yes, inputs, count), else_branch: branchOf(w, no, inputs, count) },
    count,
  );
};

const several: Row = (w, node, [selector, ...inputs]) => {
  refuseState(node);
  const branches = attr<readonly Graph[]>(node, 'branches');
  if (branches.length === 1)
    throw new UnimplementedError(`'${node.name}' has only one branch`, 'tf.onnx.save');
  return choose(w, node, selector as string, inputs, 0);
};

/** The value of a loop's condition for its arguments. */
function condition(w: GraphWriter, graph: Graph, names: readonly string[]): string {
  // Its nodes are written here.
  const inner = new GraphWriter(w.file, graph, w);
  inner.nodes = w.nodes;
  graph.arguments.forEach((value, i) => {
    inner.set(value, names[i] as string);
  });
  w.file.writeNodes(inner, graph);
  return inner.of(graph.outputs[0] as GraphValue);
}

const loop: Row = (w, node, inputs) => {
  refuseState(node);
  const [test, body] = [attr<Graph>(node, 'condition'), attr<Graph>(node, 'body')];
  const carried = body.outputs.length;
  const first = condition(w, test, inputs);
  const inner = new GraphWriter(w.file, body, w);
  const [turn, before] = [w.file.name('turn'), w.file.name('condition')];
  const scalar = (name: string, elem_type: number): onnx.ValueInfoProto => ({
    name,
    type: { tensor_type: { elem_type, shape: {} } },
  });
  const input = [scalar(turn, typeNumber('int64')), scalar(before, typeNumber('bool'))];
  body.arguments.forEach((value, i) => {
    if (i >= carried) {
      inner.set(value, inputs[i] as string);
      return;
    }
    const name = w.file.name(value.node.name);
    inner.set(value, name);
    input.push(typed(name, value));
  });
  w.file.writeNodes(inner, body);
  const next = [...body.outputs.map((v) => inner.of(v)), ...inputs.slice(carried)];
  const goes = condition(inner, test, next);
  const again = w.file.name('condition');
  inner.nodes.push(nodeProto('Identity', w.file.name('Identity'), [goes], [again], {}));
  const output = [scalar(again, typeNumber('bool')), ...named(inner, body.outputs)];
  return w.several(
    'Loop',
    ['', first, ...inputs.slice(0, carried)],
    { body: finish(inner, input, output) },
    node.outputs.length,
  );
};

export const control: Rows = { If: branch, Case: several, While: loop };

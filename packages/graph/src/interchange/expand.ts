// Graphs in terms of fewer ops: for formats that do not have all of Eagre's.
import { FailedPreconditionError, UnimplementedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { type Attrs, type Dim, dims, type Op, sumOfSpans, toBackend } from '@eagre/core/internal';
import { ControlOp } from '../control/control-op.ts';
import { customGradientOp } from '../control/custom-gradient.ts';
import { Graph, type GraphNode, type GraphValue } from '../ir/graph.ts';
import { bodiesOf, isGraph } from '../ir/graph-bodies.ts';
import { assignedOp } from '../tracing/assigned.ts';
import { FunctionTracer } from '../tracing/tracer.ts';

/** Whether a format has an op, which therefore stays as it is. */
export type Keeps = (op: string) => boolean;

/**
 * The same graph where each op that is not kept is replaced by those that it is composed of. Sizes that may be any stay the same
 * expressions.
 *
 * @param format what has the ops, for messages: `ONNX`.
 * @throws UnimplementedError for an op that is neither kept nor composed of others, and for code of the host, with the node.
 */
export function expandGraph(graph: Graph, keeps: Keeps, format: string): Graph {
  const expander = new Expander(new Graph(graph.name), keeps, format);
  return expander.expand(graph);
}

/** What other ops make of the inputs of a kernel; null where there is no such form. */
function partsOf(op: Op, inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] | null {
  if (op.name !== 'ResizeAxis' || attrs['transposed'] === true) return null;
  const [x, ends, weights] = inputs as readonly [Tensor, Tensor, Tensor];
  return [sumOfSpans(x, ends, weights, attrs['size'] as Dim, false)];
}

class Expander extends FunctionTracer {
  readonly #keeps: Keeps;
  readonly #format: string;
  readonly #tensors = new Map<GraphValue, Tensor>();
  #node: GraphNode | null = null;

  constructor(graph: Graph, keeps: Keeps, format: string) {
    super(graph, false);
    this.#keeps = keeps;
    this.#format = format;
  }

  expand(graph: Graph): Graph {
    return this.run(() => {
      for (const value of graph.arguments)
        this.#tensors.set(value, this.argument(value.dtype, dims(value), value.node.name));
      for (const node of graph.liveNodes(graph.measures.map(({ value }) => value))) {
        if (node.what.kind === 'argument') continue;
        this.#node = node;
        this.#outputs(node).forEach((t, i) => this.#tensors.set(node.outputs[i], t));
      }
      this.graph.outputs = graph.outputs.map((v) => this.valueOf(this.#of(v)));
      this.graph.assignments = graph.assignments.map(({ variable, value }) => ({
        variable,
        value: this.valueOf(this.#of(value)),
      }));
      for (const measure of graph.measures)
        this.graph.measures.push({ ...measure, value: this.valueOf(this.#of(measure.value)) });
      return this.graph;
    });
  }

  #of(value: GraphValue): Tensor {
    return this.#tensors.get(value) as Tensor;
  }

  #outputs(node: GraphNode): readonly Tensor[] {
    const { what, inputs, attrs } = node;
    switch (what.kind) {
      case 'argument':
        return [];
      case 'constant':
        return [this.capture(what.tensor)];
      case 'size':
        return [this.size(what.size, what.dtype)];
      case 'variable':
        return [this.read(what.variable)];
      case 'op':
        if (what.op instanceof ControlOp) return this.#control(node, what.op);
        if (what.op.valueSized !== undefined) return this.#copied(node, attrs);
        // The values alone.
        if (what.op === customGradientOp || what.op === assignedOp)
          return inputs.slice(0, node.outputs.length).map((value) => this.#of(value));
        return this.execute(
          what.op,
          inputs.map((v) => this.#of(v)),
          attrs,
        );
      case 'host':
        if (what.portable?.isCheck === true) return [];
        return this.#lacks('is code of this process');
      default:
        return this.#lacks('changes variables');
    }
  }

  /** A branch or loop with bodies that are expanded too. */
  #control(node: GraphNode, op: ControlOp): readonly Tensor[] {
    if (!this.#keeps(op.name)) this.#lacks('is not part of it');
    const bodies = new Map(bodiesOf(node).map((b) => [b, expandGraph(b, this.#keeps, this.#format)]));
    const replaced = (value: unknown): unknown =>
      isGraph(value)
        ? (bodies.get(value) ?? value)
        : Array.isArray(value) && isGraph(value[0])
          ? value.map(replaced)
          : value;
    return this.#copied(
      node,
      Object.fromEntries(Object.entries(node.attrs).map(([key, value]) => [key, replaced(value)])),
    );
  }

  /** The node as it is. */
  #copied(node: GraphNode, attrs: Attrs): readonly Tensor[] {
    if (!this.#keeps(node.type)) this.#lacks('is not part of it');
    const inputs = node.inputs.map((v) => this.valueOf(this.#of(v)));
    const made = this.graph.add(node.type, node.what, inputs, attrs, node.outputs, {
      name: node.name,
      traced: node.traced,
      draws: node.draws,
    });
    return made.outputs.map((v) => this.lasting(v));
  }

  override execute(op: Op, inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    if (op.isComposite || this.#keeps(op.name) || op instanceof ControlOp)
      return super.execute(op, inputs, attrs);
    const outputs = this.#evaluated(op, inputs, attrs);
    if (outputs.every((t) => this.knows(t))) return outputs;
    // A kernel leaves nothing behind but shapes.
    return partsOf(op, inputs, attrs) ?? this.#lacks(`needs the op ${op.name}`);
  }

  #evaluated(op: Op, inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    try {
      return op.evaluate(toBackend(inputs, op), attrs);
    } catch (error) {
      // The op's own code reads values.
      if (error instanceof FailedPreconditionError)
        this.#lacks(`needs the op ${op.name}, which runs on the host`);
      throw error;
    }
  }

  #lacks(why: string): never {
    const { name, type } = this.#node as GraphNode;
    throw new UnimplementedError(
      `${this.#format} has no form of the node '${name}' (${type}): it ${why}`,
      'tf.onnx.save',
    );
  }
}

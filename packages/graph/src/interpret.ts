// Graphs run node by node: where a tape or another trace has to see the ops.
import { InternalError, type KernelAttrs, LateNumber } from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import {
  type Attrs,
  atRunTime,
  context,
  execute,
  hostBackend,
  inGraphScope,
  kernelFor,
  type Tracer,
} from '@eagre/core/internal';
import { assignedOp } from './assigned.ts';
import { ControlOp, type ForwardRecord, type Interpreter } from './control/control-op.ts';
import type { Graph, GraphNode, GraphValue } from './graph.ts';

/** Runs the nodes of a graph as if the function's code stood in the place of its call, with all that it does to variables. */
export function interpretFunction(graph: Graph, inputs: readonly Tensor[]): readonly Tensor[] {
  const interpreter = new GraphInterpreter(true);
  const last = graph.assignments.map(({ value }) => value);
  const results = interpreter.run(graph, inputs, last);
  const outputs = results.slice(0, graph.outputs.length);
  graph.assignments.forEach(({ variable }, i) => variable.assign(results[outputs.length + i] as Tensor));
  return outputs;
}

/** Runs graphs node by node. */
export class GraphInterpreter implements Interpreter {
  readonly effects: boolean;
  readonly histories: Map<ForwardRecord, unknown> = new Map();
  readonly #known: ReadonlyMap<GraphValue, Tensor>;

  /** @param known values that are not computed: their nodes do not run. */
  constructor(effects: boolean, known: ReadonlyMap<GraphValue, Tensor> = new Map()) {
    this.effects = effects;
    this.#known = known;
  }

  run(graph: Graph, inputs: readonly Tensor[], saved: readonly GraphValue[] = []): readonly Tensor[] {
    const values = new Map<GraphValue, Tensor>();
    graph.arguments.forEach((v, i) => values.set(v, inputs[i] as Tensor));
    const get = (v: GraphValue): Tensor => {
      const tensor = values.get(v) ?? this.#known.get(v);
      if (tensor === undefined) throw new InternalError(`${v.node.name} has no value`);
      return tensor;
    };
    for (const node of graph.liveNodes(saved)) {
      const known = node.outputs.flatMap((v) => this.#known.get(v) ?? []);
      if (known.length > 0 && known.length === node.outputs.length) continue;
      const outputs = inScopeOf(node, () => this.#node(node, get, known));
      outputs?.forEach((t, i) => values.set(node.outputs[i] as GraphValue, t));
    }
    return [...graph.outputs, ...saved].map(get);
  }

  /** @param known those of its outputs that are. */
  #node(node: GraphNode, get: (v: GraphValue) => Tensor, known: readonly Tensor[]): readonly Tensor[] | null {
    const { what } = node;
    switch (what.kind) {
      case 'argument':
        return null;
      case 'constant':
        return [what.tensor];
      case 'size':
        // Its graph is a body of one that is traced.
        return [(context.tracer as Tracer).size(what.size, what.dtype)];
      case 'variable':
        return [what.variable.read()];
      case 'op': {
        const inputs = node.inputs.map(get);
        if (what.op instanceof ControlOp) return what.op.interpret(inputs, node.attrs, this, known);
        const outputs = execute(what.op, inputs, currentAttrs(node.attrs));
        if (what.op === assignedOp) tellRead(node.attrs['variable'] as Variable, outputs[0] as Tensor);
        return outputs;
      }
      case 'host':
        return this.effects ? atRunTime(node.type, what.fn, node.inputs.map(get), what.results) : null;
      case 'update': {
        if (!this.effects) return null;
        const inputs = node.inputs.map(get);
        what.written.forEach((variable, i) => variable.assign(inputs[what.at[i] as number] as Tensor));
        update(node, what.written, inputs);
        return what.written.map((variable) => variable.read());
      }
    }
  }
}

/** Adds nodes to a function that is being traced in the scope of the node that they come from, inside of the current one. */
function inScopeOf<T>({ name }: GraphNode, fn: () => T): T {
  const { tracer } = context;
  return tracer === null
    ? fn()
    : inGraphScope(`${tracer.nameScope}${name.slice(0, name.lastIndexOf('/') + 1)}`, fn);
}

/** Tells tapes that a tensor is the value of a variable. */
export function tellRead(variable: Variable, value: Tensor): void {
  for (const tape of context.tapes) tape.variableRead(variable, value);
}

function update(node: GraphNode, written: readonly Variable[], inputs: readonly Tensor[]): void {
  const { what } = node;
  if (what.kind !== 'update') throw new InternalError(`${node.name} is no update`);
  const attrs = currentAttrs(node.attrs) as Readonly<Record<string, KernelAttrs[string] | LateNumber>>;
  if (context.tracer !== null) {
    context.tracer.update(what.kernel, inputs, written, what.at, attrs);
    return;
  }
  const all = [...inputs];
  const targets = written.map((variable, i) => {
    const target = variable.writable();
    all[what.at[i] as number] = target;
    return target;
  });
  kernelFor(hostBackend(), what.kernel, all)(all, targets, attrs as KernelAttrs);
}

/** Attributes with their late numbers: those of now or, while a function is traced, of each of its runs. */
function currentAttrs(attrs: Attrs): Attrs {
  const values = Object.values(attrs);
  if (!values.some((v) => v instanceof LateNumber)) return attrs;
  const tracing = context.tracer !== null;
  const now = (v: unknown): unknown => {
    if (!(v instanceof LateNumber)) return v;
    if (!tracing) return v.numbers.next()[v.index];
    return v.numbers.again === undefined ? v : new LateNumber(v.numbers.again(), v.index);
  };
  return Object.fromEntries(Object.entries(attrs).map(([k, v]) => [k, now(v)]));
}

// The part of a graph that a run needs, as a function of what is fed.
import { InvalidArgumentError } from '@eagre/backend';
import type { Shape, Variable } from '@eagre/core';
import { dims, evaluateDim, hasUnknown, holdsFor } from '@eagre/core/internal';
import type { Saved } from '../control/control-op.ts';
import { AtomicFunction } from '../function/atomic-function.ts';
import { describeGuard, sizesOf, specialize } from '../function/specialize.ts';
import { showType } from '../inspect/graph-text.ts';
import { Graph, type GraphNode, type GraphValue, type NodeKind } from '../ir/graph.ts';
import { isUnknownRank } from '../tracing/unknown-rank.ts';
import type { GraphBody } from './graph-body.ts';
import { assignOp, noOp } from './session-tracer.ts';
import { withRanks } from './with-ranks.ts';

// Plans that are kept for one part.
const PLANS = 16;

/** What a run is asked for. */
export interface Wanted {
  readonly values: readonly (GraphValue | Variable)[];
  /** Nodes that run for what they do. */
  readonly nodes: readonly GraphNode[];
  /** Values that are given; for a variable, what it is before the run. */
  readonly fed: readonly (GraphValue | Variable)[];
}

/** The nodes that these need, in the order in which they were written. */
export function neededNodes(
  body: GraphBody,
  wanted: readonly GraphNode[],
  fed: ReadonlySet<GraphValue> = new Set(),
): GraphNode[] {
  const needed = new Set<GraphNode>();
  const keeping = new Map<unknown, GraphNode>();
  for (const node of body.nodes) {
    const record = node.attrs['record'];
    if (record !== undefined) keeping.set(record, node);
  }
  const visit = [...wanted];
  for (let node = visit.pop(); node !== undefined; node = visit.pop()) {
    if (needed.has(node)) continue;
    needed.add(node);
    for (const input of node.inputs) if (!fed.has(input)) visit.push(input.node);
    visit.push(...body.controlInputs(node), ...body.followers(node));
    // The gradient of a loop needs that the loop runs.
    const kept = keeping.get((node.attrs['restored'] as Saved | null | undefined)?.of);
    if (kept !== undefined) visit.push(kept);
  }
  return body.nodes.filter((node) => needed.has(node));
}

/** A part of a graph that can run: its nodes in the order in which they were written. */
export class Subgraph {
  /** The variables whose values from before the run are needed. */
  readonly read: readonly Variable[];
  /** The variables that it uses in any way. */
  readonly variables: readonly Variable[];
  readonly #graph: Graph;
  readonly #body: GraphBody;
  readonly #nodes: readonly GraphNode[];
  readonly #plans = new Map<string, AtomicFunction>();
  /** The nodes whose results have no rank before something is fed. */
  readonly #rankless: ReadonlySet<string>;

  constructor(body: GraphBody, { values, nodes, fed }: Wanted) {
    const given = new Set(fed.filter((v) => 'node' in v));
    const wanted = values.flatMap((v) => ('node' in v && !given.has(v) ? [v.node] : []));
    this.#body = body;
    this.#nodes = neededNodes(body, [...wanted, ...nodes], given);
    const building = new SubgraphBuilder(body.name, fed);
    const before = values.map((v) => ('node' in v ? null : building.value(v)));
    for (const node of this.#nodes) building.node(node);
    this.#graph = building.finish(values.map((v, i) => before[i] ?? building.get(v as GraphValue)));
    this.#rankless = new Set(
      [...[...given].map((v) => v.node), ...this.#nodes]
        .filter((n) => n.outputs.some(isUnknownRank))
        .map((n) => n.name),
    );
    this.read = this.#graph.nodes.flatMap(({ what }) => (what.kind === 'variable' ? [what.variable] : []));
    this.variables = [...new Set([...this.read, ...this.#graph.assignments.map((a) => a.variable)])];
  }

  /** What runs for fed tensors of these shapes. @throws InvalidArgumentError for sizes that the graph was not written for. */
  concrete(shapes: readonly Shape[]): AtomicFunction {
    const sized = this.#graph.arguments.some(({ shape }) => hasUnknown(shape));
    const ranked = this.#rankless.size > 0;
    const key = sized || ranked ? shapes.join(';') : '';
    let plan = this.#plans.get(key);
    if (plan !== undefined) this.#plans.delete(key);
    else {
      const graph = sized ? this.#specialized(shapes) : this.#graph;
      plan = new AtomicFunction(ranked ? withRanks(graph, this.#rankless, shapes) : graph, null);
    }
    this.#plans.set(key, plan);
    const [oldest] = this.#plans;
    if (this.#plans.size > PLANS && oldest !== undefined) {
      this.#plans.delete(oldest[0]);
      oldest[1].dispose();
    }
    return plan;
  }

  #specialized(given: readonly Shape[]): Graph {
    const { arguments: args } = this.#graph;
    const shapes = given.map((shape, i) => (this.#rankless.has(args[i].node.name) ? args[i].shape : shape));
    const sizes = sizesOf(this.#graph, shapes);
    const wrong =
      args.find((v, i) => dims(v).some((d, axis) => evaluateDim(d, sizes) !== shapes[i]?.[axis])) ??
      this.#body.guards(this.#nodes).find((guard) => !holdsFor(guard, sizes));
    if (wrong === undefined) return specialize(this.#graph, sizes);
    const fed = args.map((v, i) => `${v.node.name} ${showType(v)} is [${shapes[i]}]`);
    const why = 'kind' in wrong ? `it was written for ${describeGuard(wrong)}` : 'one size is given twice';
    throw new InvalidArgumentError(
      `the graph cannot run for these sizes: ${why} (${fed.join('; ')}). Unknown sizes along one axis of several ` +
        "placeholders are one size, unless they have names: placeholder('float32', ['rows', 3])",
      'Session.run',
    );
  }
}

/** Writes down what a run does, with the values of variables from node to node. */
class SubgraphBuilder {
  readonly #graph: Graph;
  readonly #values = new Map<GraphValue, GraphValue>();
  readonly #variables = new Map<Variable, { readonly initial: GraphValue | null; value: GraphValue }>();

  constructor(name: string, fed: readonly (GraphValue | Variable)[]) {
    this.#graph = new Graph(name);
    for (const value of fed) {
      const { dtype, shape } = value;
      const name = 'node' in value ? value.node.name : value.path;
      const what: NodeKind = { kind: 'argument' };
      const added = this.#graph.add('Placeholder', what, [], { dtype, shape }, [value], { name });
      const argument = added.outputs[0];
      this.#graph.arguments.push(argument);
      if ('node' in value) this.#values.set(value, argument);
      else this.#variables.set(value, { initial: argument, value: argument });
    }
  }

  get(value: GraphValue): GraphValue {
    return this.#values.get(value) as GraphValue;
  }

  /** What a variable is at this place. */
  value(variable: Variable): GraphValue {
    let known = this.#variables.get(variable);
    if (known === undefined) {
      const { path, dtype } = variable;
      const what: NodeKind = { kind: 'variable', variable };
      const read = this.#graph.add('ReadVariableOp', what, [], { dtype }, [variable], {
        name: `${path}/Read`,
      });
      const initial = read.outputs[0];
      known = { initial, value: initial };
      this.#variables.set(variable, known);
    }
    return known.value;
  }

  #assign(variable: Variable, value: GraphValue): void {
    const known = this.#variables.get(variable);
    if (known === undefined) this.#variables.set(variable, { initial: null, value });
    else known.value = value;
  }

  node(node: GraphNode): void {
    const { what, outputs, type, attrs, name, traced, draws } = node;
    if (what.kind === 'argument') {
      const [value] = outputs as readonly [GraphValue];
      if (!this.#values.has(value)) throw unfed(value);
      return;
    }
    if (what.kind === 'variable') {
      this.#know(outputs, [this.value(what.variable)]);
      return;
    }
    const inputs = node.inputs.map((v) => this.get(v));
    if (what.kind === 'op' && what.op === noOp) return;
    if (what.kind === 'op' && what.op === assignOp) {
      this.#assign(attrs['variable'] as Variable, inputs[0]);
      this.#know(outputs, inputs);
      return;
    }
    if (what.kind === 'update')
      what.written.forEach((variable, i) => {
        inputs[what.at[i]] = this.value(variable);
      });
    const added = this.#graph.add(type, what, inputs, attrs, outputs, { name, traced, draws });
    this.#know(outputs, added.outputs);
    if (what.kind === 'update')
      what.written.forEach((variable, i) => {
        this.#assign(variable, added.outputs[i]);
      });
  }

  /** Values that are fed stay what they are. */
  #know(values: readonly GraphValue[], now: readonly GraphValue[]): void {
    values.forEach((value, i) => {
      if (!this.#values.has(value)) this.#values.set(value, now[i]);
    });
  }

  finish(outputs: readonly GraphValue[]): Graph {
    this.#graph.outputs = outputs;
    this.#graph.assignments = [...this.#variables]
      .filter(([, { initial, value }]) => initial !== value)
      .map(([variable, { value }]) => ({ variable, value }));
    return this.#graph;
  }
}

function unfed(value: GraphValue): InvalidArgumentError {
  const { dtype, node } = value;
  const shape = showType(value).slice(dtype.length);
  return new InvalidArgumentError(
    `You must feed a value for placeholder tensor '${node.name}' with dtype ${tensorFlowName(dtype)} and shape ${shape}`,
    'Session.run',
  );
}

function tensorFlowName(dtype: GraphValue['dtype']): string {
  const names: Partial<Record<typeof dtype, string>> = {
    float16: 'half',
    float32: 'float',
    float64: 'double',
  };
  return names[dtype] ?? dtype;
}

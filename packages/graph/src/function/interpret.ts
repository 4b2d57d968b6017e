// Graphs run node by node: where a tape or another trace has to see the ops.
import { InternalError, type KernelAttrs } from '@eagre/backend';
import type { HostOutput, Tensor, Variable } from '@eagre/core';
import {
  type Attrs,
  atMost,
  atRunTime,
  context,
  type Dim,
  type DimSymbol,
  dims,
  dimsOf,
  eagerBackend,
  equalDims,
  execute,
  findDevice,
  type Guard,
  hostDims,
  inContext,
  inGraphScope,
  kernelFor,
  onBackend,
  type Sizes,
  showDim,
  sizeValue,
  someSymbol,
  substituteDim,
  symbolOf,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { ControlOp, type ForwardRecord, type Interpreter } from '../control/control-op.ts';
import type { Graph, GraphNode, GraphValue, Measure } from '../ir/graph.ts';
import { isCheck } from '../ir/graph-bodies.ts';
import { assignedOp } from '../tracing/assigned.ts';
import { replaceSizes } from '../tracing/sizes-in-attributes.ts';

/** What the sizes that a trace did not know are in a run of its graph: numbers, or sizes of the function that is being traced. */
export class RunSizes {
  /** Whether something has happened that cannot happen again. */
  effects = false;
  readonly #known = new Map<DimSymbol, Dim>();
  readonly #guards: readonly Guard[];
  readonly #others: Sizes | null;

  /**
   * @param guards what has to hold once it can be told.
   * @param others what sizes are that the run has not told.
   */
  constructor(guards: readonly Guard[] = [], others: Sizes | null = null) {
    this.#guards = guards;
    this.#others = others;
  }

  /** @throws GuardFailed where the trace does not hold for this size. */
  know(symbol: DimSymbol, size: Dim): void {
    if (symbolOf(size) === symbol) return;
    this.#known.set(symbol, size);
    for (const guard of this.#guards)
      if (this.#isTold(guard, symbol) && !this.#holds(guard)) throw new GuardFailed(guard, this);
  }

  /** Whether a symbol was the last that a guard waited for. */
  #isTold({ a, b }: Guard, last: DimSymbol): boolean {
    const some = (test: (symbol: DimSymbol) => boolean): boolean =>
      someSymbol(a, test) || someSymbol(b, test);
    return some((symbol) => symbol === last) && !some((symbol) => !this.#known.has(symbol));
  }

  /** While a function is traced, what this depends on becomes a guard of that. */
  #holds({ kind, a, b }: Guard): boolean {
    const [x, y] = [this.of(a), this.of(b)];
    return kind === 'atMost' ? atMost(x, y) : equalDims(x, y) === (kind === 'equal');
  }

  /** Learns the sizes of a graph's arguments from what it is given for them. */
  knowArguments(graph: Graph, inputs: readonly Tensor[]): void {
    graph.arguments.forEach((value, i) => {
      dims(value).forEach((d, axis) => {
        const symbol = symbolOf(d);
        if (symbol !== null) this.know(symbol, dims(inputs[i])[axis]);
      });
    });
  }

  /** Learns sizes that depend on the results of a node. */
  knowResults(measures: readonly Measure[], get: (v: GraphValue) => Tensor): void {
    for (const { symbol, value, from, at } of measures) {
      const tensor = get(value);
      const size = from === 'axis' ? dims(tensor)[at] : hostDims(tensor, 'a size', value.node.type)[at];
      this.know(symbol, size);
    }
  }

  of(d: Dim): Dim {
    if (this.#known.size === 0 && this.#others === null) return d;
    return substituteDim(d, (symbol) => this.#known.get(symbol) ?? this.#others?.(symbol));
  }

  /** What a symbol is. @throws InternalError for one that the run has not told yet. */
  readonly lookUp: Sizes = (symbol) => {
    const size = this.#known.get(symbol);
    if (typeof size !== 'number') throw new InternalError(`the size ${symbol.text} is not known yet`);
    return size;
  };

  /** The same for the same sizes. */
  key(): string {
    return [...this.#known.values()].join();
  }

  /** What sizes that depend on values are, by their places in `symbols`. */
  told(symbols: readonly DimSymbol[]): Map<number, number> {
    const told = new Map<number, number>();
    symbols.forEach((symbol, i) => {
      const size = this.#known.get(symbol);
      if (typeof size === 'number') told.set(i, size);
    });
    return told;
  }

  /** Those of a node's attributes. */
  attrs(attrs: GraphNode['attrs']): GraphNode['attrs'] {
    return this.#known.size === 0 && this.#others === null ? attrs : replaceSizes(attrs, (d) => this.of(d));
  }
}

/** The trace went one way where this run has to go another. */
export class GuardFailed extends Error {
  readonly guard: Guard;
  readonly sizes: RunSizes;
  constructor(guard: Guard, sizes: RunSizes) {
    super(`${showDim(guard.a)} and ${showDim(guard.b)}`);
    this.guard = guard;
    this.sizes = sizes;
  }
}

/** Runs the nodes of a graph as if the function's code stood in the place of its call, with all that it does to variables. */
export function interpretFunction(
  graph: Graph,
  inputs: readonly Tensor[],
  sizes: RunSizes = new RunSizes(),
): readonly Tensor[] {
  const interpreter = new GraphInterpreter(true, new Map(), sizes);
  const last = graph.assignments.map(({ value }) => value);
  const results = interpreter.run(graph, inputs, last);
  const outputs = results.slice(0, graph.outputs.length);
  graph.assignments.forEach(({ variable }, i) => variable.assign(results[outputs.length + i]));
  return outputs;
}

/** A node before which a run stops, with what it is given. */
export interface Stop {
  readonly node: GraphNode;
  readonly inputs: readonly Tensor[];
  /** The values that have been computed so far. */
  readonly get: (value: GraphValue) => Tensor;
}

const never = (): boolean => false;

/** Runs graphs node by node. */
export class GraphInterpreter implements Interpreter {
  readonly effects: boolean;
  readonly histories: Map<ForwardRecord, unknown> = new Map();
  readonly #known: ReadonlyMap<GraphValue, Tensor>;
  readonly #sizes: RunSizes;

  /** @param known values that are not computed: their nodes do not run. */
  constructor(
    effects: boolean,
    known: ReadonlyMap<GraphValue, Tensor> = new Map(),
    sizes: RunSizes = new RunSizes(),
  ) {
    this.effects = effects;
    this.#known = known;
    this.#sizes = sizes;
  }

  run(graph: Graph, inputs: readonly Tensor[], saved: readonly GraphValue[] = []): readonly Tensor[] {
    const done = this.steps(graph, inputs, saved, never).next();
    if (done.done !== true) throw new InternalError('a graph stopped on its way');
    return done.value;
  }

  /** `run`, which stops before the nodes that `stops` names and goes on with the outputs that it is given for them. */
  *steps(
    graph: Graph,
    inputs: readonly Tensor[],
    saved: readonly GraphValue[],
    stops: (node: GraphNode) => boolean,
  ): Generator<Stop, readonly Tensor[], readonly Tensor[]> {
    const values = new Map<GraphValue, Tensor>();
    graph.arguments.forEach((v, i) => values.set(v, inputs[i]));
    const get = (v: GraphValue): Tensor => {
      const tensor = values.get(v) ?? this.#known.get(v);
      if (tensor === undefined) throw new InternalError(`${v.node.name} has no value`);
      return tensor;
    };
    this.#sizes.knowArguments(graph, inputs);
    const measures = measuresOf(graph);
    const live = graph.liveNodes([...saved, ...graph.measures.map(({ value }) => value)]);
    for (const node of live) {
      const known = node.outputs.flatMap((v) => this.#known.get(v) ?? []);
      if (known.length === 0 || known.length < node.outputs.length) {
        const outputs = stops(node)
          ? yield { node, inputs: node.inputs.map(get), get }
          : inPlaceOf(node, () => this.node(node, get, known));
        outputs?.forEach((t, i) => values.set(node.outputs[i], t));
      }
      const told = measures.get(node);
      if (told !== undefined) this.#sizes.knowResults(told, get);
    }
    return [...graph.outputs, ...saved].map(get);
  }

  /**
   * Runs one node.
   * @param known those of its outputs that are.
   * @returns its outputs; null for an argument, and for code of the host where that does not run.
   */
  node(
    node: GraphNode,
    get: (v: GraphValue) => Tensor,
    known: readonly Tensor[] = [],
  ): readonly Tensor[] | null {
    const { what } = node;
    const attrs = (): Attrs => this.#sizes.attrs(node.attrs);
    switch (what.kind) {
      case 'argument':
        return null;
      case 'constant':
        return [what.tensor];
      case 'size':
        return [toTensor(sizeValue(this.#sizes.of(what.size), what.dtype), what.dtype)];
      case 'variable':
        return [what.variable.read()];
      case 'op': {
        const inputs = node.inputs.map(get);
        if (what.op instanceof ControlOp) return what.op.interpret(inputs, node.attrs, this, known);
        const outputs = execute(what.op, inputs, attrs());
        if (what.op === assignedOp) tellRead(node.attrs['variable'] as Variable, outputs[0]);
        return outputs;
      }
      case 'host':
        this.#sizes.effects ||= this.effects && !isCheck(node);
        return this.effects
          ? atRunTime(node.type, what.fn, node.inputs.map(get), hostOutputs(what.results, this.#sizes))
          : null;
      case 'update': {
        if (!this.effects) return null;
        this.#sizes.effects = true;
        const inputs = node.inputs.map(get);
        what.written.forEach((variable, i) => variable.assign(inputs[what.at[i]]));
        update(node, what.written, inputs);
        return what.written.map((variable) => variable.read());
      }
    }
  }
}

function hostOutputs(results: readonly HostOutput[], sizes: RunSizes): readonly HostOutput[] {
  return results.map((r) => ({ ...r, shape: toShape(dimsOf(r.shape).map((d) => sizes.of(d))) }));
}

/** The sizes that depend on each node's results. */
export function measuresOf(graph: Graph): ReadonlyMap<GraphNode, readonly Measure[]> {
  const found = new Map<GraphNode, Measure[]>();
  for (const measure of graph.measures) {
    const { node } = measure.value;
    found.set(node, [...(found.get(node) ?? []), measure]);
  }
  return found;
}

/** Runs a node on its device. A function that is being traced gets it in the node's scope, inside of the current one. */
function inPlaceOf<T>({ name, device }: GraphNode, fn: () => T): T {
  const { tracer } = context;
  if (tracer === null) return device === '' ? fn() : onBackend(findDevice(device), fn);
  const scope = `${tracer.nameScope}${name.slice(0, name.lastIndexOf('/') + 1)}`;
  const added = (): T => inGraphScope(scope, fn);
  return device === '' ? added() : inContext({ placement: device }, added);
}

/** Tells tapes that a tensor is the value of a variable. */
export function tellRead(variable: Variable, value: Tensor): void {
  for (const tape of context.tapes) tape.variableRead(variable, value);
}

function update(node: GraphNode, written: readonly Variable[], inputs: readonly Tensor[]): void {
  const { what } = node;
  if (what.kind !== 'update') throw new InternalError(`${node.name} is no update`);
  const attrs = node.attrs as KernelAttrs;
  if (context.tracer !== null) {
    context.tracer.update(what.kernel, inputs, written, what.at, attrs);
    return;
  }
  const all = [...inputs];
  const targets = written.map((variable, i) => {
    const target = variable.writable();
    all[what.at[i]] = target;
    return target;
  });
  kernelFor(eagerBackend(), what.kernel, all)(all, targets, attrs);
}

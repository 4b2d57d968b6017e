// Types in a circle: a graph writes itself as text and as a GraphDef, and nodes of control flow hold graphs.
import type { DType, KernelName } from '@eagre/backend';
import type { HostFunction, HostOutput, Tensor, Variable } from '@eagre/core';
import {
  type Arguments,
  type Attrs,
  context,
  type DimExpr,
  type DimSymbol,
  defineMethods,
  type Op,
  override,
  type PortableForm,
} from '@eagre/core/internal';
import type { Saved } from '../control/control-op.ts';
import { type GraphvizModule, graphToDot, graphToSvg } from '../inspect/graph-drawing.ts';
import { type GraphStatistics, graphStatistics } from '../inspect/graph-statistics.ts';
import { graphToString } from '../inspect/graph-text.ts';
import type { GraphDefOptions } from '../interchange/graph-def.ts';
import { graphDefs } from '../late.ts';
import { hasEffects } from './graph-bodies.ts';

/** What a node does, and so how it is lowered to kernel calls. */
export type NodeKind =
  | { readonly kind: 'argument' }
  | { readonly kind: 'constant'; readonly tensor: Tensor }
  /** A number that is made of unknown sizes. */
  | { readonly kind: 'size'; readonly size: DimExpr; readonly dtype: DType }
  /** The value of a variable before the function runs. */
  | { readonly kind: 'variable'; readonly variable: Variable }
  | { readonly kind: 'op'; readonly op: Op }
  /** Code of the host: runs each time, in order. */
  | {
      readonly kind: 'host';
      readonly fn: HostFunction;
      readonly results: readonly HostOutput[];
      /** The same in ops that TensorFlow has. */
      readonly portable?: PortableForm;
    }
  /** A kernel that changes variables in place: `outputs[i]` is the new value of `written[i]`, whose old one is `inputs[at[i]]`. */
  | {
      readonly kind: 'update';
      readonly kernel: KernelName;
      readonly written: readonly Variable[];
      readonly at: readonly number[];
    };

/** One of the outputs of a node. */
export interface GraphValue {
  readonly node: GraphNode;
  readonly index: number;
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** A size that depends on values: that of an axis of a value, or an element of an integer one. */
export interface Measure {
  readonly symbol: DimSymbol;
  readonly value: GraphValue;
  readonly from: 'axis' | 'element';
  readonly at: number;
}

interface NodeOptions {
  readonly traced?: Error | null;
  readonly draws?: boolean;
  readonly device?: string;
}

/** An operation of a graph, under TensorFlow's names. */
export class GraphNode {
  /** `MatMul`, `MatMul_1`: unique in the graph. */
  readonly name: string;
  /** `MatMul`. */
  readonly type: string;
  readonly what: NodeKind;
  readonly inputs: readonly GraphValue[];
  readonly attrs: Attrs;
  readonly outputs: readonly GraphValue[];
  /** Where it was traced; its stack is only made when somebody reads it. */
  readonly traced: Error | null;
  /** Whether it draws random numbers. */
  readonly draws: boolean;
  /** Where `tf.device` put it when it was traced: `/device:CPU:0`; nothing where the call decides. */
  readonly device: string;

  constructor(
    name: string,
    type: string,
    what: NodeKind,
    inputs: readonly GraphValue[],
    attrs: GraphNode['attrs'],
    outputs: readonly { readonly dtype: DType; readonly shape: readonly number[] }[],
    { traced, draws, device }: NodeOptions,
  ) {
    this.name = name;
    this.type = type;
    this.what = what;
    this.inputs = inputs;
    this.attrs = attrs;
    this.outputs = outputs.map(({ dtype, shape }, index) => ({ node: this, index, dtype, shape }));
    this.traced = traced ?? null;
    this.draws = draws ?? false;
    this.device = device ?? context.placement;
  }
}

/** What a variable is when the function ends. */
export interface Assignment {
  readonly variable: Variable;
  readonly value: GraphValue;
}

/** A traced function: nodes in the order in which they were called, each after those that it needs. */
export class Graph {
  readonly name: string;
  readonly nodes: GraphNode[] = [];
  readonly arguments: GraphValue[] = [];
  outputs: readonly GraphValue[] = [];
  assignments: readonly Assignment[] = [];
  /** The sizes that depend on values of this graph, in the order of the trace. */
  readonly measures: Measure[] = [];
  /** Whether code of the host runs with every run, in its order. */
  readonly runsWhole: boolean = true;
  /** What the names of the next nodes begin with: `encoder/dense/`, or nothing. */
  nameScope = '';
  readonly #names = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  /**
   * Opens a name scope for the nodes that follow: in the current one and under a name of its own, or exactly this one if it ends in '/'
   * or is empty. @returns what closes it.
   */
  enterScope(name: string): () => boolean {
    const whole = name === '' || name.endsWith('/') ? name : `${this.#unique(this.nameScope + name)}/`;
    return override<Graph>(this, { nameScope: whole });
  }

  /** Names of nodes and scopes are of one kind, as in TensorFlow. */
  #unique(wanted: string): string {
    let count = this.#names.get(wanted) ?? 0;
    let name = count === 0 ? wanted : `${wanted}_${count}`;
    for (; this.#names.has(name); name = `${wanted}_${count}`) count++;
    this.#names.set(wanted, count + 1);
    if (name !== wanted) this.#names.set(name, 1);
    return name;
  }

  /**
   * Appends a node under a name of its own, in the current scope unless `options.name` says it: one that ends in '/' is the name of an
   * open scope, for the one node that stands for all in it.
   */
  add(
    type: string,
    what: NodeKind,
    inputs: readonly GraphValue[],
    attrs: GraphNode['attrs'],
    outputs: readonly { readonly dtype: DType; readonly shape: readonly number[] }[],
    options: NodeOptions & { readonly name?: string } = {},
  ): GraphNode {
    const wanted = options.name ?? this.nameScope + type;
    const name = wanted.endsWith('/') ? wanted.slice(0, -1) : this.#unique(wanted);
    const node = new GraphNode(name, type, what, inputs, attrs, outputs, options);
    this.nodes.push(node);
    return node;
  }

  /** What a node runs after, beside those that give its inputs. */
  controlInputs(_node: GraphNode): readonly GraphNode[] {
    return [];
  }

  /** Moves the last node up to what it needs, but not above others of its type. */
  moveUp(node: GraphNode): void {
    this.nodes.pop();
    const needed = new Set(node.inputs.map((value) => value.node));
    const at = this.nodes.findLastIndex((other) => needed.has(other) || other.type === node.type);
    this.nodes.splice(at + 1, 0, node);
  }

  /** The nodes that an output, a variable's new value, code of the host or one of `more` depends on, in order. */
  liveNodes(more: readonly GraphValue[] = []): GraphNode[] {
    const live = new Set<GraphNode>();
    const visit = [
      ...[...this.outputs, ...this.assignments.map((a) => a.value), ...more].map((v) => v.node),
      // Nobody may need what they return, but they are called for what they do, or for the draws behind them.
      ...this.nodes.filter(hasEffects),
    ];
    const keeping = new Map<unknown, GraphNode>();
    for (const node of this.nodes) {
      const record = node.attrs['record'];
      if (record !== undefined) keeping.set(record, node);
    }
    for (let node = visit.pop(); node !== undefined; node = visit.pop()) {
      if (live.has(node)) continue;
      live.add(node);
      for (const input of node.inputs) visit.push(input.node);
      // The gradient of a loop needs that the loop runs, whether or not anybody needs its results.
      const kept = keeping.get((node.attrs['restored'] as Saved | null | undefined)?.of);
      if (kept !== undefined) visit.push(kept);
    }
    return this.nodes.filter((n) => live.has(n) || n.what.kind === 'argument');
  }

  /**
   * The graph as text, the same for the same graph: its arguments, a line for each other node in the order of the trace, the
   * assignments of variables, and what it returns.
   *
   *     dense(%args_0: float32[2,3]) {
   *       %w/Read: float32[3,4] = ReadVariableOp('w')
   *       %MatMul: float32[2,4] = MatMul(%args_0, %w/Read) {transposeA: false, transposeB: false}
   *       return %MatMul
   *     }
   */
  toString(): string {
    return graphToString(this);
  }

  /** What the graph consists of, and how much work one run of it is. */
  statistics(): GraphStatistics {
    return graphStatistics(this);
  }

  /**
   * The bytes of TensorFlow's `GraphDef`: what `tf.compat.v1.GraphDef.FromString` and TensorBoard read. Where all ops are TensorFlow's
   * own, `tf.import_graph_def` runs it; composite ops of Eagre stay under their names. A page imports what writes it: `import 'eagre/graph-def'`.
   * @throws ResourceExhaustedError for more than 2 GiB; UnimplementedError in a page without that import.
   */
  asGraphDef(options?: GraphDefOptions): Uint8Array {
    return graphDefs.encodeGraphDef(this, options);
  }

  /**
   * The graph in Graphviz's language, for `dot -Tsvg`: colours by kind of node, frames for name scopes, shapes and attributes in
   * tooltips.
   */
  toDot(): string {
    return graphToDot(this);
  }

  /**
   * The drawing of `toDot` as the text of an SVG file, made by the package `@viz-js/viz`, which is to be installed beside Eagre.
   * In a program that is bundled, `load` says where it is: `graph.toSvg(() => import('@viz-js/viz'))`.
   * @throws FailedPreconditionError if it cannot be loaded.
   */
  toSvg(...args: Arguments<[load?: () => Promise<GraphvizModule>], ['load']>): Promise<string>;
  async toSvg(load?: () => Promise<GraphvizModule>): Promise<string> {
    return graphToSvg(this, load);
  }
}

defineMethods(Graph.prototype, 'Graph', {
  statistics: {},
  asGraphDef: { options: { largestConstant: true } },
  toDot: {},
  toSvg: { positional: ['load'], required: 0 },
});

import { InvalidArgumentError, NotFoundError } from '@eagre/backend';
import { Tensor, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkText,
  defineMethods,
  scoped,
  showInConsole,
  shown,
  symbolic,
  takesArguments,
} from '@eagre/core/internal';
import type { GraphDefOptions } from '../interchange/graph-def.ts';
import type { GraphNode, GraphValue } from '../ir/graph.ts';
import { enterGraph } from './entering.ts';
import { GraphBody } from './graph-body.ts';
import { Subgraph, type Wanted } from './part.ts';
import { AssignedVariable, assignOp, noOp, SessionTracer, valueOfItsOwn } from './session-tracer.ts';

/** A node of a graph: what runs for its own sake when a session is asked for it. */
export class Operation {
  readonly graph: Graph;
  /** @internal */
  readonly node: GraphNode;

  /** @internal */
  constructor(graph: Graph, node: GraphNode) {
    this.graph = graph;
    this.node = node;
  }

  /** `train/GradientDescent`: unique in the graph. */
  get name(): string {
    return this.node.name;
  }
  /** `MatMul`, `NoOp`. */
  get type(): string {
    return this.node.type;
  }
  /** Where `tf.device` put it: `/device:CPU:0`, or nothing. */
  get device(): string {
    return this.node.device;
  }
  /** The tensors that it computes from. */
  get inputs(): Tensor[] {
    return this.node.inputs.map((v) => this.graph.tracer.tensorOf(v));
  }
  /** The tensors that it computes. */
  get outputs(): Tensor[] {
    return this.node.outputs.map((v) => this.graph.tracer.tensorOf(v));
  }
  /** What it runs after, beside those that give its inputs. */
  get controlInputs(): Operation[] {
    return this.graph.body.controlInputs(this.node).map((node) => new Operation(this.graph, node));
  }

  toString(): string {
    return `<tf.Operation '${this.name}' type=${this.type}>`;
  }
}

showInConsole(Operation.prototype, String);

/** TensorFlow's names of collections. */
export const GraphKeys = {
  GLOBAL_VARIABLES: 'variables',
  TRAINABLE_VARIABLES: 'trainable_variables',
  REGULARIZATION_LOSSES: 'regularization_losses',
  LOSSES: 'losses',
} as const;

/** Placeholders, what a graph computes, or the variables and nodes that are in it. */
export type GraphElement = Tensor | Variable | Operation;

/** @throws InvalidArgumentError for what is never in a graph. */
function checkElement(element: GraphElement): void {
  if (element instanceof Tensor || element instanceof Variable || element instanceof Operation) return;
  throw new InvalidArgumentError(
    `expected a tensor, a variable or an operation of the graph, got ${shown(element)}`,
  );
}

/**
 * A graph for sessions: what ops do while it is the default graph is written down and computed by `Session.run` later.
 *
 *     const graph = new tf.compat.v1.Graph();
 *     const { x, y } = graph.asDefault(() => {
 *       const x = tf.compat.v1.placeholder('float32', [null, 3]);
 *       return { x, y: x.mul(2) };
 *     });
 *     new tf.compat.v1.Session({ graph }).run(y, { feedDict: new Map([[x, [[1, 2, 3]]]]) });
 */
export class Graph {
  /** @internal */
  readonly body: GraphBody = new GraphBody('graph');
  /** @internal */
  readonly tracer: SessionTracer = new SessionTracer(this.body);
  readonly #parts = new Map<string, Subgraph>();
  readonly #initializers = new Map<Variable, GraphNode>();
  readonly #names = new Map<Variable, string>();
  readonly #collections = new Map<string, GraphElement[]>();

  constructor(...args: []) {
    argumentsOf<object>(Graph, new.target, args);
  }

  /** Makes this the default graph for `fn`, or with `using _ = graph.asDefault()` until the block ends. */
  asDefault<T>(fn: () => T): T;
  asDefault<T>(options: {
    /** What runs while the graph is the default one. */
    readonly fn: () => T;
  }): T;
  asDefault(): Disposable;
  asDefault(fn?: unknown): unknown {
    return scoped(() => enterGraph(this), 'Graph.asDefault', fn as (() => unknown) | undefined);
  }

  /** The variables that were made in the graph, in their order. `scope`: what their names begin with; all unless given. */
  globalVariables(...args: Arguments<[scope?: string], ['scope']>): Variable[];
  globalVariables(scope = ''): Variable[] {
    checkText(scope, 'scope', 'Graph.globalVariables');
    return [...this.tracer.owned].filter((v) => v.path.startsWith(scope));
  }
  /** Those of them that are trained. */
  trainableVariables(...args: Arguments<[scope?: string], ['scope']>): Variable[];
  trainableVariables(scope = ''): Variable[] {
    return this.globalVariables(scope).filter((v) => v.trainable);
  }
  /** The variables by their names; where several have one name, they are `w`, `w_1`, … in the order in which they were made. */
  variablesByName(): Map<string, Variable> {
    const taken = new Set(this.#names.values());
    for (const variable of this.tracer.owned) {
      if (this.#names.has(variable)) continue;
      let name = variable.path;
      for (let i = 1; taken.has(name); i++) name = `${variable.path}_${i}`;
      taken.add(name);
      this.#names.set(variable, name);
    }
    return new Map([...this.#names].map(([variable, name]) => [name, variable]));
  }

  /** What was put into a collection, such as `GraphKeys.REGULARIZATION_LOSSES`, in its order; the graph's variables are two of them. `scope`: what names begin with. */
  getCollection(
    ...args: Arguments<[name: string, scope?: string], ['name', 'scope']>
  ): readonly GraphElement[];
  getCollection(name: string, scope = ''): readonly GraphElement[] {
    if (name === GraphKeys.GLOBAL_VARIABLES) return this.globalVariables(scope);
    if (name === GraphKeys.TRAINABLE_VARIABLES) return this.trainableVariables(scope);
    const elements = this.#collections.get(name) ?? [];
    checkText(scope, 'scope', 'Graph.getCollection');
    if (scope === '') return [...elements];
    const nameOf = (e: GraphElement): string => {
      if (e instanceof Tensor) return this.nodeOf(e).name;
      return e instanceof Variable ? e.path : e.name;
    };
    return elements.filter((e) => nameOf(e).startsWith(scope));
  }
  /** Puts something into a collection. @throws InvalidArgumentError for those that the graph fills itself. */
  addToCollection(...args: Arguments<[name: string, value: GraphElement], ['name', 'value']>): void;
  addToCollection(name: string, value: GraphElement): void {
    checkText(name, 'name', 'Graph.addToCollection');
    checkElement(value);
    if (name === GraphKeys.GLOBAL_VARIABLES || name === GraphKeys.TRAINABLE_VARIABLES)
      throw new InvalidArgumentError(
        `the graph itself maintains the collection '${name}'`,
        'Graph.addToCollection',
      );
    const elements = this.#collections.get(name);
    if (elements === undefined) this.#collections.set(name, [value]);
    else elements.push(value);
  }

  /** Lets nothing be added any more, as a guard against graphs that grow with each step; running them goes on. */
  finalize(): void {
    // They are made when somebody asks for them, which stays possible.
    for (const variable of this.tracer.owned) this.initializerOf(variable);
    this.body.finalized = true;
  }
  /** Whether `finalize` was called. */
  get finalized(): boolean {
    return this.body.finalized;
  }

  getOperations(): Operation[] {
    return this.body.nodes.map((node) => new Operation(this, node));
  }
  /** @throws NotFoundError for a name that is none. */
  getOperationByName(...args: Arguments<[name: string], ['name']>): Operation;
  getOperationByName(name: string): Operation {
    checkText(name, 'name', 'getOperationByName');
    const node = this.body.nodes.find((n) => n.name === name) ?? this.#importedNode(name);
    if (node === undefined) throw new NotFoundError(`the graph has no operation '${name}'`);
    return new Operation(this, node);
  }
  /** The output of an operation: `add:0`. @throws NotFoundError for a name that is none. */
  getTensorByName(...args: Arguments<[name: string], ['name']>): Tensor;
  getTensorByName(name: string): Tensor {
    checkText(name, 'name', 'getTensorByName');
    const [, operation, index] = /^(.+):(\d+)$/.exec(name) ?? [];
    if (operation === undefined)
      throw new InvalidArgumentError(`'${name}' is not the name of a tensor: expected a form like 'add:0'`);
    const imported = this.imported.get(operation);
    const tensor = (imported ?? this.getOperationByName(operation).outputs)[Number(index)];
    if (tensor === undefined) throw new NotFoundError(`the operation '${operation}' has no output ${index}`);
    return tensor;
  }

  /** @internal What nodes of imported graphs became, by their names. */
  readonly imported: Map<string, readonly (Tensor | undefined)[]> = new Map();
  #importedNode(name: string): GraphNode | undefined {
    const tensor = this.imported.get(name)?.find((t) => t !== undefined && this.tracer.knows(t));
    return tensor === undefined ? undefined : this.valueOf(tensor).node;
  }

  /**
   * The graph as the bytes of TensorFlow's `GraphDef`: variables are handles that are read and assigned, unknown sizes are -1.
   * @throws ResourceExhaustedError for more than 2 GiB.
   */
  asGraphDef(options?: GraphDefOptions): Uint8Array {
    return this.body.asGraphDef(options);
  }

  /** Text with a line for each node. */
  toString(): string {
    return this.body.toString();
  }

  /** @internal The value that a tensor stands for here. @throws InvalidArgumentError for a tensor of another graph. */
  valueOf(tensor: Tensor): GraphValue {
    if (tensor.backend === symbolic && !this.tracer.knows(tensor))
      throw new InvalidArgumentError('the tensor is not an element of this graph');
    return this.tracer.valueOf(tensor);
  }

  /** @internal The node that computes a tensor, assigns, or is the operation. */
  nodeOf(element: GraphElement): GraphNode {
    if (element instanceof Tensor) return this.valueOf(element).node;
    if (element instanceof AssignedVariable) return this.assignmentOf(element);
    if (element instanceof Variable) return this.initializerOf(element);
    checkElement(element);
    if (element.graph !== this)
      throw new InvalidArgumentError(`${String(element)} is not an element of this graph`);
    return element.node;
  }

  /** @internal @throws InvalidArgumentError for one of another graph. */
  assignmentOf({ node, tracer }: AssignedVariable): GraphNode {
    if (tracer !== this.tracer)
      throw new InvalidArgumentError(`'${node.name}' is not an element of this graph`);
    return node;
  }

  /** @internal The node that gives a variable its first value. @throws InvalidArgumentError for a variable of another graph. */
  initializerOf(variable: Variable): GraphNode {
    if (!(variable instanceof Variable))
      throw new InvalidArgumentError(`expected a variable, got ${shown(variable)}`);
    if (!this.tracer.owned.has(variable))
      throw new InvalidArgumentError(`the variable '${variable.path}' was not created in this graph`);
    let node = this.#initializers.get(variable);
    if (node === undefined) {
      const initial = this.tracer.valueOf(valueOfItsOwn(variable));
      // It hangs on nothing, wherever it is asked for.
      const { control } = this.body;
      this.body.control = [];
      node = this.body.add(
        'AssignVariableOp',
        { kind: 'op', op: assignOp },
        [initial],
        { variable },
        [variable],
        {
          name: `${variable.path}/Assign`,
        },
      );
      this.body.control = control;
      this.#initializers.set(variable, node);
    }
    return node;
  }

  /** @internal A node that runs all of these. `name`: in the current scope; null for the scope's own. */
  group(nodes: readonly GraphNode[], name: string | null = 'group_deps'): Operation {
    const { body } = this;
    const { control } = body;
    body.control = [...new Set([...control, ...nodes])];
    const node = body.add('NoOp', { kind: 'op', op: noOp }, [], {}, [], {
      name: body.nameScope + (name ?? ''),
    });
    body.control = control;
    return new Operation(this, node);
  }

  /** @internal What runs for these fetches and feeds. */
  part(wanted: Wanted): Subgraph {
    const key = (v: GraphValue | Variable): string =>
      'node' in v ? `${v.node.name}:${v.index}` : `variable ${v.id}`;
    const id = [wanted.values.map(key), wanted.nodes.map((n) => n.name), wanted.fed.map(key)]
      .map((list) => list.join(' '))
      .join('|');
    let part = this.#parts.get(id);
    if (part === undefined) this.#parts.set(id, (part = new Subgraph(this.body, wanted)));
    return part;
  }
}

takesArguments<object>({ names: {} }, Graph);
defineMethods(Graph.prototype, 'Graph', {
  asDefault: { positional: ['fn'], required: 0 },
  globalVariables: { positional: ['scope'], required: 0 },
  trainableVariables: { positional: ['scope'], required: 0 },
  variablesByName: {},
  getCollection: { positional: ['name', 'scope'], required: 1 },
  addToCollection: { positional: ['name', 'value'] },
  finalize: {},
  getOperations: {},
  getOperationByName: { positional: ['name'] },
  getTensorByName: { positional: ['name'] },
  asGraphDef: { options: { largestConstant: true } },
});
showInConsole(Graph.prototype, ({ body }) => `<tf.Graph with ${body.nodes.length} operations>`);

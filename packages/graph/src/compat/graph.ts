import { type DType, FailedPreconditionError, InvalidArgumentError, NotFoundError } from '@eagre/backend';
import { type Shape, Tensor, Variable } from '@eagre/core';
import {
  context,
  enterUnknownSizes,
  hostBackend,
  scoped,
  showInConsole,
  symbolic,
} from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../graph.ts';
import type { GraphDefOptions } from '../graph-def.ts';
import { GraphBody } from './graph-body.ts';
import { Part, type Wanted } from './part.ts';
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

/** The sizes of a placeholder: null for any. Unknown sizes along one axis are the same size, unless they have names. */
export type PlaceholderShape = readonly (number | null | string)[];

/** TensorFlow's names of collections. */
export const GraphKeys = {
  GLOBAL_VARIABLES: 'variables',
  TRAINABLE_VARIABLES: 'trainable_variables',
  REGULARIZATION_LOSSES: 'regularization_losses',
  LOSSES: 'losses',
} as const;

/** Placeholders, what a graph computes, or the variables and nodes that are in it. */
export type GraphElement = Tensor | Variable | Operation;

/**
 * A graph for sessions: what ops do while it is the default graph is written down and computed by `Session.run` later.
 *
 *     const graph = new tf.compat.v1.Graph();
 *     const { x, y } = graph.asDefault(() => {
 *       const x = tf.compat.v1.placeholder('float32', [null, 3]);
 *       return { x, y: x.mul(2) };
 *     });
 *     new tf.compat.v1.Session({ graph }).run(y, { feed: new Map([[x, [[1, 2, 3]]]]) });
 */
export class Graph {
  /** @internal */
  readonly body: GraphBody = new GraphBody('graph');
  /** @internal */
  readonly tracer: SessionTracer = new SessionTracer(this.body);
  readonly #parts = new Map<string, Part>();
  readonly #initializers = new Map<Variable, GraphNode>();
  readonly #names = new Map<Variable, string>();
  readonly #collections = new Map<string, GraphElement[]>();

  /** Makes this the default graph for `fn`, or with `using _ = graph.asDefault()` until the block ends. */
  asDefault<T>(fn: () => T): T;
  asDefault(): Disposable;
  asDefault<T>(fn?: () => T): T | Disposable {
    return scoped(() => enterGraph(this), 'Graph.asDefault', fn);
  }

  /** The variables that were made in the graph, in their order. @param scope what their names begin with; all unless given. */
  globalVariables(scope = ''): Variable[] {
    return [...this.tracer.owned].filter((v) => v.name.startsWith(scope));
  }
  /** Those of them that are trained. */
  trainableVariables(scope = ''): Variable[] {
    return this.globalVariables(scope).filter((v) => v.trainable);
  }
  /** The variables by their names; where several have one name, they are `w`, `w_1`, … in the order in which they were made. */
  variablesByName(): Map<string, Variable> {
    const taken = new Set(this.#names.values());
    for (const variable of this.tracer.owned) {
      if (this.#names.has(variable)) continue;
      let name = variable.name;
      for (let i = 1; taken.has(name); i++) name = `${variable.name}_${i}`;
      taken.add(name);
      this.#names.set(variable, name);
    }
    return new Map([...this.#names].map(([variable, name]) => [name, variable]));
  }

  /** What was put into a collection, such as `GraphKeys.REGULARIZATION_LOSSES`, in its order; the graph's variables are two of them. `scope`: what names begin with. */
  getCollection(name: string, scope = ''): readonly GraphElement[] {
    if (name === GraphKeys.GLOBAL_VARIABLES) return this.globalVariables(scope);
    if (name === GraphKeys.TRAINABLE_VARIABLES) return this.trainableVariables(scope);
    const elements = this.#collections.get(name) ?? [];
    if (scope === '') return [...elements];
    const nameOf = (e: GraphElement): string => (e instanceof Tensor ? this.nodeOf(e).name : e.name);
    return elements.filter((e) => nameOf(e).startsWith(scope));
  }
  /** Puts something into a collection. @throws InvalidArgumentError for those that the graph fills itself. */
  addToCollection(name: string, element: GraphElement): void {
    if (name === GraphKeys.GLOBAL_VARIABLES || name === GraphKeys.TRAINABLE_VARIABLES)
      throw new InvalidArgumentError(`the graph itself knows what is in '${name}'`, 'Graph.addToCollection');
    const elements = this.#collections.get(name);
    if (elements === undefined) this.#collections.set(name, [element]);
    else elements.push(element);
  }

  getOperations(): Operation[] {
    return this.body.nodes.map((node) => new Operation(this, node));
  }
  /** @throws NotFoundError for a name that is none. */
  getOperationByName(name: string): Operation {
    const node = this.body.nodes.find((n) => n.name === name);
    if (node === undefined) throw new NotFoundError(`the graph has no operation '${name}'`);
    return new Operation(this, node);
  }
  /** The output of an operation: `add:0`. @throws NotFoundError for a name that is none. */
  getTensorByName(name: string): Tensor {
    const [, operation, index] = /^(.+):(\d+)$/.exec(name) ?? [];
    if (operation === undefined)
      throw new InvalidArgumentError(`'${name}' is no name of a tensor: expected one like 'add:0'`);
    const tensor = this.getOperationByName(operation).outputs[Number(index)];
    if (tensor === undefined) throw new NotFoundError(`the operation '${operation}' has no output ${index}`);
    return tensor;
  }

  /**
   * The graph as the bytes of TensorFlow's `GraphDef`: variables are handles that are read and assigned, unknown sizes are -1.
   * @throws ResourceExhaustedError for more than 2 GiB.
   */
  asGraphDef(options?: GraphDefOptions): Uint8Array {
    return this.body.toGraphDef(options);
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
    if (!this.tracer.owned.has(variable))
      throw new InvalidArgumentError(`the variable '${variable.name}' was not made in this graph`);
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
          name: `${variable.name}/Assign`,
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
  part(wanted: Wanted): Part {
    const key = (v: GraphValue | Variable): string =>
      'node' in v ? `${v.node.name}:${v.index}` : `variable ${v.id}`;
    const id = [wanted.values.map(key), wanted.nodes.map((n) => n.name), wanted.fed.map(key)]
      .map((list) => list.join(' '))
      .join('|');
    let part = this.#parts.get(id);
    if (part === undefined) this.#parts.set(id, (part = new Part(this.body, wanted)));
    return part;
  }
}

showInConsole(Graph.prototype, ({ body }) => `<tf.Graph with ${body.nodes.length} operations>`);

const stack: Graph[] = [];
let base: Graph | null = null;

/** Lets ops go into a graph. @returns what ends it. */
function enterGraph(graph: Graph): () => void {
  const { tapes, tracker, backend, tracer, lifting, host, nameScope, placement } = context;
  const { sink } = symbolic;
  const changes = { tapes: [], tracker: null, tracer: graph.tracer, lifting: null };
  Object.assign(context, {
    ...changes,
    nameScope: '',
    placement: '',
    host: hostBackend(),
    backend: symbolic,
  });
  symbolic.sink = graph.tracer;
  const leaveSizes = enterUnknownSizes(graph.body.standIns);
  stack.push(graph);
  return () => {
    stack.splice(stack.lastIndexOf(graph), 1);
    leaveSizes();
    symbolic.sink = sink;
    Object.assign(context, { tapes, tracker, backend, tracer, lifting, host, nameScope, placement });
  };
}

/** The graph that is default now: the innermost of `asDefault`, or one that is there from the start. */
export function getDefaultGraph(): Graph {
  base ??= new Graph();
  return stack.at(-1) ?? base;
}

/**
 * Forgets the graph that is default where no other is: the next `getDefaultGraph` makes another.
 * @throws FailedPreconditionError inside of `asDefault`.
 */
export function resetDefaultGraph(): void {
  const eager = leaveDefault === null;
  if (stack.length > (eager ? 0 : 1))
    throw new FailedPreconditionError('the default graph cannot be reset inside of Graph.asDefault');
  leaveDefault?.();
  base = new Graph();
  leaveDefault = eager ? null : enterGraph(base);
}

let leaveDefault: (() => void) | null = null;

/** From here on all ops go into the default graph, as in TensorFlow 1. @throws FailedPreconditionError inside of `asDefault`. */
export function disableEagerExecution(): void {
  if (leaveDefault !== null) return;
  if (stack.length > 0)
    throw new FailedPreconditionError('eager execution cannot be disabled inside of Graph.asDefault');
  leaveDefault = enterGraph(getDefaultGraph());
}
/** Ends `disableEagerExecution`. */
export function enableEagerExecution(): void {
  leaveDefault?.();
  leaveDefault = null;
}

/** The graph that ops go into. @throws FailedPreconditionError in eager mode. */
export function currentGraph(what: string): Graph {
  const graph = stack.at(-1);
  if (graph === undefined || context.tracer === null)
    throw new FailedPreconditionError(`${what} is not compatible with eager execution.`);
  return graph;
}

/**
 * A tensor that every run is given: `session.run(y, { feed: new Map([[x, value]]) })`.
 * @param shape its sizes, null where they may be any. Unknown sizes along one axis of several placeholders are the same size (that of
 * a batch); names instead of null tell them apart: `['rows', 3]`. Without a
 * shape it may be any, but only element-wise ops can take what depends on it.
 * @throws FailedPreconditionError in eager mode.
 */
export function placeholder(
  dtype: DType,
  shape: PlaceholderShape | null = null,
  options: { readonly name?: string } = {},
): Tensor {
  const { body, tracer } = currentGraph('tf.placeholder()');
  const name = body.nameScope + (options.name ?? 'Placeholder');
  if (shape === null) return tracer.ranklessArgument(dtype, name);
  for (const size of shape)
    if (typeof size === 'number' && (!Number.isInteger(size) || size < 0))
      throw new InvalidArgumentError(`${size} is no size`, 'placeholder');
  const traced: Shape = body.traced(shape);
  return tracer.argument(dtype, traced, name);
}

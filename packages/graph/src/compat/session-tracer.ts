import { type DType, FailedPreconditionError, UnimplementedError } from '@eagre/backend';
import { identity, type Tensor, type TensorLike, Variable } from '@eagre/core';
import { type Attrs, aliasTensor, context, copyTensor, inContext, Op } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../ir/graph.ts';
import { bodiesOf } from '../ir/graph-bodies.ts';
import { FunctionTracer } from '../tracing/tracer.ts';
import {
  hideRank,
  isUnknownRank,
  isUnknownRankTensor,
  markUnknownRank,
  permittingRanks,
  requireElementwise,
} from '../tracing/unknown-rank.ts';
import type { GraphBody } from './graph-body.ts';

/** Gives a variable, its attribute `variable`, the value that it is given. */
export const assignOp: Op = new Op(
  {
    name: 'AssignVariableOp',
    samples: () => [],
    notDifferentiable: 'assigning to a variable cuts it off from what the value was computed from',
  },
  ([value]) => [aliasTensor(value, value.shape)],
);

/** Does nothing, after all that it depends on. */
export const noOp: Op = new Op(
  { name: 'NoOp', samples: () => [], notDifferentiable: 'it has no result' },
  () => [],
);

/** Whether a node does something beside computing its results, itself or in the bodies of a branch or loop. */
export function hasEffect(node: GraphNode): boolean {
  const { what } = node;
  if (what.kind === 'host' || what.kind === 'update' || (what.kind === 'op' && what.op === assignOp))
    return true;
  return bodiesOf(node).some((body) => body.nodes.some(hasEffect));
}

/** Runs `fn` outside of all graphs and tapes. */
export function eagerly<T>(fn: () => T): T {
  const backend = context.eagerBackend ?? context.backend;
  return inContext({ tracer: null, lifting: null, tapes: [], backend, eagerBackend: null }, fn);
}

/** @throws UnimplementedError for a variable whose shape may change: the graph has no run by whose sizes it could go. */
function requireOneShape(variable: Variable): void {
  if (variable.hasOneShape) return;
  throw new UnimplementedError(
    `the variable '${variable.path}' may change its shape, so it cannot be used in a graph of sessions: use it in tf.function, or eagerly`,
  );
}

/**
 * Writes ops into a graph for sessions. Reads and assignments of variables are nodes of their own, for each run decides anew which of
 * them run.
 */
export class SessionTracer extends FunctionTracer {
  readonly body: GraphBody;
  /** The variables that were made here: each session has values of its own for them. */
  readonly owned: Set<Variable> = new Set();
  /** What reads of variables get until somebody assigns. */
  readonly #reads = new Map<Variable, Tensor>();
  readonly #tensors = new Map<GraphValue, Tensor>();

  // Each run chooses its part of the graph.
  protected override get measures(): boolean {
    return false;
  }

  constructor(body: GraphBody) {
    const remedy =
      'It has a value in a session: session.run(tensor); what another graph is to use of it is fed there';
    super(body, true, null, { what: 'a tf.Graph', remedy, open: 0 });
    this.body = body;
  }

  override created(variable: Variable): void {
    this.body.checkOpen();
    super.created(variable);
    this.owned.add(variable);
  }

  /** The tensor that stands for a value; the same each time. */
  tensorOf(value: GraphValue): Tensor {
    let tensor = this.#tensors.get(value);
    if (tensor === undefined) this.#tensors.set(value, (tensor = this.lasting(value)));
    return tensor;
  }

  /** An argument of any rank. */
  ranklessArgument(dtype: DType, name: string): Tensor {
    const tensor = this.argument(dtype, [], name);
    markUnknownRank(this.valueOf(tensor));
    hideRank(tensor);
    return tensor;
  }

  override lasting(value: GraphValue): Tensor {
    const tensor = super.lasting(value);
    if (isUnknownRank(value)) hideRank(tensor);
    return tensor;
  }

  override execute(op: Op, inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    if (op.isComposite || !inputs.some(isUnknownRankTensor)) return super.execute(op, inputs, attrs);
    requireElementwise(op, inputs, attrs);
    return permittingRanks(() => {
      const outputs = super.execute(op, inputs, attrs);
      for (const output of outputs) {
        markUnknownRank(this.valueOf(output));
        hideRank(output);
      }
      return outputs;
    });
  }

  override valueOf(x: Tensor): GraphValue {
    return permittingRanks(() => super.valueOf(x));
  }

  override knows(x: Tensor): boolean {
    return permittingRanks(() => super.knows(x));
  }

  override called(call: () => readonly Tensor[]): readonly Tensor[] {
    const { body } = this;
    const before = body.nodes.length;
    const outputs = call();
    const effects = body.nodes.slice(before).filter(hasEffect);
    if (effects.length === 0) return outputs;
    const { control } = body;
    body.control = [...new Set([...control, ...effects])];
    try {
      return outputs.map((t) => identity(t));
    } finally {
      body.control = control;
    }
  }

  /** What nodes from here on read of variables are reads of their own. */
  forgetReads(): void {
    this.#reads.clear();
  }

  override read(variable: Variable): Tensor {
    requireOneShape(variable);
    let value = this.#reads.get(variable);
    if (value === undefined) {
      const { path, dtype } = variable;
      const what = { kind: 'variable', variable } as const;
      const node = this.body.add('ReadVariableOp', what, [], { dtype }, [variable], { name: `${path}/Read` });
      value = this.tensorOf(node.outputs[0]);
      this.#reads.set(variable, value);
    }
    return value;
  }

  override assign(variable: Variable, value: Tensor): Variable {
    requireOneShape(variable);
    const given = this.valueOf(value);
    const node = this.body.add('AssignVariableOp', { kind: 'op', op: assignOp }, [given], { variable }, [
      variable,
    ]);
    // A branch or a loop that changes a variable does so whenever it runs.
    const written = given.node.attrs['written'] as readonly Variable[] | undefined;
    if (Array.isArray(written) && written.includes(variable)) this.body.follow(given.node, node);
    this.#reads.delete(variable);
    return eagerly(() => new AssignedVariable(variable, this, node));
  }

  override update(...args: Parameters<FunctionTracer['update']>): void {
    const [kernel, inputs, written, at, attrs] = args;
    this.body.add(
      `Resource${kernel}`,
      { kind: 'update', kernel, written, at },
      inputs.map((t) => this.valueOf(t)),
      attrs,
      written,
      { traced: new Error() },
    );
    for (const variable of written) this.#reads.delete(variable);
  }
}

const inSessions = 'what an assignment in a graph gives has a value in sessions only: session.run(it)';

/** What `variable.assign(…)` gives in a graph: the variable as it is after that assignment, which runs when this is used or fetched. */
export class AssignedVariable extends Variable {
  readonly target: Variable;
  readonly tracer: SessionTracer;
  readonly node: GraphNode;

  constructor(target: Variable, tracer: SessionTracer, node: GraphNode) {
    super(0, { trainable: target.trainable });
    const { id, name, path, dtype, shape } = target;
    for (const [key, value] of Object.entries({ id, name, path, dtype, shape }))
      Object.defineProperty(this, key, { value, enumerable: true });
    this.target = target;
    this.tracer = tracer;
    this.node = node;
  }

  override get size(): number {
    return this.target.size;
  }
  override taken(): Tensor {
    const value = this.tracer.tensorOf(this.node.outputs[0]);
    for (const tape of context.tapes) tape.variableRead(this.target, value);
    return value;
  }
  override read(): Tensor {
    return this.taken();
  }
  override assign(value: unknown): this {
    return this.target.assign(value as TensorLike) as this;
  }
  override assignAdd(delta: unknown): this {
    return this.target.assignAdd(delta as TensorLike) as this;
  }
  override assignSub(delta: unknown): this {
    return this.target.assignSub(delta as TensorLike) as this;
  }
  override rewrite(_op: string, next: (value: Tensor) => Tensor): this {
    return this.assign(next(this.taken()));
  }
  override data(): never {
    throw new FailedPreconditionError(inSessions);
  }
  override ndarray(): never {
    throw new FailedPreconditionError(inSessions);
  }
  override array(): never {
    throw new FailedPreconditionError(inSessions);
  }
  override item(): never {
    throw new FailedPreconditionError(inSessions);
  }
  override describe(): string {
    return `tf.Variable '${this.path}' after ${this.node.name}`;
  }
  override toString(): string {
    return this.describe();
  }
  override [Symbol.toPrimitive](hint: string): string {
    if (hint === 'number') throw new FailedPreconditionError(inSessions);
    return this.describe();
  }
}

/** A variable's value now, in memory of its own. */
export function valueOfItsOwn(variable: Variable): Tensor {
  return eagerly(() => copyTensor(variable.taken()));
}

import {
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  type Storage,
  UnimplementedError,
} from '@eagre/backend';
import { type Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  atRunTime,
  context,
  dims,
  inContext,
  type SparseDelta,
  sameShape,
  scaledRows,
  showShape,
  toTensor,
  type VariableHome,
  type VariableRequest,
} from '@eagre/core/internal';
import type { ChangeKind, ScatterKind, SliceKind } from './parameter-store.ts';
import { recording } from './recording.ts';

/** What a variable needs of the parameter servers. */
export interface VariableServers extends VariableHome {
  /** The value now. */
  read(variable: ServedVariable): Tensor;
  change(
    variable: ServedVariable,
    kind: ChangeKind | ScatterKind | SliceKind,
    tensors: readonly Tensor[],
  ): void;
  drop(variable: ServedVariable): void;
}

/** A variable whose value is not in this process. Who reads it gets `fetched()`. */
export abstract class DistantVariable extends Variable {
  #awaitsUse = false;

  constructor({ value, ...options }: VariableRequest) {
    super(value, options);
    super.dispose();
  }

  /** The value as a tensor. */
  protected abstract fetched(): Tensor;

  protected use(): void {
    if (!this.#awaitsUse) return;
    this.#awaitsUse = false;
    try {
      context.restoring?.(this);
    } catch (error) {
      this.#awaitsUse = true;
      throw error;
    }
  }

  override get awaitsUse(): boolean {
    return this.#awaitsUse;
  }
  override awaitUse(): void {
    this.#awaitsUse = true;
  }

  override get storage(): Storage {
    return this.#known().storage;
  }
  override data(): ReturnType<Variable['data']> {
    return this.#known().data();
  }
  override ndarray(): ReturnType<Variable['ndarray']> {
    return this.#known().ndarray();
  }
  override array<T extends ReturnType<Variable['array']> = ReturnType<Variable['array']>>(): T {
    return this.#known().array() as T;
  }
  override item(): number;
  override item(
    as:
      | 'bigint'
      | {
          /** `'bigint'`: any integer, also one that no number holds exactly, as a bigint. */
          readonly as: 'bigint';
        },
  ): bigint;
  override item<T extends number | boolean | string>(): T;
  override item(as?: unknown): number | bigint | boolean | string {
    const value = this.#known();
    return as === undefined ? value.item() : value.item(as as 'bigint');
  }
  /** The value for the host, which has none while a function is traced: then that of the trace, which says so. */
  #known(): Tensor {
    this.use();
    return context.tracer === null ? this.fetched() : this.taken();
  }
  /** The value to be shown. */
  #shown(): Tensor {
    this.use();
    return this.fetched();
  }

  /** @internal */
  override writable(): Tensor {
    throw new InternalError(`'${this.path}' has no memory in this process`);
  }
  /** @internal */
  override exchange(): Tensor {
    throw new UnimplementedError(
      `'${this.path}' is on a parameter server, so it cannot hold another value for a while`,
    );
  }

  override toString(): string {
    return this.#shown().toString();
  }
  override [Symbol.toPrimitive](hint: string): string | number | bigint | boolean {
    return this.#shown()[Symbol.toPrimitive](hint);
  }
  override describe(): string {
    return String(this.#shown()).replace(/^tf\.Tensor/, `tf.Variable '${this.path}' `);
  }

  /** A value that is to be assigned. @throws InvalidArgumentError for another dtype or shape */
  protected fitting(value: TensorLike, op: string): Tensor {
    const next = toTensor(value, this.dtype);
    if (next.dtype !== this.dtype || !sameShape(dims(next), this.shape))
      throw new InvalidArgumentError(
        `cannot assign ${next.dtype} ${showShape(next.shape)} to the variable '${this.path}' of ${this.dtype} ${showShape(this.shape)}`,
        op,
      );
    return next;
  }
}

/** A variable on a parameter server. `new tf.Variable` in the scope of a `ParameterServerStrategy` makes one. */
export class ServedVariable extends DistantVariable {
  /** @internal Its number on the servers. */
  readonly served: number;
  /** @internal The place of its server. */
  readonly server: number;
  readonly #servers: VariableServers;

  /** @internal Strategies make them. */
  constructor(request: VariableRequest, servers: VariableServers, server: number, served: number) {
    super(request);
    this.served = served;
    this.server = server;
    this.#servers = servers;
  }

  override get home(): VariableHome | null {
    return recording.inUpdate ? null : this.#servers;
  }
  override get device(): string {
    return `/job:ps/task:${this.server}/device:CPU:0`;
  }

  protected override fetched(): Tensor {
    return this.#servers.read(this);
  }

  /** Whether the value is the argument of a graph that others run. */
  get #isTraced(): boolean {
    return context.tracer !== null && (recording.current !== null || recording.inUpdate);
  }

  override taken(): Tensor {
    if (this.#isTraced) return super.taken();
    this.use();
    const { dtype, shape } = this;
    const value =
      context.tracer === null
        ? this.fetched()
        : atRunTime('ReadVariableOp', () => this.fetched(), [], [{ dtype, shape: [...shape] }])[0];
    for (const tape of context.tapes) tape.variableRead(this, value as Tensor);
    return value as Tensor;
  }

  override assign(value: unknown): this {
    return this.#write('assign', value, (next) => next);
  }
  override assignAdd(value: unknown): this {
    return this.#write('assignAdd', value, (delta) => this.taken().add(delta));
  }
  override assignSub(value: unknown): this {
    return this.#write('assignSub', value, (delta) => this.taken().sub(delta));
  }
  #write(kind: ChangeKind, given: unknown, inTrace: (value: Tensor) => Tensor): this {
    const value = toTensor(given as TensorLike, this.dtype);
    // A delta may be broadcast; what the variable becomes has its shape.
    const whole = kind === 'assign' ? this.fitting(value, kind) : this.#delta(value, kind);
    return this.#change(kind, [whole], () => inTrace(whole));
  }
  #delta(value: Tensor, kind: string): Tensor {
    return sameShape(dims(value), this.shape)
      ? value
      : this.fitting(value.broadcastTo([...this.shape]), kind);
  }

  override scatterAdd(delta: unknown): this {
    return this.#scatter('scatterAdd', 'tensorScatterNdAdd', delta);
  }
  override scatterSub(delta: unknown): this {
    return this.#scatter('scatterSub', 'tensorScatterNdSub', delta);
  }
  override scatterUpdate(delta: unknown): this {
    return this.#scatter('scatterUpdate', 'tensorScatterNdUpdate', delta);
  }
  override scatterMax(delta: unknown): this {
    return this.#scatter('scatterMax', 'tensorScatterNdMax', delta);
  }
  override scatterMin(delta: unknown): this {
    return this.#scatter('scatterMin', 'tensorScatterNdMin', delta);
  }
  #scatter(
    kind: ScatterKind,
    method: `tensorScatterNd${'Add' | 'Sub' | 'Update' | 'Max' | 'Min'}`,
    delta: unknown,
  ): this {
    const { values, indices } = delta as SparseDelta;
    const expected = [...dims(indices), ...this.shape.slice(1)];
    if (values.dtype !== this.dtype || this.rank === 0 || !sameShape(dims(values), expected))
      throw new InvalidArgumentError(
        `values are ${values.dtype} ${showShape(values.shape)}, expected ${this.dtype} ${showShape(expected)}`,
        `Variable.${kind}`,
      );
    return this.#change(kind, [values, indices], () =>
      this.taken()[method](indices.reshape([-1, 1]), values),
    );
  }

  override scatterMul(delta: unknown): this {
    return this.#scale('scatterMul', delta);
  }
  override scatterDiv(delta: unknown): this {
    return this.#scale('scatterDiv', delta);
  }
  #scale(kind: 'scatterMul' | 'scatterDiv', delta: unknown): this {
    const { values, indices } = delta as SparseDelta;
    this.checkUpdates(values, [...dims(indices), ...this.shape.slice(1)], kind);
    return this.#change(kind, [values, indices], () => scaledRows(this.taken(), indices, values, kind));
  }

  override scatterNdAdd(indices: unknown, updates?: unknown): this {
    return this.#slices('scatterNdAdd', 'tensorScatterNdAdd', indices, updates);
  }
  override scatterNdSub(indices: unknown, updates?: unknown): this {
    return this.#slices('scatterNdSub', 'tensorScatterNdSub', indices, updates);
  }
  override scatterNdUpdate(indices: unknown, updates?: unknown): this {
    return this.#slices('scatterNdUpdate', 'tensorScatterNdUpdate', indices, updates);
  }
  #slices(
    kind: SliceKind,
    method: `tensorScatterNd${'Add' | 'Sub' | 'Update'}`,
    indices: unknown,
    updates: unknown,
  ): this {
    const [at, values] = this.checkSlices(indices, updates, kind);
    return this.#change(kind, [at, values], () => this.taken()[method](at, values));
  }
  /** @internal An update that was read before is not sent: that of another worker could come between. */
  override rewrite(op: string): this {
    throw new UnimplementedError(
      `'${this.path}' is on a parameter server, which does not know ${op}: use scatterNdUpdate`,
      `Variable.${op}`,
    );
  }

  #change(
    kind: ChangeKind | ScatterKind | SliceKind,
    tensors: readonly Tensor[],
    inTrace: () => Tensor,
  ): this {
    this.use();
    if (!this.#isTraced) {
      if (context.tracer === null) this.#servers.change(this, kind, tensors);
      else
        atRunTime(
          `Assign:${kind}`,
          (...now) => {
            this.#servers.change(this, kind, now);
            return [];
          },
          tensors,
          [],
        );
      return this;
    }
    if (!recording.inUpdate) {
      const { current } = recording;
      if (current?.tracer !== context.tracer)
        throw new FailedPreconditionError(
          `'${this.path}' is on a parameter server, and is changed in a branch or a loop of a graph: compute the new value there, and assign it behind`,
          `Variable.${kind}`,
        );
      current?.changes.push({ server: this.server, kind, id: this.served, tensors });
    }
    // What the function reads from here on.
    context.tracer?.assign(this, inTrace());
    return this;
  }

  override dispose(): void {
    // Also called while it is made.
    if (this.served !== undefined) this.#servers.drop(this);
    else super.dispose();
  }

  /** @internal Has it take the value of a checkpoint that waits for it. */
  static restored<T extends Variable>(make: () => T): T {
    const { restoring } = context;
    const variable = inContext({ restoring: null }, make);
    if (restoring !== null) variable.awaitUse();
    return variable;
  }
}

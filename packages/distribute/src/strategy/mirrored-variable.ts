import { InternalError, InvalidArgumentError, type Storage } from '@eagre/backend';
import { device, identity, Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  context,
  type DistributionStrategy,
  distribution,
  inContext,
  initScope,
  isFloating,
  isPlain,
  toTensor,
  type VariableRequest,
  within,
} from '@eagre/core/internal';
import { type CommunicationOptions, collectiveOptions } from './communication-options.ts';
import { type Group, meanOf, ofFirst, reduction, sumOf } from './exchanges.ts';
import { alone, atOnce, current, type Run, updating } from './run.ts';

/** Who makes variables, and what for. */
export interface VariableOwner extends DistributionStrategy, Group {
  /** The devices of the replicas of this process. */
  readonly replicaDevices: readonly string[];
  /** Whether a variable has one copy for all replicas of the process. */
  readonly sharesVariables: boolean;
  readonly communicationOptions: CommunicationOptions | null;
}

/** A replica's copy of a variable. */
class ReplicaVariable extends Variable {
  #whole: Variable | null = null;

  override get whole(): Variable {
    return this.#whole ?? this;
  }
  belongTo(whole: Variable): void {
    this.#whole = whole;
  }
}

type Write = 'assign' | 'assignAdd' | 'assignSub';

/**
 * A variable of which each replica has a copy on its device. In a replica it is that replica's copy; outside it is the first one, or what
 * `aggregation` makes of all for those with synchronization `'ON_READ'`. `new tf.Variable` in a strategy's scope makes one.
 *
 * What a replica assigns becomes one value for all: the sum or mean over replicas, or that of the first one, as `aggregation` says.
 * Copies with synchronization `'ON_READ'` go their own ways until somebody outside of replicas reads the variable.
 */
export class MirroredVariable extends Variable {
  /** The strategy in whose scope it was made. */
  readonly strategy: VariableOwner;
  readonly #copies: readonly [Variable, ...Variable[]];
  /** Whether a checkpoint may still hold another first value. */
  #awaitsUse = false;
  /** The run of replicas at the end of which it gets another value, and the replica that has given its part of that. */
  #pending: { readonly run: Run; readonly index: number } | null = null;

  /** @internal Strategies make them. @param devices where the copies are; one for all replicas where there is one */
  constructor(request: VariableRequest, strategy: VariableOwner, devices: readonly string[]) {
    const { value, ...options } = request;
    super(value, options);
    super.dispose();
    this.strategy = strategy;
    this.#copies = devices.map((name, i) =>
      this.#copy(value, name, { ...options, name: i === 0 ? options.name : `${options.name}/replica_${i}` }),
    ) as unknown as readonly [Variable, ...Variable[]];
  }

  /** @internal Makes one, which gets its value from a checkpoint that waits for it. */
  static make(request: VariableRequest, strategy: VariableOwner, devices: readonly string[]): Variable {
    const { restoring } = context;
    const variable = inContext({ restoring: null }, () => new MirroredVariable(request, strategy, devices));
    if (restoring !== null) variable.awaitUse();
    return variable;
  }

  #copy(value: Tensor, name: string, options: Omit<VariableRequest, 'value'>): Variable {
    return initScope(() =>
      device(name, () => {
        const copy = new ReplicaVariable(identity(value), options);
        copy.belongTo(this);
        return copy;
      }),
    );
  }

  /** The copies, in the order of the replicas of this process. */
  get values(): readonly Variable[] {
    return [...this.#copies];
  }

  override get copies(): readonly [Variable, ...Variable[]] {
    this.#use();
    const index = this.#index();
    return index === null ? this.#copies : [this.#copies[index]];
  }

  /** The place of the copy that belongs to the replica that runs; null outside of replicas. */
  #index(): number | null {
    const { replica } = distribution;
    if (replica === null || replica.strategy !== this.strategy) return null;
    return Math.min(replica.index, this.#copies.length - 1);
  }

  /** The copy whose value this is here. @throws FailedPreconditionError for one that the end of all replicas changes */
  #here(): Variable {
    this.#use();
    const index = this.#index();
    const pending = this.#pending;
    if (index !== null && pending !== null) {
      // Another replica, or another run: this one has not changed it yet.
      if (pending.run === current.run && pending.index === distribution.replica?.index)
        throw atOnce(`the value of '${this.name}'`);
    }
    return this.#copies[index ?? 0];
  }

  /** Whether the copies have to become one value first. */
  get #isDivided(): boolean {
    return this.#isOwn && this.#index() === null && this.strategy.numReplicasInSync > 1;
  }

  /** One value of all copies. */
  #united(): Tensor {
    this.#use();
    const { aggregation, strategy } = this;
    if (aggregation === 'ONLY_FIRST_REPLICA') return this.#copies[0].read();
    if (aggregation === 'NONE')
      throw new InvalidArgumentError(
        `the replicas have different values of '${this.name}', which has no aggregation: read it in a replica, or give it one`,
        'Variable.read',
      );
    const name = `read ${this.name}`;
    const local = sumOf(
      this.#copies.map((copy) => copy.read()),
      name,
    );
    const { collectives, communicationOptions } = strategy;
    // The name of the variable may be another one in a process that has made other models before.
    const options = collectiveOptions(communicationOptions, 'Variable.read');
    const [sum] = collectives.size === 1 ? [local] : collectives.allReduce([local], options);
    if (aggregation === 'SUM') return sum;
    return meanOf(sum, strategy.numReplicasInSync).cast(this.dtype as 'float32');
  }

  // ---- reading

  override get device(): string {
    return this.#here().device;
  }
  override read(): Tensor {
    return this.#isDivided ? this.#united() : this.#here().read();
  }
  override value(): Tensor {
    return this.read();
  }
  override taken(): Tensor {
    return this.#isDivided ? this.#united() : this.#here().taken();
  }
  override get storage(): Storage {
    return this.#isDivided ? this.#united().storage : this.#here().storage;
  }
  override data(): ReturnType<Variable['data']> {
    return this.#host().data();
  }
  override ndarray(): ReturnType<Variable['ndarray']> {
    return this.#host().ndarray();
  }
  override array<T extends ReturnType<Variable['array']> = ReturnType<Variable['array']>>(): T {
    return this.#host().array() as T;
  }
  override item(): number;
  override item(as: 'bigint' | { readonly as: 'bigint' }): bigint;
  override item<T extends number | boolean | string>(): T;
  override item(as?: unknown): number | bigint | boolean | string {
    const value = this.#host();
    return as === undefined ? value.item() : value.item(as as 'bigint');
  }

  /** What the host reads values of. */
  #host(): Variable | Tensor {
    return this.#isDivided ? this.#united() : this.#here();
  }

  // ---- writing

  override assign(value: unknown): this {
    return this.#write('assign', value as TensorLike);
  }
  override assignAdd(value: unknown): this {
    return this.#write('assignAdd', value as TensorLike);
  }
  override assignSub(value: unknown): this {
    return this.#write('assignSub', value as TensorLike);
  }

  #write(how: Write, value: TensorLike): this {
    this.#use();
    const index = this.#index();
    if (index === null) this.#writeAll(how, value);
    else this.#writeInReplica(how, value, this.#copies[index]);
    return this;
  }

  #writeAll(how: Write, value: TensorLike): void {
    if (!this.#isDivided || this.aggregation !== 'SUM') {
      for (const copy of this.#copies) copy[how](value);
      return;
    }
    if (how !== 'assign')
      throw new InvalidArgumentError(
        `'${this.name}' is a sum over replicas: outside of replicas it can be assigned, but not added to`,
        `Variable.${how}`,
      );
    const count = this.strategy.numReplicasInSync;
    const whole = toTensor(value, this.dtype);
    const part = isFloating(this.dtype) ? whole.div(count) : whole.floorDiv(count);
    this.#copies.forEach((copy, i) => {
      // The parts of an integer add up to it.
      const isFirst = i === 0 && this.strategy.firstReplica === 0;
      copy.assign(isFirst && !isFloating(this.dtype) ? whole.sub(part.mul(count - 1)) : part);
    });
  }

  #writeInReplica(how: Write, value: TensorLike, copy: Variable): void {
    const { aggregation, strategy } = this;
    const run = current.run ?? alone;
    if (strategy.numReplicasInSync === 1 || run === updating || this.#isOwn || this.#isAlike(value)) {
      this.#checkPending();
      copy[how](value);
      return;
    }
    const name = `${how} ${this.name}`;
    switch (aggregation) {
      case 'NONE':
        throw new InvalidArgumentError(
          `replicas may assign different values to '${this.name}', and it has no aggregation: make it with { aggregation: 'MEAN' }, 'SUM' or 'ONLY_FIRST_REPLICA', or with { synchronization: 'ON_READ' }`,
          `Variable.${how}`,
        );
      case 'ONLY_FIRST_REPLICA':
        if (strategy.sharesVariables) {
          run.later(ofFirst(name), [toTensor(value, this.dtype)], ([first]) => copy[how](first));
          this.waitFor(run);
          return;
        }
        this.#checkPending();
        copy[how](value);
        run.later(ofFirst(name), [copy.read()], ([first]) => copy.assign(first));
        return;
      default: {
        const given = toTensor(value, this.dtype);
        run.later(reduction(strategy, aggregation, { name }), [given], ([result]) =>
          copy[how](result.cast(this.dtype as 'float32')),
        );
        this.waitFor(run);
      }
    }
  }

  /** Whether each replica has a value of its own. */
  get #isOwn(): boolean {
    return this.synchronization === 'ON_READ' && !this.strategy.sharesVariables;
  }

  /** Whether all replicas write the same, and each has a copy: a number. */
  #isAlike(value: TensorLike): boolean {
    const isTensor = !isPlain(value) && (value instanceof Tensor || value instanceof Variable);
    return !isTensor && this.aggregation !== 'SUM' && !this.strategy.sharesVariables;
  }

  #checkPending(): void {
    this.#here();
  }

  /** @internal Says that it gets another value when all replicas of a run have ended. */
  waitFor(run: Run): void {
    const { replica } = distribution;
    this.#pending = run.waits && replica !== null ? { run, index: replica.index } : null;
  }

  /** @internal */
  override writable(): Tensor {
    return this.#only('writable').writable();
  }
  /** @internal */
  override exchange(value: Tensor): Tensor {
    return this.#only('exchange').exchange(value);
  }
  #only(what: string): Variable {
    const { copies } = this;
    if (copies.length > 1)
      throw new InternalError(`${what}: '${this.name}' has a copy for each replica; use its copies`);
    return this.#here();
  }

  // ---- first use, end, text

  override get awaitsUse(): boolean {
    return this.#awaitsUse;
  }
  override awaitUse(): void {
    this.#awaitsUse = true;
  }
  #use(): void {
    if (!this.#awaitsUse) return;
    this.#awaitsUse = false;
    try {
      // All copies get it.
      within(distribution, { replica: null }, () => context.restoring?.(this));
    } catch (error) {
      this.#awaitsUse = true;
      throw error;
    }
  }

  override dispose(): void {
    for (const copy of this.#copies) copy.dispose();
  }

  override toString(): string {
    return this.#host().toString();
  }
  override [Symbol.toPrimitive](hint: string): string | number | bigint | boolean {
    return this.#host()[Symbol.toPrimitive](hint);
  }
  /** As TensorFlow shows it: `MirroredVariable:{ 0: …, 1: … }`. */
  override describe(): string {
    const lines = this.#copies.map((copy, i) => `  ${i}: ${copy.describe()}`);
    const kind = this.synchronization === 'ON_READ' ? 'SyncOnReadVariable' : 'MirroredVariable';
    return `${kind}:{\n${lines.join(',\n')}\n}`;
  }
}

import {
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  type Storage,
  UnimplementedError,
} from '@eagre/backend';
import { device, identity, Tensor, type TensorLike, Variable, zeros } from '@eagre/core';
import {
  context,
  type DistributionStrategy,
  distribution,
  inContext,
  inInitScope,
  isFloating,
  isPlain,
  sameShape,
  showShape,
  toTensor,
  type VariableRequest,
  within,
} from '@eagre/core/internal';
import type { CollectiveOptions } from './collectives.ts';
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

/** State of an optimizer that one process keeps. */
export interface OwnedState {
  /** The variable whose state it is. */
  readonly of: Variable;
  /** The rank of the process. */
  readonly rank: number;
}

type Write = 'assign' | 'assignAdd' | 'assignSub';

// Sums over all replicas that came in one exchange, while `withSums` runs.
let sums: Map<Variable, Tensor> | null = null;

/** Calls a function that reads variables of one strategy: their sums over all replicas come before, in one exchange. */
export function withSums<T>(variables: readonly Variable[], read: () => T): T {
  const divided = variables.flatMap((variable) => {
    const part = variable instanceof MirroredVariable ? variable.localPart() : null;
    return part === null ? [] : [{ variable: variable as MirroredVariable, part }];
  });
  const [first] = divided;
  if (first === undefined) return read();
  const { collectives, communicationOptions } = first.variable.strategy;
  const all = collectives.allReduce(
    divided.map(({ part }) => part),
    readOptions(
      communicationOptions,
      divided.map(({ variable }) => variable),
    ),
  );
  const before = sums;
  sums = new Map(divided.map(({ variable }, i) => [variable, all[i] as Tensor]));
  try {
    return read();
  } finally {
    sums = before;
  }
}

// The name of a variable may be another one in a process that has made other models before.
const readOptions = (
  given: CommunicationOptions | null,
  variables: readonly Variable[],
): CollectiveOptions => ({
  ...collectiveOptions(given, 'Variable.read'),
  labels: () => variables.map(({ path }) => path),
});

/**
 * A variable of which each replica has a copy on its device. In a replica it is that replica's copy; outside it is the first one, or what
 * `aggregation` makes of all for those with synchronization `'ON_READ'`. `new tf.Variable` in a strategy's scope makes one.
 *
 * What a replica assigns becomes one value for all: the sum or mean over replicas, or that of the first one, as `aggregation` says.
 * Copies with synchronization `'ON_READ'` go their own ways until somebody outside of replicas reads the variable.
 *
 * The state of an optimizer may have one copy in one of the processes only, its owner. In a step only the owner uses it; outside of replicas all
 * processes read and assign it together.
 */
export class MirroredVariable extends Variable {
  /** The strategy in whose scope it was made. */
  readonly strategy: VariableOwner;
  /** The variable whose state it is, and the rank of the only process that keeps it; null where all have copies. */
  readonly #owned: OwnedState | null;
  readonly #copies: readonly [Variable, ...Variable[]];
  /** Whether a checkpoint may still hold another first value. */
  #awaitsUse = false;
  /** The run of replicas at the end of which it gets another value, and the replica that has given its part of that. */
  #pending: { readonly run: Run; readonly index: number } | null = null;

  /** @internal Strategies make them. @param devices where the copies are; one for all replicas where there is one */
  constructor(
    request: VariableRequest,
    strategy: VariableOwner,
    devices: readonly string[],
    owned: OwnedState | null = null,
  ) {
    const { value, ...options } = request;
    super(value, options);
    super.dispose();
    this.strategy = strategy;
    this.#owned = owned;
    this.#copies = devices.map((name, i) =>
      this.#copy(value, name, { ...options, name: i === 0 ? options.name : `${options.name}/replica_${i}` }),
    ) as unknown as readonly [Variable, ...Variable[]];
    if (this.#isElsewhere) for (const copy of this.#copies) copy.dispose();
  }

  /** @internal Makes one, which gets its value from a checkpoint that waits for it. */
  static make(
    request: VariableRequest,
    strategy: VariableOwner,
    devices: readonly string[],
    owned: OwnedState | null = null,
  ): Variable {
    const { restoring } = context;
    const variable = inContext(
      { restoring: null },
      () => new MirroredVariable(request, strategy, devices, owned),
    );
    if (restoring !== null) variable.awaitUse();
    return variable;
  }

  #copy(value: Tensor, name: string, options: Omit<VariableRequest, 'value'>): Variable {
    return inInitScope(() =>
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
    if (this.#owned !== null) this.#checkOwner(this.#owned, index);
    return index === null ? this.#copies : [this.#copies[index]];
  }

  override get distributedBy(): VariableOwner {
    return this.strategy;
  }

  override get fillable(): Variable {
    if (!this.#isElsewhere) return this.#copies[0];
    // Nobody keeps it.
    return within(distribution, { strategy: null }, () =>
      inInitScope(() => new Variable(zeros(this.shape as number[], this.dtype), { name: this.path })),
    );
  }

  /** Whether another process keeps it. */
  get #isElsewhere(): boolean {
    return this.#owned !== null && this.#owned.rank !== this.strategy.collectives.rank;
  }

  /** @throws UnimplementedError where an update needs the state of another variable, FailedPreconditionError outside of replicas */
  #checkOwner({ of }: OwnedState, index: number | null): void {
    const { beside } = distribution;
    if (index === null)
      throw new FailedPreconditionError(
        `'${this.path}' is in one process only: call applyGradients in strategy.run`,
        'shardOptimizerState',
      );
    if (this.#isElsewhere || (beside !== null && beside.whole !== of))
      throw new UnimplementedError(
        `the optimizer needs '${this.path}' while it updates another variable, but only the process that updates '${of.path}' has it: make the strategy without shardOptimizerState`,
        'shardOptimizerState',
      );
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
    if (this.#owned !== null && index !== null) this.#checkOwner(this.#owned, index);
    const pending = this.#pending;
    if (index !== null && pending !== null) {
      // Another replica, or another run: this one has not changed it yet.
      if (pending.run === current.run && pending.index === distribution.replica?.index)
        throw atOnce(`the value of '${this.path}'`);
    }
    return this.#copies[index ?? 0];
  }

  /** Whether the copies have to become one value first. */
  get #isDivided(): boolean {
    return (
      (this.#isOwn || this.#owned !== null) && this.#index() === null && this.strategy.numReplicasInSync > 1
    );
  }

  /** One value of all copies. */
  #united(): Tensor {
    this.#use();
    const { aggregation, strategy } = this;
    if (this.#owned !== null) return this.#fromOwner(this.#owned);
    if (aggregation === 'ONLY_FIRST_REPLICA') return this.#copies[0].read();
    if (aggregation === 'NONE')
      throw new InvalidArgumentError(
        `the replicas have different values of '${this.path}', which has no aggregation: read it in a replica, or give it one`,
        'Variable.read',
      );
    const { collectives, communicationOptions } = strategy;
    let sum = sums?.get(this);
    if (sum === undefined) {
      const local = this.#localSum();
      const options = readOptions(communicationOptions, [this]);
      sum = collectives.size === 1 ? local : (collectives.allReduce([local], options)[0] as Tensor);
    }
    if (aggregation === 'SUM') return sum;
    return meanOf(sum, strategy.numReplicasInSync).cast(this.dtype as 'float32');
  }

  /** The sum of the copies that are here. */
  #localSum(): Tensor {
    this.#use();
    return sumOf(
      this.#copies.map((copy) => copy.read()),
      `read ${this.path}`,
    );
  }

  /** @internal What other processes add to, where a read waits for them; null elsewhere. */
  localPart(): Tensor | null {
    const isSummed = this.aggregation === 'SUM' || this.aggregation === 'MEAN';
    return isSummed && this.#owned === null && this.#isDivided ? this.#localSum() : null;
  }

  /** Its value in all processes. */
  #fromOwner({ rank }: OwnedState): Tensor {
    const { collectives, communicationOptions } = this.strategy;
    const own = this.#isElsewhere ? zeros(this.shape as number[], this.dtype) : this.#copies[0].read();
    const options = readOptions(communicationOptions, [this]);
    return collectives.fromOwners([own], [rank], options)[0];
  }

  // ---- reading

  /** Where the one replica of this process computes; null for several, each of which has a device of its own. */
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

  /** @internal @throws UnimplementedError in a replica, for sums and means of what is made of the values */
  override rewrite(op: string, next: (value: Tensor) => Tensor): this {
    const { aggregation } = this;
    if (this.#index() !== null && !this.#isOwn && (aggregation === 'SUM' || aggregation === 'MEAN'))
      throw new UnimplementedError(
        `replicas change rows of '${this.path}', whose aggregation is '${aggregation}': that is for 'ONLY_FIRST_REPLICA', and outside of replicas`,
        `Variable.${op}`,
      );
    return this.assign(next(this.taken()));
  }

  #write(how: Write, value: TensorLike): this {
    this.#use();
    sums?.delete(this);
    const index = this.#index();
    if (index === null) this.#writeAll(how, value);
    else this.#writeInReplica(how, value, this.#copies[index]);
    return this;
  }

  #writeAll(how: Write, value: TensorLike): void {
    if (this.#isElsewhere) {
      this.#checkFits(how, value);
      return;
    }
    if (this.#owned !== null) {
      this.#copies[0][how](value);
      return;
    }
    if (!this.#isDivided || this.aggregation !== 'SUM') {
      for (const copy of this.#copies) copy[how](value);
      return;
    }
    if (how !== 'assign')
      throw new InvalidArgumentError(
        `'${this.path}' is a sum over replicas: outside of replicas it can be assigned, but not added to`,
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

  /** What the process that keeps it checks as well. @throws InvalidArgumentError */
  #checkFits(how: Write, value: TensorLike): void {
    const { shape } = toTensor(value, this.dtype);
    if (how !== 'assign' ? shape.length === 0 || sameShape(shape, this.shape) : sameShape(shape, this.shape))
      return;
    throw new InvalidArgumentError(
      `cannot assign a value of shape ${showShape(shape)} to '${this.path}' of shape ${showShape(this.shape)}`,
      `Variable.${how}`,
    );
  }

  #writeInReplica(how: Write, value: TensorLike, copy: Variable): void {
    const { aggregation, strategy } = this;
    const run = current.run ?? alone;
    if (this.#owned !== null) this.#checkOwner(this.#owned, this.#index());
    if (strategy.numReplicasInSync === 1 || run === updating || this.#isOwn || this.#isAlike(value)) {
      this.#checkPending();
      copy[how](value);
      return;
    }
    const name = `${how} ${this.path}`;
    switch (aggregation) {
      case 'NONE':
        throw new InvalidArgumentError(
          `replicas may assign different values to '${this.path}', and it has no aggregation: make it with { aggregation: 'MEAN' }, 'SUM' or 'ONLY_FIRST_REPLICA', or with { synchronization: 'ON_READ' }`,
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
      throw new InternalError(`${what}: '${this.path}' has a copy for each replica; use its copies`);
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
    if (this.#owned !== null) return `OwnedVariable(process ${this.#owned.rank}): ${this.path}`;
    const lines = this.#copies.map((copy, i) => `  ${i}: ${copy.describe()}`);
    const kind = this.synchronization === 'ON_READ' ? 'SyncOnReadVariable' : 'MirroredVariable';
    return `${kind}:{\n${lines.join(',\n')}\n}`;
  }
}

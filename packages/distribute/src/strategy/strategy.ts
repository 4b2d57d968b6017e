// Types in a circle: a strategy has contexts for its replicas, each of which knows its strategy.
import { FailedPreconditionError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { concat, constant, device, split, Tensor, type TensorLike, type Variable, zeros } from '@eagre/core';
import {
  addDims,
  checkFunction,
  checkNoPromise,
  context,
  type DistributionReplica,
  type DistributionStrategy,
  defineMethods,
  dims,
  distribution,
  floorDivDims,
  inInitScope,
  maxDims,
  minDims,
  mulDims,
  normalizeAxis,
  override,
  type StateSharding,
  scoped,
  shown,
  sizeValue,
  subDims,
  toShape,
  toTensor,
  tree,
  type VariableRequest,
  within,
} from '@eagre/core/internal';
import { Dataset, type ElementSpec } from '@eagre/data';
import { autoShard, batchSizeOf, replicaBatchSizes } from '@eagre/data/internal';
import { isTracedFunction, runTogether, TensorSpec, tfFunction } from '@eagre/graph';
import type { ClusterResolver } from '../cluster/cluster-resolver.ts';
import { datasetOf } from '../input/dataset-of.ts';
import { DistributedDataset, type Distribution } from '../input/distributed-dataset.ts';
import { type InputContext, ValueContext } from '../input/input-context.ts';
import { type InputOptions, inputOptionsOf } from '../input/input-options.ts';
import { differenceOf, type Facts } from './alike.ts';
import { type Collectives, oneProcess } from './collectives.ts';
import { type CommunicationOptions, collectiveOptions } from './communication-options.ts';
import type { CrossDeviceOps } from './cross-device-ops.ts';
import { meanOf, sumOf } from './exchanges.ts';
import { StrategyExtended } from './extended.ts';
import { MirroredVariable, withSums } from './mirrored-variable.ts';
import { Ownership } from './ownership.ts';
import { type ReduceOp, reduceOpOf } from './reduce-op.ts';
import { ReplicaContext } from './replica-context.ts';
import { alone, current, type Run, SequentialRun, traced } from './run.ts';
import { RunOptions } from './run-options.ts';
import { DistributedValues, ofReplica, PerReplica, regroup } from './values.ts';

/** What a strategy is made of. */
export interface StrategyParts {
  /** The devices of this process's replicas: one for each. */
  readonly devices: readonly string[];
  /** What processes do together; by default there is one. */
  readonly collectives?: Collectives;
  readonly communicationOptions?: CommunicationOptions | null;
  /** What adds up the values of this process's replicas. */
  readonly crossDeviceOps?: CrossDeviceOps | null;
  /** Whether variables have one copy, on the first of these devices, for all replicas of the process. */
  readonly sharedOn?: string;
  /** Whether each process keeps the state of optimizers for some of the variables only. */
  readonly shardOptimizerState?: boolean;
}

/** Options of `strategy.run`. */
export interface ReplicaCall<A extends readonly unknown[]> {
  /** The arguments of the function. Each replica gets its own of what is a `DistributedValues`. */
  readonly args?: { readonly [K in keyof A]: A[K] | DistributedValues<A[K]> };
  readonly options?: RunOptions | null;
}

/**
 * Base of distribution strategies: replicas that compute the same on parts of the data, and keep their variables equal.
 *
 * A further strategy extends it and gives the constructor
 * - `devices`: one device for each replica of this process. Where there are several, their traces become one graph (`runTogether` of
 *   `@eagre/graph`); a process with one replica runs its code as it stands, eagerly too;
 * - `collectives`: what the processes do together, see `Collectives`. Each operation is called once in each process, with values that are
 *   combined over the replicas of the process already. Replica ids follow ranks: rank r of n processes with k replicas each has the ids
 *   r·k … r·k + k - 1;
 * - `communicationOptions`: what it was given, which each operation is told.
 *
 * Everything else follows: variables (whose first values are those of rank 0), `run`, `reduce`, `gather`, optimizers, metrics and synchronized
 * layers. It may override `inputPipelines`, where processes read parts of a dataset.
 */
export abstract class Strategy implements DistributionStrategy {
  /** Where the processes of the cluster are; null for a strategy of one process. */
  readonly clusterResolver: ClusterResolver | null = null;
  /** @internal */
  replicaDevices: readonly string[];
  /** @internal */
  readonly collectives: Collectives;
  /** @internal */
  readonly communicationOptions: CommunicationOptions | null;
  /** @internal */
  readonly crossDeviceOps: CrossDeviceOps | null;
  /** @internal Which process updates which variable; null where all update all. */
  readonly ownership: Ownership | null;
  readonly #sharedOn: string | null;
  readonly #replicas: readonly ReplicaContext[];
  #extended: StrategyExtended | undefined;
  /** Functions of tf.function as they run under the strategy. */
  readonly #traced = new WeakMap<object, (...args: never[]) => unknown>();

  /** @throws InvalidArgumentError without `devices`: programs make one of the strategies below, such as `MirroredStrategy` */
  constructor(parts: StrategyParts) {
    checkParts(parts, new.target.name);
    const { devices, collectives = oneProcess, communicationOptions = null, sharedOn } = parts;
    this.replicaDevices = Object.freeze([...devices]);
    this.collectives = collectives;
    this.communicationOptions = communicationOptions;
    this.crossDeviceOps = parts.crossDeviceOps ?? null;
    this.#sharedOn = sharedOn ?? null;
    this.ownership =
      parts.shardOptimizerState === true && collectives.size > 1 ? new Ownership(collectives.size) : null;
    this.#replicas = devices.map((_, i) => new ReplicaContext(this, this.firstReplica + i));
  }

  /** How many replicas there are, over all processes. */
  get numReplicasInSync(): number {
    return this.replicaDevices.length * this.collectives.size;
  }

  /** @internal */
  get device(): string | null {
    return this.replicaDevices.length === 1 ? this.replicaDevices[0] : null;
  }

  /** @internal The place of this process's first replica among all. */
  get firstReplica(): number {
    return this.replicaDevices.length * this.collectives.rank;
  }

  /** Whether this process is the one that saves: the first of several, or the only one. */
  get isChief(): boolean {
    return this.collectives.rank === 0;
  }

  /** @internal */
  share(value: Tensor): Tensor {
    if (this.collectives.size === 1) return value;
    return this.collectives.broadcast([value], collectiveOptions(this.communicationOptions, 'share'))[0];
  }

  /** @internal */
  allAgree(yes: boolean): boolean {
    return this.numbersOfAll([yes ? 1 : 0]).every(([one]) => one === 1);
  }

  /** @internal */
  numbersOfAll(own: readonly number[]): readonly (readonly number[])[] {
    const { collectives } = this;
    if (collectives.size === 1) return [own];
    const options = collectiveOptions(this.communicationOptions, 'agree');
    const given = device('/cpu:0', () => constant([...own], 'float64'));
    const ranks = Array.from({ length: collectives.size }, (_, rank) => rank);
    const all = collectives.fromOwners(
      ranks.map(() => given),
      ranks,
      options,
    );
    return all.map((numbers) => Array.from(numbers.data(), Number));
  }

  /** @internal */
  readTogether<T>(variables: readonly Variable[], read: () => T): T {
    return this.collectives.size === 1 ? read() : withSums(variables, read);
  }

  /** @internal */
  ownRows(_rows: number): { readonly start: number; readonly size: number } | null {
    return null;
  }

  /** @internal */
  get spansProcesses(): boolean {
    return this.collectives.size > 1;
  }

  /** @internal */
  checkAlike(what: string, facts: Facts, notes: Facts): void {
    const { collectives } = this;
    const all = [facts, notes].map((own) => this.#gatherFacts(own));
    const differing = all.map((of) => {
      for (const [rank, other] of of.entries()) {
        const found = differenceOf(of[0] as Facts, other);
        if (found !== undefined)
          return `${found.place} is ${found.first} on ${collectives.nameOf(0)}, but ${found.other} on ${collectives.nameOf(rank)}`;
      }
      return undefined;
    });
    const [error, note] = differing;
    if (error !== undefined)
      throw new InvalidArgumentError(`the processes must be told the same: ${error}`, what);
    if (note !== undefined)
      console.warn(
        `${what}: ${note}; the epoch goes on as long as one of them has batches, and the others get batches without rows`,
      );
  }

  /** What each process gives, in the order of ranks. */
  #gatherFacts(own: Facts): readonly Facts[] {
    const { collectives } = this;
    const options = collectiveOptions(this.communicationOptions, 'facts');
    const bytes = new TextEncoder().encode(JSON.stringify(own));
    const values = device('/cpu:0', () => [constant([bytes.length], 'int32'), constant(bytes, 'uint8')]);
    const [sizes, texts] = collectives.allGather(values, options);
    const joined = texts.data() as Uint8Array;
    let next = 0;
    return (sizes.array() as number[]).map((size) => {
      next += size;
      return JSON.parse(new TextDecoder().decode(joined.subarray(next - size, next))) as Facts;
    });
  }

  /** @internal */
  get sharding(): StateSharding | null {
    const { ownership, collectives } = this;
    if (ownership === null) return null;
    const owns = (variable: Variable): boolean => ownership.rankOf(variable) === collectives.rank;
    return {
      owns,
      gather: (variables) => {
        const values = collectives.fromOwners(
          variables.map((variable) => variable.read()),
          variables.map((variable) => ownership.rankOf(variable)),
          {
            ...collectiveOptions(this.communicationOptions, 'updated variables'),
            labels: () => variables.map(({ path }) => path),
          },
        );
        variables.forEach((variable, i) => {
          if (!owns(variable)) variable.assign(values[i]);
        });
      },
    };
  }

  /** @internal Of several processes that read parts of a dataset each, how many, and which this is. */
  get inputPipelines(): { readonly count: number; readonly index: number } {
    return { count: this.collectives.size, index: this.collectives.rank };
  }

  /** @internal Whether variables have one copy for all replicas of this process. */
  get sharesVariables(): boolean {
    return this.#sharedOn !== null;
  }

  /** @internal Where variables have copies. */
  get variableDevices(): readonly string[] {
    return this.#sharedOn === null ? this.replicaDevices : [this.#sharedOn];
  }

  /** What optimizers and libraries need: updates of copies, values at their places. */
  get extended(): StrategyExtended {
    this.#extended ??= new StrategyExtended(this);
    return this.#extended;
  }

  /** @internal The contexts of this process's replicas. */
  get replicas(): readonly ReplicaContext[] {
    return this.#replicas;
  }

  /**
   * Makes the strategy current: variables made inside have a copy for each replica. `strategy.scope(() => { … })` returns what the function
   * returns; `using _ = strategy.scope()` holds until the block ends.
   * @throws FailedPreconditionError inside of another strategy's scope, and in a replica
   */
  scope<T>(fn: () => T): T;
  scope(): Disposable;
  scope<T>(fn?: () => T): T | Disposable {
    this.#checkAlone('scope');
    if (distribution.replica !== null)
      throw new FailedPreconditionError('a replica cannot open a scope', 'strategy.scope');
    return scoped(() => override(distribution, { strategy: this }), 'strategy.scope', fn);
  }

  #checkAlone(what: string): void {
    const { strategy } = distribution;
    if (strategy === null || strategy === this) return;
    throw new FailedPreconditionError(
      `Mixing different tf.distribute.Strategy objects: ${strategy.constructor.name} is current, and not this ${this.constructor.name}`,
      `strategy.${what}`,
    );
  }

  /** @internal */
  createVariable(request: VariableRequest): Variable {
    const devices = this.variableDevices;
    const { collectives } = this;
    if (collectives.size === 1) return MirroredVariable.make(request, this, devices);
    const { beside } = distribution;
    // State of an optimizer begins alike in all processes.
    if (this.ownership !== null && beside !== null)
      return MirroredVariable.make(request, this, devices, {
        of: beside.whole,
        rank: this.ownership.rankOf(beside),
      });
    // Also while a function is being traced. Names may differ: a process that goes on has made other models before.
    const [value] = inInitScope(() =>
      collectives.broadcast([request.value], {
        ...collectiveOptions(this.communicationOptions, 'initial value'),
        labels: () => [request.name],
      }),
    );
    return MirroredVariable.make({ ...request, value }, this, devices);
  }

  /**
   * Calls a function in each replica. In `tf.function` the replicas become parts of one graph and may meet at any place (`allReduce`);
   * outside, they run one after another, and what they do together, such as an optimizer's update, happens when all have ended.
   *
   *     const losses = strategy.run(trainStep, { args: [batch] });
   *     const loss = strategy.reduce('SUM', losses);
   *
   * @returns a `PerReplica` in the place of each value that the function returns; the value itself where the process has one replica
   * @throws FailedPreconditionError in a replica, and where a replica needs at once what only the end of all gives
   */
  run<A extends readonly unknown[], R>(
    fn: (...args: A) => R,
    call?: ReplicaCall<A> | null,
  ): DistributedResult<R>;
  run(fn: unknown, call?: unknown): unknown {
    const { args, options } = (call ?? {}) as { readonly args?: unknown; readonly options?: unknown };
    const op = 'strategy.run';
    if (options !== undefined && options !== null && !(options instanceof RunOptions))
      throw new InvalidArgumentError(`options must be a tf.distribute.RunOptions, got ${shown(options)}`, op);
    checkFunction(fn as () => unknown, 'fn', op);
    if (args !== undefined && args !== null && !Array.isArray(args))
      throw new InvalidArgumentError(`args must be a list of arguments, got ${shown(args)}`, op);
    return regroup(this.runReplicas(fn as (...args: never[]) => unknown, (args ?? []) as unknown[]), op);
  }

  /** @internal `run`, with what each replica returned. */
  runReplicas(fn: (...args: never[]) => unknown, args: readonly unknown[]): readonly unknown[] {
    const op = 'strategy.run';
    this.#checkAlone('run');
    if (distribution.replica !== null) throw new FailedPreconditionError('a replica cannot run replicas', op);
    const count = this.#replicas.length;
    const call = (index: number): unknown => {
      const own = args.map((arg) => ofReplica(arg, index, op));
      const result = fn(...(own as never[]));
      checkNoPromise(result, 'the function of a replica', op);
      return result;
    };
    if (count === 1) return [this.#inReplica(0, alone, () => call(0))];
    if (context.tracer !== null)
      return runTogether('replica', count, (index, give) =>
        this.#inReplica(index, traced(give), () => call(index)),
      );
    if (isTracedFunction(fn)) return this.#tracedRun(fn)(...(args as never[])) as readonly unknown[];
    return this.#sequentially(call);
  }

  /** A function of `tf.function` runs as a graph, with its replicas in it. */
  #tracedRun(fn: (...args: never[]) => unknown): (...args: never[]) => unknown {
    let known = this.#traced.get(fn);
    if (known === undefined) {
      known = tfFunction((...args: never[]) => this.runReplicas(fn, args), {
        name: fn.name || 'replicas',
      }) as never;
      this.#traced.set(fn, known as never);
    }
    return known as never;
  }

  #sequentially(call: (index: number) => unknown): readonly unknown[] {
    const run = new SequentialRun();
    try {
      const results = this.#replicas.map((_, index) =>
        this.#inReplica(index, run, () => run.replica(() => call(index))),
      );
      const changes = this.#sharedOn === null ? this.#replicas.length : 1;
      run.finish((index, fn) => {
        if (index < changes) this.#inReplica(index, null, fn);
      });
      return results;
    } finally {
      run.drop();
    }
  }

  /** Runs code in a replica, on its device. */
  #inReplica<T>(index: number, run: Run | null, fn: () => T): T {
    const replica: DistributionReplica = this.#replicas[index];
    const name = this.replicaDevices[index];
    const inside = (): T =>
      within(distribution, { strategy: this, replica }, () => within(current, { run }, fn));
    return device(name, inside);
  }

  /** @internal */
  splitBatch(batch: unknown): unknown {
    const { numReplicasInSync: count, firstReplica: first } = this;
    if (count === 1) return batch;
    const last = first + this.#replicas.length;
    return tree.mapLeaves(batch, 'strategy.splitBatch', (leaf) => {
      if (!(leaf instanceof Tensor)) return leaf;
      const own = partsOf(leaf, count).slice(first, last);
      return own.length === 1 ? own[0] : new PerReplica(own);
    });
  }

  /**
   * Divides each element of a dataset between the replicas. Elements are batches; their size is that of all replicas together. Where it
   * cannot be divided evenly, the parts are rounded up, and the last replicas get fewer rows or none.
   *
   *     for (const batch of strategy.experimentalDistributeDataset(dataset.batch(64)))
   *       strategy.run(trainStep, { args: [batch] });
   *
   * Several processes divide it as the dataset's option `experimentalDistribute: { autoShardPolicy }` says.
   * @throws NotFoundError for the policy `'FILE'` where no files are read
   */
  experimentalDistributeDataset<T>(
    dataset:
      | Dataset<T>
      | {
          /** Batches for all replicas together. */
          readonly dataset: Dataset<T>;
          /** How elements are brought to the replicas. */
          readonly options?: InputOptions | null;
        },
    options?: InputOptions | null,
  ): DistributedDataset<T>;
  experimentalDistributeDataset(dataset: unknown, given?: unknown): DistributedDataset {
    const op = 'strategy.experimentalDistributeDataset';
    this.#checkCross(op);
    if (!(dataset instanceof Dataset))
      throw new InvalidArgumentError(`dataset must be a tf.data.Dataset, got ${shown(dataset)}`, op);
    const options = inputOptionsOf(given, op);
    if (options.experimentalReplicationMode === 'PER_REPLICA')
      throw new UnimplementedError("'PER_REPLICA' is for strategy.distributeDatasetsFromFunction", op);
    const shard = this.inputPipelines;
    const own = autoShard(dataset.node, shard);
    if (own === null)
      return this.#distributed([dataset as Dataset<unknown>], options, 1, ([batch]) =>
        this.splitBatch(batch),
      );
    const size = batchSizeOf(dataset.node);
    const perProcess = this.#replicas.length;
    const sharded = new Dataset<unknown>(own);
    const parts =
      size === null
        ? sharded.flatMap((...batch: unknown[]) => this.#pieces(batch))
        : sharded.rebatch(
            replicaBatchSizes(checkedSize(size, this.numReplicasInSync, op), shard, perProcess),
          );
    return this.#distributed([parts as Dataset<unknown>], options, perProcess, (batches) =>
      this.#grouped(batches, op),
    );
  }

  /** Where batches have no size that is known before: each is divided into one for every replica, and some of these are in each step. */
  #pieces(items: readonly unknown[]): Dataset<unknown> {
    const batch = items.length === 1 ? items[0] : items;
    const leaves = tree.leavesOf(batch, 'strategy.experimentalDistributeDataset') as readonly Tensor[];
    const parts = leaves.map((leaf) => partsOf(leaf, this.numReplicasInSync));
    const pieces = Array.from({ length: this.numReplicasInSync }, (_, i) =>
      tree.pack(
        batch,
        parts.map((list) => list[i]),
        'strategy.experimentalDistributeDataset',
      ),
    );
    return Dataset.fromGenerator(() => pieces) as Dataset<unknown>;
  }

  /** What each replica gets of a step's batches, of which the last ones may be missing. */
  #grouped(batches: readonly unknown[], op: string): unknown {
    const some = batches.find((batch) => batch !== undefined);
    const all = this.#replicas.map((_, i) => batches[i] ?? withoutRows(some));
    return regroup(all, op);
  }

  #distributed(
    datasets: readonly Dataset<unknown>[],
    options: InputOptions,
    perStep: number,
    take: Distribution['take'],
  ): DistributedDataset {
    const ahead = options.experimentalPerReplicaBufferSize * perStep;
    return new DistributedDataset(
      options.experimentalPerReplicaBufferSize === 1
        ? datasets
        : datasets.map((dataset) => dataset.prefetch(ahead)),
      {
        perStep,
        take,
        anyHas: this.collectives.size === 1 ? null : (has) => !this.allAgree(!has),
        none: (last, spec) => (last === undefined ? this.#noRows(spec) : withoutRows(last)),
      },
    );
  }

  /** Batches without rows for the replicas of a process whose dataset has no element at all. */
  #noRows(spec: ElementSpec | null): unknown {
    const op = 'strategy.experimentalDistributeDataset';
    if (spec === null)
      throw new FailedPreconditionError(
        'this process has no element, and its dataset does not tell their shapes: give it an outputSignature, or another autoShardPolicy',
        op,
      );
    const empty = tree.mapLeaves(spec, op, (leaf) => {
      if (!(leaf instanceof TensorSpec) || leaf.shape === null || leaf.shape.slice(1).includes(null))
        throw new FailedPreconditionError(
          `this process has no element, and of those of the others only ${String(leaf)} is known: give the dataset another autoShardPolicy`,
          op,
        );
      return zeros([0, ...(leaf.shape.slice(1) as number[])], leaf.dtype);
    });
    return regroup(
      this.#replicas.map(() => empty),
      op,
    );
  }

  /** @internal A dataset whose elements are what replicas get; null where each process takes its part of every batch by itself. */
  distributedBatches(source: unknown): (AsyncIterable<unknown> & { cardinality(): number }) | null {
    if (source instanceof DistributedDataset) return source;
    if (!(source instanceof Dataset) || this.collectives.size === 1) return null;
    return this.experimentalDistributeDataset(source);
  }

  /**
   * A dataset whose elements go to one replica after the other: each is a batch of one replica.
   * @param datasetFn makes the dataset of this process, or that of one replica with `experimentalReplicationMode: 'PER_REPLICA'`
   */
  distributeDatasetsFromFunction<T>(
    datasetFn:
      | ((context: InputContext) => Dataset<T>)
      | {
          /** Makes the dataset of one process; told which one it is. */
          readonly datasetFn: (context: InputContext) => Dataset<T>;
          /** How datasets are brought to the replicas. */
          readonly options?: InputOptions | null;
        },
    options?: InputOptions | null,
  ): DistributedDataset<T>;
  distributeDatasetsFromFunction(datasetFn: unknown, given?: unknown): DistributedDataset {
    const op = 'strategy.distributeDatasetsFromFunction';
    this.#checkCross(op);
    checkFunction(datasetFn as () => unknown, 'datasetFn', op);
    const options = inputOptionsOf(given, op);
    const isPerReplica = options.experimentalReplicationMode === 'PER_REPLICA';
    const { count, index } = this.inputPipelines;
    const perProcess = this.#replicas.length;
    const pipelines = isPerReplica ? this.replicaDevices.map((_, i) => index * perProcess + i) : [index];
    const { numReplicasInSync } = this;
    const numInputPipelines = isPerReplica ? numReplicasInSync : count;
    const datasets = pipelines.map((inputPipelineId) =>
      datasetOf(datasetFn, { numInputPipelines, inputPipelineId, numReplicasInSync }, op),
    );
    return this.#distributed(datasets, options, isPerReplica ? 1 : perProcess, (batches) =>
      this.#grouped(batches, op),
    );
  }

  /** A value for each replica of this process, from a function of the replica. */
  experimentalDistributeValuesFromFunction<T>(
    valueFn:
      | ((context: ValueContext) => T)
      | {
          /** Makes the value of one replica; told which one it is. */
          readonly valueFn: (context: ValueContext) => T;
        },
  ): PerReplica<T> | T;
  experimentalDistributeValuesFromFunction(valueFn: unknown): unknown {
    const op = 'strategy.experimentalDistributeValuesFromFunction';
    this.#checkCross(op);
    checkFunction(valueFn as () => unknown, 'valueFn', op);
    const of = valueFn as (context: ValueContext) => unknown;
    const values = this.#replicas.map(({ replicaIdInSyncGroup }) => {
      const value = of(new ValueContext(replicaIdInSyncGroup, this.numReplicasInSync));
      checkNoPromise(value, 'valueFn', op);
      return value;
    });
    return regroup(values, op);
  }

  /** Runs code with all replicas at once, in the middle of their code. @internal */
  crossReplica<T>(fn: () => T): T {
    return within(distribution, { strategy: this, replica: null }, () => within(current, { run: null }, fn));
  }

  /**
   * The sum or mean of values over all replicas, and over an axis of them where one is given.
   * @param value a `PerReplica` of tensors, or a structure of such; a plain tensor is the value of each replica
   * @param options `axis`: null, the default, keeps the shape; with an axis, MEAN divides by the number of elements of all replicas
   */
  reduce(reduceOp: ReduceOp | Lowercase<ReduceOp>, value: unknown, options?: ReduceOptions | null): Tensor;
  reduce(reduceOp: unknown, value: unknown, { axis = null }: ReduceOptions = {}): unknown {
    const op = 'strategy.reduce';
    const how = reduceOpOf(reduceOp, op);
    this.#checkCross(op);
    return tree.mapLeaves(value, op, (leaf) => this.#reduced(how, leaf, axis), tree.wholeComposites);
  }

  #checkCross(op: string): void {
    if (distribution.replica !== null)
      throw new FailedPreconditionError(
        'it combines the values of all replicas, so it cannot be called in one: use tf.distribute.getReplicaContext()',
        op,
      );
  }

  #reduced(how: ReduceOp, value: unknown, axis: number | null): Tensor {
    const op = 'strategy.reduce';
    const local = this.#tensorsOf(value, op);
    const name = `reduce ${how}`;
    if (axis === null) return this.reduceAll(how, [value], null)[0];
    for (const t of local)
      if (t.rank === 0) throw new InvalidArgumentError(`scalars have no axis ${axis}: leave it out`, op);
    const at = normalizeAxis(axis, local[0].rank, op);
    const sums = sumOf(
      local.map((t) => t.sum(at)),
      op,
    );
    if (how === 'SUM') return this.#overProcesses([sums], name)[0];
    const counts = local.map((t) => toTensor(sizeValue(dims(t)[at], 'float32')));
    const [sum, count] = this.#overProcesses([sums, sumOf(counts, op)], name);
    const exact = meanOf(sum, 1);
    return exact.div(count.cast(exact.dtype as 'float32'));
  }

  /** @internal The sum or mean of each value over all replicas, of its shape. */
  reduceAll(
    how: ReduceOp,
    values: readonly unknown[],
    options: CommunicationOptions | null,
  ): readonly Tensor[] {
    const op = 'strategy.reduce';
    const local = values.map((value) => sumOf(this.#tensorsOf(value, op), op, this));
    const sums = this.#overProcesses(local, `reduce ${how}`, options);
    return how === 'SUM' ? sums : sums.map((sum) => meanOf(sum, this.numReplicasInSync));
  }

  #overProcesses(
    values: readonly Tensor[],
    name: string,
    options: CommunicationOptions | null = null,
  ): readonly Tensor[] {
    const { collectives } = this;
    if (collectives.size === 1) return values;
    return collectives.allReduce(values, collectiveOptions(options ?? this.communicationOptions, name));
  }

  /** The values of this process's replicas; what is not distributed is that of each. */
  #tensorsOf(value: unknown, op: string): readonly Tensor[] {
    const count = this.#replicas.length;
    if (value instanceof MirroredVariable && value.synchronization === 'ON_READ')
      return value.values.map((copy) => copy.read());
    if (!(value instanceof DistributedValues)) {
      const t = toTensor(value as TensorLike);
      return Array.from({ length: count }, () => t);
    }
    if (value.values.length !== count)
      throw new InvalidArgumentError(
        `the value is one of ${value.values.length} replicas, but the strategy has ${count}`,
        op,
      );
    return value.values.map((v) => toTensor(v as TensorLike));
  }

  /**
   * The values of all replicas, joined along an axis in their order. Its sizes may differ.
   * @throws InvalidArgumentError for scalars
   */
  gather(value: unknown, axis: number): Tensor;
  gather(value: unknown, axis: unknown): unknown {
    const op = 'strategy.gather';
    this.#checkCross(op);
    const joined = (leaf: unknown): Tensor => {
      const local = this.#tensorsOf(leaf, op);
      if (local[0].rank === 0) throw new InvalidArgumentError('scalars have no axis to join along', op);
      const at = normalizeAxis(axis as number, local[0].rank, op);
      if (this.collectives.size === 1) return concat(local, at);
      const front = (t: Tensor): Tensor => (at === 0 ? t : t.moveAxis(at, 0));
      const options = collectiveOptions(this.communicationOptions, 'gather');
      const [all] = this.collectives.allGather([concat(local.map(front), 0)], options);
      return at === 0 ? all : all.moveAxis(0, at);
    };
    return tree.mapLeaves(value, op, joined, tree.wholeComposites);
  }

  /** @internal */
  joinRows(values: readonly Tensor[]): Tensor {
    return this.gather(values.length === 1 ? values[0] : new PerReplica(values), 0);
  }

  /** The values of this process's replicas: a list of one where the value is not distributed. */
  experimentalLocalResults<T>(value: T | DistributedValues<T>): readonly T[];
  experimentalLocalResults(value: unknown): readonly unknown[] {
    if (value instanceof DistributedValues || value instanceof MirroredVariable) return value.values;
    return [value];
  }
}

/** What somebody gave who did not mean to write a strategy. */
function checkParts(parts: unknown, name: string): void {
  const { devices } = (parts ?? {}) as { readonly devices?: unknown };
  if (Array.isArray(devices) && devices.length > 0 && devices.every((one) => typeof one === 'string')) return;
  throw new InvalidArgumentError(
    `${name} is a base of strategies, which give it their devices, a list of names; got ${shown(parts)}. To train, make a MirroredStrategy, a MultiWorkerMirroredStrategy or a OneDeviceStrategy`,
    name,
  );
}

/** Rows in as many parts as there are replicas: parts are rounded up, so the last ones have fewer rows or none, as in TensorFlow. */
export function partsOf(t: Tensor, count: number): readonly Tensor[] {
  if (t.rank === 0)
    throw new InvalidArgumentError('a scalar cannot be divided between replicas', 'strategy.splitBatch');
  const [rows] = dims(t);
  const most = floorDivDims(addDims(rows, count - 1), count);
  const sizes = Array.from({ length: count }, (_, i) =>
    minDims(most, maxDims(subDims(rows, mulDims(most, i)), 0)),
  );
  return split(t, toShape(sizes));
}

/** A size of batches for all replicas. @throws InvalidArgumentError for one that leaves some of them nothing */
function checkedSize(size: number, replicas: number, op: string): number {
  if (size >= replicas) return size;
  throw new InvalidArgumentError(
    `batches of ${size} are too small for ${replicas} replicas: make them larger, or set the option { experimentalDistribute: { autoShardPolicy: 'DATA' } }`,
    op,
  );
}

/** A batch like another, of no rows. */
function withoutRows(batch: unknown): unknown {
  return tree.mapLeaves(batch, 'strategy.distributeDatasetsFromFunction', (leaf) =>
    leaf instanceof Tensor && leaf.rank > 0 ? split(leaf, toShape([0, dims(leaf)[0]]))[0] : leaf,
  );
}

/** Options of `strategy.reduce`. */
export interface ReduceOptions {
  /** The axis of each replica's value over which is reduced too; null for none. */
  readonly axis?: number | null;
}

/** What `strategy.run` returns of a function's results: a `PerReplica` for each tensor, or the tensor itself. */
export type DistributedResult<R> = R extends Tensor
  ? PerReplica<Tensor> | Tensor
  : R extends readonly unknown[] | Readonly<Record<string, unknown>>
    ? { [K in keyof R]: DistributedResult<R[K]> }
    : R;
defineMethods(Strategy.prototype, 'Strategy', {
  scope: { positional: ['fn'], required: 0 },
  run: { positional: ['fn'], options: { args: true, options: true } },
  reduce: { positional: ['reduceOp', 'value'], objects: ['value'], options: { axis: true } },
  gather: { positional: ['value', 'axis'], objects: ['value'] },
  experimentalLocalResults: { positional: ['value'], objects: ['value'] },
  experimentalDistributeDataset: {
    positional: ['dataset', 'options'],
    required: 1,
    objects: ['dataset', 'options'],
  },
  distributeDatasetsFromFunction: { positional: ['datasetFn', 'options'], required: 1, objects: ['options'] },
  experimentalDistributeValuesFromFunction: { positional: ['valueFn'] },
});

import { CancelledError, InvalidArgumentError, UnavailableError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import {
  aliasTensor,
  argumentsOf,
  checkFunction,
  defineMethods,
  inContext,
  shown,
  takesArguments,
  tree,
} from '@eagre/core/internal';
import type { Connection } from './connection.ts';
import { type ConnectedCluster, ParameterServerStrategy } from './parameter-server-strategy.ts';
import { PerWorkerDataset, type PerWorkerIterator, type WorkerDataset } from './per-worker.ts';
import { RemoteValue } from './remote-value.ts';
import { type Definition, resultOf, ScheduledFunction, tensorsIn } from './scheduled-function.ts';

type AnyFunction = (...args: never[]) => unknown;

/** A call that waits for a worker, or runs on one. */
interface Closure {
  readonly fn: ScheduledFunction;
  readonly args: readonly unknown[];
  readonly result: RemoteValue;
  /** Elements of iterators that a worker was given which is lost now. */
  readonly taken: Map<PerWorkerIterator, unknown[]>;
}

interface WorkerState {
  readonly index: number;
  readonly name: string;
  connection: Connection | null;
  /** The functions that it knows. */
  readonly defined: Set<number>;
  /** The resources that it holds. */
  readonly held: Set<PerWorkerResource>;
  isBusy: boolean;
}

let nextResource = 1;

/** What each worker holds: `coordinator.createPerWorkerResource`. An argument of scheduled functions. */
export class PerWorkerResource {
  /** @internal */
  readonly id: number = nextResource++;
  /** @internal */
  readonly fn: ScheduledFunction;
  /** @internal Known once a worker has made it. */
  definition: Definition | undefined;

  /** @internal */
  constructor(fn: ScheduledFunction) {
    this.fn = fn;
  }
}

// How many calls may wait before `fit` waits too.
const LONGEST_QUEUE = 256;

/**
 * Has workers run functions, whose variables are on parameter servers. Functions are traced as by `tf.function`, and travel as graphs.
 *
 * - A function may run more than once: where a worker is lost, it runs on another one.
 * - What a function throws, the next `schedule` or `join` throws; functions that have not run yet are cancelled. After that the coordinator
 *   can be used again.
 * - A parameter server that is lost is an UnavailableError, for good: its variables are gone.
 */
export class ClusterCoordinator {
  /** The strategy whose workers are given work. */
  readonly strategy: ParameterServerStrategy;
  readonly #cluster: ConnectedCluster;
  readonly #workers: WorkerState[] = [];
  readonly #queue: Closure[] = [];
  readonly #functions = new WeakMap<AnyFunction, ScheduledFunction>();
  readonly #running = new Set<Closure>();
  #error: unknown;
  #fatal: Error | undefined;
  #changed: (() => void)[] = [];
  #allLostSince: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @throws FailedPreconditionError before the strategy is connected */
  constructor(
    ...args: [
      strategy:
        | ParameterServerStrategy
        | {
            /** The strategy whose workers are given work. */
            readonly strategy: ParameterServerStrategy;
          },
    ]
  ) {
    const { strategy } = argumentsOf<{ readonly strategy: ParameterServerStrategy }>(
      ClusterCoordinator,
      new.target,
      args,
    );
    if (!(strategy instanceof ParameterServerStrategy))
      throw new InvalidArgumentError(
        `strategy must be a ParameterServerStrategy, got ${shown(strategy)}`,
        'ClusterCoordinator',
      );
    this.strategy = strategy;
    this.#cluster = strategy.cluster;
    // biome-ignore lint/correctness/noConstructorReturn: a strategy has one, as in TensorFlow
    if (strategy.coordinator !== undefined) return strategy.coordinator;
    for (const server of this.#cluster.servers) {
      this.#fatal ??= server.failure;
      server.onClose = (error) => this.#fail(error);
    }
    strategy.onClose = () => this.#close();
    for (const [index, connection] of this.#cluster.workers.entries()) {
      const worker: WorkerState = {
        index,
        name: connection.name,
        connection,
        defined: new Set(),
        held: new Set(),
        isBusy: false,
      };
      this.#workers.push(worker);
      this.#attach(worker, connection);
    }
    strategy.coordinator = this;
    strategy.scheduler = {
      schedule: async (step, given) => {
        const result = this.schedule(step as AnyFunction, given);
        while (this.#queue.length >= LONGEST_QUEUE) await this.#change();
        return result;
      },
      join: () => this.join(),
    };
  }

  /**
   * Has a worker run a function, when one is free. Returns at once.
   * @param fn a function of `tf.function`, or any that can be traced
   * @param args its arguments: tensors, numbers, structures of these, iterators of `createPerWorkerDataset`, resources, and RemoteValues
   * @throws what an earlier function threw
   */
  schedule<A extends readonly unknown[], R>(
    fn: (...args: A) => R,
    args?: { readonly [K in keyof A]: unknown } | null,
  ): RemoteValue<R>;
  schedule(options: {
    /** What a worker does. */
    readonly fn: AnyFunction;
    /** The arguments of the function; none by default. */
    readonly args?: readonly unknown[] | null;
  }): RemoteValue;
  schedule(fn: unknown, args?: unknown): RemoteValue<unknown> {
    const op = 'ClusterCoordinator.schedule';
    checkFunction(fn as AnyFunction, 'fn', op);
    if (args !== undefined && args !== null && !Array.isArray(args))
      throw new InvalidArgumentError(`args must be a list of arguments, got ${shown(args)}`, op);
    this.#throw();
    const closure: Closure = {
      fn: this.#function(fn as AnyFunction),
      args: held((args ?? []) as readonly unknown[]) as readonly unknown[],
      result: new RemoteValue(),
      taken: new Map(),
    };
    this.#queue.push(closure);
    this.#dispatch();
    return closure.result;
  }

  #function(fn: AnyFunction): ScheduledFunction {
    let known = this.#functions.get(fn);
    if (known === undefined) {
      known = new ScheduledFunction(fn, this.strategy.servers);
      this.#functions.set(fn, known);
    }
    return known;
  }

  /** Waits until all functions have run. @throws (the promise) what one of them threw */
  async join(): Promise<void> {
    while (!this.#isDone) await this.#change();
    this.#throw();
  }

  /** Whether all functions have run. @throws what one of them threw */
  done(): boolean {
    this.#throw();
    return this.#isDone;
  }

  get #isDone(): boolean {
    return (this.#queue.length === 0 && this.#running.size === 0) || this.#fatal !== undefined;
  }

  /** Waits for the values in the places of RemoteValues. */
  async fetch<T>(val: T): Promise<Fetched<T>>;
  async fetch(val: unknown): Promise<unknown> {
    const remote: RemoteValue[] = [];
    tree.forEachLeaf(val, 'fetch', (leaf) => {
      if (leaf instanceof RemoteValue) remote.push(leaf);
    });
    const values = new Map(
      await Promise.all(remote.map(async (leaf) => [leaf, await leaf.fetch()] as const)),
    );
    return tree.mapLeaves(val, 'fetch', (leaf) => (leaf instanceof RemoteValue ? values.get(leaf) : leaf));
  }

  /**
   * A dataset for each worker. Its function is told which of how many it is for. Elements are read here, and travel to the worker with the
   * functions that ask for them.
   */
  createPerWorkerDataset<T>(
    dataset:
      | WorkerDataset<T>
      | {
          /** Makes the dataset of a worker. */
          readonly datasetFn: WorkerDataset<T>;
        },
  ): PerWorkerDataset<T>;
  createPerWorkerDataset(datasetFn: unknown): PerWorkerDataset {
    const workers = this.#workers.length;
    return new PerWorkerDataset(
      datasetFn as WorkerDataset<unknown>,
      workers,
      this.strategy.numReplicasInSync,
    );
  }

  /** What a function computes once on each worker, and again on one that was started anew: an argument of scheduled functions. */
  createPerWorkerResource(
    fn:
      | (() => unknown)
      | {
          /** Makes the resource of a worker. */
          readonly fn: () => unknown;
        },
  ): PerWorkerResource;
  createPerWorkerResource(fn: unknown): PerWorkerResource {
    checkFunction(fn as AnyFunction, 'fn', 'ClusterCoordinator.createPerWorkerResource');
    return new PerWorkerResource(this.#function(fn as AnyFunction));
  }

  // ---- workers

  #attach(worker: WorkerState, connection: Connection): void {
    worker.connection = connection;
    worker.defined.clear();
    worker.held.clear();
    clearTimeout(this.#allLostSince);
    this.#allLostSince = undefined;
    connection.onClose = () => void this.#lose(worker);
    if (!connection.isOpen) void this.#lose(worker);
  }

  /** Calls a lost worker until it comes again. */
  async #lose(worker: WorkerState): Promise<void> {
    worker.connection = null;
    const { session, credentials, spec, timeoutSeconds } = this.#cluster;
    if (this.#isClosed || this.#fatal !== undefined) return;
    if (this.#workers.every(({ connection }) => connection === null))
      this.#allLostSince ??= setTimeout(() => {
        const names = this.#workers.map(({ name }) => name).join(', ');
        this.#fail(new UnavailableError(`all workers are lost: ${names}`));
      }, timeoutSeconds * 1000);
    const task = spec.tasks('worker')[worker.index];
    if (task === undefined) return;
    try {
      const { reach } = await import('./introduction.ts');
      const isWanted = (): boolean => !this.#isClosed && this.#fatal === undefined;
      const { connection, beat } = await reach(
        task,
        session,
        credentials,
        Number.POSITIVE_INFINITY,
        isWanted,
      );
      if (!isWanted()) {
        connection.close();
        return;
      }
      this.strategy.watch(task, connection, beat);
      this.#attach(worker, connection);
      this.#dispatch();
    } catch (error) {
      // One that runs something else does not come again.
      if (!this.#isClosed && this.#fatal === undefined) this.#fail(error as Error);
    }
  }

  #dispatch(): void {
    if (this.#fatal !== undefined || this.#error !== undefined) return;
    for (const worker of this.#workers) {
      if (worker.connection === null || worker.isBusy) continue;
      const closure = this.#queue.shift();
      if (closure === undefined) return;
      void this.#run(worker, worker.connection, closure);
    }
  }

  async #run(worker: WorkerState, connection: Connection, closure: Closure): Promise<void> {
    worker.isBusy = true;
    this.#running.add(closure);
    try {
      const value = await this.#call(worker, connection, closure);
      for (const tensor of tensorsIn(closure.args)) tensor.dispose();
      closure.result.resolve(value);
    } catch (error) {
      // Its connection tells that it is lost; what it said of others is an error of theirs.
      if (!connection.isOpen && this.#fatal === undefined && this.#error === undefined && !this.#isClosed)
        this.#queue.unshift(closure);
      else this.#reject(closure, await this.#explained(error));
    } finally {
      worker.isBusy = false;
      this.#running.delete(closure);
      this.#dispatch();
      this.#notify();
    }
  }

  /** A worker may notice before the coordinator that a parameter server is lost, which is for good. */
  async #explained(error: unknown): Promise<unknown> {
    if (!(error instanceof UnavailableError) || this.#fatal !== undefined) return this.#fatal ?? error;
    const empty = { kind: 'read', fields: { ids: [] } };
    await Promise.allSettled(this.#cluster.servers.map((server) => server.ask(empty)));
    return this.#fatal ?? error;
  }

  #reject(closure: Closure, error: unknown): void {
    this.#error ??= error;
    closure.result.reject(error);
    this.#cancel();
  }

  #cancel(): void {
    for (const { result } of this.#queue.splice(0))
      result.reject(new CancelledError('another function failed before this one ran'));
  }

  async #call(worker: WorkerState, connection: Connection, closure: Closure): Promise<unknown> {
    const { fn, args, taken } = closure;
    const resources: PerWorkerResource[] = [];
    tree.forEachLeaf(args, 'schedule', (leaf) => {
      if (leaf instanceof PerWorkerResource) resources.push(leaf);
    });
    for (const resource of resources) await this.#hold(worker, connection, resource);
    const fetched = (await this.fetch(args)) as readonly unknown[];
    const ready = tree.mapLeaves(fetched, 'schedule', (leaf) =>
      leaf instanceof PerWorkerResource ? leaf.definition?.outputs : leaf,
    ) as readonly unknown[];
    const places = new Map<PerWorkerIterator, number>();
    const { definition, inputs } = await fn.definition(ready, async (iterator) => {
      const known = taken.get(iterator) ?? [];
      taken.set(iterator, known);
      const place = places.get(iterator) ?? 0;
      places.set(iterator, place + 1);
      if (place === known.length) known.push(await iterator.take(worker.index));
      return known[place];
    });
    await this.#define(worker, connection, definition);
    const { tensors } = await connection.ask({
      kind: 'call',
      fields: { id: definition.id, kept: keptPlaces(fetched) },
      tensors: tensorsIn(inputs),
    });
    return resultOf(definition, tensors);
  }

  async #hold(worker: WorkerState, connection: Connection, resource: PerWorkerResource): Promise<void> {
    if (worker.held.has(resource)) return;
    const { definition } = await resource.fn.definition([], async () => undefined);
    await this.#define(worker, connection, definition);
    await connection.ask({ kind: 'call', fields: { id: definition.id, keep: resource.id } });
    resource.definition = definition;
    worker.held.add(resource);
  }

  async #define(worker: WorkerState, connection: Connection, definition: Definition): Promise<void> {
    if (worker.defined.has(definition.id)) return;
    const { id, captures, tensors, graph, variables, changes, results } = definition;
    await connection.ask({
      kind: 'define',
      fields: { id, captures, variables, changes, results },
      tensors,
      blobs: [graph],
    });
    worker.defined.add(id);
  }

  // ---- errors, and who waits

  /** A failure that nothing helps against. */
  #fail(error: Error): void {
    this.#fatal ??= error;
    for (const { result } of [...this.#queue.splice(0), ...this.#running]) result.reject(this.#fatal);
    this.#notify();
  }

  #throw(): void {
    if (this.#fatal !== undefined) throw this.#fatal;
    if (this.#error === undefined) return;
    const error = this.#error;
    if (this.#running.size > 0) throw error;
    this.#error = undefined;
    throw error;
  }

  #change(): Promise<void> {
    // A lost worker that is called again must not end the process's wait.
    const alive = setInterval(() => {}, 1 << 30);
    return new Promise((resolve) => {
      this.#changed.push(() => {
        clearInterval(alive);
        resolve();
      });
    });
  }

  #notify(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }

  #close(): void {
    this.#isClosed = true;
    clearTimeout(this.#allLostSince);
    this.#fatal ??= new UnavailableError('the strategy was closed');
    for (const { result } of this.#queue.splice(0))
      result.reject(new CancelledError('the strategy was closed'));
    for (const { connection } of this.#workers) if (connection !== null) connection.onClose = undefined;
    this.strategy.scheduler = undefined;
    this.strategy.coordinator = undefined;
    this.#notify();
  }
}
takesArguments<{ readonly strategy: ParameterServerStrategy }>(
  { positional: ['strategy'], names: { strategy: true } },
  ClusterCoordinator,
);
defineMethods(ClusterCoordinator.prototype, 'ClusterCoordinator', {
  schedule: { positional: ['fn', 'args'], required: 1 },
  fetch: { positional: ['val'], objects: ['val'] },
  createPerWorkerDataset: { positional: ['datasetFn'] },
  createPerWorkerResource: { positional: ['fn'] },
});

/** Values in the places of RemoteValues. */
export type Fetched<T> =
  T extends RemoteValue<infer V>
    ? V
    : T extends Tensor
      ? T
      : T extends readonly unknown[] | Readonly<Record<string, unknown>>
        ? { [K in keyof T]: Fetched<T[K]> }
        : T;

/** Arguments whose tensors belong to no memory scope: the call may run long after. */
function held(args: readonly unknown[]): unknown {
  return inContext({ tracker: null }, () =>
    tree.mapLeaves(args, 'schedule', (leaf) =>
      leaf instanceof Tensor ? aliasTensor(leaf, leaf.shape) : leaf,
    ),
  );
}

/** Where, among the tensors of arguments, those of resources are. */
function keptPlaces(args: readonly unknown[]): readonly (readonly [number, number, number])[] {
  const places: [number, number, number][] = [];
  let next = 0;
  tree.forEachLeaf(args, 'schedule', (leaf) => {
    if (leaf instanceof PerWorkerResource) {
      const count = leaf.definition?.results ?? 0;
      for (let which = 0; which < count; which++) places.push([next++, leaf.id, which]);
    } else if (leaf instanceof Tensor) next++;
  });
  return places;
}

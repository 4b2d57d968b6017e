import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import { argumentsOf, defineMethods, shown, takesArguments, tree } from '@eagre/core/internal';
import { ClusterResolver, placeOf, resolverOfEnvironment } from '../cluster/cluster-resolver.ts';
import type { Member } from '../cluster/cluster-spec.ts';
import { checkConnect } from '../cluster/connect-options.ts';
import { CommunicationOptions } from '../strategy/communication-options.ts';
import { allDevices, gpuNamed } from '../strategy/devices.ts';
import { partsOf, Strategy } from '../strategy/strategy.ts';
import { ProcessCollectives } from './process-collectives.ts';

/** Options of `MultiWorkerMirroredStrategy`. */
export interface MultiWorkerMirroredOptions {
  /** Who takes part; what `TF_CONFIG` or `mpiexec` say by default. */
  readonly clusterResolver?: ClusterResolver | null;
  /** How collective operations are carried out. */
  readonly communicationOptions?: CommunicationOptions | null;
  /**
   * Whether each process keeps the state of optimizers, such as Adam's moments, for a part of the variables only. It updates these, and the others
   * get their new values from it. Results are the same; all processes must save and restore the state together. False by default. As in
   * Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", 2020, stage 1.
   */
  readonly shardOptimizerState?: boolean;
}

/** Options of `MultiWorkerMirroredStrategy.connect`. */
export interface ConnectOptions {
  /** How long the other processes may take to come, in seconds; 300 by default. */
  readonly timeoutSeconds?: number;
  /** A process that is silent for so many seconds counts as lost; 10 by default. */
  readonly heartbeatSeconds?: number;
  /** What only the processes of the cluster know; the variable `EAGRE_CLUSTER_TOKEN` by default. */
  readonly token?: string;
  /**
   * Whether sums are always in the order of ranks, so that they do not depend on how gradients lie in memory. Sums of two processes are so anyway.
   * Costs little; false by default.
   */
  readonly deterministic?: boolean;
}

/**
 * Trains on several processes, on one machine or more, each with a copy of all variables and its part of each batch. The processes run the same
 * program. They find each other by `TF_CONFIG`, as TensorFlow's; `npx eagre run -n 2 train.js` sets it.
 *
 *     const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
 *     await strategy.connect();
 *     const model = strategy.scope(() => makeModel());
 *
 * When a process is lost, what the others do throws an UnavailableError that names it. After that `connect()` lets the
 * processes meet again, once the lost one was started anew.
 */
export class MultiWorkerMirroredStrategy extends Strategy {
  override readonly clusterResolver: ClusterResolver;
  readonly #members: readonly Member[];
  readonly #processes: ProcessCollectives;
  #generation = 0;
  #connecting: Promise<void> | undefined;

  /** @throws InvalidArgumentError for a `TF_CONFIG` that makes no sense, or a task that takes part in no collective */
  constructor(...args: [options?: MultiWorkerMirroredOptions | null]) {
    const name = 'MultiWorkerMirroredStrategy';
    const { clusterResolver, communicationOptions, shardOptimizerState } =
      argumentsOf<MultiWorkerMirroredOptions>(MultiWorkerMirroredStrategy, new.target, args);
    const resolver = clusterResolver ?? resolverOfEnvironment();
    if (!(resolver instanceof ClusterResolver))
      throw new InvalidArgumentError(
        `clusterResolver must be a ClusterResolver, got ${shown(resolver)}`,
        name,
      );
    if ((communicationOptions ?? null) !== null && !(communicationOptions instanceof CommunicationOptions))
      throw new InvalidArgumentError(
        `communicationOptions must be a CommunicationOptions, got ${shown(communicationOptions)}`,
        name,
      );
    if (typeof (shardOptimizerState ?? false) !== 'boolean')
      throw new InvalidArgumentError(
        `shardOptimizerState must be true or false, got ${shown(shardOptimizerState)}`,
        name,
      );
    if (resolver.taskType === 'ps')
      throw new InvalidArgumentError('a parameter server takes part in no synchronous training', name);
    const { members, rank } = placeOf(resolver);
    const processes = new ProcessCollectives(members.length, rank);
    super({
      devices: [allDevices()[0]],
      collectives: processes,
      communicationOptions: communicationOptions ?? null,
      shardOptimizerState: shardOptimizerState ?? false,
    });
    this.clusterResolver = resolver;
    this.#members = members;
    this.#processes = processes;
  }

  /** How often the processes have met; 0 before `connect`. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Waits until all processes are connected to each other. To be called again after an UnavailableError.
   * @throws DeadlineExceededError that names who did not come; UnavailableError where the address of this process is taken, or another is gone again;
   *   PermissionDeniedError for a wrong token; FailedPreconditionError where others run another version or were given another cluster;
   *   UnimplementedError where the library, Gloo, MPI or NCCL, is not installed
   */
  async connect(options?: ConnectOptions | null): Promise<this>;
  async connect(options?: unknown): Promise<this> {
    const { deterministic = false, ...others } = (options ?? {}) as ConnectOptions;
    const checked = checkConnect(others);
    if (typeof deterministic !== 'boolean')
      throw new InvalidArgumentError(
        `deterministic must be true or false, got ${shown(deterministic)}`,
        'strategy.connect',
      );
    if (this.collectives.size === 1) return this;
    if (this.#connecting !== undefined)
      throw new FailedPreconditionError('the processes are meeting already', 'strategy.connect');
    this.#connecting = this.#connect({ ...checked, deterministic });
    try {
      await this.#connecting;
    } finally {
      this.#connecting = undefined;
    }
    return this;
  }

  async #connect(options: Required<ConnectOptions>): Promise<void> {
    await this.close();
    const { rendezvous } = await import('../cluster/rendezvous.ts');
    const meeting = await rendezvous({
      members: this.#members,
      rank: this.collectives.rank,
      clusterKey: this.clusterResolver.clusterSpec().key,
      generation: this.#generation,
      implementation: this.communicationOptions?.implementation ?? 'AUTO',
      ...options,
    });
    this.#processes.engine = meeting.engine;
    // Before the first variable is made: each process of a machine computes on the GPU by which it is connected.
    const gpu = meeting.engine.gpu === null ? undefined : gpuNamed(meeting.engine.gpu);
    if (gpu !== undefined) this.replicaDevices = [gpu];
    this.ownership?.reset();
    this.#generation = meeting.generation;
  }

  /**
   * Leaves the other processes: those that wait for this one get an UnavailableError. Not needed at the end of a program.
   */
  async close(): Promise<void> {
    const { engine } = this.#processes;
    this.#processes.engine = undefined;
    this.#processes.isClosed ||= engine !== undefined;
    await engine?.close();
  }

  /** @internal What `splitBatch` takes of a batch. */
  override ownRows(rows: number): { readonly start: number; readonly size: number } | null {
    const { size, rank } = this.collectives;
    if (size === 1) return null;
    const most = Math.ceil(rows / size);
    const start = Math.min(rank * most, rows);
    return { start, size: Math.min(most, rows - start) };
  }

  /** @internal The part of this process in a batch of all. */
  override splitBatch(batch: unknown): unknown {
    const { size, rank } = this.collectives;
    if (size === 1) return batch;
    return tree.mapLeaves(batch, 'strategy.splitBatch', (leaf) =>
      leaf instanceof Tensor ? partsOf(leaf, size)[rank] : leaf,
    );
  }

  /** Waits until all processes have come here. @throws UnavailableError, DeadlineExceededError */
  barrier(): void {
    if (this.collectives.size === 1) return;
    const timeoutSeconds = this.communicationOptions?.timeoutSeconds ?? null;
    this.#processes.connected.barrier({ name: 'strategy.barrier', timeoutSeconds });
  }
}
takesArguments<MultiWorkerMirroredOptions>(
  { names: { clusterResolver: true, communicationOptions: true, shardOptimizerState: true } },
  MultiWorkerMirroredStrategy,
);
defineMethods(MultiWorkerMirroredStrategy.prototype, 'MultiWorkerMirroredStrategy', {
  connect: {
    positional: [],
    options: { timeoutSeconds: true, heartbeatSeconds: true, token: true, deterministic: true },
  },
});

// Types in a circle: the strategy makes its coordinator, which knows it.
import {
  FailedPreconditionError,
  InvalidArgumentError,
  UnavailableError,
  UnimplementedError,
} from '@eagre/backend';
import { split, type Tensor, type Variable } from '@eagre/core';
import {
  argumentsOf,
  checkFunction,
  defineMethods,
  distribution,
  type StepScheduler,
  shown,
  takesArguments,
  type VariableRequest,
  within,
} from '@eagre/core/internal';
import { Dataset } from '@eagre/data';
import { loadPortable } from '@eagre/saved-model/internal';
import { ClusterResolver, resolverOfEnvironment } from '../cluster/cluster-resolver.ts';
import { type ClusterSpec, type Member, memberName, parseAddress } from '../cluster/cluster-spec.ts';
import { type Credentials, checkConnect } from '../cluster/connect-options.ts';
import { datasetOf } from '../input/dataset-of.ts';
import { DistributedDataset } from '../input/distributed-dataset.ts';
import type { InputContext } from '../input/input-context.ts';
import { type InputOptions, inputOptionsOf } from '../input/input-options.ts';
import { allDevices } from '../strategy/devices.ts';
import { Strategy } from '../strategy/strategy.ts';
import type { ClusterCoordinator } from './cluster-coordinator.ts';
import type { Beat, Connection } from './connection.ts';
import { notConnected, ParameterServers } from './parameter-servers.ts';
import { Partitioner, partsBy, type VariablePartitioner } from './partitioners.ts';
import { ServedVariable } from './served-variable.ts';
import { ShardedVariable } from './sharded-variable.ts';
import type { SyncClient } from './sync-client.ts';

/** Options of `ParameterServerStrategy`. */
export interface ParameterServerOptions {
  /** Who takes part, with at least one `worker` and one `ps`; what `TF_CONFIG` says by default. */
  readonly clusterResolver?: ClusterResolver | null;
  /** How variables are divided between parameter servers; not at all by default. */
  readonly variablePartitioner?: Partitioner | VariablePartitioner | null;
}

/** Options of `ParameterServerStrategy.connect`. */
export interface ParameterServerConnectOptions {
  /** How long the servers may take to come, in seconds, and how long all workers may be lost; 300 by default. */
  readonly timeoutSeconds?: number;
  /** A server that is silent for so many seconds counts as lost; 10 by default. */
  readonly heartbeatSeconds?: number;
  /** What only the processes of the cluster know; the variable `EAGRE_CLUSTER_TOKEN` by default. */
  readonly token?: string;
}

/** @internal The cluster, once it is connected. */
export interface ConnectedCluster {
  readonly spec: ClusterSpec;
  readonly session: string;
  readonly credentials: Credentials;
  readonly client: SyncClient;
  readonly servers: readonly Connection[];
  readonly workers: readonly Connection[];
  readonly timeoutSeconds: number;
  readonly heartbeatSeconds: number;
}

/**
 * Trains with variables on parameter servers, which workers read and update on their own, without waiting for each other. This process, the
 * coordinator, runs the program; the others run a `tf.distribute.Server`.
 *
 *     const strategy = new tf.distribute.ParameterServerStrategy();
 *     await strategy.connect();
 *     const coordinator = new tf.distribute.coordinator.ClusterCoordinator(strategy);
 *     const v = strategy.scope(() => new tf.Variable(0));
 *     coordinator.schedule(() => v.assignAdd(1));
 *     await coordinator.join();
 */
export class ParameterServerStrategy extends Strategy {
  override readonly clusterResolver: ClusterResolver;
  /** @internal */
  readonly servers: ParameterServers;
  readonly #partitioner: Partitioner | VariablePartitioner | null;
  #cluster: ConnectedCluster | undefined;
  /** @internal What takes steps of `fit`: the coordinator. */
  scheduler: StepScheduler | undefined;
  /** @internal There is one for each strategy. */
  coordinator: ClusterCoordinator | undefined;

  /** @throws InvalidArgumentError for a cluster without a worker or a ps, or in a process that is one of these */
  constructor(
    ...args: [
      clusterResolver?: ClusterResolver | null | ParameterServerOptions,
      options?: ParameterServerOptions,
    ]
  ) {
    const name = 'ParameterServerStrategy';
    const { clusterResolver, variablePartitioner } = argumentsOf<ParameterServerOptions>(
      ParameterServerStrategy,
      new.target,
      args,
    );
    const resolver = clusterResolver ?? resolverOfEnvironment();
    if (!(resolver instanceof ClusterResolver))
      throw new InvalidArgumentError(
        `clusterResolver must be a ClusterResolver, got ${shown(resolver)}`,
        name,
      );
    const { taskType } = resolver;
    if (taskType === 'worker' || taskType === 'ps')
      throw new InvalidArgumentError(
        `this process is a ${taskType}, which serves the coordinator: await new tf.distribute.Server(resolver).join()`,
        name,
      );
    const spec = resolver.clusterSpec();
    for (const type of ['worker', 'ps'] as const)
      if (spec.numTasks(type) === 0)
        throw new InvalidArgumentError(`the cluster has no ${type}: it needs at least one`, name);
    const partitioner = variablePartitioner ?? null;
    if (partitioner !== null && !(partitioner instanceof Partitioner) && typeof partitioner !== 'function')
      throw new InvalidArgumentError(
        `variablePartitioner must be a partitioner, got ${shown(partitioner)}`,
        name,
      );
    super({ devices: [allDevices()[0] as string] });
    this.clusterResolver = resolver;
    this.#partitioner = partitioner;
    this.servers = new ParameterServers(spec.numTasks('ps'), (fn) =>
      within(distribution, { strategy: this as never, replica: null }, fn),
    );
  }

  /** @internal @throws FailedPreconditionError before `connect` */
  get cluster(): ConnectedCluster {
    if (this.#cluster === undefined) throw notConnected();
    return this.#cluster;
  }

  /**
   * Waits until all workers and parameter servers are connected.
   * @throws DeadlineExceededError that names who cannot be reached; PermissionDeniedError for a wrong token; FailedPreconditionError where others
   *   run another version or were given another cluster
   */
  async connect(options?: ParameterServerConnectOptions | null): Promise<this>;
  async connect(options?: unknown): Promise<this> {
    const { timeoutSeconds, heartbeatSeconds, token } = checkConnect(
      (options ?? {}) as ParameterServerConnectOptions,
    );
    if (this.#cluster !== undefined)
      throw new FailedPreconditionError('the cluster is connected already', 'strategy.connect');
    const [{ reach }, { SyncClient }, { newNonce }] = await Promise.all([
      import('./introduction.ts'),
      import('./sync-client.ts'),
      import('../cluster/handshake.ts'),
    ]);
    const deadline = Date.now() + timeoutSeconds * 1000;
    const spec = this.clusterResolver.clusterSpec();
    const credentials = { token, clusterKey: spec.key };
    const session = newNonce();
    const servers = spec.tasks('ps');
    const tasks = [...servers, ...spec.tasks('worker')];
    const reached = await Promise.allSettled(
      tasks.map((task) => reach(task, session, credentials, deadline)),
    );
    const found = reached.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = reached.find((result) => result.status === 'rejected');
    const client = new SyncClient(servers.map(memberName), timeoutSeconds, (name) =>
      this.#onSilent(name, heartbeatSeconds),
    );
    try {
      if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
      for (const [i, { address }] of servers.entries()) client.open(i, address, session, credentials);
      this.servers.link = { client, portable: await loadPortable() };
    } catch (error) {
      client.close();
      for (const { connection } of found) connection.close();
      throw error;
    }
    const connections = found.map(({ connection }) => connection);
    this.#cluster = {
      spec,
      session,
      credentials,
      client,
      servers: connections.slice(0, servers.length),
      workers: connections.slice(servers.length),
      timeoutSeconds,
      heartbeatSeconds,
    };
    for (const [i, { connection, beat }] of found.entries()) this.watch(tasks[i] as Member, connection, beat);
    // `fit` has it take the steps.
    const { ClusterCoordinator: Coordinator } = await import('./cluster-coordinator.ts');
    new Coordinator(this);
    return this;
  }

  /** @internal Watches whether a process lives. */
  watch(task: Member, connection: Connection, beat: Beat): void {
    const { client, heartbeatSeconds } = this.cluster;
    this.#watched.set(connection.name, connection);
    client.watch(memberName(task), parseAddress(task.address).host, beat, heartbeatSeconds);
  }
  readonly #watched = new Map<string, Connection>();

  #onSilent(name: string, seconds: number): void {
    this.#watched
      .get(name)
      ?.fail(new UnavailableError(`${name} is lost: it has been silent for ${seconds} s`));
  }

  /** Says to all servers that the program has ended, so that their `join` returns, and closes the connections. */
  async close(): Promise<void> {
    const cluster = this.#cluster;
    if (cluster === undefined) return;
    this.#cluster = undefined;
    this.servers.link = undefined;
    this.onClose?.();
    const all = [...this.#watched.values()];
    await Promise.allSettled(
      all.filter(({ isOpen }) => isOpen).map((connection) => connection.ask({ kind: 'end' })),
    );
    for (const connection of all) connection.close();
    cluster.client.close();
  }
  /** @internal */
  onClose: (() => void) | undefined;

  /** @internal */
  override createVariable(request: VariableRequest): Variable {
    const { beside } = distribution;
    if (beside instanceof ServedVariable)
      return ServedVariable.restored(() => this.servers.create(request, beside));
    const { value } = request;
    const sizes = partsBy(this.#partitioner, value.shape, value.dtype);
    if (sizes.length === 1) return ServedVariable.restored(() => this.servers.create(request, null));
    const parts = split(value, [...sizes]) as readonly Tensor[];
    return ServedVariable.restored(() => {
      const shards = parts.map((part, i) =>
        this.servers.create({ ...request, value: part, name: `${request.name}/part_${i}` }, null),
      );
      return new ShardedVariable(request, shards, this.servers);
    });
  }

  /** A dataset of what a function makes for each worker: their elements follow each other in turns. */
  override distributeDatasetsFromFunction<T>(
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
  override distributeDatasetsFromFunction(datasetFn: unknown, given?: unknown): DistributedDataset {
    const op = 'strategy.distributeDatasetsFromFunction';
    checkFunction(datasetFn as () => unknown, 'datasetFn', op);
    const options = inputOptionsOf(given, op);
    if (options.experimentalReplicationMode === 'PER_REPLICA')
      throw new UnimplementedError(
        "a worker is one replica, and has one dataset: use the replication mode 'PER_WORKER'",
        op,
      );
    const { numReplicasInSync } = this;
    const numInputPipelines = this.clusterResolver.clusterSpec().numTasks('worker');
    const datasets = Array.from({ length: numInputPipelines }, (_, inputPipelineId) =>
      datasetOf(datasetFn, { numInputPipelines, inputPipelineId, numReplicasInSync }, op),
    );
    const all = (
      datasets.length === 1
        ? datasets[0]
        : Dataset.chooseFromDatasets(datasets, Dataset.range(numInputPipelines).repeat() as never, {
            stopOnEmptyDataset: false,
          })
    ) as Dataset<unknown>;
    const ahead = options.experimentalPerReplicaBufferSize;
    return new DistributedDataset([ahead === 1 ? all : all.prefetch(ahead)], {
      perStep: 1,
      take: ([batch]) => batch,
      anyHas: null,
      none: () => undefined,
    });
  }
}
takesArguments<ParameterServerOptions>(
  {
    positional: ['clusterResolver', 'variablePartitioner'],
    required: 0,
    names: { clusterResolver: true, variablePartitioner: true },
  },
  ParameterServerStrategy,
);
defineMethods(ParameterServerStrategy.prototype, 'ParameterServerStrategy', {
  connect: { positional: [], options: { timeoutSeconds: true, heartbeatSeconds: true, token: true } },
  distributeDatasetsFromFunction: { positional: ['datasetFn', 'options'], required: 1, objects: ['options'] },
});

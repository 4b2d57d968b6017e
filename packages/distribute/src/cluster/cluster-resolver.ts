// What tells a process who takes part, and which of them it is.
import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, shown, takesArguments } from '@eagre/core/internal';
import { type ClusterDef, ClusterSpec, type Member, type TaskType } from './cluster-spec.ts';
import { checkTask, mpiConfig, parseTFConfig, slurmConfig, type TaskConfig } from './tf-config.ts';

/** Base of what tells a process its cluster and its task. */
export abstract class ClusterResolver {
  /** The addresses of all tasks; without any where the process is alone. */
  abstract clusterSpec(): ClusterSpec;
  /** What this process does; null where it is alone. */
  abstract get taskType(): TaskType | null;
  /** Its place among the tasks of its type. */
  abstract get taskId(): number | null;
}

class KnownResolver extends ClusterResolver {
  readonly #config: TaskConfig;
  constructor(config: TaskConfig) {
    super();
    this.#config = config;
  }
  override clusterSpec(): ClusterSpec {
    return this.#config.cluster;
  }
  override get taskType(): TaskType | null {
    return this.#config.type;
  }
  override get taskId(): number | null {
    return this.#config.index;
  }
}

interface TFConfigOptions {
  /** Instead of what `TF_CONFIG` says. */
  readonly taskType?: TaskType | null;
  /** The number of the task among those of its type, instead of what `TF_CONFIG` says. */
  readonly taskId?: number | null;
}

/** Reads the variable `TF_CONFIG`, as TensorFlow's. */
export class TFConfigClusterResolver extends KnownResolver {
  /** @throws InvalidArgumentError for a variable that is no JSON, or has a task that is not in its cluster */
  constructor(...args: [options?: TFConfigOptions | null]) {
    const { taskType, taskId } = argumentsOf<TFConfigOptions>(TFConfigClusterResolver, new.target, args);
    const found = parseTFConfig(globalThis.process?.env['TF_CONFIG']);
    const given = (taskType ?? null) !== null || (taskId ?? null) !== null;
    super(given ? checkTask(found.cluster, taskType ?? found.type, taskId ?? found.index) : found);
  }
}
takesArguments<TFConfigOptions>({ names: { taskType: true, taskId: true } }, TFConfigClusterResolver);

interface SimpleOptions {
  /** The addresses of all tasks: `{ worker: ['host:port', …] }`. */
  readonly clusterSpec: ClusterSpec | ClusterDef;
  /** What this process does. */
  readonly taskType: TaskType;
  /** Which task of its type this process is, from 0 on. */
  readonly taskId: number;
}

/** A cluster that the program itself names. */
export class SimpleClusterResolver extends KnownResolver {
  /** @param clusterSpec a ClusterSpec, or addresses by task types: `{ worker: ['host:port', …] }` */
  constructor(
    ...args: [
      clusterSpec: ClusterSpec | ClusterDef | SimpleOptions,
      options?: {
        /** What this process does. */
        readonly taskType: TaskType;
        /** Which task of its type this process is, from 0 on. */
        readonly taskId: number;
      },
    ]
  ) {
    const { clusterSpec, taskType, taskId } = argumentsOf<SimpleOptions>(
      SimpleClusterResolver,
      new.target,
      args,
    );
    const cluster = clusterSpec instanceof ClusterSpec ? clusterSpec : new ClusterSpec(clusterSpec);
    super(checkTask(cluster, taskType, taskId));
  }
}
takesArguments<SimpleOptions>(
  { positional: ['clusterSpec'], names: { clusterSpec: true, taskType: true, taskId: true } },
  SimpleClusterResolver,
);

interface SlurmArguments {
  /** How many tasks of each type there are, in the order of ranks: `{ worker: 4 }`. */
  readonly jobs?: { readonly [type in TaskType]?: number } | null;
  /** The port of the first task on a node, 8888 by default; the others follow. */
  readonly portBase?: number | null;
}

/** Reads what Slurm's `srun` tells each process. */
export class SlurmClusterResolver extends KnownResolver {
  /** @throws InvalidArgumentError outside of a Slurm step */
  constructor(...args: [options?: SlurmArguments | null]) {
    const name = 'SlurmClusterResolver';
    const { jobs, portBase } = argumentsOf<SlurmArguments>(SlurmClusterResolver, new.target, args);
    const port = portBase ?? 8888;
    if (!Number.isInteger(port) || port < 1 || port > 65535)
      throw new InvalidArgumentError(`portBase must be a port, got ${shown(portBase)}`, name);
    const found = slurmConfig(globalThis.process?.env ?? {}, {
      portBase: port,
      ...((jobs ?? null) === null ? {} : { jobs: jobs as NonNullable<typeof jobs> }),
    });
    if (found === undefined)
      throw new InvalidArgumentError(
        'SLURM_PROCID and SLURM_STEP_NODELIST are not set: start the program by srun',
        name,
      );
    super(found);
  }
}
takesArguments<SlurmArguments>({ names: { jobs: true, portBase: true } }, SlurmClusterResolver);

/** What the environment says: `TF_CONFIG`, or else the variables of `mpiexec`. */
export function resolverOfEnvironment(): ClusterResolver {
  const env = globalThis.process?.env ?? {};
  const mpi = (env['TF_CONFIG'] ?? '') === '' ? mpiConfig(env) : undefined;
  return mpi === undefined ? new TFConfigClusterResolver() : new KnownResolver(mpi);
}

/** The processes of a synchronous strategy in the order of ranks, and the rank of this one. */
export function placeOf(resolver: ClusterResolver): {
  readonly members: readonly Member[];
  readonly rank: number;
} {
  const { members } = resolver.clusterSpec();
  const { taskType, taskId } = resolver;
  const rank = members.findIndex(({ type, index }) => type === taskType && index === taskId);
  // Alone, or an evaluator.
  return rank < 0 ? { members: [{ type: 'worker', index: 0, address: '' }], rank: 0 } : { members, rank };
}

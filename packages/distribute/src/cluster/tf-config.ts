// `TF_CONFIG` and the variables of launchers.
import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import { type ClusterDef, ClusterSpec, type TaskType } from './cluster-spec.ts';

/** What a process is in a cluster. */
export interface TaskConfig {
  /** Empty where the process is alone. */
  readonly cluster: ClusterSpec;
  readonly type: TaskType | null;
  readonly index: number | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What the variable `TF_CONFIG` says: `{"cluster": {"worker": ["host:port", …]}, "task": {"type": "worker", "index": 0}}`.
 * @throws InvalidArgumentError for another text, and for a task that is not in the cluster
 */
export function parseTFConfig(text: string | undefined): TaskConfig {
  if (text === undefined || text.trim() === '') return alone;
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (cause) {
    throw new InvalidArgumentError(`TF_CONFIG is not JSON: ${(cause as Error).message}`, undefined, {
      cause,
    });
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new InvalidArgumentError(`TF_CONFIG must be an object, got ${shown(config)}`);
  const { cluster = {}, task } = config as {
    cluster?: ClusterDef;
    task?: { type?: unknown; index?: unknown };
  };
  const spec = new ClusterSpec(cluster);
  if (Object.keys(spec.jobs).length === 0) return alone;
  if (typeof task !== 'object' || task === null)
    throw new InvalidArgumentError(
      `TF_CONFIG has a cluster, so it needs "task": {"type": …, "index": …}; got ${shown(task)}`,
    );
  const index = typeof task.index === 'string' && /^\d+$/.test(task.index) ? Number(task.index) : task.index;
  return checkTask(spec, task.type ?? null, index ?? 0);
}

/** @throws InvalidArgumentError for a task that is not in the cluster */
export function checkTask(cluster: ClusterSpec, type: unknown, index: unknown): TaskConfig {
  const known = ['chief', 'worker', 'ps', 'evaluator'];
  if (typeof type !== 'string' || !known.includes(type))
    throw new InvalidArgumentError(`taskType must be one of ${known.join(', ')}; got ${shown(type)}`);
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0)
    throw new InvalidArgumentError(`taskId must be an integer from 0, got ${shown(index)}`);
  // An evaluator need not be listed: nobody calls it.
  const tasks = cluster.numTasks(type as TaskType) || (type === 'evaluator' ? 1 : 0);
  if (index >= tasks)
    throw new InvalidArgumentError(
      tasks === 0
        ? `there is no ${type} in the cluster`
        : `the task is ${type} ${index}, but there are only ${tasks} in the cluster`,
    );
  return { cluster, type: type as TaskType, index };
}

const alone: TaskConfig = { cluster: new ClusterSpec({}), type: null, index: null };

/**
 * What `mpiexec` says of a process (PMI and Open MPI). It knows ranks but no addresses: `EAGRE_COORDINATOR` has that of rank 0, by
 * default a port of this machine. undefined where the process was not started so.
 */
export function mpiConfig(env: Environment): TaskConfig | undefined {
  const [rank, size] = [
    [env['OMPI_COMM_WORLD_RANK'], env['OMPI_COMM_WORLD_SIZE']],
    [env['PMI_RANK'], env['PMI_SIZE']],
  ].find(([r, s]) => r !== undefined && s !== undefined) ?? [undefined, undefined];
  if (rank === undefined || size === undefined) return undefined;
  const count = integerIn(size, 'the number of processes', 1);
  if (count === 1) return alone;
  const coordinator = env['EAGRE_COORDINATOR'] ?? '127.0.0.1:29400';
  const worker = [coordinator, ...Array.from({ length: count - 1 }, () => '')];
  return checkTask(new ClusterSpec({ worker }), 'worker', integerIn(rank, 'the rank', 0));
}

/** How tasks lie on the nodes of a Slurm step. */
export interface SlurmOptions {
  /** Of the first task on a node; the others follow. */
  readonly portBase?: number;
  /** How many tasks of each type there are, in the order of ranks; workers only by default. */
  readonly jobs?: { readonly [type in TaskType]?: number };
}

/** What `srun` says of a process; undefined where the process was not started so. @throws InvalidArgumentError */
export function slurmConfig(
  env: Environment,
  { portBase = 8888, jobs }: SlurmOptions = {},
): TaskConfig | undefined {
  const rank = env['SLURM_PROCID'];
  const nodes = env['SLURM_STEP_NODELIST'] ?? env['SLURM_JOB_NODELIST'] ?? env['SLURM_NODELIST'];
  if (rank === undefined || nodes === undefined) return undefined;
  const hosts = expandHostlist(nodes);
  const perNode = expandTasks(env['SLURM_STEP_TASKS_PER_NODE'] ?? env['SLURM_TASKS_PER_NODE'] ?? '1');
  if (perNode.length !== hosts.length && perNode.length !== 1)
    throw new InvalidArgumentError(`Slurm names ${hosts.length} nodes, but tasks for ${perNode.length}`);
  const addresses = hosts.flatMap((host, i) =>
    Array.from({ length: perNode[i] ?? (perNode[0] as number) }, (_, k) => `${host}:${portBase + k}`),
  );
  const counts = jobs ?? { worker: addresses.length };
  const total = Object.values(counts).reduce((a, b) => a + b, 0);
  if (total !== addresses.length)
    throw new InvalidArgumentError(`jobs have ${total} tasks, but Slurm has started ${addresses.length}`);
  const cluster: { [type in TaskType]?: readonly string[] } = {};
  let own: [TaskType, number] | undefined;
  let next = 0;
  const mine = integerIn(rank, 'SLURM_PROCID', 0);
  for (const [type, count] of Object.entries(counts) as [TaskType, number][]) {
    cluster[type] = addresses.slice(next, next + count);
    if (mine >= next && mine < next + count) own = [type, mine - next];
    next += count;
  }
  if (own === undefined)
    throw new InvalidArgumentError(`SLURM_PROCID is ${mine}, but there are ${total} tasks`);
  return checkTask(new ClusterSpec(cluster), ...own);
}

/** `n[1-3,05],login` is n1, n2, n3, n05, login. @throws InvalidArgumentError for another form */
export function expandHostlist(text: string): string[] {
  const parts = text.match(/(?:[^,[\]]|\[[^\]]*\])+/g) ?? [];
  const hosts = parts.flatMap((part) => {
    const [, before, ranges, after] = /^([^[\]]*)\[([^\]]*)\]([^[\]]*)$/.exec(part) ?? [];
    if (ranges === undefined) return [part];
    return ranges
      .split(',')
      .flatMap(rangeOf)
      .map((number) => `${before}${number}${after}`);
  });
  if (parts.join(',') !== text || hosts.length === 0 || hosts.some((host) => /[[\]\s]/.test(host)))
    throw new InvalidArgumentError(`a list of hosts such as node[1-3] was expected, got ${shown(text)}`);
  return hosts;

  function rangeOf(range: string): string[] {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    if (
      first === undefined ||
      last === undefined ||
      Number(last) < Number(first) ||
      Number(last) - Number(first) > 1e5
    )
      throw new InvalidArgumentError(`a list of hosts such as node[1-3] was expected, got ${shown(text)}`);
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) =>
      String(Number(first) + i).padStart(first.length, '0'),
    );
  }
}

/** `2(x3),1` is 2, 2, 2, 1. @throws InvalidArgumentError for another form */
export function expandTasks(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [, tasks, nodes = '1'] = /^(\d+)(?:\(x(\d+)\))?$/.exec(part.trim()) ?? [];
    if (tasks === undefined || Number(nodes) > 1e5)
      throw new InvalidArgumentError(`numbers of tasks such as 2(x3),1 were expected, got ${shown(text)}`);
    return Array.from({ length: Number(nodes) }, () => Number(tasks));
  });
}

function integerIn(text: string, what: string, least: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < least)
    throw new InvalidArgumentError(`${what} must be an integer from ${least}, got ${shown(text)}`);
  return value;
}

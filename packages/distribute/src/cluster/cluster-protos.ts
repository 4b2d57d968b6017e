// TensorFlow's messages that describe a cluster: `tf.train.ClusterDef` and its parts.
import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, shown, takesArguments } from '@eagre/core/internal';
import { ClusterSpec, type TaskType } from './cluster-spec.ts';

interface JobFields {
  /** What its tasks do: `worker`, `ps`, … */
  readonly name: string;
  /** The address of each task by its number: `{ 0: 'host:port' }`. */
  readonly tasks?: Readonly<Record<number, string>> | null;
}

/** The tasks of a job: addresses by numbers. */
export class JobDef {
  /** What its tasks do: `worker`, `ps`, … */
  readonly name: string;
  /** The address of each task by its number: `{ 0: 'host:port' }`. */
  readonly tasks: Readonly<Record<number, string>>;

  constructor(...args: [fields: JobFields]) {
    const { name, tasks } = argumentsOf<JobFields>(JobDef, new.target, args);
    if (typeof name !== 'string')
      throw new InvalidArgumentError(`name must be a text, got ${shown(name)}`, 'JobDef');
    this.name = name;
    this.tasks = { ...tasks };
  }
}
takesArguments<JobFields>({ names: { name: true, tasks: true } }, JobDef);

interface ClusterFields {
  /** The jobs; none by default. */
  readonly job?: readonly JobDef[] | null;
}

/** The jobs of a cluster. */
export class ClusterDef {
  /** The jobs. */
  readonly job: readonly JobDef[];

  constructor(...args: [fields?: ClusterFields | null]) {
    const given: unknown = argumentsOf<ClusterFields>(ClusterDef, new.target, args).job ?? [];
    if (!Array.isArray(given) || !given.every((job) => job instanceof JobDef))
      throw new InvalidArgumentError(`job must be a list of JobDef, got ${shown(given)}`, 'ClusterDef');
    this.job = [...(given as JobDef[])];
  }

  /** What the message says. @throws InvalidArgumentError as `ClusterSpec` does */
  toClusterSpec(): ClusterSpec {
    return new ClusterSpec(Object.fromEntries(this.job.map(({ name, tasks }) => [name, tasks])));
  }
  /** The message of a cluster: TensorFlow's `as_cluster_def`. */
  static fromClusterSpec(spec: ClusterSpec): ClusterDef {
    const job = Object.entries(spec.jobs).map(
      ([name, list]) => new JobDef({ name, tasks: Object.fromEntries(list.entries()) }),
    );
    return new ClusterDef({ job });
  }
}
takesArguments<ClusterFields>({ names: { job: true } }, ClusterDef);

interface ServerFields {
  /** All jobs of the cluster, this process's among them. */
  readonly cluster: ClusterDef;
  /** What this process does. */
  readonly jobName: TaskType;
  /** Which task of its job this process is; 0 by default. */
  readonly taskIndex?: number | null;
}

/** What one process is in a cluster: an argument of `tf.distribute.Server`. */
export class ServerDef {
  /** All jobs of the cluster, this process's among them. */
  readonly cluster: ClusterDef;
  /** What this process does. */
  readonly jobName: TaskType;
  /** Which task of its job this process is. */
  readonly taskIndex: number;

  constructor(...args: [fields: ServerFields]) {
    const { cluster, jobName, taskIndex } = argumentsOf<ServerFields>(ServerDef, new.target, args);
    if (!(cluster instanceof ClusterDef))
      throw new InvalidArgumentError(`cluster must be a ClusterDef, got ${shown(cluster)}`, 'ServerDef');
    this.cluster = cluster;
    this.jobName = jobName;
    this.taskIndex = taskIndex ?? 0;
  }
}
takesArguments<ServerFields>({ names: { cluster: true, jobName: true, taskIndex: true } }, ServerDef);

// Who takes part: the addresses of all processes by what they do, as TensorFlow's `TF_CONFIG` has it.
import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, defineMethods, shown, takesArguments } from '@eagre/core/internal';

/** What a process does. An evaluator stands outside: it takes part in no collective. */
export type TaskType = 'chief' | 'worker' | 'ps' | 'evaluator';
const taskTypes: readonly TaskType[] = ['chief', 'worker', 'ps', 'evaluator'];

/** The addresses (`host:port`) of the tasks of each type. */
export type ClusterDef = {
  readonly [type in TaskType]?: readonly string[] | Readonly<Record<number, string>>;
};

/** The addresses of a cluster. */
export class ClusterSpec {
  readonly jobs: { readonly [type in TaskType]?: readonly string[] };

  /** @throws InvalidArgumentError for unknown task types, no addresses, or more than one chief or evaluator */
  constructor(
    ...args: [
      cluster:
        | ClusterDef
        | {
            /** The addresses of all tasks: `{ worker: ['host:port', …] }`. */
            readonly cluster: ClusterDef;
          },
    ]
  ) {
    const { cluster } = argumentsOf<{ readonly cluster: ClusterDef }>(ClusterSpec, new.target, args);
    if (typeof cluster !== 'object' || cluster === null || Array.isArray(cluster))
      throw new InvalidArgumentError(
        `a cluster must be an object of task types, got ${shown(cluster)}`,
        'ClusterSpec',
      );
    const jobs: { [type in TaskType]?: readonly string[] } = {};
    for (const [type, given] of Object.entries(cluster)) {
      if (!taskTypes.includes(type as TaskType))
        throw new InvalidArgumentError(
          `unknown task type ${shown(type)}; there are ${taskTypes.join(', ')}`,
          'ClusterSpec',
        );
      jobs[type as TaskType] = addressesOf(given, type);
    }
    for (const type of ['chief', 'evaluator'] as const)
      if ((jobs[type]?.length ?? 0) > 1)
        throw new InvalidArgumentError(
          `a cluster has at most one ${type}, got ${jobs[type]?.length}`,
          'ClusterSpec',
        );
    this.jobs = jobs;
  }

  /** How many tasks of a type there are. */
  numTasks(type: TaskType): number {
    return this.jobs[type]?.length ?? 0;
  }
  /** The addresses of the tasks of a type. */
  jobTasks(type: TaskType): readonly string[] {
    return this.jobs[type] ?? [];
  }
  /** @internal The tasks of a type. */
  tasks(type: TaskType): readonly Member[] {
    return this.jobTasks(type).map((address, index) => ({ type, index, address }));
  }
  /** The numbers of the tasks of a type. */
  taskIndices(type: TaskType): readonly number[] {
    return this.jobTasks(type).map((_, index) => index);
  }
  /** The addresses by types. */
  asDict(): { readonly [type in TaskType]?: readonly string[] } {
    return { ...this.jobs };
  }
  /** @throws InvalidArgumentError where there is no such task */
  taskAddress(type: TaskType, index: number): string {
    const address = this.jobs[type]?.[index];
    if (address === undefined)
      throw new InvalidArgumentError(`there is no task ${type} ${index} in the cluster`, 'ClusterSpec');
    return address;
  }
  /** The processes of a synchronous strategy, in the order of ranks: the chief, if there is one, then the workers. */
  get members(): readonly Member[] {
    return [...this.tasks('chief'), ...this.tasks('worker')];
  }
  /** A text that is equal for equal clusters. */
  get key(): string {
    return JSON.stringify(taskTypes.map((type) => this.jobs[type] ?? []));
  }
}

takesArguments<{ readonly cluster: ClusterDef }>(
  { positional: ['cluster'], objects: ['cluster'], names: { cluster: true } },
  ClusterSpec,
);
defineMethods(ClusterSpec.prototype, 'ClusterSpec', {
  numTasks: { positional: ['type'] },
  jobTasks: { positional: ['type'] },
  tasks: { positional: ['type'] },
  taskIndices: { positional: ['type'] },
  taskAddress: { positional: ['type', 'index'] },
});

/** A process of a synchronous strategy. */
export interface Member {
  readonly type: TaskType;
  readonly index: number;
  /** `host:port`; empty where only the process itself knows. */
  readonly address: string;
}

/** How errors name a process. */
export const memberName = ({ type, index, address }: Member): string =>
  `${type} ${index}${address === '' ? '' : ` (${address})`}`;

function addressesOf(given: unknown, type: string): readonly string[] {
  const list =
    typeof given === 'object' && given !== null && !Array.isArray(given) ? sparseList(given, type) : given;
  if (!Array.isArray(list) || list.some((address) => typeof address !== 'string'))
    throw new InvalidArgumentError(
      `the tasks of ${type} must be a list of addresses, got ${shown(given)}`,
      'ClusterSpec',
    );
  for (const address of list as readonly string[]) if (address !== '') parseAddress(address);
  return Object.freeze([...(list as readonly string[])]);
}

/** `{ 0: address, 1: address }`. */
function sparseList(given: object, type: string): readonly unknown[] {
  const entries = Object.entries(given);
  const list = entries.map((_, i) => (given as Record<number, unknown>)[i]);
  if (list.includes(undefined))
    throw new InvalidArgumentError(
      `the tasks of ${type} must be numbered from 0, got ${entries.map(([key]) => key).join(', ')}`,
      'ClusterSpec',
    );
  return list;
}

/** Host and port of `host:port` or `[address]:port`. @throws InvalidArgumentError for another text */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const [, v6, name, port] = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(address) ?? [];
  const host = v6 ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > 65535) {
    // `::1:4000` could be an address alone, too.
    const [, bare, last] = /^([0-9a-fA-F:.]*:[0-9a-fA-F:.]*(?:%\w+)?):(\d{1,5})$/.exec(address) ?? [];
    const hint = bare === undefined ? '' : `: an address of IPv6 needs brackets, such as [${bare}]:${last}`;
    throw new InvalidArgumentError(
      `an address must be host:port, got ${shown(address)}${hint}`,
      'ClusterSpec',
    );
  }
  return { host, port: Number(port) };
}

// What the other packages know of distribution strategies, which `@eagre/distribute` defines.
import type { Tensor } from '../tensor/tensor.ts';
import type { Variable } from '../tensor/variable.ts';
import { ambient } from './ambient.ts';

/** How the copies of a variable are kept equal. */
export const VariableSynchronization = {
  AUTO: 'AUTO',
  NONE: 'NONE',
  ON_WRITE: 'ON_WRITE',
  ON_READ: 'ON_READ',
} as const;
export type VariableSynchronization = keyof typeof VariableSynchronization;

/** How the values that replicas assign, or the copies that they have, become one value. */
export const VariableAggregation = {
  NONE: 'NONE',
  SUM: 'SUM',
  MEAN: 'MEAN',
  ONLY_FIRST_REPLICA: 'ONLY_FIRST_REPLICA',
} as const;
export type VariableAggregation = keyof typeof VariableAggregation;

/** A new variable under a strategy. */
export interface VariableRequest {
  readonly value: Tensor;
  readonly trainable: boolean;
  readonly name: string;
  readonly synchronization: VariableSynchronization;
  readonly aggregation: VariableAggregation;
}

/** What changes variables that live in other processes. */
export interface VariableHome {
  /** Makes variables in the scope of the strategy whose they are. */
  inScope<T>(fn: () => T): T;
  /**
   * Updates variables where they live, each by its gradient. `apply` computes the update of some of them, of their slots and of the counter
   * of steps; it is traced for each place.
   */
  update(
    gradients: readonly unknown[],
    variables: readonly Variable[],
    counter: Variable,
    apply: (gradients: readonly unknown[], variables: readonly Variable[]) => void,
  ): void;
}

/** A strategy as the packages below see it. */
export interface DistributionStrategy {
  readonly numReplicasInSync: number;
  /** Where the one replica of this process computes; null for several, each of which has a device of its own. */
  readonly device: string | null;
  /** Makes the variable of a `new Variable` in the strategy's scope. */
  createVariable(request: VariableRequest): Variable;
  /** Calls `fn` in each replica of this process, with its own of arguments that differ. @returns what each returned */
  runReplicas(fn: (...args: never[]) => unknown, args: readonly unknown[]): readonly unknown[];
  /** Whether this process is the first of several, which saves, or the only one. */
  readonly isChief: boolean;
  /** A tensor as the first of several processes has it. */
  share(value: Tensor): Tensor;
  /** What the replicas of all processes have, by that of this one's, joined along the first axis in their order. */
  joinRows(values: readonly Tensor[]): Tensor;
  /** Whether all of several processes say so; waits for them. */
  allAgree(yes: boolean): boolean;
  /** What each of several processes gives: as many numbers from all, in the order of ranks; waits for them. */
  numbersOfAll(own: readonly number[]): readonly (readonly number[])[];
  /** Calls a function that reads variables of metrics: what they are over all processes comes in one exchange, not in one for each. */
  readTogether<T>(variables: readonly Variable[], read: () => T): T;
  /** Whether there are processes beside this one, with replicas of their own. */
  readonly spansProcesses: boolean;
  /**
   * Compares facts, by name and each as JSON, with those of the other processes; waits for them. Notes may differ: what differs is printed.
   * @throws InvalidArgumentError in all processes, which says what differs and where
   */
  checkAlike(
    what: string,
    facts: Readonly<Record<string, string>>,
    notes: Readonly<Record<string, string>>,
  ): void;
  /** Batches that are arguments of `runReplicas` as they stand, where a source has or must have such; null elsewhere. */
  distributedBatches(source: unknown): (AsyncIterable<unknown> & { cardinality(): number }) | null;
  /** The rows of a batch that are this process's, where each of several has one replica; null where a batch is divided otherwise. */
  ownRows(rows: number): { readonly start: number; readonly size: number } | null;
  /** A structure of tensors, divided along their first axes: an argument of `runReplicas`. */
  splitBatch(batch: unknown): unknown;
  /** What has other processes take steps; undefined where this one takes them. */
  readonly scheduler?: StepScheduler;
  /** A dataset of what a function makes for each process that reads. */
  distributeDatasetsFromFunction(datasetFn: never): unknown;
}

/** Has other processes take steps of training. */
export interface StepScheduler {
  /** Sends a step to a process that is free; resolves when another one can be given, with what the step will have returned. */
  schedule(
    step: (...args: never[]) => unknown,
    args: readonly unknown[],
  ): Promise<{ fetch(): Promise<unknown> }>;
  /** Waits until all steps have been taken. @throws what one of them threw */
  join(): Promise<void>;
}

/** How processes divide the state of optimizers: each keeps that of some variables, and updates these. */
export interface StateSharding {
  /** Whether this process keeps the state of a variable, and updates it. */
  owns(variable: Variable): boolean;
  /** Gives variables, in all processes, the values that they have where they are updated. */
  gather(variables: readonly Variable[]): void;
}

/** The replica that runs now, as the packages below see it. */
export interface DistributionReplica {
  readonly strategy: DistributionStrategy;
  /** Its place among the replicas of this process. */
  readonly index: number;
  /** Its place among all replicas. */
  readonly replicaIdInSyncGroup: number;
  /** Whether variables are being updated by what all replicas gave: in `apply` of `applySummed`. */
  readonly isUpdating: boolean;
  /** How the state of optimizers is divided; null where each replica has all of it. */
  readonly sharding: StateSharding | null;
  /** Each tensor's sum over all replicas; gradients flow through it. */
  sum(values: readonly Tensor[]): readonly Tensor[];
  /** Runs code that writes the same in all replicas. */
  alike<T>(fn: () => T): T;
  /**
   * Calls `apply` with each gradient's sum over all replicas. What replicas do one after another waits until the last one has its gradients.
   * @throws InvalidArgumentError for a variable that was not made in the strategy's scope
   */
  applySummed(
    gradients: readonly Tensor[],
    variables: readonly Variable[],
    apply: (sums: readonly Tensor[]) => void,
  ): void;
  /** The same with each value's largest over all replicas, element by element. */
  applyLargest(
    values: readonly Tensor[],
    variables: readonly Variable[],
    apply: (largest: readonly Tensor[]) => void,
  ): void;
}

/** The strategy whose scope or replica the code runs in, and the replica. */
export const distribution: {
  strategy: DistributionStrategy | null;
  replica: DistributionReplica | null;
  /** The variable in whose place new ones are to live: slots of optimizers. */
  beside: Variable | null;
} = ambient(
  {
    strategy: null as DistributionStrategy | null,
    replica: null as DistributionReplica | null,
    beside: null as Variable | null,
  },
  ['strategy'],
);

/** Runs code that writes the same to variables in all replicas, since it computes with what they share. */
export function alikeInReplicas<T>(fn: () => T): T {
  return distribution.replica === null ? fn() : distribution.replica.alike(fn);
}

/** How many replicas compute the loss of a batch together. */
const replicasNow = (): number => distribution.strategy?.numReplicasInSync ?? 1;

/** A replica's mean loss as its share of the mean over all replicas, whose gradients are added up. */
export function scaleLoss(value: Tensor): Tensor {
  const count = replicasNow();
  return count === 1 ? value : value.mul(1 / count);
}

/** The mean loss of which `scaleLoss` made a share: what is reported. */
export function unscaleLoss(value: Tensor): Tensor {
  const count = replicasNow();
  return count === 1 ? value : value.mul(count);
}

// Types in a circle: a context knows its strategy, which makes it.
import { InvalidArgumentError } from '@eagre/backend';
import type { Tensor, TensorLike, Variable } from '@eagre/core';
import {
  argumentsOf,
  checkFunction,
  type DistributionReplica,
  defineMethods,
  normalizeAxis,
  type StateSharding,
  shown,
  takesArguments,
  toTensor,
  tree,
  within,
} from '@eagre/core/internal';
import type { Exchange } from '@eagre/graph';
import type { CollectiveOptions } from './collectives.ts';
import { type CommunicationOptions, collectiveOptions, gradientOptions } from './communication-options.ts';
import { gathering, largest, meet, reduction } from './exchanges.ts';
import { Merge, type MergeFunction } from './merging.ts';
import { MirroredVariable } from './mirrored-variable.ts';
import { type ReduceOp, reduceOpOf } from './reduce-op.ts';
import { alone, current, updating } from './run.ts';
import type { Strategy } from './strategy.ts';

/** Options of `ReplicaContext.allReduce` and `allGather`. */
export interface CollectiveCallOptions {
  /** How to carry it out; those of the strategy by default. */
  readonly options?: CommunicationOptions | null;
}

/** Arguments of `ReplicaContext`. */
export interface ReplicaContextArguments {
  /** The strategy that the replica belongs to. */
  readonly strategy: Strategy;
  /** Which replica it is, from 0 on. */
  readonly replicaIdInSyncGroup: number;
}

/** Tensors in arrays, maps and plain objects. */
export type TensorStructure =
  | TensorLike
  | readonly TensorStructure[]
  | { readonly [key: string]: TensorStructure };

/**
 * What code knows of the replica that it runs in: `tf.distribute.getReplicaContext()` inside of `strategy.run`.
 *
 * Its operations are done by all replicas together, in the same order. Outside of `tf.function` the replicas of one process run one after
 * another, so the result would not be known in time: there they throw a FailedPreconditionError, unless there is one replica in the process.
 */
export class ReplicaContext implements DistributionReplica {
  /** The strategy that the replica belongs to. */
  readonly strategy: Strategy;
  /** @internal Its place among the replicas of this process. */
  readonly index: number;

  /** Strategies make them. @throws InvalidArgumentError for a replica that the process does not have */
  constructor(
    ...args: [
      strategy: Strategy | ReplicaContextArguments,
      replicaIdInSyncGroup?: number | ReplicaContextArguments,
      options?: ReplicaContextArguments,
    ]
  ) {
    const op = 'ReplicaContext';
    const { strategy, replicaIdInSyncGroup } = argumentsOf<ReplicaContextArguments>(
      ReplicaContext,
      new.target,
      args,
    );
    if (!((strategy as unknown) instanceof Object) || !Array.isArray(strategy.replicaDevices))
      throw new InvalidArgumentError(`strategy must be a strategy, got ${shown(strategy)}`, op);
    this.strategy = strategy;
    this.index = replicaIdInSyncGroup - strategy.firstReplica;
    if (strategy.replicaDevices[this.index] === undefined)
      throw new InvalidArgumentError(
        `this process has no replica ${shown(replicaIdInSyncGroup)}; it has ${strategy.replicaDevices.length}, from ${strategy.firstReplica} on`,
        op,
      );
  }

  /** How many replicas there are, over all processes. */
  get numReplicasInSync(): number {
    return this.strategy.numReplicasInSync;
  }
  /** Which of them this is, from 0 on. */
  get replicaIdInSyncGroup(): number {
    return this.strategy.firstReplica + this.index;
  }
  /** The devices of the replica: one. */
  get devices(): readonly string[] {
    return [this.strategy.replicaDevices[this.index]];
  }

  /**
   * The sum or mean of each tensor over all replicas, of its shape. Gradients flow through it: that of a sum is the sum of the gradients.
   * @throws InvalidArgumentError where replicas give different shapes or structures
   */
  allReduce<T extends TensorStructure>(
    reduceOp: ReduceOp | Lowercase<ReduceOp>,
    value: T,
    options?: CollectiveCallOptions | null,
  ): Reduced<T>;
  allReduce(reduceOp: unknown, value: unknown, given?: unknown): unknown {
    const { options = null } = (given ?? {}) as CollectiveCallOptions;
    const name = 'ReplicaContext.allReduce';
    const op = reduceOpOf(reduceOp, name);
    return this.#structure(value, name, (tensors) =>
      meet(reduction(this.strategy, op, this.#options(options, `allReduce ${op}`)), tensors),
    );
  }

  /**
   * Each tensor of all replicas, joined along an axis in the order of replicas. The sizes of that axis may differ. Gradients flow through it.
   * @throws InvalidArgumentError for scalars, and shapes that differ in other axes
   */
  allGather<T extends TensorStructure>(
    value: T,
    axis: number,
    options?: CollectiveCallOptions | null,
  ): Reduced<T>;
  allGather(value: unknown, axis: unknown, given?: unknown): unknown {
    const { options = null } = (given ?? {}) as CollectiveCallOptions;
    const name = 'ReplicaContext.allGather';
    return this.#structure(value, name, (tensors) =>
      tensors.map((t) => {
        if (t.rank === 0) throw new InvalidArgumentError('scalars have no axis to join along', name);
        const at = normalizeAxis(axis as number, t.rank, name);
        return meet(gathering(this.strategy, at, this.#options(options, `allGather ${at}`)), [t])[0];
      }),
    );
  }

  /**
   * Calls `mergeFn(strategy, ...args)` once, outside of all replicas, with a `PerReplica` in the place of each tensor: for what needs the values of all
   * replicas, such as `strategy.reduce` and `strategy.extended.update`. All replicas must call it at the same place. What is no tensor is that of the
   * first replica. In `tf.function`, `mergeFn` is traced more than once.
   * @returns each replica's part of what `mergeFn` returns
   * @throws FailedPreconditionError outside of `tf.function`, where the process has several replicas
   */
  mergeCall<A extends readonly unknown[], R>(
    mergeFn: (strategy: Strategy, ...args: A) => R,
    options?: {
      /** The arguments of the function behind the strategy; none by default. */
      readonly args?: readonly unknown[];
    } | null,
  ): R;
  mergeCall(mergeFn: unknown, given?: unknown): unknown {
    const name = 'ReplicaContext.mergeCall';
    const { args = [] } = (given ?? {}) as { readonly args?: unknown };
    checkFunction(mergeFn as () => unknown, 'mergeFn', name);
    if (!Array.isArray(args))
      throw new InvalidArgumentError(`args must be a list of arguments, got ${shown(args)}`, name);
    const merge = new Merge(this.strategy, mergeFn as MergeFunction, args);
    return merge.result(this.index, meet(merge.exchange, merge.tensors));
  }

  /** @internal */
  get isUpdating(): boolean {
    return current.run === updating;
  }

  /** @internal */
  get sharding(): StateSharding | null {
    return this.strategy.sharding;
  }

  /** @internal */
  sum(values: readonly Tensor[]): readonly Tensor[] {
    if (values.length === 0) return values;
    return meet(reduction(this.strategy, 'SUM', this.#options(null, 'sum')), values);
  }

  /** @internal */
  alike<T>(fn: () => T): T {
    return within(current, { run: updating }, fn);
  }

  /** @internal */
  applySummed(
    gradients: readonly Tensor[],
    variables: readonly Variable[],
    apply: (sums: readonly Tensor[]) => void,
  ): void {
    const options = {
      ...gradientOptions(this.strategy.communicationOptions, 'applyGradients'),
      labels: () => variables.map(({ path }) => path),
    };
    this.#applyLater(reduction(this.strategy, 'SUM', options), gradients, variables, apply);
  }

  /** @internal */
  applyLargest(
    values: readonly Tensor[],
    variables: readonly Variable[],
    apply: (results: readonly Tensor[]) => void,
  ): void {
    this.#applyLater(largest(this.strategy, this.#options(null, 'largest')), values, variables, apply);
  }

  #applyLater(
    exchange: Exchange,
    values: readonly Tensor[],
    variables: readonly Variable[],
    apply: (results: readonly Tensor[]) => void,
  ): void {
    for (const variable of variables)
      if (!(variable instanceof MirroredVariable) || variable.strategy !== this.strategy)
        throw new InvalidArgumentError(
          `the variable '${variable.path}' was not made in the scope of the strategy whose replicas update it: make the model in strategy.scope(…)`,
          'applyGradients',
        );
    const { run } = this;
    run.later(exchange, values, (results) => within(current, { run: updating }, () => apply(results)));
    for (const variable of variables) if (variable instanceof MirroredVariable) variable.waitFor(run);
  }

  /** @internal */
  get run(): NonNullable<typeof current.run> {
    return current.run ?? alone;
  }

  #structure(
    value: unknown,
    op: string,
    compute: (tensors: readonly Tensor[]) => readonly Tensor[],
  ): unknown {
    const tensors = tree.leavesOf(value, op).map((leaf) => toTensor(leaf as TensorLike));
    if (tensors.length === 0) return value;
    return tree.pack(value, compute(tensors), op);
  }

  #options(given: CommunicationOptions | null, name: string): CollectiveOptions {
    return collectiveOptions(given ?? this.strategy.communicationOptions, name);
  }
}

/** The tensors that come of a structure. */
export type Reduced<T> = T extends Tensor | Variable | number | bigint | boolean | string
  ? Tensor
  : T extends readonly unknown[]
    ? { [K in keyof T]: Reduced<T[K]> }
    : T extends object
      ? { [K in keyof T]: Reduced<T[K]> }
      : Tensor;

takesArguments<ReplicaContextArguments>(
  {
    positional: ['strategy', 'replicaIdInSyncGroup'],
    names: { strategy: true, replicaIdInSyncGroup: true },
  },
  ReplicaContext,
);
defineMethods(ReplicaContext.prototype, 'ReplicaContext', {
  allReduce: { positional: ['reduceOp', 'value'], objects: ['value'], options: { options: true } },
  allGather: { positional: ['value', 'axis'], objects: ['value'], options: { options: true } },
  mergeCall: { positional: ['mergeFn'], options: { args: true } },
});

import type { Tensor } from '@eagre/core';

/** How 32-bit floats travel: as they are, or rounded to 16 bits. */
export type Compression = 'NONE' | 'BFLOAT16';

/**
 * What the processes of a strategy do together. All processes call the same operations in the same order, with as many tensors of the same
 * dtypes. Values of the replicas of this process are combined before, so that each process takes part once.
 *
 * While `tf.function` traces, the tensors are symbolic: an implementation writes its operation into the graph, as an op or by
 * `tf.experimental.hostFunction`, so that each run performs it. Gradients are the caller's work: no implementation has to be differentiable.
 */
export interface Collectives {
  /** How many processes take part, and which one this is. */
  readonly size: number;
  readonly rank: number;
  /** How errors name a process. */
  nameOf(rank: number): string;
  /** Each tensor's sum over the processes, of its shape. */
  allReduce(values: readonly Tensor[], options: CollectiveOptions): readonly Tensor[];
  /**
   * Each tensor's values of all processes, joined along the first axis in the order of ranks. The sizes of that axis may differ, the others
   * are the same. No tensor is a scalar.
   */
  allGather(values: readonly Tensor[], options: CollectiveOptions): readonly Tensor[];
  /** Each tensor's value of the process whose rank `owners` has at its place. */
  fromOwners(
    values: readonly Tensor[],
    owners: readonly number[],
    options: CollectiveOptions,
  ): readonly Tensor[];
  /** Each tensor's value of the process of rank 0. */
  broadcast(values: readonly Tensor[], options: CollectiveOptions): readonly Tensor[];
}

/** How an operation is carried out. */
export interface CollectiveOptions {
  /** What the operation is for, the same in all processes: a name in errors and graphs. */
  readonly name: string;
  /** How long to wait for the other processes; as long as it takes by default. */
  readonly timeoutSeconds?: number | null;
  /** About how many bytes go in one message; 0 leaves it to the implementation. */
  readonly bytesPerPack?: number;
  /** What each value belongs to, in words for errors: names of variables, which need not be alike in all processes. */
  readonly labels?: () => readonly string[];
  /**
   * Whether the values are gradients, in the order of their variables: they are reduced in buckets, the last first, and in a graph while what
   * the other buckets need is still being computed.
   */
  readonly gradients?: boolean;
  /** How floats of gradients travel: as they are by default. */
  readonly compression?: Compression;
}

/** Those of one process alone. */
export const oneProcess: Collectives = {
  size: 1,
  rank: 0,
  nameOf: () => 'this process',
  allReduce: (values) => values,
  allGather: (values) => values,
  broadcast: (values) => values,
  fromOwners: (values) => values,
};

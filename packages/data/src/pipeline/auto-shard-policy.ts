// How processes divide a dataset.

/** For `shard`: the numbers that a distribution strategy puts there, with the policy `'HINT'`. */
export const SHARD_HINT = -1;

/**
 * How processes of a distribution strategy divide a dataset. `FILE`: each reads some of the files. `DATA`: each reads all, and takes its part of
 * every batch. `AUTO`: `FILE` where the dataset reads files, `DATA` elsewhere. `HINT`: `shard(SHARD_HINT, SHARD_HINT)` says where. `OFF`: each has all elements.
 */
export const AutoShardPolicy = {
  AUTO: 'AUTO',
  FILE: 'FILE',
  DATA: 'DATA',
  HINT: 'HINT',
  OFF: 'OFF',
} as const;
export type AutoShardPolicy = keyof typeof AutoShardPolicy;

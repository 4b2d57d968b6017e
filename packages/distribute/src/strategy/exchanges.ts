// What replicas do together.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { concat, device, maximum, split, type Tensor, transpose } from '@eagre/core';
import {
  addDims,
  type Dim,
  dims,
  identicalDims,
  isFloating,
  mulDims,
  sameShape,
  showShape,
  subDims,
  toShape,
} from '@eagre/core/internal';
import type { Exchange, ExchangeSpec } from '@eagre/graph';
import type { CollectiveOptions, Collectives } from './collectives.ts';
import type { CrossDeviceOps } from './cross-device-ops.ts';
import type { ReduceOp } from './reduce-op.ts';
import { alone, current } from './run.ts';

/** Who takes part. */
export interface Group {
  readonly collectives: Collectives;
  readonly numReplicasInSync: number;
  readonly crossDeviceOps: CrossDeviceOps | null;
  /** The devices of this process's replicas. */
  readonly replicaDevices: readonly string[];
  /** The place of this process's first replica among all. */
  readonly firstReplica: number;
}

/** The sum of tensors in their order. @throws InvalidArgumentError for different shapes */
export function sumOf(
  tensors: readonly Tensor[],
  op: string,
  { crossDeviceOps, replicaDevices }: Partial<Pick<Group, 'crossDeviceOps' | 'replicaDevices'>> = {},
): Tensor {
  checkAlike(tensors, op);
  return crossDeviceOps?.sum(tensors, replicaDevices ?? []) ?? tensors.reduce((a, b) => a.add(b));
}

function checkAlike(tensors: readonly Tensor[], op: string): void {
  const [first] = tensors;
  for (const [i, t] of tensors.entries())
    if (!sameShape(dims(t), dims(first)))
      throw new InvalidArgumentError(
        `replica 0 gives a tensor of shape ${showShape(first.shape)} and replica ${i} one of ${showShape(t.shape)}`,
        op,
      );
}

/** The sums of the values of this process's replicas, for each of them. */
function sumsOf(
  given: readonly (readonly Tensor[])[],
  op: string,
  group: Group,
): readonly (readonly Tensor[])[] {
  const { crossDeviceOps, replicaDevices } = group;
  const columns = given[0].map((_, i) => given.map((values) => values[i]));
  if (crossDeviceOps === null) {
    const sums = columns.map((tensors) => sumOf(tensors, op));
    return shared(given, sums);
  }
  for (const tensors of columns) checkAlike(tensors, op);
  return crossDeviceOps.allReduce(given, replicaDevices, op);
}

/** The mean, given the sum of `count` values; of integers in float64, as in TensorFlow. */
export function meanOf(sum: Tensor, count: number): Tensor {
  return (isFloating(sum.dtype) || sum.dtype.startsWith('complex') ? sum : sum.cast('float64')).div(count);
}

/** What replicas do together runs on the device of the first. */
function onFirst(group: Group, combine: Exchange['combine']): Exchange['combine'] {
  return (given) => device(group.replicaDevices[0], () => combine(given));
}

const shared = <T>(given: readonly unknown[], values: T): readonly T[] => given.map(() => values);

/** Sum or mean over all replicas. */
export function reduction(group: Group, op: ReduceOp, options: CollectiveOptions): Exchange {
  const { name } = options;
  const exchange: Exchange = {
    name,
    specs: (given, index) =>
      given[index].map(({ dtype, shape }) => ({
        dtype: op === 'MEAN' && !isFloating(dtype) && !dtype.startsWith('complex') ? 'float64' : dtype,
        shape,
      })),
    combine: onFirst(group, (given) => {
      const { collectives, replicaDevices, numReplicasInSync } = group;
      const local = sumsOf(given, name, group);
      const sums = collectives.size === 1 ? local : shared(given, collectives.allReduce(local[0], options));
      if (op === 'SUM') return sums;
      const means = new Map<readonly Tensor[], readonly Tensor[]>();
      sums.forEach((own, i) => {
        if (!means.has(own))
          means.set(
            own,
            device(replicaDevices[i], () => own.map((sum) => meanOf(sum, numReplicasInSync))),
          );
      });
      return sums.map((own) => means.get(own) as readonly Tensor[]);
    }),
    gradient: (dys) => meet(exchange, dys),
  };
  return exchange;
}

/** The largest of each element over all replicas. */
export function largest(group: Group, options: CollectiveOptions): Exchange {
  const { collectives } = group;
  return {
    name: options.name,
    specs: (given, index) => given[index],
    combine: onFirst(group, (given) => {
      const local = given[0].map((_, i) => {
        const values = given.map((each) => each[i]);
        checkAlike(values, options.name);
        return values.reduce((a, b) => maximum(a, b));
      });
      if (collectives.size === 1) return shared(given, local);
      const all = collectives.allGather(
        local.map((x) => x.expandDims(0)),
        options,
      );
      return shared(
        given,
        all.map((x) => x.max(0)),
      );
    }),
  };
}

/** The values of all replicas side by side. */
export function gathering(group: Group, axis: number, options: CollectiveOptions): Exchange {
  const { name } = options;
  const { collectives } = group;
  const specs = (given: readonly (readonly ExchangeSpec[])[], index: number): readonly ExchangeSpec[] =>
    given[index].map(({ dtype, shape }, i) => {
      const local = given.map((values) => values[i].shape[axis]).reduce(addDims);
      return {
        dtype,
        shape: shape.map((d, at): Dim => (at === axis ? mulDims(local, collectives.size) : d)),
      };
    });
  return {
    name,
    specs,
    combine: onFirst(group, (given) => {
      const local = given[0].map((_, i) =>
        concat(
          given.map((values) => values[i]),
          axis,
        ),
      );
      const all =
        collectives.size === 1
          ? local
          : collectives
              .allGather(
                local.map((t) => toFront(t, axis)),
                options,
              )
              .map((t) => toFront(t, axis));
      return given.map(() => all);
    }),
    gradient(dys, given, index) {
      const sums = meet(reduction(group, 'SUM', options), dys);
      return sums.map((sum, i) => {
        const own = given.map((values) => values[i].shape[axis]);
        if (collectives.size === 1) return split(sum, toShape(own), axis)[index];
        const all = dims(sum)[axis];
        if (!own.every((d) => identicalDims(mulDims(d, group.numReplicasInSync), all)))
          throw new UnimplementedError('the gradient needs values of the same shape in all processes', name);
        const before = mulDims(own[index], group.firstReplica + index);
        const behind = subDims(subDims(all, before), own[index]);
        return split(sum, toShape([before, own[index], behind]), axis)[1];
      });
    },
  };
}

/** A tensor with two axes exchanged: its first, and `axis`. */
function toFront(t: Tensor, axis: number): Tensor {
  if (axis === 0) return t;
  const order = t.shape.map((_, i) => (i === 0 ? axis : i === axis ? 0 : i));
  return transpose(t, order);
}

/** The values of the first replica of this process. */
export function ofFirst(name: string): Exchange {
  return {
    name,
    specs: (given) => given[0],
    combine: (given) => given.map(() => given[0]),
  };
}

/** What this replica gets from what all give. */
export function meet(exchange: Exchange, values: readonly Tensor[]): readonly Tensor[] {
  return (current.run ?? alone).exchange(exchange, values);
}

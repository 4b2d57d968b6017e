import { InvalidArgumentError } from '@eagre/backend';
import { Tensor, Variable } from '@eagre/core';
import {
  argumentsOf,
  CompositeTensor,
  showInConsole,
  shown,
  takesArguments,
  tree,
} from '@eagre/core/internal';

/** A value for each replica of this process. `strategy.run` gives each replica its own. */
export class DistributedValues<T = unknown> extends CompositeTensor {
  /** One for each replica of this process, in their order. */
  readonly values: readonly T[];

  constructor(
    ...args: [
      values:
        | readonly T[]
        | {
            /** One for each replica. */
            readonly values: readonly T[];
          },
    ]
  ) {
    super();
    const { values } = argumentsOf<{ readonly values: readonly T[] }>(DistributedValues, new.target, args);
    if (!Array.isArray(values) || values.length === 0)
      throw new InvalidArgumentError(
        `values must be a list with a value for each replica, got ${shown(values)}`,
        new.target.name,
      );
    this.values = Object.freeze([...values]);
  }

  override get parts(): readonly unknown[] {
    return this.values;
  }
  override get partNames(): readonly string[] {
    return this.values.map((_, i) => `${i}`);
  }
  override get facts(): string {
    return `${this.constructor.name}(${this.values.length})`;
  }
  override withParts(parts: readonly unknown[]): unknown {
    return new (this.constructor as new (values: readonly unknown[]) => unknown)(parts);
  }
  override get advice(): string {
    return 'it has a value for each replica: give it to strategy.run, or take strategy.reduce or strategy.experimentalLocalResults of it';
  }
  override dispatch(): unknown {
    return undefined;
  }

  /** `PerReplica { 0: …, 1: … }`, as TensorFlow shows it. */
  override toString(): string {
    const lines = this.values.map((value, i) => `  ${i}: ${text(value)}`);
    return `${this.constructor.name}:{\n${lines.join(',\n')}\n}`;
  }
}
takesArguments<{ readonly values: readonly unknown[] }>(
  { positional: ['values'], names: { values: true } },
  DistributedValues,
);
showInConsole(DistributedValues.prototype, (v: DistributedValues) => v.toString());

const text = (value: unknown): string =>
  value instanceof Variable ? value.describe() : value instanceof Tensor ? value.toString() : shown(value);

/** Values that differ between replicas. */
export class PerReplica<T = unknown> extends DistributedValues<T> {}

/** Values that are the same for all replicas, each on its device. */
export class Mirrored<T = unknown> extends DistributedValues<T> {}

/** The structure that one replica gets of arguments. */
export function ofReplica(value: unknown, index: number, op: string): unknown {
  const own = (leaf: unknown): unknown => {
    if (!(leaf instanceof DistributedValues)) return leaf;
    if (index >= leaf.values.length)
      throw new InvalidArgumentError(
        `a value for ${leaf.values.length} replicas was given to a strategy with more of them`,
        op,
      );
    return leaf.values[index];
  };
  return tree.mapLeaves(value, op, own, tree.wholeComposites);
}

/**
 * What replicas returned, as one structure: a `PerReplica` in the place of each leaf, or the leaf itself where there is one replica.
 * @throws InvalidArgumentError where replicas returned different structures
 */
export function regroup(results: readonly unknown[], op: string): unknown {
  if (results.length === 1) return results[0];
  results.forEach((other, i) => {
    tree.forEachPair(
      results[0],
      other,
      op,
      (_, value) => {
        if (tree.isContainer(value)) throw differ(results, i, op);
      },
      () => {
        throw differ(results, i, op);
      },
    );
  });
  const [first, ...others] = results.map((result) => tree.leavesOf(result, op, tree.wholeComposites));
  const grouped = (_: unknown, at: number): unknown => {
    const values = [first[at], ...others.map((leaves) => leaves[at])];
    const one = values[0];
    // A variable of the strategy is the same for all.
    const isShared = one === undefined || (one instanceof Variable && values.every((value) => value === one));
    return isShared ? one : new PerReplica(values);
  };
  return tree.mapLeaves(results[0], op, grouped, tree.wholeComposites);
}

function differ(results: readonly unknown[], index: number, op: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `replicas must return the same structure, but replica 0 returned ${shown(results[0])} and replica ${index} ${shown(results[index])}`,
    op,
  );
}

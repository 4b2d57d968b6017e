// Types in a circle: a merge runs a function of the strategy whose replicas meet.
import { type DType, UnimplementedError } from '@eagre/backend';
import { constant, Tensor } from '@eagre/core';
import { checkNoPromise, type Dims, dims, toShape, tree } from '@eagre/core/internal';
import { type Exchange, type ExchangeSpec, TensorSpec, tfFunction } from '@eagre/graph';
import type { Strategy } from './strategy.ts';
import { ofReplica, PerReplica } from './values.ts';

export type MergeFunction = (strategy: Strategy, ...args: never[]) => unknown;

/**
 * What `mergeCall` does: a function gets what all replicas give, and each replica gets its part of what that returns. While replicas are traced,
 * the function is traced for itself first, to know what it returns.
 */
export class Merge {
  readonly exchange: Exchange;
  /** The tensors among the arguments. */
  readonly tensors: readonly Tensor[];
  readonly #strategy: Strategy;
  readonly #fn: MergeFunction;
  readonly #args: readonly unknown[];
  /** What each replica gets: tensors stand for what comes in their place. */
  #results: readonly unknown[] = [];

  constructor(strategy: Strategy, fn: MergeFunction, args: readonly unknown[]) {
    this.#strategy = strategy;
    this.#fn = fn;
    this.#args = args;
    this.tensors = tensorsOf(args);
    this.exchange = {
      name: OP,
      specs: (given, index) => this.#specs(given, index),
      combine: (given) => {
        this.#call(given);
        return this.#results.map((result) => orMark(tensorsOf(result)));
      },
    };
  }

  /** What a replica gets, with these tensors in it. */
  result(index: number, tensors: readonly Tensor[]): unknown {
    let next = 0;
    return tree.mapLeaves(this.#results[index], OP, (leaf) =>
      leaf instanceof Tensor ? tensors[next++] : leaf,
    );
  }

  #call(given: readonly (readonly Tensor[])[]): void {
    let next = 0;
    const args = tree.mapLeaves(this.#args, OP, (leaf) => {
      if (!(leaf instanceof Tensor)) return leaf;
      const all = given.map((values) => values[next]);
      next++;
      return all.length === 1 ? all[0] : new PerReplica(all);
    }) as never[];
    const result = this.#strategy.crossReplica(() => this.#fn(this.#strategy, ...args));
    checkNoPromise(result, 'the function of mergeCall', OP);
    this.#results = given.map((_, i) => (given.length === 1 ? result : ofReplica(result, i, OP)));
  }

  #specs(given: readonly (readonly ExchangeSpec[])[], index: number): readonly ExchangeSpec[] {
    const specs = given.flat();
    const [{ length }] = given;
    const trial = tfFunction(
      (...tensors: Tensor[]) => {
        this.#call(given.map((_, i) => tensors.slice(i * length, (i + 1) * length)));
        return this.#results.map(tensorsOf);
      },
      { name: 'merge' },
    );
    trial.getConcreteFunction(
      ...(specs.map(({ dtype, shape }) => new TensorSpec(toShape(shape), dtype)) as never[]),
    );
    const tensors = tensorsOf(this.#results[index]);
    if (tensors.length === 0) return [{ dtype: 'int32', shape: [] }];
    return tensors.map((t) => ({ dtype: t.dtype as DType, shape: known(t, specs) }));
  }
}

const OP = 'ReplicaContext.mergeCall';

const tensorsOf = (value: unknown): readonly Tensor[] =>
  tree.leavesOf(value, OP).filter((leaf): leaf is Tensor => leaf instanceof Tensor);

/** The tensors or, where there are none, one that stands for the call: a graph leaves out what gives nothing. */
const orMark = (tensors: readonly Tensor[]): readonly Tensor[] =>
  tensors.length === 0 ? [constant(0, 'int32')] : tensors;

/** The dimensions of a result; those that are not known are those of an argument of the same shape. */
function known(result: Tensor, specs: readonly ExchangeSpec[]): Dims {
  const shape = toShape(dims(result)) as readonly (number | null)[];
  if (shape.every((d): d is number => typeof d === 'number')) return shape;
  const like = specs.find(
    (spec) =>
      spec.shape.length === shape.length &&
      spec.shape.every((d, i) => (shape[i] === null ? typeof d !== 'number' : d === shape[i])),
  );
  if (like !== undefined) return like.shape;
  throw new UnimplementedError(
    `it returns a tensor of shape [${shape.join(', ')}], whose size is not known while tf.function traces: give the function tensors of known shapes`,
    OP,
  );
}

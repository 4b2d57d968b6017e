// The contract of nodes and their iterators. One implementation serves pipelines that wait and pipelines that do not.
import type { TypedArray } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import type { ElementSpec } from '../elements/element-spec.ts';
import type { Element } from '../elements/structure.ts';
import { Later, later } from './later.ts';
import type { DatasetOptions } from './options.ts';

/** What an iterator gives behind its last element, however often it is asked. */
export const END: unique symbol = Symbol('end');
/** An element, or `END`. */
export type Step = Element | typeof END;
/** A value, or a promise of it where something has to be waited for. */
export type Awaitable<T> = T | Promise<T>;

/** What has come of asking for an element. */
export type Outcome = { readonly element: Element } | { readonly error: unknown };

/** What `saveState` gives: JSON, with tensors and typed arrays in it. */
export type State =
  | null
  | boolean
  | number
  | string
  | Tensor
  | TypedArray
  | readonly State[]
  | { readonly [key: string]: State };

/** A turn of `until` that is not the last. */
export const AGAIN: unique symbol = Symbol('again');

/** `then(value)`, at once when there is nothing to wait for. */
export function after<A, B>(value: Awaitable<A>, then: (value: A) => Awaitable<B>): Awaitable<B> {
  return value instanceof Promise ? later(value).then(then) : then(value);
}

/** Takes turns until one returns something other than `AGAIN`; waits only where a turn does. */
export function until<T>(turn: () => Awaitable<T | typeof AGAIN>): Awaitable<T> {
  for (;;) {
    const result = turn();
    if (result instanceof Promise) return untilLater(result, turn);
    if (result !== AGAIN) return result;
  }
}
function untilLater<T>(
  first: Promise<T | typeof AGAIN>,
  turn: () => Awaitable<T | typeof AGAIN>,
): Promise<T> {
  const out = new Later<T>();
  const go = (value: T | typeof AGAIN): void => {
    let result: Awaitable<T | typeof AGAIN> = value;
    try {
      while (result === AGAIN) result = turn();
    } catch (error) {
      out.fail(error);
      return;
    }
    if (result instanceof Promise) later(result).then(go, out.fail);
    else out.settle(result);
  };
  later(first).then(go, out.fail);
  return out;
}

/**
 * Gives the elements of a node one after the other.
 *
 * Rules for those who write one:
 * - `next` is not called again before the promise that it returned is settled.
 * - The state can be saved at any time, also while a promise is pending. What is kept of the elements received so far lies in fields,
 *   not in closures, and a position moves when its element has arrived: a restored iterator does again what was under way.
 * - Waiting is done by `after`, `until` and `later(promise).then(…)`, not by `await`: from the arrival of a value to its place in somebody's
 *   field everything happens in one synchronous step, so that no state is saved in between.
 * - When something throws, the element that it failed on counts as consumed, and the next call goes on behind it (`ignoreErrors`).
 * - `restoreState` is called on new iterators only, at most once, before anything else.
 * - Runs outside of tapes, memory scopes and traces; the iterator of the whole pipeline sees to that.
 */
export abstract class ElementIterator {
  /** Whether the elements' memory belongs to whoever asked for them: nobody else holds the tensors. */
  readonly ownsElements: boolean = false;
  /** Whether `nextRows` is cheaper than as many calls of `next`. Only where `isStatic` holds for the node's spec. */
  readonly hasRows: boolean = false;

  /** The next element, or `END`. */
  abstract next(): Awaitable<Step>;

  /**
   * From one up to `count` consecutive elements, stacked along a new first axis, or `END`. The memory is the caller's. Called only where
   * `hasRows` is true.
   */
  nextRows(_count: number): Awaitable<Step> {
    throw new TypeError('no rows');
  }

  /** What a new iterator of an equal node needs to give the rest, bit by bit the same. */
  abstract saveState(): State;

  /** @throws InvalidArgumentError for a state of another node. */
  abstract restoreState(state: State): void;

  /** Frees files, workers and buffers. May be called in any state, more than once. */
  close(): Awaitable<void> {}
}

/** Which of several processes goes through a dataset, of which each is to have a part. */
export interface Shard {
  readonly count: number;
  readonly index: number;
}

/** Where a pipeline is divided. */
export interface Sharding extends Shard {
  /** The nodes of which each process reads some of the inputs: files. */
  readonly files: ReadonlySet<DatasetNode>;
  /** Whether `shard(SHARD_HINT, SHARD_HINT)` is meant. */
  readonly hints: boolean;
}

/** What the iterators of one pass over a pipeline share. */
export class IterationContext {
  readonly options: DatasetOptions;
  /** How processes divide the pipeline; null where they do not. */
  readonly sharding: Sharding | null;
  // Weak: functions of elements make nodes without end.
  readonly #shared: WeakMap<DatasetNode, object>;

  constructor(
    options: DatasetOptions,
    sharding: Sharding | null = null,
    shared?: WeakMap<DatasetNode, object>,
  ) {
    this.options = options;
    this.sharding = sharding;
    this.#shared = shared ?? new WeakMap();
  }

  /** The same pass, divided. */
  divided(sharding: Sharding): IterationContext {
    return new IterationContext(this.options, sharding, this.#shared);
  }

  /** What all iterators of a node have in common during this pass, also where `repeat` makes new ones. */
  shared<T extends object>(node: DatasetNode, make: () => T): T {
    let value = this.#shared.get(node) as T | undefined;
    if (value === undefined) this.#shared.set(node, (value = make()));
    return value;
  }
}

/**
 * Elements that can be had in any order at no other cost. What returns rows returns new memory, stacked along a new first axis.
 */
export interface RowAccess {
  readonly count: number;
  /** One element. */
  at(index: number): Element;
  /** Consecutive elements. */
  slice(start: number, count: number): Element;
  gather(indices: Int32Array): Element;
}

/** A step of a pipeline: what `Dataset` describes. Immutable; iterators are made from it as often as wanted. */
export interface DatasetNode {
  /** Under which states and messages know it: `Map`, `Shuffle`. */
  readonly kind: string;
  readonly inputs: readonly DatasetNode[];
  /** Null where it is not known before elements come, as for a generator without a signature. */
  readonly spec: ElementSpec | null;
  /** Number of elements, or `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`. */
  cardinality(): number;
  iterate(context: IterationContext): ElementIterator;
  /** Its elements in any order, where pure functions of their numbers give them. */
  rows?(): RowAccess | null;
  /** The node of one process's part, where that is not every `count`-th of its elements. */
  part?(shard: Shard): DatasetNode;
  /** Options that hold for the pipeline up to here. */
  readonly options?: DatasetOptions;
}

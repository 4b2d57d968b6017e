// `groupByReducer`: one value from all elements of each key.
import { InvalidArgumentError } from '@eagre/backend';
import { constant } from '@eagre/core';
import { type Arguments, argumentsOf, checkFunction, takesArguments } from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import { checkState, specOf } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
import {
  ElementFunction,
  type FunctionCallOptions,
  argumentsOf as itemsOf,
} from '../pipeline/element-function.ts';
import {
  AGAIN,
  type Awaitable,
  after,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { fields, list, UnaryNode } from '../pipeline/node.ts';
import { UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import { CallingIterator } from './calling-iterator.ts';

const OP = 'data.experimental.groupByReducer';

// biome-ignore lint/suspicious/noExplicitAny: functions of whatever elements
type AnyFunction = (...args: any[]) => unknown;

interface ReducerArguments {
  readonly initFunc: AnyFunction;
  readonly reduceFunc: AnyFunction;
  readonly finalizeFunc: AnyFunction;
}

/**
 * What `groupByReducer` does with the elements of a key: `initFunc(key)` is the first state (the key is int64), `reduceFunc(state, element)` the
 * next, and `finalizeFunc(state)` what comes out.
 */
export class Reducer {
  readonly initFunc: AnyFunction;
  readonly reduceFunc: AnyFunction;
  readonly finalizeFunc: AnyFunction;

  constructor(
    ...args: Arguments<
      [initFunc: AnyFunction, reduceFunc: AnyFunction, finalizeFunc: AnyFunction],
      ['initFunc', 'reduceFunc', 'finalizeFunc']
    >
  ) {
    const given = argumentsOf<ReducerArguments>(Reducer, new.target, args);
    for (const [name, fn] of Object.entries(given)) checkFunction(fn, name, 'Reducer');
    this.initFunc = given.initFunc;
    this.reduceFunc = given.reduceFunc;
    this.finalizeFunc = given.finalizeFunc;
  }
}
takesArguments<ReducerArguments>(
  {
    positional: ['initFunc', 'reduceFunc', 'finalizeFunc'],
    names: { initFunc: true, reduceFunc: true, finalizeFunc: true },
  },
  Reducer,
);

/** Goes through the whole input; then it gives one element for each key, in order of the keys. */
export class GroupReduceNode extends UnaryNode {
  readonly kind = 'GroupByReducer';
  readonly key: ElementFunction;
  readonly init: ElementFunction;
  readonly reduce: ElementFunction;
  readonly finalize: ElementFunction;

  constructor(input: DatasetNode, key: AnyFunction, reducer: Reducer, options: FunctionCallOptions) {
    const init = new ElementFunction(reducer.initFunc, [new TensorSpec([], 'int64')], options, OP);
    const reduce = new ElementFunction(reducer.reduceFunc, [init.spec, input.spec], options, OP);
    if (init.spec !== null && reduce.spec !== null) checkState(reduce.spec, init.spec, OP);
    const finalize = new ElementFunction(reducer.finalizeFunc, [reduce.spec], options, OP);
    super(input, finalize.spec);
    this.key = ElementFunction.ofElements(key, input.spec, options, OP);
    this.init = init;
    this.reduce = reduce;
    this.finalize = finalize;
  }

  override cardinality(): number {
    return this.input.cardinality() === 0 ? 0 : UNKNOWN_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    return new GroupReduceIterator(this.input.iterate(context), this);
  }
}

class GroupReduceIterator extends CallingIterator<readonly [number, Element], GroupReduceNode> {
  #states = new Map<number, Element>();
  /** Those that are still to be given; null before the input's end. */
  #keys: number[] | null = null;

  override next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#keys === null) return this.turn();
    const [key] = this.#keys;
    if (key === undefined) return END;
    try {
      const output = this.node.finalize.call([this.#states.get(key) as Element]);
      return output instanceof Promise ? later(output).then(this.#given, this.#failed) : this.#given(output);
    } catch (error) {
      return this.#failed(error);
    }
  };
  readonly #given = (output: Element): Element => {
    this.#leave();
    return output;
  };
  readonly #failed = (error: unknown): never => {
    this.#leave();
    throw error;
  };
  #leave(): void {
    const key = this.#keys?.shift();
    if (key !== undefined) this.#states.delete(key);
  }

  protected override ended(): typeof AGAIN {
    this.#keys = [...this.#states.keys()].sort((a, b) => a - b);
    return AGAIN;
  }
  protected call(element: Element): Awaitable<readonly [number, Element]> {
    const { node } = this;
    return after(node.key.scalar(itemsOf(element)), (key) => {
      if (!Number.isSafeInteger(key))
        throw new InvalidArgumentError(`keyFunc must return an integer, got ${key}`, OP);
      const known = this.#states.get(key);
      const first = known ?? node.init.call([constant(key, 'int64')]);
      return after(first, (state) =>
        after(node.reduce.call([state, element]), (next) => {
          if (node.reduce.eager) checkState(specOf(next), specOf(state), OP);
          return [key, next] as const;
        }),
      );
    });
  }
  protected answered(_element: Element, [key, state]: readonly [number, Element]): typeof AGAIN {
    this.#states.set(key, state);
    return AGAIN;
  }

  protected override saveOwn(): State {
    return {
      states: [...this.#states].map(([key, state]) => [key, saveElement(state)]),
      keys: this.#keys === null ? null : [...this.#keys],
    };
  }
  protected override restoreOwn(saved: State): void {
    const { states, keys } = fields(saved);
    this.#states = new Map(
      list(states).map((item) => {
        const [key, state] = list(item);
        return [Number(key), loadElement(state)];
      }),
    );
    this.#keys = keys === null ? null : list(keys).map(Number);
  }
}

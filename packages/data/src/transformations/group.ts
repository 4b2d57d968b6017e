// `groupByWindow`: elements of one key become a dataset, which a function reduces.
import { InvalidArgumentError } from '@eagre/backend';
import { loadElement, saveElement } from '../elements/saved.ts';
import { datasetOf, type Element, isDataset } from '../elements/structure.ts';
import type { Dataset } from '../pipeline/dataset.ts';
import {
  argumentsOf,
  ElementFunction,
  type FunctionCallOptions,
  type SignatureOptions,
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
import { closeAll, fields, flag, list, UnaryNode } from '../pipeline/node.ts';
import { type Count, checkCount, UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import { ElementsNode } from '../sources/elements.ts';
import { CallingIterator } from './calling-iterator.ts';
import { conformNode } from './conform.ts';

/** Options of `groupByWindow`. */
export interface GroupByWindowOptions extends FunctionCallOptions, SignatureOptions {
  /** How many elements of a key make a group. */
  readonly windowSize?: Count;
  /** The same for each key. One of both is given. */
  readonly windowSizeFunc?: (key: number) => Count;
}
/** How many elements of a key make a group. @throws InvalidArgumentError unless that is said once. */
export function groupSizes({ windowSize, windowSizeFunc }: GroupByWindowOptions): (key: number) => number {
  const what = 'Dataset.groupByWindow';
  if ((windowSize === undefined) === (windowSizeFunc === undefined))
    throw new InvalidArgumentError('give either windowSize or windowSizeFunc', what);
  if (windowSizeFunc !== undefined)
    return (key) => checkCount(windowSizeFunc(key), 'windowSizeFunc(key)', what);
  const size = checkCount(windowSize as Count, 'windowSize', what);
  return () => size;
}

/** What is done with the elements of one key. */
export type GroupReduce = (key: number, elements: Dataset<unknown>) => unknown;

export class GroupNode extends UnaryNode {
  readonly kind = 'GroupByWindow';
  readonly key: ElementFunction;
  readonly #reduce: GroupReduce;
  readonly size: (key: number) => number;
  readonly what: string;

  /** @param size how many elements of a key make a group. */
  constructor(
    input: DatasetNode,
    key: (...args: never[]) => unknown,
    reduce: GroupReduce,
    size: (key: number) => number,
    options: FunctionCallOptions & SignatureOptions,
    what: string,
  ) {
    super(input, options.outputSignature ?? null);
    if (typeof reduce !== 'function')
      throw new InvalidArgumentError(`reduceFunc must be a function, got ${typeof reduce}`, what);
    // The signature is that of the elements, not of their keys.
    const { outputSignature: _, ...call } = options;
    this.key = ElementFunction.ofElements(key, input.spec, call, what);
    this.#reduce = reduce;
    this.size = size;
    this.what = what;
  }

  override cardinality(): number {
    return this.input.cardinality() < 0 ? this.input.cardinality() : UNKNOWN_CARDINALITY;
  }

  /** What comes of the elements of one key. */
  reduce(key: number, elements: readonly Element[]): DatasetNode {
    const made = this.#reduce(key, datasetOf(new ElementsNode(elements, this.input.spec)));
    if (!isDataset(made)) throw new InvalidArgumentError('reduceFunc must return a dataset', this.what);
    return conformNode(made.node, this.spec, this.what);
  }

  iterate(context: IterationContext): ElementIterator {
    return new GroupIterator(this.input.iterate(context), this, context);
  }
}

class GroupIterator extends CallingIterator<number, GroupNode> {
  readonly #context: IterationContext;
  #groups = new Map<number, Element[]>();
  /** The group that is given out, with what it was made of. */
  #group: {
    readonly key: number;
    readonly elements: readonly Element[];
    readonly iterator: ElementIterator;
  } | null = null;
  #ended = false;

  constructor(input: ElementIterator, node: GroupNode, context: IterationContext) {
    super(input, node);
    this.#context = context;
  }

  override next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#group !== null) return after(this.#group.iterator.next(), this.#give);
    if (!this.#ended) return this.turn();
    // What is left comes key by key, in order of their values.
    const key = Math.min(...this.#groups.keys());
    if (key === Number.POSITIVE_INFINITY) return END;
    this.#begin(key);
    return AGAIN;
  };
  readonly #give = (step: Step): Awaitable<Step | typeof AGAIN> => {
    if (step !== END) return step;
    const group = this.#group;
    this.#group = null;
    return after(group?.iterator.close(), () => AGAIN);
  };
  protected override ended(): typeof AGAIN {
    this.#ended = true;
    return AGAIN;
  }
  protected call(element: Element): Awaitable<number> {
    return this.node.key.scalar(argumentsOf(element));
  }
  protected answered(element: Element, key: number): typeof AGAIN {
    if (!Number.isSafeInteger(key))
      throw new InvalidArgumentError(`keyFunc must return an integer, got ${key}`, this.node.what);
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, [element]);
    else group.push(element);
    if ((group?.length ?? 1) >= this.node.size(key)) this.#begin(key);
    return AGAIN;
  }

  #begin(key: number): void {
    const elements = this.#groups.get(key) ?? [];
    this.#groups.delete(key);
    this.#group = { key, elements, iterator: this.node.reduce(key, elements).iterate(this.#context) };
  }

  protected override saveOwn(): State {
    const group = this.#group;
    return {
      groups: [...this.#groups].map(([key, elements]) => [key, elements.map(saveElement)]),
      group:
        group === null
          ? null
          : { key: group.key, elements: group.elements.map(saveElement), state: group.iterator.saveState() },
      ended: this.#ended,
    };
  }
  protected override restoreOwn(state: State): void {
    const { groups, group, ended } = fields(state);
    this.#groups = new Map(
      list(groups).map((g) => {
        const [key, elements] = list(g);
        return [Number(key), list(elements).map(loadElement)];
      }),
    );
    this.#ended = flag(ended);
    if (group === null) return;
    const own = fields(group);
    const key = Number(own['key']);
    const elements = list(own['elements']).map(loadElement);
    const iterator = this.node.reduce(key, elements).iterate(this.#context);
    iterator.restoreState(own['state'] as State);
    this.#group = { key, elements, iterator };
  }

  override close(): Awaitable<void> {
    const group = this.#group;
    this.#group = null;
    this.#groups.clear();
    this.#ended = true;
    return closeAll([group?.iterator, this.input]);
  }
}

// `filter` and `takeWhile`: which elements pass.

import type { Element } from '../elements/structure.ts';
import { argumentsOf, ElementFunction, type FunctionCallOptions } from '../pipeline/element-function.ts';
import {
  AGAIN,
  type Awaitable,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
} from '../pipeline/iterator.ts';
import { flag, UnaryNode } from '../pipeline/node.ts';
import { INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import { CallingIterator } from './calling-iterator.ts';
import { disposeAll } from './map.ts';

type Predicate = (...args: never[]) => unknown;

export class FilterNode extends UnaryNode {
  readonly kind: 'Filter' | 'TakeWhile';
  readonly fn: ElementFunction;

  constructor(input: DatasetNode, fn: Predicate, options: FunctionCallOptions, kind: 'Filter' | 'TakeWhile') {
    super(input);
    this.kind = kind;
    const what = kind === 'Filter' ? 'Dataset.filter' : 'Dataset.takeWhile';
    this.fn = ElementFunction.ofElements(fn, input.spec, options, what);
    this.fn.checkTruth();
  }

  override cardinality(): number {
    return this.kind === 'Filter' && this.input.cardinality() === INFINITE_CARDINALITY
      ? INFINITE_CARDINALITY
      : UNKNOWN_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    return new FilterIterator(this.input.iterate(context), this);
  }
}

class FilterIterator extends CallingIterator<number, FilterNode> {
  override readonly ownsElements: boolean = this.input.ownsElements;
  #ended = false;

  override next(): Awaitable<Step> {
    return this.#ended ? END : super.next();
  }

  protected call(element: Element): Awaitable<number> {
    return this.node.fn.truth(argumentsOf(element));
  }
  protected answered(element: Element, answer: number): Step | typeof AGAIN {
    if (answer !== 0) return element;
    if (this.ownsElements && !this.node.fn.eager) disposeAll(element);
    if (this.node.kind === 'Filter') return AGAIN;
    this.#ended = true;
    return END;
  }

  protected override saveOwn(): State {
    return this.#ended;
  }
  protected override restoreOwn(state: State): void {
    this.#ended = flag(state);
  }
}

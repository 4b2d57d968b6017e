// `filter` and `takeWhile`: which elements pass.
import { argumentsOf, ElementFunction, type FunctionCallOptions } from '../element-function.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
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
} from '../iterator.ts';
import { later } from '../later.ts';
import { fields, flag, UnaryIterator, UnaryNode } from '../node.ts';
import { INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from '../options.ts';
import { disposeAll } from './map.ts';

type Predicate = (...args: never[]) => unknown;

export class FilterNode extends UnaryNode {
  readonly kind: 'Filter' | 'TakeWhile';
  readonly #fn: ElementFunction;

  constructor(input: DatasetNode, fn: Predicate, options: FunctionCallOptions, kind: 'Filter' | 'TakeWhile') {
    super(input);
    this.kind = kind;
    const what = kind === 'Filter' ? 'Dataset.filter' : 'Dataset.takeWhile';
    this.#fn = ElementFunction.ofElements(fn, input.spec, options, what);
    this.#fn.checkTruth();
  }

  override cardinality(): number {
    return this.kind === 'Filter' && this.input.cardinality() === INFINITE_CARDINALITY
      ? INFINITE_CARDINALITY
      : UNKNOWN_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    return new FilterIterator(this.input.iterate(context), this.#fn, this.kind === 'TakeWhile');
  }
}

class FilterIterator extends UnaryIterator {
  override readonly fresh: boolean;
  readonly #fn: ElementFunction;
  readonly #ends: boolean;
  /** The element that the predicate is at. */
  #current: Element | null = null;
  #ended = false;

  constructor(input: ElementIterator, fn: ElementFunction, ends: boolean) {
    super(input);
    this.fresh = input.fresh;
    this.#fn = fn;
    this.#ends = ends;
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#ended) return END;
    return after(this.#current ?? this.input.next(), this.#ask);
  };
  readonly #ask = (step: Step): Awaitable<Step | typeof AGAIN> => {
    if (step === END) return END;
    this.#current = step;
    let answer: Awaitable<number>;
    try {
      answer = this.#fn.truth(argumentsOf(step));
    } catch (error) {
      this.#current = null;
      throw error;
    }
    if (!(answer instanceof Promise)) return this.#decide(answer);
    return later(answer).then(this.#decide, (error: unknown) => {
      this.#current = null;
      throw error;
    });
  };
  readonly #decide = (answer: number): Step | typeof AGAIN => {
    const element = this.#current as Element;
    this.#current = null;
    if (answer !== 0) return element;
    if (this.input.fresh && !this.#fn.eager) disposeAll(element);
    if (!this.#ends) return AGAIN;
    this.#ended = true;
    return END;
  };

  protected override save(): State {
    return { current: this.#current === null ? null : saveElement(this.#current), ended: this.#ended };
  }
  protected override restore(state: State): void {
    const { current, ended } = fields(state);
    this.#current = current === null ? null : loadElement(current);
    this.#ended = flag(ended);
  }
}

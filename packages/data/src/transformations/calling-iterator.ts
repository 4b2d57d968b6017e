// What `map`, `filter`, `scan` and others have in common: a function of each element, which may have to be waited for.
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
import {
  type AGAIN,
  type Awaitable,
  after,
  END,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { fields, UnaryIterator, type UnaryNode } from '../pipeline/node.ts';

/** Calls a function of each element of the input. An element that an asynchronous function is at is part of the state. */
export abstract class CallingIterator<R, N extends UnaryNode> extends UnaryIterator<N> {
  #current: Element | null = null;

  /** What is asked of an element. */
  protected abstract call(element: Element): Awaitable<R>;
  /** What becomes of an element and the answer. */
  protected abstract answered(element: Element, answer: R): Awaitable<Step | typeof AGAIN>;

  /** What becomes of the input's end. */
  protected ended(): Step | typeof AGAIN {
    return END;
  }

  /** Of this iterator, without the element that is under way. */
  protected saveOwn(): State {
    return null;
  }
  protected restoreOwn(_state: State): void {}

  next(): Awaitable<Step> {
    return until(this.turn);
  }

  /** One element. */
  protected readonly turn = (): Awaitable<Step | typeof AGAIN> =>
    after(this.#current ?? this.input.next(), this.#ask);

  readonly #ask = (step: Step): Awaitable<Step | typeof AGAIN> => {
    if (step === END) return this.ended();
    this.#current = step;
    let answer: Awaitable<R>;
    try {
      answer = this.call(step);
    } catch (error) {
      return this.#failed(error);
    }
    return answer instanceof Promise
      ? later(answer).then(this.#answered, this.#failed)
      : this.#answered(answer);
  };
  readonly #answered = (answer: R): Awaitable<Step | typeof AGAIN> => {
    const element = this.#current as Element;
    this.#current = null;
    return this.answered(element, answer);
  };
  readonly #failed = (error: unknown): never => {
    this.#current = null;
    throw error;
  };

  protected override save(): State {
    return { current: this.#current === null ? null : saveElement(this.#current), own: this.saveOwn() };
  }
  protected override restore(state: State): void {
    const { current, own } = fields(state);
    this.#current = current === null ? null : loadElement(current);
    this.restoreOwn(own as State);
  }
}

// Batches that a function makes of lists of elements.
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  type ElementIterator,
  END,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { list, UnaryIterator } from '../pipeline/node.ts';

/** Collects elements and makes a batch of them by a function. */
export class ListBatchIterator extends UnaryIterator {
  override readonly ownsElements = true;
  readonly #size: number;
  readonly #whole: boolean;
  readonly #make: (elements: readonly Element[]) => Element;
  #elements: Element[] = [];
  #ended = false;

  constructor(
    input: ElementIterator,
    size: number,
    whole: boolean,
    make: (elements: readonly Element[]) => Element,
  ) {
    super(input);
    this.#size = size;
    this.#whole = whole;
    this.#make = make;
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const elements = this.#elements;
    if (elements.length < this.#size && !this.#ended) {
      try {
        const step = this.input.next();
        return step instanceof Promise ? later(step).then(this.#take, this.#failed) : this.#take(step);
      } catch (error) {
        return this.#failed(error);
      }
    }
    this.#elements = [];
    if (elements.length === 0 || (this.#whole && elements.length < this.#size)) return END;
    return this.#make(elements);
  };
  /** The batch that an element is missing from is lost, as in `batch`. */
  readonly #failed = (error: unknown): never => {
    this.#elements = [];
    throw error;
  };
  readonly #take = (step: Step): typeof AGAIN => {
    if (step === END) this.#ended = true;
    else this.#elements.push(step);
    return AGAIN;
  };

  protected override save(): State {
    return this.#elements.map(saveElement);
  }
  protected override restore(state: State): void {
    this.#elements = list(state).map(loadElement);
  }
}

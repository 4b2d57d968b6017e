// Batches that a function makes of lists of elements.
import type { ElementSpec } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { list, UnaryIterator, UnaryNode } from '../pipeline/node.ts';
import { batchesOf } from './batch.ts';

/** Collects elements and makes a batch of them by a function. */
export abstract class ListBatchNode extends UnaryNode {
  readonly size: number;
  readonly whole: boolean;

  constructor(input: DatasetNode, spec: ElementSpec | null, size: number, whole: boolean) {
    super(input, spec);
    this.size = size;
    this.whole = whole;
  }

  /** One batch. */
  abstract make(elements: readonly Element[]): Element;

  override cardinality(): number {
    return batchesOf(this.input.cardinality(), this.size, this.whole);
  }

  iterate(context: IterationContext): ElementIterator {
    return new ListBatchIterator(this.input.iterate(context), this);
  }
}

class ListBatchIterator extends UnaryIterator<ListBatchNode> {
  override readonly ownsElements = true;
  #elements: Element[] = [];
  #ended = false;

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const elements = this.#elements;
    if (elements.length < this.node.size && !this.#ended) {
      try {
        const step = this.input.next();
        return step instanceof Promise ? later(step).then(this.#take, this.#failed) : this.#take(step);
      } catch (error) {
        return this.#failed(error);
      }
    }
    this.#elements = [];
    if (elements.length === 0 || (this.node.whole && elements.length < this.node.size)) return END;
    return this.node.make(elements);
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

// `cache` in memory.
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, shared } from '../elements/structure.ts';
import {
  type Awaitable,
  after,
  ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
} from '../pipeline/iterator.ts';
import { count, fields, flag, list, UnaryNode } from '../pipeline/node.ts';

/** What one pass has gone through; complete once it has come to the end. */
interface Memory {
  elements: Element[];
  complete: boolean;
}

/** Keeps the elements of the first complete pass. */
export class CacheNode extends UnaryNode {
  readonly kind = 'Cache';
  #complete: Memory | null = null;

  override cardinality(): number {
    return this.#complete?.elements.length ?? super.cardinality();
  }

  iterate(context: IterationContext): ElementIterator {
    const current = context.shared<{ memory: Memory | null }>(this, () => ({ memory: null }));
    return new CacheIterator(
      () => this.input.iterate(context),
      () => current.memory ?? this.#complete,
      (memory) => {
        current.memory = memory;
        this.#complete ??= memory;
      },
    );
  }
}

class CacheIterator extends ElementIterator {
  override readonly ownsElements = true;
  readonly #begin: () => ElementIterator;
  readonly #done: (memory: Memory) => void;
  #input: ElementIterator | null = null;
  #memory: Memory;
  #next = 0;

  constructor(begin: () => ElementIterator, known: () => Memory | null, done: (memory: Memory) => void) {
    super();
    this.#begin = begin;
    this.#done = done;
    this.#memory = known() ?? { elements: [], complete: false };
  }

  next(): Awaitable<Step> {
    const { elements, complete } = this.#memory;
    if (this.#next < elements.length) return shared(elements[this.#next++]);
    if (complete) return END;
    return after((this.#input ??= this.#begin()).next(), this.#take);
  }
  readonly #take = (step: Step): Awaitable<Step> => {
    if (step === END) {
      this.#memory.complete = true;
      this.#done(this.#memory);
      const input = this.#input;
      this.#input = null;
      return after(input?.close(), () => END);
    }
    this.#memory.elements.push(step);
    this.#next++;
    return shared(step);
  };

  saveState(): State {
    const { elements, complete } = this.#memory;
    const input = complete ? null : (this.#input ??= this.#begin()).saveState();
    return { next: this.#next, complete, elements: elements.map(saveElement), input };
  }
  restoreState(state: State): void {
    const { next, complete, elements, input } = fields(state);
    this.#memory = { elements: list(elements).map(loadElement), complete: flag(complete) };
    this.#next = count(next);
    if (complete) this.#done(this.#memory);
    else {
      this.#input = this.#begin();
      this.#input.restoreState(input as State);
    }
  }

  override close(): Awaitable<void> {
    const input = this.#input;
    this.#memory = { elements: [], complete: true };
    this.#input = null;
    return input?.close();
  }
}

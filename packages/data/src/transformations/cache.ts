// `cache` in memory, and `prefetch`.
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, shared } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  after,
  type DatasetNode,
  ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
  until,
} from '../iterator.ts';
import { later } from '../later.ts';
import { count, fields, flag, list, UnaryIterator, UnaryNode } from '../node.ts';
import { checkParallel } from '../options.ts';

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
  override readonly fresh = true;
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
    if (this.#next < elements.length) return shared(elements[this.#next++] as Element);
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

// Ahead of a pipeline that waits, with AUTOTUNE.
const AHEAD = 2;

/** Asks for elements before they are wanted, where they have to be waited for. */
export class PrefetchNode extends UnaryNode {
  readonly kind = 'Prefetch';
  readonly #size: number;

  constructor(input: DatasetNode, bufferSize: number) {
    super(input);
    this.#size = bufferSize === 0 ? 0 : checkParallel(bufferSize, 'bufferSize', 'Dataset.prefetch', AHEAD);
  }

  iterate(context: IterationContext): ElementIterator {
    return new PrefetchIterator(this.input.iterate(context), this.#size);
  }
}

/** Something that an input gave: an element or an error. */
type Arrived = { readonly element: Element } | { readonly error: unknown };

class PrefetchIterator extends UnaryIterator {
  override readonly fresh: boolean;
  override readonly blocks: boolean;
  readonly #size: number;
  #buffer: Arrived[] = [];
  #pulling: Promise<void> | null = null;
  /** Whether the input has had to be waited for: only then is there anything to do meanwhile. */
  #waits = false;
  #ended = false;
  #closed = false;

  constructor(input: ElementIterator, size: number) {
    super(input);
    this.fresh = input.fresh;
    this.blocks = input.blocks;
    this.#size = size;
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const first = this.#buffer.shift();
    if (first !== undefined) {
      this.#pull();
      if ('error' in first) throw first.error;
      return first.element;
    }
    if (this.#pulling !== null) return this.#pulling.then(() => AGAIN);
    if (this.#ended) return END;
    const step = this.input.next();
    if (!(step instanceof Promise) || this.#size === 0) return step;
    this.#waits = true;
    this.#await(step);
    return AGAIN;
  };

  /** Asks on until the buffer is full or something has to be waited for. */
  #pull(): void {
    while (
      this.#waits &&
      !this.#ended &&
      !this.#closed &&
      this.#pulling === null &&
      this.#buffer.length < this.#size
    ) {
      try {
        const step = this.input.next();
        if (step instanceof Promise) this.#await(step);
        else this.#keep(step === END ? null : { element: step });
      } catch (error) {
        this.#keep({ error });
        return;
      }
    }
  }

  #await(step: Promise<Step>): void {
    this.#pulling = later(step).then(
      (s) => this.#arrived(s === END ? null : { element: s }),
      (error: unknown) => this.#arrived({ error }),
    );
  }

  #arrived(one: Arrived | null): void {
    this.#pulling = null;
    this.#keep(one);
    this.#pull();
  }

  #keep(one: Arrived | null): void {
    if (one === null) this.#ended = true;
    else if (!this.#closed) this.#buffer.push(one);
  }

  override nextRows(wanted: number): Awaitable<Step> {
    return this.input.nextRows(wanted);
  }

  protected override save(): State {
    return {
      buffer: this.#buffer.flatMap((a) => ('error' in a ? [] : [saveElement(a.element)])),
      ended: this.#ended,
    };
  }
  protected override restore(state: State): void {
    const { buffer, ended } = fields(state);
    this.#buffer = list(buffer).map((e) => ({ element: loadElement(e) }));
    this.#ended = flag(ended);
  }

  override close(): Awaitable<void> {
    this.#closed = this.#ended = true;
    this.#buffer = [];
    const pulling = this.#pulling;
    // A source must not be closed while it is asked for an element.
    return pulling === null ? super.close() : pulling.then(() => super.close());
  }
}

// `prefetch`: elements are made before they are asked for.

import { loadElement, saveElement } from '../elements/saved.ts';
import {
  AGAIN,
  type Awaitable,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type Outcome,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { fields, flag, list, UnaryIterator, UnaryNode } from '../pipeline/node.ts';
import { AUTOTUNE, type Count, checkCount, plainNumber } from '../pipeline/options.ts';
import { preparing } from '../pipeline/preparing.ts';
import { stackElements } from '../pipeline/stacker.ts';
import { disposeAll } from './map.ts';

// With AUTOTUNE.
const AHEAD = 2;

/** Has elements made before they are wanted: while others are waited for, or while the event loop has nothing else to do. */
export class PrefetchNode extends UnaryNode {
  readonly kind = 'Prefetch';
  readonly size: number;

  constructor(input: DatasetNode, bufferSize: Count) {
    super(input);
    this.size =
      plainNumber(bufferSize) === AUTOTUNE
        ? AHEAD
        : checkCount(bufferSize, 'bufferSize', 'Dataset.prefetch', 0);
  }

  iterate(context: IterationContext): ElementIterator {
    return new PrefetchIterator(this.input.iterate(context), this);
  }
}

class PrefetchIterator extends UnaryIterator<PrefetchNode> {
  override readonly ownsElements: boolean = this.input.ownsElements;
  override readonly hasRows: boolean = this.input.hasRows;
  #buffer: Outcome[] = [];
  #pulling: Promise<void> | null = null;
  /** Whether the input has had to be waited for: then it is asked on at once, as that takes no time of this thread. */
  #waits = false;
  #ended = false;
  #closed = false;
  #planned: Planned | null = null;

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const first = this.#buffer.shift();
    if (first !== undefined) {
      this.#goOn();
      if ('error' in first) throw first.error;
      return first.element;
    }
    if (this.#pulling !== null) return this.#pulling.then(() => AGAIN);
    if (this.#ended) return END;
    const step = this.input.next();
    if (step instanceof Promise && this.node.size > 0) {
      this.#await(step);
      return AGAIN;
    }
    if (step !== END) this.#goOn();
    return step;
  };

  get #wantsMore(): boolean {
    return !this.#ended && !this.#closed && this.#pulling === null && this.#buffer.length < this.node.size;
  }

  /** Has the buffer filled: at once while there is something to wait for, otherwise element by element when nothing else is to be done. */
  #goOn(): void {
    while (this.#waits && this.#wantsMore) if (!this.#pull()) return;
    if (this.#wantsMore) this.#planned ??= whenIdle(this.#whenIdle);
  }

  readonly #whenIdle = (): void => {
    this.#planned = null;
    if (!this.#wantsMore) return;
    this.#pull();
    this.#goOn();
  };

  /** Asks for one element. @returns whether it is right to ask on. */
  #pull(): boolean {
    try {
      const step = this.input.next();
      if (step instanceof Promise) this.#await(step);
      else this.#keep(step === END ? null : { element: step });
      return true;
    } catch (error) {
      this.#keep({ error });
      return false;
    }
  }

  #await(step: Promise<Step>): void {
    this.#waits = true;
    this.#pulling = later(step).then(
      (s) => this.#arrived(s === END ? null : { element: s }),
      (error: unknown) => this.#arrived({ error }),
    );
  }

  #arrived(one: Outcome | null): void {
    this.#pulling = null;
    this.#keep(one);
    this.#goOn();
  }

  #keep(one: Outcome | null): void {
    if (one === null) this.#ended = true;
    else if (!this.#closed) this.#buffer.push(one);
  }

  override nextRows(wanted: number): Awaitable<Step> {
    // Somebody has asked for single elements before, as `skip` does.
    const ready = this.#buffer.splice(0, wanted);
    const failed = ready.findIndex((a) => 'error' in a);
    if (failed > 0) this.#buffer.unshift(...ready.splice(failed));
    if (ready.length === 0) return this.input.nextRows(wanted);
    const elements = ready.map((a) => {
      if ('error' in a) throw a.error;
      return a.element;
    });
    const rows = stackElements(elements, 'Dataset.prefetch');
    if (this.ownsElements) elements.forEach(disposeAll);
    return rows;
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
    this.#planned?.cancel();
    this.#planned = null;
    const pulling = this.#pulling;
    // A source must not be closed while it is asked for an element.
    return pulling === null ? super.close() : pulling.then(() => super.close());
  }
}

interface Planned {
  cancel(): void;
}

/** Runs `fn` when this thread has nothing else to do, outside of tapes and memory scopes as everything that makes elements. */
function whenIdle(fn: () => void): Planned {
  const run = (): void => preparing(fn);
  if (typeof setImmediate === 'function') {
    const immediate = setImmediate(run);
    return { cancel: () => clearImmediate(immediate) };
  }
  const timer = setTimeout(run);
  return { cancel: () => clearTimeout(timer) };
}

// `map`: a function of each element.
import { Tensor } from '@eagre/core';
import { functionsRunEagerly } from '@eagre/graph';
import { isStatic } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, flatten } from '../elements/structure.ts';
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
  type RowAccess,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { list, UnaryIterator, UnaryNode } from '../pipeline/node.ts';
import { type Count, checkParallel, inOrder } from '../pipeline/options.ts';
import { Stacker } from '../pipeline/stacker.ts';
import { type BlockFunction, blockFunction } from '../pipeline/vectorize.ts';
import { CallingIterator } from './calling-iterator.ts';

/** Options of `map`. */
export interface MapOptions extends FunctionCallOptions, SignatureOptions {
  /** How many calls of an async function may be under way at once, in the order of the elements; AUTOTUNE is 16. */
  readonly numParallelCalls?: Count;
  /** With false, results of parallel calls come as they are ready. Otherwise as `withOptions` says: in order, unless it says otherwise. */
  readonly deterministic?: boolean;
}

// What AUTOTUNE means for functions that wait, for networks and disks mostly.
const CALLS = 16;

export class MapNode extends UnaryNode {
  readonly kind = 'Map';
  readonly fn: ElementFunction;
  readonly parallel: number;
  /** With false, results of parallel calls come as they are ready. Otherwise as `withOptions` says: in order, unless it says otherwise. */
  readonly deterministic: boolean | undefined;
  readonly block: BlockFunction | null;
  readonly isFresh: boolean;

  /** @param options.isFresh whether nobody else can hold the tensors that plain code gives. */
  constructor(
    input: DatasetNode,
    fn: (...args: never[]) => unknown,
    options: MapOptions & { readonly isFresh?: boolean },
  ) {
    const what = 'Dataset.map';
    const own = ElementFunction.ofElements(fn, input.spec, options, what);
    super(input, own.spec);
    this.fn = own;
    this.parallel =
      options.numParallelCalls === undefined
        ? 1
        : checkParallel(options.numParallelCalls, 'numParallelCalls', what, CALLS);
    this.deterministic = options.deterministic;
    this.isFresh = options.isFresh ?? false;
    this.block =
      own.graph !== null && own.spec !== null && isStatic(input.spec) && isStatic(own.spec)
        ? blockFunction(own.graph, own.spec)
        : null;
  }

  iterate(context: IterationContext): ElementIterator {
    const input = this.input.iterate(context);
    if (this.fn.eager && this.parallel > 1)
      return new ParallelMapIterator(input, this, inOrder(this.deterministic, context.options));
    return new MapIterator(input, this, context.options.vectorization === false ? null : this.block);
  }

  /** A map by a pure function of rows has rows as well. */
  rows(): RowAccess | null {
    const rows = this.input.rows?.() ?? null;
    const block = this.block;
    if (rows === null || block === null) return null;
    const fn = this.fn;
    return {
      count: rows.count,
      at: (i) => given(rows.at(i), (e) => fn.call(argumentsOf(e)) as Element),
      slice: (start, n) => given(rows.slice(start, n), block),
      gather: (indices) => given(rows.gather(indices), block),
    };
  }
}

/** `fn` of something that nobody else holds. */
function given(element: Element, fn: (element: Element) => Element): Element {
  const result = fn(element);
  disposeAll(element);
  return result;
}

/** Gives the memory of an element back. */
export function disposeAll(element: Element): void {
  if (element instanceof Tensor) element.dispose();
  else for (const leaf of flatten(element)) if (leaf instanceof Tensor) leaf.dispose();
}

class MapIterator extends CallingIterator<Element, MapNode> {
  override readonly ownsElements: boolean = this.node.isFresh || !this.node.fn.eager;
  override readonly hasRows: boolean;
  readonly #block: BlockFunction | null;
  readonly #stacker = new Stacker(this.input, 'Dataset.map');

  constructor(input: ElementIterator, node: MapNode, block: BlockFunction | null) {
    super(input, node);
    this.hasRows = block !== null;
    this.#block = block;
  }

  protected call(element: Element): Awaitable<Element> {
    return this.node.fn.call(argumentsOf(element));
  }
  protected answered(element: Element, result: Element): Step {
    // Whether it is traced shows at the first call where nothing was known of the elements.
    if (this.input.ownsElements && !this.node.fn.eager && !functionsRunEagerly()) disposeAll(element);
    return result;
  }

  readonly #callBlock = (step: Step): Step =>
    step === END ? END : given(step, this.#block as BlockFunction);

  override nextRows(count: number): Awaitable<Step> {
    return after(this.#stacker.next(count), this.#callBlock);
  }

  protected override saveOwn(): State {
    return this.#stacker.save();
  }
  protected override restoreOwn(state: State): void {
    this.#stacker.restore(state);
  }
}

/** A call that is under way. */
interface Running {
  /** What it was called with; null when the input failed. */
  readonly element: Element | null;
  readonly result: Promise<unknown>;
  /** What came of it. */
  outcome: { readonly value: Element } | { readonly error: unknown } | null;
}

/** Several calls of an async function at once. */
class ParallelMapIterator extends UnaryIterator<MapNode> {
  override readonly ownsElements: boolean = this.node.isFresh;
  readonly #deterministic: boolean;
  #running: Running[] = [];
  /** Elements of a restored state whose calls have to be made again. */
  #again: Element[] = [];
  #pulling: Promise<void> | null = null;
  #ended = false;

  constructor(input: ElementIterator, node: MapNode, deterministic: boolean) {
    super(input, node);
    this.#deterministic = deterministic;
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    while (this.#running.length < this.node.parallel && !this.#ended && this.#pulling === null) {
      this.#pull();
      // A function that did not wait needs no others beside it.
      if (this.#running[0]?.outcome && this.#running.length === 1) break;
    }
    if (this.#running.length === 0) return this.#pulling === null ? END : this.#pulling.then(again);
    const ready = this.#deterministic ? this.#running[0] : this.#running.find((r) => r.outcome !== null);
    const outcome = ready?.outcome;
    if (ready !== undefined && outcome) {
      this.#running.splice(this.#running.indexOf(ready), 1);
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    }
    const waiting: Promise<unknown>[] = this.#deterministic
      ? [this.#running[0].result]
      : this.#running.map((r) => r.result);
    if (this.#pulling !== null) waiting.push(this.#pulling);
    return later(Promise.race(waiting)).then(again);
  };

  #pull(): void {
    const stored = this.#again.shift();
    if (stored !== undefined) {
      this.#start(stored);
      return;
    }
    let step: Awaitable<Step>;
    try {
      step = this.input.next();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!(step instanceof Promise)) {
      this.#take(step);
      return;
    }
    this.#pulling = later(step).then(
      (s) => {
        this.#pulling = null;
        this.#take(s);
      },
      (error: unknown) => {
        this.#pulling = null;
        this.#fail(error);
      },
    );
  }

  #take(step: Step): void {
    if (step === END) this.#ended = true;
    else this.#start(step);
  }

  #start(element: Element): void {
    try {
      const result = this.node.fn.call(argumentsOf(element));
      if (result instanceof Promise) this.#add(element, result);
      else this.#running.push({ element, outcome: { value: result }, result: Promise.resolve() });
    } catch (error) {
      this.#running.push({ element, outcome: { error }, result: Promise.resolve() });
    }
  }

  #fail(error: unknown): void {
    this.#running.push({ element: null, outcome: { error }, result: Promise.resolve() });
  }

  #add(element: Element, result: Promise<Element>): void {
    const running: Running = {
      element,
      outcome: null,
      result: result.then(
        (value) => {
          running.outcome = { value };
        },
        (error: unknown) => {
          running.outcome = { error };
        },
      ),
    };
    this.#running.push(running);
  }

  protected override save(): State {
    const elements = [...this.#running.map((r) => r.element), ...this.#again];
    return elements.filter((e) => e !== null).map(saveElement);
  }
  protected override restore(state: State): void {
    this.#again = list(state).map(loadElement);
  }

  override close(): Awaitable<void> {
    this.#running = [];
    this.#again = [];
    this.#ended = true;
    return super.close();
  }
}
const again = (): typeof AGAIN => AGAIN;

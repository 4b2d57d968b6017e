// `flatMap` and `interleave`: datasets made for each element.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { argumentsOf } from '../element-function.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, isDataset } from '../elements/structure.ts';
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
import { closeAll, count, fields, flag, list, UnaryNode } from '../node.ts';
import { checkCount, checkParallel, UNKNOWN_CARDINALITY } from '../options.ts';

export interface InterleaveOptions {
  /** How many datasets are read from at a time; 16 unless set, also for AUTOTUNE. */
  readonly cycleLength?: number;
  /** How many elements are taken from one before the next; 1 unless set. */
  readonly blockLength?: number;
}

type DatasetFn = (...args: never[]) => unknown;
const CYCLE = 16;

export class InterleaveNode extends UnaryNode {
  readonly kind: 'FlatMap' | 'Interleave';
  readonly #fn: DatasetFn;
  readonly #cycle: number;
  readonly #block: number;
  readonly #what: string;

  constructor(input: DatasetNode, fn: DatasetFn, options: InterleaveOptions, kind: 'FlatMap' | 'Interleave') {
    const what = kind === 'FlatMap' ? 'Dataset.flatMap' : 'Dataset.interleave';
    if (typeof fn !== 'function')
      throw new InvalidArgumentError(`expected a function, got ${typeof fn}`, what);
    if ('numParallelCalls' in options)
      throw new UnimplementedError(
        'the datasets are read in turn; have each read ahead, where it is asynchronous: (x) => datasetOf(x).prefetch(2)',
        what,
      );
    super(input, null);
    this.kind = kind;
    this.#fn = fn;
    this.#what = what;
    this.#cycle =
      options.cycleLength === undefined
        ? CYCLE
        : checkParallel(options.cycleLength, 'cycleLength', what, CYCLE);
    this.#block = checkCount(options.blockLength ?? 1, 'blockLength', what);
  }

  override cardinality(): number {
    return this.input.cardinality() === 0 ? 0 : UNKNOWN_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    const make = (element: Element): Awaitable<DatasetNode> =>
      after(
        (this.#fn as unknown as (...a: readonly Element[]) => unknown)(...argumentsOf(element)),
        (made) => {
          if (!isDataset(made))
            throw new InvalidArgumentError('the function must return a dataset', this.#what);
          return made.node;
        },
      );
    return new InterleaveIterator(this.input.iterate(context), make, context, this.#cycle, this.#block);
  }
}

/** One of the datasets that elements are taken from. */
interface Lane {
  /** What it was made for: made again when a state is restored. */
  readonly element: Element;
  iterator: ElementIterator | null;
  /** The state to begin from. */
  state: State;
}

/** Takes blocks of elements from several datasets in turn; with one at a time it is `flatMap`. */
class InterleaveIterator extends ElementIterator {
  readonly #input: ElementIterator;
  readonly #make: (element: Element) => Awaitable<DatasetNode>;
  readonly #context: IterationContext;
  readonly #block: number;
  #lanes: (Lane | null)[];
  #at = 0;
  /** Elements that the current dataset has given in this turn. */
  #given = 0;
  #ended = false;
  /** Whether some of the datasets may have to go on from a state. */
  #restored = false;

  constructor(
    input: ElementIterator,
    make: (element: Element) => Awaitable<DatasetNode>,
    context: IterationContext,
    cycle: number,
    block: number,
  ) {
    super();
    this.#input = input;
    this.#make = make;
    this.#context = context;
    this.#block = block;
    this.#lanes = new Array<Lane | null>(cycle).fill(null);
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#restored) {
      // All of them first: where they share a shuffled dataset they share its seeds, which those that are opened later go on with.
      const at = this.#lanes.findIndex((l) => l !== null && l.state !== null);
      if (at >= 0) return this.#begin(at);
      this.#restored = false;
    }
    const lane = this.#lanes[this.#at];
    if (lane === null || lane === undefined) {
      if (this.#ended) {
        if (this.#lanes.every((l) => l === null)) return END;
        this.#advance();
        return AGAIN;
      }
      return after(this.#input.next(), this.#open);
    }
    if (lane.iterator === null) return this.#begin(this.#at);
    return after(lane.iterator.next(), this.#take);
  };

  readonly #open = (step: Step): typeof AGAIN => {
    if (step === END) this.#ended = true;
    else this.#lanes[this.#at] = { element: step, iterator: null, state: null };
    return AGAIN;
  };

  #begin(at: number): Awaitable<typeof AGAIN> {
    const lane = this.#lanes[at] as Lane;
    const failed = (error: unknown): never => {
      this.#lanes[at] = null;
      throw error;
    };
    const begin = (node: DatasetNode): typeof AGAIN => {
      lane.iterator = node.iterate(this.#context);
      if (lane.state !== null) lane.iterator.restoreState(lane.state);
      lane.state = null;
      return AGAIN;
    };
    try {
      const node = this.#make(lane.element);
      return node instanceof Promise ? later(node).then(begin).catch(failed) : begin(node);
    } catch (error) {
      return failed(error);
    }
  }

  readonly #take = (step: Step): Awaitable<Step | typeof AGAIN> => {
    if (step !== END) {
      if (++this.#given === this.#block) this.#advance();
      return step;
    }
    // Another dataset takes the place when its turn comes.
    const lane = this.#lanes[this.#at] as Lane;
    this.#lanes[this.#at] = null;
    this.#advance();
    return after(lane.iterator?.close(), () => AGAIN);
  };

  #advance(): void {
    this.#at = (this.#at + 1) % this.#lanes.length;
    this.#given = 0;
  }

  saveState(): State {
    return {
      input: this.#input.saveState(),
      lanes: this.#lanes.map((lane) =>
        lane === null
          ? null
          : { element: saveElement(lane.element), state: lane.iterator?.saveState() ?? lane.state },
      ),
      at: this.#at,
      given: this.#given,
      ended: this.#ended,
    };
  }
  restoreState(state: State): void {
    const { input, lanes, at, given, ended } = fields(state);
    const saved = list(lanes);
    if (saved.length !== this.#lanes.length || count(at) >= saved.length)
      throw new InvalidArgumentError('the saved state has another cycleLength', 'Dataset.interleave');
    this.#input.restoreState(input as State);
    this.#lanes = saved.map((lane): Lane | null => {
      if (lane === null) return null;
      const { element, state: own } = fields(lane);
      return { element: loadElement(element), iterator: null, state: own ?? null };
    });
    this.#at = count(at);
    this.#given = count(given);
    this.#ended = flag(ended);
    this.#restored = true;
  }

  override close(): Awaitable<void> {
    const lanes = this.#lanes;
    this.#lanes = [null];
    this.#at = 0;
    this.#ended = true;
    return closeAll([...lanes.map((l) => l?.iterator), this.#input]);
  }
}

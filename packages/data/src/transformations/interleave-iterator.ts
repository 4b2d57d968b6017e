// How elements are taken from several datasets in turn, also from several at once.
import { InvalidArgumentError } from '@eagre/backend';
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
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
} from '../pipeline/iterator.ts';
import { Later, later } from '../pipeline/later.ts';
import { closeAll, count, fields, flag, list } from '../pipeline/node.ts';
import { Lane } from './lane.ts';

export interface InterleaveSettings {
  /** How many datasets are open at a time. */
  readonly cycle: number;
  /** How many elements of one come before those of the next. */
  readonly block: number;
  /** How many are asked at once. */
  readonly parallel: number;
  /** Whether elements come in turn, rather than as they are ready. */
  readonly deterministic: boolean;
}

/**
 * Takes blocks of elements from several datasets in turn; with one at a time it is `flatMap`. A dataset takes the place of one that has ended
 * when its turn comes. Which one that is, and so the order of all elements, does not depend on how many are asked at once: places are filled in
 * the order of their turns, and one becomes free when its end has had its turn.
 */
export class InterleaveIterator extends ElementIterator {
  readonly #input: ElementIterator;
  readonly #make: (element: Element) => Awaitable<DatasetNode>;
  readonly #context: IterationContext;
  readonly #settings: InterleaveSettings;
  #lanes: (Lane | null)[];
  #at = 0;
  /** Elements that the current dataset has given in this turn. */
  #given = 0;
  /** Whether the input has. */
  #ended = false;
  /** The input's answer, which all places that are free wait for. */
  #opening: Promise<void> | null = null;
  /** How many answers are waited for. */
  #busy = 0;
  /** Whether anything has had to be waited for: only then are others asked meanwhile. */
  #waits = false;
  #signal: Later<void> | null = null;
  #asking = false;
  /** Whether some of the datasets may have to go on from a state. */
  #restored = false;
  #closed = false;

  constructor(
    input: ElementIterator,
    make: (element: Element) => Awaitable<DatasetNode>,
    context: IterationContext,
    settings: InterleaveSettings,
  ) {
    super();
    this.#input = input;
    this.#make = make;
    this.#context = context;
    this.#settings = settings;
    this.#lanes = new Array<Lane | null>(settings.cycle).fill(null);
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#closed) return END;
    if (this.#restored) {
      // All of them first: where they share a shuffled dataset they share its seeds, which those that are opened later go on with.
      const lane = this.#lanes.find((l) => l !== null && l.state !== null);
      if (lane) {
        if (lane.pending === null) this.#prepare(lane);
        return this.#arrival(lane.pending !== null);
      }
      this.#restored = false;
    }
    if (!this.#settings.deterministic) this.#choose();
    const lane = this.#lanes[this.#at] ?? null;
    const first = lane?.take();
    if (first !== undefined) {
      if ('error' in first) {
        // The input's errors take no place: it is asked again for the same one.
        if (lane?.element === null) this.#lanes[this.#at] = null;
        throw first.error;
      }
      if (++this.#given === this.#settings.block) this.#advance();
      this.#askAhead();
      return first.element;
    }
    if (lane?.ended) {
      this.#lanes[this.#at] = null;
      this.#advance();
      return after(lane.iterator?.close(), again);
    }
    if (lane === null && this.#ended) {
      if (this.#lanes.every((l) => l === null)) return END;
      this.#advance();
      return AGAIN;
    }
    const isFull = this.#busy >= this.#settings.parallel;
    if (!isFull) this.#ask(this.#at);
    this.#askAhead();
    const asked = this.#lanes[this.#at] ?? null;
    const waits = asked === null ? this.#opening !== null : asked.pending !== null && !asked.hasSomething;
    return this.#arrival(waits || isFull);
  };

  /** Goes to a dataset that has something ready, where the current one has nothing. */
  #choose(): void {
    if (this.#lanes[this.#at]?.hasSomething) return;
    const { length } = this.#lanes;
    for (let i = 1; i < length; i++) {
      const at = (this.#at + i) % length;
      if (!this.#lanes[at]?.hasSomething) continue;
      this.#at = at;
      this.#given = 0;
      return;
    }
  }

  #advance(): void {
    this.#at = (this.#at + 1) % this.#lanes.length;
    this.#given = 0;
  }

  // ---- asking

  /** The next turn, now or when something has arrived. */
  #arrival(waits: boolean): Awaitable<typeof AGAIN> {
    if (!waits) return AGAIN;
    this.#signal ??= new Later<void>();
    return this.#signal.then(again);
  }

  /** What was waited for is there. */
  #arrived(): void {
    this.#askAhead();
    const signal = this.#signal;
    this.#signal = null;
    signal?.settle();
  }

  /** Asks the datasets whose turns are next, as many at once as is wanted, unless nothing ever has to be waited for. */
  #askAhead(): void {
    const { parallel } = this.#settings;
    // What answers at once would begin this anew for each element.
    if (parallel === 1 || !this.#waits || this.#asking || this.#closed || this.#restored) return;
    this.#asking = true;
    const { length } = this.#lanes;
    for (let i = 0; i < length; i++) {
      const slot = (this.#at + i) % length;
      while (this.#busy < parallel && this.#wantsMore(slot) && this.#ask(slot));
    }
    this.#asking = false;
  }

  /** Up to a block is kept ready of what has to be waited for, otherwise one element, which tells. */
  #wantsMore(slot: number): boolean {
    const lane = this.#lanes[slot] ?? null;
    return lane === null || lane.readyCount < (lane.waits ? this.#settings.block : 1);
  }

  /**
   * Does what a place needs next, unless that is under way: an element of the input, a dataset for it, an element of that.
   * @returns whether it has been done, so that there may be more to do.
   */
  #ask(slot: number): boolean {
    const lane = this.#lanes[slot] ?? null;
    if (lane === null) {
      if (this.#opening !== null || this.#ended) return false;
      this.#open(slot);
      return this.#opening === null;
    }
    // One that is made, but not begun, waits for those before it.
    if (lane.pending !== null || lane.ended || lane.node !== null) return false;
    if (lane.iterator === null) this.#prepare(lane);
    else this.#pull(lane, lane.iterator);
    return lane.pending === null && lane.node === null;
  }

  /** `take` what comes of `ask`, or `fail`. Nothing is lost when a state is saved in between: all of it happens in one step. */
  #request<T>(
    ask: () => Awaitable<T>,
    take: (value: T) => void,
    fail: (error: unknown) => void,
    pending: (promise: Promise<void> | null) => void,
  ): void {
    let answer: Awaitable<T>;
    try {
      answer = ask();
    } catch (error) {
      fail(error);
      return;
    }
    if (!(answer instanceof Promise)) {
      take(answer);
      return;
    }
    this.#waits = true;
    this.#busy++;
    let isSettled = false;
    const settled = (settle: () => void): void => {
      isSettled = true;
      this.#busy--;
      pending(null);
      if (this.#closed) return;
      settle();
      this.#arrived();
    };
    const promise = later(answer).then(
      (value) => settled(() => take(value)),
      (error: unknown) => settled(() => fail(error)),
    );
    if (!isSettled) pending(promise);
  }

  /** An element of the input for a place. An error stands there instead until its turn comes. */
  #open(slot: number): void {
    this.#request(
      () => this.#input.next(),
      (step: Step) => {
        if (step === END) this.#ended = true;
        else this.#lanes[slot] = new Lane(step);
      },
      (error) => {
        const lane = new Lane(null);
        lane.fail(error);
        this.#lanes[slot] = lane;
      },
      (promise) => {
        this.#opening = promise;
      },
    );
  }

  /** Makes the dataset of a place. */
  #prepare(lane: Lane): void {
    this.#request(
      () => this.#make(lane.element as Element),
      (node: DatasetNode) => {
        lane.node = node;
        if (lane.state !== null) this.#begin(lane, node);
        else this.#beginInTurn();
      },
      (error) => {
        lane.state = null;
        lane.fail(error);
        this.#beginInTurn();
      },
      (promise) => {
        lane.pending = promise;
      },
    );
  }

  /** Begins what is made, in the order of the turns: a pass may draw a seed that it shares with others. */
  #beginInTurn(): void {
    const { length } = this.#lanes;
    for (let i = 0; i < length; i++) {
      const lane = this.#lanes[(this.#at + i) % length] ?? null;
      if (lane === null || lane.iterator !== null || lane.ended) continue;
      if (lane.node !== null) this.#begin(lane, lane.node);
      else if (this.#settings.deterministic) return;
    }
  }

  #begin(lane: Lane, node: DatasetNode): void {
    const { state } = lane;
    lane.node = lane.state = null;
    try {
      lane.iterator = node.iterate(this.#context);
      if (state !== null) lane.iterator.restoreState(state);
    } catch (error) {
      lane.fail(error);
    }
  }

  #pull(lane: Lane, iterator: ElementIterator): void {
    this.#request(
      () => iterator.next(),
      (step: Step) => {
        if (step === END) lane.ended = true;
        else lane.put({ element: step });
      },
      (error) => {
        lane.put({ error });
      },
      (promise) => {
        lane.pending = promise;
        lane.waits = true;
      },
    );
  }

  // ---- its state

  saveState(): State {
    return {
      input: this.#input.saveState(),
      lanes: this.#lanes.map((lane) =>
        lane === null || lane.element === null
          ? null
          : {
              element: saveElement(lane.element),
              state: lane.iterator?.saveState() ?? lane.state,
              arrived: lane.ready.map(saveElement),
              ended: lane.ended,
            },
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
    this.#lanes = saved.map((each): Lane | null => {
      if (each === null) return null;
      const { element, state: own, arrived, ended: over } = fields(each);
      const lane = new Lane(loadElement(element));
      lane.state = own ?? null;
      for (const one of list(arrived)) lane.put({ element: loadElement(one) });
      lane.ended = flag(over);
      return lane;
    });
    this.#at = count(at);
    this.#given = count(given);
    this.#ended = flag(ended);
    this.#restored = true;
  }

  override close(): Awaitable<void> {
    if (this.#closed) return;
    this.#closed = true;
    const lanes = this.#lanes;
    this.#lanes = lanes.map(() => null);
    const pending = [this.#opening, ...lanes.map((l) => l?.pending)].filter((p) => p instanceof Promise);
    const signal = this.#signal;
    this.#signal = null;
    signal?.settle();
    const close = (): Awaitable<void> => closeAll([...lanes.map((l) => l?.iterator), this.#input]);
    // A source must not be closed while it is asked for an element.
    return pending.length === 0 ? close() : Promise.all(pending).then(close);
  }
}
const again = (): typeof AGAIN => AGAIN;

// The items of a list, in another order in each pass.
import type { ElementSpec } from '../elements/element-spec.ts';
import type { Element } from '../elements/structure.ts';
import {
  type DatasetNode,
  ElementIterator,
  END,
  type IterationContext,
  type Shard,
  type State,
  type Step,
} from '../pipeline/iterator.ts';
import { count, fields } from '../pipeline/node.ts';
import type { SeedWords } from '../pipeline/random.ts';
import { type Draws, Seeds } from './numbers.ts';

/** Elements that a function makes of numbers from 0 to `size` - 1. */
export class ShuffledListNode implements DatasetNode {
  readonly kind: string;
  readonly inputs: readonly DatasetNode[] = [];
  readonly spec: ElementSpec;
  readonly #size: number;
  readonly #make: (index: number) => Element;
  readonly #seeds: Seeds | null;

  /**
   * @param words null for the order of the list.
   * @param make gives new tensors.
   */
  constructor(
    kind: string,
    size: number,
    words: SeedWords | Seeds | null,
    spec: ElementSpec,
    make: (index: number) => Element,
  ) {
    this.kind = kind;
    this.spec = spec;
    this.#size = size;
    this.#make = make;
    this.#seeds = words === null || words instanceof Seeds ? words : new Seeds(words, true);
  }

  /** Processes that shuffle differently divide before that. */
  part({ count: shards, index }: Shard): DatasetNode {
    const size = Math.max(0, Math.ceil((this.#size - index) / shards));
    const make = (i: number): Element => this.#make(index + i * shards);
    return new ShuffledListNode(this.kind, size, this.#seeds, this.spec, make);
  }

  cardinality(): number {
    return this.#size;
  }

  iterate(context: IterationContext): ElementIterator {
    return new ShuffledListIterator(this.#size, this.#make, this.#seeds?.begin(this, context) ?? null);
  }
}

class ShuffledListIterator extends ElementIterator {
  override readonly ownsElements = true;
  readonly #make: (index: number) => Element;
  readonly #draws: Draws | null;
  /** The random numbers that the order is drawn with. */
  #start: State;
  readonly #order: Int32Array;
  #isDrawn = false;
  #next = 0;

  constructor(size: number, make: (index: number) => Element, draws: Draws | null) {
    super();
    this.#make = make;
    this.#draws = draws;
    this.#start = draws?.rng.save() ?? null;
    this.#order = Int32Array.from({ length: size }, (_, i) => i);
  }

  next(): Step {
    if (!this.#isDrawn) this.#draws?.rng.shuffle(this.#order);
    this.#isDrawn = true;
    const index = this.#order[this.#next];
    if (index === undefined) return END;
    // What fails counts as consumed.
    this.#next++;
    return this.#make(index);
  }

  saveState(): State {
    return { start: this.#start, next: this.#next, seeds: this.#draws?.save().seeds ?? null };
  }
  restoreState(state: State): void {
    const { start, next, seeds } = fields(state);
    this.#next = count(next);
    this.#start = start ?? null;
    this.#draws?.restore({ rng: start, seeds });
  }
}

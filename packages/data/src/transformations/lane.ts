// One of several datasets that `interleave` takes elements from.
import type { Element } from '../elements/structure.ts';
import type { DatasetNode, ElementIterator, Outcome, State } from '../pipeline/iterator.ts';

// How many places of elements that were taken are kept before the others move up.
const SLACK = 256;

export class Lane {
  /** What it was made for, so that it can be made again when a state is restored; null when there was an error in its place. */
  readonly element: Element | null;
  /** The dataset, until it is begun. */
  node: DatasetNode | null = null;
  iterator: ElementIterator | null = null;
  /** The state to begin from. */
  state: State = null;
  /** Whether it has had to be waited for. */
  waits = false;
  /** What is under way: the dataset is being made, or gives an element. */
  pending: Promise<void> | null = null;
  /** Whether nothing follows behind what is ready. */
  ended = false;
  #arrived: (Outcome | undefined)[] = [];
  #taken = 0;

  constructor(element: Element | null) {
    this.element = element;
  }

  /** Elements that it has given and nobody has taken. */
  get ready(): readonly Element[] {
    return this.#arrived.slice(this.#taken).flatMap((a) => (a && 'element' in a ? [a.element] : []));
  }
  /** How many there are, with errors. */
  get readyCount(): number {
    return this.#arrived.length - this.#taken;
  }
  get hasSomething(): boolean {
    return this.readyCount > 0 || this.ended;
  }

  put(arrived: Outcome): void {
    this.#arrived.push(arrived);
  }

  take(): Outcome | undefined {
    const first = this.#arrived[this.#taken];
    if (first === undefined) return undefined;
    this.#arrived[this.#taken++] = undefined;
    if (this.#taken === this.#arrived.length || this.#taken === SLACK) {
      this.#arrived.splice(0, this.#taken);
      this.#taken = 0;
    }
    return first;
  }

  /** Leaves an error in the place of its elements. */
  fail(error: unknown): void {
    this.put({ error });
    this.ended = true;
  }
}

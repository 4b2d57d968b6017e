// `shuffle`: a buffer from which elements are drawn.
import { InvalidArgumentError } from '@eagre/backend';
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  type DatasetNode,
  ElementIterator,
  END,
  type IterationContext,
  type RowAccess,
  type Shard,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { count, fields, flag, list, UnaryNode } from '../pipeline/node.ts';
import { type Count, checkCount, plainNumber, UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import { type Rng, seedWords } from '../pipeline/random.ts';
import { type Draws, Seeds } from '../sources/numbers.ts';
import { partOfNode } from './part.ts';

/** Options of `shuffle`. */
export interface ShuffleOptions {
  /** Of its own; otherwise `tf.random.setSeed` decides, or nothing. */
  readonly seed?: number;
  /** Whether each pass, and each round of `repeat`, has another order; true unless set. */
  readonly reshuffleEachIteration?: boolean;
}

export class ShuffleNode extends UnaryNode {
  readonly kind = 'Shuffle';
  readonly #buffer: number;
  readonly #seeds: Seeds;

  constructor(input: DatasetNode, bufferSize: Count, options: ShuffleOptions, seeds?: Seeds) {
    super(input);
    // As in TensorFlow, `shuffle(dataset.cardinality())` works also where that is not known.
    this.#buffer =
      plainNumber(bufferSize) === UNKNOWN_CARDINALITY
        ? Number.POSITIVE_INFINITY
        : checkCount(bufferSize, 'bufferSize', 'Dataset.shuffle');
    this.#seeds =
      seeds ?? new Seeds(seedWords(options.seed, 'Dataset.shuffle'), options.reshuffleEachIteration ?? true);
  }

  /** Processes that shuffle differently divide before that. */
  part(shard: Shard): DatasetNode {
    const size = this.#buffer === Number.POSITIVE_INFINITY ? UNKNOWN_CARDINALITY : this.#buffer;
    return new ShuffleNode(partOfNode(this.input, shard), size, {}, this.#seeds);
  }

  iterate(context: IterationContext): ElementIterator {
    const draws = this.#seeds.begin(this, context);
    const rows = this.input.rows?.() ?? null;
    return rows === null
      ? new ShuffleIterator(this.input.iterate(context), this.#buffer, draws)
      : new ShuffleRowsIterator(rows, this.#buffer, draws);
  }
}

/** Takes one of the buffer's places, which the last one fills. Both iterators draw alike, so that the order is the same. */
function draw<T>(buffer: { [index: number]: T }, length: number, rng: Rng): T {
  const at = rng.below(length);
  const drawn = buffer[at];
  buffer[at] = buffer[length - 1];
  return drawn;
}

/** Shuffles elements. */
class ShuffleIterator extends ElementIterator {
  override readonly ownsElements: boolean;
  readonly #input: ElementIterator;
  readonly #size: number;
  readonly #draws: Draws;
  #buffer: Element[] = [];
  #ended = false;

  constructor(input: ElementIterator, size: number, draws: Draws) {
    super();
    this.#input = input;
    this.ownsElements = input.ownsElements;
    this.#size = size;
    this.#draws = draws;
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const buffer = this.#buffer;
    if (buffer.length < this.#size && !this.#ended) {
      const step = this.#input.next();
      return step instanceof Promise ? later(step).then(this.#take) : this.#take(step);
    }
    if (buffer.length === 0) return END;
    const drawn = draw(buffer, buffer.length, this.#draws.rng);
    buffer.pop();
    return drawn;
  };
  readonly #take = (step: Step): typeof AGAIN => {
    if (step === END) this.#ended = true;
    else this.#buffer.push(step);
    return AGAIN;
  };

  saveState(): State {
    return {
      input: this.#input.saveState(),
      buffer: this.#buffer.map(saveElement),
      ended: this.#ended,
      ...this.#draws.save(),
    };
  }
  restoreState(state: State): void {
    const { input, buffer, ended, ...rest } = fields(state);
    this.#input.restoreState(input as State);
    this.#buffer = list(buffer).map(loadElement);
    this.#ended = flag(ended);
    this.#draws.restore(rest);
  }

  override close(): Awaitable<void> {
    this.#buffer = [];
    this.#ended = true;
    return this.#input.close();
  }
}

/** Shuffles numbers of rows; elements are made when they are drawn, several at once if wanted. */
class ShuffleRowsIterator extends ElementIterator {
  override readonly ownsElements = true;
  override readonly hasRows = true;
  readonly #rows: RowAccess;
  readonly #draws: Draws;
  #buffer: Int32Array;
  #length = 0;
  #next = 0;

  constructor(rows: RowAccess, size: number, draws: Draws) {
    super();
    if (rows.count > 2 ** 31 - 1)
      throw new InvalidArgumentError('more than 2147483647 elements cannot be shuffled', 'Dataset.shuffle');
    this.#rows = rows;
    this.#draws = draws;
    this.#buffer = new Int32Array(Math.min(size, rows.count));
  }

  /** The number of the next row, or -1. */
  #draw(): number {
    const buffer = this.#buffer;
    while (this.#length < buffer.length && this.#next < this.#rows.count)
      buffer[this.#length++] = this.#next++;
    return this.#length === 0 ? -1 : draw(buffer, this.#length--, this.#draws.rng);
  }

  next(): Step {
    const row = this.#draw();
    return row < 0 ? END : this.#rows.at(row);
  }

  override nextRows(wanted: number): Step {
    const left = this.#length + this.#rows.count - this.#next;
    const indices = new Int32Array(Math.min(wanted, left));
    if (indices.length === 0) return END;
    for (let i = 0; i < indices.length; i++) indices[i] = this.#draw();
    return this.#rows.gather(indices);
  }

  saveState(): State {
    return {
      next: this.#next,
      buffer: this.#buffer.slice(0, this.#length),
      ...this.#draws.save(),
    };
  }
  restoreState(state: State): void {
    const { next, buffer, ...rest } = fields(state);
    const saved = buffer instanceof Int32Array ? buffer : new Int32Array(0);
    this.#next = count(next);
    if (
      !(buffer instanceof Int32Array) ||
      saved.length > this.#buffer.length ||
      this.#next > this.#rows.count ||
      saved.some((i) => i < 0 || i >= this.#rows.count)
    )
      throw new InvalidArgumentError('the saved state belongs to another dataset', 'Dataset.shuffle');
    this.#buffer.set(saved);
    this.#length = saved.length;
    this.#draws.restore(rest);
  }

  override close(): void {
    this.#length = 0;
    this.#next = this.#rows.count;
    this.#buffer = new Int32Array(0);
  }
}

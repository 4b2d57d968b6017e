// Parts of a dataset, and repetitions: `take`, `skip`, `shard`, `repeat`.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { SHARD_HINT } from '../pipeline/auto-shard-policy.ts';
import {
  AGAIN,
  type Awaitable,
  after,
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
import { CountingIterator, count, fields, flag, UnaryNode } from '../pipeline/node.ts';
import {
  type Count,
  checkCount,
  INFINITE_CARDINALITY,
  plainNumber,
  UNKNOWN_CARDINALITY,
} from '../pipeline/options.ts';
import { rowsOf } from '../pipeline/stacker.ts';
import { disposeAll } from './map.ts';

/** Rows `start + i * step` of others. */
function partOf(rows: RowAccess, start: number, step: number, length: number): RowAccess {
  return {
    count: length,
    at: (i) => rows.at(start + i * step),
    slice: (from, n) =>
      step === 1
        ? rows.slice(start + from, n)
        : rows.gather(Int32Array.from({ length: n }, (_, i) => start + (from + i) * step)),
    gather: (indices) => rows.gather(indices.map((i) => start + i * step)),
  };
}

/** The first elements; all of them with -1. */
export class TakeNode extends UnaryNode {
  readonly kind = 'Take';
  readonly count: number;

  constructor(input: DatasetNode, wanted: Count) {
    super(input);
    this.count =
      plainNumber(wanted) === -1 ? Number.POSITIVE_INFINITY : checkCount(wanted, 'count', 'Dataset.take', 0);
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    if (this.count === Number.POSITIVE_INFINITY || (n >= 0 && n <= this.count)) return n;
    if (this.count === 0) return 0;
    return n === UNKNOWN_CARDINALITY ? UNKNOWN_CARDINALITY : this.count;
  }

  rows(): RowAccess | null {
    const rows = this.input.rows?.() ?? null;
    return rows === null ? null : partOf(rows, 0, 1, Math.min(rows.count, this.count));
  }

  iterate(context: IterationContext): ElementIterator {
    return new TakeIterator(this.input.iterate(context), this);
  }
}

class TakeIterator extends CountingIterator<TakeNode> {
  override readonly hasRows: boolean = this.input.hasRows;

  next(): Awaitable<Step> {
    return this.position >= this.node.count ? END : after(this.input.next(), this.#one);
  }
  readonly #one = (step: Step): Step => {
    if (step !== END) this.position++;
    return step;
  };

  override nextRows(wanted: number): Awaitable<Step> {
    const rows = Math.min(wanted, this.node.count - this.position);
    return rows <= 0 ? END : after(this.input.nextRows(rows), this.#several);
  }
  readonly #several = (step: Step): Step => {
    if (step !== END) this.position += rowsOf(step);
    return step;
  };
}

/** All but the first elements; none with -1, without a look at the input. */
export class SkipNode extends UnaryNode {
  readonly kind = 'Skip';
  readonly count: number;

  constructor(input: DatasetNode, skipped: Count) {
    super(input);
    this.count =
      plainNumber(skipped) === -1
        ? Number.POSITIVE_INFINITY
        : checkCount(skipped, 'count', 'Dataset.skip', 0);
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    if (this.count === Number.POSITIVE_INFINITY) return 0;
    return n < 0 ? n : Math.max(0, n - this.count);
  }

  rows(): RowAccess | null {
    const rows = this.input.rows?.() ?? null;
    if (rows === null) return null;
    const start = Math.min(rows.count, this.count);
    return partOf(rows, start, 1, rows.count - start);
  }

  iterate(context: IterationContext): ElementIterator {
    return new SkipIterator(this.input.iterate(context), this);
  }
}

class SkipIterator extends CountingIterator<SkipNode> {
  override readonly hasRows: boolean = this.input.hasRows;

  next(): Awaitable<Step> {
    // Nothing comes behind all of them, so that none is asked for: there may be no end.
    if (this.node.count === Number.POSITIVE_INFINITY) return END;
    return this.#isThere ? this.input.next() : after(until(this.#skip), this.#then);
  }
  readonly #then = (step: typeof END | null): Awaitable<Step> => (step === END ? END : this.input.next());

  get #isThere(): boolean {
    return this.position >= this.node.count;
  }
  readonly #skip = (): Awaitable<typeof AGAIN | typeof END | null> =>
    this.#isThere ? null : after(this.input.next(), this.#skipped);
  readonly #skipped = (step: Step): typeof AGAIN | typeof END => {
    if (step === END) return END;
    this.position++;
    if (this.ownsElements) disposeAll(step);
    return AGAIN;
  };

  override nextRows(wanted: number): Awaitable<Step> {
    if (this.node.count === Number.POSITIVE_INFINITY) return END;
    if (this.#isThere) return this.input.nextRows(wanted);
    return after(until(this.#skip), (step) => (step === END ? END : this.input.nextRows(wanted)));
  }
}

/** Every `numShards`-th element. */
export class ShardNode extends UnaryNode {
  readonly kind = 'Shard';
  readonly shards: number;
  readonly index: number;

  /** Whether a distribution strategy says how many parts there are, and which this is. */
  readonly isHint: boolean;

  constructor(input: DatasetNode, numShards: Count, index: Count) {
    super(input);
    this.isHint = numShards === SHARD_HINT && index === SHARD_HINT;
    if (this.isHint) {
      this.shards = this.index = SHARD_HINT;
      return;
    }
    this.shards = checkCount(numShards, 'numShards', 'Dataset.shard');
    this.index = checkCount(index, 'index', 'Dataset.shard', 0);
    if (this.index >= this.shards)
      throw new InvalidArgumentError(
        `index must be below numShards, got ${this.index} of ${this.shards}`,
        'Dataset.shard',
      );
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    if (this.isHint) return n < 0 ? n : UNKNOWN_CARDINALITY;
    return n < 0 ? n : Math.max(0, Math.ceil((n - this.index) / this.shards));
  }

  rows(): RowAccess | null {
    if (this.isHint) return null;
    const rows = this.input.rows?.() ?? null;
    return rows === null ? null : partOf(rows, this.index, this.shards, this.cardinality());
  }

  iterate(context: IterationContext): ElementIterator {
    if (!this.isHint) return new ShardIterator(this.input.iterate(context), this);
    const { sharding } = context;
    if (sharding === null || !sharding.hints)
      throw new FailedPreconditionError(
        "shard(SHARD_HINT, SHARD_HINT) is for strategy.experimentalDistributeDataset, of a dataset with the option { experimentalDistribute: { autoShardPolicy: 'HINT' } }",
        'Dataset.shard',
      );
    return new ShardNode(this.input, sharding.count, sharding.index).iterate(context);
  }
}

class ShardIterator extends CountingIterator<ShardNode> {
  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => after(this.input.next(), this.#choose);
  readonly #choose = (step: Step): Step | typeof AGAIN => {
    if (step === END || this.position++ % this.node.shards === this.node.index) return step;
    if (this.ownsElements) disposeAll(step);
    return AGAIN;
  };
}

/** The node of one process's part of a node's elements. */
export function partOfNode(node: DatasetNode, shard: Shard): DatasetNode {
  return node.part?.(shard) ?? new ShardNode(node, shard.count, shard.index);
}

/** All elements several times, or without an end. */
export class RepeatNode extends UnaryNode {
  readonly kind = 'Repeat';
  readonly #count: number;

  constructor(input: DatasetNode, times: Count | undefined) {
    super(input);
    this.#count =
      times === undefined || plainNumber(times) === -1
        ? Number.POSITIVE_INFINITY
        : checkCount(times, 'count', 'Dataset.repeat', 0);
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    if (this.#count === 0 || n === 0) return 0;
    if (n < 0 && this.#count === 1) return n;
    if (this.#count === Number.POSITIVE_INFINITY) return INFINITE_CARDINALITY;
    return n < 0 ? n : n * this.#count;
  }

  part(shard: Shard): DatasetNode {
    return new RepeatNode(
      partOfNode(this.input, shard),
      this.#count === Number.POSITIVE_INFINITY ? undefined : this.#count,
    );
  }

  iterate(context: IterationContext): ElementIterator {
    return new RepeatIterator(this.input, context, this.#count);
  }
}

class RepeatIterator extends ElementIterator {
  override readonly ownsElements: boolean;
  override readonly hasRows: boolean;
  readonly #node: DatasetNode;
  readonly #context: IterationContext;
  readonly #count: number;
  #input: ElementIterator;
  #round = 0;
  /** Whether this round has given an element. */
  #any = false;
  #wanted = 0;

  constructor(node: DatasetNode, context: IterationContext, times: number) {
    super();
    this.#node = node;
    this.#context = context;
    this.#count = times;
    this.#input = node.iterate(context);
    this.ownsElements = this.#input.ownsElements;
    this.hasRows = this.#input.hasRows;
  }

  next(): Awaitable<Step> {
    this.#wanted = 0;
    return until(this.#turn);
  }
  override nextRows(wanted: number): Awaitable<Step> {
    this.#wanted = wanted;
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#round >= this.#count) return END;
    return after(this.#wanted === 0 ? this.#input.next() : this.#input.nextRows(this.#wanted), this.#take);
  };
  readonly #take = (step: Step): Awaitable<Step | typeof AGAIN> => {
    if (step !== END) {
      this.#any = true;
      return step;
    }
    // Repeating nothing without an end would never come to one, and billions of times hardly.
    const endless = this.#count === Number.POSITIVE_INFINITY || this.#node.cardinality() === 0;
    const last = endless && !this.#any;
    this.#round = last ? Number.POSITIVE_INFINITY : this.#round + 1;
    this.#any = false;
    const old = this.#input;
    if (this.#round < this.#count) this.#input = this.#node.iterate(this.#context);
    return after(old.close(), again);
  };

  saveState(): State {
    const ended = this.#round >= this.#count;
    return {
      ended,
      round: ended ? 0 : this.#round,
      any: this.#any,
      input: ended ? null : this.#input.saveState(),
    };
  }
  restoreState(state: State): void {
    const { ended, round, any, input } = fields(state);
    this.#round = flag(ended) ? Number.POSITIVE_INFINITY : count(round);
    this.#any = flag(any);
    if (!ended) this.#input.restoreState(input as State);
  }

  override close(): Awaitable<void> {
    this.#round = Number.POSITIVE_INFINITY;
    return this.#input.close();
  }
}
const again = (): typeof AGAIN => AGAIN;

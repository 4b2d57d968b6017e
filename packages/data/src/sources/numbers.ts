// Numbers: ranges, counters, random ones.
import { type DType, dtypeTraits, InvalidArgumentError, isBigArray, storedNumber } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { emptyTensor, shown, spaceOf, uploaded } from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import {
  type DatasetNode,
  ElementIterator,
  type IterationContext,
  type RowAccess,
  type State,
  type Step,
} from '../pipeline/iterator.ts';
import { count, fields, list, PositionIterator } from '../pipeline/node.ts';
import { type Count, INFINITE_CARDINALITY, plainNumber } from '../pipeline/options.ts';
import { Rng, type SeedWords, seedWords } from '../pipeline/random.ts';
import { RowsNode } from './rows.ts';

/** Options of `Dataset.range`. */
export interface RangeOptions {
  /** The dtype of the numbers; int64 unless set. */
  readonly outputType?: DType;
}
function checkNumeric(dtype: DType, what: string): DType {
  if (!Object.hasOwn(dtypeTraits, dtype) || dtype === 'string' || dtype === 'bool')
    throw new InvalidArgumentError(`outputType must be a dtype of numbers, got ${shown(dtype)}`, what);
  return dtype;
}

/** A vector of numbers in a dtype, or a scalar. */
function numbers(
  dtype: DType,
  size: number,
  of: (i: number) => number,
  shape: readonly number[] = [size],
): Tensor {
  const out = emptyTensor(dtype, shape, size);
  const view = spaceOf(out);
  if (isBigArray(view)) for (let i = 0; i < size; i++) view[i] = BigInt(of(i));
  else for (let i = 0; i < size; i++) view[i] = storedNumber(of(i), dtype);
  return uploaded(out, view);
}

/** start, start + step, … before stop. */
export class RangeNode extends RowsNode {
  readonly kind = 'Range';
  readonly #rows: RowAccess;

  constructor(...[from, to, by, dtype]: readonly [start: Count, stop: Count, step: Count, dtype: DType]) {
    const what = 'Dataset.range';
    const [start, stop, step] = [from, to, by].map(plainNumber);
    checkNumeric(dtype, what);
    const whole = !dtypeTraits[dtype].floating;
    for (const [name, v] of Object.entries({ start, stop, step })) {
      if (!Number.isFinite(v) || (whole && !Number.isSafeInteger(v)))
        throw new InvalidArgumentError(
          `${name} must be ${whole ? 'an integer' : 'finite'}, got ${shown(v)}`,
          what,
        );
    }
    if (step === 0) throw new InvalidArgumentError('step must not be 0', what);
    super(new TensorSpec([], dtype));
    const at = (i: number): number => start + i * step;
    this.#rows = {
      count: Math.max(0, Math.ceil((stop - start) / step)),
      at: (i) => numbers(dtype, 1, () => at(i), []),
      slice: (from, rows) => numbers(dtype, rows, (i) => at(from + i)),
      gather: (indices) => numbers(dtype, indices.length, (i) => at(indices[i])),
    };
  }

  rows(): RowAccess {
    return this.#rows;
  }
}

/** start, start + step, … without an end. */
export class CounterNode implements DatasetNode {
  readonly kind = 'Counter';
  readonly inputs: readonly DatasetNode[] = [];
  readonly spec: TensorSpec;
  readonly #start: number;
  readonly #step: number;

  constructor(from: Count, by: Count, dtype: DType) {
    const [start, step] = [plainNumber(from), plainNumber(by)];
    for (const [name, v] of Object.entries({ start, step })) {
      if (
        !Number.isFinite(v) ||
        (!dtypeTraits[checkNumeric(dtype, 'Dataset.counter')].floating && !Number.isInteger(v))
      )
        throw new InvalidArgumentError(
          `${name} must be a number of ${dtype}, got ${shown(v)}`,
          'Dataset.counter',
        );
    }
    this.spec = new TensorSpec([], dtype);
    this.#start = start;
    this.#step = step;
  }

  cardinality(): number {
    return INFINITE_CARDINALITY;
  }

  iterate(): ElementIterator {
    return new CounterIterator(this.#start, this.#step, this.spec.dtype);
  }
}

class CounterIterator extends PositionIterator {
  override readonly ownsElements = true;
  readonly #start: number;
  readonly #step: number;
  readonly #dtype: DType;

  constructor(start: number, step: number, dtype: DType) {
    super();
    this.#start = start;
    this.#step = step;
    this.#dtype = dtype;
  }

  next(): Step {
    const i = this.position++;
    return numbers(this.#dtype, 1, () => this.#start + i * this.#step, []);
  }
}

/** The seed of a node's next iterator. */
interface Runs {
  words: SeedWords;
  run: number;
  epoch: number;
}

/** The random numbers of an iterator; its state has the seeds of those that come after it, too. */
export interface Draws {
  readonly rng: Rng;
  save(): { readonly rng: State; readonly seeds: State };
  restore(state: Readonly<Record<string, State | undefined>>): void;
}

/**
 * Seeds for the iterators of a node: the same for each, or another for each pass and, where `repeat` makes new iterators in a pass, for
 * each of these.
 */
export class Seeds {
  readonly #words: SeedWords;
  readonly #anew: boolean;
  #runs = 0;

  constructor(words: SeedWords, anew: boolean) {
    this.#words = words;
    this.#anew = anew;
  }

  /** The numbers of the next iterator. */
  begin(node: DatasetNode, context: IterationContext): Draws {
    const runs = context.shared<Runs>(node, () => ({ words: this.#words, run: this.#runs++, epoch: 0 }));
    const rng = new Rng(this.#anew ? [...runs.words, runs.run, runs.epoch++] : runs.words);
    return {
      rng,
      save: () => ({ rng: rng.save(), seeds: { ...runs } }),
      restore: (state) => {
        rng.restore(state['rng']);
        const { words, run, epoch } = fields(state['seeds']);
        // The words too: where nobody gave a seed, another process has drawn others.
        Object.assign(runs, {
          words: list(words).map(Number),
          run: count(run),
          epoch: count(epoch),
        });
        // The next pass is the one after the restored, in another process too, and whatever passes were begun before.
        this.#runs = count(run) + 1;
      },
    };
  }
}

/** Random 32-bit numbers, int64, without an end. */
export class RandomNode implements DatasetNode {
  readonly kind = 'Random';
  readonly inputs: readonly DatasetNode[] = [];
  readonly spec: TensorSpec = new TensorSpec([], 'int64');
  readonly #seeds: Seeds;

  constructor(seed: number | undefined, anew: boolean) {
    this.#seeds = new Seeds(seedWords(seed, 'Dataset.random'), anew);
  }

  cardinality(): number {
    return INFINITE_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    return new RandomIterator(this.#seeds.begin(this, context));
  }
}

class RandomIterator extends ElementIterator {
  override readonly ownsElements = true;
  readonly #draws: Draws;

  constructor(draws: Draws) {
    super();
    this.#draws = draws;
  }

  next(): Step {
    return constant(BigInt(this.#draws.rng.bits()));
  }
  saveState(): State {
    return this.#draws.save();
  }
  restoreState(state: State): void {
    this.#draws.restore(fields(state));
  }
}

// Transformations that let elements through: `unique`, `ignoreErrors`, `assertCardinality`, `withOptions`, `rejectionResample`.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, FailedPreconditionError, type Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { argumentsOf, ElementFunction, type FunctionCallOptions } from '../element-function.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, tensorsOf } from '../elements/structure.ts';
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
} from '../iterator.ts';
import { later } from '../later.ts';
import { count, fields, list, UnaryIterator, UnaryNode } from '../node.ts';
import { checkOptions, type DatasetOptions, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from '../options.ts';
import { type Rng, seedWords } from '../random.ts';
import { Seeds } from '../sources/numbers.ts';

/** Leaves out elements that came before. */
export class UniqueNode extends UnaryNode {
  readonly kind = 'Unique';

  override cardinality(): number {
    return this.input.cardinality() === 0 ? 0 : UNKNOWN_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    return new UniqueIterator(this.input.iterate(context));
  }
}

class UniqueIterator extends UnaryIterator {
  #seen = new Set<string>();

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => after(this.input.next(), this.#take);
  readonly #take = (step: Step): Step | typeof AGAIN => {
    if (step === END) return END;
    const key = tensorsOf(step, 'Dataset.unique').map(keyOf).join('|');
    if (this.#seen.has(key)) return AGAIN;
    this.#seen.add(key);
    return step;
  };

  protected override save(): State {
    return [...this.#seen];
  }
  protected override restore(state: State): void {
    this.#seen = new Set(list(state).map(String));
  }
}

function keyOf(t: Tensor): string {
  return t.dtype === 'string'
    ? JSON.stringify([t.shape, t.strings()])
    : `${t.dtype}[${t.shape}]${t.data().join(',')}`;
}

/** Leaves out what throws. */
export class IgnoreErrorsNode extends UnaryNode {
  readonly kind = 'IgnoreErrors';
  readonly #log: boolean;

  constructor(input: DatasetNode, log: boolean) {
    super(input);
    this.#log = log;
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    return n > 0 ? UNKNOWN_CARDINALITY : n;
  }

  iterate(context: IterationContext): ElementIterator {
    return new IgnoreErrorsIterator(this.input.iterate(context), this.#log);
  }
}

class IgnoreErrorsIterator extends UnaryIterator {
  override readonly fresh: boolean;
  readonly #log: boolean;

  constructor(input: ElementIterator, log: boolean) {
    super(input);
    this.fresh = input.fresh;
    this.#log = log;
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    try {
      const step = this.input.next();
      return step instanceof Promise ? later(step).then(undefined, this.#ignore) : step;
    } catch (error) {
      return this.#ignore(error);
    }
  };
  readonly #ignore = (error: unknown): typeof AGAIN => {
    if (this.#log)
      console.warn(`Dataset.ignoreErrors: ${error instanceof Error ? error.message : String(error)}`);
    return AGAIN;
  };
}

/** Says, and checks, how many elements there are. */
export class AssertCardinalityNode extends UnaryNode {
  readonly kind = 'AssertCardinality';
  readonly #expected: number;

  constructor(input: DatasetNode, expected: number) {
    super(input);
    if (!Number.isSafeInteger(expected) || expected < UNKNOWN_CARDINALITY)
      throw new InvalidArgumentError(
        `expected a number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY, got ${String(expected)}`,
        'Dataset.assertCardinality',
      );
    this.#expected = expected;
  }

  override cardinality(): number {
    return this.#expected;
  }

  iterate(context: IterationContext): ElementIterator {
    return this.#expected === UNKNOWN_CARDINALITY
      ? this.input.iterate(context)
      : new AssertCardinalityIterator(this.input.iterate(context), this.#expected);
  }
}

class AssertCardinalityIterator extends UnaryIterator {
  override readonly fresh: boolean;
  readonly #expected: number;
  #count = 0;

  constructor(input: ElementIterator, expected: number) {
    super(input);
    this.fresh = input.fresh;
    this.#expected = expected;
  }

  next(): Awaitable<Step> {
    return after(this.input.next(), this.#take);
  }
  readonly #take = (step: Step): Step => {
    const expected = this.#expected;
    if (step !== END) this.#count++;
    const wrong = step === END ? this.#count !== expected : expected >= 0 && this.#count > expected;
    if (wrong) {
      const wanted = expected === INFINITE_CARDINALITY ? 'an infinite number of' : String(expected);
      const got = step === END ? String(this.#count) : `at least ${this.#count}`;
      throw new FailedPreconditionError(
        `Input dataset was expected to contain ${wanted} elements but contained ${step === END ? 'only ' : ''}${got} elements.`,
        'Dataset.assertCardinality',
      );
    }
    return step;
  };

  protected override save(): State {
    return this.#count;
  }
  protected override restore(state: State): void {
    this.#count = count(state);
  }
}

/** Options for the pipeline up to here. */
export class OptionsNode extends UnaryNode {
  readonly kind = 'Options';
  readonly options: DatasetOptions;

  constructor(input: DatasetNode, options: DatasetOptions) {
    super(input);
    this.options = checkOptions(options);
  }

  rows(): RowAccess | null {
    return this.input.rows?.() ?? null;
  }

  iterate(context: IterationContext): ElementIterator {
    return this.input.iterate(context);
  }
}

export interface ResampleOptions extends FunctionCallOptions {
  /** How the classes are distributed in the input; found while going through it unless given. */
  readonly initialDist?: readonly number[];
  readonly seed?: number;
}

/** Leaves elements out by chance, so that classes are distributed as wanted. Gives [class, element]. */
export class ResampleNode extends UnaryNode {
  readonly kind = 'RejectionResample';
  readonly #classOf: ElementFunction;
  readonly #target: readonly number[];
  readonly #initial: readonly number[] | null;
  readonly #seeds: Seeds;

  constructor(
    input: DatasetNode,
    classFunc: (...args: never[]) => unknown,
    targetDist: readonly number[],
    options: ResampleOptions,
  ) {
    const what = 'Dataset.rejectionResample';
    super(input, input.spec === null ? null : [new TensorSpec([], 'int32'), input.spec]);
    for (const dist of [targetDist, options.initialDist ?? targetDist]) {
      if (dist.length !== targetDist.length || dist.some((p) => !(p >= 0)) || Math.abs(sum(dist) - 1) > 1e-3)
        throw new InvalidArgumentError(
          `a distribution is a probability for each class, and they sum to 1, got [${dist}]`,
          what,
        );
    }
    this.#classOf = ElementFunction.ofElements(classFunc, input.spec, options, what);
    this.#target = targetDist;
    this.#initial = options.initialDist ?? null;
    this.#seeds = new Seeds(seedWords(options.seed, what), true);
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    return n > 0 ? UNKNOWN_CARDINALITY : n;
  }

  iterate(context: IterationContext): ElementIterator {
    const rng = this.#seeds.next(this, context);
    const seeds = {
      save: () => this.#seeds.save(this, context),
      restore: (state: State | undefined) => this.#seeds.restore(this, context, state),
    };
    return new ResampleIterator(
      this.input.iterate(context),
      this.#classOf,
      this.#target,
      this.#initial,
      rng,
      seeds,
    );
  }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

class ResampleIterator extends UnaryIterator {
  readonly #classOf: ElementFunction;
  readonly #target: readonly number[];
  readonly #initial: readonly number[] | null;
  readonly #rng: Rng;
  readonly #seeds: { save(): State; restore(state: State | undefined): void };
  #counts: number[];
  #current: Element | null = null;

  constructor(
    input: ElementIterator,
    classOf: ElementFunction,
    target: readonly number[],
    initial: readonly number[] | null,
    rng: Rng,
    seeds: { save(): State; restore(state: State | undefined): void },
  ) {
    super(input);
    this.#classOf = classOf;
    this.#target = target;
    this.#initial = initial;
    this.#rng = rng;
    this.#seeds = seeds;
    this.#counts = target.map(() => 1);
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => after(this.#current ?? this.input.next(), this.#ask);
  readonly #ask = (step: Step): Awaitable<Step | typeof AGAIN> => {
    if (step === END) return END;
    this.#current = step;
    try {
      const answer = this.#classOf.scalar(argumentsOf(step));
      return answer instanceof Promise
        ? later(answer).then(this.#decide, this.#failed)
        : this.#decide(answer);
    } catch (error) {
      return this.#failed(error);
    }
  };
  readonly #failed = (error: unknown): never => {
    this.#current = null;
    throw error;
  };
  readonly #decide = (kind: number): Step | typeof AGAIN => {
    const element = this.#current as Element;
    this.#current = null;
    const target = this.#target;
    if (!Number.isInteger(kind) || kind < 0 || kind >= target.length)
      throw new InvalidArgumentError(
        `the class must be an integer from 0 to ${target.length - 1}, got ${kind}`,
        'Dataset.rejectionResample',
      );
    this.#counts[kind] = (this.#counts[kind] as number) + 1;
    const total = sum(this.#counts);
    const initial = this.#initial ?? this.#counts.map((n) => n / total);
    const ratios = target.map((t, i) => (t === 0 ? 0 : t / Math.max(initial[i] as number, Number.MIN_VALUE)));
    const accepted = this.#rng.uniform() * Math.max(...ratios) < (ratios[kind] as number);
    return accepted ? [constant(kind, 'int32'), element] : AGAIN;
  };

  protected override save(): State {
    return {
      counts: [...this.#counts],
      current: this.#current === null ? null : saveElement(this.#current),
      rng: this.#rng.save(),
      seeds: this.#seeds.save(),
    };
  }
  protected override restore(state: State): void {
    const { counts, current, rng, seeds } = fields(state);
    this.#counts = list(counts).map(Number);
    this.#current = current === null ? null : loadElement(current);
    this.#rng.restore(rng);
    this.#seeds.restore(seeds);
  }
}

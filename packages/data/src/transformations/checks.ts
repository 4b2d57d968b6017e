// What goes wrong: `ignoreErrors`, `assertCardinality`.

import { InvalidArgumentError } from '@eagre/backend';
import { FailedPreconditionError } from '@eagre/core';
import { shown } from '@eagre/core/internal';
import {
  AGAIN,
  type Awaitable,
  after,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { CountingIterator, UnaryIterator, UnaryNode } from '../pipeline/node.ts';
import { type Count, INFINITE_CARDINALITY, plainNumber, UNKNOWN_CARDINALITY } from '../pipeline/options.ts';

/** Leaves out what throws. */
export class IgnoreErrorsNode extends UnaryNode {
  readonly kind = 'IgnoreErrors';
  readonly log: boolean;

  constructor(input: DatasetNode, log: boolean) {
    super(input);
    this.log = log;
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    return n > 0 ? UNKNOWN_CARDINALITY : n;
  }

  iterate(context: IterationContext): ElementIterator {
    return new IgnoreErrorsIterator(this.input.iterate(context), this);
  }
}

class IgnoreErrorsIterator extends UnaryIterator<IgnoreErrorsNode> {
  override readonly ownsElements: boolean = this.input.ownsElements;

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
    if (this.node.log)
      console.warn(`Dataset.ignoreErrors: ${error instanceof Error ? error.message : String(error)}`);
    return AGAIN;
  };
}

/** Says, and checks, how many elements there are. */
export class AssertCardinalityNode extends UnaryNode {
  readonly kind = 'AssertCardinality';
  readonly expected: number;

  constructor(input: DatasetNode, given: Count) {
    super(input);
    const expected = plainNumber(given);
    if (!Number.isSafeInteger(expected) || expected < UNKNOWN_CARDINALITY)
      throw new InvalidArgumentError(
        `expected a number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY, got ${shown(expected)}`,
        'Dataset.assertCardinality',
      );
    this.expected = expected;
  }

  override cardinality(): number {
    return this.expected;
  }

  iterate(context: IterationContext): ElementIterator {
    return this.expected === UNKNOWN_CARDINALITY
      ? this.input.iterate(context)
      : new AssertCardinalityIterator(this.input.iterate(context), this);
  }
}

class AssertCardinalityIterator extends CountingIterator<AssertCardinalityNode> {
  #told = false;

  next(): Awaitable<Step> {
    return after(this.input.next(), this.#take);
  }
  readonly #take = (step: Step): Step => {
    const expected = this.node.expected;
    if (step !== END) this.position++;
    const wrong = step === END ? this.position !== expected : expected >= 0 && this.position > expected;
    if (wrong && !(step === END && this.#told)) {
      this.#told = true;
      const wanted = expected === INFINITE_CARDINALITY ? 'an infinite number of' : String(expected);
      const got = step === END ? String(this.position) : `at least ${this.position}`;
      throw new FailedPreconditionError(
        `Input dataset was expected to contain ${wanted} elements but contained ${step === END ? 'only ' : ''}${got} elements.`,
        'Dataset.assertCardinality',
      );
    }
    return step;
  };
}

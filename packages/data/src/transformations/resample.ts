// `rejectionResample`: elements are left out by chance.

import { InvalidArgumentError } from '@eagre/backend';
import { constant } from '@eagre/core';
import { shown } from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import type { Element } from '../elements/structure.ts';
import { argumentsOf, ElementFunction, type FunctionCallOptions } from '../pipeline/element-function.ts';
import {
  AGAIN,
  type Awaitable,
  type DatasetNode,
  type ElementIterator,
  type IterationContext,
  type State,
  type Step,
} from '../pipeline/iterator.ts';
import { fields, list, UnaryNode } from '../pipeline/node.ts';
import { UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import { seedWords } from '../pipeline/random.ts';
import { type Draws, Seeds } from '../sources/numbers.ts';
import { CallingIterator } from './calling-iterator.ts';

/** Options of `rejectionResample`. */
export interface ResampleOptions extends FunctionCallOptions {
  /** How the classes are distributed in the input; found while going through it unless given. */
  readonly initialDist?: readonly number[];
  /** Makes the choice the same in each run of the program; drawn anew unless given. */
  readonly seed?: number;
}

/** Leaves elements out by chance, so that classes are distributed as wanted. Gives [class, element]. */
export class ResampleNode extends UnaryNode {
  readonly kind = 'RejectionResample';
  readonly classOf: ElementFunction;
  readonly target: readonly number[];
  readonly initial: readonly number[] | null;
  readonly seeds: Seeds;

  constructor(
    input: DatasetNode,
    classFunc: (...args: never[]) => unknown,
    targetDist: readonly number[],
    options: ResampleOptions,
  ) {
    const what = 'Dataset.rejectionResample';
    super(input, input.spec === null ? null : [new TensorSpec([], 'int32'), input.spec]);
    for (const dist of [targetDist, options.initialDist ?? targetDist]) {
      if (
        !Array.isArray(dist) ||
        dist.length !== targetDist.length ||
        dist.some((p) => typeof p !== 'number' || !(p >= 0)) ||
        Math.abs(sum(dist) - 1) > 1e-3
      )
        throw new InvalidArgumentError(
          `a distribution must be a list of probabilities, one per class, that sum to 1, got ${shown(dist)}`,
          what,
        );
    }
    this.classOf = ElementFunction.ofElements(classFunc, input.spec, options, what);
    this.target = targetDist;
    this.initial = options.initialDist ?? null;
    this.seeds = new Seeds(seedWords(options.seed, what), true);
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    return n > 0 ? UNKNOWN_CARDINALITY : n;
  }

  iterate(context: IterationContext): ElementIterator {
    return new ResampleIterator(this.input.iterate(context), this, context);
  }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

class ResampleIterator extends CallingIterator<number, ResampleNode> {
  readonly #draws: Draws;
  #counts = this.node.target.map(() => 1);

  constructor(input: ElementIterator, node: ResampleNode, context: IterationContext) {
    super(input, node);
    this.#draws = node.seeds.begin(node, context);
  }

  protected call(element: Element): Awaitable<number> {
    return this.node.classOf.scalar(argumentsOf(element));
  }
  protected answered(element: Element, kind: number): Step | typeof AGAIN {
    const target = this.node.target;
    if (!Number.isInteger(kind) || kind < 0 || kind >= target.length)
      throw new InvalidArgumentError(
        `the class must be an integer from 0 to ${target.length - 1}, got ${kind}`,
        'Dataset.rejectionResample',
      );
    this.#counts[kind] = this.#counts[kind] + 1;
    const total = sum(this.#counts);
    const initial = this.node.initial ?? this.#counts.map((n) => n / total);
    const ratios = target.map((t, i) => (t === 0 ? 0 : t / Math.max(initial[i], Number.MIN_VALUE)));
    const accepted = this.#draws.rng.uniform() * Math.max(...ratios) < ratios[kind];
    return accepted ? [constant(kind, 'int32'), element] : AGAIN;
  }

  protected override saveOwn(): State {
    return { counts: [...this.#counts], ...this.#draws.save() };
  }
  protected override restoreOwn(state: State): void {
    const { counts, ...draws } = fields(state);
    this.#counts = list(counts).map(Number);
    this.#draws.restore(draws);
  }
}

// Elements from several datasets, chosen by numbers or by chance.
import { InvalidArgumentError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import { shown } from '@eagre/core/internal';
import { commonSpec, type ElementSpec, sameKind } from '../elements/element-spec.ts';
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
import { later } from '../pipeline/later.ts';
import { closeAll, fields, list } from '../pipeline/node.ts';
import { INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import type { SeedWords } from '../pipeline/random.ts';
import { Seeds } from '../sources/numbers.ts';
import { restoreAll } from './zip.ts';

/** Options of `Dataset.sampleFromDatasets`. */
export interface SampleOptions {
  /** How likely each dataset is, up to a factor; all the same unless set. */
  readonly weights?: readonly number[];
  /** Makes the choice the same in each run of the program; drawn anew unless given. */
  readonly seed?: number;
  /** Whether the end of one dataset is the end of all. */
  readonly stopOnEmptyDataset?: boolean;
  /** Whether each pass draws anew; the same in all passes unless set. */
  readonly rerandomizeEachIteration?: boolean;
}

/** Gives the number of the dataset that the next element comes from, or `END`. */
interface Choice {
  next(left: readonly boolean[]): Awaitable<number | typeof END>;
  save(): State;
  restore(state: State | undefined): void;
  close(): Awaitable<void>;
}

abstract class ChooseNode implements DatasetNode {
  abstract readonly kind: string;
  abstract readonly inputs: readonly DatasetNode[];
  readonly datasets: readonly DatasetNode[];
  readonly spec: ElementSpec | null;
  protected readonly stops: boolean;

  constructor(datasets: readonly DatasetNode[], stops: boolean, what: string) {
    const [first, ...rest] = datasets;
    if (first === undefined) throw new InvalidArgumentError('there is no dataset to choose from', what);
    if (rest.some((d) => !sameKind(first.spec, d.spec)))
      throw new InvalidArgumentError('the datasets have elements of different structures or dtypes', what);
    this.datasets = datasets;
    this.spec = rest.reduce<ElementSpec | null>((spec, d) => commonSpec(spec, d.spec), first.spec);
    this.stops = stops;
  }

  cardinality(): number {
    const counts = this.datasets.filter((_, i) => this.isChosen(i)).map((d) => d.cardinality());
    return this.stops || counts.includes(UNKNOWN_CARDINALITY)
      ? UNKNOWN_CARDINALITY
      : counts.includes(INFINITE_CARDINALITY)
        ? INFINITE_CARDINALITY
        : counts.reduce((a, b) => a + b);
  }

  /** Whether elements of a dataset may be chosen at all. */
  protected isChosen(_dataset: number): boolean {
    return true;
  }

  protected abstract choice(context: IterationContext): Choice;

  iterate(context: IterationContext): ElementIterator {
    return new ChooseIterator(
      this.datasets.map((d) => d.iterate(context)),
      this.choice(context),
      this.stops,
    );
  }
}

class ChooseIterator extends ElementIterator {
  override readonly ownsElements: boolean;
  readonly #inputs: readonly ElementIterator[];
  readonly #choice: Choice;
  readonly #stops: boolean;
  #left: boolean[];
  /** The dataset that was chosen and has not answered yet. */
  #at = -1;
  #ended = false;

  constructor(inputs: readonly ElementIterator[], choice: Choice, stops: boolean) {
    super();
    this.#inputs = inputs;
    this.#choice = choice;
    this.#stops = stops;
    this.#left = inputs.map(() => true);
    this.ownsElements = inputs.every((i) => i.ownsElements);
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#ended || !this.#left.includes(true)) return END;
    if (this.#at < 0) return after(this.#choice.next(this.#left), this.#chosen);
    try {
      const step = this.#inputs[this.#at].next();
      return step instanceof Promise ? later(step).then(this.#take, this.#failed) : this.#take(step);
    } catch (error) {
      return this.#failed(error);
    }
  };
  /** The choice was for the element that failed. */
  readonly #failed = (error: unknown): never => {
    this.#at = -1;
    throw error;
  };
  readonly #chosen = (at: number | typeof END): typeof AGAIN => {
    if (at === END) this.#ended = true;
    else if (this.#left[at] === true) this.#at = at;
    return AGAIN;
  };
  readonly #take = (step: Step): Step | typeof AGAIN => {
    const at = this.#at;
    this.#at = -1;
    if (step !== END) return step;
    this.#left[at] = false;
    if (this.#stops) this.#ended = true;
    return AGAIN;
  };

  saveState(): State {
    return {
      inputs: this.#inputs.map((i) => i.saveState()),
      choice: this.#choice.save(),
      left: [...this.#left],
      at: this.#at,
      ended: this.#ended,
    };
  }
  restoreState(state: State): void {
    const { inputs, choice, left, at, ended } = fields(state);
    restoreAll(this.#inputs, inputs);
    this.#choice.restore(choice);
    this.#left = list(left).map((l) => l === true);
    this.#at = Number(at);
    this.#ended = ended === true;
  }

  override close(): Awaitable<void> {
    this.#ended = true;
    return after(this.#choice.close(), () => closeAll(this.#inputs));
  }
}

/** Elements of another dataset say which one is next. */
export class ChooseFromNode extends ChooseNode {
  readonly kind = 'ChooseFrom';
  readonly inputs: readonly DatasetNode[];
  readonly #choices: DatasetNode;

  constructor(datasets: readonly DatasetNode[], choices: DatasetNode, stops: boolean) {
    super(datasets, stops, 'Dataset.chooseFromDatasets');
    this.#choices = choices;
    this.inputs = [...datasets, choices];
  }

  override cardinality(): number {
    return UNKNOWN_CARDINALITY;
  }

  protected choice(context: IterationContext): Choice {
    const choices = this.#choices.iterate(context);
    const count = this.datasets.length;
    const take = (step: Step): number | typeof END => {
      if (step === END) return END;
      const at =
        step instanceof Tensor && step.size === 1 && step.dtype !== 'string' ? step.item() : Number.NaN;
      if (!Number.isInteger(at) || at < 0 || at >= count)
        throw new InvalidArgumentError(
          `the choice must be an integer from 0 to ${count - 1}, got ${String(step)}`,
          'Dataset.chooseFromDatasets',
        );
      return at;
    };
    return {
      next: () => after(choices.next(), take),
      save: () => choices.saveState(),
      restore: (state) => choices.restoreState(state as State),
      close: () => choices.close(),
    };
  }
}

/** Datasets are drawn with probabilities; those that have ended are not drawn any more. */
export class SampleFromNode extends ChooseNode {
  readonly kind = 'SampleFrom';
  readonly inputs: readonly DatasetNode[];
  readonly #weights: readonly number[];
  readonly #seeds: Seeds;

  constructor(
    datasets: readonly DatasetNode[],
    weights: readonly number[] | undefined,
    words: SeedWords,
    anew: boolean,
    stops: boolean,
  ) {
    const what = 'Dataset.sampleFromDatasets';
    super(datasets, stops, what);
    this.inputs = datasets;
    this.#weights = weights ?? datasets.map(() => 1);
    this.#seeds = new Seeds(words, anew);
    if (this.#weights.length !== datasets.length)
      throw new InvalidArgumentError(
        `there are ${this.#weights.length} weights for ${datasets.length} datasets`,
        what,
      );
    if (this.#weights.some((w) => !Number.isFinite(w) || w < 0) || this.#weights.every((w) => w === 0))
      throw new InvalidArgumentError(
        `weights must be at least 0, and at least one of them above 0, got ${shown(this.#weights)}`,
        what,
      );
  }

  protected override isChosen(dataset: number): boolean {
    return this.#weights[dataset] > 0;
  }

  protected choice(context: IterationContext): Choice {
    const draws = this.#seeds.begin(this, context);
    const weights = this.#weights;
    return {
      next: (left) => {
        const total = weights.reduce((sum, w, i) => (left[i] === true ? sum + w : sum), 0);
        if (total === 0) return END;
        let at = draws.rng.uniform() * total;
        let last = 0;
        for (let i = 0; i < weights.length; i++) {
          if (left[i] !== true || weights[i] === 0) continue;
          last = i;
          at -= weights[i];
          if (at < 0) break;
        }
        return last;
      },
      save: () => draws.save(),
      restore: (state) => draws.restore(fields(state)),
      close: () => undefined,
    };
  }
}

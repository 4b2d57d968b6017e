// The losses of a model, one for each output.
import { FailedPreconditionError, InvalidArgumentError, type Tensor } from '@eagre/core';
import { lazily, outsideScopes, scaleLoss, snakeCase, tree } from '@eagre/core/internal';
import { losses, metrics } from '@eagre/metrics';
import { isDeep } from '../layer/forms.ts';
import {
  areByKeys,
  checkOneForEach,
  inForm,
  inOrder,
  isByName,
  namesOfLosses,
  type Outputs,
} from './per-output.ts';

type LossLike = losses.LossLike;
/** One for all outputs, a list of one for each (null: none), by the outputs' names, or in the structure of the outputs. */
export type LossOption =
  | LossLike
  | readonly (LossOption | null)[]
  | { readonly [name: string]: LossOption | null };
/** Factors of the losses: one for all outputs where one loss counts for all, or one for each output, in a list, by name or in the structure of the outputs; 1 where there is none. */
export type LossWeightsOption =
  | number
  | readonly LossWeightsOption[]
  | { readonly [name: string]: LossWeightsOption };

/** A loss under the name by which it was asked for. */
class NamedLoss {
  readonly loss: losses.Loss;
  readonly name: string;
  readonly like: LossLike;
  constructor(like: LossLike) {
    this.like = like;
    this.loss = losses.get(like);
    this.name = typeof like === 'string' ? snakeCase(like) : this.loss.name;
  }
}
const asGiven = (leaf: unknown): unknown => (leaf instanceof NamedLoss ? leaf.like : leaf);
/** Losses in lists and by name. */
type Losses = NamedLoss | null | readonly Losses[] | { readonly [name: string]: Losses };
/** The loss of one output. */
interface OutputLoss {
  readonly loss: losses.Loss;
  readonly weight: number;
  /** Its mean over the examples, where there are several losses. */
  readonly mean: metrics.Mean | null;
}

/** What losses see of a batch; of each output one. */
export interface Comparison {
  readonly targets: readonly (Tensor | undefined)[];
  readonly predictions: readonly Tensor[];
  readonly weights: readonly (Tensor | undefined)[];
}

export class CompiledLoss {
  readonly #given: Losses;
  readonly #weights: LossWeightsOption | undefined;
  #resolved: readonly (OutputLoss | null)[] | undefined;

  /** @throws InvalidArgumentError for what is no loss, or no weights */
  constructor(given: LossOption, weights: LossWeightsOption | undefined) {
    const get = (some: unknown): Losses => {
      if (some === null || some === undefined) return null;
      return Array.isArray(some) || isByName(some)
        ? (tree.mapItems(some as tree.Container, get) as Losses)
        : new NamedLoss(some as LossLike);
    };
    this.#given = get(given);
    if (!tree.leavesOf(weights ?? 1, 'compile').every((n) => typeof n === 'number')) {
      throw new InvalidArgumentError(
        'lossWeights must be numbers: one for each output, in a list or by name',
        'compile',
      );
    }
    this.#weights = weights ?? undefined;
  }

  /** Whether code of the user computes a loss, and may keep what it sees. */
  get observed(): boolean {
    return tree
      .leavesOf(this.#given, 'compile')
      .some((one) => one instanceof NamedLoss && !isOurLoss(one.loss));
  }

  /** The means of the outputs' losses, where there are several. */
  get means(): metrics.Mean[] {
    return this.#resolved?.flatMap((one) => (one === null || one.mean === null ? [] : [one.mean])) ?? [];
  }

  /** Which outputs have a loss. @throws InvalidArgumentError when what was given does not fit the outputs */
  resolve(outputs: Outputs): readonly (OutputLoss | null)[] {
    if (this.#resolved !== undefined) return this.#resolved;
    const all = this.#losses(outputs);
    const weights = this.#factors(outputs);
    const several = all.filter((one) => one !== null).length > 1;
    const names = several ? namesOfLosses(outputs, (i) => all[i]?.name ?? '') : [];
    this.#resolved = all.map((one, i) => {
      if (one === null) return null;
      const mean = several ? new metrics.Mean(`${names[i]}_loss`) : null;
      return { loss: one.loss, weight: weights[i] ?? 1, mean };
    });
    return this.#resolved;
  }

  #losses(outputs: Outputs): readonly (NamedLoss | null)[] {
    const given = this.#given;
    if (given instanceof NamedLoss) return new Array<NamedLoss>(outputs.count).fill(given);
    if (given === null) return new Array<null>(outputs.count).fill(null);
    const one = (found: unknown, i: number): NamedLoss | null => {
      if (found === null || found === undefined || found instanceof NamedLoss) return found ?? null;
      throw new InvalidArgumentError(
        `loss: several are given for the output '${outputs.names?.[i] ?? i}': give one`,
        'compile',
      );
    };
    if (isDeep(outputs.form)) return inForm(given, outputs, 'loss', true, asGiven).map(one);
    if (Array.isArray(given)) {
      checkOneForEach(given, outputs, 'loss');
      return given.map(one);
    }
    const byName = given as Readonly<Record<string, Losses>>;
    return inOrder(byName, outputs.names, 'loss').map((found, i) => {
      if (found !== undefined || areByKeys(outputs)) return one(found, i);
      throw new InvalidArgumentError(
        `the output '${outputs.names?.[i]}' has no loss; write null if it needs none`,
        'compile',
      );
    });
  }

  #factors(outputs: Outputs): readonly (number | undefined)[] {
    const given = this.#weights;
    if (given === undefined) return [];
    // As in Keras: of one loss for all outputs one factor.
    if (typeof given === 'number' && this.#given instanceof NamedLoss)
      return new Array<number>(outputs.count).fill(given);
    if (isDeep(outputs.form)) {
      const factors = inForm(given, outputs, 'lossWeights', false);
      const wrong = factors.findIndex((n) => typeof n !== 'number');
      if (wrong < 0) return factors as number[];
      throw new InvalidArgumentError(`lossWeights: the output ${wrong} has no number`, 'compile');
    }
    if (isByName(given)) {
      const { names } = outputs;
      if (names !== null && new Set(names).size < names.length)
        throw new InvalidArgumentError(
          `lossWeights: several outputs have the same name (${names.join(', ')}); give a list`,
          'compile',
        );
      return inOrder(given, names, 'lossWeights') as (number | undefined)[];
    }
    const list = typeof given === 'number' ? [given] : (given as readonly number[]);
    checkOneForEach(list, outputs, 'lossWeights');
    return list;
  }

  /** The losses of a batch, one for each output that has one, without their weights. */
  compute(outputs: Outputs, { targets, predictions, weights }: Comparison): Tensor[] {
    return this.resolve(outputs).flatMap((one, i) => {
      if (one === null) return [];
      const [y, p, sampleWeight] = [targets[i], predictions[i], weights[i]];
      if (y === undefined)
        throw new InvalidArgumentError(`y lacks the output '${outputs.names?.[i] ?? i}', which has a loss`);
      const { loss } = one;
      const call = (): Tensor => (sampleWeight === undefined ? loss(y, p) : loss(y, p, sampleWeight));
      const own = isOurLoss(loss) ? call() : outsideScopes(call);
      // A loss without a reduction gives one number for each example.
      return [own.rank === 0 ? own : scaleLoss(own.mean())];
    });
  }

  /** The sum of the losses with their weights. @throws FailedPreconditionError when no output has a loss */
  sum(values: readonly Tensor[]): Tensor {
    const all = this.#resolved?.filter((one) => one !== null) ?? [];
    const weighted = values.map((value, i) => {
      const weight = all[i]?.weight ?? 1;
      return weight === 1 ? value : value.mul(weight);
    });
    if (weighted.length === 0)
      throw new FailedPreconditionError('no output of the model has a loss', 'compile');
    return weighted.reduce((a, b) => a.add(b));
  }

  /** Takes the losses of a batch of so many examples into account. */
  updateMetrics(values: readonly Tensor[], examples: number | Tensor): void {
    const all = this.#resolved?.filter((one) => one !== null) ?? [];
    values.forEach((value, i) => {
      all[i]?.mean?.updateState(value, { sampleWeight: examples });
    });
  }
}

const ourLosses = lazily(() => {
  const all = new Set<unknown>(Object.values(losses));
  all.delete(losses.LossFunctionWrapper);
  return all;
});
/** Whether a loss keeps no tensor: it is one of ours and calls no function of the user's. */
function isOurLoss(loss: losses.Loss): boolean {
  return ourLosses().has(loss instanceof losses.LossFunctionWrapper ? loss.fn : loss.constructor);
}

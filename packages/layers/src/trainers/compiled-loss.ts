// The losses of a model, one for each output.
import { FailedPreconditionError, InvalidArgumentError, type Tensor } from '@eagre/core';
import { lazily, outsideScopes, scaleLoss, snakeCase } from '@eagre/core/internal';
import { losses, metrics } from '@eagre/metrics';
import { checkOneForEach, inOrder, isByName, type Outputs } from './per-output.ts';

type LossLike = losses.LossLike;
/** One for all outputs, a list of one for each (null: none), or by the outputs' names. */
export type LossOption = LossLike | readonly (LossLike | null)[] | Readonly<Record<string, LossLike | null>>;
/** Factors of the losses: one for each output, in a list or by name; 1 where there is none. */
export type LossWeightsOption = number | readonly number[] | Readonly<Record<string, number>>;

/** A loss under the name by which it was asked for. */
interface NamedLoss {
  readonly loss: losses.Loss;
  readonly name: string;
}
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
  readonly #given:
    | { readonly forAll: NamedLoss }
    | { readonly list: readonly (NamedLoss | null)[] }
    | { readonly byName: Readonly<Record<string, NamedLoss | null>> };
  readonly #weights: LossWeightsOption | undefined;
  #resolved: readonly (OutputLoss | null)[] | undefined;

  /** @throws InvalidArgumentError for what is no loss, or no weights */
  constructor(given: LossOption, weights: LossWeightsOption | undefined) {
    const get = (like: LossLike): NamedLoss => {
      const loss = losses.get(like);
      return { loss, name: typeof like === 'string' ? snakeCase(like) : loss.name };
    };
    const maybe = (like: LossLike | null): NamedLoss | null =>
      like === null || like === undefined ? null : get(like);
    if (Array.isArray(given)) {
      this.#given = { list: (given as readonly (LossLike | null)[]).map(maybe) };
    } else if (isByName(given)) {
      const entries = Object.entries(given);
      this.#given = { byName: Object.fromEntries(entries.map(([name, like]) => [name, maybe(like)])) };
    } else {
      this.#given = { forAll: get(given as LossLike) };
    }
    const numbers = typeof weights === 'object' && weights !== null ? Object.values(weights) : [weights ?? 1];
    if (!numbers.every((n) => typeof n === 'number')) {
      throw new InvalidArgumentError(
        'lossWeights must be numbers: one for each output, in a list or by name',
        'compile',
      );
    }
    this.#weights = weights ?? undefined;
  }

  /** Whether code of the user computes a loss, and may keep what it sees. */
  get observed(): boolean {
    const given = this.#given;
    const all =
      'forAll' in given ? [given.forAll] : 'list' in given ? given.list : Object.values(given.byName);
    return all.some((one) => one !== null && !isOurLoss(one.loss));
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
    this.#resolved = all.map((one, i) => {
      if (one === null) return null;
      const mean = several ? new metrics.Mean(`${outputs.names?.[i] ?? one.name}_loss`) : null;
      return { loss: one.loss, weight: weights[i] ?? 1, mean };
    });
    return this.#resolved;
  }

  #losses(outputs: Outputs): readonly (NamedLoss | null)[] {
    const given = this.#given;
    if ('forAll' in given) return new Array<NamedLoss>(outputs.count).fill(given.forAll);
    if ('list' in given) {
      checkOneForEach(given.list, outputs, 'loss');
      return given.list;
    }
    return inOrder(given.byName, outputs.names, 'loss').map((one, i) => {
      if (one !== undefined) return one;
      throw new InvalidArgumentError(
        `the output '${outputs.names?.[i]}' has no loss; write null if it needs none`,
        'compile',
      );
    });
  }

  #factors(outputs: Outputs): readonly (number | undefined)[] {
    const given = this.#weights;
    if (given === undefined) return [];
    if (isByName(given)) {
      const { names } = outputs;
      if (names !== null && new Set(names).size < names.length)
        throw new InvalidArgumentError(
          `lossWeights: several outputs have the same name (${names.join(', ')}); give a list`,
          'compile',
        );
      return inOrder(given, names, 'lossWeights');
    }
    const list = typeof given === 'number' ? [given] : given;
    checkOneForEach(list, outputs, 'lossWeights');
    return list;
  }

  /** The losses of a batch, one for each output that has one, without their weights. */
  compute(outputs: Outputs, { targets, predictions, weights }: Comparison): Tensor[] {
    return this.resolve(outputs).flatMap((one, i) => {
      if (one === null) return [];
      const [y, p, sampleWeight] = [targets[i], predictions[i], weights[i]];
      if (y === undefined) throw new InvalidArgumentError('the loss needs targets: pass y');
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

import {
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  Callable,
  checkNoPromise,
  checkOneOf,
  checkText,
  configOf,
  defineMethods,
  inGraphScope,
  inScope,
  maskOf,
  type OptionNames,
  optionsFrom,
  scaleLoss,
  setOptions,
  shown,
  showShape,
  sizeOfDims,
  sizeValue,
  snakeCase,
  takesArguments,
  toTensor,
} from '@eagre/core/internal';
import { alike, as, fits, predictions, sameRank, wideDType } from '../arrange.ts';

/**
 * How the losses of examples become one: their mean, the sum, the mean weighted by the sample weights, or not at all.
 * `mean` is the same as `sumOverBatchSize`: the sum divided by the number of losses.
 */
export type ReductionName = 'sumOverBatchSize' | 'sum' | 'mean' | 'meanWithSampleWeight' | 'none';

/** TensorFlow's names of reductions. */
export const Reduction: {
  readonly AUTO: 'sumOverBatchSize';
  readonly SUM_OVER_BATCH_SIZE: 'sumOverBatchSize';
  readonly SUM: 'sum';
  readonly NONE: 'none';
} = { AUTO: 'sumOverBatchSize', SUM_OVER_BATCH_SIZE: 'sumOverBatchSize', SUM: 'sum', NONE: 'none' };

/** What all losses take. */
export interface LossOptions {
  /** How the losses of examples become one; `sumOverBatchSize`, their mean, by default, and `none` leaves them apart. */
  readonly reduction?: ReductionName | null;
  /** What logs call it; snake_case of the class by default. */
  readonly name?: string | null;
  /** Compute in that dtype; that of the predictions unless given. */
  readonly dtype?: 'float32' | 'float64' | null;
}
/** How much each loss counts: a number, `[batch]`, or one for each place. */
export type SampleWeight = TensorLike | null;
/** What losses and metrics of targets and predictions are called with: by position, or by name. */
export type ExampleArguments = Arguments<
  [yTrue: TensorLike, yPred: TensorLike, sampleWeight?: SampleWeight],
  ['yTrue', 'yPred', 'sampleWeight']
>;

/** @internal Keras's order, but for those that come before. */
export const lossNames: OptionNames<LossOptions> = { reduction: true, name: true, dtype: true };

const reductions: readonly ReductionName[] = [
  'sumOverBatchSize',
  'sum',
  'mean',
  'meanWithSampleWeight',
  'none',
];

function standardize(reduction: unknown, loss: string): ReductionName {
  const found = reductions.find((r) => r === (reduction ?? 'none') || snakeCase(r) === reduction);
  if (found === undefined) {
    throw new InvalidArgumentError(
      `unknown reduction ${shown(reduction)}; expected one of ${reductions.join(', ')}`,
      loss,
    );
  }
  return found;
}

/** What counts by both masks: by that which the predictions have of their layer, and by the loss's own. */
function both(given: Tensor | null, own: Tensor | null): Tensor | null {
  return given === null || own === null ? (given ?? own) : given.logicalAnd(own);
}

/**
 * Base of losses. A loss is called as `loss(yTrue, yPred, { sampleWeight })`, or `loss(yTrue, yPred, sampleWeight)`, and gives a scalar, unless its reduction is
 * `'none'`. To make your own, extend it and write `call`, which gives a loss for each example:
 *
 *     class Quartic extends tf.losses.Loss {
 *       call(yTrue, yPred) { return yTrue.sub(yPred).pow(4).mean(-1); }
 *     }
 */
export abstract class Loss extends Callable {
  /** What logs call it. */
  readonly name: string;
  /** How the losses of examples become one. */
  readonly reduction: ReductionName;
  /** Compute in that dtype. */
  readonly dtype: 'float32' | 'float64' | null;

  constructor(...args: [options?: LossOptions]) {
    super();
    const options = argumentsOf<LossOptions>(Loss, new.target, args);
    checkName(options.name, new.target.name);
    this.name = options.name ?? snakeCase(new.target.name);
    this.reduction = standardize(
      options.reduction === undefined ? 'sumOverBatchSize' : options.reduction,
      this.name,
    );
    this.dtype = options.dtype ?? null;
    checkOneOf(this.dtype, ['float32', 'float64', null], 'dtype', this.name);
    setOptions(this, options);
  }

  /** The losses of the examples; both arguments have the dtype of the computation. */
  abstract call(yTrue: Tensor, yPred: Tensor): Tensor;

  /** @internal Targets as `call` takes them. */
  protected targets(yTrue: TensorLike, dtype: DType): Tensor {
    return alike(yTrue, dtype);
  }
  /** @internal Which of the losses count: bool of their shape; null for all. */
  protected mask(_yTrue: Tensor, _yPred: Tensor, _losses: Tensor): Tensor | null {
    return null;
  }

  protected override invoke(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): Tensor {
    return this.reduced(yTrue, yPred, sampleWeight);
  }
  /** @internal The losses of the examples, weighted and reduced. */
  protected reduced(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight): Tensor {
    if (typeof this.call !== 'function')
      throw new FailedPreconditionError('its class has no call(yTrue, yPred) method', this.name);
    return inGraphScope(this.name, () => {
      const given = predictions(yPred);
      // Sums of 16 bits would be coarse.
      const p = as(given, this.dtype ?? wideDType(given.dtype));
      const t = this.targets(yTrue, p.dtype);
      const losses: unknown = this.call(t, p);
      checkNoPromise(losses, 'a loss', this.name);
      if (!(losses instanceof Tensor))
        throw new InvalidArgumentError(
          `a loss must return a tensor with one number per example, got ${shown(losses)}`,
          this.name,
        );
      return inScope(() =>
        reduceWeighted(losses, sampleWeight, both(maskOf(yPred), this.mask(t, p, losses)), this.reduction),
      );
    });
  }

  /** What makes it again, by Keras's names. */
  getConfig(): Record<string, unknown> {
    return { name: this.name, reduction: snakeCase(this.reduction), ...configOf(this) };
  }
  /** A new loss of the options that `getConfig` gave, here or in Keras. */
  static fromConfig<T extends Loss>(
    this: new (
      options: never,
    ) => T,
    config: Readonly<Record<string, unknown>>,
  ): T {
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    return new this(optionsFrom(config, this) as never);
  }
}
export interface Loss {
  (...args: ExampleArguments): Tensor;
}
takesArguments<LossOptions>({ names: lossNames }, Loss);
defineMethods(Loss.prototype, 'Loss', {
  invoke: { called: 'loss', positional: ['yTrue', 'yPred', 'sampleWeight'], required: 2 },
});

/** @throws InvalidArgumentError for a name that is no string. */
export function checkName(name: unknown, what: string): void {
  if (name !== undefined && name !== null) checkText(name, 'name', what);
}

/** Weights and losses broadcast as arrays do, from the last axis on. */
function checkWeights(weights: Tensor, values: Tensor): void {
  if (fits(weights.shape, values.shape)) return;
  throw new InvalidArgumentError(
    `sampleWeight ${showShape(weights.shape)} does not match the losses ${showShape(values.shape)}: give one number for each loss, or ` +
      'for each example with a last axis of 1: [batch, 1]',
  );
}

function sizeAs(x: Tensor): Tensor {
  return toTensor(sizeValue(sizeOfDims(x.shape), x.dtype), x.dtype);
}

/**
 * Losses times their weights, reduced.
 * @param mask places that do not count are left out of the mean, too.
 */
function reduceWeighted(
  losses: Tensor,
  sampleWeight: TensorLike | null,
  mask: Tensor | null,
  reduction: ReductionName,
): Tensor {
  let values = losses;
  let weights = sampleWeight === null ? null : alike(sampleWeight, losses.dtype);
  if (mask !== null) {
    let factor = as(mask, losses.dtype);
    if (reduction === 'mean' || reduction === 'sumOverBatchSize')
      factor = factor.mul(sizeAs(factor).divNoNan(factor.sum()));
    if (weights === null) weights = factor;
    else {
      const [f, w] = sameRank(factor, weights);
      weights = f.mul(w);
    }
  }
  if (weights !== null) {
    [values, weights] = sameRank(values, weights);
    checkWeights(weights, values);
    values = values.mul(weights);
  }
  if (reduction === 'none' || (values.rank === 0 && reduction !== 'meanWithSampleWeight')) return values;
  if (reduction === 'sum') return values.sum();
  const divisor = reduction === 'meanWithSampleWeight' && weights !== null ? weights.sum() : sizeAs(values);
  return scaleLoss(values.sum().divNoNan(divisor));
}

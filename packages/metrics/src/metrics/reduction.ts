import { scope, type Tensor, type TensorLike, type Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkFunction,
  checkNoPromise,
  declared,
  dims,
  maskOf,
  outsideScopes,
  sizeValue,
  snakeCase,
  takesOptions,
  toTensor,
  valuesOf,
} from '@eagre/core/internal';
import { alike, as, axes, given, predictions, sameRank, wideDType } from '../arrange.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { defineUpdates, Metric, type MetricOptions, metricOptions, update } from './metric.ts';

/** Values of a batch reduced to one for each example, and the examples' weights. */
function samplewise(
  given: Tensor,
  sampleWeight: TensorLike | null,
  how: 'mean' | 'sum',
): { values: Tensor; weights: Tensor | null } {
  const reduce = (x: Tensor, over: number[]): Tensor =>
    over.length === 0 ? x : how === 'mean' ? x.mean(over) : x.sum(over);
  let values = given;
  let weights: Tensor | null = null;
  if (sampleWeight !== null) {
    [values, weights] = sameRank(values, alike(sampleWeight, values.dtype));
    values = reduce(values, axes(weights.rank, values.rank));
    weights = weights.broadcastTo(values.shape);
    values = values.mul(weights);
    weights = reduce(weights, axes(1, weights.rank));
  }
  return { values: reduce(values, axes(1, values.rank)), weights };
}

/** What a metric of values is called with. */
type ValuesArguments = Arguments<
  [values: TensorLike, sampleWeight?: SampleWeight],
  ['values', 'sampleWeight']
>;

/** @internal A running mean. */
export abstract class Average extends Metric {
  /** The sum of the values so far, each times its weight. */
  readonly total: Variable;
  /** The sum of the weights so far, by which the total is divided. */
  readonly count: Variable;

  constructor(options: MetricOptions) {
    super(options);
    this.total = this.addWeight({ name: 'total' });
    this.count = this.addWeight({ name: 'count' });
  }

  protected add(given: Tensor, sampleWeight: TensorLike | null): void {
    const { values, weights } = samplewise(given, sampleWeight, 'mean');
    this.total.assignAdd(values.sum());
    const count = sizeValue(dims(values)[0] ?? 1, this.count.dtype);
    this.count.assignAdd(weights === null ? count : weights.sum());
  }
  override result(): Tensor {
    return this.total.divNoNan(this.count);
  }
}

/**
 * The mean of all values, weighted by `sampleWeight`: Σ values · weights / Σ weights. The mean of nothing is 0.
 *
 *     const m = new tf.metrics.Mean('loss');
 *     m(0); m(5);   // 2.5
 *     m([8, 9]);    // 5.5
 */
export class Mean extends Average {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    const given = argumentsOf<MetricOptions>(Mean, new.target, args);
    super(given);
  }
  override updateState(...args: ValuesArguments): void;
  override updateState(values: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => this.add(as(predictions(values), this.dtype), sampleWeight));
  }
}

/** The sum of all values, times `sampleWeight`. */
export class Sum extends Metric {
  /** The sum of the values so far, each times its weight. */
  readonly total: Variable;

  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    const given = argumentsOf<MetricOptions>(Sum, new.target, args);
    super(given);
    this.total = this.addWeight({ name: 'total' });
  }
  override updateState(...args: ValuesArguments): void;
  override updateState(values: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const x = as(predictions(values), this.dtype);
      this.total.assignAdd(samplewise(x, sampleWeight, 'sum').values.sum());
    });
  }
  override result(): Tensor {
    return this.total.add(0);
  }
}

/** A function of targets and predictions whose values are averaged, with options of its own. */
export type MetricFunction<O = object> = (yTrue: Tensor, yPred: Tensor, options: O) => Tensor;

/**
 * The mean of a function's values over all examples. Options beyond `name` and `dtype` are handed to the function:
 * `new MeanMetricWrapper(fn, { name: 'error', power: 2 })`.
 */
export class MeanMetricWrapper<O extends object = object> extends Average {
  /** Gives the values of the examples, of targets and predictions. */
  readonly fn: MetricFunction<O>;
  /** The options that the function is called with. */
  readonly fnOptions: O;

  constructor(
    ...args: [
      fn:
        | MetricFunction<O>
        | (MetricOptions &
            O & {
              /** Gives the values of the examples, of targets and predictions. */
              readonly fn: MetricFunction<O>;
            }),
      options?: MetricOptions & O,
    ]
  ) {
    const { fn, ...options } = argumentsOf<MetricOptions & O & { readonly fn: MetricFunction<O> }>(
      MeanMetricWrapper,
      new.target,
      args,
    );
    checkFunction(fn, 'fn', 'MeanMetricWrapper');
    const { name, dtype: _, ...rest } = options;
    super({ ...options, name: name ?? nameOf(fn) });
    this.fn = fn;
    const { dtype: _own, ...chosen } = valuesOf(this);
    this.fnOptions = { ...rest, ...chosen } as unknown as O;
  }

  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const values = this.evaluate(yTrue, yPred);
      this.add(as(toTensor(values), this.dtype), seen(sampleWeight, maskOf(yPred), this.dtype));
    });
  }
  /** @internal The user's function may keep what it makes. */
  protected evaluate(yTrue: TensorLike, yPred: TensorLike): Tensor {
    const p = given(yPred);
    const wide = as(p, wideDType(p.dtype));
    const values = outsideScopes(() => this.fn(toTensor(yTrue), wide, this.fnOptions));
    checkNoPromise(values, 'a metric', this.name);
    return values;
  }
  override getConfig(): Record<string, unknown> {
    const own = Object.entries(this.fnOptions).map(([key, value]) => [snakeCase(key), value]);
    return { ...super.getConfig(), ...(Object.fromEntries(own) as Record<string, unknown>) };
  }
}

/** Weights without those of what a mask hides; the mask itself where there are no weights. */
function seen(sampleWeight: SampleWeight, mask: Tensor | null, dtype: 'float32' | 'float64'): SampleWeight {
  if (mask === null) return sampleWeight;
  if (sampleWeight === null) return mask.cast(dtype);
  const given = predictions(sampleWeight);
  const [weights, places] = sameRank(given, mask.cast(given.dtype));
  return weights.mul(places);
}

/** The name of a metric that is the mean of a function: Keras's for a function of its own. */
function nameOf(fn: { readonly name: string }): string {
  if (fn.name === '') return 'mean_metric_wrapper';
  return declared(fn) === undefined ? fn.name : snakeCase(fn.name);
}

/** @internal A wrapper of a function of ours, which takes whatever a tensor is made of. */
export class BuiltInMean<O extends object = object> extends MeanMetricWrapper<O> {
  readonly #own: (yTrue: TensorLike, yPred: TensorLike, options: O) => Tensor;

  /** @param cls the class whose arguments these are; its metrics are called `name` unless they say otherwise. */
  constructor(
    fn: (yTrue: TensorLike, yPred: TensorLike, options: O) => Tensor,
    name: string,
    cls: abstract new (...args: never) => object,
    args: readonly unknown[],
  ) {
    super(fn as MetricFunction<O>, { name, ...argumentsOf<MetricOptions & O>(cls, new.target, args) });
    this.#own = fn;
  }
  protected override evaluate(yTrue: TensorLike, yPred: TensorLike): Tensor {
    return scope(() => this.#own(yTrue, yPred, this.fnOptions));
  }
}

takesOptions<MetricOptions, Metric>({ positional: ['name'], required: 0, options: metricOptions }, Mean, Sum);
// Its function's own options are among them, whatever they are called.
takesOptions<MetricOptions & { fn: unknown }, Metric>(
  { positional: ['fn'], options: { fn: true, ...metricOptions }, anyName: true },
  MeanMetricWrapper,
);
defineUpdates(Average, 'Metric');
defineUpdates(Mean, 'Mean', ['values', 'sampleWeight']);
defineUpdates(Sum, 'Sum', ['values', 'sampleWeight']);
defineUpdates(MeanMetricWrapper, 'MeanMetricWrapper');

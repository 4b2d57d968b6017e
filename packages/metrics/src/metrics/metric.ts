import {
  type DType,
  InvalidArgumentError,
  Module,
  ones,
  type Shape,
  scope,
  type Tensor,
  type TensorLike,
  type Trackable,
  type TrackableView,
  Variable,
  zeros,
} from '@eagre/core';
import {
  argumentsOf,
  callable,
  checkNoPromise,
  checkOneOf,
  checkText,
  configOf,
  defineMethods,
  type Option,
  type OptionNames,
  optionsFrom,
  type Schema,
  setOptions,
  shown,
  takesOptions,
  variableIn,
  whileHolding,
  wideFloatx,
  withoutTapes,
} from '@eagre/core/internal';
import { checkName } from '../losses/loss.ts';

export type { ExampleArguments, SampleWeight } from '../losses/loss.ts';

/** What all metrics take. */
export interface MetricOptions {
  /** What logs call it, behind `val_` for validation data; snake_case of the class by default. */
  readonly name?: string | null;
  /** In which results and what is counted are; float32 by default. */
  readonly dtype?: 'float32' | 'float64' | null;
}

type MetricDType = 'float32' | 'float64';
/** @internal */
export const dtypeOption: Option<MetricDType> = {
  read: (given, name, of) => {
    const dtype = given ?? wideFloatx();
    checkOneOf(dtype, ['float32', 'float64'], name, (of as Metric).name);
    return dtype as MetricDType;
  },
};

/** @internal What all metrics take. */
export const metricOptions: Schema<MetricOptions, Metric>['options'] = { name: true, dtype: dtypeOption };

/** The first value of a metric's variable. */
export type WeightInitializer = 'zeros' | 'ones' | number | ((shape: Shape, dtype: DType) => TensorLike);

/** Options of `metric.addWeight`. */
export interface MetricWeightOptions {
  /** Part of the variable's name in files. */
  readonly name?: string;
  /** Of the variable; a scalar by default. */
  readonly shape?: Shape;
  /** The value at first and after `resetState`; zeros by default. */
  readonly initializer?: WeightInitializer;
  /** Of the variable; that of the metric by default. */
  readonly dtype?: DType;
}

/**
 * Base of metrics: values over a stream of batches. `metric(...)` updates and gives the result so far; `updateState(...)`
 * only updates, `result()` only reads, `resetState()` starts anew.
 *
 * To make your own, extend it, make variables in the constructor, and write `updateState` and `result`. Weights of examples come behind the
 * other arguments, as `{ sampleWeight }`:
 *
 *     class Positives extends tf.metrics.Metric {
 *       count = this.addWeight({ name: 'count' });
 *       updateState(yTrue, yPred) { this.count.assignAdd(tf.cast(tf.greater(yPred, 0), 'float32').sum()); }
 *       result() { return this.count.read(); }
 *     }
 */
export abstract class Metric extends Module implements Trackable {
  /** In which results and what is counted are. */
  declare readonly dtype: 'float32' | 'float64';
  /** @internal In the order in which they were added. */
  declare protected readonly _weights: Variable[];
  /** @internal Their names in checkpoints. */
  declare protected readonly _names: Map<string, Variable>;

  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    const options = argumentsOf<MetricOptions>(Metric, new.target, args);
    const { name } = options;
    checkName(name, new.target.name);
    super(name === undefined || name === null ? {} : { name });
    setOptions(this, options);
    Object.defineProperty(this, '_weights', { value: [] });
    Object.defineProperty(this, '_names', { value: new Map() });
    // biome-ignore lint/correctness/noConstructorReturn: this is what makes metrics callable
    return callable(this, (self, args) => self.invoke(...args));
  }

  /** Takes a batch into account. */
  abstract updateState(...args: unknown[]): void;
  /** The value so far. */
  abstract result(): Tensor;

  /** Sets all variables to 0. */
  resetState(): void {
    for (const variable of this.variables)
      scope(() => variable.assign(zeros(variable.shape, variable.dtype)));
  }
  /** TensorFlow 2.0's name for `resetState`. */
  resetStates(): void {
    this.resetState();
  }

  /** `updateState` with other values of `variables`, which stay as they are; `args` are as it takes them. @returns the values behind it */
  statelessUpdateState(metricVariables: readonly TensorLike[], ...args: unknown[]): Tensor[] {
    return holding(this, metricVariables, 'statelessUpdateState', () => {
      this.updateState(...args);
      return this.variables.map((v) => v.read());
    });
  }
  /** `result` of other values of `variables`, which stay as they are. */
  statelessResult(metricVariables: readonly TensorLike[]): Tensor;
  statelessResult(options: {
    /** Values in the order of `variables`. */
    readonly metricVariables: readonly TensorLike[];
  }): Tensor;
  statelessResult(metricVariables: unknown): Tensor {
    return holding(this, metricVariables as readonly TensorLike[], 'statelessResult', () => this.result());
  }
  /** What `resetState` would set `variables` to. */
  statelessResetState(): Tensor[] {
    const now = this.variables.map((v) => v.read());
    return holding(this, now, 'statelessResetState', () => {
      this.resetState();
      return this.variables.map((v) => v.read());
    });
  }

  /** A variable that belongs to the metric; a scalar of 0 by default. Its path is `metric/name`. */
  addWeight(options?: MetricWeightOptions | null): Variable {
    const { name = 'variable', shape = [], initializer = 'zeros', dtype = this.dtype } = options ?? {};
    checkText(name, 'name', `${this.name}.addWeight`);
    const create = (): Variable =>
      new Variable(initialValue(initializer, shape, dtype, this.name), {
        name,
        dtype,
        trainable: false,
        // Each replica of a distribution strategy counts on its own, until somebody reads the sum.
        synchronization: 'ON_READ',
        aggregation: 'SUM',
      });
    const owner = this.name.replaceAll('/', '>');
    const variable = variableIn(owner, name, () => withoutTapes(() => scope(create)));
    this._weights.push(variable);
    let local = name;
    for (let n = 1; this._names.has(local); n++) local = `${name}_${n}`;
    this._names.set(local, variable);
    return variable;
  }
  /** Keras 3's name for `addWeight`. */
  addVariable(options?: MetricWeightOptions | null): Variable {
    return this.addWeight(options);
  }

  /** Those from `addWeight`, then those of other attributes. */
  override get variables(): Variable[] {
    return [...new Set([...this._weights, ...super.variables])];
  }

  /** What checkpoints save: variables by their own names, then what else is among the attributes. */
  trackableView(): TrackableView {
    const named = new Set<unknown>(this._names.values());
    const others = Object.entries(this)
      .filter(([, value]) => !named.has(value))
      .map(([name, value]): [string, unknown] => [this._names.has(name) ? `${name}_attribute` : name, value]);
    return { children: [...this._names, ...others] };
  }

  /** What makes it again, by Keras's names; without its state. */
  getConfig(): Record<string, unknown> {
    return { name: this.name, ...configOf(this) };
  }
  /** A new metric of the options that `getConfig` gave, here or in Keras. */
  static fromConfig<T extends Metric>(
    this: new (
      options: never,
    ) => T,
    config: Readonly<Record<string, unknown>>,
  ): T {
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    return new this(optionsFrom(config, this) as never);
  }

  /** @internal What a call does. */
  protected invoke(...args: readonly unknown[]): Tensor {
    const made: unknown = this.updateState(...args);
    checkNoPromise(made, 'updateState()', this.name);
    const result = this.result();
    checkNoPromise(result, 'result()', this.name);
    return result;
  }
}
takesOptions<MetricOptions, Metric>({ positional: ['name'], required: 0, options: metricOptions }, Metric);
const weightOptions: OptionNames<MetricWeightOptions> = {
  shape: true,
  initializer: true,
  dtype: true,
  name: true,
};
defineMethods(Metric.prototype, 'Metric', {
  resetState: {},
  resetStates: {},
  statelessResult: { positional: ['metricVariables'] },
  statelessResetState: {},
  addWeight: { options: weightOptions },
  addVariable: { options: weightOptions },
});
function holding<T>(metric: Metric, values: readonly TensorLike[], what: string, fn: () => T): T {
  if (!Array.isArray(values))
    throw new InvalidArgumentError(`metricVariables must be a list, got ${shown(values)}`, what);
  return whileHolding(metric.variables, values, `${metric.name}.${what}`, fn);
}
export interface Metric {
  (...args: unknown[]): Tensor;
}

/** @internal Declares `updateState` and `result` of a metric, where it has its own. */
export function defineUpdates(
  metric: { readonly prototype: object },
  what: string,
  positional: readonly string[] = ['yTrue', 'yPred', 'sampleWeight'],
): void {
  const takes = { updateState: { positional, required: positional.length - 1 }, result: {} };
  const own = Object.entries(takes).filter(([name]) => Object.hasOwn(metric.prototype, name));
  defineMethods(metric.prototype, what, Object.fromEntries(own));
}

function initialValue(
  initializer: WeightInitializer,
  shape: Shape,
  dtype: DType,
  metric: string,
): TensorLike {
  if (typeof initializer === 'function') {
    const value = initializer(shape, dtype);
    checkNoPromise(value, 'the initializer', metric);
    return value;
  }
  if (initializer === 'zeros') return zeros(shape, dtype);
  if (initializer === 'ones' && dtype !== 'string') return ones(shape, dtype);
  if (typeof initializer === 'number') return ones(shape, 'float64').mul(initializer).cast(dtype);
  throw new InvalidArgumentError(
    `unknown initializer ${shown(initializer)}; expected zeros, ones, a number or a function`,
    metric,
  );
}

/** @internal An update of a built-in metric: no tape sees it, and nothing that it makes stays in memory. */
export function update(fn: () => void): void {
  withoutTapes(() => scope(fn));
}

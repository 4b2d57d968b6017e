import { constant, type PartialShape, type Tensor, type TensorLike, where } from '@eagre/core';
import { argumentsOf, defineMethods, type Option, takesOptions, toTensor } from '@eagre/core/internal';
import { onValues, takesKinds } from '../../layer/kinds.ts';
import { type FromConfig, Layer, type LayerOptions, ownsTemporaries, type Specs } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { checkOne, fail, inPrecision } from '../common.ts';
import { positive } from '../options.ts';
import { layerOptions } from '../weights.ts';
import { type AdaptData, adaptBatches } from './adapt-data.ts';
import {
  type CategoryMode,
  checkSparse,
  encoded,
  encodedShape,
  encodedSpec,
  modes,
  sparseFlag,
} from './categories.ts';

/** Options of `Discretization`. */
export interface DiscretizationOptions extends LayerOptions {
  /** Where one bin ends and the next begins, ascending. */
  readonly binBoundaries?: readonly number[] | null;
  /** How many bins `adapt` makes, about equally full. */
  readonly numBins?: number | null;
  /** How exact the bins are that `adapt` makes; 0.01 by default. */
  readonly epsilon?: number;
  /** `int`, the default: the number of the bin. `oneHot`, `multiHot` and `count`: rows with a place for each bin. */
  readonly outputMode?: CategoryMode;
  /** Whether rows are a sparse tensor, of other modes than `int`; false by default. */
  readonly sparse?: boolean;
}

/** Values and how much each stands for, ascending. */
interface Summary {
  readonly values: readonly number[];
  readonly weights: readonly number[];
}

/** Numbers as the bins they lie in: `new Discretization([0, 1, 2])` makes 0 of what is below 0, 3 of what is at least 2. */
export class Discretization extends Layer {
  declare static readonly fromConfig: FromConfig<Discretization>;
  /** How many bins `adapt` makes, about equally full. */
  declare readonly numBins: number | null;
  /** How exact the bins are that `adapt` makes. */
  declare readonly epsilon: number;
  /** `int`: the number of the bin. `oneHot`, `multiHot` and `count`: rows with a place for each bin. */
  declare readonly outputMode: CategoryMode;
  /** Whether rows are a sparse tensor, of other modes than `int`. */
  declare readonly sparse: boolean;
  /** Those that were given, or that `adapt` has found. */
  declare binBoundaries: readonly number[] | null;
  /** What `updateState` has seen. */
  #summary: Summary = { values: [], weights: [] };

  constructor(
    ...args: [
      binBoundaries?: readonly number[] | null | DiscretizationOptions,
      options?: DiscretizationOptions,
    ]
  ) {
    super(argumentsOf<DiscretizationOptions>(Discretization, new.target, args));
    if (this.binBoundaries === null && this.numBins === null)
      fail(this, 'needs binBoundaries, or numBins for adapt to make some');
    checkSparse(this, this.outputMode);
  }

  /** Finds boundaries so that numBins bins are about equally full of the examples. */
  adapt(
    data:
      | AdaptData
      | {
          /** Numbers: a tensor, or batches of them. */
          readonly data: AdaptData;
        },
  ): void;
  adapt(data: AdaptData): void {
    this.resetState();
    for (const batch of adaptBatches(this, data)) this.updateState(batch);
    if (this.#summary.values.length === 0) fail(this, 'needs at least one batch to adapt to');
    this.finalizeState();
  }
  /** Takes in one batch of examples: what `adapt` does for each. `finalizeState` makes boundaries of all of them. */
  updateState(
    data:
      | TensorLike
      | {
          /** A batch of numbers. */
          readonly data: TensorLike;
        },
  ): void;
  updateState(data: TensorLike): void {
    this.#binsToFind();
    const { epsilon } = this;
    this.#summary = compressed(merged(summarized(toTensor(data), epsilon), this.#summary), epsilon);
  }
  /** Forgets what `updateState` has taken in; the boundaries in use stay. */
  resetState(): void {
    this.#summary = { values: [], weights: [] };
  }
  /** Makes the boundaries of what `updateState` has taken in; nothing where it was not called. */
  finalizeState(): void {
    if (this.#summary.values.length === 0) return;
    this.binBoundaries = compressed(this.#summary, 1 / this.#binsToFind()).values.slice(0, -1);
  }
  #binsToFind(): number {
    return this.numBins ?? fail(this, 'was given binBoundaries, so there is nothing to adapt');
  }

  override call(inputs: Tensor): Tensor {
    const boundaries = this.binBoundaries;
    if (boundaries === null) return fail(this, 'needs adapt(data) before it can be called');
    const x = inPrecision(this, inputs);
    const ids = onValues(x, (values) => binsOf(values, boundaries));
    const { outputMode: mode, computeDtype: dtype, sparse } = this;
    return mode === 'int' ? ids : encoded(ids, { mode, depth: boundaries.length + 1, dtype, sparse });
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return encodedShape(checkOne(this, inputShape), this.outputMode, this.#depth);
  }
  get #depth(): number | null {
    return this.binBoundaries === null ? this.numBins : this.binBoundaries.length + 1;
  }
  /** As Keras's, which takes no `trainable`, and a dtype by its name. */
  override getConfig(): Record<string, unknown> {
    const { trainable: _, ...config } = super.getConfig();
    return { ...config, dtype: this.dtype };
  }
  override computeOutputSpec({ list }: Specs): Specs {
    const { outputMode: mode, computeDtype: dtype, sparse } = this;
    checkOne(this, list[0].shape);
    return encodedSpec(list[0], { mode, depth: this.#depth, dtype, sparse }, 'int32');
  }
}
defineMethods(Discretization.prototype, 'Discretization', {
  adapt: { positional: ['data'], objects: ['data'] },
  updateState: { positional: ['data'], objects: ['data'] },
  resetState: {},
  finalizeState: {},
});

/** How many of ascending boundaries are at most x, all where x is NaN: a search by halves, all elements at once. */
function binsOf(x: Tensor, boundaries: readonly number[]): Tensor {
  const table = constant([...boundaries], x.dtype);
  let found = x.mul(0).cast('int32');
  let step = 1;
  while (step * 2 <= boundaries.length) step *= 2;
  for (; boundaries.length > 0 && step >= 1; step /= 2) {
    const next = found.add(step);
    const value = table.gather(next.minimum(boundaries.length).sub(1));
    found = where(next.lessEqual(boundaries.length).logicalAnd(value.lessEqual(x)), next, found);
  }
  return x.isNan().where(boundaries.length, found);
}

// ---- about equally full bins, of what does not fit into memory (as Keras finds them)

function summarized(x: Tensor, epsilon: number): Summary {
  const sorted = Float32Array.from(x.cast('float32').data() as Float32Array).sort();
  const step = Math.max(sorted.length * epsilon, 1);
  const values: number[] = [];
  for (let i = Math.trunc(step - 1); i < sorted.length; i += Math.trunc(step)) values.push(sorted[i]);
  return { values, weights: values.map(() => Math.fround(step)) };
}

function merged(a: Summary, b: Summary): Summary {
  const values = [...a.values, ...b.values];
  const weights = [...a.weights, ...b.weights];
  const order = values.map((_, i) => i).sort((i, j) => values[i] - values[j]);
  return { values: order.map((i) => values[i]), weights: order.map((i) => weights[i]) };
}

/** As many values as 1 / epsilon, at equal shares of the whole weight. */
function compressed(summary: Summary, epsilon: number): Summary {
  if (summary.values.length * epsilon < 1) return summary;
  let sum = 0;
  const totals = summary.weights.map((w) => (sum += w));
  const shares = totals.map((t) => t / sum);
  const percents: number[] = [];
  for (let i = 0; i < Math.ceil(1 / epsilon); i++) percents.push(epsilon + i * epsilon);
  const between = (p: number, of: readonly number[]): number => {
    if (p <= shares[0]) return of[0];
    const k = shares.findIndex((s) => s >= p);
    if (k < 0) return of[of.length - 1];
    return of[k - 1] + ((of[k] - of[k - 1]) * (p - shares[k - 1])) / (shares[k] - shares[k - 1]);
  };
  const sums = percents.map((p) => between(p, totals));
  return {
    values: percents.map((p) => Math.fround(between(p, summary.values))),
    weights: sums.map((t, i) => Math.fround(t - (i === 0 ? 0 : sums[i - 1]))),
  };
}

ownsTemporaries(Discretization);
takesKinds(['sparse', 'ragged'], Discretization);
const count: Option<number | null> = {
  read: (given, name, layer) => {
    const value = given ?? null;
    if (value !== null && (!Number.isSafeInteger(value) || (value as number) < 1))
      fail(layer as Layer, `needs ${name} to be an integer of at least 1, got ${show(value)}`);
    return value as number | null;
  },
};
takesOptions<DiscretizationOptions, Discretization>(
  {
    positional: ['binBoundaries'],
    required: 0,
    options: {
      binBoundaries: {
        read: (given, name, layer) => {
          if (given === undefined || given === null) return null;
          const list = given as readonly number[];
          const ok =
            Array.isArray(given) && list.every((b, i) => Number.isFinite(b) && (i === 0 || b >= list[i - 1]));
          if (!ok) fail(layer as Layer, `needs ${name} to be ascending numbers, got ${show(given)}`);
          return [...list];
        },
      },
      numBins: count,
      epsilon: positive(0.01),
      outputMode: modes(['int', 'oneHot', 'multiHot', 'count'], 'int'),
      sparse: sparseFlag,
      ...layerOptions,
    },
  },
  Discretization,
);

import {
  convertToTensor,
  type DType,
  nn,
  type PartialShape,
  type Tensor,
  type TensorLike,
  Variable,
  zeros,
} from '@eagre/core';
import {
  argumentsOf,
  defineMethods,
  isFloating,
  kerasDefaults,
  normalizeAxes,
  type Option,
  orNull,
  showShape,
  takesOptions,
} from '@eagre/core/internal';
import { type FromConfig, Layer, type LayerOptions, ownsTemporaries, passesMask } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { checkOne, fail, inPrecision, knownSize, values } from '../common.ts';
import { flag } from '../options.ts';
import { layerOptions } from '../weights.ts';
import { type AdaptData, adaptBatches } from './adapt-data.ts';

type Numbers = number | readonly Numbers[];

/** Options of `Normalization`. */
export interface NormalizationOptions extends LayerOptions {
  /** Axes whose elements have a mean and a variance each; the last by default, `null` for one mean of all. */
  readonly axis?: number | readonly number[] | null;
  /** Known means, one number or one for each element of `axis`; those of `adapt` unless given. Needs `variance` too. */
  readonly mean?: Numbers | null;
  /** Known variances, in the form of `mean`, and only together with it. */
  readonly variance?: Numbers | null;
  /** Makes (x · deviation + mean) of x instead; false by default. */
  readonly invert?: boolean;
}

const TAKES_MOMENTS = 'takes mean and variance from adapt or the constructor';

/**
 * (x − mean) / deviation, feature by feature: with the mean and the variance that are given, or with those of the examples that `adapt`
 * sees. Before, they are 0 and 1.
 */
export class Normalization extends Layer {
  declare static readonly fromConfig: FromConfig<Normalization>;
  /** Axes whose elements have a mean and a variance each. */
  declare readonly axis: readonly number[];
  /** What the constructor was given. */
  readonly inputMean: Numbers | null;
  readonly inputVariance: Numbers | null;
  /** Makes (x · deviation + mean) of x instead. */
  declare readonly invert: boolean;
  adaptMean: Variable | null = null;
  adaptVariance: Variable | null = null;
  /** Always 0: files of Keras have it. */
  count: Variable | null = null;
  #shape: PartialShape | undefined;

  constructor(
    ...args: [
      axis?: number | readonly number[] | null | NormalizationOptions,
      mean?: Numbers | null | NormalizationOptions,
      variance?: Numbers | null | NormalizationOptions,
      options?: NormalizationOptions,
    ]
  ) {
    super(argumentsOf<NormalizationOptions>(Normalization, new.target, args));
    const { mean, variance } = this as unknown as Record<'mean' | 'variance', Numbers | null>;
    [this.inputMean, this.inputVariance] = [mean, variance];
    // From now on they are those in use.
    for (const name of ['mean', 'variance']) Reflect.deleteProperty(this, name);
    if ((mean === null) !== (variance === null)) fail(this, 'needs both mean and variance, or neither');
    if (mean === null || variance === null) return;
    const [shape, other] = [mean, variance].map((v) => convertToTensor(v as TensorLike).shape);
    if (shape.length !== other.length || shape.some((n, i) => n !== other[i]))
      fail(this, `needs mean and variance of one shape, got ${showShape(shape)} and ${showShape(other)}`);
    if (shape.length > this.axis.length)
      fail(this, `needs a mean of rank ${this.axis.length} at most, got ${showShape(shape)}`);
  }

  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), mean: this.inputMean, variance: this.inputVariance };
  }

  /** The means that are taken off, of the inputs' rank; null before the layer is built. */
  get mean(): Tensor | null {
    return this.#used(this.adaptMean ?? this.inputMean);
  }
  set mean(_: Tensor | null) {
    fail(this, TAKES_MOMENTS);
  }
  /** The variances, as `mean`. */
  get variance(): Tensor | null {
    return this.#used(this.adaptVariance ?? this.inputVariance);
  }
  set variance(_: Tensor | null) {
    fail(this, TAKES_MOMENTS);
  }

  override build(inputShape: PartialShape): void {
    const keep = this.#kept(inputShape);
    const shape = keep.map((axis) => knownSize(this, inputShape, axis));
    this.#shape = inputShape;
    if (this.inputMean !== null) {
      const given = convertToTensor(this.inputMean as TensorLike).shape;
      const fits = given.every((n, i) => n === 1 || n === shape.at(i - given.length));
      if (!fits)
        fail(this, `has means ${showShape(given)}, which do not fit ${showShape(shape)} of its input`);
      return;
    }
    this.adaptMean = this.addWeight({ name: 'mean', shape, initializer: 'zeros', trainable: false });
    this.adaptVariance = this.addWeight({ name: 'variance', shape, initializer: 'ones', trainable: false });
    this.count = this.addWeight({
      name: 'count',
      shape: [],
      dtype: 'int64',
      initializer: 'zeros',
      trainable: false,
    });
  }

  override call(inputs: Tensor): Tensor {
    if (!isFloating(this.computeDtype)) return this.#ofIntegers(values(this, inputs));
    const x = inPrecision(this, inputs);
    const mean = this.#spread(this.adaptMean ?? (this.inputMean as TensorLike), x.rank, x.dtype);
    const deviation = this.#spread(this.adaptVariance ?? (this.inputVariance as TensorLike), x.rank, x.dtype)
      .sqrt()
      .maximum(kerasDefaults.epsilon);
    return this.invert ? x.mul(deviation).add(mean) : x.sub(mean).div(deviation);
  }

  /** As in Keras the moments are integers, too; the quotient is of floats. */
  #ofIntegers(given: Tensor): Tensor {
    const x = given.cast(this.computeDtype);
    const [mean, variance] = [
      this.adaptMean ?? (this.inputMean as TensorLike),
      this.adaptVariance ?? (this.inputVariance as TensorLike),
    ].map((v) => this.#spread(v, x.rank, 'float32').cast(x.dtype));
    const deviation = (variance as Tensor).cast('float32').sqrt().maximum(kerasDefaults.epsilon);
    if (this.invert)
      return x
        .cast('float32')
        .mul(deviation)
        .add((mean as Tensor).cast('float32'));
    return x
      .sub(mean as Tensor)
      .cast('float32')
      .div(deviation);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }

  /** Takes the mean and the variance of all examples, in place of what was known before. */
  adapt(
    data:
      | AdaptData
      | {
          /** Examples: a tensor, or batches of them. */
          readonly data: AdaptData;
        },
  ): void;
  adapt(data: AdaptData): void {
    if (this.inputMean !== null) fail(this, 'was given its mean, so there is nothing to adapt');
    let total: { mean: Tensor; variance: Tensor; count: number } | undefined;
    for (const batch of adaptBatches(this, data)) {
      const x = inPrecision(this, convertToTensor(batch));
      if (!this.built) (this as Layer).build(x.shape);
      const keep = this.#kept(x.shape);
      const known = this.#shape as PartialShape;
      if (x.rank !== known.length || keep.some((axis) => x.shape[axis] !== known[axis]))
        fail(this, `was built for input ${showShape(known)}, got examples ${showShape(x.shape)}`);
      const over = x.shape.map((_, axis) => axis).filter((axis) => !keep.includes(axis));
      const [mean, variance] = over.length === 0 ? [x, zeros(x.shape)] : nn.moments(x, over);
      const count = over.reduce((n, axis) => n * x.shape[axis], 1);
      total = total === undefined ? { mean, variance, count } : joined(total, { mean, variance, count });
    }
    if (total === undefined) fail(this, 'needs at least one batch to adapt to');
    this.adaptMean?.assign(total.mean.cast(this.variableDtype));
    this.adaptVariance?.assign(total.variance.cast(this.variableDtype));
  }

  /** Nothing: the moments in use are always those of the weights. Keras's layer copies them here. */
  finalizeState(): void {}

  #kept(shape: PartialShape): number[] {
    checkOne(this, shape);
    if (this.axis.some((a) => a < -shape.length || a >= shape.length))
      fail(this, `normalises axis ${this.axis}, which input ${showShape(shape)} does not have`);
    return normalizeAxes(this.axis, shape.length).sort((a, b) => a - b);
  }

  /** One value or some, of the kept axes, in a shape that goes with the input's. */
  #used(values: Variable | Numbers | null): Tensor | null {
    const shape = this.#shape;
    if (values === null || shape === undefined) return null;
    const keep = this.#kept(shape);
    const full = shape.map((n, axis) => (keep.includes(axis) ? (n as number) : 1));
    return this.#spread(values as TensorLike, shape.length, this.computeDtype).broadcastTo(full);
  }

  #spread(given: TensorLike, rank: number, dtype: DType): Tensor {
    const values = given instanceof Variable ? given.read() : convertToTensor(given, dtype);
    const keep = this.#kept(new Array<null>(rank).fill(null));
    const shape = new Array<number>(rank).fill(1);
    values.shape.forEach((n, i) => {
      shape[keep[i + keep.length - values.rank]] = n;
    });
    return values.reshape(shape);
  }
}

type Moments = { readonly mean: Tensor; readonly variance: Tensor; readonly count: number };

/** The moments of two lots of examples together (Chan, Golub and LeVeque, 1983). */
function joined(a: Moments, b: Moments): Moments {
  const count = a.count + b.count;
  const [ours, theirs] = [a.count / count, b.count / count];
  const mean = a.mean.mul(ours).add(b.mean.mul(theirs));
  const part = (m: Moments, share: number): Tensor => m.variance.add(m.mean.sub(mean).square()).mul(share);
  return { mean, variance: part(a, ours).add(part(b, theirs)), count };
}

defineMethods(Normalization.prototype, 'Normalization', {
  adapt: { positional: ['data'], objects: ['data'] },
  finalizeState: {},
});
ownsTemporaries(Normalization);
passesMask(Normalization);

const axis: Option<readonly number[]> = {
  read(given = -1, name, layer) {
    const list = given === null ? [] : typeof given === 'number' ? [given] : given;
    if (!Array.isArray(list) || !list.every((a) => Number.isInteger(a)))
      fail(layer as Layer, `needs ${name} to be an integer, a list of them or null, got ${show(given)}`);
    return [...list];
  },
};
const numbers: Option<Numbers | null> = orNull({
  read(given, name, layer) {
    const ok = (value: unknown): boolean =>
      typeof value === 'number' || (Array.isArray(value) && value.every(ok));
    if (!ok(given)) fail(layer as Layer, `needs numbers as ${name}, got ${show(given)}`);
    return given as Numbers;
  },
});
takesOptions<NormalizationOptions, Normalization>(
  {
    positional: ['axis', 'mean', 'variance'],
    required: 0,
    // The properties of these names are those in use.
    options: {
      axis,
      mean: numbers as never,
      variance: numbers as never,
      invert: flag(false),
      ...layerOptions,
    },
  },
  Normalization,
);

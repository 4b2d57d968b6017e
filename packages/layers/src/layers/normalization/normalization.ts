import {
  cast,
  nn,
  type PartialShape,
  type Shape,
  type Tensor,
  type TensorLike,
  type Variable,
} from '@eagre/core';
import {
  argumentsOf,
  type DistributionReplica,
  dims,
  distribution,
  isFloating,
  kerasDefaults,
  lessThan,
  normalizeAxes,
  type Option,
  sameShape,
  showShape,
  sizeOfDims,
  sizeValue,
  takesOptions,
  toShape,
  toTensor,
  withoutTapes,
} from '@eagre/core/internal';
import type { ConstraintLike } from '../../constraints.ts';
import type { InitializerLike } from '../../initializers/initializers.ts';
import {
  builtAtOnce,
  type CallOptions,
  computesWide,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
  passesMask,
  widened,
} from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import type { RegularizerLike } from '../../regularizers.ts';
import { asFloats, checkOne, fail, floats, inPrecision, knownSize, seenBy } from '../common.ts';
import { axes, axis, flag, initializer, integer, notNegative, rate, recipe, weights } from '../options.ts';
import { layerOptions } from '../weights.ts';

interface NormalizationOptions extends LayerOptions {
  /** Added to the variance; 0.001 by default. */
  readonly epsilon?: number;
  /** Whether `beta` is added; true by default. */
  readonly center?: boolean;
  /** Whether the result is multiplied by `gamma`; true by default. */
  readonly scale?: boolean;
  /** Makes the offsets `beta` at first; `zeros` by default. */
  readonly betaInitializer?: InitializerLike;
  /** Makes the factors `gamma` at first; `ones` by default. */
  readonly gammaInitializer?: InitializerLike;
  /** A penalty on the offsets `beta`, which training adds to the loss; none by default. */
  readonly betaRegularizer?: RegularizerLike | null;
  /** A penalty on the factors `gamma`, which training adds to the loss; none by default. */
  readonly gammaRegularizer?: RegularizerLike | null;
  /** A function that is applied to the offsets `beta` after each update; none by default. */
  readonly betaConstraint?: ConstraintLike | null;
  /** A function that is applied to the factors `gamma` after each update; none by default. */
  readonly gammaConstraint?: ConstraintLike | null;
}

/** The normalised axes. @throws InvalidArgumentError when the input lacks one, or has another size there than the weights. */
function axesOf(
  layer: Layer,
  shape: PartialShape,
  axis: number | readonly number[],
  weights?: Shape,
): number[] {
  checkOne(layer, shape);
  const list = typeof axis === 'number' ? [axis] : axis;
  if (list.some((a) => a < -shape.length || a >= shape.length)) {
    fail(layer, `normalises axis ${list}, which input ${showShape(shape)} does not have`);
  }
  const axes = normalizeAxes(list, shape.length);
  if (weights !== undefined && axes.some((a, i) => shape[a] !== null && shape[a] !== weights[i])) {
    fail(layer, `was built for ${showShape(weights)} on axis ${list}, got input ${showShape(shape)}`);
  }
  return axes;
}

/** A weight of integers as floats, like the input. */
const asFloat = <V extends Variable | null>(weight: V, x: Tensor): V | Tensor =>
  weight === null || isFloating(weight.dtype) ? weight : cast(weight, x.dtype);

abstract class Normalization extends Layer {
  /** Added to the variance. */
  declare readonly epsilon: number;
  /** Whether `beta` is added. */
  declare readonly center: boolean;
  /** Whether the result is multiplied by `gamma`. */
  declare readonly scale: boolean;
  /** The factor, or null without `scale`. */
  gamma: Variable | null = null;
  /** The offset, or null without `center`. */
  beta: Variable | null = null;

  protected addScaleAndOffset(shape: Shape): void {
    if (this.scale) this.gamma = this.addWeight({ name: 'gamma', shape, ...recipe(this, 'gamma') });
    if (this.center) this.beta = this.addWeight({ name: 'beta', shape, ...recipe(this, 'beta') });
  }
}

/** Options of `BatchNormalization`. */
export interface BatchNormalizationOptions extends NormalizationOptions {
  /** The channels; the last axis by default. */
  readonly axis?: number;
  /** Share of the old value in the moving statistics; 0.99 by default. */
  readonly momentum?: number;
  /** Makes the running mean at first; `zeros` by default. */
  readonly movingMeanInitializer?: InitializerLike;
  /** Makes the running variance at first; `ones` by default. */
  readonly movingVarianceInitializer?: InitializerLike;
  /** Whether the replicas of a distribution strategy normalise by the statistics of the whole batch; false by default. */
  readonly synchronized?: boolean;
}

/** Each replica of a distribution strategy moves its own statistics, whose mean counts. */
const OF_REPLICAS = { synchronization: 'ON_READ', aggregation: 'MEAN' } as const;

/**
 * Normalises each channel: in training by the mean and variance of the batch, which also move the moving statistics; otherwise
 * by the moving statistics. With `trainable = false` it never trains. Under a distribution strategy each replica normalises by its part of
 * the batch, unless `synchronized` is true.
 */
export class BatchNormalization extends Normalization {
  declare static readonly fromConfig: FromConfig<BatchNormalization>;
  /** The channels. */
  declare readonly axis: number;
  /** Share of the old value in the moving statistics. */
  declare readonly momentum: number;
  /** Whether the replicas of a distribution strategy normalise by the statistics of the whole batch. */
  declare readonly synchronized: boolean;
  movingMean!: Variable;
  movingVariance!: Variable;

  constructor(
    ...args: [axis?: number | null | BatchNormalizationOptions, options?: BatchNormalizationOptions]
  ) {
    super(argumentsOf<BatchNormalizationOptions>(BatchNormalization, new.target, args));
  }

  override build(inputShape: PartialShape): void {
    this.#channelAxis(inputShape);
    const shape = [knownSize(this, inputShape, this.axis)];
    this.addScaleAndOffset(shape);
    this.movingMean = this.addWeight({
      name: 'moving_mean',
      shape,
      initializer: recipe(this, 'movingMean').initializer,
      trainable: false,
      ...OF_REPLICAS,
    });
    this.movingVariance = this.addWeight({
      name: 'moving_variance',
      shape,
      initializer: recipe(this, 'movingVariance').initializer,
      trainable: false,
      ...OF_REPLICAS,
    });
  }

  /** @param options.mask which places count in training, true or not 0, of the input's shape without the channels. */
  override call(inputs: Tensor, { training, mask }: CallOptions = {}): Tensor {
    const trains = training === true && this.trainable;
    const given = trains && !mask && this.#takesNarrow(inputs) ? inputs : inPrecision(this, inputs);
    const axis = this.#channelAxis(given.shape);
    const last = axis === given.rank - 1;
    // The kernel wants the channels last.
    const x = last ? given : given.moveAxis(axis, -1);
    const seen = mask === undefined || mask === null ? null : toTensor(mask as TensorLike);
    const y = trains ? this.#train(x, seen) : this.#infer(x);
    return last ? y : y.moveAxis(-1, axis);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#channelAxis(inputShape);
    return inputShape;
  }

  /** Whether the kernel itself reads 16 bits and keeps the statistics in float32: as if it were given float32, without the copies. */
  #takesNarrow({ dtype }: Tensor): boolean {
    if (this.#isTogether || (this.gamma === null && this.beta === null)) return false;
    return computesWide(this) && dtype === this.computeDtype && isFloating(dtype);
  }

  /** Whether statistics are those of all replicas. */
  get #isTogether(): boolean {
    return this.synchronized && (distribution.replica?.strategy.numReplicasInSync ?? 1) > 1;
  }

  #train(x: Tensor, mask: Tensor | null): Tensor {
    const together = this.#isTogether;
    // Computed in 32 bits where variables have 16.
    const dtype = computesWide(this) ? 'float32' : x.dtype;
    const [gamma, beta] = [this.gamma, this.beta].map((v) => (v === null ? null : cast(v, dtype)));
    const { y, mean, variance } = together
      ? this.#overReplicas(distribution.replica as DistributionReplica, x, mask)
      : mask === null
        ? nn.fusedBatchNorm(x, gamma, beta, { epsilon: this.epsilon })
        : this.#masked(x, mask);
    // An empty batch has no statistics.
    if (together || lessThan(0, sizeOfDims(x.shape))) {
      withoutTapes(() => {
        this.#move(this.movingMean, mean);
        this.#move(this.movingVariance, variance);
      });
    }
    return y;
  }

  /** As `nn.fusedBatchNorm`, but the places that the mask hides count for nothing in the statistics. */
  #masked(x: Tensor, mask: Tensor): { y: Tensor; mean: Tensor; variance: Tensor } {
    const seen = this.#seen(x, mask);
    const over = Array.from({ length: x.rank - 1 }, (_, i) => i);
    // As in Keras, which keeps the quotient finite.
    const total = seen.cast(x.dtype).sum(over).add(kerasDefaults.epsilon);
    const mean = seen.where(x, 0).sum(over).div(total);
    const variance = seen.where(x.sub(mean), 0).square().sum(over).div(total);
    const y = nn.batchNormalization(x, mean, variance, this.beta, this.gamma, this.epsilon);
    return { y, mean, variance };
  }

  #seen(x: Tensor, mask: Tensor): Tensor {
    if (!sameShape(mask.shape, dims(x).slice(0, -1)))
      fail(this, `needs a mask ${showShape(dims(x).slice(0, -1))}, got ${showShape(mask.shape)}`);
    return seenBy(mask).expandDims(-1);
  }

  /** As `nn.fusedBatchNorm`, by the statistics of all replicas: one sum over them of the places, their sums, and those of their squares. */
  #overReplicas(
    replica: DistributionReplica,
    x: Tensor,
    mask: Tensor | null,
  ): { y: Tensor; mean: Tensor; variance: Tensor } {
    const over = Array.from({ length: x.rank - 1 }, (_, i) => i);
    const wide = x.dtype === 'float16' || x.dtype === 'bfloat16' ? x.cast('float32') : x;
    let counted = wide;
    let count = toTensor(sizeValue(sizeOfDims(dims(x).slice(0, -1)), wide.dtype), wide.dtype);
    if (mask !== null) {
      const seen = this.#seen(x, mask);
      counted = seen.where(wide, 0);
      count = seen.cast(wide.dtype).sum();
    }
    const [places, sum, squares] = replica.sum([count, counted.sum(over), counted.square().sum(over)]);
    const mean = sum.div(places);
    const variance = squares.div(places).sub(mean.square());
    const y = nn.batchNormalization(wide, mean, variance, this.beta, this.gamma, this.epsilon);
    return { y: y.cast(x.dtype as 'float32'), mean, variance };
  }

  #infer(x: Tensor): Tensor {
    const [mean, variance] = [this.movingMean, this.movingVariance].map((v) => asFloat(v, x));
    return nn.batchNormalization(
      x,
      mean,
      variance,
      asFloat(this.beta, x),
      asFloat(this.gamma, x),
      this.epsilon,
    );
  }

  #move(moving: Variable, value: Tensor): void {
    const moved = cast(moving, value.dtype)
      .mul(this.momentum)
      .add(value.mul(1 - this.momentum));
    moving.assign(cast(moved, moving.dtype));
  }

  #channelAxis(shape: PartialShape): number {
    const [axis] = axesOf(this, shape, this.axis, this.movingMean?.shape);
    if (shape.length < 2) fail(this, `expects input of rank 2 or more [batch, …], got ${showShape(shape)}`);
    return axis;
  }
}

/** Options of `LayerNormalization`. */
export interface LayerNormalizationOptions extends NormalizationOptions {
  /** One axis or several; the last by default. */
  readonly axis?: number | readonly number[];
}

/** Normalises each example over its last axis, or the given ones, to mean 0 and variance 1; then scales and shifts. */
export class LayerNormalization extends Normalization {
  declare static readonly fromConfig: FromConfig<LayerNormalization>;
  /** One axis or several. */
  declare readonly axis: number | readonly number[];
  #shape: Shape | undefined;

  constructor(
    ...args: [
      axis?: number | readonly number[] | null | LayerNormalizationOptions,
      options?: LayerNormalizationOptions,
    ]
  ) {
    super(argumentsOf<LayerNormalizationOptions>(LayerNormalization, new.target, args));
  }

  override build(inputShape: PartialShape): void {
    const shape = axesOf(this, inputShape, this.axis).map((a) => knownSize(this, inputShape, a));
    this.#shape = shape;
    this.addScaleAndOffset(shape);
  }

  override call(inputs: Tensor): Tensor {
    const x = inPrecision(this, inputs);
    const axis = axesOf(this, x.shape, this.axis, this.#shape);
    return nn.layerNormalization(x, {
      scale: asFloat(this.gamma, x),
      offset: asFloat(this.beta, x),
      axis,
      epsilon: this.epsilon,
    });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    axesOf(this, inputShape, this.axis, this.#shape);
    return inputShape;
  }
}

/** Options of `RMSNormalization`. */
export interface RMSNormalizationOptions extends LayerOptions {
  /** One axis or several; the last by default. */
  readonly axis?: number | readonly number[];
  /** Added to the mean square; 1e-6 by default. */
  readonly epsilon?: number;
}

/** Divides each example by its root mean square over the last axis, or the given ones; then scales (Zhang and Sennrich, 2019). */
export class RMSNormalization extends Layer {
  declare static readonly fromConfig: FromConfig<RMSNormalization>;
  /** One axis or several. */
  declare readonly axis: number | readonly number[];
  /** Added to the mean square. */
  declare readonly epsilon: number;
  /** The factor. */
  scale!: Variable;

  constructor(
    ...args: [
      axis?: number | readonly number[] | null | RMSNormalizationOptions,
      options?: RMSNormalizationOptions,
    ]
  ) {
    super(argumentsOf<RMSNormalizationOptions>(RMSNormalization, new.target, args));
  }

  override build(inputShape: Shape): void {
    const shape = axesOf(this, inputShape, this.axis).map((a) => knownSize(this, inputShape, a));
    this.scale = this.addWeight({ name: 'scale', shape, initializer: 'ones' });
  }

  override call(inputs: Tensor): Tensor {
    const x = asFloats(this, inputs);
    const axis = axesOf(this, x.shape, this.axis, this.scale.shape);
    return nn.rmsNormalization(x, { scale: asFloat(this.scale, x), axis, epsilon: this.epsilon });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    axesOf(this, inputShape, this.axis, this.scale?.shape);
    return inputShape;
  }
}
/** Options of `GroupNormalization`. */
export interface GroupNormalizationOptions extends NormalizationOptions {
  /** How many groups the channels are cut into; 32 by default, -1 for as many as channels. */
  readonly groups?: number;
  /** The channels; the last axis by default. */
  readonly axis?: number;
}

/** Normalises each group of channels of each example to mean 0 and variance 1; then scales and shifts (Wu and He, 2018). */
export class GroupNormalization extends Normalization {
  declare static readonly fromConfig: FromConfig<GroupNormalization>;
  /** How many groups the channels are cut into. */
  declare readonly groups: number;
  /** The channels. */
  declare readonly axis: number;
  #channels: Shape | undefined;

  constructor(
    ...args: [groups?: number | null | GroupNormalizationOptions, options?: GroupNormalizationOptions]
  ) {
    super(argumentsOf<GroupNormalizationOptions>(GroupNormalization, new.target, args));
  }

  override build(inputShape: PartialShape): void {
    const [axis] = axesOf(this, inputShape, this.axis);
    const channels = knownSize(this, inputShape, axis);
    const groups = this.#count(channels);
    if (axis === 0) fail(this, `normalises channels, not the batch; got axis ${this.axis}`);
    if (channels % groups !== 0)
      fail(this, `needs channels to be a multiple of its ${groups} groups, got ${channels}`);
    this.#channels = [channels];
    this.addScaleAndOffset(this.#channels);
  }

  override call(inputs: Tensor): Tensor {
    const given = inPrecision(this, inputs);
    const [axis] = axesOf(this, given.shape, this.axis, this.#channels);
    const last = axis === given.rank - 1;
    const x = last ? given : given.moveAxis(axis, -1);
    const own = dims(x);
    const [channels] = this.#channels as [number];
    const groups = this.#count(channels);
    const apart = x.reshape(toShape([...own.slice(0, -1), groups, channels / groups]));
    const over = own.slice(1, -1).map((_, i) => i + 1);
    const axes = [...over, own.length];
    const [mean, variance] = nn.moments(apart, axes, { keepdims: true });
    let y = apart.sub(mean).mul(variance.add(this.epsilon).rsqrt()).reshape(toShape(own));
    if (this.gamma !== null) y = y.mul(asFloat(this.gamma, x));
    if (this.beta !== null) y = y.add(asFloat(this.beta, x));
    return last ? y : y.moveAxis(-1, axis);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    axesOf(this, inputShape, this.axis, this.#channels);
    return inputShape;
  }

  #count(channels: number): number {
    return this.groups === -1 ? channels : this.groups;
  }
}

/** Options of `UnitNormalization`. */
export interface UnitNormalizationOptions extends LayerOptions {
  /** One axis or several; the last by default. */
  readonly axis?: number | readonly number[];
}

/** Divides each example by its Euclidean norm over the last axis, or the given ones. */
export class UnitNormalization extends Layer {
  declare static readonly fromConfig: FromConfig<UnitNormalization>;
  /** One axis or several. */
  declare readonly axis: number | readonly number[];

  constructor(
    ...args: [
      axis?: number | readonly number[] | null | UnitNormalizationOptions,
      options?: UnitNormalizationOptions,
    ]
  ) {
    super(argumentsOf<UnitNormalizationOptions>(UnitNormalization, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = floats(this, inputs);
    return nn.l2Normalize(x, axesOf(this, x.shape, this.axis));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    axesOf(this, inputShape, this.axis);
    return inputShape;
  }
}
ownsTemporaries(
  BatchNormalization,
  LayerNormalization,
  RMSNormalization,
  GroupNormalization,
  UnitNormalization,
);
widened(BatchNormalization, LayerNormalization, RMSNormalization, GroupNormalization, UnitNormalization);
builtAtOnce(UnitNormalization);
passesMask(BatchNormalization, LayerNormalization, GroupNormalization, UnitNormalization);
takesCall({ options: { training: true, mask: true } }, BatchNormalization);

const affine = { center: flag(true), scale: flag(true) } as const;
const affineWeights = weights({ beta: 'zeros', gamma: 'ones' });
takesOptions<BatchNormalizationOptions, BatchNormalization>(
  {
    positional: ['axis'],
    required: 0,
    options: {
      axis,
      momentum: rate(0.99),
      epsilon: notNegative(1e-3),
      ...affine,
      movingMeanInitializer: initializer('zeros'),
      movingVarianceInitializer: initializer('ones'),
      ...affineWeights,
      synchronized: flag(false),
      ...layerOptions,
    },
    fixed: { renorm: false, renorm_clipping: null, renorm_momentum: 0.99 },
  },
  BatchNormalization,
);
takesOptions<LayerNormalizationOptions, LayerNormalization>(
  {
    positional: ['axis'],
    required: 0,
    options: { axis: axes, epsilon: notNegative(1e-3), ...affine, ...affineWeights, ...layerOptions },
    fixed: { rms_scaling: false },
  },
  LayerNormalization,
);
takesOptions<RMSNormalizationOptions, RMSNormalization>(
  {
    positional: ['axis'],
    required: 0,
    options: { axis: axes, epsilon: notNegative(1e-6), ...layerOptions },
  },
  RMSNormalization,
);
const groups: Option<number> = {
  read: (given = 32, name, layer) => (given === -1 ? -1 : integer().read(given, name, layer)),
};
takesOptions<GroupNormalizationOptions, GroupNormalization>(
  {
    positional: ['groups'],
    required: 0,
    options: { groups, axis, epsilon: notNegative(1e-3), ...affine, ...affineWeights, ...layerOptions },
  },
  GroupNormalization,
);
takesOptions<UnitNormalizationOptions, UnitNormalization>(
  { positional: ['axis'], required: 0, options: { axis: axes, ...layerOptions } },
  UnitNormalization,
);
widened(BatchNormalization, LayerNormalization, RMSNormalization, GroupNormalization, UnitNormalization);

import {
  type ClassNameOf,
  type CustomName,
  type DType,
  eye,
  fill,
  InvalidArgumentError,
  type NameOf,
  random,
  type Shape,
  Tensor,
  type TensorLike,
  constant as tensorOf,
  Variable,
  zeros as zeroTensor,
} from '@eagre/core';
import {
  checkShape,
  type Deserialize,
  defineFunction,
  kind,
  type NamedFunction,
  nameOption,
  normalizeAxis,
  numberOption,
  type Option,
  orNull,
  StreamGenerator,
  sizeOf,
  takesOptions,
} from '@eagre/core/internal';
import { show } from '../layer/show.ts';
import { markOurs } from '../ours.ts';
import {
  ClassNames,
  defineObjectDeserialize,
  defineObjectSerialize,
  type MakerOf,
  maker,
  type SerializedFunction,
  type SerializedObject,
} from '../saving/keras-object.ts';
import { Initializer, type InitializerFunction } from './initializer.ts';
import { STFT } from './stft.ts';

export { Initializer, type InitializerFunction } from './initializer.ts';
export { STFT, STFT as STFTInitializer, type STFTOptions } from './stft.ts';

/** What all initializers take that draw numbers. */
export interface SeedOptions {
  /** The same numbers each time; those of the global seed unless given. */
  readonly seed?: number | null;
}

type Source = Pick<StreamGenerator, 'normal' | 'truncatedNormal' | 'uniform'>;
// One by one, so that bundlers see which of the namespace are used.
const unseeded: Source = {
  normal: random.normal,
  truncatedNormal: random.truncatedNormal,
  uniform: random.uniform,
};

/** With a seed always the same numbers, as in Keras; an op's seed would only start a sequence. */
abstract class Seeded extends Initializer {
  /** The same numbers each time. */
  declare readonly seed: number | null;

  protected get source(): Source {
    return this.seed === null ? unseeded : new StreamGenerator(this.seed);
  }
}

/** All zeros. */
export class Zeros extends Initializer {
  override call(shape: Shape, dtype: DType): Tensor {
    return zeroTensor(shape, { dtype });
  }
}
/** All ones. */
export class Ones extends Initializer {
  override call(shape: Shape, dtype: DType): Tensor {
    return fill(shape, 1, { dtype });
  }
}

/** A number, or numbers in nested arrays. */
export type ConstantValue = number | readonly ConstantValue[];
/** Options of `Constant`. */
export interface ConstantOptions {
  /** A number, or an array or a tensor of numbers; 0 unless given. */
  readonly value?: ConstantValue | Tensor | ArrayLike<number>;
}
/** All `value`; an array of as many elements as the weight has, or one that is broadcast to its shape. */
export class Constant extends Initializer {
  /** A number, or an array or a tensor of numbers. */
  declare readonly value: ConstantValue;

  constructor(...args: [value?: ConstantOptions['value'] | ConstantOptions, options?: ConstantOptions]) {
    super(...args);
  }
  override call(shape: Shape, dtype: DType): Tensor {
    if (typeof this.value === 'number') return fill(shape, this.value, { dtype });
    const values = tensorOf(this.value as TensorLike, dtype);
    return values.size === sizeOf(shape) ? values.reshape(shape) : values.broadcastTo(shape);
  }
}

/** Options of `Identity` and `Orthogonal`. */
export interface GainOptions {
  /** A factor; 1 unless given. */
  readonly gain?: number;
}
/** The identity matrix, times `gain`; for weights of two axes. */
export class Identity extends Initializer {
  /** A factor. */
  declare readonly gain: number;

  constructor(...args: [gain?: number | GainOptions, options?: GainOptions]) {
    super(...args);
  }
  override call(shape: Shape, dtype: DType): Tensor {
    checkShape(shape, 'Identity');
    const [rows, columns] = shape;
    if (shape.length !== 2 || rows === undefined || columns === undefined)
      throw new InvalidArgumentError(`needs a shape with two axes, got [${shape.join(', ')}]`, 'Identity');
    return eye(rows, columns, { dtype }).mul(this.gain);
  }
}

/** Options of `RandomNormal` and `TruncatedNormal`. */
export interface NormalOptions extends SeedOptions {
  /** The mean of the numbers; 0 unless given. */
  readonly mean?: number;
  /** Standard deviation; 0.05 unless given. */
  readonly stddev?: number;
}

abstract class Normal extends Seeded {
  /** The mean of the numbers. */
  declare readonly mean: number;
  /** Standard deviation. */
  declare readonly stddev: number;

  constructor(...args: [mean?: number | NormalOptions, options?: NormalOptions]) {
    super(...args);
  }
}
/** Normal with mean 0 and standard deviation 0.05 unless given. */
export class RandomNormal extends Normal {
  override call(shape: Shape, dtype: DType): Tensor {
    const { mean, stddev } = this;
    return this.source.normal(shape, { mean, stddev, dtype: dtype as 'float32' });
  }
}
/** Normal without the tails beyond two standard deviations. */
export class TruncatedNormal extends Normal {
  override call(shape: Shape, dtype: DType): Tensor {
    const { mean, stddev } = this;
    return this.source.truncatedNormal(shape, { mean, stddev, dtype: dtype as 'float32' });
  }
}

/** Options of `RandomUniform`. */
export interface UniformOptions extends SeedOptions {
  /** The least number that is drawn; -0.05 unless given. */
  readonly minval?: number;
  /** All numbers that are drawn are below it; 0.05 unless given. */
  readonly maxval?: number;
}
/** Uniform in [-0.05, 0.05) unless given. */
export class RandomUniform extends Seeded {
  /** The least number that is drawn. */
  declare readonly minval: number;
  /** All numbers that are drawn are below it. */
  declare readonly maxval: number;

  constructor(...args: [minval?: number | UniformOptions, options?: UniformOptions]) {
    super(...args);
  }
  override call(shape: Shape, dtype: DType): Tensor {
    const { minval, maxval } = this;
    return this.source.uniform(shape, { minval, maxval, dtype: dtype as 'float32' });
  }
}

/** Axes of the weight that count the inputs of a unit, and its outputs; the last two, as in convolutions, unless given. */
export interface FanOptions extends SeedOptions {
  /** The axes whose sizes, multiplied, count the inputs of a unit; all but the last unless given, as in convolutions. */
  readonly inputAxes?: readonly number[] | null;
  /** The axes whose sizes, multiplied, count the outputs; all but the last but one unless given, as in convolutions. */
  readonly outputAxes?: readonly number[] | null;
}
type Mode = 'fanIn' | 'fanOut' | 'fanAvg';
type Distribution = 'truncatedNormal' | 'untruncatedNormal' | 'uniform';
/** Options of `VarianceScaling`. */
export interface VarianceScalingOptions extends FanOptions {
  /** The variance is `scale / n`; 1 unless given. */
  readonly scale?: number;
  /** What n counts: the inputs of a unit (`fanIn`, the default), its outputs (`fanOut`), or the mean of both (`fanAvg`). */
  readonly mode?: NameOf<Mode>;
  /** Normal without what is beyond two deviations (`truncatedNormal`, the default), normal, or uniform. */
  readonly distribution?: NameOf<Distribution>;
}

// Standard deviation of a standard normal cut at ±2, so that the cut one can be scaled back.
const TRUNCATED_STDDEV = 0.8796256610342398;

/** What these share: variance scale / n, n being the fan in, the fan out, or their mean. */
abstract class Scaled extends Seeded {
  /** The axes whose sizes, multiplied, count the inputs of a unit. */
  declare readonly inputAxes: readonly number[] | null;
  /** The axes whose sizes, multiplied, count the outputs. */
  declare readonly outputAxes: readonly number[] | null;

  /** The variance is `scale / n`. */
  get scale(): number {
    return 1;
  }
  /** What n counts: the inputs of a unit (`fanIn`), its outputs (`fanOut`), or the mean of both (`fanAvg`). */
  get mode(): Mode {
    return 'fanIn';
  }
  /** Normal without what is beyond two deviations (`truncatedNormal`), normal, or uniform. */
  get distribution(): Distribution {
    return 'truncatedNormal';
  }
  override call(shape: Shape, dtype: DType): Tensor {
    const { mode, source } = this;
    const float = dtype as 'float32';
    const [fanIn, fanOut] = this.#fans(shape);
    const n = mode === 'fanIn' ? fanIn : mode === 'fanOut' ? fanOut : (fanIn + fanOut) / 2;
    const variance = this.scale / Math.max(1, n);
    if (this.distribution === 'uniform') {
      const limit = Math.sqrt(3 * variance);
      return source.uniform(shape, { minval: -limit, maxval: limit, dtype: float });
    }
    const stddev = Math.sqrt(variance);
    return this.distribution === 'truncatedNormal'
      ? source.truncatedNormal(shape, { mean: 0, stddev: stddev / TRUNCATED_STDDEV, dtype: float })
      : source.normal(shape, { mean: 0, stddev, dtype: float });
  }

  /** Inputs and outputs of one unit: the last two dimensions, times the receptive field of a convolution. */
  #fans(shape: Shape): [number, number] {
    checkShape(shape, 'initializer');
    const { inputAxes, outputAxes } = this;
    if (inputAxes !== null && outputAxes !== null) {
      const sizeAlong = (axes: readonly number[]): number =>
        sizeOf(axes.map((axis) => shape[normalizeAxis(axis, shape.length, this.constructor.name)]));
      return [sizeAlong(inputAxes), sizeAlong(outputAxes)];
    }
    if (shape.length === 0) return [1, 1];
    if (shape.length === 1) return [shape[0], shape[0]];
    const field = sizeOf(shape.slice(0, -2));
    return [(shape.at(-2) as number) * field, (shape.at(-1) as number) * field];
  }
}

/** Keeps the variance of signals through a layer: variance scale / n, n being the fan in, the fan out, or their mean. */
export class VarianceScaling extends Scaled {
  constructor(...args: [scale?: number | VarianceScalingOptions, options?: VarianceScalingOptions]) {
    super(...args);
  }
}

/** Those with a scale of their own. */
abstract class SeededScaled extends Scaled {
  constructor(...args: [seed?: number | null | FanOptions, options?: FanOptions]) {
    super(...args);
  }
}

/** Glorot and Bengio (2010), uniform: the default of Dense and Conv2D. */
export class GlorotUniform extends SeededScaled {
  override get mode(): Mode {
    return 'fanAvg';
  }
  override get distribution(): Distribution {
    return 'uniform';
  }
}
/** Glorot and Bengio (2010), normal. */
export class GlorotNormal extends SeededScaled {
  override get mode(): Mode {
    return 'fanAvg';
  }
}
/** He et al. (2015), normal. */
export class HeNormal extends SeededScaled {
  override get scale(): number {
    return 2;
  }
}
/** He et al. (2015), uniform. */
export class HeUniform extends SeededScaled {
  override get scale(): number {
    return 2;
  }
  override get distribution(): Distribution {
    return 'uniform';
  }
}
/** LeCun et al. (1998), normal. */
export class LecunNormal extends SeededScaled {}
/** LeCun et al. (1998), uniform. */
export class LecunUniform extends SeededScaled {
  override get distribution(): Distribution {
    return 'uniform';
  }
}

/** Options of `Orthogonal`. */
export interface OrthogonalOptions extends GainOptions, SeedOptions {}

/**
 * Orthonormal rows or columns, whichever are fewer (Saxe et al., 2013), times `gain`: what recurrent weights begin with. Axes but
 * the last are taken as one.
 */
export class Orthogonal extends Seeded {
  /** A factor. */
  declare readonly gain: number;

  constructor(...args: [gain?: number | OrthogonalOptions, options?: OrthogonalOptions]) {
    super(...args);
  }
  override call(shape: Shape, dtype: DType): Tensor {
    checkShape(shape, 'orthogonal');
    if (shape.length < 2) {
      throw new InvalidArgumentError(`orthogonal needs a shape of rank 2 or more, got [${shape.join(', ')}]`);
    }
    const columns = shape.at(-1) as number;
    const rows = sizeOf(shape.slice(0, -1));
    const [count, length] = [Math.min(rows, columns), Math.max(rows, columns)];
    const normal = this.source.normal([count, length], { dtype: 'float64' });
    const vectors = orthonormal(normal.data() as Float64Array, count, length);
    normal.dispose();
    const out = tensorOf(vectors, 'float64', { shape: [count, length] });
    return (rows <= columns ? out : out.transpose()).mul(this.gain).cast(dtype).reshape(shape);
  }
}

const number = numberOption;
const seed: Option<number | null> = orNull(number(0));
const isNumbers = (value: unknown): value is ConstantValue =>
  typeof value === 'number' || (Array.isArray(value) && value.every(isNumbers));
/** Tensors, typed arrays and what Keras writes of NumPy's arrays as nested arrays. */
function plainNumbers(given: unknown): unknown {
  if (given instanceof Tensor || given instanceof Variable) return given.array();
  if (ArrayBuffer.isView(given)) return Array.from(given as unknown as ArrayLike<number>);
  const { class_name: inFile, config } = (given ?? {}) as Partial<SerializedObject>;
  return inFile === '__numpy__' || inFile === '__tensor__' ? config?.['value'] : (given ?? 0);
}
/** @throws InvalidArgumentError for what is no array of numbers */
const constantValue: Option<ConstantValue> = {
  read(given, name, of) {
    try {
      const value = plainNumbers(given);
      if (isNumbers(value)) return value;
    } catch {
      // What cannot be looked at is no array of numbers.
    }
    throw new InvalidArgumentError(
      `${name} must be a number or an array of numbers, got ${show(given)}`,
      (of as object).constructor.name,
    );
  },
};
takesOptions<object, Initializer>({ options: {} }, Zeros, Ones);
takesOptions<ConstantOptions, Constant>(
  { positional: ['value'], required: 0, options: { value: constantValue } },
  Constant,
);
takesOptions<GainOptions, Identity>(
  { positional: ['gain'], required: 0, options: { gain: number(1) } },
  Identity,
);
takesOptions<NormalOptions, Normal>(
  { positional: ['mean'], required: 0, options: { mean: number(0), stddev: number(0.05), seed } },
  RandomNormal,
  TruncatedNormal,
);
takesOptions<UniformOptions, RandomUniform>(
  { positional: ['minval'], required: 0, options: { minval: number(-0.05), maxval: number(0.05), seed } },
  RandomUniform,
);
const axes: Option<readonly number[] | null> = orNull({
  read: (given, _, of) => {
    if (Array.isArray(given) && given.every(Number.isInteger)) return given as number[];
    throw new InvalidArgumentError(
      `axes must be a list of integers, got ${show(given)}`,
      of.constructor.name,
    );
  },
});
const fans = { seed, inputAxes: axes, outputAxes: axes } as const;
takesOptions<VarianceScalingOptions, VarianceScaling>(
  {
    positional: ['scale'],
    required: 0,
    options: {
      scale: number(1, 0),
      mode: nameOption<Mode>(['fanIn', 'fanOut', 'fanAvg'], 'fanIn'),
      distribution: nameOption<Distribution>(
        ['truncatedNormal', 'untruncatedNormal', 'uniform'],
        'truncatedNormal',
      ),
      ...fans,
    },
  },
  VarianceScaling,
);
takesOptions<FanOptions, Scaled>(
  { positional: ['seed'], required: 0, options: fans },
  GlorotUniform,
  GlorotNormal,
  HeNormal,
  HeUniform,
  LecunNormal,
  LecunUniform,
);
takesOptions<OrthogonalOptions, Orthogonal>(
  { positional: ['gain'], required: 0, options: { gain: number(1), seed } },
  Orthogonal,
);

/** Gram and Schmidt's process, each projection taken twice so that rounding leaves no rest. */
function orthonormal(values: Float64Array, count: number, length: number): Float64Array {
  const out = Float64Array.from(values);
  for (let i = 0; i < count; i++) {
    const v = out.subarray(i * length, (i + 1) * length);
    for (let k = 0; k < 2 * i; k++) {
      const u = out.subarray((k % i) * length, (k % i) * length + length);
      let dot = 0;
      for (let j = 0; j < length; j++) dot += u[j] * v[j];
      for (let j = 0; j < length; j++) v[j] = v[j] - dot * u[j];
    }
    let square = 0;
    for (let j = 0; j < length; j++) square += v[j] ** 2;
    const factor = 1 / Math.sqrt(square);
    for (let j = 0; j < length; j++) v[j] = v[j] * factor;
  }
  return out;
}

/** `new Zeros(…)` without `new`. */
export const zeros: MakerOf<typeof Zeros> = maker(Zeros);
/** `new Ones(…)` without `new`. */
export const ones: MakerOf<typeof Ones> = maker(Ones);
/** `new Constant(…)` without `new`. */
export const constant: MakerOf<typeof Constant> = maker(Constant);
/** `new Identity(…)` without `new`. */
export const identity: MakerOf<typeof Identity> = maker(Identity);
/** `new RandomNormal(…)` without `new`. */
export const randomNormal: MakerOf<typeof RandomNormal> = maker(RandomNormal);
/** `new TruncatedNormal(…)` without `new`. */
export const truncatedNormal: MakerOf<typeof TruncatedNormal> = maker(TruncatedNormal);
/** `new RandomUniform(…)` without `new`. */
export const randomUniform: MakerOf<typeof RandomUniform> = maker(RandomUniform);
/** `new VarianceScaling(…)` without `new`. */
export const varianceScaling: MakerOf<typeof VarianceScaling> = maker(VarianceScaling);
/** `new GlorotUniform(…)` without `new`. */
export const glorotUniform: MakerOf<typeof GlorotUniform> = maker(GlorotUniform);
/** `new GlorotNormal(…)` without `new`. */
export const glorotNormal: MakerOf<typeof GlorotNormal> = maker(GlorotNormal);
/** `new HeNormal(…)` without `new`. */
export const heNormal: MakerOf<typeof HeNormal> = maker(HeNormal);
/** `new HeUniform(…)` without `new`. */
export const heUniform: MakerOf<typeof HeUniform> = maker(HeUniform);
/** `new LecunNormal(…)` without `new`. */
export const lecunNormal: MakerOf<typeof LecunNormal> = maker(LecunNormal);
/** `new LecunUniform(…)` without `new`. */
export const lecunUniform: MakerOf<typeof LecunUniform> = maker(LecunUniform);
/** `new Orthogonal(…)` without `new`. */
export const orthogonal: MakerOf<typeof Orthogonal> = maker(Orthogonal);
/** `new STFT(…)` without `new`. */
export const stft: MakerOf<typeof STFT> = maker(STFT);
export { Identity as IdentityInitializer, Orthogonal as OrthogonalInitializer };

const classes = {
  Zeros,
  Ones,
  Constant,
  Identity,
  RandomNormal,
  TruncatedNormal,
  RandomUniform,
  VarianceScaling,
  GlorotUniform,
  GlorotNormal,
  HeNormal,
  HeUniform,
  LecunNormal,
  LecunUniform,
  Orthogonal,
  STFT,
};
// Keras's other names.
const others = {
  zero: Zeros,
  one: Ones,
  uniform: RandomUniform,
  normal: RandomNormal,
  IdentityInitializer: Identity,
  OrthogonalInitializer: Orthogonal,
  stft: STFT,
  STFTInitializer: STFT,
};
markOurs(...Object.values(classes));
const known = new ClassNames<Initializer>('initializer', classes, others);

/** Names of initializers; Keras's own (`glorot_uniform`, `GlorotUniform`) are understood too. */
export type InitializerName =
  | ClassNameOf<
      | 'zeros'
      | 'ones'
      | 'constant'
      | 'identity'
      | 'randomNormal'
      | 'truncatedNormal'
      | 'randomUniform'
      | 'varianceScaling'
      | 'glorotUniform'
      | 'glorotNormal'
      | 'heNormal'
      | 'heUniform'
      | 'lecunNormal'
      | 'lecunUniform'
      | 'orthogonal'
      | 'stft'
      | 'STFT'
    >
  | 'zero'
  | 'one'
  | 'uniform'
  | 'normal'
  | CustomName<'initializer'>;

/** A name, a function of a shape and a dtype, such as an initializer, or what a file holds. */
export type InitializerLike = InitializerName | InitializerFunction | SerializedObject;

/** The initializer of a name, or the function itself. @throws InvalidArgumentError for an unknown name. */
export const get: NamedFunction<
  [identifier: InitializerLike | (string & {})],
  ['identifier'],
  unknown,
  InitializerFunction
> = defineFunction('initializers.get', { identifier: kind.structure }, {}, (identifier) =>
  known.get<InitializerFunction>(identifier, Initializer),
);

/** An initializer, or a registered function, as plain JSON, in Keras's form. */
export const serialize: NamedFunction<
  [initializer: InitializerFunction],
  ['initializer'],
  unknown,
  SerializedObject | SerializedFunction
> = defineObjectSerialize('initializers.serialize', 'initializer');

/** The initializer that `serialize`, or Keras, wrote. `customObjects` are classes and functions of your own by name. */
export const deserialize: Deserialize<SerializedObject | SerializedFunction, InitializerFunction> =
  defineObjectDeserialize('initializers.deserialize', known, Initializer);

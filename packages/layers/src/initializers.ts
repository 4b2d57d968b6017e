import {
  type DType,
  fill,
  InvalidArgumentError,
  random,
  type Shape,
  type Tensor,
  constant as tensorOf,
  zeros as zeroTensor,
} from '@eagre/core';
import { checkOptionNames, checkShape, type OptionNames, sizeOf } from '@eagre/core/internal';
import { show } from './show.ts';

/** Makes the first value of a weight. */
export type Initializer = (shape: Shape, dtype: DType) => Tensor;

interface Seeded {
  readonly seed?: number;
}

/** With a seed always the same numbers, as in Keras; an op's seed would only start a sequence. */
function source({ seed }: Seeded): Pick<random.Generator, 'normal' | 'truncatedNormal' | 'uniform'> {
  return seed === undefined ? random : random.Generator.fromSeed(seed);
}

const seededOptions: OptionNames<Seeded> = { seed: true };
const normalOptions: OptionNames<NormalOptions> = { mean: true, stddev: true, seed: true };

interface NormalOptions extends Seeded {
  /** 0 unless said. */
  readonly mean?: number;
  /** Standard deviation; 0.05 unless said. */
  readonly stddev?: number;
}

/** All zeros. */
export function zeros(): Initializer {
  return (shape, dtype) => zeroTensor(shape, { dtype });
}
/** All ones. */
export function ones(): Initializer {
  return constant(1);
}
/** All `value`. */
export function constant(value: number): Initializer {
  return (shape, dtype) => fill(shape, value, { dtype });
}
/** Normal with mean 0 and standard deviation 0.05 unless said. */
export function randomNormal(options: NormalOptions = {}): Initializer {
  checkOptionNames(options, normalOptions, 'randomNormal');
  const { mean = 0, stddev = 0.05, ...rest } = options;
  return (shape, dtype) => source(rest).normal(shape, { mean, stddev, dtype: dtype as 'float32' });
}
/** Normal without the tails beyond two standard deviations. */
export function truncatedNormal(options: NormalOptions = {}): Initializer {
  checkOptionNames(options, normalOptions, 'truncatedNormal');
  const { mean = 0, stddev = 0.05, ...rest } = options;
  return (shape, dtype) => source(rest).truncatedNormal(shape, { mean, stddev, dtype: dtype as 'float32' });
}
/** Uniform in [-0.05, 0.05) unless said. */
export function randomUniform(options: { minval?: number; maxval?: number } & Seeded = {}): Initializer {
  checkOptionNames(options, { minval: true, maxval: true, seed: true }, 'randomUniform');
  const { minval = -0.05, maxval = 0.05, ...rest } = options;
  return (shape, dtype) => source(rest).uniform(shape, { minval, maxval, dtype: dtype as 'float32' });
}

export interface VarianceScalingOptions extends Seeded {
  readonly scale?: number;
  readonly mode?: 'fanIn' | 'fanOut' | 'fanAvg';
  readonly distribution?: 'truncatedNormal' | 'untruncatedNormal' | 'uniform';
}

// Standard deviation of a standard normal cut at ±2, so that the cut one can be scaled back.
const TRUNCATED_STDDEV = 0.8796256610342398;

const modes: readonly string[] = ['fanIn', 'fanOut', 'fanAvg'];
const distributions: readonly string[] = ['truncatedNormal', 'untruncatedNormal', 'uniform'];

/** @throws InvalidArgumentError unless `value` is one of `known`. */
function oneOf(value: string, known: readonly string[], what: string): void {
  if (!known.includes(value))
    throw new InvalidArgumentError(
      `${what} is ${show(value)}, expected one of ${known.join(', ')}`,
      'varianceScaling',
    );
}

/** Keeps the variance of signals through a layer: variance scale / n, n being the fan in, the fan out, or their mean. */
export function varianceScaling(options: VarianceScalingOptions = {}): Initializer {
  checkOptionNames(options, { scale: true, mode: true, distribution: true, seed: true }, 'varianceScaling');
  const { scale = 1, mode = 'fanIn', distribution = 'truncatedNormal', ...rest } = options;
  oneOf(mode, modes, 'mode');
  oneOf(distribution, distributions, 'distribution');
  return (shape, dtype) => {
    const [fanIn, fanOut] = fans(shape);
    const n = mode === 'fanIn' ? fanIn : mode === 'fanOut' ? fanOut : (fanIn + fanOut) / 2;
    const variance = scale / Math.max(1, n);
    if (distribution === 'uniform') {
      const limit = Math.sqrt(3 * variance);
      return randomUniform({ minval: -limit, maxval: limit, ...rest })(shape, dtype);
    }
    return distribution === 'truncatedNormal'
      ? truncatedNormal({ stddev: Math.sqrt(variance) / TRUNCATED_STDDEV, ...rest })(shape, dtype)
      : randomNormal({ stddev: Math.sqrt(variance), ...rest })(shape, dtype);
  };
}

/** Glorot and Bengio (2010), uniform: the default of Dense and Conv2D. */
export function glorotUniform(options: Seeded = {}): Initializer {
  checkOptionNames(options, seededOptions, 'glorotUniform');
  return varianceScaling({ scale: 1, mode: 'fanAvg', distribution: 'uniform', ...options });
}
/** Glorot and Bengio (2010), normal. */
export function glorotNormal(options: Seeded = {}): Initializer {
  checkOptionNames(options, seededOptions, 'glorotNormal');
  return varianceScaling({ scale: 1, mode: 'fanAvg', ...options });
}
/** He et al. (2015), normal. */
export function heNormal(options: Seeded = {}): Initializer {
  checkOptionNames(options, seededOptions, 'heNormal');
  return varianceScaling({ scale: 2, ...options });
}
/** He et al. (2015), uniform. */
export function heUniform(options: Seeded = {}): Initializer {
  checkOptionNames(options, seededOptions, 'heUniform');
  return varianceScaling({ scale: 2, distribution: 'uniform', ...options });
}
/** LeCun et al. (1998), normal. */
export function lecunNormal(options: Seeded = {}): Initializer {
  checkOptionNames(options, seededOptions, 'lecunNormal');
  return varianceScaling(options);
}
/** LeCun et al. (1998), uniform. */
export function lecunUniform(options: Seeded = {}): Initializer {
  checkOptionNames(options, seededOptions, 'lecunUniform');
  return varianceScaling({ distribution: 'uniform', ...options });
}

/**
 * Orthonormal rows or columns, whichever are fewer (Saxe et al., 2013), times `gain`: what recurrent weights begin with. Axes but
 * the last are taken as one.
 */
export function orthogonal(options: { gain?: number } & Seeded = {}): Initializer {
  checkOptionNames(options, { gain: true, seed: true }, 'orthogonal');
  const { gain = 1, ...rest } = options;
  return (shape, dtype) => {
    checkShape(shape, 'orthogonal');
    if (shape.length < 2) {
      throw new InvalidArgumentError(`orthogonal needs a shape of rank 2 or more, got [${shape.join(', ')}]`);
    }
    const columns = shape.at(-1) as number;
    const rows = sizeOf(shape.slice(0, -1));
    const [count, length] = [Math.min(rows, columns), Math.max(rows, columns)];
    const normal = source(rest).normal([count, length], { dtype: 'float64' });
    const vectors = orthonormal(normal.data() as Float64Array, count, length);
    normal.dispose();
    const out = tensorOf(vectors, 'float64', { shape: [count, length] });
    return (rows <= columns ? out : out.transpose()).mul(gain).cast(dtype).reshape(shape);
  };
}

/** Gram and Schmidt's process, each projection taken twice so that rounding leaves no rest. */
function orthonormal(values: Float64Array, count: number, length: number): Float64Array {
  const out = Float64Array.from(values);
  for (let i = 0; i < count; i++) {
    const v = out.subarray(i * length, (i + 1) * length);
    for (let k = 0; k < 2 * i; k++) {
      const u = out.subarray((k % i) * length, (k % i) * length + length);
      let dot = 0;
      for (let j = 0; j < length; j++) dot += (u[j] as number) * (v[j] as number);
      for (let j = 0; j < length; j++) v[j] = (v[j] as number) - dot * (u[j] as number);
    }
    let square = 0;
    for (let j = 0; j < length; j++) square += (v[j] as number) ** 2;
    const factor = 1 / Math.sqrt(square);
    for (let j = 0; j < length; j++) v[j] = (v[j] as number) * factor;
  }
  return out;
}

/** Inputs and outputs of one unit: the last two dimensions, times the receptive field of a convolution. */
function fans(shape: Shape): [number, number] {
  checkShape(shape, 'initializer');
  if (shape.length === 0) return [1, 1];
  if (shape.length === 1) return [shape[0] as number, shape[0] as number];
  const field = sizeOf(shape.slice(0, -2));
  return [(shape.at(-2) as number) * field, (shape.at(-1) as number) * field];
}

/** Names of initializers; Keras's own (`glorot_uniform`, `GlorotUniform`) are understood too. */
export type InitializerName =
  | 'zeros'
  | 'ones'
  | 'randomNormal'
  | 'randomUniform'
  | 'truncatedNormal'
  | 'glorotUniform'
  | 'glorotNormal'
  | 'heNormal'
  | 'heUniform'
  | 'lecunNormal'
  | 'lecunUniform'
  | 'orthogonal'
  | 'varianceScaling'
  | 'constant'
  | 'zero'
  | 'one'
  | 'uniform'
  | 'normal';

const named: Readonly<Record<InitializerName, () => Initializer>> = {
  zeros,
  ones,
  randomNormal,
  randomUniform,
  truncatedNormal,
  glorotUniform,
  glorotNormal,
  heNormal,
  heUniform,
  lecunNormal,
  lecunUniform,
  orthogonal,
  varianceScaling,
  constant: () => constant(0),
  // Keras's short names.
  zero: zeros,
  one: ones,
  uniform: randomUniform,
  normal: randomNormal,
};
export type InitializerLike = InitializerName | Initializer | (string & {});

/** The initializer of a name, or the function itself. @throws InvalidArgumentError for an unknown name. */
export function get(initializer: InitializerLike): Initializer {
  if (typeof initializer === 'function') return initializer;
  if (typeof initializer !== 'string')
    throw new InvalidArgumentError(
      `expected the name of an initializer, or a function, got ${show(initializer)}`,
    );
  const camel = initializer.replace(/_(\w)/g, (_, c: string) => c.toUpperCase());
  const name = camel.charAt(0).toLowerCase() + camel.slice(1);
  const make = Object.hasOwn(named, name) ? named[name as InitializerName] : undefined;
  if (make === undefined) {
    throw new InvalidArgumentError(
      `unknown initializer '${initializer}'; known: ${Object.keys(named).join(', ')}`,
    );
  }
  return make();
}

// `tf.random`. Numbers come from Philox, a function of a key (the seed) and a counter, so every draw can be repeated.
import { type DType, FailedPreconditionError, InvalidArgumentError, isHalf } from '@eagre/backend';
import type { IntegerLike, ShapeLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import { context, currentBackend } from '../dispatch/context.ts';
import { atRunTime } from '../dispatch/host.ts';
import { type Attrs, defineOp, execute1, type Op } from '../dispatch/op.ts';
import { type Sample, values } from '../dispatch/samples.ts';
import { knownTensor, symbolic } from '../dispatch/symbolic.ts';
import type { Trackable, TrackableAttribute, TrackableView } from '../module/trackable.ts';
import { argSort, expandDims, gather, reshape } from '../ops/array/array.ts';
import { ownShape } from '../ops/array/moving.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { checkShape, type Shape, show, showShape, sizeOf } from '../shapes/shape.ts';
import { differs } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType, isInteger } from '../tensor/dtypes.ts';
import { hostValues, Tensor } from '../tensor/tensor.ts';
import { type Draw, type DrawSource, drawing, keyOf, Stream, writeDraw } from './draws.ts';
import { determinism, seeds } from './seeds.ts';

// ---- where keys and counters come from

function checkSeed(seed: number, op: string): number {
  if (!Number.isSafeInteger(seed))
    throw new InvalidArgumentError(`the seed ${shown(seed)} is not an integer`, op);
  return seed;
}

/** A seed that is new in each run. @throws FailedPreconditionError where runs have to be alike */
function entropy(): number {
  if (determinism.enabled)
    throw new FailedPreconditionError(
      'random numbers need a seed while op determinism is enabled: call tf.random.setSeed first',
      'random',
    );
  const words = new Uint32Array(2);
  globalThis.crypto.getRandomValues(words);
  return (words[0] & 0x1fffff) * 2 ** 32 + words[1];
}

// What sets apart the keys of the global stream, of calls with seeds, of stateless calls and of generators.
const domain = { global: 1, call: 2, stateless: 3, generator: 4 } as const;
// The global seed that calls with a seed of their own take when none was set, so that they repeat from run to run.
const UNSET = 87654321;

/** For calls without a seed of their own. */
const ownStream = new Stream(() => [domain.global, seeds.global ?? entropy()]);
/** By seed. They stay the same objects when the global seed changes, since traced functions draw from them. */
const callStreams = new Map<number, Stream>();

function callStream(seed: number): Stream {
  let stream = callStreams.get(seed);
  if (stream === undefined)
    callStreams.set(seed, (stream = new Stream(() => [domain.call, seeds.global ?? UNSET, seed])));
  return stream;
}

function sourceOf(seed: number | undefined, op: string): Stream {
  return seed === undefined ? ownStream : callStream(checkSeed(seed, op));
}

function startStreams(): void {
  ownStream.set();
  for (const stream of callStreams.values()) stream.set();
}

/**
 * Sets the global seed: what follows is the same in every run. Without it the numbers differ from run to run. Calls with a
 * seed of their own depend on both, and start anew here.
 */
export const setSeed: NamedFunction<[seed: number], ['seed'], unknown, void> = defineFunction(
  'random.setSeed',
  { seed: kind.asIs },
  {},
  (seed) => {
    seeds.global = checkSeed(seed, 'setSeed');
    seeds.settings++;
    startStreams();
  },
);

/** Integers as a tensor, and back. @throws InvalidArgumentError for another tensor, or fewer than `least`. */
function savedNumbers(numbers: readonly number[]): Tensor {
  return toTensor({ data: BigInt64Array.from(numbers, BigInt), shape: [numbers.length] });
}
function restoredNumbers(state: Tensor, least: number): number[] {
  const numbers = state.dtype === 'int64' && state.rank === 1 ? Array.from(state.data(), Number) : [];
  if (numbers.length < least || !numbers.every(Number.isSafeInteger)) {
    throw new InvalidArgumentError(
      `this is not a random state: ${state.dtype} ${showShape(state.shape)}`,
      'random',
    );
  }
  return numbers;
}

/**
 * The random numbers of all calls that use no generator, as part of a checkpoint: what is drawn after `restore` is what was drawn
 * after `save`.
 *
 *     new tf.train.Checkpoint({ model, optimizer, random: tf.random.globalStream });
 */
export const globalStream: Trackable = {
  trackableView: () => ({
    attributes: [
      [
        'STATE',
        {
          save: () => {
            const seed = seeds.global === undefined ? [0, 0] : [1, seeds.global];
            const calls = [...callStreams].flatMap(([key, { count }]) => (count > 0 ? [key, count] : []));
            return savedNumbers([...seed, ownStream.count, ownStream.words[1], ...calls]);
          },
          restore: (state) => {
            const [seeded, seed, count, word, ...calls] = restoredNumbers(state, 4) as [
              number,
              number,
              number,
              number,
              ...number[],
            ];
            seeds.global = seeded === 1 ? seed : undefined;
            startStreams();
            ownStream.set([domain.global, word], count);
            for (let i = 0; i + 1 < calls.length; i += 2) {
              const stream = callStream(calls[i]);
              stream.set(stream.words, calls[i + 1]);
            }
          },
        },
      ],
    ],
  }),
};

// ---- ops

interface Distribution {
  /** Draws by a source's next key and counter. */
  readonly drawn: Op;
  /** Draws by a given key and counter. */
  readonly stateless: Op;
}

const fixed: Draw = { k0: 0x12345678, k1: 0x9abcdef0, counter0: 7, counter1: 0 };
/** Always begins with the same draw, so that samples can be compared. */
const fixedSource: DrawSource = {
  draw: () => fixed,
  peek: () => fixed,
  take: () => fixed,
  memory: ({ allocator }) => {
    const memory = allocator.allocateAlone(16);
    writeDraw(fixed, memory);
    return memory;
  },
};

/* @__NO_SIDE_EFFECTS__ */
function define(
  name: string,
  { kernel }: { readonly kernel: 'RandomUniform' | 'RandomNormal' | 'TruncatedNormal' | 'RandomUniformInt' },
  attrs: readonly Attrs[],
): Distribution {
  const notDifferentiable = 'random numbers depend on no input';
  const stateless = defineOp({
    name: `Stateless${name}`,
    kernel,
    infer: (_, { dtype, shape }) => ({ dtype: dtype as DType, shape: shape as Shape }),
    notDifferentiable,
    samples: (): Sample[] =>
      attrs.flatMap((a): Sample[] => [
        { inputs: [], attrs: { ...a, ...fixed } },
        { inputs: [values([2 ** 32 - 3, 2 ** 40 + 5], [2], 'uint64')], attrs: { ...a, ...fixed } },
      ]),
  });
  const drawn = defineOp({
    name,
    // The source is asked when the op runs, so that running it again gives new numbers.
    run: (_, { source, ...rest }) => {
      if (currentBackend() !== symbolic)
        return execute1(stateless, [], { ...rest, ...(source as DrawSource).draw() });
      const { from, place } = symbolic.draw(source as DrawSource);
      return execute1(stateless, [from], { ...rest, k0: 0, k1: 0, counter0: place, counter1: 0 });
    },
    notDifferentiable,
    samples: (): Sample[] => attrs.map((a) => ({ inputs: [], attrs: { ...a, source: fixedSource } })),
  });
  return { drawn, stateless };
}

/** Uniform random floats. */
const uniformFloat: Distribution = define('RandomUniform', { kernel: 'RandomUniform' }, [
  { shape: [3, 5], dtype: 'float32', low: 0, high: 1 },
  { shape: [7], dtype: 'float64', low: -2, high: 3 },
]);
/** Uniform random integers. */
const uniformInt: Distribution = define('RandomUniformInt', { kernel: 'RandomUniformInt' }, [
  { shape: [3, 5], dtype: 'int32', low: -4, high: 9 },
  { shape: [7], dtype: 'int64', low: 0, high: 1000 },
]);
/** Normally distributed random floats. */
const normalFloat: Distribution = define('RandomStandardNormal', { kernel: 'RandomNormal' }, [
  { shape: [3, 5], dtype: 'float32', mean: 0, stddev: 1 },
  { shape: [7], dtype: 'float64', mean: 2, stddev: 0.5 },
]);
/** Normally distributed random floats, cut at two deviations. */
const truncatedFloat: Distribution = define('TruncatedNormal', { kernel: 'TruncatedNormal' }, [
  { shape: [3, 5], dtype: 'float32', mean: 0, stddev: 1 },
  { shape: [7], dtype: 'float64', mean: 2, stddev: 0.5 },
]);

/** From where a call draws: a source, a fixed draw, or one that only a run knows, as a counter and a key (uint64 [2]). */
type From = { readonly source: DrawSource } | Draw | { readonly words: Tensor };

function run(d: Distribution, from: From, attrs: Attrs): Tensor {
  const dtype = attrs.dtype as DType;
  if (isHalf(dtype)) {
    const y = run(d, from, { ...attrs, dtype: 'float32' }).cast(dtype);
    // Rounding may have reached the upper bound, which is excluded.
    const { low, high } = attrs as { readonly low?: number; readonly high?: number };
    return low === undefined || high === undefined || low === high ? y : y.less(high).where(y, low);
  }
  if ('words' in from)
    return execute1(d.stateless, [from.words], { ...attrs, k0: 0, k1: 0, counter0: 0, counter1: 0 });
  const { next } = drawing;
  if (next === null || !('source' in from))
    return execute1('source' in from ? d.drawn : d.stateless, [], { ...attrs, ...from });
  const got = next(() =>
    context.tracer === null ? from.source.draw() : execute1(d.drawn, [], { ...attrs, ...from }),
  );
  return 'k0' in got ? execute1(d.stateless, [], { ...attrs, ...got }) : got;
}

// ---- options

/** Options of `uniform`. */
export interface UniformOptions {
  /** The lower bound, included; 0 by default. Numbers for integers; floats may be given as tensors, which broadcast. */
  readonly minval?: TensorLike;
  /** The upper bound, excluded; 1 by default. Integers need it. */
  readonly maxval?: TensorLike;
  /** float32 by default; float64, int32, int64, uint8. */
  readonly dtype?: DType;
}
/** Options of `normal` and `truncatedNormal`. */
export interface NormalOptions {
  /** 0 by default; a tensor broadcasts, and gets a gradient. */
  readonly mean?: TensorLike;
  /** Standard deviation; 1 by default. */
  readonly stddev?: TensorLike;
  /** float32 by default, or float64. */
  readonly dtype?: DType;
}
/** Gives the seed of each draw, two integers: a `tf.keras.random.SeedGenerator`. */
export interface SeedSource {
  next(): StatelessSeed;
}

/** A seed of a call's own. */
export interface Seeded {
  /**
   * The numbers then do not depend on other calls: with one seed (and one global seed), the first call always gives the same,
   * the second call the same, and so on. Or what gives the seeds.
   */
  readonly seed?: number | SeedSource;
}

/** From where a call with such a seed draws. */
function fromOf(seed: number | SeedSource | undefined, op: string): From {
  if (typeof seed !== 'object' || seed === null || typeof seed.next !== 'function')
    return { source: sourceOf(seed as number | undefined, op) };
  return statelessDraw(seed.next(), op);
}

const isLarge = (bound: TensorLike | undefined): bound is bigint =>
  typeof bound === 'bigint' && !Number.isSafeInteger(Number(bound));

/** Integers between bounds that no float64 holds exactly: the remainders of 64 bits, as for others. */
function drawInt64(shape: Shape, minval: TensorLike, maxval: TensorLike | undefined, from: From): Tensor {
  const op = 'RandomUniform';
  const [low, high] = [minval, maxval].map((v) => (Number.isSafeInteger(v) ? BigInt(v as number) : v));
  if (typeof low !== 'bigint' || typeof high !== 'bigint' || low >= high)
    throw new InvalidArgumentError(
      `int64 needs integers minval < maxval, got ${shown(minval)} and ${shown(maxval)}`,
      op,
    );
  if (low < -(2n ** 63n) || high > 2n ** 63n)
    throw new InvalidArgumentError(`minval ${low} and maxval ${high} are outside the range of int64`, op);
  const size = sizeOf(shape);
  const words = run(uniformInt, from, { shape: [2, size], dtype: 'int64', low: 0, high: 2 ** 32 });
  const bits = reshape(
    words
      .at(0)
      .mul(2 ** 32)
      .add(words.at(1)),
    shape,
  );
  return modulo(bits, high - low).add(low);
}

/** Of 64 bits taken as an integer of at least 0, the remainder by a number of at most 2^64, as an integer that wraps around. */
function modulo(bits: Tensor, range: bigint): Tensor {
  const negative = bits.less(0);
  if (range < 2n ** 63n) {
    const rest = bits.mod(range);
    // Such bits stand for 2^64 more.
    const more = 2n ** 64n % range;
    const left = range - more;
    return negative.where(rest.greaterEqual(left).where(rest.sub(left), rest.add(more)), rest);
  }
  const wrapped = BigInt.asIntN(64, range);
  return negative.logicalAnd(bits.greaterEqual(wrapped)).where(bits.sub(wrapped), bits);
}

function drawUniform(shape: Shape, options: UniformOptions, from: From): Tensor {
  const op = 'RandomUniform';
  const to = ownShape(shape, op);
  const dtype = options.dtype ?? 'float32';
  const { minval = 0, maxval } = options;
  if (isInteger(dtype)) {
    if (dtype === 'int64' && (isLarge(minval) || isLarge(maxval))) return drawInt64(to, minval, maxval, from);
    const [low, high] = [minval, maxval].map((v) => (typeof v === 'bigint' ? Number(v) : v));
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || (low as number) >= (high as number)) {
      const large = dtype === 'int64' && [low, high].some((v) => Math.abs(v as number) >= 2 ** 53);
      throw new InvalidArgumentError(
        `${dtype} needs integers minval < maxval${large ? ', as bigints from 2^53 on' : ''}, got ${shown(minval)} and ${shown(maxval)}`,
        op,
      );
    }
    const least = dtype === 'uint8' ? 0 : dtype === 'int32' ? -(2 ** 31) : Number.MIN_SAFE_INTEGER;
    const most = dtype === 'uint8' ? 2 ** 8 : dtype === 'int32' ? 2 ** 31 : Number.MAX_SAFE_INTEGER;
    if ((low as number) < least || (high as number) > most) {
      throw new InvalidArgumentError(
        `minval ${low} and maxval ${high} are outside the range of ${dtype}`,
        op,
      );
    }
    return run(uniformInt, from, { shape: to, dtype, low, high });
  }
  checkDType(dtype, 'floating', 'dtype', op);
  const top = maxval ?? 1;
  if (typeof minval === 'number' && typeof top === 'number') {
    if (!(minval <= top)) throw new InvalidArgumentError(`minval ${minval} is not below maxval ${top}`, op);
    return run(uniformFloat, from, { shape: to, dtype, low: minval, high: top });
  }
  const low = toTensor(minval, dtype);
  return run(uniformFloat, from, { shape: to, dtype, low: 0, high: 1 })
    .mul(toTensor(top, dtype).sub(low))
    .add(low);
}

function drawNormal(d: Distribution, shape: Shape, options: NormalOptions, from: From): Tensor {
  const op = d.drawn.name;
  const to = ownShape(shape, op);
  const { mean = 0, stddev = 1, dtype = 'float32' } = options;
  checkDType(dtype, 'floating', 'dtype', op);
  if (typeof mean === 'number' && typeof stddev === 'number') {
    if (!(stddev >= 0)) throw new InvalidArgumentError(`stddev is ${stddev}, expected at least 0`, op);
    return run(d, from, { shape: to, dtype, mean, stddev });
  }
  return run(d, from, { shape: to, dtype, mean: 0, stddev: 1 })
    .mul(toTensor(stddev, dtype))
    .add(toTensor(mean, dtype));
}

// ---- calls on the global stream, or with a seed

/**
 * Uniform random numbers in [minval, maxval): floats in [0, 1) by default, or integers.
 * `tf.random.uniform([2, 3], { maxval: 10, dtype: 'int32' })`
 */
export const uniform: NamedFunction<[shape: ShapeLike], ['shape'], UniformOptions & Seeded> = defineFunction(
  'random.uniform',
  { shape: kind.shape },
  { minval: kind.asIs, maxval: kind.asIs, dtype: kind.asIs, seed: kind.asIs },
  (shape: Shape, options) => {
    return drawUniform(shape, options, fromOf(options.seed, 'RandomUniform'));
  },
);

type Normals = NamedFunction<[shape: ShapeLike], ['shape'], NormalOptions & Seeded>;

const defineNormals = /* @__NO_SIDE_EFFECTS__ */ (name: string, d: Distribution): Normals =>
  defineFunction(
    `random.${name}`,
    { shape: kind.shape },
    { mean: kind.asIs, stddev: kind.asIs, dtype: kind.asIs, seed: kind.asIs },
    (shape: Shape, options) => drawNormal(d, shape, options, fromOf(options.seed, d.drawn.name)),
  );

/** Normally distributed random numbers. */
export const normal: Normals = defineNormals('normal', normalFloat);

/** Normally distributed random numbers, none further than two standard deviations from the mean. */
export const truncatedNormal: Normals = defineNormals('truncatedNormal', truncatedFloat);

/** The rows of x (along its first axis) in random order. */
export const shuffle: NamedFunction<[x: TensorLike], ['x|value'], Seeded> = defineFunction(
  'random.shuffle',
  { 'x|value': kind.tensor },
  { seed: kind.asIs },
  (x, options) => {
    const t = toTensor(x);
    if (t.rank === 0) throw new InvalidArgumentError('x is a scalar, so it has no rows', 'RandomShuffle');
    // Sorting by 53 random bits: ties are as good as impossible, and every backend gives the same order.
    const keys = uniform(toShape(dims(t).slice(0, 1)), { ...options, dtype: 'float64' });
    return gather(t, argSort(keys), 0);
  },
);

/**
 * Draws `numSamples` classes for each row of unnormalised log-probabilities [batch, classes]: [batch, numSamples], int64
 * by default.
 */
export const categorical: NamedFunction<
  [logits: TensorLike, numSamples: IntegerLike],
  ['logits', 'numSamples'],
  Seeded & {
    /** Of the classes; int64 by default. */
    dtype?: 'int32' | 'int64';
  }
> = defineFunction(
  'random.categorical',
  { logits: kind.tensor, numSamples: kind.size },
  { seed: kind.asIs, dtype: kind.asIs },
  (logits, numSamples: number, options) => {
    const op = 'Multinomial';
    const x = toTensor(logits);
    checkDType(x.dtype, 'floating', 'logits', op);
    checkShape([numSamples], op);
    if (x.rank !== 2 || !differs(dims(x)[1], 0)) {
      throw new InvalidArgumentError(
        `logits have shape ${showShape(x.shape)}, expected [batch, classes] with at least one class`,
        op,
      );
    }
    const seed = options.seed === undefined ? {} : { seed: options.seed };
    // The largest of logits + Gumbel noise is distributed as softmax says.
    const [batch, classes] = dims(x) as [Dim, Dim];
    const noise = uniform(toShape([batch, numSamples, classes]), { ...seed, dtype: x.dtype })
      .log()
      .neg()
      .log();
    const drawn = expandDims(x, 1).sub(noise).argMax(-1);
    const dtype = options.dtype ?? 'int64';
    return drawn.dtype === dtype ? drawn : drawn.cast(dtype);
  },
);

// ---- seeds of two integers, by which layers draw

/** Two integers, also as a tensor [2]; equal ones give equal numbers. */
export type StatelessSeed = readonly [number, number] | Tensor;

function statelessDraw(seed: StatelessSeed, op: string): From {
  if (seed instanceof Tensor) return drawOfTensor(seed, op);
  if (!Array.isArray(seed) || seed.length !== 2) {
    throw new InvalidArgumentError(`seed must be two integers, got ${show(seed)}`, op);
  }
  return { ...statelessKey(seed as unknown as [number, number], op), counter0: 0, counter1: 0 };
}
function statelessKey(seed: readonly number[], op: string): { readonly k0: number; readonly k1: number } {
  const [k0, k1] = keyOf([domain.stateless, ...seed.map((s) => checkSeed(s, op))]);
  return { k0, k1 };
}
function drawOfTensor(seed: Tensor, op: string): From {
  checkDType(seed.dtype, 'integer', 'seed', op);
  if (seed.rank !== 1 || differs(dims(seed)[0], 2))
    throw new InvalidArgumentError(`seed must be two integers, got shape ${showShape(seed.shape)}`, op);
  const numbers = (t: Tensor): number[] => Array.from(hostValues(t) as ArrayLike<number | bigint>, Number);
  const known = knownTensor(seed);
  if (known !== null) return { ...statelessKey(numbers(known), op), counter0: 0, counter1: 0 };
  const words = (now: Tensor): Tensor => {
    const { k0, k1 } = statelessKey(numbers(now), op);
    return toTensor({ data: BigUint64Array.of(0n, BigInt(k0) + (BigInt(k1) << 32n)), shape: [2] });
  };
  return {
    words: atRunTime('StatelessRandomGetKeyCounter', words, [seed], [{ dtype: 'uint64', shape: [2] }])[0],
  };
}

// ---- generators of layers

/** @internal Numbers with a stream of their own, which kernels draw from: for layers and initializers that have seeds. */
export class StreamGenerator implements Trackable {
  /** The same for the generator's life, since traced functions draw from it. */
  readonly #stream: Stream;

  /** The same seed gives the same numbers. */
  constructor(seed: number) {
    const words = [domain.generator, checkSeed(seed, 'Generator')];
    this.#stream = new Stream(() => words);
  }

  /** The state for checkpoints. */
  trackableView(): TrackableView {
    const state: TrackableAttribute = {
      save: () => savedNumbers([this.#stream.count, 0, ...this.#stream.words]),
      restore: (saved) => {
        const [count, , ...words] = restoredNumbers(saved, 3);
        this.#stream.set(words, count);
      },
    };
    return { attributes: [['STATE', state]] };
  }

  /** See `tf.random.uniform`. */
  uniform(shape: Shape, options: UniformOptions = {}): Tensor {
    return drawUniform(shape, options, { source: this.#stream });
  }
  /** See `tf.random.normal`. */
  normal(shape: Shape, options: NormalOptions = {}): Tensor {
    return drawNormal(normalFloat, shape, options, { source: this.#stream });
  }
  /** See `tf.random.truncatedNormal`. */
  truncatedNormal(shape: Shape, options: NormalOptions = {}): Tensor {
    return drawNormal(truncatedFloat, shape, options, { source: this.#stream });
  }
}

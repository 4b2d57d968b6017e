// TensorFlow's stateless random ops: numbers that are functions of a key and a counter. The host computes them, by `philox.ts`.
import {
  type DType,
  InternalError,
  InvalidArgumentError,
  isHalf,
  ResourceExhaustedError,
} from '@eagre/backend';
import { type Attrs, defineOp, execute, execute1, type Op, type OutputSpec } from '../dispatch/op.ts';
import { type Sample, type SampleInput, uniform, values } from '../dispatch/samples.ts';
import { gather } from '../ops/array/array.ts';
import { stack } from '../ops/array/join.ts';
import { logGammaOf } from '../ops/elementwise/host-numbers.ts';
import { dimsOf } from '../shapes/dims.ts';
import { checkShape, type Shape, sizeOf } from '../shapes/shape.ts';
import { sizeValue } from '../shapes/sizes.ts';
import { toTensor } from '../tensor/convert.ts';
import { checkListSize } from '../tensor/list-size.ts';
import { emptyTensor, hostValues, setValues, spaceOf, type Tensor, uploaded } from '../tensor/tensor.ts';
import {
  binomialNumber,
  fillNormal,
  fillTruncated,
  fillUniform,
  forEachLong,
  forEachWord,
  gammaNumber,
  mixedSeed,
  type Philox,
  poissonNumber,
  shuffleBy,
  streamOf,
} from './philox.ts';

/** A key, uint64 [1], and a counter, uint64 [2]. */
export type KeyAndCounter = readonly [key: Tensor, counter: Tensor];

/** The integers of a tensor. */
export const bigints = (x: Tensor): bigint[] =>
  Array.from(hostValues(x) as ArrayLike<number | bigint>, BigInt);
const numbers = (x: Tensor): ArrayLike<number> => hostValues(x) as ArrayLike<number>;
const notDifferentiable = 'random numbers depend on no input';

const seedSample = values([1, 2], [2], 'int32');
const keySamples: readonly SampleInput[] = [
  /* @__PURE__ */ values([2 ** 40 + 5], [1], 'uint64'),
  /* @__PURE__ */ values([0, 2 ** 40 + 7], [2], 'uint64'),
];
const shapeSample = /* @__PURE__ */ values([3, 5], [2], 'int32');

/** The key and the counter of a seed of two integers. */
const getKeyCounterOp: Op = /* @__PURE__ */ defineOp({
  name: 'StatelessRandomGetKeyCounter',
  infer: () => [
    { dtype: 'uint64', shape: [1] },
    { dtype: 'uint64', shape: [2] },
  ],
  host: ([seed]) => knownKeyAndCounter(seed),
  notDifferentiable,
  samples: () => [{ inputs: [seedSample] }, { inputs: [values([-1, 2 ** 40], [2], 'int64')] }],
});
/** @internal Key and counter of a seed that has a value. */
export function knownKeyAndCounter(seed: Tensor): [key: Tensor, counter: Tensor] {
  const { key, counter } = mixedSeed(bigints(seed) as [bigint, bigint]);
  return [
    toTensor({ data: BigUint64Array.of(key), shape: [1] }),
    toTensor({ data: BigUint64Array.from(counter), shape: [2] }),
  ];
}
/** @internal Key and counter as TensorFlow makes them of a seed. */
export function keyAndCounter(seed: Tensor): KeyAndCounter {
  return execute(getKeyCounterOp, [seed]) as unknown as KeyAndCounter;
}

/** A list of sizes as a tensor, int32. @throws ResourceExhaustedError for larger ones */
function sizesTensor(shape: Shape): Tensor {
  const sizes = dimsOf(shape);
  const large = sizes.find((d) => typeof d === 'number' && d >= 2 ** 31);
  if (large !== undefined)
    throw new ResourceExhaustedError(
      `the size ${large} is too large for random numbers: draw fewer at a time`,
    );
  if (sizes.every((d) => typeof d === 'number'))
    return toTensor({ data: Int32Array.from(sizes as readonly number[]), shape: [sizes.length] });
  return stack(sizes.map((d) => toTensor(sizeValue(d, 'int32'), 'int32')));
}

/** Where the numbers of a result go: floats of 16 bits by way of float64. */
type Numbers = Float32Array | Float64Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array;
/** Fills the numbers of a result, of which the inputs behind key and counter are parameters. */
type Fill = (stream: Philox, out: Numbers, dtype: DType, parameters: readonly Tensor[]) => void;

const infer = (_: readonly Tensor[], { dtype, shape }: Attrs): OutputSpec => ({
  dtype: dtype as DType,
  shape: dimsOf(shape as Shape) as unknown as Shape,
});

/** The sizes of a result, whose number its attribute `shape` decides. */
function sizesOf(input: Tensor, attrs: Attrs, name: string): Shape {
  const sizes = Array.from(numbers(input), Number);
  if (sizes.length !== (attrs['shape'] as Shape).length)
    throw new InternalError(`a result of shape ${attrs['shape']} with the sizes ${sizes}`, name);
  return checkShape(sizes, name);
}

/** Declares an op whose inputs are a shape, a key, a counter and parameters; `dtype` is an attribute or that of the parameters. */
/* @__NO_SIDE_EFFECTS__ */
function define(name: string, fill: Fill, samples: () => readonly Sample[]): Op {
  return defineOp({
    name,
    infer,
    host: ([shape, key, counter, ...parameters], attrs) => {
      const dtype = attrs['dtype'] as DType;
      const sizes = sizesOf(shape, attrs, name);
      const size = sizeOf(sizes);
      const result = emptyTensor(dtype, sizes, size);
      const stream = streamOf(bigints(key)[0] as bigint, bigints(counter));
      if (isHalf(dtype)) {
        const out = new Float64Array(size);
        fill(stream, out, dtype, parameters);
        return [setValues(result, out)];
      }
      const out = spaceOf(result);
      fill(stream, out as Numbers, dtype, parameters);
      return [uploaded(result, out)];
    },
    notDifferentiable,
    samples,
  });
}

const ofDTypes = (...dtypes: readonly DType[]): readonly Sample[] =>
  dtypes.map((dtype) => ({ inputs: [shapeSample, ...keySamples], attrs: { dtype, shape: [3, 5] } }));

/** Uniform floats from 0 to 1. */
export const uniformOp: Op = /* @__PURE__ */ define('StatelessRandomUniformV2', fillUniform as Fill, () =>
  ofDTypes('float32', 'float64', 'float16'),
);
/** Normally distributed floats. */
export const normalOp: Op = /* @__PURE__ */ define('StatelessRandomNormalV2', fillNormal as Fill, () =>
  ofDTypes('float32', 'float64'),
);
/** Normally distributed floats within two deviations. */
export const truncatedOp: Op = /* @__PURE__ */ define(
  'StatelessTruncatedNormalV2',
  fillTruncated as Fill,
  () => ofDTypes('float32', 'float64'),
);

const isLong = (dtype: DType): dtype is 'int64' | 'uint64' => dtype === 'int64' || dtype === 'uint64';

/** Integers of all bits. */
export const fullIntOp: Op = /* @__PURE__ */ define(
  'StatelessRandomUniformFullIntV2',
  (stream, out, dtype) => {
    if (isLong(dtype))
      forEachLong(stream, out.length, (bits, i) => {
        out[i] = dtype === 'int64' ? BigInt.asIntN(64, bits) : bits;
      });
    else
      forEachWord(stream, out.length, (word, i) => {
        out[i] = dtype === 'int32' ? word | 0 : word;
      });
  },
  () => ofDTypes('int32', 'uint32', 'int64', 'uint64'),
);

/** Integers between two bounds: the remainders of all bits. */
export const integerOp: Op = /* @__PURE__ */ define(
  'StatelessRandomUniformIntV2',
  (stream, out, dtype, [minval, maxval]) => {
    const [low, high] = [bigints(minval as Tensor)[0] as bigint, bigints(maxval as Tensor)[0] as bigint];
    if (low >= high && out.length > 0)
      throw new InvalidArgumentError(
        `minval ${low} is not below maxval ${high}`,
        'StatelessRandomUniformIntV2',
      );
    const range = high - low;
    if (isLong(dtype))
      forEachLong(stream, out.length, (bits, i) => {
        out[i] = low + (bits % range);
      });
    else {
      const [from, count] = [Number(low), Number(range)];
      forEachWord(stream, out.length, (word, i) => {
        out[i] = from + (word % count);
      });
    }
  },
  () => [
    {
      inputs: [shapeSample, ...keySamples, values([-4], [], 'int32'), values([9], [], 'int32')],
      attrs: { dtype: 'int32', shape: [3, 5] },
    },
    {
      inputs: [shapeSample, ...keySamples, values([-4], [], 'int64'), values([1000], [], 'int64')],
      attrs: { dtype: 'int64', shape: [3, 5] },
    },
  ],
);

/** For each number of `parameters` the numbers of a stream: sample s of parameter b is drawn as number b · samples + s. */
function forEachSample(
  out: { length: number },
  batches: number,
  visit: (batch: number, place: number, at: number) => void,
): void {
  const samples = batches === 0 ? 0 : out.length / batches;
  for (let b = 0; b < batches; b++)
    for (let s = 0; s < samples; s++) visit(b, b * samples + s, s * batches + b);
}

/** Gamma-distributed floats with a scale of 1, for each alpha of the last axes. */
export const gammaOp: Op = /* @__PURE__ */ define(
  'StatelessRandomGammaV3',
  (stream, out, _, [alpha]) => {
    const all = numbers(alpha as Tensor);
    forEachSample(out, all.length, (b, place, at) => {
      out[at] = gammaNumber(stream, place, all[b] as number);
    });
  },
  () => [
    {
      inputs: [shapeSample, ...keySamples, values([0.3, 1, 2, 5, 0.9], [5], 'float32')],
      attrs: { dtype: 'float32', shape: [3, 5] },
    },
  ],
);

/** The numbers go through lists of float64s. @throws ResourceExhaustedError for more than those should hold */
function checkDraws(size: number, name: string): void {
  checkListSize(size, 'random numbers', 'draw fewer at a time', name);
}
/** The stream of a seed of two integers. */
function streamOfSeed(seed: Tensor): Philox {
  const { key, counter } = mixedSeed(bigints(seed) as [bigint, bigint]);
  return streamOf(key, counter);
}

/** Numbers of a stream that go through float64s. */
function counted(
  name: string,
  fill: Fill,
  stream: Philox,
  [shape, ...parameters]: readonly Tensor[],
  attrs: Attrs,
): [Tensor] {
  const dtype = attrs['dtype'] as DType;
  const sizes = sizesOf(shape as Tensor, attrs, name);
  const size = sizeOf(sizes);
  checkDraws(size, name);
  const out = new Float64Array(size);
  fill(stream, out, dtype, parameters);
  const result = emptyTensor(dtype, sizes, size);
  return [setValues(result, isLong(dtype) ? Array.from(out, (v) => BigInt(Math.trunc(v || 0))) : out)];
}
/** Declares an op of a shape, a seed and parameters. */
/* @__NO_SIDE_EFFECTS__ */
function defineSeeded(name: string, fill: Fill, samples: () => readonly Sample[]): Op {
  return defineOp({
    name,
    infer,
    host: ([shape, seed, ...parameters], attrs) =>
      counted(name, fill, streamOfSeed(seed), [shape, ...parameters], attrs),
    notDifferentiable,
    samples,
  });
}
/** Declares an op of a shape, a key, a counter and parameters. */
/* @__NO_SIDE_EFFECTS__ */
function defineCounted(name: string, fill: Fill, samples: () => readonly Sample[]): Op {
  return defineOp({
    name,
    infer,
    host: ([shape, key, counter, ...parameters], attrs) => {
      const stream = streamOf(bigints(key)[0] as bigint, bigints(counter));
      return counted(name, fill, stream, [shape, ...parameters], attrs);
    },
    notDifferentiable,
    samples,
  });
}

/** Counts of Poisson distributions, for each rate of the last axes. */
export const poissonOp: Op = /* @__PURE__ */ defineSeeded(
  'StatelessRandomPoisson',
  (stream, out, _, [rate]) => {
    const all = numbers(rate as Tensor);
    forEachSample(out, all.length, (b, place, at) => {
      out[at] = poissonNumber(stream, place, all[b] as number, logGammaOf);
    });
  },
  () => [
    {
      inputs: [shapeSample, seedSample, values([0.3, 1, 2, 50, 12], [5], 'float32')],
      attrs: { dtype: 'int32', shape: [3, 5] },
    },
  ],
);

const fillBinomial: Fill = (stream, out, _, [counts, probs]) => {
  const [n, p] = [numbers(counts as Tensor), numbers(probs as Tensor)];
  forEachSample(out as Float64Array, n.length, (b, place, at) => {
    out[at] = binomialNumber(stream, place, n[b] as number, p[b] as number);
  });
};
const binomialSamples = (from: readonly SampleInput[]): readonly Sample[] => [
  {
    inputs: [
      shapeSample,
      ...from,
      values([3, 10, 200, 50, 12], [5], 'float32'),
      values([0.3, 0.9, 0.5, 0.2, 0.01], [5], 'float32'),
    ],
    attrs: { dtype: 'int32', shape: [3, 5] },
  },
];

/** Counts of binomial distributions, for each count of attempts and its probability of the last axes. */
export const binomialOp: Op = /* @__PURE__ */ defineSeeded('StatelessRandomBinomial', fillBinomial, () =>
  binomialSamples([seedSample]),
);
/** The same by a key and a counter. */
export const keyedBinomialOp: Op = /* @__PURE__ */ defineCounted('RandomBinomialByKey', fillBinomial, () =>
  binomialSamples(keySamples),
);

/** Classes by unnormalised logarithms of probabilities [batch, classes]: [batch, samples]. */
export const categoricalOp: Op = /* @__PURE__ */ defineOp({
  name: 'StatelessMultinomial',
  infer: ([logits], { dtype, samples }) => ({
    dtype: dtype as DType,
    shape: [dimsOf(logits.shape)[0], samples] as unknown as Shape,
  }),
  host: ([logits, count, seed], { dtype }) => {
    const [batch, classes] = logits.shape as [number, number];
    const samples = Number(numbers(count as Tensor)[0]);
    const sizes = checkShape([batch, samples], 'StatelessMultinomial');
    checkDraws(batch * samples, 'StatelessMultinomial');
    const stream = streamOfSeed(seed as Tensor);
    const all = numbers(logits as Tensor);
    const out = dtype === 'int64' ? new BigInt64Array(batch * samples) : new Float64Array(batch * samples);
    for (let b = 0; b < batch; b++) {
      const sums = runningSums(all, b * classes, classes);
      const total = sums[classes - 1] as number;
      for (let s = 0; s < samples; s++) {
        const wanted = stream.double() * total;
        let found = 0;
        while (found < classes - 1 && !((sums[found] as number) > wanted)) found++;
        out[b * samples + s] = dtype === 'int64' ? BigInt(found) : found;
      }
    }
    return [setValues(emptyTensor(dtype as DType, sizes, out.length), out)];
  },
  notDifferentiable,
  samples: () => [
    {
      inputs: [values([0.1, 2, -1, 0, 0, 3], [2, 3], 'float32'), values([7], [], 'int32'), seedSample],
      attrs: { dtype: 'int64', samples: 7 },
    },
  ],
});
/** Σ exp of the logits up to each class; what is not finite counts nothing. */
function runningSums(logits: ArrayLike<number>, from: number, count: number): Float64Array {
  let most = Number.NEGATIVE_INFINITY;
  for (let c = 0; c < count; c++) {
    const v = logits[from + c] as number;
    if (Number.isFinite(v) && v > most) most = v;
  }
  const sums = new Float64Array(count);
  let sum = 0;
  for (let c = 0; c < count; c++) {
    const v = logits[from + c] as number;
    if (Number.isFinite(v)) sum += Math.exp(v - most);
    sums[c] = sum;
  }
  return sums;
}

/** The rows of a tensor in an order of Fisher and Yates's, by remainders of words. */
const shuffleOp: Op = /* @__PURE__ */ defineOp({
  name: 'StatelessShuffle',
  infer: ([value]) => ({ dtype: value.dtype, shape: value.shape }),
  host: ([value, key, counter]) => {
    const n = value.shape[0] as number;
    const stream = streamOf(bigints(key as Tensor)[0] as bigint, bigints(counter as Tensor));
    const order = shuffleBy(
      stream,
      Int32Array.from({ length: n }, (_, i) => i),
    );
    return [gather(value, toTensor({ data: order, shape: [n] }), 0)];
  },
  notDifferentiable: 'TensorFlow has no gradient for it',
  samples: () => [{ inputs: [uniform([7, 2]), ...keySamples] }],
});
/** @internal The rows of a tensor in the order of a key and a counter. */
export function shuffledRows(value: Tensor, from: KeyAndCounter): Tensor {
  return execute1(shuffleOp, [value, ...from]);
}

/** @internal Draws by a key and a counter, or by the seed of an op that takes one. */
export function drawn(
  op: Op,
  shape: Shape,
  from: KeyAndCounter | readonly [seed: Tensor],
  dtype: DType,
  ...parameters: Tensor[]
): Tensor {
  return execute1(op, [sizesTensor(shape), ...from, ...parameters], { dtype, shape } as Attrs);
}

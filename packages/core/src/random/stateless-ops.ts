// TensorFlow's stateless random ops: numbers that are functions of a key and a counter. The processor computes them, by a kernel.
import {
  type DType,
  fillNormal,
  fillTruncated,
  fillUniform,
  forEachSample,
  gammaNumber,
  InternalError,
  InvalidArgumentError,
  mixedSeed,
  type Philox,
  philoxKinds,
  processorOf,
  ResourceExhaustedError,
  shuffleBy,
  streamOf,
} from '@eagre/backend';
import { currentBackend, eagerBackend } from '../dispatch/context.ts';
import {
  type Attrs,
  copyTo,
  defineOp,
  execute,
  execute1,
  kernelFor,
  type Op,
  type OutputSpec,
} from '../dispatch/op.ts';
import { type Sample, type SampleInput, uniform, values } from '../dispatch/samples.ts';
import { gather } from '../ops/array/array.ts';
import { stack } from '../ops/array/join.ts';
import { dimsOf } from '../shapes/dims.ts';
import { checkShape, type Shape, sizeOf } from '../shapes/shape.ts';
import { sizeValue } from '../shapes/sizes.ts';
import { toTensor } from '../tensor/convert.ts';
import { checkListSize } from '../tensor/list-size.ts';
import { emptyTensor, hostValues, setValues, type Tensor } from '../tensor/tensor.ts';

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

type Kind = (typeof philoxKinds)[number];

/** Where random numbers come from, and what a draw is of. */
interface Source {
  readonly key: bigint;
  readonly counter: readonly bigint[];
}

// What kernels draw; other dtypes are drawn in TypeScript, where the last bit of float64 is JavaScript's.
const kernelDTypes: Readonly<Record<Kind, readonly DType[]>> = {
  uniform: ['float32', 'float64'],
  normal: ['float32'],
  truncatedNormal: ['float32'],
  bits: ['int32', 'uint32', 'int64', 'uint64'],
  integers: ['int32', 'uint32', 'int64', 'uint64'],
  gamma: ['float32'],
  poisson: ['float32', 'float64', 'int32', 'int64'],
  binomial: ['float32', 'float64', 'int32', 'int64'],
};

/** Numbers that a kernel of the processor draws. */
function byKernel(
  kind: Kind,
  { key, counter }: Source,
  dtype: DType,
  sizes: Shape,
  parameters?: Float64Array | BigInt64Array,
): Tensor {
  const processor = processorOf(eagerBackend());
  const tensorOf = (values: ArrayLike<number | bigint>, of: DType): Tensor =>
    setValues(emptyTensor(of, [values.length], values.length, processor), values);
  const inputs = [tensorOf([key, ...counter], 'uint64')];
  if (parameters !== undefined)
    inputs.push(tensorOf(parameters, parameters instanceof Float64Array ? 'float64' : 'int64'));
  const out = emptyTensor(dtype, sizes, sizeOf(sizes), processor);
  kernelFor(processor, 'PhiloxNumbers', inputs)(inputs, [out], { kind: philoxKinds.indexOf(kind) });
  for (const input of inputs) input.dispose();
  if (processor === currentBackend()) return out;
  const moved = copyTo(out, currentBackend());
  out.dispose();
  return moved;
}

/** Floats of a dtype that kernels do not draw. */
type Fill = (stream: Philox, out: Float64Array, dtype: DType) => void;

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
function define(
  name: string,
  kind: Kind,
  samples: () => readonly Sample[],
  parametersOf?: (inputs: readonly Tensor[], size: number) => Float64Array | BigInt64Array,
  fill?: (parameters?: Float64Array) => Fill,
): Op {
  return defineOp({
    name,
    infer,
    host: ([shape, key, counter, ...inputs], attrs) => {
      const dtype = attrs['dtype'] as DType;
      const sizes = sizesOf(shape, attrs, name);
      const size = sizeOf(sizes);
      const source = { key: bigints(key)[0] as bigint, counter: bigints(counter) };
      const parameters = parametersOf?.(inputs, size);
      if (fill === undefined || kernelDTypes[kind].includes(dtype))
        return [byKernel(kind, source, dtype, sizes, parameters)];
      // Which tells of too many before JavaScript does.
      const result = emptyTensor(dtype, sizes, size);
      const out = new Float64Array(size);
      fill(parameters as Float64Array)(streamOf(source.key, source.counter), out, dtype);
      return [setValues(result, out)];
    },
    notDifferentiable,
    samples,
  });
}

const ofDTypes = (...dtypes: readonly DType[]): readonly Sample[] =>
  dtypes.map((dtype) => ({ inputs: [shapeSample, ...keySamples], attrs: { dtype, shape: [3, 5] } }));

/** Uniform floats from 0 to 1. */
export const uniformOp: Op = /* @__PURE__ */ define(
  'StatelessRandomUniformV2',
  'uniform',
  () => ofDTypes('float32', 'float64', 'float16'),
  undefined,
  () => fillUniform,
);
/** Normally distributed floats. */
export const normalOp: Op = /* @__PURE__ */ define(
  'StatelessRandomNormalV2',
  'normal',
  () => ofDTypes('float32', 'float64'),
  undefined,
  () => fillNormal,
);
/** Normally distributed floats within two deviations. */
export const truncatedOp: Op = /* @__PURE__ */ define(
  'StatelessTruncatedNormalV2',
  'truncatedNormal',
  () => ofDTypes('float32', 'float64'),
  undefined,
  () => fillTruncated,
);

/** Integers of all bits. */
export const fullIntOp: Op = /* @__PURE__ */ define('StatelessRandomUniformFullIntV2', 'bits', () =>
  ofDTypes('int32', 'uint32', 'int64', 'uint64'),
);

/** Integers between two bounds: the remainders of all bits. */
export const integerOp: Op = /* @__PURE__ */ define(
  'StatelessRandomUniformIntV2',
  'integers',
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
  ([minval, maxval], size) => {
    const [low, high] = [bigints(minval as Tensor)[0] as bigint, bigints(maxval as Tensor)[0] as bigint];
    if (low >= high && size > 0)
      throw new InvalidArgumentError(
        `minval ${low} is not below maxval ${high}`,
        'StatelessRandomUniformIntV2',
      );
    return BigInt64Array.of(low, high);
  },
);

/** The numbers of a tensor as float64. */
const doubles = (x: Tensor): Float64Array => Float64Array.from(numbers(x));

/** Gamma-distributed floats with a scale of 1, for each alpha of the last axes. */
export const gammaOp: Op = /* @__PURE__ */ define(
  'StatelessRandomGammaV3',
  'gamma',
  () => [
    {
      inputs: [shapeSample, ...keySamples, values([0.3, 1, 2, 5, 0.9], [5], 'float32')],
      attrs: { dtype: 'float32', shape: [3, 5] },
    },
  ],
  ([alpha]) => doubles(alpha as Tensor),
  (alphas = new Float64Array()) =>
    (stream, out) =>
      forEachSample(out.length, alphas.length, (b, place, at) => {
        out[at] = gammaNumber(stream, place, alphas[b] as number);
      }),
);

/** The numbers go through lists of float64s. @throws ResourceExhaustedError for more than those should hold */
function checkDraws(size: number, name: string): void {
  checkListSize(size, 'random numbers', 'draw fewer at a time', name);
}
/** The stream of a seed of two integers. */
function sourceOfSeed(seed: Tensor): Source {
  return mixedSeed(bigints(seed) as [bigint, bigint]);
}

/** Counts of a stream. */
function counted(
  name: string,
  kind: Kind,
  source: Source,
  [shape, ...parameters]: readonly Tensor[],
  attrs: Attrs,
): [Tensor] {
  const dtype = attrs['dtype'] as DType;
  const sizes = sizesOf(shape as Tensor, attrs, name);
  const size = sizeOf(sizes);
  checkDraws(size, name);
  const lists = parameters.map(doubles);
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  if (kernelDTypes[kind].includes(dtype)) return [byKernel(kind, source, dtype, sizes, all)];
  const wide = byKernel(kind, source, 'float64', sizes, all);
  const values = hostValues(wide) as Float64Array;
  const result = setValues(
    emptyTensor(dtype, sizes, size),
    dtype === 'uint64' ? Array.from(values, (v) => BigInt(Math.trunc(v || 0))) : values,
  );
  wide.dispose();
  return [result];
}
/** Declares an op of a shape, a seed and parameters. */
/* @__NO_SIDE_EFFECTS__ */
function defineSeeded(name: string, kind: Kind, samples: () => readonly Sample[]): Op {
  return defineOp({
    name,
    infer,
    host: ([shape, seed, ...parameters], attrs) =>
      counted(name, kind, sourceOfSeed(seed), [shape, ...parameters], attrs),
    notDifferentiable,
    samples,
  });
}
/** Declares an op of a shape, a key, a counter and parameters. */
/* @__NO_SIDE_EFFECTS__ */
function defineCounted(name: string, kind: Kind, samples: () => readonly Sample[]): Op {
  return defineOp({
    name,
    infer,
    host: ([shape, key, counter, ...parameters], attrs) =>
      counted(
        name,
        kind,
        { key: bigints(key)[0] as bigint, counter: bigints(counter) },
        [shape, ...parameters],
        attrs,
      ),
    notDifferentiable,
    samples,
  });
}

/** Counts of Poisson distributions, for each rate of the last axes. */
export const poissonOp: Op = /* @__PURE__ */ defineSeeded('StatelessRandomPoisson', 'poisson', () => [
  {
    inputs: [shapeSample, seedSample, values([0.3, 1, 2, 50, 12], [5], 'float32')],
    attrs: { dtype: 'int32', shape: [3, 5] },
  },
]);

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
export const binomialOp: Op = /* @__PURE__ */ defineSeeded('StatelessRandomBinomial', 'binomial', () =>
  binomialSamples([seedSample]),
);
/** The same by a key and a counter. */
export const keyedBinomialOp: Op = /* @__PURE__ */ defineCounted('RandomBinomialByKey', 'binomial', () =>
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
    const { key, counter } = sourceOfSeed(seed as Tensor);
    // The numbers that a stream gives one by one.
    const wanted = byKernel('uniform', { key, counter }, 'float64', [batch * samples]);
    const shares = hostValues(wanted) as Float64Array;
    const all = numbers(logits as Tensor);
    const result = emptyTensor(dtype as DType, sizes, batch * samples);
    const found = new Int32Array(batch * samples);
    for (let b = 0; b < batch; b++) {
      const sums = runningSums(all, b * classes, classes);
      const total = sums[classes - 1] as number;
      for (let s = b * samples; s < (b + 1) * samples; s++) found[s] = firstAbove(sums, shares[s] * total);
    }
    wanted.dispose();
    return [setValues(result, dtype === 'int64' ? BigInt64Array.from(found, BigInt) : found)];
  },
  notDifferentiable,
  samples: () => [
    {
      inputs: [values([0.1, 2, -1, 0, 0, 3], [2, 3], 'float32'), values([7], [], 'int32'), seedSample],
      attrs: { dtype: 'int64', samples: 7 },
    },
  ],
});
/** The first of rising sums that is above a number, or the last one. */
function firstAbove(sums: Float64Array, wanted: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle] > wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}
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

// Random numbers. Stateless ops give TensorFlow's, but for cut normal distributions with parameters; others draw from Eagre's streams.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import {
  drawn,
  fullIntOp,
  gammaOp,
  hostValues,
  integerOp,
  type KeyAndCounter,
  keyAndCounter,
  knownTensor,
  normalOp,
  type Op,
  shuffledRows,
  truncatedOp,
  uniformOp,
} from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpRow, type OpTable, several, type Translate } from '../op-row.ts';
import type { Value } from '../values.ts';

const dtypeOf = (c: OpCall): tf.DType => c.dtypeAttr('dtype', 'float32');
const shapeOf = (c: OpCall): number[] => c.shape(0) as number[];

/** Integers between inputs 1 and 2, or others. */
const integers =
  (low: number): Translate =>
  (c) => {
    const known = (i: number): number => {
      const value = knownTensor(c.x(i));
      if (value === null) throw c.lacks('its bounds must be constants');
      return Number(hostValues(value)[0]);
    };
    return tf.random.uniform(shapeOf(c), {
      dtype: c.x(low).dtype,
      minval: known(low),
      maxval: known(low + 1),
    });
  };

const PHILOX = 1;
const THREEFRY = 2;
const knownAlgorithm = (alg: Tensor): number | null => {
  const value = knownTensor(alg);
  return value === null ? null : Number(hostValues(value)[0]);
};

/** Where a stateless op has its key and counter from. */
type Source = (c: OpCall) => KeyAndCounter;
/** From the seed, its second input. */
const bySeed: Source = (c) => keyAndCounter(c.x(1));
/** They are inputs, with the algorithm. */
const byKey: Source = (c) => {
  if (knownAlgorithm(c.x(3)) === THREEFRY) throw c.lacks('the algorithm ThreeFry');
  return [c.x(1), c.x(2)];
};

const FLOATS: readonly tf.DType[] = ['float32', 'float64', 'float16', 'bfloat16'];
const INTEGERS: readonly tf.DType[] = ['uint64', 'int64', 'uint32', 'int32'];

/** A draw by key and counter, of the dtype of its parameters, or of that in its attribute, which is the first one by default. */
const stateless =
  (op: Op, from: Source, dtypes: readonly tf.DType[]): Translate =>
  (c) => {
    const parameters = c.xs(from === bySeed ? 2 : 4);
    const dtype = parameters[0]?.dtype ?? c.dtypeAttr('dtype', dtypes[0]);
    if (!dtypes.includes(dtype)) throw c.lacks(`numbers of ${dtype}`);
    return drawn(op, shapeOf(c), from(c), dtype, ...parameters);
  };

/** A seed of the stream, for stateless draws. */
const nextSeed = (): Tensor =>
  tf.random.uniform([2], { dtype: 'int32', minval: -(2 ** 31), maxval: 2 ** 31 - 1 });

/** Cut normal distributions, whose parameters are scalars or vectors with one of each row. */
const parameterized: Translate = (c) => {
  const shape = shapeOf(c);
  const rows = (x: Tensor): Tensor =>
    x.rank === 1 ? tf.reshape(x, [-1, ...shape.slice(1).map(() => 1)]) : x;
  const [means, stddevs, minvals, maxvals] = c.xs(1).map(rows) as [Tensor, Tensor, Tensor, Tensor];
  return tf.random.statelessParameterizedTruncatedNormal(shape, nextSeed(), {
    means,
    stddevs,
    minvals,
    maxvals,
  });
};

/** Counts of binomial distributions from a generator's state, which moves on by what TensorFlow reserves for them. */
const statefulBinomial: Translate = (c) => {
  if (knownAlgorithm(c.x(1)) === THREEFRY) throw c.lacks('the algorithm ThreeFry');
  const generator = new tf.random.Generator({ state: c.variable(0), alg: PHILOX });
  return generator.binomial(c.shape(2) as number[], c.x(3), c.x(4), { dtype: c.dtypeAttr('dtype', 'int64') });
};

const uniform: Translate = (c) => tf.random.uniform(shapeOf(c), { dtype: dtypeOf(c) });
const normal: Translate = (c) => tf.random.normal(shapeOf(c), { dtype: dtypeOf(c) as 'float32' });
const truncated: Translate = (c) => tf.random.truncatedNormal(shapeOf(c), { dtype: dtypeOf(c) as 'float32' });
const categorical: Translate = (c) =>
  tf.random.categorical(c.x(0), c.int(1), {
    dtype: c.dtypeAttr('output_dtype', 'int64') === 'int64' ? 'int64' : 'int32',
  });

/** Of each alpha a block of the shape, as the outer axes. */
const gamma: Translate = (c) => {
  const alpha = c.x(1);
  return tf.random.gamma(tf.cast(c.x(0), 'int32'), alpha, { dtype: alpha.dtype });
};

/** Counts of Poisson distributions: of each mean a block of the shape, as the outer axes. */
const poisson: Translate = (c) => {
  const mean = c.x(1);
  const shape = tf.concat([tf.cast(c.x(0), 'int32'), tf.shapeOf(mean)], 0);
  return tf.random.poisson(shape, mean, {
    dtype: c.dtypeAttr('dtype', c.op.endsWith('V2') ? 'int64' : mean.dtype),
  });
};

/** Samples of classes: which, and how often the true ones and the sampled ones are expected among them. */
const candidates = (draw: (c: OpCall, numTrue: number, numSampled: number, unique: boolean) => Value[]) =>
  several(['sampled_candidates', 'true_expected_count', 'sampled_expected_count'], (c) =>
    draw(c, c.intAttr('num_true'), c.intAttr('num_sampled'), c.boolAttr('unique', false)),
  );
const ranged = (sampler: typeof tf.random.uniformCandidateSampler): OpRow =>
  candidates((c, numTrue, numSampled, unique) =>
    sampler(c.x(0), numTrue, numSampled, unique, c.intAttr('range_max')),
  );
const fixedUnigrams = candidates((c, numTrue, numSampled, unique) => {
  if (c.textAttr('vocab_file', '') !== '')
    throw c.lacks('weights in a file, whose path is that of the machine where it was trained');
  return tf.random.fixedUnigramCandidateSampler(c.x(0), numTrue, numSampled, unique, c.intAttr('range_max'), {
    unigrams: c.floatsAttr('unigrams'),
    distortion: c.floatAttr('distortion', 1),
    numReservedIds: c.intAttr('num_reserved_ids', 0),
    numShards: c.intAttr('num_shards', 1),
    shard: c.intAttr('shard', 0),
  });
});

/** Rows in an order that a key and a counter decide. */
const shuffled: Translate = (c) => {
  if (knownAlgorithm(c.x(3)) === THREEFRY) throw c.lacks('the algorithm ThreeFry');
  const value = c.x(0);
  return value.rank === 0 ? value : shuffledRows(value, [c.x(1), c.x(2)]);
};

/** What the draws of a generator take from its state. */
const skipped: Translate = (c) => {
  if (knownAlgorithm(c.x(1)) === THREEFRY) throw c.lacks('the algorithm ThreeFry');
  return new tf.random.Generator({ state: c.variable(0), alg: PHILOX }).skip(tf.cast(c.x(2), 'int64'));
};

/** A draw from a generator's state, which moves on by as many numbers: inputs are the state, the algorithm, the shape and parameters. */
const stateful =
  (op: Op, dtypes: readonly tf.DType[]): Translate =>
  (c) => {
    if (knownAlgorithm(c.x(1)) === THREEFRY) throw c.lacks('the algorithm ThreeFry');
    const shape = c.shape(2) as number[];
    const parameters = c.xs(3);
    const dtype = parameters[0]?.dtype ?? c.dtypeAttr('dtype', dtypes[0]);
    if (!dtypes.includes(dtype)) throw c.lacks(`numbers of ${dtype}`);
    const count = tf.prod(tf.cast(c.x(2), 'int64'));
    const before = new tf.random.Generator({ state: c.variable(0), alg: PHILOX }).skip(count);
    const counter = tf.bitcast(tf.slice(before, [0], [2]), 'uint64');
    const key = tf.bitcast(tf.slice(before, [2], [1]), 'uint64');
    return drawn(op, shape, [key, counter], dtype, ...parameters);
  };

export const random: OpTable = {
  RngSkip: (c) => {
    if (knownAlgorithm(c.x(1)) === THREEFRY) throw c.lacks('the algorithm ThreeFry');
    new tf.random.Generator({ state: c.variable(0), alg: PHILOX }).skip(tf.cast(c.x(2), 'int64'));
  },
  StatefulUniform: stateful(uniformOp, FLOATS),
  StatefulUniformInt: stateful(integerOp, INTEGERS),
  StatefulUniformFullInt: stateful(fullIntOp, INTEGERS),
  StatefulStandardNormalV2: stateful(normalOp, FLOATS),
  StatefulTruncatedNormal: stateful(truncatedOp, FLOATS),
  StatefulRandomBinomial: statefulBinomial,
  RngReadAndSkip: skipped,
  AllCandidateSampler: candidates((c, numTrue, numSampled, unique) =>
    tf.random.allCandidateSampler(c.x(0), numTrue, numSampled, unique),
  ),
  UniformCandidateSampler: ranged(tf.random.uniformCandidateSampler),
  LogUniformCandidateSampler: ranged(tf.random.logUniformCandidateSampler),
  LearnedUnigramCandidateSampler: ranged(tf.random.learnedUnigramCandidateSampler),
  FixedUnigramCandidateSampler: fixedUnigrams,
  RandomIndexShuffle: (c) =>
    tf.randomIndexShuffle(c.x(0), c.x(1), c.x(2), { rounds: c.intAttr('rounds', 4) }),
  StatelessShuffle: shuffled,
  RandomUniform: uniform,
  RandomUniformInt: integers(1),
  RandomStandardNormal: normal,
  TruncatedNormal: truncated,
  RandomGamma: gamma,
  RandomShuffle: (c) => tf.random.shuffle(c.x()),
  Multinomial: categorical,
  StatelessRandomUniform: stateless(uniformOp, bySeed, FLOATS),
  StatelessRandomUniformV2: stateless(uniformOp, byKey, FLOATS),
  StatelessRandomUniformInt: stateless(integerOp, bySeed, INTEGERS),
  StatelessRandomUniformIntV2: stateless(integerOp, byKey, INTEGERS),
  StatelessRandomUniformFullInt: stateless(fullIntOp, bySeed, INTEGERS),
  StatelessRandomUniformFullIntV2: stateless(fullIntOp, byKey, INTEGERS),
  StatelessRandomNormal: stateless(normalOp, bySeed, FLOATS),
  StatelessRandomNormalV2: stateless(normalOp, byKey, FLOATS),
  StatelessTruncatedNormal: stateless(truncatedOp, bySeed, FLOATS),
  StatelessTruncatedNormalV2: stateless(truncatedOp, byKey, FLOATS),
  StatelessRandomGammaV2: stateless(gammaOp, bySeed, FLOATS),
  StatelessRandomGammaV3: stateless(gammaOp, byKey, FLOATS),
  StatelessMultinomial: (c) =>
    tf.random.statelessCategorical(c.x(0), c.int(1), c.x(2), {
      dtype: c.dtypeAttr('output_dtype', 'int64') === 'int64' ? 'int64' : 'int32',
    }),
  StatelessRandomPoisson: (c) =>
    tf.random.statelessPoisson(shapeOf(c), c.x(1), c.x(2), { dtype: dtypeOf(c) }),
  StatelessRandomBinomial: (c) =>
    tf.random.statelessBinomial(shapeOf(c), c.x(1), c.x(2), c.x(3), {
      outputDtype: c.dtypeAttr('dtype', 'int64'),
    }),
  StatelessParameterizedTruncatedNormal: (c) =>
    tf.random.statelessParameterizedTruncatedNormal(shapeOf(c), c.x(1), {
      means: c.x(2),
      stddevs: c.x(3),
      minvals: c.x(4),
      maxvals: c.x(5),
    }),
  ParameterizedTruncatedNormal: parameterized,
  NonDeterministicInts: (c) =>
    drawn(fullIntOp, shapeOf(c), keyAndCounter(nextSeed()), c.dtypeAttr('dtype', 'int64')),
  RandomPoisson: poisson,
  RandomPoissonV2: poisson,
  StatelessRandomGetKeyCounter: several(['key', 'counter'], (c) => keyAndCounter(c.x(0))),
  StatelessRandomGetKeyCounterAlg: several(['key', 'counter', 'alg'], (c) => [
    ...keyAndCounter(c.x(0)),
    tf.constant(PHILOX, 'int32'),
  ]),
  StatelessRandomGetAlg: () => tf.constant(PHILOX, 'int32'),
  SobolSample: (c) =>
    tf.math.sobolSample(c.int(0), c.int(1), c.int(2), {
      dtype: c.dtypeAttr('dtype', 'float32') as 'float32' | 'float64',
    }),
};

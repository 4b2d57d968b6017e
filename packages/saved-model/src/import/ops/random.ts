// Random numbers. Stateless ops give TensorFlow's, as far as they are uniform or normal; others come from Eagre's streams.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { hostValues, knownTensor } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { type IntegerDType, keyAndCounter, philoxIntegers, philoxNormal, philoxUniform } from './philox.ts';

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

/** The generator of a stateless op: made of a seed, or given. */
function generatorOf(c: OpCall): readonly [key: Tensor, counter: Tensor] {
  if (!c.op.endsWith('V2')) return keyAndCounter(c.x(1));
  if (knownAlgorithm(c.x(3)) === THREEFRY) throw c.lacks('the algorithm ThreeFry');
  return [c.x(1), c.x(2)];
}
/** A seed for Eagre's stream, where numbers are not TensorFlow's: equal generators give equal numbers. */
const seedOf = (c: OpCall): Tensor => tf.reshape(tf.bitcast(generatorOf(c)[0], 'int32'), [2]);

const statelessUniform: Translate = (c) => {
  const dtype = dtypeOf(c);
  if (dtype === 'float32' || dtype === 'float64') return philoxUniform(shapeOf(c), ...generatorOf(c), dtype);
  return tf.random.statelessUniform(shapeOf(c), seedOf(c), { dtype });
};
const statelessNormal: Translate = (c) => {
  const dtype = dtypeOf(c);
  if (dtype === 'float32') return philoxNormal(shapeOf(c), ...generatorOf(c));
  return tf.random.statelessNormal(shapeOf(c), seedOf(c), { dtype: dtype as 'float64' });
};
const statelessTruncated: Translate = (c) =>
  tf.random.statelessTruncatedNormal(shapeOf(c), seedOf(c), { dtype: dtypeOf(c) as 'float32' });

const INTEGERS: readonly string[] = ['int32', 'uint32', 'int64', 'uint64'];
const bitsOf = (c: OpCall, dtype: tf.DType): Tensor => {
  if (!INTEGERS.includes(dtype)) throw c.lacks(`integers of ${dtype}`);
  return philoxIntegers(shapeOf(c), ...generatorOf(c), dtype as IntegerDType);
};
/** Integers from a bound to below another. */
const statelessIntegers =
  (low: number): Translate =>
  (c) => {
    const [from, to] = [c.x(low), c.x(low + 1)];
    const { dtype } = from;
    if (dtype === 'uint32' || dtype === 'uint64') return bitsOf(c, dtype).mod(to.sub(from)).add(from);
    const unsigned = dtype === 'int32' ? 'uint32' : 'uint64';
    const span = tf.bitcast(to.sub(from), unsigned);
    // Sums of int64 and int32 wrap around, as there.
    return tf.bitcast(bitsOf(c, unsigned).mod(span), dtype).add(from);
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
  const alpha = c.op.endsWith('V3') ? c.x(4) : c.op.startsWith('Stateless') ? c.x(2) : c.x(1);
  const shape = tf.cast(c.x(0), 'int32');
  // TensorFlow's stateless ops are told the whole shape.
  const whole = c.op.startsWith('Stateless') ? shape : tf.concat([shape, tf.shapeOf(alpha)], 0);
  const outer = tf.slice(whole, [0], [(whole.shape[0] as number) - alpha.rank]);
  return tf.random.gamma(outer, alpha, { dtype: alpha.dtype });
};

/** Counts of Poisson distributions: of each mean a block of the shape, as the outer axes. */
const poisson: Translate = (c) => {
  const mean = c.x(1);
  const shape = tf.concat([tf.cast(c.x(0), 'int32'), tf.shapeOf(mean)], 0);
  return tf.random.poisson(shape, mean, {
    dtype: c.dtypeAttr('dtype', c.op.endsWith('V2') ? 'int64' : mean.dtype),
  });
};
/** A seed of two integers of any dtype. */
const seedFor = (seed: Tensor): Tensor => tf.reshape(tf.bitcast(keyAndCounter(seed)[0], 'int32'), [2]);

const PHILOX = 1;
const THREEFRY = 2;
const knownAlgorithm = (alg: Tensor): number | null => {
  const value = knownTensor(alg);
  return value === null ? null : Number(hostValues(value)[0]);
};

export const random: OpTable = {
  RandomUniform: uniform,
  RandomUniformInt: integers(1),
  RandomStandardNormal: normal,
  TruncatedNormal: truncated,
  RandomGamma: gamma,
  StatelessRandomGammaV2: gamma,
  StatelessRandomGammaV3: gamma,
  RandomShuffle: (c) => tf.random.shuffle(c.x()),
  Multinomial: categorical,
  StatelessRandomUniform: statelessUniform,
  StatelessRandomUniformV2: statelessUniform,
  StatelessRandomUniformInt: statelessIntegers(2),
  StatelessRandomUniformIntV2: statelessIntegers(4),
  StatelessRandomNormal: statelessNormal,
  StatelessRandomNormalV2: statelessNormal,
  StatelessTruncatedNormal: statelessTruncated,
  StatelessTruncatedNormalV2: statelessTruncated,
  StatelessMultinomial: (c) =>
    tf.random.statelessCategorical(c.x(0), c.int(1), seedFor(c.x(2)), {
      dtype: c.dtypeAttr('output_dtype', 'int64') === 'int64' ? 'int64' : 'int32',
    }),
  StatelessRandomPoisson: (c) =>
    tf.random.statelessPoisson(shapeOf(c), seedFor(c.x(1)), c.x(2), { dtype: dtypeOf(c) }),
  StatelessRandomBinomial: (c) =>
    tf.random.statelessBinomial(shapeOf(c), seedFor(c.x(1)), c.x(2), c.x(3), {
      outputDtype: c.dtypeAttr('dtype', 'int64'),
    }),
  StatelessParameterizedTruncatedNormal: (c) =>
    tf.random.statelessParameterizedTruncatedNormal(shapeOf(c), seedFor(c.x(1)), {
      means: c.x(2),
      stddevs: c.x(3),
      minvals: c.x(4),
      maxvals: c.x(5),
    }),
  RandomPoisson: poisson,
  RandomPoissonV2: poisson,
  StatelessRandomUniformFullInt: (c) => bitsOf(c, c.dtypeAttr('dtype', 'uint64')),
  StatelessRandomUniformFullIntV2: (c) => bitsOf(c, c.dtypeAttr('dtype', 'uint64')),
  StatelessRandomGetKeyCounter: several(['key', 'counter'], (c) => keyAndCounter(c.x(0))),
  StatelessRandomGetKeyCounterAlg: several(['key', 'counter', 'alg'], (c) => [
    ...keyAndCounter(c.x(0)),
    tf.constant(PHILOX, 'int32'),
  ]),
  StatelessRandomGetAlg: () => tf.constant(PHILOX, 'int32'),
};

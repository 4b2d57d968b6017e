// Random numbers. They come from Eagre's streams: the same distributions, other numbers than TensorFlow's.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { hostValues, knownTensor } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { philoxWords } from './philox.ts';

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

const KEYS = ['key', 'counter'];

/** A key made of a seed: who draws with it draws from Eagre's stream. */
const keyOf = (c: OpCall): Tensor[] => {
  const seed = tf.cast(c.x(0), 'uint64');
  return [tf.slice(seed, [0], [1]), seed];
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
  StatelessRandomUniform: uniform,
  StatelessRandomUniformV2: uniform,
  StatelessRandomUniformInt: integers(2),
  StatelessRandomUniformIntV2: integers(4),
  StatelessRandomNormal: normal,
  StatelessRandomNormalV2: normal,
  StatelessTruncatedNormal: truncated,
  StatelessTruncatedNormalV2: truncated,
  StatelessMultinomial: categorical,
  StatelessRandomUniformFullIntV2: (c) => {
    const dtype = c.dtypeAttr('dtype', 'uint64');
    if (dtype !== 'uint32' && dtype !== 'int32') throw c.lacks(`bits of ${dtype}`);
    if (knownAlgorithm(c.x(3)) === THREEFRY) throw c.lacks('the algorithm ThreeFry');
    const words = philoxWords(c.shape(0), c.x(1), c.x(2));
    return dtype === 'uint32' ? words : tf.bitcast(words, 'int32');
  },
  StatelessRandomGetKeyCounter: several(KEYS, keyOf),
  StatelessRandomGetAlg: () => tf.constant(1, 'int32'),
};

// Numbers rounded as quantized ones are.
import * as tf from '@eagre/core';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';

const bits = (c: OpCall): { readonly numBits: number; readonly narrowRange: boolean } => ({
  numBits: c.intAttr('num_bits', 8),
  narrowRange: c.boolAttr('narrow_range', false),
});

/** There and back, with a range that is given or that of the input. */
const thereAndBack = (c: OpCall, numBits: number): tf.Tensor =>
  tf.quantization.quantizeAndDequantizeV2(c.x(0), c.x(1), c.x(2), {
    signedInput: c.boolAttr('signed_input', true),
    numBits,
    rangeGiven: c.boolAttr('range_given', c.op === 'QuantizeAndDequantizeV3'),
    roundMode: c.textAttr('round_mode', 'HALF_TO_EVEN') as 'HALF_UP',
    narrowRange: c.boolAttr('narrow_range', false),
    axis: c.intAttr('axis', -1) < 0 ? null : c.intAttr('axis'),
  });

/** The gradient goes through where the input is in its range, along `axis` in that of its slice; ranges get none. */
const thereAndBackGradient: Translate = (c) => {
  const [dy, x] = [c.x(0), c.x(1)];
  const axis = c.intAttr('axis', -1);
  const bound = (i: number): tf.Tensor =>
    axis < 0
      ? c.x(i)
      : tf.reshape(
          c.x(i),
          x.shape.map((_, at) => (at === axis ? -1 : 1)),
        );
  const inside = tf.logicalAnd(x.greaterEqual(bound(2)), x.lessEqual(bound(3)));
  return [tf.where(inside, dy, tf.zerosLike(dy)), tf.zerosLike(c.x(2)), tf.zerosLike(c.x(3))];
};

export const quantization: OpTable = {
  QuantizeAndDequantizeV2: (c) => thereAndBack(c, c.intAttr('num_bits', 8)),
  QuantizeAndDequantizeV3: (c) => thereAndBack(c, c.int(3)),
  QuantizeAndDequantizeV4: (c) => thereAndBack(c, c.intAttr('num_bits', 8)),
  QuantizeAndDequantizeV4Grad: several(
    ['input_backprop', 'input_min_backprop', 'input_max_backprop'],
    thereAndBackGradient,
  ),
  FakeQuantWithMinMaxArgs: (c) =>
    tf.quantization.fakeQuantWithMinMaxArgs(c.x(), {
      min: c.floatAttr('min', -6),
      max: c.floatAttr('max', 6),
      ...bits(c),
    }),
  FakeQuantWithMinMaxVars: (c) => tf.quantization.fakeQuantWithMinMaxVars(c.x(0), c.x(1), c.x(2), bits(c)),
  FakeQuantWithMinMaxVarsPerChannel: (c) =>
    tf.quantization.fakeQuantWithMinMaxVarsPerChannel(c.x(0), c.x(1), c.x(2), bits(c)),
};

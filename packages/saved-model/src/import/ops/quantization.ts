// Numbers rounded as quantized ones are.
import * as tf from '@eagre/core';
import type { OpCall } from '../op-call.ts';
import type { OpTable } from '../op-row.ts';

const bits = (c: OpCall): { readonly numBits: number; readonly narrowRange: boolean } => ({
  numBits: c.intAttr('num_bits', 8),
  narrowRange: c.boolAttr('narrow_range', false),
});

export const quantization: OpTable = {
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

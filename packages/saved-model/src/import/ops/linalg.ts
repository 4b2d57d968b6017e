// Matrix products and factors.
import * as tf from '@eagre/core';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';

const matMul: Translate = (c) =>
  tf.matmul(c.x(0), c.x(1), {
    transposeA: c.boolAttr('transpose_a', false),
    transposeB: c.boolAttr('transpose_b', false),
  });
const conjugated = (c: OpCall, i: number, name: string): tf.Tensor => {
  const x = c.x(i);
  return c.boolAttr(name, false) && x.dtype.startsWith('complex') ? tf.conj(x) : x;
};
const batchMatMul: Translate = (c) => {
  const product = tf.matmul(conjugated(c, 0, 'adj_x'), conjugated(c, 1, 'adj_y'), {
    transposeA: c.boolAttr('adj_x', false),
    transposeB: c.boolAttr('adj_y', false),
  });
  const dtype = c.dtypeAttr('Tout', product.dtype);
  return product.dtype === dtype ? product : tf.cast(product, dtype);
};

/** A product with what the graph's optimizer put into it. */
const fused =
  (product: Translate): Translate =>
  (c) => {
    let x = product(c) as tf.Tensor;
    let next = 2;
    for (const name of c.textsAttr('fused_ops')) {
      const activation = ACTIVATIONS[name];
      if (name === 'BiasAdd') x = tf.nn.biasAdd(x, c.x(next++));
      else if (activation !== undefined) x = activation(x, c);
      else throw c.lacks(`'${name}' in a fused op is not supported`);
    }
    return x;
  };
const ACTIVATIONS: Readonly<Record<string, (x: tf.Tensor, c: OpCall) => tf.Tensor>> = {
  Relu: (x) => tf.relu(x),
  Relu6: (x) => tf.relu6(x),
  Elu: (x) => tf.elu(x),
  Sigmoid: (x) => tf.sigmoid(x),
  Tanh: (x) => tf.tanh(x),
  LeakyRelu: (x, c) => tf.leakyRelu(x, { alpha: c.floatAttr('leakyrelu_alpha', 0.2) }),
  GeluExact: (x) => tf.gelu(x),
  GeluApproximate: (x) => tf.gelu(x, { approximate: true }),
};

export const linalg: OpTable = {
  MatMul: matMul,
  _FusedMatMul: fused(matMul),
  BatchMatMul: batchMatMul,
  BatchMatMulV2: batchMatMul,
  BatchMatMulV3: batchMatMul,
  Einsum: (c) => tf.einsum(c.textAttr('equation'), ...c.xs()),
  Cross: (c) => {
    const [x, y] = [c.x(0), c.x(1)];
    const roll = (t: tf.Tensor, by: number): tf.Tensor => tf.roll(t, by, -1);
    return roll(x, -1)
      .mul(roll(y, -2))
      .sub(roll(x, -2).mul(roll(y, -1)));
  },
  Svd: several(['s', 'u', 'v'], (c) => {
    const fullMatrices = c.boolAttr('full_matrices', false);
    if (!c.boolAttr('compute_uv', true)) {
      const s = tf.linalg.svd(c.x(), { computeUV: false });
      return [s, tf.zeros([0], s.dtype), tf.zeros([0], s.dtype)];
    }
    return tf.linalg.svd(c.x(), { fullMatrices, computeUV: true });
  }),
};

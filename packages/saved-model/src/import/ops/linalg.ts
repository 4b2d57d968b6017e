// Matrix products and factors.
import * as tf from '@eagre/core';
import type { OpCall } from '../op-call.ts';
import { binary, type OpTable, several, type Translate, unary } from '../op-row.ts';

const matMul: Translate = (c) =>
  tf.matmul(c.x(0), c.x(1), {
    transposeA: c.boolAttr('transpose_a', false),
    transposeB: c.boolAttr('transpose_b', false),
  });
const batchMatMul: Translate = (c) =>
  tf.matmul(c.x(0), c.x(1), {
    adjointA: c.boolAttr('adj_x', false),
    adjointB: c.boolAttr('adj_y', false),
    outputType: c.dtypeAttr('Tout', c.x(0).dtype),
  });

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

const triangle = (c: OpCall): { readonly lower: boolean; readonly adjoint: boolean } => ({
  lower: c.boolAttr('lower', true),
  adjoint: c.boolAttr('adjoint', false),
});

export const linalg: OpTable = {
  MatMul: matMul,
  SparseMatMul: (c) =>
    tf.matmul(tf.cast(c.x(0), 'float32'), tf.cast(c.x(1), 'float32'), {
      transposeA: c.boolAttr('transpose_a', false),
      transposeB: c.boolAttr('transpose_b', false),
    }),
  _FusedMatMul: fused(matMul),
  BatchMatMul: batchMatMul,
  BatchMatMulV2: batchMatMul,
  BatchMatMulV3: batchMatMul,
  Einsum: (c) => tf.einsum(c.textAttr('equation'), ...c.xs()),
  Cross: binary(tf.linalg.cross),
  Svd: several(['s', 'u', 'v'], (c) => {
    const fullMatrices = c.boolAttr('full_matrices', false);
    if (!c.boolAttr('compute_uv', true)) {
      const s = tf.linalg.svd(c.x(), { computeUV: false });
      return [s, tf.zeros([0], s.dtype), tf.zeros([0], s.dtype)];
    }
    return tf.linalg.svd(c.x(), { fullMatrices, computeUV: true });
  }),
  Cholesky: unary((x) => tf.linalg.cholesky(x)),
  MatrixDeterminant: unary((x) => tf.linalg.det(x)),
  LogMatrixDeterminant: several(['sign', 'log_abs_determinant'], (c) => tf.linalg.slogdet(c.x())),
  MatrixInverse: (c) => tf.linalg.inv(c.x(), { adjoint: c.boolAttr('adjoint', false) }),
  MatrixSolve: (c) => tf.linalg.solve(c.x(0), c.x(1), { adjoint: c.boolAttr('adjoint', false) }),
  MatrixTriangularSolve: (c) => tf.linalg.triangularSolve(c.x(0), c.x(1), triangle(c)),
  BatchMatrixTriangularSolve: (c) => tf.linalg.triangularSolve(c.x(0), c.x(1), triangle(c)),
  BandedTriangularSolve: (c) => tf.linalg.bandedTriangularSolve(c.x(0), c.x(1), triangle(c)),
  MatrixSolveLs: (c) => {
    const [l2Regularizer, fast] = [c.x(2).item() as number, c.boolAttr('fast', true)];
    return tf.linalg.lstsq(c.x(0), c.x(1), fast ? { l2Regularizer } : { fast });
  },
  MatrixSquareRoot: unary((x) => tf.linalg.sqrtm(x)),
  MatrixLogarithm: unary((x) => tf.linalg.logm(x)),
  MatrixExponential: unary((x) => tf.linalg.expm(x)),
  Lu: several(['lu', 'p'], (c) =>
    tf.linalg.lu(c.x(), { outputIdxType: c.dtypeAttr('output_idx_type', 'int32') as 'int32' }),
  ),
  Qr: several(['q', 'r'], (c) => tf.linalg.qr(c.x(), { fullMatrices: c.boolAttr('full_matrices', false) })),
  SelfAdjointEigV2: several(['e', 'v'], (c) =>
    c.boolAttr('compute_v', true)
      ? tf.linalg.eigh(c.x())
      : [tf.linalg.eigvalsh(c.x()), tf.zeros([0], c.x().dtype)],
  ),
  Eig: several(['e', 'v'], (c) => {
    const dtype = c.dtypeAttr('Tout', 'complex64');
    return c.boolAttr('compute_v', true)
      ? tf.linalg.eig(c.x()).map((t) => t.cast(dtype))
      : [tf.linalg.eigvals(c.x()).cast(dtype), tf.zeros([0], dtype)];
  }),
  TridiagonalSolve: (c) => {
    if (c.boolAttr('perturb_singular', false)) throw c.lacks('perturb_singular is not supported');
    const partialPivoting = c.boolAttr('partial_pivoting', true);
    return tf.linalg.tridiagonalSolve(c.x(0), c.x(1), { partialPivoting });
  },
  TridiagonalMatMul: (c) => {
    const rows = [0, 1, 2].map((i) => c.x(i).squeeze(-2));
    return tf.linalg.tridiagonalMatmul(tf.stack(rows, -2), c.x(3));
  },
};

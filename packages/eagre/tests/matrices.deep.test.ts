// Factors, solutions and functions of matrices against TensorFlow (tools/golden/matrices.py).
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { type GoldenFunction, testGolden } from './testing/golden-results.ts';

const { linalg } = tf;
type Any = (...args: never) => unknown;
const called = (fn: Any, ...args: readonly unknown[]): tf.Tensor =>
  (fn as (...args: readonly unknown[]) => unknown)(...args) as tf.Tensor;
const unary =
  (fn: Any): GoldenFunction =>
  ([x], options) =>
    called(fn, x, options);
const binary =
  (fn: Any): GoldenFunction =>
  ([a, b], options) =>
    called(fn, a, b, options);

/** Vectors times 1, 2, …, and their adjoints: what does not depend on their signs. */
function productOf(u: tf.Tensor, v: tf.Tensor, k: number): tf.Tensor {
  const scale = tf.range(1, k + 1).cast(u.dtype as 'float32');
  return u
    .at('...', `:${k}`)
    .mul(scale)
    .matmul(linalg.adjoint(v.at('...', `:${k}`)));
}

describe("TensorFlow's matrices", () => {
  testGolden(
    new URL('../../core/golden/matrices.json', import.meta.url),
    {
      cholesky: unary(linalg.cholesky),
      logdet: unary(linalg.logdet),
      eigvalsh: unary(linalg.eigvalsh),
      sqrtm: unary(linalg.sqrtm),
      inv: unary(linalg.inv),
      det: unary(linalg.det),
      slogdet: unary(linalg.slogdet),
      lu: unary(linalg.lu),
      expm: unary(linalg.expm),
      adjoint: unary(linalg.adjoint),
      logm: unary(linalg.logm),
      qr: unary(linalg.qr),
      pinv: unary((x) => linalg.pinv(x)),
      matrixRank: unary((x) => linalg.matrixRank(x)),
      tensorDiag: unary(linalg.tensorDiag),
      tensorDiagPart: unary(linalg.tensorDiagPart),
      choleskySolve: binary(linalg.choleskySolve),
      solve: binary(linalg.solve),
      triangularSolve: binary(linalg.triangularSolve),
      lstsq: binary(linalg.lstsq),
      tridiagonalSolve: binary(linalg.tridiagonalSolve),
      tridiagonalMatmul: binary(linalg.tridiagonalMatmul),
      bandedTriangularSolve: binary(linalg.bandedTriangularSolve),
      eighTridiagonal: binary(linalg.eighTridiagonal),
      cross: binary(linalg.cross),
      luReconstruct: binary(linalg.luReconstruct),
      luMatrixInverse: binary(linalg.luMatrixInverse),
      luSolve: ([lu, p, b]) => linalg.luSolve(lu, p, b),
      eighProduct: ([x]) => {
        const [e, v] = linalg.eigh(x);
        return [e, productOf(v, v, v.shape[v.rank - 1])];
      },
      svdProduct: ([x], { fullMatrices = false as never }) => {
        const [s, u, v] = linalg.svd(x, { fullMatrices });
        return [s, productOf(u, v, s.shape[s.rank - 1])];
      },
      normalize: ([x], { ord, axis }) =>
        linalg.normalize(x, ord === 'Infinity' ? Number.POSITIVE_INFINITY : ord, axis ?? null),
    },
    { float32: 2e-3, float64: 1e-8 },
  );
});

// Only a pivot of 0 makes a matrix singular, as in TensorFlow.
test.each(['native', 'js'])('what is not a number is not singular: %s', (backend) => {
  tf.experimental.withBackend(backend, () => {
    const x = tf.constant([
      [1, Number.NaN],
      [2, 3],
    ]);
    expect([...linalg.inv(x).data()]).toEqual(new Array(4).fill(Number.NaN));
    expect([...linalg.solve(x, tf.ones([2, 1])).data()]).toEqual([Number.NaN, Number.NaN]);
    expect(linalg.det(x).item()).toBeNaN();
    expect(
      [...(tf.autodiff.grad((a: tf.Tensor) => linalg.det(a))(x) as tf.Tensor).data()].some(Number.isNaN),
    ).toBe(true);
    expect(() => linalg.inv(tf.ones([2, 2]))).toThrow(/singular/);
  });
});

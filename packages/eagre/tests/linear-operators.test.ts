// Linear operators against TensorFlow (tools/golden/linear_operators.py).
import { describe, expect, expectTypeOf, it, test } from 'vitest';
import * as tf from '../src/index.ts';
import { type GoldenFunction, testGolden } from './testing/golden-results.ts';

const { linalg } = tf;

/** What the golden file has of an operator. */
function allOf(operator: tf.linalg.LinearOperator, x: tf.Tensor): tf.Tensor[] {
  const results = [operator.toDense(), operator.matmul(x), operator.diagPart(), operator.trace()];
  results.push(operator.matmul(x, { adjoint: true }));
  if (operator.isNonSingular === false) return results;
  return [
    ...results,
    operator.solve(x),
    operator.solve(x, { adjoint: true }),
    operator.determinant(),
    operator.logAbsDeterminant(),
    operator.inverse().toDense(),
    operator.adjoint().toDense(),
    operator.cond(),
  ];
}
const made =
  (make: (...tensors: tf.Tensor[]) => tf.linalg.LinearOperator): GoldenFunction =>
  ([x, ...tensors]) =>
    allOf(make(...tensors), x);
const full = (m: tf.Tensor): tf.linalg.LinearOperator => new linalg.LinearOperatorFullMatrix(m);
const own = (m: tf.Tensor): tf.linalg.LinearOperator =>
  new linalg.LinearOperatorFullMatrix(m, { isSelfAdjoint: true });
/** What eigenvalues decide; TensorFlow has those of self-adjoint operators alone. */
const spectral =
  (make: (...tensors: tf.Tensor[]) => tf.linalg.LinearOperator): GoldenFunction =>
  (tensors) => {
    const operator = make(...(tensors as tf.Tensor[]));
    return operator.isSelfAdjoint === true ? [operator.eigvals(), operator.cond()] : [operator.cond()];
  };
/** Products of a circulant operator in any dtype. */
const circulantAs =
  (inputOutputDtype?: tf.DType): GoldenFunction =>
  ([s, x]) => {
    const o = new linalg.LinearOperatorCirculant(s as tf.Tensor, inputOutputDtype && { inputOutputDtype });
    const made = [o.matmul(x as tf.Tensor), o.toDense()];
    return [...made, o.determinant(), o.logAbsDeterminant(), o.trace(), o.convolutionKernel()];
  };
const circulant = { inputOutputDtype: 'complex128' } as const;

describe("TensorFlow's linear operators", () => {
  testGolden(
    new URL('../../core/golden/linear-operators.json', import.meta.url),
    {
      FullMatrix: made(full),
      LowerTriangular: made((m) => new linalg.LinearOperatorLowerTriangular(m)),
      Diag: made((d) => new linalg.LinearOperatorDiag(d)),
      ScaledIdentity: made((m) => new linalg.LinearOperatorScaledIdentity(3, m)),
      Householder: made((v) => new linalg.LinearOperatorHouseholder(v)),
      Toeplitz: made((c, r) => new linalg.LinearOperatorToeplitz(c, r)),
      Tridiag: made((d) => new linalg.LinearOperatorTridiag(d)),
      Composition: made((a, b) => new linalg.LinearOperatorComposition([full(a), full(b)])),
      Kronecker: made((a, b) => new linalg.LinearOperatorKronecker([full(a), full(b)])),
      BlockDiag: made((a, b) => new linalg.LinearOperatorBlockDiag([full(a), full(b)])),
      BlockLowerTriangular: made(
        (a, b, c) => new linalg.LinearOperatorBlockLowerTriangular([[full(a)], [full(b), full(c)]]),
      ),
      LowRankUpdate: made(
        (a, u, diagUpdate, v) => new linalg.LinearOperatorLowRankUpdate(full(a), u, { diagUpdate, v }),
      ),
      Inversion: made((a) => new linalg.LinearOperatorInversion(full(a))),
      Adjoint: made((a) => new linalg.LinearOperatorAdjoint(full(a))),
      Circulant: made((s) => new linalg.LinearOperatorCirculant(s, circulant)),
      Circulant2D: made((s) => new linalg.LinearOperatorCirculant2D(s, circulant)),
      Circulant3D: made((s) => new linalg.LinearOperatorCirculant3D(s, circulant)),
      Permutation: made((p) => new linalg.LinearOperatorPermutation(p, { dtype: 'float64' })),
      Identity: made(() => new linalg.LinearOperatorIdentity(3, { dtype: 'float64' })),
      Zeros: made(() => new linalg.LinearOperatorZeros(3, { dtype: 'float64' })),
      SelfAdjoint: spectral(own),
      SelfAdjointInversion: spectral((m) => new linalg.LinearOperatorInversion(own(m))),
      SelfAdjointBlockDiag: spectral((a, b) => new linalg.LinearOperatorBlockDiag([own(a), own(b)])),
      SelfAdjointKronecker: spectral((a, b) => new linalg.LinearOperatorKronecker([own(a), own(b)])),
      SpectralDiag: spectral((d) => new linalg.LinearOperatorDiag(d)),
      SpectralScaledIdentity: spectral((m) => new linalg.LinearOperatorScaledIdentity(3, m)),
      SpectralHouseholder: spectral((v) => new linalg.LinearOperatorHouseholder(v)),
      SpectralCirculant2D: spectral((s) => new linalg.LinearOperatorCirculant2D(s)),
      'Circulant as None': circulantAs(),
      'Circulant as float32': circulantAs('float32'),
      'Circulant as float64': circulantAs('float64'),
      'Circulant as complex64': circulantAs('complex64'),
      'Circulant as complex128': circulantAs('complex128'),
    },
    { float32: 1e-4, float64: 1e-9 },
  );
});

test('hints decide what an operator does', () => {
  const m = tf.constant([
    [4, 1],
    [1, 3],
  ]);
  const operator = new linalg.LinearOperatorFullMatrix(m, { isSelfAdjoint: true, isPositiveDefinite: true });
  expect([operator.isSquare, operator.isNonSingular]).toEqual([true, true]);
  expect(operator.adjoint()).toBe(operator);
  expect(operator.name).toBe('linear_operator_full_matrix');
  const l = operator.cholesky().toDense();
  expect(l.matmul(l, { transposeB: true }).sub(m).abs().max().item()).toBeLessThan(1e-6);
  expect(operator.matvec([1, 1]).array()).toEqual([5, 4]);
  expect(operator.solvevec([5, 4]).sub([1, 1]).abs().max().item()).toBeLessThan(1e-6);
  operator.assertPositiveDefinite();
  operator.assertSelfAdjoint();
  operator.assertNonSingular();
  expect(operator.cond().item()).toBeCloseTo(1.939, 3);
  const product = operator.matmul(new linalg.LinearOperatorDiag([1, 2]));
  expectTypeOf(product).toEqualTypeOf<tf.linalg.LinearOperator>();
  expect(product.toDense().array()).toEqual([
    [4, 2],
    [1, 6],
  ]);
});

test('variables of operators are found, and get gradients', () => {
  const d = new tf.Variable([1, 2]);
  const operator = new linalg.LinearOperatorDiag(d);
  const tape = new tf.GradientTape();
  const y = new linalg.LinearOperatorDiag(d).matvec([3, 4]).sum();
  expect((tape.gradient(y, d) as tf.Tensor).array()).toEqual([3, 4]);
  expect(operator.shape).toEqual([2, 2]);
});

describe('what no operator takes is refused', () => {
  const square = new linalg.LinearOperatorFullMatrix(tf.eye(2));
  it.each([
    ['an unknown option', () => new linalg.LinearOperatorDiag([1], { isGood: true } as never)],
    ['a hint that is none', () => new linalg.LinearOperatorDiag([1], { isSquare: 1 } as never)],
    [
      'hints that contradict',
      () =>
        new linalg.LinearOperatorFullMatrix(tf.eye(2), { isPositiveDefinite: true, isNonSingular: false }),
    ],
    ['a hint that cannot be', () => new linalg.LinearOperatorIdentity(2, { isNonSingular: false })],
    ['vectors for matrices', () => new linalg.LinearOperatorFullMatrix([1, 2])],
    ['other rows', () => square.matmul(tf.ones([3, 1]))],
    ['another dtype', () => square.matmul(tf.ones([2, 1], 'float64'))],
    ['an inverse of zeros', () => new linalg.LinearOperatorZeros(2).inverse()],
    ['factors without hints', () => square.cholesky()],
    ['no operators', () => new linalg.LinearOperatorComposition([])],
    [
      'operators that do not fit',
      () => new linalg.LinearOperatorComposition([square, new linalg.LinearOperatorIdentity(3)]),
    ],
    [
      'rows of a wrong number of blocks',
      () => new linalg.LinearOperatorBlockLowerTriangular([[square, square]]),
    ],
    [
      'a determinant of what is not square',
      () => new linalg.LinearOperatorFullMatrix(tf.ones([2, 3])).determinant(),
    ],
    ['a singular matrix', () => new linalg.LinearOperatorFullMatrix(tf.ones([2, 2])).assertNonSingular()],
  ])('%s', (_, fn) => {
    expect(fn).toThrow(tf.errors.InvalidArgumentError);
  });
});

test('a product of operators knows by its sizes whether it is square', () => {
  const { LinearOperatorComposition, LinearOperatorDiag, LinearOperatorFullMatrix } = tf.linalg;
  const of = (rows: number, columns: number) => new LinearOperatorFullMatrix(tf.ones([rows, columns]));
  expect(new LinearOperatorComposition([of(2, 2), new LinearOperatorDiag([1, 2])]).isSquare).toBe(true);
  expect(new LinearOperatorComposition([of(2, 3), of(3, 2)]).isSquare).toBe(true);
  expect(new LinearOperatorComposition([of(2, 3), of(3, 3)]).isSquare).toBe(false);
  expect(new LinearOperatorComposition([of(2, 3), of(3, 2)]).adjoint().isSquare).toBe(true);
});

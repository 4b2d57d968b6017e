// First and second gradients of decompositions, solutions and transforms, of real and of complex numbers: against central differences. A
// gradient of a real number for a complex one is ∂L/∂x + i ∂L/∂y, as in TensorFlow.
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

type Fn = (x: tf.Tensor) => tf.Tensor | readonly tf.Tensor[];
type DType = 'float64' | 'complex128';

/** Fixed numbers, different in each place. */
function numbers(shape: readonly number[], dtype: DType, phase: number): tf.Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  const list = (p: number): tf.Tensor =>
    tf.reshape(
      tf.constant(
        Array.from({ length: size }, (_, i) => Math.sin(1.7 * i + p) + 0.3 * Math.cos(3.1 * i * p)),
        'float64',
      ),
      shape,
    );
  return dtype === 'float64' ? list(phase) : tf.complex(list(phase), list(phase + 2.3));
}

/** Re ⟨w, x⟩ */
const inner = (w: tf.Tensor, x: tf.Tensor): tf.Tensor => tf.math.real(tf.math.conj(w).mul(x)).sum();

/** A real number that all of the results have a part in, none of it linear. */
function loss(fn: Fn, x: tf.Tensor): tf.Tensor {
  const results = [fn(x)].flat() as tf.Tensor[];
  return tf.addN(
    results.map((y, i) => {
      const w = numbers(y.shape, y.dtype as DType, 0.4 + i);
      const part = inner(w, y);
      return part.add(part.square().mul(0.5));
    }),
  );
}

function gradient(of: (x: tf.Tensor) => tf.Tensor, x: tf.Tensor): tf.Tensor {
  const tape = new tf.GradientTape();
  tape.watch(x);
  const found = tape.gradient(of(x), x) as tf.Tensor | null;
  return found ?? tf.zerosLike(x);
}

/** How far the gradient of a real number is from central differences, relative to its own size. */
function off(of: (x: tf.Tensor) => tf.Tensor, x: tf.Tensor): number {
  const found = gradient(of, x);
  let worst = 0;
  for (const phase of [0.9, 2.1]) {
    const v = numbers(x.shape, x.dtype as DType, phase);
    const at = (t: number): number => of(x.add(v.mul(t))).item() as number;
    const h = 1e-4;
    const expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    const got = inner(found, v).item() as number;
    worst = Math.max(worst, Math.abs(got - expected) / (1 + Math.abs(expected)));
  }
  return worst;
}

function check(fn: Fn, x: tf.Tensor): void {
  const first = (z: tf.Tensor): tf.Tensor => loss(fn, z);
  const c = numbers(x.shape, x.dtype as DType, 1.3);
  const second = (z: tf.Tensor): tf.Tensor => inner(c, gradient(first, z));
  expect(off(first, x), 'first').toBeLessThan(1e-6);
  expect(off(second, x), 'second').toBeLessThan(1e-5);
}

const adjoint = (x: tf.Tensor): tf.Tensor => tf.linalg.adjoint(x);
/** Positive definite matrices; what a function makes of x is symmetric however x changes. */
const definite = (x: tf.Tensor): tf.Tensor =>
  tf.matmul(x, adjoint(x)).add(tf.eye(x.shape.at(-1) as number, { dtype: x.dtype as 'float64' }));
/** The directions of vectors, whatever their phases are. */
const projectors = (v: tf.Tensor): tf.Tensor =>
  tf.einsum('...ij,...kj->...jik', v, tf.math.conj(v)).slice([0, 0, 0], [1, -1, -1]);

const square = [3, 3];
const cases: Readonly<
  Record<string, readonly [fn: Fn, shape: readonly number[], dtypes?: readonly DType[]]>
> = {
  cholesky: [(x) => tf.linalg.cholesky(definite(x)), square],
  'cholesky of batches': [(x) => tf.linalg.cholesky(definite(x)), [2, 2, 2]],
  choleskySolve: [
    (x) => tf.linalg.choleskySolve(tf.linalg.cholesky(definite(x)), numbers([3, 2], x.dtype as DType, 5)),
    square,
  ],
  inv: [(x) => tf.linalg.inv(definite(x).add(x.mul(0.3))), square],
  det: [(x) => tf.linalg.det(x), square],
  // TensorFlow lets the imaginary part of what comes back to a logarithm through, though that is real.
  slogdet: [(x) => tf.math.real(tf.linalg.slogdet(definite(x).add(x.mul(0.3)))[1] as tf.Tensor), square],
  solve: [(x) => tf.linalg.solve(definite(x).add(x.mul(0.3)), x), square],
  triangularSolve: [(x) => tf.linalg.triangularSolve(definite(x), x), square],
  'triangularSolve by the adjoint': [
    (x) => tf.linalg.triangularSolve(definite(x), x, { lower: false, adjoint: true }),
    square,
  ],
  lu: [(x) => tf.linalg.lu(definite(x))[0] as tf.Tensor, square],
  luSolve: [(x) => tf.linalg.luSolve(...(tf.linalg.lu(definite(x)) as [tf.Tensor, tf.Tensor]), x), square],
  luMatrixInverse: [
    (x) => tf.linalg.luMatrixInverse(...(tf.linalg.lu(definite(x)) as [tf.Tensor, tf.Tensor])),
    square,
  ],
  lstsq: [(x) => tf.linalg.lstsq(x, numbers([4, 2], x.dtype as DType, 5), { l2Regularizer: 0.1 }), [4, 3]],
  pinv: [(x) => tf.linalg.pinv(x), [4, 3], ['float64']],
  expm: [(x) => tf.linalg.expm(x.mul(0.5)), square],
  logm: [(x) => tf.linalg.logm(definite(x)), square, ['complex128']],
  sqrtm: [(x) => tf.linalg.sqrtm(definite(x)), square],
  qr: [(x) => tf.linalg.qr(x) as unknown as tf.Tensor[], square],
  'qr of tall matrices': [(x) => tf.linalg.qr(x) as unknown as tf.Tensor[], [4, 3]],
  'singular values': [(x) => tf.linalg.svd(x, { computeUV: false }) as unknown as tf.Tensor, [3, 2]],
  svd: [
    (x) => {
      const [s, u, v] = tf.linalg.svd(x) as unknown as [tf.Tensor, tf.Tensor, tf.Tensor];
      return [s, projectors(u), projectors(v), tf.matmul(u, adjoint(v))];
    },
    square,
  ],
  'svd of tall matrices': [
    (x) => {
      const [s, u, v] = tf.linalg.svd(x) as unknown as [tf.Tensor, tf.Tensor, tf.Tensor];
      return [s, projectors(u), projectors(v), tf.matmul(u, adjoint(v))];
    },
    [4, 2],
  ],
  'svd of wide matrices': [
    (x) => {
      const [s, u, v] = tf.linalg.svd(x) as unknown as [tf.Tensor, tf.Tensor, tf.Tensor];
      return [s, projectors(u), projectors(v), tf.matmul(u, adjoint(v))];
    },
    [2, 3],
  ],
  'svd with all vectors': [
    (x) => {
      const [s, u, v] = tf.linalg.svd(x, { fullMatrices: true }) as unknown as [
        tf.Tensor,
        tf.Tensor,
        tf.Tensor,
      ];
      return [s, projectors(u), projectors(v)];
    },
    [3, 2],
  ],
  tridiagonalSolve: [
    (x) => tf.linalg.tridiagonalSolve(x.add(numbers([3, 4], x.dtype as DType, 1).mul(3)), x.at(1).mul(2)),
    [3, 4],
  ],
  eigvals: [(x) => tf.linalg.eigvals(definite(x).add(x.mul(0.3))), square],
  eig: [
    (x) => {
      const [e, v] = tf.linalg.eig(definite(x).add(x.mul(0.3))) as unknown as [tf.Tensor, tf.Tensor];
      return [e, projectors(v)];
    },
    square,
  ],
  eigvalsh: [(x) => tf.linalg.eigvalsh(definite(x)), square],
  eigh: [
    (x) => {
      const [e, v] = tf.linalg.eigh(definite(x)) as unknown as [tf.Tensor, tf.Tensor];
      return [e, projectors(v)];
    },
    square,
  ],
  fft: [(x) => tf.signal.fft(tf.square(x)), [2, 5], ['complex128']],
  ifft: [(x) => tf.signal.ifft(tf.square(x)), [2, 6], ['complex128']],
  fft2d: [(x) => tf.signal.fft2d(tf.square(x)), [2, 3, 4], ['complex128']],
  ifft2d: [(x) => tf.signal.ifft2d(tf.square(x)), [2, 3, 4], ['complex128']],
  fft3d: [(x) => tf.signal.fft3d(tf.square(x)), [2, 3, 2], ['complex128']],
  ifft3d: [(x) => tf.signal.ifft3d(tf.square(x)), [2, 3, 2], ['complex128']],
  fftnd: [(x) => tf.signal.fftnd(tf.square(x), [3, 4], [0, 1]), [3, 5], ['complex128']],
  rfft: [(x) => tf.signal.rfft(tf.square(x)), [2, 6], ['float64']],
  'rfft of an odd length': [(x) => tf.signal.rfft(tf.square(x), [7]), [2, 5], ['float64']],
  rfft2d: [(x) => tf.signal.rfft2d(tf.square(x)), [3, 4], ['float64']],
  rfft3d: [(x) => tf.signal.rfft3d(tf.square(x)), [2, 3, 4], ['float64']],
  irfft: [(x) => tf.signal.irfft(tf.square(x)), [2, 4], ['complex128']],
  'irfft of an odd length': [(x) => tf.signal.irfft(tf.square(x), [5]), [2, 3], ['complex128']],
  irfft2d: [(x) => tf.signal.irfft2d(tf.square(x)), [3, 4], ['complex128']],
  irfft3d: [(x) => tf.signal.irfft3d(tf.square(x)), [2, 3, 3], ['complex128']],
  stft: [(x) => tf.signal.stft(x, 4, 2), [9], ['float64']],
  dct: [(x) => tf.signal.dct(x.square()), [2, 5], ['float64']],
  abs: [(x) => tf.abs(x), [4], ['complex128']],
  angle: [(x) => tf.math.angle(x), [4], ['complex128']],
};

describe.each(Object.entries(cases))('%s', (_, [fn, shape, dtypes = ['float64', 'complex128']]) => {
  test.each(dtypes)('%s', (dtype) => check(fn, numbers(shape, dtype, 0.2)));
});

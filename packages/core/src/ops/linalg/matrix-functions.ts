// The exponential, the logarithm and the square root of matrices.
import { isComplex, UnimplementedError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { context } from '../../dispatch/context.ts';
import { graphLoops } from '../../dispatch/graph-loops.ts';
import { defineOp, execute1, type GradFn, type Op } from '../../dispatch/op.ts';
import { values } from '../../dispatch/samples.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import type { TensorLike } from '../../tensor/convert.ts';
import { hostValues, type Tensor } from '../../tensor/tensor.ts';
import { concat } from '../array/join.ts';
import { where } from '../elementwise/select.ts';
import { adjointOf, identityLike, matricesOf, withAdjoints } from './adjoint.ts';
import { matmul } from './linalg.ts';
import { solved } from './solutions.ts';

// ---- the exponential

interface Pade {
  /** The norm up to which the approximation is exact to rounding. */
  readonly norm: number;
  readonly coefficients: readonly number[];
}
// N. Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited" (2005), for the digits of both dtypes.
const ORDER7: Pade = {
  norm: 3.92572478313866,
  coefficients: [17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1],
};
const ORDER13: Pade = {
  norm: 5.371920351148152,
  coefficients: [
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
    670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
  ],
};

/** Padé's approximation of the exponential. */
function approximated(a: Tensor, { coefficients: b }: Pade): Tensor {
  const one = identityLike(a);
  const square = matmul(a, a);
  let power = one;
  let odd = one.mul(b[1]);
  let even = one.mul(b[0]);
  for (let i = 2; i < b.length; i += 2) {
    power = i === 2 ? square : matmul(power, square);
    even = even.add(power.mul(b[i]));
    odd = odd.add(power.mul(b[i + 1]));
  }
  const u = matmul(a, odd);
  return solved(even.sub(u), even.add(u));
}

/** A function again and again, a number of times (int32 []). */
function repeated(times: Tensor, x: Tensor, fn: (x: Tensor, i: Tensor | number) => Tensor): Tensor {
  if (context.tracer !== null) return graphLoops.repeat(times, ([y], i) => [fn(y, i)], [x])[0];
  const count = Number(hostValues(times)[0]);
  let y = x;
  for (let i = 0; i < count; i++) y = fn(y, i);
  return y;
}

/**
 * The exponentials of square matrices [..., n, n]: I + A + A²/2 + …, by Padé's approximation and squaring.
 *
 *     tf.linalg.expm([[0, 1], [0, 0]]); // [[1, 1], [0, 1]]
 *
 * @throws InvalidArgumentError for matrices that are not square.
 */
export const expm: NamedFunction<[input: TensorLike], ['input']> = /* @__PURE__ */ defineFunction(
  'linalg.expm',
  { input: kind.tensor },
  {},
  (input) => {
    const x = matricesOf(input, 'linalg.expm', { square: true });
    if (dims(x).includes(0)) return x;
    const wide = x.dtype === 'float64' || x.dtype === 'complex128';
    const pade = wide ? ORDER13 : ORDER7;
    const norm = x.abs().sum(-2).max(-1);
    const squarings = norm.div(pade.norm).log().div(Math.LN2).ceil().clip(0, 1100).stopGradient();
    const each = squarings.expandDims(-1).expandDims(-1);
    const scaled = x.mul(each.neg().mul(Math.LN2).exp().cast(x.dtype));
    const most = where(squarings.isFinite(), squarings, 0).max().cast('int32');
    return repeated(most, approximated(scaled, pade), (y, i) =>
      where(each.greater(typeof i === 'number' ? i : i.cast(each.dtype)), matmul(y, y), y),
    );
  },
);

// ---- functions of a triangular form

/**
 * The gradient of a function f of matrices: its derivative at Aᴴ in the direction of G, which stands above the diagonal in f of the matrix of blocks
 * [[Aᴴ, G], [0, Aᴴ]] (R. Mathias, "A chain rule for matrix functions", 1996).
 */
const gradOfFunction = /* @__NO_SIDE_EFFECTS__ */ (f: () => Op): GradFn =>
  withAdjoints((g, dy) => {
    const a = adjointOf(g.x);
    const n = dims(a)[a.rank - 1];
    const blocks = concat([concat([a, dy], -1), concat([a.mul(0), a], -1)], -2);
    const place = dims(a).map((_, i) => (i === a.rank - 1 ? n : 0));
    return execute1(f(), [blocks]).slice(toShape(place), toShape(dims(a)));
  });

const POSITIVE = /* @__PURE__ */ values([4, 1, 0.5, 1, 3, -0.25, 0.5, -0.25, 2], [3, 3]);

/** Square roots of matrices. */
const sqrtmOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixSquareRoot',
  kernel: 'MatrixFunction',
  kernelAttrs: () => ({ complex: false, function: 0 }),
  ulp: 64,
  infer: ([x]) => ({ dtype: x.dtype, shape: dims(x) }),
  grad: gradOfFunction(() => sqrtmOp),
  samples: () => [{ inputs: [POSITIVE] }, { inputs: [values([2, 1, 0.5, 3, 1, 0, -2, 5], [2, 2, 2])] }],
});

/**
 * The principal square roots of square matrices [..., n, n]: matrices whose products with themselves are these, and whose eigenvalues have no negative real
 * part. NaN where a real matrix has no real one.
 * @throws InvalidArgumentError for matrices that are not square.
 */
export const sqrtm: NamedFunction<[input: TensorLike], ['input']> = /* @__PURE__ */ defineFunction(
  'linalg.sqrtm',
  { input: kind.tensor },
  {},
  (input) => execute1(sqrtmOp, [matricesOf(input, 'linalg.sqrtm', { square: true })]),
);

/** Logarithms of matrices. */
const logmOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixLogarithm',
  kernel: 'MatrixFunction',
  kernelAttrs: () => ({ complex: false, function: 1 }),
  ulp: 64,
  infer: ([x]) => ({ dtype: x.dtype, shape: dims(x) }),
  grad: gradOfFunction(() => logmOp),
  samples: () => [
    { inputs: [values([4, 1, 0.5, 1, 3, -0.25, 0.5, -0.25, 2], [3, 3], 'complex64')] },
    { inputs: [values([2, 1, 0.5, 3, 1, 0, -2, 5], [2, 2, 2], 'complex64')] },
  ],
});

/**
 * The principal logarithms of complex square matrices [..., n, n], of which they are the exponentials. By the factors of Schur, roots and Padé's
 * approximation, in float64. NaN for singular matrices.
 * @throws InvalidArgumentError for matrices that are not square; UnimplementedError for real ones, as in TensorFlow, whose logarithms may be complex.
 */
export const logm: NamedFunction<[input: TensorLike], ['input']> = /* @__PURE__ */ defineFunction(
  'linalg.logm',
  { input: kind.tensor },
  {},
  (input) => {
    const x = matricesOf(input, 'linalg.logm', { square: true });
    if (!isComplex(x.dtype))
      throw new UnimplementedError(
        `the input is ${x.dtype}, expected complex64 or complex128: a real matrix may have a complex logarithm. Take input.cast('complex64')`,
        'linalg.logm',
      );
    return execute1(logmOp, [x]);
  },
);

// The singular value decomposition.
import { InvalidArgumentError, isComplex, UnimplementedError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { type Attrs, defineOp, execute, execute1, type GradContext, type Op } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { type Dim, subDims } from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import { checkFlag, type Shape, showShape } from '../../shapes/shape.ts';
import { atMost } from '../../shapes/shape-env.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { AnyTensor, Tensor } from '../../tensor/tensor.ts';
import { real } from '../elementwise/complex.ts';
import { adjointOf, adjointTimes, ofReal, timesAdjoint, withAdjoints } from './adjoint.ts';
import { diag, diagPart, matmul, setDiag } from './linalg.ts';

interface SvdAttrs {
  readonly computeUV: boolean;
  readonly fullMatrices: boolean;
}

/** Whether matrices have at most as many rows as columns; a trace that was told so holds only where it is so. */
function isWide(shape: Shape): boolean {
  const [m, n] = dimsOf(shape).slice(-2);
  return atMost(m, n);
}

/** x/(x² + ε), which is 1/x, and 0 where x is. */
const safeReciprocal = (x: Tensor): Tensor => x.div(x.square().add(1e-20));

/** The first `count` columns of matrices, or those behind. */
const columns = (x: Tensor, from: Dim, count: Dim): Tensor =>
  x.slice(
    toShape(dims(x).map((_, i) => (i === x.rank - 1 ? from : 0))),
    toShape([...dims(x).slice(0, -1), count]),
  );

/**
 * The gradient of all three results, as TensorFlow has it: M. Giles, "An extended collection of matrix derivative results for forward and
 * reverse mode algorithmic differentiation" (2008), and J. Townsend, "Differentiating the singular value decomposition" (2016), for
 * matrices that are not square. F[i, j] = 1/(s[j]² − s[i]²) and 0 on the diagonal.
 */
function gradOfVectors(g: GradContext, ds: Tensor, du: Tensor | null, dv: Tensor | null): Tensor {
  const [s, left, right] = g.outputs;
  const wide = isWide(g.x.shape);
  // Of a tall matrix: that of its transpose, transposed.
  const [u, v, gu, gv] = wide ? [left, right, du, dv] : [right, left, dv, du];
  const m = dims(s)[s.rank - 1];
  const n = dims(v)[v.rank - 2];
  const full = differs(dims(v)[v.rank - 1], m);
  if (full && gv !== null && !atMost(subDims(n, m), 1)) {
    throw new UnimplementedError(
      `the vectors of matrices ${showShape(g.x.shape)} with fullMatrices have no gradient: the vectors without a singular value are an arbitrary basis of the ` +
        'rest. Leave out fullMatrices, or use matrices whose sizes differ by at most 1',
      'Svd',
    );
  }
  const v1 = full ? columns(v, 0, m) : v;
  const square = s.square();
  const differences = square.expandDims(-2).sub(square.expandDims(-1));
  const f = setDiag(safeReciprocal(differences), s.mul(0));
  const scale = diag(s);
  /** F ∘ (wᴴ dw), and its adjoint beside it. */
  const turned = (w: Tensor, dw: Tensor): Tensor => {
    const part = f.mul(adjointTimes(w, dw));
    return part.add(adjointOf(part));
  };
  let inner = diag(ofReal(ds));
  if (gu !== null) inner = inner.add(matmul(turned(u, gu), scale));
  const gv1 = gv === null ? null : full ? columns(gv, 0, m) : gv;
  if (gv1 !== null) inner = inner.add(matmul(scale, turned(v1, gv1)));
  if (isComplex(s.dtype) && gv1 !== null) {
    // What turns both vectors by a factor of size 1.
    const phases = diagPart(adjointTimes(v1, gv1));
    inner = inner.add(
      diag(
        safeReciprocal(s)
          .mul(adjointOf(phases.expandDims(-1)).squeeze(-2).sub(phases))
          .mul(0.5),
      ),
    );
  }
  let result = matmul(u, timesAdjoint(inner, v1));
  if (gv !== null && gv1 !== null && differs(m, n)) {
    const turnedBack = timesAdjoint(adjointTimes(gv1, v1), v1);
    let outside = adjointOf(gv1).sub(turnedBack);
    if (full) {
      const last = subDims(n, m);
      const mixed = adjointTimes(v1, columns(gv, m, last));
      outside = outside.sub(timesAdjoint(mixed, columns(v, m, last)));
    }
    result = result.add(matmul(matmul(u, diag(safeReciprocal(s))), outside));
  }
  return wide ? result : adjointOf(result);
}

/** The singular values of matrices in falling order, and their left and right vectors as columns. */
const svdOp: Op = defineOp({
  name: 'Svd',
  kernel: 'Svd',
  kernelAttrs: () => ({ complex: false }),
  // Vectors of values that lie close together turn with the rounding.
  ulp: 64,
  infer: ([x], attrs) => {
    const { computeUV, fullMatrices } = attrs as Attrs & SvdAttrs;
    const lead = dims(x).slice(0, -2);
    const [m, n] = dims(x).slice(-2);
    const k = isWide(x.shape) ? m : n;
    const of = (...shape: Dim[]) => ({ dtype: x.dtype, shape: [...lead, ...shape] });
    return computeUV ? [of(k), of(m, fullMatrices ? m : k), of(n, fullMatrices ? n : k)] : of(k);
  },
  grad: withAdjoints((g, ds, ...more) => {
    if (g.attrs['computeUV'] === true) return gradOfVectors(g, ds, more[0] ?? null, more[1] ?? null);
    const [, u, v] = execute(svdOp, [g.x], { computeUV: true, fullMatrices: false });
    return timesAdjoint(u.mul(ofReal(ds).expandDims(-2)), v);
  }),
  samples: () => [
    { inputs: [uniform([4, 3])], attrs: { computeUV: false, fullMatrices: false } },
    { inputs: [uniform([2, 2, 3])], attrs: { computeUV: true, fullMatrices: false } },
    { inputs: [uniform([2, 3, 3])], attrs: { computeUV: true, fullMatrices: true } },
    { inputs: [uniform([5, 2])], attrs: { computeUV: true, fullMatrices: false } },
    { inputs: [uniform([4, 3])], attrs: { computeUV: true, fullMatrices: true } },
    { inputs: [values([2, 0, 0, 0, 0, -3], [2, 3])], attrs: { computeUV: false, fullMatrices: false } },
  ],
});

function matricesOf(x: TensorLike): Tensor {
  const t = toTensor(x);
  if (!isComplex(t.dtype)) checkDType(t.dtype, 'floating', 'tensor', 'Svd');
  if (t.rank < 2) {
    throw new InvalidArgumentError(
      `tensor has shape ${showShape(t.shape)}, expected matrices (rank 2 or more)`,
      'Svd',
    );
  }
  // What min(m, n) is belongs to a trace.
  isWide(t.shape);
  return t;
}

/** The singular values of matrices, [..., m, n] → [..., min(m, n)]. */
export const singularValues = (x: Tensor): Tensor =>
  realOf(execute1(svdOp, [matricesOf(x)], { computeUV: false, fullMatrices: false }));
const realOf = (x: Tensor): Tensor => (isComplex(x.dtype) ? real(x) : x);

/** Singular values, which are real, and vectors. */
export function svdOf(x: Tensor, fullMatrices = false): SvdResult {
  const [s, u, v] = execute(svdOp, [matricesOf(x)], { computeUV: true, fullMatrices });
  return [realOf(s), u, v];
}

/** Options of `svd`. */
export interface SvdOptions<UV extends boolean = boolean> {
  /** All m left and n right vectors, not only those of the min(m, n) singular values. false by default. */
  readonly fullMatrices?: boolean;
  /** Whether vectors are wanted; true by default. */
  readonly computeUV?: UV;
}
/** Singular values [..., k], left vectors [..., m, k] and right vectors [..., n, k], as columns. */
export type SvdResult = [s: AnyTensor, u: AnyTensor, v: AnyTensor];
/** The function `svd`: with `computeUV: false` one tensor, otherwise three. */
export interface SvdFunction {
  (...args: Arguments<[tensor: TensorLike], ['tensor'], SvdOptions<true>>): SvdResult;
  (...args: Arguments<[tensor: TensorLike], ['tensor'], SvdOptions<false>>): Tensor;
  (...args: Arguments<[tensor: TensorLike], ['tensor'], SvdOptions>): SvdResult | Tensor;
}

/**
 * The singular value decomposition of the matrices in the last two axes, tensor = u · diag(s) · vᴴ:
 * `const [s, u, v] = tf.linalg.svd(x)`, in TensorFlow's order, v not transposed; only s with `computeUV: false`.
 * Of [..., m, n] with k = min(m, n): s is [..., k], the largest first, u [..., m, k], v [..., n, k]; with `fullMatrices` u is [..., m, m] and v
 * [..., n, n]. Of floats or complex numbers, s always floats; computed in float64, but that the native backend takes float32 for real float32 matrices with more than 48 rows and
 * columns. There real matrices with at most 48 rows or columns, and complex ones, keep the relative accuracy of singular values far below the largest; those of larger matrices are exact beside
 * the largest one. A matrix with an element that is not finite has NaN in all results. Signs of vectors
 * are not unique, nor are vectors of equal singular values, so these have no meaningful gradient.
 * @throws InvalidArgumentError for vectors and scalars; UnimplementedError for the gradient of vectors with `fullMatrices` where m and n
 * differ by more than 1.
 */
export const svd: SvdFunction = defineFunction<
  NamedFunction<[tensor: TensorLike], ['tensor'], SvdOptions, SvdResult | Tensor>
>(
  'linalg.svd',
  { tensor: kind.tensor },
  { fullMatrices: kind.asIs, computeUV: kind.asIs },
  (tensor, options) => {
    const fullMatrices = checkFlag(options.fullMatrices, 'fullMatrices', 'Svd');
    const computeUV = options.computeUV === undefined || checkFlag(options.computeUV, 'computeUV', 'Svd');
    if (!computeUV) return singularValues(toTensor(tensor));
    return svdOf(toTensor(tensor), fullMatrices);
  },
) as SvdFunction;

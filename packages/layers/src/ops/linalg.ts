/** `tf.keras.ops.linalg`: inverses, solutions, factors and norms of matrices. */
import { GradientTape } from '@eagre/autodiff';
import {
  type Axis,
  type AxisLike,
  linalg,
  type NamedFunction,
  onesLike,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  checkFunction,
  defaultShare,
  defineFunction,
  determinantOf,
  dims,
  inverseOf,
  kind,
  knownDim,
  normalizeAxes,
  pair,
  pseudoInverse,
  shown,
  slogdetOf,
  solved,
  substituted,
  toTensor,
  tree,
} from '@eagre/core/internal';
import { floating, type Keepdims, list as listKind, named, refuse, type Unary, unary } from './define.ts';
import { flipped, matrices } from './linalg/factors.ts';

export { cholesky, eigh, luFactor, qr } from './linalg/factors.ts';

/** The eigenvalues [..., n] of square matrices and their eigenvectors [..., n, n] as columns, both complex. See `tf.linalg.eig`. */
export const eig: NamedFunction<[x: TensorLike], ['x'], unknown, [values: Tensor, vectors: Tensor]> =
  defineFunction(named('eig'), { x: kind.tensor }, {}, (x) => linalg.eig(matrices(x, 'eig', true)));

/** The determinants of square matrices. */
export const det: Unary = unary('det', (x) => determinantOf(matrices(x, 'det', true)));

/** The signs of the determinants of square matrices, and the logarithms of their sizes: [sign, logabsdet]. */
export const slogdet: NamedFunction<[x: TensorLike], ['x'], unknown, [sign: Tensor, logabsdet: Tensor]> =
  defineFunction(named('slogdet'), { x: kind.tensor }, {}, (x) => slogdetOf(matrices(x, 'slogdet', true)));

/** The inverses of square matrices. */
export const inv: Unary = unary('inv', (x) => inverseOf(matrices(x, 'inv', true), false));

/** Runs for matrices what may be vectors, of one axis less than the matrices of the system. */
function columns(a: Tensor, b: Tensor, run: (b: Tensor) => Tensor): Tensor {
  return b.rank === a.rank - 1 ? run(b.expandDims(-1)).squeeze(-1) : run(b);
}

type Solve<O = unknown> = NamedFunction<[a: TensorLike, b: TensorLike], ['a', 'b'], O>;
/** The solutions x of a · x = b for square matrices a. */
export const solve: Solve = defineFunction(named('solve'), { a: kind.tensor, b: kind.tensor }, {}, (a, b) => {
  const [system, right] = pair(matrices(a, 'solve', true), floating(b), named('solve'));
  return columns(system, right, (r) => solved(system, r));
});
/** The solutions x of a · x = b for triangular matrices a, upper ones unless `lower`. */
export const solveTriangular: Solve<{ readonly lower?: boolean }> = defineFunction(
  named('solveTriangular'),
  { a: kind.tensor, b: kind.tensor },
  { lower: kind.asIs },
  (a, b, { lower = false }) => {
    const [system, right] = pair(matrices(a, 'solveTriangular', true), floating(b), named('solveTriangular'));
    return columns(system, right, (r) => substituted(system, r, { lower }));
  },
);

/** Identity matrices as large and as many as square ones. */
const onesOn = (a: Tensor): Tensor => onesLike(a.diagPart()).diag();

/** The inverses of matrices of which x are the factors of Cholesky, lower ones unless `upper`. */
export const choleskyInverse: NamedFunction<[x: TensorLike], ['x'], { readonly upper?: boolean }> =
  defineFunction(
    named('choleskyInverse'),
    { x: kind.tensor },
    { upper: kind.asIs },
    (x, { upper = false }) => {
      const a = matrices(x, 'choleskyInverse', true);
      const inverse = substituted(a, onesOn(a), { lower: !upper });
      return upper
        ? inverse.matmul(inverse, { transposeB: true })
        : inverse.matmul(inverse, { transposeA: true });
    },
  );

interface SvdOptions {
  /** Whether u and vh are square; true by default. */
  readonly fullMatrices?: boolean;
  /** Whether to give more than the singular values; true by default. */
  readonly computeUv?: boolean;
}
/** The singular values s of matrices, and u and vh with u · diag(s) · vh = x: [u, s, vh], or s alone. */
export const svd: {
  (x: TensorLike, options: SvdOptions & { readonly computeUv: false }): Tensor;
  (x: TensorLike, options?: SvdOptions): [u: Tensor, s: Tensor, vh: Tensor];
  (options: SvdOptions & { readonly x: TensorLike }): Tensor | [u: Tensor, s: Tensor, vh: Tensor];
} = defineFunction<NamedFunction<[x: TensorLike], ['x'], SvdOptions, unknown>>(
  named('svd'),
  { x: kind.tensor },
  { fullMatrices: kind.asIs, computeUv: kind.asIs },
  (x, { fullMatrices = true, computeUv = true }) => {
    const a = matrices(x, 'svd');
    if (!computeUv) return linalg.svd(a, { computeUV: false });
    const [s, u, v] = linalg.svd(a, { fullMatrices });
    return [u, s, flipped(v)];
  },
) as never;

/** The size of an axis counted from the end. */
const sizeOf = (x: Tensor, fromEnd = -1): number => knownDim(dims(x)[x.rank + fromEnd]);
const EPSILON = (x: Tensor): number => (x.dtype === 'float64' ? 2 ** -52 : 2 ** -23);

function checkShare(rcond: number | null, name: string): void {
  if (rcond !== null && typeof rcond !== 'number')
    refuse(`rcond must be a number, got ${shown(rcond)}`, name);
}

/** The pseudo-inverses of matrices. @param rcond the share of the largest singular value up to which others count as 0 */
export const pinv: NamedFunction<[x: TensorLike, rcond?: number | null], ['x', 'rcond']> = defineFunction(
  named('pinv'),
  { x: kind.tensor, rcond: kind.asIs },
  {},
  (x, rcond: number | null = null) => {
    checkShare(rcond, 'pinv');
    const a = matrices(x, 'pinv');
    return pseudoInverse(a, rcond ?? defaultShare(a), false);
  },
);

/** The x of least norm for which a · x is nearest to b, of one matrix a [m, n] and b [m] or [m, k]. */
export const lstsq: NamedFunction<
  [a: TensorLike, b: TensorLike, rcond?: number | null],
  ['a', 'b', 'rcond']
> = defineFunction(
  named('lstsq'),
  { a: kind.tensor, b: kind.tensor, rcond: kind.asIs },
  {},
  (a, b, rcond: number | null = null) => {
    checkShare(rcond, 'lstsq');
    const [system, right] = pair(matrices(a, 'lstsq'), floating(b), named('lstsq'));
    if (system.rank !== 2) refuse(`a has shape [${system.shape}], expected one matrix`, 'lstsq');
    const share = rcond ?? EPSILON(system) * Math.max(sizeOf(system), sizeOf(system, -2));
    return columns(system, right, (r) =>
      pseudoInverse(system, share < 0 ? EPSILON(system) : share, true).matmul(r),
    );
  },
);

/** How many singular values of each matrix are larger than `tol`: int32. */
export const matrixRank: NamedFunction<[x: TensorLike, tol?: number | null], ['x', 'tol']> = defineFunction(
  named('matrixRank'),
  { x: kind.tensor, tol: kind.asIs },
  {},
  (x, tol: number | null = null) => {
    const a = matrices(x, 'matrixRank');
    const s = linalg.svd(a, { computeUV: false });
    const limit = tol ?? s.max(-1, { keepdims: true }).mul(EPSILON(a) * Math.max(sizeOf(a), sizeOf(a, -2)));
    return s.greater(limit).cast('int32').sum(-1);
  },
);

/** The order of a norm: a number, infinities included, or of matrices `fro` or `nuc`. */
export type NormOrder = number | 'fro' | 'nuc' | null;
/** The norm of vectors along an axis, of matrices along two axes, of all elements by default. */
export const norm: NamedFunction<
  [x: TensorLike, ord?: NormOrder, axis?: AxisLike],
  ['x', 'ord', 'axis'],
  Keepdims
> = defineFunction(
  named('norm'),
  { x: kind.tensor, ord: kind.asIs, axis: kind.axes },
  { keepdims: kind.asIs },
  (x, ord: NormOrder = null, axis: Axis = null, { keepdims = false }) => {
    const t = floating(x);
    const axes = typeof axis === 'number' ? [axis] : normalizeAxes(axis, t.rank);
    const euclidean = (): Tensor => t.square().sum(axes, { keepdims }).sqrt();
    if (axes.length === 1) return vectorNorm(t, ord, axes, keepdims, euclidean);
    if (axes.length !== 2) {
      if (ord === null) return euclidean();
      return refuse(`axis has ${axes.length} axes, expected 1 or 2`, 'norm');
    }
    if (ord === null || ord === 'fro') return euclidean();
    const [rows, cols] = axes;
    const size = t.abs();
    const kept = { keepdims: true };
    const fit = (y: Tensor): Tensor => (keepdims ? y : y.squeeze(axes));
    if (ord === 1) return fit(size.sum(rows, kept).max(cols, kept));
    if (ord === -1) return fit(size.sum(rows, kept).min(cols, kept));
    if (ord === Infinity) return fit(size.sum(cols, kept).max(rows, kept));
    if (ord === -Infinity) return fit(size.sum(cols, kept).min(rows, kept));
    if (ord !== 2 && ord !== -2 && ord !== 'nuc')
      return refuse(`there is no norm of matrices of order ${ord}`, 'norm');
    const positive = axes.map((a) => (a < 0 ? a + t.rank : a));
    const rest = dims(t).flatMap((_, i) => (positive.includes(i) ? [] : [i]));
    const s = linalg.svd(t.transpose([...rest, ...positive]), { computeUV: false });
    const value = ord === 2 ? s.max(-1) : ord === -2 ? s.min(-1) : s.sum(-1);
    return keepdims ? value.expandDims([...positive].sort((a, b) => a - b)) : value;
  },
);

function vectorNorm(
  t: Tensor,
  ord: NormOrder,
  axes: readonly number[],
  keepdims: boolean,
  euclidean: () => Tensor,
): Tensor {
  if (ord === null || ord === 2) return euclidean();
  if (typeof ord === 'string') return refuse(`there is no norm of vectors '${ord}'`, 'norm');
  const size = t.abs();
  if (ord === Infinity) return size.max(axes, { keepdims });
  if (ord === -Infinity) return size.min(axes, { keepdims });
  if (ord === 0) return t.notEqual(0).cast(t.dtype).sum(axes, { keepdims });
  return size
    .pow(ord)
    .sum(axes, { keepdims })
    .pow(1 / ord);
}

// biome-ignore lint/suspicious/noExplicitAny: structures of tensors, which types do not know.
type Any = any;

/**
 * What a function gives for `primals`, and how that changes in the direction of `tangents`: [value, change], and what else the function gives
 * behind its value where `hasAux` says so.
 */
export const jvp: NamedFunction<
  [fun: (...primals: Any[]) => Any, primals: readonly TensorLike[], tangents: readonly TensorLike[]],
  ['fun', 'primals', 'tangents'],
  { readonly hasAux?: boolean },
  Any[]
> = defineFunction(
  named('jvp'),
  { fun: kind.asIs, primals: listKind, tangents: listKind },
  { hasAux: kind.asIs },
  (fun, primals, tangents, { hasAux = false }) => {
    checkFunction(fun, 'fun', named('jvp'));
    const inputs = primals.map((p) => floating(p).identity());
    const directions = tangents.map((t, i) => toTensor(t).cast(inputs[i].dtype));
    // The gradient of v · f is linear in v: its gradient for v, in the direction of the tangents, is the change of f.
    const outer = new GradientTape();
    const inner = new GradientTape();
    for (const x of inputs) inner.watch(x);
    const given: unknown = fun(...inputs);
    const [value, aux] = hasAux ? (given as [unknown, unknown]) : [given, undefined];
    const outputs = tree.leavesOf(value, named('jvp')) as Tensor[];
    const weights = outputs.map((y) => onesLike(y));
    for (const w of weights) outer.watch(w);
    const total = outputs.map((y, i) => y.mul(weights[i]).sum()).reduce((a, b) => a.add(b));
    const gradients = inner.denseGradient(total, inputs) as (Tensor | null)[];
    const along = gradients
      .flatMap((g, i) => (g === null ? [] : [g.mul(directions[i]).sum()]))
      .reduce<Tensor | null>((a, b) => (a === null ? b : a.add(b)), null);
    const changes =
      along === null ? weights.map(() => null) : (outer.denseGradient(along, weights) as (Tensor | null)[]);
    let i = 0;
    const change = tree.mapLeaves(value, named('jvp'), () => {
      const at = i++;
      return changes[at] ?? outputs[at].mul(0);
    });
    return hasAux ? [value, change, aux] : [value, change];
  },
);

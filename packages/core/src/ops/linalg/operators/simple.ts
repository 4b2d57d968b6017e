// Operators that are diagonals, identities, zeros, reflections or permutations.
import { type DType, InvalidArgumentError, isComplex } from '@eagre/backend';
import type { IntegerLike } from '../../../arguments/argument-kinds.ts';
import type { Dims } from '../../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../../shapes/dims.ts';
import { broadcastShapes, showShape } from '../../../shapes/shape.ts';
import { constant } from '../../../tensor/constant.ts';
import { type TensorLike, toTensor } from '../../../tensor/convert.ts';
import { hasGradient } from '../../../tensor/dtypes.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { eye, ones, onesLike, zeros } from '../../array/creation.ts';
import { oneHot } from '../../array/gather.ts';
import { iota } from '../../array/iota.ts';
import { concat } from '../../array/join.ts';
import { broadcastTo } from '../../array/shaping.ts';
import { adjointTimes, conjugated } from '../adjoint.ts';
import { inOrder, inverseOrder } from '../factors.ts';
import { diag, matmul } from '../linalg.ts';
import { determinantOf } from '../solutions.ts';
import { hintsOf, LinearOperator, type LinearOperatorHints, ratioOf } from './linear-operator.ts';

/** The product of numbers along the last axis, of complex ones too. */
const productOfDiagonal = (x: Tensor): Tensor => (isComplex(x.dtype) ? determinantOf(diag(x)) : x.prod(-1));
/** Vectors of numbers. @throws InvalidArgumentError for what is none */
function vectorsOf(x: TensorLike, what: string, op: string): Tensor {
  const t = toTensor(x);
  if (t.rank === 0 || !hasGradient(t.dtype))
    throw new InvalidArgumentError(
      `${what} is ${t.dtype} ${showShape(t.shape)}, expected vectors of floats or complex numbers`,
      op,
    );
  return t;
}

/** An operator of diagonal matrices, of their diagonals [..., n]. */
export class LinearOperatorDiag extends LinearOperator {
  readonly diag: Tensor;

  constructor(diagonal: TensorLike, options?: LinearOperatorHints) {
    const hints = hintsOf(options, 'LinearOperatorDiag');
    const d = vectorsOf(diagonal, 'diag', 'LinearOperatorDiag');
    super(d.dtype, hints, isComplex(d.dtype) ? { isSquare: true } : { isSquare: true, isSelfAdjoint: true });
    this.diag = d;
  }
  get dims(): Dims {
    const all = dims(this.diag);
    return [...all, all[all.length - 1]];
  }
  toDense(): Tensor {
    return diag(this.diag);
  }
  #of(adjoint: boolean): Tensor {
    return (adjoint ? conjugated(this.diag) : this.diag).expandDims(-1);
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    return this.#of(adjoint).mul(x);
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    return x.div(this.#of(adjoint));
  }
  protected override _diagPart(): Tensor {
    return this.diag;
  }
  protected override _determinant(): Tensor {
    return productOfDiagonal(this.diag);
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.diag.abs().log().sum(-1);
  }
  protected override _eigvals(): Tensor {
    return this.diag;
  }
  protected override _cond(): Tensor {
    return ratioOf(this.diag.abs());
  }
  protected override _inverse(): LinearOperator {
    return new LinearOperatorDiag(this.diag.reciprocal(), { isNonSingular: true });
  }
  protected override _adjoint(): LinearOperator {
    return new LinearOperatorDiag(conjugated(this.diag));
  }
  protected override _cholesky(): LinearOperator {
    return new LinearOperatorDiag(this.diag.sqrt());
  }
}

/** @throws InvalidArgumentError for what is no size */
function checkedSize(n: unknown, what: string, op: string): number {
  const size = typeof n === 'bigint' ? Number(n) : n;
  if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0) return size;
  throw new InvalidArgumentError(`${what} is ${String(n)}, expected an integer of at least 0`, op);
}
function shapeIn(shape: unknown, op: string): readonly number[] {
  if (shape === undefined || shape === null) return [];
  if (Array.isArray(shape)) return shape.map((n) => checkedSize(n, 'batchShape', op));
  throw new InvalidArgumentError(`batchShape is ${String(shape)}, expected a list of sizes`, op);
}
/** Options of operators that are made of nothing but a size. */
export interface SizedOptions extends LinearOperatorHints {
  /** How many such operators there are, along each axis of a batch: [] by default, which is one. */
  readonly batchShape?: readonly number[];
  /** Of the matrices; float32 by default. */
  readonly dtype?: DType;
}

/** The identity operator of vectors of a length. */
export class LinearOperatorIdentity extends LinearOperator {
  readonly #batch: Dims;
  readonly #rows: number;

  constructor(numRows: IntegerLike, options?: SizedOptions) {
    const what = 'LinearOperatorIdentity';
    const { batchShape, dtype, ...hints } = hintsOf(options, what, { batchShape: true, dtype: true });
    const rows = checkedSize(numRows, 'numRows', what);
    super(dtype ?? 'float32', hints, {
      isNonSingular: true,
      isSelfAdjoint: true,
      isPositiveDefinite: true,
      isSquare: true,
    });
    this.#rows = rows;
    this.#batch = dimsOf(shapeIn(batchShape, what));
  }
  get dims(): Dims {
    return [...this.#batch, this.#rows, this.#rows];
  }
  toDense(): Tensor {
    return broadcastTo(eye(this.#rows, { dtype: this.dtype as 'float32' }), this.shape);
  }
  protected override _matmul(x: Tensor): Tensor {
    const lead = broadcastShapes(
      this.#batch as never,
      dims(x).slice(0, -2) as never,
      'LinearOperatorIdentity',
    );
    return broadcastTo(x, toShape([...(lead as unknown as Dims), ...dims(x).slice(-2)]));
  }
  protected override _solve(x: Tensor): Tensor {
    return this._matmul(x);
  }
  protected override _diagPart(): Tensor {
    return ones(toShape([...this.#batch, this.#rows]), this.dtype);
  }
  protected override _determinant(): Tensor {
    return ones(toShape(this.#batch), this.dtype);
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.realOf(zeros(toShape(this.#batch), this.dtype));
  }
  protected override _eigvals(): Tensor {
    return this.diagPart();
  }
  protected override _cond(): Tensor {
    return ones(this.batchShape, this.dtype);
  }
  protected override _inverse(): LinearOperator {
    return this;
  }
  protected override _cholesky(): LinearOperator {
    return this;
  }
}

/** The identity operator of vectors of a length times numbers [...]. */
export class LinearOperatorScaledIdentity extends LinearOperator {
  readonly multiplier: Tensor;
  readonly #rows: number;

  constructor(numRows: IntegerLike, multiplier: TensorLike, options?: LinearOperatorHints) {
    const what = 'LinearOperatorScaledIdentity';
    const hints = hintsOf(options, what);
    const rows = checkedSize(numRows, 'numRows', what);
    const m = toTensor(multiplier);
    if (!hasGradient(m.dtype))
      throw new InvalidArgumentError(`multiplier is ${m.dtype}, expected floats or complex numbers`, what);
    super(m.dtype, hints, isComplex(m.dtype) ? { isSquare: true } : { isSquare: true, isSelfAdjoint: true });
    this.#rows = rows;
    this.multiplier = m;
  }
  get dims(): Dims {
    return [...dims(this.multiplier), this.#rows, this.#rows];
  }
  #of(adjoint: boolean): Tensor {
    return (adjoint ? conjugated(this.multiplier) : this.multiplier).expandDims(-1).expandDims(-1);
  }
  toDense(): Tensor {
    return this.#of(false).mul(eye(this.#rows, { dtype: this.dtype as 'float32' }));
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    return this.#of(adjoint).mul(x);
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    return x.div(this.#of(adjoint));
  }
  protected override _diagPart(): Tensor {
    return this.multiplier.expandDims(-1).mul(ones([this.#rows], this.dtype));
  }
  protected override _determinant(): Tensor {
    return productOfDiagonal(this.diagPart());
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.multiplier.abs().log().mul(this.#rows);
  }
  protected override _eigvals(): Tensor {
    return this.diagPart();
  }
  protected override _cond(): Tensor {
    // Of nothing but zeros there is none.
    return this.multiplier.equal(0).where(constant(Number.NaN, this.dtype), constant(1, this.dtype));
  }
  protected override _inverse(): LinearOperator {
    return new LinearOperatorScaledIdentity(this.#rows, this.multiplier.reciprocal(), {
      isNonSingular: true,
    });
  }
  protected override _adjoint(): LinearOperator {
    return new LinearOperatorScaledIdentity(this.#rows, conjugated(this.multiplier));
  }
  protected override _cholesky(): LinearOperator {
    return new LinearOperatorScaledIdentity(this.#rows, this.multiplier.sqrt());
  }
}

/** The operator that makes zeros of everything. */
export class LinearOperatorZeros extends LinearOperator {
  readonly #dims: Dims;

  constructor(
    numRows: IntegerLike,
    options?: SizedOptions & {
      /** How many columns matrices have; as many as rows by default. */
      readonly numColumns?: IntegerLike;
    },
  ) {
    const what = 'LinearOperatorZeros';
    const { batchShape, dtype, numColumns, ...hints } = hintsOf(options, what, {
      batchShape: true,
      dtype: true,
      numColumns: true,
    });
    const rows = checkedSize(numRows, 'numRows', what);
    const columns = numColumns === undefined ? rows : checkedSize(numColumns, 'numColumns', what);
    super(dtype ?? 'float32', hints, {
      isNonSingular: false,
      isPositiveDefinite: false,
      isSelfAdjoint: rows === columns,
      isSquare: rows === columns,
    });
    this.#dims = [...dimsOf(shapeIn(batchShape, what)), rows, columns];
  }
  get dims(): Dims {
    return this.#dims;
  }
  toDense(): Tensor {
    return zeros(this.shape, this.dtype);
  }
  protected override _determinant(): Tensor {
    return zeros(this.batchShape, this.dtype);
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.realOf(zeros(this.batchShape, this.dtype)).log();
  }
  protected override _eigvals(): Tensor {
    return this.diagPart();
  }
}

/** Householder's reflections I − 2 v vᴴ / |v|², of axes v [..., n]. */
export class LinearOperatorHouseholder extends LinearOperator {
  readonly reflectionAxis: Tensor;

  constructor(reflectionAxis: TensorLike, options?: LinearOperatorHints) {
    const hints = hintsOf(options, 'LinearOperatorHouseholder');
    const v = vectorsOf(reflectionAxis, 'reflectionAxis', 'LinearOperatorHouseholder');
    super(v.dtype, hints, {
      isNonSingular: true,
      isSelfAdjoint: true,
      isPositiveDefinite: false,
      isSquare: true,
    });
    this.reflectionAxis = v;
  }
  get dims(): Dims {
    const all = dims(this.reflectionAxis);
    return [...all, all[all.length - 1]];
  }
  /** The axis as a column of length 1. */
  get #unit(): Tensor {
    const v = this.reflectionAxis.expandDims(-1);
    const length = v.abs().square().sum(-2, { keepdims: true }).sqrt();
    return v.div(length.cast(v.dtype));
  }
  toDense(): Tensor {
    const v = this.reflectionAxis;
    return this._matmul(diag(onesLike(v)));
  }
  protected override _matmul(x: Tensor): Tensor {
    const v = this.#unit;
    return x.sub(matmul(v, adjointTimes(v, x)).mul(2));
  }
  protected override _solve(x: Tensor): Tensor {
    return this._matmul(x);
  }
  protected override _determinant(): Tensor {
    return ones(this.batchShape, this.dtype).neg();
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.realOf(zeros(this.batchShape, this.dtype));
  }
  protected override _diagPart(): Tensor {
    return this.#unit.squeeze(-1).abs().square().mul(-2).add(1).cast(this.dtype);
  }
  protected override _eigvals(): Tensor {
    const first = ones(toShape([...dims(this.reflectionAxis).slice(0, -1), 1]), this.dtype);
    return concat([first.neg(), onesLike(this.reflectionAxis).at('...', '1:') as Tensor], -1);
  }
  protected override _cond(): Tensor {
    return ones(this.batchShape, this.dtype);
  }
  protected override _inverse(): LinearOperator {
    return this;
  }
}

/** An operator that changes the order of rows: row i becomes row perm[i] of what it is applied to; perm is int32 or int64 [..., n]. */
export class LinearOperatorPermutation extends LinearOperator {
  readonly perm: Tensor;

  constructor(
    perm: TensorLike,
    options?: LinearOperatorHints & {
      /** Of the matrices; float32 by default. */
      readonly dtype?: DType;
    },
  ) {
    const what = 'LinearOperatorPermutation';
    const { dtype, ...hints } = hintsOf(options, what, { dtype: true });
    const p = toTensor(perm, 'int32');
    if (p.rank === 0 || (p.dtype !== 'int32' && p.dtype !== 'int64'))
      throw new InvalidArgumentError(
        `perm is ${p.dtype} ${showShape(p.shape)}, expected int32 or int64 vectors`,
        what,
      );
    super(dtype ?? 'float32', hints, { isNonSingular: true, isSquare: true });
    this.perm = p;
  }
  get dims(): Dims {
    const all = dims(this.perm);
    return [...all, all[all.length - 1]];
  }
  toDense(): Tensor {
    return oneHot(this.perm, this.domainDimension as number, { dtype: this.dtype as 'float32' });
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    const order = adjoint ? inverseOrder(this.perm) : this.perm;
    const lead = broadcastShapes(
      dims(order).slice(0, -1) as never,
      dims(x).slice(0, -2) as never,
      'LinearOperatorPermutation',
    ) as unknown as Dims;
    return inOrder(
      broadcastTo(x, toShape([...lead, ...dims(x).slice(-2)])),
      broadcastTo(order, toShape([...lead, dims(order)[order.rank - 1]])),
    );
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    return this._matmul(x, !adjoint);
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.realOf(zeros(this.batchShape, this.dtype));
  }
  protected override _diagPart(): Tensor {
    return this.perm.equal(iota(this.domainDimension).cast(this.perm.dtype)).cast(this.dtype);
  }
  protected override _cond(): Tensor {
    return ones(this.batchShape, this.dtype);
  }
  protected override _inverse(): LinearOperator {
    return this.adjoint();
  }
  protected override _adjoint(): LinearOperator {
    return new LinearOperatorPermutation(inverseOrder(this.perm), { dtype: this.dtype });
  }
}

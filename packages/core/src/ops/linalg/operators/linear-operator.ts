// What all linear operators share, and those that others are made of: products, inverses, adjoints, full matrices, lower triangles.
import { type DType, InvalidArgumentError, isComplex } from '@eagre/backend';
import { shown } from '../../../arguments/checks.ts';
import { checkOptionNames, type OptionNames } from '../../../arguments/option-names.ts';
import { Module } from '../../../module/module.ts';
import type { Dim, Dims } from '../../../shapes/dim.ts';
import { dims, toShape } from '../../../shapes/dims.ts';
import { broadcastShapes, checkFlag, type Shape, showShape } from '../../../shapes/shape.ts';
import { differs } from '../../../shapes/sizes.ts';
import { constant } from '../../../tensor/constant.ts';
import { type TensorLike, toTensor } from '../../../tensor/convert.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { eye } from '../../array/creation.ts';
import { broadcastTo, shapeOf } from '../../array/shaping.ts';
import { real } from '../../elementwise/complex.ts';
import { adjointOf, adjointTimes, conjugated, matricesOf } from '../adjoint.ts';
import { eigvals } from '../eig.ts';
import { choleskyOf, choleskySolve, eigvalsh, substituted } from '../factors.ts';
import { diagPart, matmul, tril } from '../linalg.ts';
import { determinantOf, slogdetOf, solved } from '../solutions.ts';
import { singularValues } from '../svd.ts';

/** What is known of a linear operator; nothing is checked unless `assert…` is called. */
export interface LinearOperatorHints {
  /** Whether it has an inverse; not known unless given. */
  readonly isNonSingular?: boolean;
  /** Whether it equals its conjugated transpose; not known unless given. */
  readonly isSelfAdjoint?: boolean;
  /** Whether xᴴ·A·x has a positive real part for all x but 0; not known unless given. */
  readonly isPositiveDefinite?: boolean;
  /** Whether its matrices have as many rows as columns; unless given, the shape tells. */
  readonly isSquare?: boolean;
  /** snake_case of the class unless given. */
  readonly name?: string;
}
/** How an operator is applied. */
export interface ApplyOptions {
  /** Whether the adjoint of the operator is meant; false by default. */
  readonly adjoint?: boolean;
  /** Whether the adjoint of the argument is meant; false by default. */
  readonly adjointArg?: boolean;
}

const HINTS: OptionNames<LinearOperatorHints> = {
  isNonSingular: true,
  isSelfAdjoint: true,
  isPositiveDefinite: true,
  isSquare: true,
  name: true,
};

/** The options of an operator: hints, and others of its own. @throws InvalidArgumentError for names that nobody reads */
export function hintsOf<O extends LinearOperatorHints>(
  options: O | undefined,
  what: string,
  more: Readonly<Record<string, true>> = {},
): O {
  if (options === undefined || options === null) return {} as O;
  checkOptionNames(options, { ...HINTS, ...more } as OptionNames<O>, what);
  return options;
}

/** A linear map of vectors, or a batch of them: `matmul`, `solve`, determinants and more, without the matrix where it has a form. */
export abstract class LinearOperator extends Module {
  /** Of the matrices. */
  readonly dtype: DType;
  /** Whether it has an inverse. */
  readonly isNonSingular: boolean | null;
  /** Whether it equals its conjugated transpose. */
  readonly isSelfAdjoint: boolean | null;
  /** Whether xᴴ·A·x has a positive real part for all x but 0. */
  readonly isPositiveDefinite: boolean | null;
  /** Whether its matrices have as many rows as columns. */
  readonly isSquare: boolean | null;

  /** @throws InvalidArgumentError without a dtype: operators give it, programs make one of these */
  constructor(dtype: DType, hints: LinearOperatorHints, own: LinearOperatorHints = {}) {
    if (typeof dtype !== 'string' || typeof hints !== 'object' || hints === null)
      throw new InvalidArgumentError(
        'it is a base of operators, which give it their dtype and hints; make one of them, such as a LinearOperatorFullMatrix',
        new.target.name,
      );
    super(hints.name === undefined ? {} : { name: hints.name });
    this.dtype = dtype;
    const what = new.target.name;
    const of = (key: Exclude<keyof LinearOperatorHints, 'name'>): boolean | null => {
      const given = hints[key] ?? null;
      if (given !== null) checkFlag(given, key, what);
      const known = own[key] ?? null;
      if (given !== null && known !== null && given !== known)
        throw new InvalidArgumentError(`${key} is ${given}, but this operator always has it ${known}`, what);
      return given ?? known;
    };
    this.isPositiveDefinite = of('isPositiveDefinite');
    this.isSelfAdjoint = of('isSelfAdjoint');
    let nonSingular = of('isNonSingular');
    let square = of('isSquare');
    if (this.isPositiveDefinite === true) {
      if (nonSingular === false)
        throw new InvalidArgumentError('a positive definite operator is not singular', what);
      nonSingular = true;
    }
    if (nonSingular === true || this.isSelfAdjoint === true) {
      if (square === false)
        throw new InvalidArgumentError('only square operators are non-singular or self-adjoint', what);
      square = true;
    }
    this.isNonSingular = nonSingular;
    this.isSquare = square;
  }

  /** @internal [...batch, rows, columns], some of which may not be known. */
  abstract get dims(): Dims;
  /** The matrices. */
  abstract toDense(): Tensor;

  /** The shape of the matrices: [...batch, rows, columns]. */
  get shape(): Shape {
    return toShape(this.dims);
  }
  /** How many matrices there are, along each axis of the batch. */
  get batchShape(): Shape {
    return toShape(this.dims.slice(0, -2));
  }
  /** How many columns there are. */
  get domainDimension(): Dim {
    return this.dims[this.dims.length - 1];
  }
  /** How many rows there are. */
  get rangeDimension(): Dim {
    return this.dims[this.dims.length - 2];
  }
  /** How many axes the matrices have as a tensor. */
  get tensorRank(): number {
    return this.dims.length;
  }
  /** The adjoint of the operator. */
  get H(): LinearOperator {
    return this.adjoint();
  }
  /** The shape as an int32 tensor. */
  shapeTensor(): Tensor {
    return shapeOf(this.toDense());
  }
  /** `batchShape` as a tensor. */
  batchShapeTensor(): Tensor {
    return this.shapeTensor().at(':-2');
  }
  /** `domainDimension` as a tensor. */
  domainDimensionTensor(): Tensor {
    return this.shapeTensor().at(-1);
  }
  /** `rangeDimension` as a tensor. */
  rangeDimensionTensor(): Tensor {
    return this.shapeTensor().at(-2);
  }
  /** `tensorRank` as a tensor. */
  tensorRankTensor(): Tensor {
    return constant(this.tensorRank, 'int32');
  }

  // ---- what classes may know a better way for

  protected _matmul(x: Tensor, adjoint: boolean): Tensor {
    const a = this.toDense();
    return adjoint ? adjointTimes(a, x) : matmul(a, x);
  }
  protected _solve(x: Tensor, adjoint: boolean): Tensor {
    const a = this.toDense();
    if (this.isPositiveDefinite === true && this.isSelfAdjoint === true)
      return choleskySolve(choleskyOf(a), x);
    return solved(a, x, { adjoint, check: true });
  }
  protected _determinant(): Tensor {
    return determinantOf(this.toDense());
  }
  protected _logAbsDeterminant(): Tensor {
    return this.realOf(slogdetOf(this.toDense())[1]);
  }
  protected _diagPart(): Tensor {
    return diagPart(this.toDense());
  }
  protected _trace(): Tensor {
    return this.diagPart().sum(-1);
  }
  protected _inverse(): LinearOperator {
    return new LinearOperatorInversion(this);
  }
  protected _adjoint(): LinearOperator {
    return new LinearOperatorAdjoint(this);
  }
  protected _cholesky(): LinearOperator {
    return new LinearOperatorLowerTriangular(choleskyOf(this.toDense()), { isNonSingular: true });
  }
  protected _eigvals(): Tensor {
    return this.isSelfAdjoint === true ? eigvalsh(this.toDense()) : eigvals(this.toDense());
  }
  protected _cond(): Tensor {
    // The singular values of a self-adjoint matrix are the sizes of its eigenvalues.
    return ratioOf(this.isSelfAdjoint === true ? this._eigvals().abs() : singularValues(this.toDense()));
  }
  protected realOf(x: Tensor): Tensor {
    return isComplex(x.dtype) ? real(x) : x;
  }

  // ---- the public methods

  /**
   * The products of the matrices and others [..., n, k].
   * @param x matrices, or an operator: then the product is an operator
   */
  matmul(x: LinearOperator, options?: ApplyOptions): LinearOperator;
  matmul(x: TensorLike, options?: ApplyOptions): Tensor;
  matmul(x: TensorLike | LinearOperator, options: ApplyOptions = {}): Tensor | LinearOperator {
    const { adjoint, adjointArg } = this.#flags(options, 'matmul');
    if (x instanceof LinearOperator) {
      const [a, b] = [adjoint ? this.adjoint() : this, adjointArg ? x.adjoint() : x];
      if (differs(a.domainDimension, b.rangeDimension))
        throw new InvalidArgumentError(
          `operators of shapes ${showShape(a.shape)} and ${showShape(b.shape)} do not fit`,
          `${this.#what}.matmul`,
        );
      return new LinearOperatorComposition([a, b]);
    }
    return this._matmul(this.#argument(x, adjointArg, adjoint, 'matmul'), adjoint);
  }
  /** The products of the matrices and vectors [..., n]. */
  matvec(
    x: TensorLike,
    options: {
      /** Whether the adjoint of the operator is meant; false by default. */
      readonly adjoint?: boolean;
    } = {},
  ): Tensor {
    return this.matmul(this.#vectors(x, 'matvec'), options).squeeze(-1);
  }
  /**
   * The solutions of systems of equations, of right sides [..., n, k].
   * @throws InvalidArgumentError for operators that are not square, or known to be singular
   */
  solve(rhs: LinearOperator, options?: ApplyOptions): LinearOperator;
  solve(rhs: TensorLike, options?: ApplyOptions): Tensor;
  solve(rhs: TensorLike | LinearOperator, options: ApplyOptions = {}): Tensor | LinearOperator {
    this.#checkSolvable('solve');
    const { adjoint, adjointArg } = this.#flags(options, 'solve');
    if (rhs instanceof LinearOperator) {
      const inverse = this.inverse();
      return new LinearOperatorComposition([
        adjoint ? inverse.adjoint() : inverse,
        adjointArg ? rhs.adjoint() : rhs,
      ]);
    }
    return this._solve(this.#argument(rhs, adjointArg, !adjoint, 'solve'), adjoint);
  }
  /** The solutions of systems of equations, of right sides [..., n]. */
  solvevec(
    rhs: TensorLike,
    options: {
      /** Whether the adjoint of the operator is meant; false by default. */
      readonly adjoint?: boolean;
    } = {},
  ): Tensor {
    return this.solve(this.#vectors(rhs, 'solvevec'), options).squeeze(-1);
  }
  /** The operator whose matrices are the adjoints of these. */
  adjoint(): LinearOperator {
    return this.isSelfAdjoint === true ? this : this._adjoint();
  }
  /** The inverse operator. @throws InvalidArgumentError for operators that are not square, or known to be singular */
  inverse(): LinearOperator {
    this.#checkSolvable('inverse');
    return this._inverse();
  }
  /** The factors of Cholesky, an operator. @throws InvalidArgumentError unless the hints say that it is self-adjoint and positive definite */
  cholesky(): LinearOperator {
    if (this.isPositiveDefinite !== true || this.isSelfAdjoint !== true)
      throw new InvalidArgumentError(
        'give the hints isSelfAdjoint and isPositiveDefinite: other operators have no factors of Cholesky',
        `${this.#what}.cholesky`,
      );
    return this._cholesky();
  }
  /** The determinant of each matrix. */
  determinant(): Tensor {
    this.#checkSquare('determinant');
    return this._determinant();
  }
  /** The logarithm of the size of the determinant, in the dtype of the operator, as in TensorFlow. */
  logAbsDeterminant(): Tensor {
    this.#checkSquare('logAbsDeterminant');
    return this._logAbsDeterminant().cast(this.dtype);
  }
  /** The diagonals of the matrices. */
  diagPart(): Tensor {
    return this._diagPart();
  }
  /** The sum of the diagonal of each matrix. */
  trace(): Tensor {
    return this._trace();
  }
  /** x plus the matrices. */
  addToTensor(x: TensorLike): Tensor {
    return toTensor(x, this.dtype).add(this.toDense());
  }
  /** The eigenvalues: in the order of the parts of an operator that is made of such, else those of a self-adjoint one in rising order. */
  eigvals(): Tensor {
    this.#checkSquare('eigvals');
    return this._eigvals();
  }
  /** The largest singular value divided by the smallest. */
  cond(): Tensor {
    this.#checkSquare('cond');
    return this._cond();
  }
  /** Throws where an operator is singular, or nearly. @throws InvalidArgumentError */
  assertNonSingular(): void {
    const worst = this.realOf(this.cond()).max().item() as number;
    const most = this.dtype === 'float64' || this.dtype === 'complex128' ? 2 ** 52 : 2 ** 23;
    if (!(worst < most))
      throw new InvalidArgumentError(
        `the operator is singular: its condition number is ${worst}`,
        this.#what,
      );
  }
  /** Throws where an operator is not self-adjoint. @throws InvalidArgumentError */
  assertSelfAdjoint(): void {
    const a = this.toDense();
    if (!(a.sub(adjointOf(a)).abs().max().item() === 0))
      throw new InvalidArgumentError('the operator is not self-adjoint', this.#what);
  }
  /** Throws where an operator is not positive definite, by its factors of Cholesky. @throws InvalidArgumentError */
  assertPositiveDefinite(): void {
    const pivots = this.realOf(diagPart(choleskyOf(this.toDense())));
    if (pivots.isNan().any().cast('int32').item() !== 0)
      throw new InvalidArgumentError('the operator is not positive definite', this.#what);
  }

  get #what(): string {
    return this.constructor.name;
  }
  #flags(
    { adjoint, adjointArg, ...rest }: ApplyOptions,
    method: string,
  ): { adjoint: boolean; adjointArg: boolean } {
    const what = `${this.#what}.${method}`;
    checkOptionNames(rest, {}, what);
    return {
      adjoint: checkFlag(adjoint, 'adjoint', what),
      adjointArg: checkFlag(adjointArg, 'adjointArg', what),
    };
  }
  #vectors(x: TensorLike, method: string): Tensor {
    const t = toTensor(x, this.dtype);
    if (t.rank === 0)
      throw new InvalidArgumentError('the argument is a scalar, expected vectors', `${this.#what}.${method}`);
    return t.expandDims(-1);
  }
  /** Matrices with as many rows as the operator has columns, or rows if `byRows`. */
  #argument(x: TensorLike, adjoint: boolean, byRows: boolean, method: string): Tensor {
    const what = `${this.#what}.${method}`;
    const t = matricesOf(toTensor(x, this.dtype), what, { what: 'the argument' });
    if (t.dtype !== this.dtype)
      throw new InvalidArgumentError(
        `the argument is ${t.dtype}, expected ${this.dtype}; convert it with cast`,
        what,
      );
    const y = adjoint ? adjointOf(t) : t;
    const wanted = byRows ? this.rangeDimension : this.domainDimension;
    if (differs(dims(y)[y.rank - 2], wanted))
      throw new InvalidArgumentError(
        `the argument has shape ${showShape(y.shape)}, expected ${String(wanted)} rows for an operator of shape ${showShape(this.shape)}`,
        what,
      );
    return y;
  }
  #checkSquare(method: string): void {
    if (this.isSquare === false || differs(this.rangeDimension, this.domainDimension))
      throw new InvalidArgumentError(
        `the operator has shape ${showShape(this.shape)}, expected a square one`,
        `${this.#what}.${method}`,
      );
  }
  #checkSolvable(method: string): void {
    if (this.isNonSingular === false)
      throw new InvalidArgumentError('the operator is known to be singular', `${this.#what}.${method}`);
    this.#checkSquare(method);
  }
}

/** Operators in a list. @throws InvalidArgumentError for another value */
export function operatorsOf(list: unknown, what: string): readonly LinearOperator[] {
  if (!Array.isArray(list) || list.length === 0 || !list.every((o) => o instanceof LinearOperator))
    throw new InvalidArgumentError(`operators must be a list of linear operators, got ${shown(list)}`, what);
  const operators = list as readonly LinearOperator[];
  const [{ dtype }] = operators;
  if (operators.some((o) => o.dtype !== dtype))
    throw new InvalidArgumentError(
      `the operators have several dtypes: ${operators.map((o) => o.dtype).join(', ')}`,
      what,
    );
  return operators;
}
/** Whether all operators have a hint; null where that is not known. */
export const allHave = (
  operators: readonly LinearOperator[],
  hint: 'isNonSingular' | 'isSelfAdjoint' | 'isPositiveDefinite' | 'isSquare',
): boolean | undefined => (operators.every((o) => o[hint] === true) ? true : undefined);
/** The batch shape of several operators. */
export const batchOf = (operators: readonly LinearOperator[], what: string): Dims =>
  operators
    .map((o) => o.dims.slice(0, -2))
    .reduce<Dims>((a, b) => broadcastShapes(a as never, b as never, what) as unknown as Dims, []);
const known = (hints: Record<string, boolean | undefined>): LinearOperatorHints =>
  Object.fromEntries(Object.entries(hints).filter(([, value]) => value !== undefined));

export { known };

/** The largest of sizes [..., n] by the smallest. */
export const ratioOf = (sizes: Tensor): Tensor => sizes.max(-1).div(sizes.min(-1));

/** An operator of full matrices [..., m, n]. */
export class LinearOperatorFullMatrix extends LinearOperator {
  /** The matrices [..., m, n]. */
  readonly matrix: Tensor;

  constructor(matrix: TensorLike, options?: LinearOperatorHints) {
    const hints = hintsOf(options, 'LinearOperatorFullMatrix');
    const m = matricesOf(matrix, 'LinearOperatorFullMatrix', { what: 'matrix' });
    super(m.dtype, hints, squareOf(...(dims(m).slice(-2) as [Dim, Dim])));
    this.matrix = m;
  }
  get dims(): Dims {
    return dims(this.matrix);
  }
  toDense(): Tensor {
    return this.matrix;
  }
}
/** Whether matrices are square, as far as that is known. */
function squareOf(rows: Dim, columns: Dim): { readonly isSquare?: boolean } {
  return typeof rows === 'number' && typeof columns === 'number' ? { isSquare: rows === columns } : {};
}

/** An operator of lower triangular matrices [..., n, n]; what is above the diagonal does not count. */
export class LinearOperatorLowerTriangular extends LinearOperator {
  /** The matrices [..., n, n], of which what is above the diagonal is not read. */
  readonly tril: Tensor;

  constructor(tril: TensorLike, options?: LinearOperatorHints) {
    const hints = hintsOf(options, 'LinearOperatorLowerTriangular');
    const m = matricesOf(tril, 'LinearOperatorLowerTriangular', { square: true, what: 'tril' });
    super(m.dtype, hints, { isSquare: true });
    this.tril = m;
  }
  get dims(): Dims {
    return dims(this.tril);
  }
  toDense(): Tensor {
    return tril(this.tril);
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    return substituted(this.tril, x, { lower: true, adjoint });
  }
  protected override _diagPart(): Tensor {
    return diagPart(this.tril);
  }
  protected override _determinant(): Tensor {
    return isComplex(this.dtype) ? determinantOf(this.toDense()) : this.diagPart().prod(-1);
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.diagPart().abs().log().sum(-1);
  }
  protected override _eigvals(): Tensor {
    return this.diagPart();
  }
}

/** The product of operators, the last of which is applied first. */
export class LinearOperatorComposition extends LinearOperator {
  /** The factors; the last one is applied first. */
  readonly operators: readonly LinearOperator[];

  constructor(operators: readonly LinearOperator[], options?: LinearOperatorHints) {
    const what = 'LinearOperatorComposition';
    const hints = hintsOf(options, what);
    const list = operatorsOf(operators, what);
    for (let i = 1; i < list.length; i++) {
      if (differs(list[i - 1].domainDimension, list[i].rangeDimension))
        throw new InvalidArgumentError(
          `operators of shapes ${showShape(list[i - 1].shape)} and ${showShape(list[i].shape)} do not fit`,
          what,
        );
    }
    super(
      list[0].dtype,
      hints,
      known({
        isNonSingular: hints.isNonSingular ?? allHave(list, 'isNonSingular'),
        ...squareOf(list[0].rangeDimension, list[list.length - 1].domainDimension),
      }),
    );
    this.operators = list;
  }
  get dims(): Dims {
    const { operators } = this;
    return [
      ...batchOf(operators, 'LinearOperatorComposition'),
      operators[0].rangeDimension,
      operators[operators.length - 1].domainDimension,
    ];
  }
  toDense(): Tensor {
    return this.operators
      .slice(0, -1)
      .reduceRight<Tensor>((x, o) => o.matmul(x), this.operators[this.operators.length - 1].toDense());
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    return adjoint
      ? this.operators.reduce<Tensor>((y, o) => o.matmul(y, { adjoint }), x)
      : this.operators.reduceRight<Tensor>((y, o) => o.matmul(y), x);
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    if (!this.operators.every((o) => !differs(o.rangeDimension, o.domainDimension)))
      return super._solve(x, adjoint);
    return adjoint
      ? this.operators.reduceRight<Tensor>((y, o) => o.solve(y, { adjoint }), x)
      : this.operators.reduce<Tensor>((y, o) => o.solve(y), x);
  }
}

/** The adjoint of another operator. */
export class LinearOperatorAdjoint extends LinearOperator {
  /** The operator whose adjoint this is. */
  readonly operator: LinearOperator;

  constructor(operator: LinearOperator, options?: LinearOperatorHints) {
    const hints = hintsOf(options, 'LinearOperatorAdjoint');
    const [own] = operatorsOf([operator], 'LinearOperatorAdjoint');
    super(own.dtype, hints, sameHints(own));
    this.operator = own;
  }
  get dims(): Dims {
    const all = this.operator.dims;
    return [...all.slice(0, -2), all[all.length - 1], all[all.length - 2]];
  }
  toDense(): Tensor {
    return adjointOf(this.operator.toDense());
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    return this.operator.matmul(x, { adjoint: !adjoint });
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    return this.operator.solve(x, { adjoint: !adjoint });
  }
  protected override _determinant(): Tensor {
    return conjugated(this.operator.determinant());
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.operator.logAbsDeterminant();
  }
  protected override _diagPart(): Tensor {
    return conjugated(this.operator.diagPart());
  }
  protected override _eigvals(): Tensor {
    return conjugated(this.operator.eigvals());
  }
  protected override _cond(): Tensor {
    return this.operator.cond();
  }
  protected override _adjoint(): LinearOperator {
    return this.operator;
  }
}
const sameHints = (o: LinearOperator): LinearOperatorHints =>
  known({
    isNonSingular: o.isNonSingular ?? undefined,
    isSelfAdjoint: o.isSelfAdjoint ?? undefined,
    isPositiveDefinite: o.isPositiveDefinite ?? undefined,
    isSquare: o.isSquare ?? undefined,
  });

/** The inverse of another operator. */
export class LinearOperatorInversion extends LinearOperator {
  /** The operator whose inverse this is. */
  readonly operator: LinearOperator;

  constructor(operator: LinearOperator, options?: LinearOperatorHints) {
    const hints = hintsOf(options, 'LinearOperatorInversion');
    const [own] = operatorsOf([operator], 'LinearOperatorInversion');
    if (own.isNonSingular === false || hints.isNonSingular === false)
      throw new InvalidArgumentError('the operator is known to be singular', 'LinearOperatorInversion');
    super(own.dtype, hints, { ...sameHints(own), isNonSingular: true, isSquare: true });
    this.operator = own;
  }
  get dims(): Dims {
    return this.operator.dims;
  }
  toDense(): Tensor {
    const one = eye(this.rangeDimension as number, { dtype: this.dtype as 'float32' });
    return this.operator.solve(broadcastTo(one, this.shape));
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    return this.operator.solve(x, { adjoint });
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    return this.operator.matmul(x, { adjoint });
  }
  protected override _determinant(): Tensor {
    return this.operator.determinant().reciprocal();
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.operator.logAbsDeterminant().neg();
  }
  protected override _eigvals(): Tensor {
    return this.operator.eigvals().reciprocal();
  }
  protected override _cond(): Tensor {
    return this.operator.cond();
  }
  protected override _inverse(): LinearOperator {
    return this.operator;
  }
}

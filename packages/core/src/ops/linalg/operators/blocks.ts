// Operators that are made of others: blocks, Kronecker products, updates of low rank.
import { InvalidArgumentError, isComplex } from '@eagre/backend';
import { addDims, type Dim, type Dims, mulDims } from '../../../shapes/dim.ts';
import { dims, toShape } from '../../../shapes/dims.ts';
import { broadcastShapes, checkFlag, showShape } from '../../../shapes/shape.ts';
import { differs } from '../../../shapes/sizes.ts';
import type { TensorLike } from '../../../tensor/convert.ts';
import { toTensor } from '../../../tensor/convert.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { onesLike, zeros } from '../../array/creation.ts';
import { concat } from '../../array/join.ts';
import { broadcastTo, reshape } from '../../array/shaping.ts';
import { adjointOf, adjointTimes, conjugated, matricesOf } from '../adjoint.ts';
import { diag, matmul } from '../linalg.ts';
import { determinantOf, slogdetOf, solved } from '../solutions.ts';
import {
  allHave,
  batchOf,
  hintsOf,
  known,
  LinearOperator,
  type LinearOperatorHints,
  operatorsOf,
} from './linear-operator.ts';
import { LinearOperatorDiag } from './simple.ts';

const fromAll = (operators: readonly LinearOperator[], hints: LinearOperatorHints): LinearOperatorHints =>
  known({
    isNonSingular: hints.isNonSingular ?? allHave(operators, 'isNonSingular'),
    isSelfAdjoint: hints.isSelfAdjoint ?? allHave(operators, 'isSelfAdjoint'),
    isPositiveDefinite: hints.isPositiveDefinite ?? allHave(operators, 'isPositiveDefinite'),
    isSquare: hints.isSquare ?? allHave(operators, 'isSquare'),
  });

/** One of several operators, which has what all of them have. */
abstract class OfOperators extends LinearOperator {
  readonly operators: readonly LinearOperator[];

  constructor(operators: readonly LinearOperator[], options: LinearOperatorHints | undefined, what: string) {
    const hints = hintsOf(options, what);
    const list = operatorsOf(operators, what);
    super(list[0].dtype, hints, fromAll(list, hints));
    this.operators = list;
  }
}

/** Rows in parts of these sizes. */
function parts(x: Tensor, sizes: Dims): Tensor[] {
  let from: Dim = 0;
  return sizes.map((size) => {
    const begin = toShape(dims(x).map((_, i) => (i === x.rank - 2 ? from : 0)));
    from = addDims(from, size);
    return x.slice(begin, toShape(dims(x).map((d, i) => (i === x.rank - 2 ? size : d))));
  });
}
/** Rows under each other; the leading axes of all broadcast. */
function under(list: readonly Tensor[], what: string): Tensor {
  const lead = list
    .map((t) => dims(t).slice(0, -2))
    .reduce<Dims>((a, b) => broadcastShapes(a as never, b as never, what) as unknown as Dims, []);
  return concat(
    list.map((t) => broadcastTo(t, toShape([...lead, ...dims(t).slice(-2)]))),
    -2,
  );
}
/** Eigenvalues, all of them complex where some are. */
function sameDType(list: readonly Tensor[]): readonly Tensor[] {
  const complex = list.find((t) => isComplex(t.dtype));
  return complex === undefined ? list : list.map((t) => t.cast(complex.dtype));
}
/** The eigenvalues of blocks, one behind the other. */
function eigenvaluesOf(blocks: readonly LinearOperator[], what: string): Tensor {
  return under(
    sameDType(blocks.map((o) => o.eigvals())).map((t) => t.expandDims(-1)),
    what,
  ).squeeze(-1);
}
const total = (list: readonly Dim[]): Dim => list.reduce(addDims, 0 as Dim);

/** Operators as blocks on the diagonal, zeros elsewhere. */
export class LinearOperatorBlockDiag extends OfOperators {
  constructor(operators: readonly LinearOperator[], options?: LinearOperatorHints) {
    super(operators, options, 'LinearOperatorBlockDiag');
  }
  get dims(): Dims {
    const { operators } = this;
    return [
      ...batchOf(operators, 'LinearOperatorBlockDiag'),
      total(operators.map((o) => o.rangeDimension)),
      total(operators.map((o) => o.domainDimension)),
    ];
  }
  toDense(): Tensor {
    return denseOf(
      this.operators.map((_, i) => this.operators.map((o, j) => (i === j ? o : null))),
      this,
    );
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    const sizes = this.operators.map((o) => (adjoint ? o.rangeDimension : o.domainDimension));
    const made = parts(x, sizes).map((part, i) => this.operators[i].matmul(part, { adjoint }));
    return under(made, 'LinearOperatorBlockDiag');
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    const made = parts(
      x,
      this.operators.map((o) => o.rangeDimension),
    ).map((part, i) => this.operators[i].solve(part, { adjoint }));
    return under(made, 'LinearOperatorBlockDiag');
  }
  protected override _determinant(): Tensor {
    return this.operators.map((o) => o.determinant()).reduce((a, b) => a.mul(b));
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.operators.map((o) => o.logAbsDeterminant()).reduce((a, b) => a.add(b));
  }
  protected override _eigvals(): Tensor {
    return eigenvaluesOf(this.operators, 'LinearOperatorBlockDiag');
  }
  protected override _inverse(): LinearOperator {
    return new LinearOperatorBlockDiag(this.operators.map((o) => o.inverse()));
  }
  protected override _adjoint(): LinearOperator {
    return new LinearOperatorBlockDiag(this.operators.map((o) => o.adjoint()));
  }
  protected override _cholesky(): LinearOperator {
    return new LinearOperatorBlockDiag(this.operators.map((o) => o.cholesky()));
  }
}

/** The matrix of blocks, null for zeros. */
function denseOf(blocks: readonly (readonly (LinearOperator | null)[])[], whole: LinearOperator): Tensor {
  const lead = whole.dims.slice(0, -2);
  const rows = blocks.map((row, i) => {
    const height = blocks[i][i]?.rangeDimension as Dim;
    const made = row.map((o, j) => {
      const width = blocks[j][j]?.domainDimension as Dim;
      const shape = toShape([...lead, height, width]);
      return o === null ? zeros(shape, whole.dtype) : broadcastTo(o.toDense(), shape);
    });
    return concat(made, -1);
  });
  return concat(rows, -2);
}

/** Operators as blocks on the diagonal and below it: a list of rows, of which each is one longer than the one before. */
export class LinearOperatorBlockLowerTriangular extends LinearOperator {
  readonly operators: readonly (readonly LinearOperator[])[];

  constructor(operators: readonly (readonly LinearOperator[])[], options?: LinearOperatorHints) {
    const what = 'LinearOperatorBlockLowerTriangular';
    const hints = hintsOf(options, what);
    if (!Array.isArray(operators) || operators.length === 0)
      throw new InvalidArgumentError('operators must be a list of lists of linear operators', what);
    operators.forEach((row, i) => {
      operatorsOf(row, what);
      if (row.length !== i + 1)
        throw new InvalidArgumentError(`row ${i} has ${row.length} operators, expected ${i + 1}`, what);
    });
    const diagonal = operators.map((row) => row[row.length - 1]);
    operatorsOf(operators.flat(), what);
    operators.forEach((row: readonly LinearOperator[], i) => {
      row.forEach((o, j) => {
        if (
          differs(o.rangeDimension, diagonal[i].rangeDimension) ||
          differs(o.domainDimension, diagonal[j].domainDimension)
        )
          throw new InvalidArgumentError(
            `the operator of shape ${showShape(o.shape)} at row ${i}, column ${j} does not fit`,
            what,
          );
      });
    });
    super(
      diagonal[0].dtype,
      hints,
      known({
        isNonSingular: hints.isNonSingular ?? allHave(diagonal, 'isNonSingular'),
        isSquare: hints.isSquare ?? allHave(diagonal, 'isSquare'),
      }),
    );
    this.operators = operators;
  }
  get #diagonal(): readonly LinearOperator[] {
    return this.operators.map((row) => row[row.length - 1]);
  }
  get dims(): Dims {
    return [
      ...batchOf(this.operators.flat(), 'LinearOperatorBlockLowerTriangular'),
      total(this.#diagonal.map((o) => o.rangeDimension)),
      total(this.#diagonal.map((o) => o.domainDimension)),
    ];
  }
  toDense(): Tensor {
    return denseOf(
      this.operators.map((row) => this.operators.map((_, j) => row[j] ?? null)),
      this,
    );
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    const diagonal = this.#diagonal;
    const given = parts(
      x,
      diagonal.map((o) => (adjoint ? o.rangeDimension : o.domainDimension)),
    );
    const made = diagonal.map((_, i) => {
      const terms = diagonal.flatMap((_, j) => {
        const o = adjoint ? this.operators[j][i] : this.operators[i][j];
        return o === undefined ? [] : [o.matmul(given[j], { adjoint })];
      });
      return terms.reduce((a, b) => a.add(b));
    });
    return under(made, 'LinearOperatorBlockLowerTriangular');
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    const diagonal = this.#diagonal;
    const given = parts(
      x,
      diagonal.map((o) => o.rangeDimension),
    );
    const n = diagonal.length;
    const made: Tensor[] = new Array<Tensor>(n);
    for (let step = 0; step < n; step++) {
      const i = adjoint ? n - 1 - step : step;
      let rest = given[i];
      for (let j = adjoint ? i + 1 : 0; j < (adjoint ? n : i); j++) {
        const o = adjoint ? this.operators[j][i] : this.operators[i][j];
        rest = rest.sub(o.matmul(made[j], { adjoint }));
      }
      made[i] = diagonal[i].solve(rest, { adjoint });
    }
    return under(made, 'LinearOperatorBlockLowerTriangular');
  }
  protected override _determinant(): Tensor {
    return this.#diagonal.map((o) => o.determinant()).reduce((a, b) => a.mul(b));
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.#diagonal.map((o) => o.logAbsDeterminant()).reduce((a, b) => a.add(b));
  }
  protected override _eigvals(): Tensor {
    return eigenvaluesOf(this.#diagonal, 'LinearOperatorBlockLowerTriangular');
  }
}

/** The Kronecker product of operators. */
export class LinearOperatorKronecker extends OfOperators {
  constructor(operators: readonly LinearOperator[], options?: LinearOperatorHints) {
    super(operators, options, 'LinearOperatorKronecker');
  }
  get dims(): Dims {
    const { operators } = this;
    return [
      ...batchOf(operators, 'LinearOperatorKronecker'),
      operators.map((o) => o.rangeDimension).reduce(mulDims, 1 as Dim),
      operators.map((o) => o.domainDimension).reduce(mulDims, 1 as Dim),
    ];
  }
  toDense(): Tensor {
    return this.operators
      .map((o) => o.toDense())
      .reduce((a, b) => {
        // [..., m, 1, n, 1] times [..., 1, p, 1, q].
        const product = a.expandDims([-3, -1]).mul(b.expandDims([-4, -2]));
        const [m, p, n, q] = dims(product).slice(-4);
        return reshape(product, toShape([...dims(product).slice(0, -4), mulDims(m, p), mulDims(n, q)]));
      });
  }
  /** Each operator along its own axis of x [..., n₁ · n₂ · …, k]. */
  #each(x: Tensor, sizes: Dims, run: (o: LinearOperator, part: Tensor) => Tensor): Tensor {
    const batch = broadcastShapes(this.batchShape, toShape(dims(x).slice(0, -2)), 'LinearOperatorKronecker');
    const lead = [...dims({ shape: batch })];
    const k = dims(x)[x.rank - 1];
    let y = broadcastTo(x, toShape([...lead, ...dims(x).slice(-2)]));
    let before: Dim = 1;
    this.operators.forEach((o, i) => {
      const own = sizes[i];
      const after = mulDims(sizes.slice(i + 1).reduce(mulDims, 1 as Dim), k);
      // The axis first, all others as columns.
      const cut = reshape(y, toShape([...lead, before, own, after]));
      const columns = reshape(cut.swapAxes(-3, -2), toShape([...lead, own, mulDims(before, after)]));
      const made = run(o, columns);
      const height = dims(made)[made.rank - 2];
      const back = reshape(made, toShape([...lead, height, before, after])).swapAxes(-3, -2);
      before = mulDims(before, height);
      y = reshape(back, toShape([...lead, mulDims(before, 1), after]));
    });
    return reshape(y, toShape([...lead, before, k]));
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    const sizes = this.operators.map((o) => (adjoint ? o.rangeDimension : o.domainDimension));
    return this.#each(x, sizes, (o, part) => o.matmul(part, { adjoint }));
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    if (this.operators.some((o) => differs(o.rangeDimension, o.domainDimension)))
      return super._solve(x, adjoint);
    const sizes = this.operators.map((o) => o.rangeDimension);
    return this.#each(x, sizes, (o, part) => o.solve(part, { adjoint }));
  }
  protected override _eigvals(): Tensor {
    return sameDType(this.operators.map((o) => o.eigvals())).reduce((a, b) => {
      const product = a.expandDims(-1).mul(b.expandDims(-2));
      const [m, n] = dims(product).slice(-2);
      return reshape(product, toShape([...dims(product).slice(0, -2), mulDims(m, n)]));
    });
  }
  protected override _inverse(): LinearOperator {
    return new LinearOperatorKronecker(this.operators.map((o) => o.inverse()));
  }
  protected override _adjoint(): LinearOperator {
    return new LinearOperatorKronecker(this.operators.map((o) => o.adjoint()));
  }
  protected override _cholesky(): LinearOperator {
    return new LinearOperatorKronecker(this.operators.map((o) => o.cholesky()));
  }
}

/** Options of `LinearOperatorLowRankUpdate`. */
export interface LowRankUpdateOptions extends LinearOperatorHints {
  /** The diagonals D [..., k], ones by default. */
  readonly diagUpdate?: TensorLike;
  /** V [..., n, k], which is U by default. */
  readonly v?: TensorLike;
  /** Whether all of D is positive; known to be true without `diagUpdate`. */
  readonly isDiagUpdatePositive?: boolean;
}

/** Another operator plus U · diag(D) · Vᴴ, of few columns: solutions and determinants come from those of the other (Woodbury). */
export class LinearOperatorLowRankUpdate extends LinearOperator {
  readonly baseOperator: LinearOperator;
  readonly u: Tensor;
  /** V [..., n, k]. */
  readonly v: Tensor;
  /** The diagonals D [..., k]. */
  readonly diagUpdate: Tensor | null;
  /** Whether all of D is positive; known to be true without `diagUpdate`. */
  readonly isDiagUpdatePositive: boolean | null;

  constructor(baseOperator: LinearOperator, u: TensorLike, options?: LowRankUpdateOptions) {
    const what = 'LinearOperatorLowRankUpdate';
    const given = hintsOf(options, what, { diagUpdate: true, v: true, isDiagUpdatePositive: true });
    const { diagUpdate, v, isDiagUpdatePositive, ...hints } = given;
    const [base] = operatorsOf([baseOperator], what);
    const left = matricesOf(toTensor(u, base.dtype), what, { what: 'u' });
    const right = v === undefined ? left : matricesOf(toTensor(v, base.dtype), what, { what: 'v' });
    const d = diagUpdate === undefined ? null : toTensor(diagUpdate, base.dtype);
    if (
      differs(dims(left)[left.rank - 2], base.rangeDimension) ||
      differs(dims(right)[right.rank - 2], base.domainDimension) ||
      differs(dims(left)[left.rank - 1], dims(right)[right.rank - 1]) ||
      (d !== null && (d.rank === 0 || differs(dims(d)[d.rank - 1], dims(left)[left.rank - 1])))
    )
      throw new InvalidArgumentError(
        `u ${showShape(left.shape)}, v ${showShape(right.shape)} and diagUpdate ${d === null ? 'none' : showShape(d.shape)} do not fit an operator of shape ${showShape(base.shape)}`,
        what,
      );
    const positive =
      isDiagUpdatePositive === undefined
        ? d === null
          ? true
          : null
        : checkFlag(isDiagUpdatePositive, 'isDiagUpdatePositive', what);
    if (d === null && positive === false)
      throw new InvalidArgumentError(
        'the diagonal is that of the identity: isDiagUpdatePositive is not false',
        what,
      );
    // That a complex diagonal is positive says that it is real.
    const symmetric =
      v === undefined &&
      base.isSelfAdjoint === true &&
      (d === null || !isComplex(base.dtype) || positive === true);
    const definite = symmetric && base.isPositiveDefinite === true && positive === true;
    super(
      base.dtype,
      hints,
      known({
        isSquare: hints.isSquare ?? base.isSquare ?? undefined,
        isSelfAdjoint: hints.isSelfAdjoint ?? (symmetric ? true : undefined),
        isPositiveDefinite: hints.isPositiveDefinite ?? (definite ? true : undefined),
      }),
    );
    this.baseOperator = base;
    this.u = left;
    this.v = right;
    this.diagUpdate = d;
    this.isDiagUpdatePositive = positive;
  }
  get dims(): Dims {
    const batches = [
      this.baseOperator.dims.slice(0, -2),
      dims(this.u).slice(0, -2),
      dims(this.v).slice(0, -2),
    ];
    if (this.diagUpdate !== null) batches.push(dims(this.diagUpdate).slice(0, -1));
    const lead = batches.reduce<Dims>(
      (a, b) => broadcastShapes(a as never, b as never, 'LinearOperatorLowRankUpdate') as unknown as Dims,
      [],
    );
    return [...lead, this.baseOperator.rangeDimension, this.baseOperator.domainDimension];
  }
  /** D as an operator: of ones without `diagUpdate`. */
  get diagOperator(): LinearOperatorDiag {
    const isPositiveDefinite = this.isDiagUpdatePositive ?? undefined;
    return new LinearOperatorDiag(
      this.diagUpdate ?? onesLike(this.u.at('...', 0, ':')),
      known({ isPositiveDefinite }),
    );
  }
  /** U · D, or of the adjoint V · D̄; and what stands on the right. */
  #sides(adjoint: boolean): readonly [left: Tensor, right: Tensor] {
    const d = this.diagUpdate;
    const [left, right] = adjoint ? [this.v, this.u] : [this.u, this.v];
    if (d === null) return [left, right];
    return [left.mul((adjoint ? conjugated(d) : d).expandDims(-2)), right];
  }
  toDense(): Tensor {
    const [left, right] = this.#sides(false);
    return this.baseOperator.toDense().add(matmul(left, adjointOf(right)));
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    const [left, right] = this.#sides(adjoint);
    return this.baseOperator.matmul(x, { adjoint }).add(matmul(left, adjointTimes(right, x)));
  }
  /** I + Vᴴ · L⁻¹ · U · D, and L⁻¹ · U · D. */
  #capacitance(adjoint: boolean): readonly [inner: Tensor, solvedLeft: Tensor, right: Tensor] {
    const [left, right] = this.#sides(adjoint);
    const over = this.baseOperator.solve(left, { adjoint });
    const inner = adjointTimes(right, over);
    const one = diag(onesLike(inner.at('...', 0, ':')));
    return [inner.add(one), over, right];
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    const [inner, over, right] = this.#capacitance(adjoint);
    const base = this.baseOperator.solve(x, { adjoint });
    return base.sub(matmul(over, solved(inner, adjointTimes(right, base), { check: true })));
  }
  protected override _determinant(): Tensor {
    return this.baseOperator.determinant().mul(determinantOf(this.#capacitance(false)[0]));
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.baseOperator.logAbsDeterminant().add(slogdetOf(this.#capacitance(false)[0])[1]);
  }
}

// Operators whose matrices have few different numbers: circulant ones, Toeplitz's, three diagonals.
import { type DType, InvalidArgumentError, isComplex } from '@eagre/backend';
import { checkOneOf } from '../../../arguments/checks.ts';
import { type Dim, type Dims, mulDims, subDims } from '../../../shapes/dim.ts';
import { dims, toShape } from '../../../shapes/dims.ts';
import { broadcastShapes, showShape } from '../../../shapes/shape.ts';
import { differs, sizeValue } from '../../../shapes/sizes.ts';
import { TensorShape } from '../../../shapes/tensor-shape.ts';
import { type TensorLike, toTensor } from '../../../tensor/convert.ts';
import { hasGradient } from '../../../tensor/dtypes.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { iota } from '../../array/iota.ts';
import { concat } from '../../array/join.ts';
import { broadcastTo, reshape, shapeOf } from '../../array/shaping.ts';
import { imag, real } from '../../elementwise/complex.ts';
import { fft, fft2d, fft3d, ifft, ifft2d, ifft3d } from '../../signal/fft.ts';
import { conjugated, identityLike } from '../adjoint.ts';
import {
  compactOf,
  type Diagonals,
  type DiagonalsFormat,
  transposedDiagonals,
  tridiagonalMatmul,
  tridiagonalSolve,
} from '../bands.ts';
import { diag } from '../linalg.ts';
import { determinantOf } from '../solutions.ts';
import { hintsOf, LinearOperator, type LinearOperatorHints, ratioOf } from './linear-operator.ts';

/** Options of circulant operators. */
export interface CirculantOptions extends LinearOperatorHints {
  /** The dtype of what the operator takes and gives, complex64 by default. It need not be that of the spectrum, in which all is computed. */
  readonly inputOutputDtype?: DType;
}

/** What circulant operators of one, two or three axes share: Fourier transforms make products of them. */
abstract class Circulant extends LinearOperator {
  /** The transform of the kernel that the operator convolves with [..., n₁, …]. */
  readonly spectrum: Tensor;
  readonly #axes: 1 | 2 | 3;

  constructor(spectrum: TensorLike, axes: 1 | 2 | 3, options: CirculantOptions | undefined, what: string) {
    const { inputOutputDtype, ...hints } = hintsOf(options, what, { inputOutputDtype: true });
    const given = toTensor(spectrum);
    if (given.rank < axes || !hasGradient(given.dtype))
      throw new InvalidArgumentError(
        `spectrum is ${given.dtype} ${showShape(given.shape)}, expected floats or complex numbers of rank ${axes} or more`,
        what,
      );
    const dtype = inputOutputDtype ?? 'complex64';
    checkOneOf(dtype, ['float32', 'float64', 'complex64', 'complex128'], 'inputOutputDtype', what);
    super(
      dtype,
      hints,
      isComplex(given.dtype) ? { isSquare: true } : { isSquare: true, isSelfAdjoint: true },
    );
    this.spectrum = given;
    this.#axes = axes;
  }
  get #sizes(): Dims {
    return dims(this.spectrum).slice(-this.#axes);
  }
  get #batch(): Dims {
    return dims(this.spectrum).slice(0, -this.#axes);
  }
  get dims(): Dims {
    const n = this.#sizes.reduce(mulDims, 1 as Dim);
    return [...this.#batch, n, n];
  }
  /** The spectrum as complex numbers: in their dtype all is computed. */
  get #complex(): Tensor {
    const { spectrum } = this;
    if (isComplex(spectrum.dtype)) return spectrum;
    return spectrum.cast(spectrum.dtype === 'float64' ? 'complex128' : 'complex64');
  }
  /** The kernel: the inverse transform of the spectrum. */
  convolutionKernel(): Tensor {
    return this.#out([ifft, ifft2d, ifft3d][this.#axes - 1](this.#complex));
  }
  /** How many axes are transformed: 1, 2 or 3. */
  get blockDepth(): 1 | 2 | 3 {
    return this.#axes;
  }
  /** The sizes of these axes; null for those that are not known. */
  get blockShape(): TensorShape {
    return new TensorShape(this.spectrum.shape.slice(-this.#axes));
  }
  /** The sizes of these axes: int32 [blockDepth]. */
  blockShapeTensor(): Tensor {
    return shapeOf(this.spectrum).at(`${-this.#axes}:`);
  }
  /** Throws where the kernel is not real, to rounding: its spectrum is Hermitian then. @throws InvalidArgumentError */
  assertHermitianSpectrum(): void {
    const kernel = [ifft, ifft2d, ifft3d][this.#axes - 1](this.#complex);
    const worst = imag(kernel).abs().max().item() as number;
    const epsilon = kernel.dtype === 'complex128' ? 2 ** -52 : 2 ** -23;
    if (!(worst < epsilon * Number(this.domainDimensionTensor().item())))
      throw new InvalidArgumentError(
        `the spectrum is not Hermitian: the kernel has imaginary parts of up to ${worst}`,
        this.constructor.name,
      );
  }
  #out(x: Tensor): Tensor {
    return (isComplex(this.dtype) || !isComplex(x.dtype) ? x : real(x)).cast(this.dtype);
  }
  /** Runs `by` on the transforms of columns [..., n, k]. */
  #transformed(x: Tensor, by: (y: Tensor) => Tensor): Tensor {
    const lead = broadcastShapes(toShape(this.#batch), toShape(dims(x).slice(0, -2)), this.constructor.name);
    const columns = broadcastTo(x, toShape([...dims({ shape: lead }), ...dims(x).slice(-2)])).swapAxes(
      -1,
      -2,
    );
    const shape = [...dims(columns).slice(0, -1), ...this.#sizes];
    const complex = columns.cast(this.#complex.dtype);
    const y = by([fft, fft2d, fft3d][this.#axes - 1](reshape(complex, toShape(shape))));
    const back = [ifft, ifft2d, ifft3d][this.#axes - 1](y);
    return this.#out(reshape(back, toShape(dims(columns))).swapAxes(-1, -2));
  }
  /** The spectrum with an axis for columns. */
  #of(adjoint: boolean): Tensor {
    const s = adjoint ? conjugated(this.#complex) : this.#complex;
    return s.expandDims(-this.#axes - 1);
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    return this.#transformed(x, (y) => y.mul(this.#of(adjoint)));
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    return this.#transformed(x, (y) => y.div(this.#of(adjoint)));
  }
  get #flat(): Tensor {
    return reshape(this.spectrum, toShape([...this.#batch, this.rangeDimension]));
  }
  toDense(): Tensor {
    return this._matmul(identityLike(diag(this.#flat)), false);
  }
  protected override _determinant(): Tensor {
    return this.#out(determinantOf(diag(this.#flat)));
  }
  protected override _logAbsDeterminant(): Tensor {
    return this.#flat.abs().log().sum(-1);
  }
  protected override _eigvals(): Tensor {
    return this.#flat;
  }
  protected override _cond(): Tensor {
    return ratioOf(this.#flat.abs());
  }
  protected override _trace(): Tensor {
    return this.#out(this.#flat.sum(-1));
  }
  protected override _diagPart(): Tensor {
    const n = sizeValue(this.rangeDimension, 'int32');
    const mean = this._trace().div(typeof n === 'number' ? n : n.cast(this.dtype));
    return broadcastTo(mean.expandDims(-1), toShape(this.dims.slice(0, -1)));
  }
}

/** An operator of circulant matrices, whose rows are turned against each other: convolution with a kernel whose transform is `spectrum` [..., n]. */
export class LinearOperatorCirculant extends Circulant {
  constructor(spectrum: TensorLike, options?: CirculantOptions) {
    super(spectrum, 1, options, 'LinearOperatorCirculant');
  }
}
/** Convolution of two axes, with a kernel whose transform is `spectrum` [..., m, n]; vectors have m · n numbers. */
export class LinearOperatorCirculant2D extends Circulant {
  constructor(spectrum: TensorLike, options?: CirculantOptions) {
    super(spectrum, 2, options, 'LinearOperatorCirculant2D');
  }
}
/** Convolution of three axes, with a kernel whose transform is `spectrum` [..., l, m, n]; vectors have l · m · n numbers. */
export class LinearOperatorCirculant3D extends Circulant {
  constructor(spectrum: TensorLike, options?: CirculantOptions) {
    super(spectrum, 3, options, 'LinearOperatorCirculant3D');
  }
}

/** An operator of Toeplitz's matrices, whose diagonals have one number each: those of the first column and the first row, both [..., n]. */
export class LinearOperatorToeplitz extends LinearOperator {
  readonly col: Tensor;
  readonly row: Tensor;

  constructor(col: TensorLike, row: TensorLike, options?: LinearOperatorHints) {
    const what = 'LinearOperatorToeplitz';
    const hints = hintsOf(options, what);
    const c = toTensor(col);
    const r = toTensor(row, c.dtype);
    if (
      c.rank === 0 ||
      r.rank === 0 ||
      !hasGradient(c.dtype) ||
      r.dtype !== c.dtype ||
      differs(dims(c)[c.rank - 1], dims(r)[r.rank - 1])
    )
      throw new InvalidArgumentError(
        `col is ${c.dtype} ${showShape(c.shape)} and row ${r.dtype} ${showShape(r.shape)}, expected vectors of one length and dtype`,
        what,
      );
    super(c.dtype, hints, { isSquare: true });
    this.col = c;
    this.row = r;
  }
  get #lead(): Dims {
    return dims({
      shape: broadcastShapes(
        toShape(dims(this.col).slice(0, -1)),
        toShape(dims(this.row).slice(0, -1)),
        'LinearOperatorToeplitz',
      ),
    });
  }
  get dims(): Dims {
    const n = dims(this.col)[this.col.rank - 1];
    return [...this.#lead, n, n];
  }
  toDense(): Tensor {
    const n = this.rangeDimension;
    const whole = (x: Tensor): Tensor => broadcastTo(x, toShape([...this.#lead, n]));
    // The diagonals from the upper right to the lower left: the row from its end, whose first number the column has too, then the column.
    const from = toShape([...this.#lead.map(() => 0), 1]);
    const rest = whole(this.row).slice(from, toShape([...this.#lead, subDims(n, 1)]));
    const all = concat([rest.reverse(-1), whole(this.col)], -1);
    const places = iota(n);
    const at = places.expandDims(-1).sub(places).add(sizeValue(n, 'int32')).sub(1);
    return all.gather(at, -1);
  }
}
/** An operator of matrices of three diagonals, as `tf.linalg.tridiagonalSolve` takes them. */
export class LinearOperatorTridiag extends LinearOperator {
  /** [..., 3, n]. */
  readonly diagonals: Tensor;

  constructor(
    diagonals: Diagonals,
    options?: LinearOperatorHints & {
      /** How the three diagonals are given; `compact` by default. */
      readonly diagonalsFormat?: DiagonalsFormat;
    },
  ) {
    const what = 'LinearOperatorTridiag';
    const { diagonalsFormat, ...hints } = hintsOf(options, what, { diagonalsFormat: true });
    const d = compactOf(diagonals, diagonalsFormat ?? 'compact', what);
    super(d.dtype, hints, { isSquare: true });
    this.diagonals = d;
  }
  get dims(): Dims {
    const all = dims(this.diagonals);
    const n = all[all.length - 1];
    return [...all.slice(0, -2), n, n];
  }
  #of(adjoint: boolean): Tensor {
    return adjoint ? conjugated(transposedDiagonals(this.diagonals)) : this.diagonals;
  }
  toDense(): Tensor {
    return this._matmul(identityLike(diag(this.diagPart())), false);
  }
  protected override _matmul(x: Tensor, adjoint: boolean): Tensor {
    return tridiagonalMatmul(this.#of(adjoint), x);
  }
  protected override _solve(x: Tensor, adjoint: boolean): Tensor {
    return tridiagonalSolve(
      this.#of(adjoint),
      x.rank < this.diagonals.rank
        ? broadcastTo(x, toShape([...this.dims.slice(0, -2), ...dims(x).slice(-2)]))
        : x,
    );
  }
  protected override _diagPart(): Tensor {
    return this.diagonals.at('...', 1, ':');
  }
  protected override _adjoint(): LinearOperator {
    return new LinearOperatorTridiag(this.#of(true));
  }
}

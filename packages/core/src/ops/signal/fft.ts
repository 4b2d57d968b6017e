// Fourier transforms of one, two, three and any number of axes.
import { type ComplexDType, type DType, InvalidArgumentError, isComplex } from '@eagre/backend';
import type { AxisLike, IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, type Op, type OpSpec } from '../../dispatch/op.ts';
import { values } from '../../dispatch/samples.ts';
import { addDims, type Dim, type Dims, floorDivDims, maxDims, mulDims, subDims } from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import { normalizeAxis, show, showShape } from '../../shapes/shape.ts';
import { atMost, equalDims, isSize } from '../../shapes/shape-env.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { pad, swapAxes } from '../array/shaping.ts';
import { roll } from '../array/slicing.ts';
import { conj } from '../elementwise/complex.ts';
import { where } from '../elementwise/select.ts';

const last = (x: Tensor): Dim => dims(x)[x.rank - 1];
/** Half of what real numbers are transformed to; the rest mirrors it. */
const halfOf = (n: Dim): Dim => addDims(floorDivDims(n, 2), 1);
/** A size to compute with. */
const count = (n: Dim, dtype: DType): number | Tensor => {
  const size = sizeValue(n, 'int32');
  return typeof size === 'number' ? size : size.cast(dtype);
};
const complexOf = (x: Tensor): ComplexDType => (x.dtype === 'float64' ? 'complex128' : 'complex64');
const floatOf = (x: Tensor): DType => (x.dtype === 'complex128' ? 'float64' : 'float32');

// ---- the ops of one axis

const NUMBERS = values([1, -2, 0.5, 3, -1, 0.25, 2, 1.5, -0.75, 4, 0, 1], [2, 6], 'complex64');

/** Transforms, or their inverses, of complex numbers along axes, which are counted from the end; `axes` takes the place of those that the name says. */
function transformOp(
  name: string,
  inverse: boolean,
  own: readonly number[],
  spec: Pick<OpSpec, 'ulp' | 'samples'>,
): Op {
  const op: Op = defineOp({
    ...spec,
    name,
    kernel: 'FFT',
    kernelAttrs: ({ axes = own }) => ({ inverse, axes: axes as readonly number[] }),
    infer: ([x]) => ({ dtype: x.dtype, shape: dims(x) }),
    // The matrix of the transform is symmetric.
    grad: ({ attrs }, dy) => execute1(op, [dy], attrs),
  });
  return op;
}
const OF_LINES = {
  ulp: 64,
  samples: () => [{ inputs: [NUMBERS] }, { inputs: [NUMBERS], attrs: { axes: [-2] } }],
};
/** The transforms along the last axis. */
const fftOp: Op = /* @__PURE__ */ transformOp('FFT', false, [-1], OF_LINES);
/** The inverse transforms along the last axis. */
const ifftOp: Op = /* @__PURE__ */ transformOp('IFFT', true, [-1], OF_LINES);

/** `atEnds` for the first number, and for the one in the middle of an even length, which stand alone; `between` for those that are mirrored. */
function mirrored(n: Dim, dtype: DType, atEnds: number, between: number): Tensor {
  const k = iota(halfOf(n));
  const alone = k.equal(0).logicalOr(k.mul(2).equal(sizeValue(n, 'int32')));
  return where(alone, atEnds, between).cast(dtype);
}

/** The first halves of the transforms of real numbers along the last axis. */
const rfftOp: Op = /* @__PURE__ */ defineOp({
  name: 'RFFT',
  kernel: 'RFFT',
  kernelAttrs: () => ({}),
  ulp: 64,
  infer: ([x]) => ({ dtype: complexOf(x), shape: [...dims(x).slice(0, -1), halfOf(last(x))] }),
  // What comes is conjugated.
  grad: ({ x }, dy) => {
    const n = last(x);
    const weights = mirrored(n, x.dtype, 1, 0.5).mul(count(n, x.dtype)).cast(dy.dtype);
    return inverseReal(conj(dy).mul(weights), n);
  },
  samples: () => [
    { inputs: [values([1, -2, 0.5, 3, -1, 0.25], [6], 'float32')] },
    { inputs: [values([1, -2, 0.5, 3, -1, 0.25, 2, 1, 4, -3], [2, 5], 'float32')] },
  ],
});
/** The inverse of RFFT, of `length` real numbers. */
const irfftOp: Op = /* @__PURE__ */ defineOp({
  name: 'IRFFT',
  kernel: 'IRFFT',
  kernelAttrs: () => ({}),
  ulp: 64,
  infer: ([x], { length }) => ({
    dtype: floatOf(x),
    shape: [...dims(x).slice(0, -1), dimsOf(length as readonly number[])[0]],
  }),
  grad: ({ x, attrs }, dy) => {
    const [n] = dimsOf(attrs['length'] as readonly number[]);
    const weights = mirrored(n, dy.dtype, 1, 2).div(count(n, dy.dtype));
    return execute1(rfftOp, [dy]).mul(weights.cast(x.dtype));
  },
  samples: () => [
    { inputs: [values([1, -2, 0.5, 3], [4], 'complex64')], attrs: { length: [6] } },
    { inputs: [values([1, -2, 0.5, 3, 2, 1], [2, 3], 'complex64')], attrs: { length: [5] } },
  ],
});

const inverseReal = (x: Tensor, n: Dim): Tensor => execute1(irfftOp, [x], { length: toShape([n]) });

// ---- those of several axes

/** Transforms along axes, which are counted from the end, one after the other. */
const forward = (x: Tensor, axes: readonly number[]): Tensor => execute1(fftOp, [x], { axes });
const backward = (x: Tensor, axes: readonly number[]): Tensor => execute1(ifftOp, [x], { axes });
/** Those of the last axes, from the last one on, or from the one before. */
const LAST = [-1, -2, -3];

const CUBE = values([1, -2, 0.5, 3, -1, 0.25, 2, 1.5, -0.75, 4, 0, 1], [2, 2, 3], 'complex64');
const REAL_CUBE = values([1, -2, 0.5, 3, -1, 0.25, 2, 1.5, -0.75, 4, 0, 1], [2, 2, 3], 'float32');

// Numbers that cancel are left with the rounding of the larger ones.
const OF_CUBES = { ulp: 1024, samples: () => [{ inputs: [CUBE] }] };
const realOp = (rank: 2 | 3): Op =>
  defineOp({
    name: `RFFT${rank}D`,
    ulp: 1024,
    compose: ([x]) => forward(execute1(rfftOp, [x]), LAST.slice(1, rank)),
    samples: () => [{ inputs: [REAL_CUBE] }],
  });
const inverseRealOp = (rank: 2 | 3): Op =>
  defineOp({
    name: `IRFFT${rank}D`,
    ulp: 1024,
    compose: ([x], { length }) =>
      inverseReal(backward(x, LAST.slice(1, rank)), dimsOf(length as readonly number[])[0]),
    samples: () => [{ inputs: [CUBE], attrs: { length: [4] } }],
  });

/** The transforms along the last two axes. */
const fft2dOp: Op = /* @__PURE__ */ transformOp('FFT2D', false, [-1, -2], OF_CUBES);
/** The inverse transforms along the last two axes. */
const ifft2dOp: Op = /* @__PURE__ */ transformOp('IFFT2D', true, [-1, -2], OF_CUBES);
/** The transforms along the last three axes. */
const fft3dOp: Op = /* @__PURE__ */ transformOp('FFT3D', false, [-1, -2, -3], OF_CUBES);
/** The inverse transforms along the last three axes. */
const ifft3dOp: Op = /* @__PURE__ */ transformOp('IFFT3D', true, [-1, -2, -3], OF_CUBES);
/** The halves of the transforms of real numbers along the last two axes. */
const rfft2dOp: Op = /* @__PURE__ */ realOp(2);
/** The halves of the transforms of real numbers along the last three axes. */
const rfft3dOp: Op = /* @__PURE__ */ realOp(3);
/** The inverse of RFFT2D. */
const irfft2dOp: Op = /* @__PURE__ */ inverseRealOp(2);
/** The inverse of RFFT3D. */
const irfft3dOp: Op = /* @__PURE__ */ inverseRealOp(3);

// ---- functions

function checkRank(t: Tensor, rank: number, name: string): Tensor {
  if (t.rank < rank)
    throw new InvalidArgumentError(
      `the input has shape ${showShape(t.shape)}, expected rank ${rank} or more`,
      name,
    );
  return t;
}
function complexInput(x: TensorLike, rank: number, name: string): Tensor {
  const t = toTensor(x);
  if (!isComplex(t.dtype))
    throw new InvalidArgumentError(
      `the input is ${t.dtype}, expected complex64 or complex128; convert it with cast('complex64'), or use tf.signal.r${name.replace('signal.', '')}`,
      name,
    );
  return checkRank(t, rank, name);
}
function realInput(x: TensorLike, rank: number, name: string): Tensor {
  const t = toTensor(x);
  checkDType(t.dtype, 'floating', 'the input', name);
  return checkRank(t.dtype === 'float64' || t.dtype === 'float32' ? t : t.cast('float32'), rank, name);
}

/** x cut or filled with zeros to a size along an axis. */
function fitted(x: Tensor, axis: number, size: Dim): Tensor {
  const own = dims(x)[axis];
  if (equalDims(own, size)) return x;
  const at = (d: Dims, value: Dim): Dim[] => d.map((each, i) => (i === axis ? value : each));
  if (atMost(size, own)) return x.slice(new Array<number>(x.rank).fill(0), toShape(at(dims(x), size)));
  return pad(x, dims(x).map((_, i) => toShape(i === axis ? [0, subDims(size, own)] : [0, 0])) as never);
}

type Transform = NamedFunction<[input: TensorLike], ['input']>;
const transform = (name: string, rank: number, op: Op): Transform =>
  defineFunction(`signal.${name}`, { input: kind.tensor }, {}, (input) =>
    execute1(op, [complexInput(input, rank, `signal.${name}`)]),
  );

/**
 * The discrete Fourier transforms of complex numbers along the last axis, of any length: y[k] = Σ x[j] e^(−2πi jk/n).
 * @throws InvalidArgumentError for real numbers (see `rfft`) and scalars.
 */
export const fft: Transform = /* @__PURE__ */ transform('fft', 1, fftOp);
/** The inverse of `fft`, which divides by the length. */
export const ifft: Transform = /* @__PURE__ */ transform('ifft', 1, ifftOp);
/** The discrete Fourier transforms of complex numbers along the last two axes. */
export const fft2d: Transform = /* @__PURE__ */ transform('fft2d', 2, fft2dOp);
/** The inverse of `fft2d`. */
export const ifft2d: Transform = /* @__PURE__ */ transform('ifft2d', 2, ifft2dOp);
/** The discrete Fourier transforms of complex numbers along the last three axes. */
export const fft3d: Transform = /* @__PURE__ */ transform('fft3d', 3, fft3dOp);
/** The inverse of `fft3d`. */
export const ifft3d: Transform = /* @__PURE__ */ transform('ifft3d', 3, ifft3dOp);

type RealTransform = NamedFunction<
  [inputTensor: TensorLike, fftLength?: IntegersLike | null],
  ['inputTensor', 'fftLength']
>;
const lengthArguments = { inputTensor: kind.tensor, fftLength: kind.shape };

/** The lengths of the last axes: those that are given, or those of the input. */
function lengthsOf(given: readonly number[] | null | undefined, own: Dims, name: string): Dims {
  if (given === undefined || given === null) return own;
  const lengths = Array.isArray(given) ? dimsOf(given) : null;
  if (lengths === null || lengths.length !== own.length || !lengths.every((n) => isSize(n)))
    throw new InvalidArgumentError(
      `fftLength is ${show(given)}, expected a list of ${own.length} lengths`,
      name,
    );
  return lengths;
}

const realTransform = (name: string, rank: number, op: Op): RealTransform =>
  defineFunction(
    `signal.${name}`,
    lengthArguments,
    {},
    (inputTensor, fftLength: readonly number[] | null = null) => {
      const t = realInput(inputTensor, rank, `signal.${name}`);
      const lengths = lengthsOf(fftLength, dims(t).slice(-rank), `signal.${name}`);
      // No numbers have no transforms, as in TensorFlow.
      if (fftLength === null && equalDims(last(t), 0)) return t.cast(complexOf(t));
      const x = lengths.reduce<Tensor>((y, n, i) => fitted(y, t.rank - rank + i, n), t);
      return execute1(op, [x]);
    },
  );
const inverseRealTransform = (name: string, rank: number, op: Op): RealTransform =>
  defineFunction(
    `signal.${name}`,
    lengthArguments,
    {},
    (inputTensor, fftLength: readonly number[] | null = null) => {
      const t = toTensor(inputTensor);
      if (!isComplex(t.dtype))
        throw new InvalidArgumentError(
          `the input is ${t.dtype}, expected complex64 or complex128`,
          `signal.${name}`,
        );
      checkRank(t, rank, `signal.${name}`);
      const own = dims(t).slice(-rank);
      const natural = [...own.slice(0, -1), maxDims(0, mulDims(2, subDims(own[rank - 1], 1)))];
      const lengths = lengthsOf(fftLength, natural, `signal.${name}`);
      const x = lengths.reduce<Tensor>(
        (y, n, i) => fitted(y, t.rank - rank + i, i === rank - 1 ? halfOf(n) : n),
        t,
      );
      return execute1(op, [x], { length: toShape([lengths[rank - 1]]) });
    },
  );

/**
 * The discrete Fourier transforms of real numbers [..., n] along the last axis: complex numbers [..., floor(n / 2) + 1], as the others mirror these.
 * @param fftLength a list of one length, to which the input is cut or filled with zeros
 */
export const rfft: RealTransform = /* @__PURE__ */ realTransform('rfft', 1, rfftOp);
/** The inverse of `rfft`: real numbers. @param fftLength a list of their number; 2 (n − 1) of n by default, which is even */
export const irfft: RealTransform = /* @__PURE__ */ inverseRealTransform('irfft', 1, irfftOp);
/** The discrete Fourier transforms of real numbers along the last two axes; see `rfft`. */
export const rfft2d: RealTransform = /* @__PURE__ */ realTransform('rfft2d', 2, rfft2dOp);
/** The inverse of `rfft2d`. */
export const irfft2d: RealTransform = /* @__PURE__ */ inverseRealTransform('irfft2d', 2, irfft2dOp);
/** The discrete Fourier transforms of real numbers along the last three axes; see `rfft`. */
export const rfft3d: RealTransform = /* @__PURE__ */ realTransform('rfft3d', 3, rfft3dOp);
/** The inverse of `rfft3d`. */
export const irfft3d: RealTransform = /* @__PURE__ */ inverseRealTransform('irfft3d', 3, irfft3dOp);

// ---- any axes

/** Where the division by the number of elements is: at the inverse, at the transform, or half of it at each. */
type Norm = 'backward' | 'forward' | 'ortho';
type TransformND = NamedFunction<
  [inputTensor: TensorLike, fftLength?: IntegersLike | null, axes?: AxisLike],
  ['inputTensor', 'fftLength', 'axes'],
  {
    /** Which direction is divided by the size: `backward` by default. */
    readonly norm?: Norm;
  }
>;

/** Declares a transform along any axes; `run` gets the axes, the last of which is special to real numbers, and the lengths. */
const transformND = (
  name: string,
  inverse: boolean,
  read: (x: TensorLike, name: string) => Tensor,
  natural: (own: Dims) => Dims,
  run: (x: Tensor, axes: readonly number[], lengths: Dims) => Tensor,
): TransformND =>
  defineFunction(
    `signal.${name}`,
    { ...lengthArguments, axes: kind.axes },
    { norm: kind.asIs },
    (
      inputTensor,
      fftLength: readonly number[] | null = null,
      axes: AxisLike = null,
      { norm = 'backward' },
    ) => {
      const t = read(inputTensor, `signal.${name}`);
      const list = axes === null ? dims(t).map((_, i) => i) : [axes].flat();
      const places = list.map((a) => normalizeAxis(a as number, t.rank, `signal.${name}`));
      if (places.length === 0 || new Set(places).size !== places.length)
        throw new InvalidArgumentError(`axes [${places}] must be axes that differ`, `signal.${name}`);
      if (norm !== 'backward' && norm !== 'forward' && norm !== 'ortho')
        throw new InvalidArgumentError(
          `norm is ${String(norm)}, expected 'backward', 'forward' or 'ortho'`,
          `signal.${name}`,
        );
      const lengths = lengthsOf(fftLength, natural(places.map((a) => dims(t)[a])), `signal.${name}`);
      const y = run(t, places, lengths);
      if (norm === 'backward') return y;
      const size = lengths.reduce(mulDims, 1);
      const dtype = isComplex(y.dtype) ? floatOf(y) : y.dtype;
      const all = count(size, dtype);
      const by = norm === 'forward' ? all : typeof all === 'number' ? Math.sqrt(all) : all.sqrt();
      const factor = typeof by === 'number' ? by : by.cast(y.dtype);
      return inverse ? y.mul(factor) : y.div(factor);
    },
  );

/** Runs an op of the last axis along another. */
const alongAxis = (x: Tensor, axis: number, run: (x: Tensor) => Tensor): Tensor =>
  axis === x.rank - 1 ? run(x) : swapAxes(run(swapAxes(x, axis, -1)), axis, -1);
const fromEnd = (x: Tensor, axes: readonly number[]): number[] => axes.map((axis) => axis - x.rank);
const allFitted = (x: Tensor, axes: readonly number[], lengths: Dims): Tensor =>
  axes.reduce<Tensor>((y, axis, i) => fitted(y, axis, lengths[i]), x);
const complexAny = (x: TensorLike, name: string): Tensor => complexInput(x, 1, name);
const sameLengths = (own: Dims): Dims => own;

/**
 * The discrete Fourier transforms of complex numbers along axes, all by default.
 * @param fftLength the length of each, to which the input is cut or filled with zeros
 */
export const fftnd: TransformND = /* @__PURE__ */ transformND(
  'fftnd',
  false,
  complexAny,
  sameLengths,
  (x, axes, lengths) => forward(allFitted(x, axes, lengths), fromEnd(x, axes)),
);
/** The inverse of `fftnd`. */
export const ifftnd: TransformND = /* @__PURE__ */ transformND(
  'ifftnd',
  true,
  complexAny,
  sameLengths,
  (x, axes, lengths) => backward(allFitted(x, axes, lengths), fromEnd(x, axes)),
);
/** The discrete Fourier transforms of real numbers along axes, all by default; of the last of these the first half, see `rfft`. */
export const rfftnd: TransformND = /* @__PURE__ */ transformND(
  'rfftnd',
  false,
  (x, name) => realInput(x, 1, name),
  sameLengths,
  (x, axes, lengths) => {
    const half = alongAxis(allFitted(x, axes, lengths), axes[axes.length - 1], (y) => execute1(rfftOp, [y]));
    return axes.length === 1 ? half : forward(half, fromEnd(x, axes.slice(0, -1)));
  },
);
/** The inverse of `rfftnd`. */
export const irfftnd: TransformND = /* @__PURE__ */ transformND(
  'irfftnd',
  true,
  (x, name) => {
    const t = toTensor(x);
    if (!isComplex(t.dtype))
      throw new InvalidArgumentError(`the input is ${t.dtype}, expected complex64 or complex128`, name);
    return checkRank(t, 1, name);
  },
  (own) => [...own.slice(0, -1), maxDims(0, mulDims(2, subDims(own[own.length - 1], 1)))],
  (x, axes, lengths) => {
    const n = lengths[lengths.length - 1];
    const parts = [...lengths.slice(0, -1), halfOf(n)];
    const cut = allFitted(x, axes, parts);
    const whole = axes.length === 1 ? cut : backward(cut, fromEnd(x, axes.slice(0, -1)));
    return alongAxis(whole, axes[axes.length - 1], (y) => inverseReal(y, n));
  },
);

// ---- moving the number of frequency 0

type Shift = NamedFunction<[x: TensorLike, axes?: AxisLike], ['x', 'axes']>;
const shift = (name: string, by: (half: Dim) => Dim): Shift =>
  defineFunction(`signal.${name}`, { x: kind.tensor, axes: kind.axes }, {}, (x, axes: AxisLike = null) => {
    const t = toTensor(x);
    checkDType(t.dtype, 'any', 'x', `signal.${name}`);
    const list = axes === null ? dims(t).map((_, i) => i) : ([axes].flat() as number[]);
    return list.reduce<Tensor>((y, axis) => {
      const place = normalizeAxis(axis, t.rank, `signal.${name}`);
      return roll(y, sizeValue(by(floorDivDims(dims(t)[place], 2)), 'int32'), place);
    }, t);
  });
/** Moves what belongs to frequency 0 from the beginning to the middle of axes, all by default. */
export const fftshift: Shift = /* @__PURE__ */ shift('fftshift', (half) => half);
/** The inverse of `fftshift`. */
export const ifftshift: Shift = /* @__PURE__ */ shift('ifftshift', (half) => subDims(0, half));

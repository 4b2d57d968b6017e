// Transforms of frames of signals: short-time Fourier transforms, cosine transforms.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkFunction } from '../../arguments/checks.ts';
import { type Dim, modDims, mulDims, subDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { showShape } from '../../shapes/shape.ts';
import { atMost, equalDims, knownDim, lessThan } from '../../shapes/shape-env.ts';
import { checkSize, differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { concat } from '../array/join.ts';
import { pad, reverse } from '../array/shaping.ts';
import { split } from '../array/slicing.ts';
import { cast } from '../elementwise/cast.ts';
import { complex, real } from '../elementwise/complex.ts';
import { where } from '../elementwise/select.ts';
import { irfft, rfft } from './fft.ts';
import { frame, overlapAndAdd } from './frames.ts';
import { hannWindow, ofSize, vorbisWindow, type WindowFunction } from './windows.ts';

const last = (x: Tensor): Dim => dims(x)[x.rank - 1];

/** Real numbers of at least so many axes. */
function signalOf(x: TensorLike, rank: number, what: string, name: string): Tensor {
  const t = toTensor(x);
  checkDType(t.dtype, 'floating', what, name);
  if (t.rank < rank)
    throw new InvalidArgumentError(
      `${what} has shape ${showShape(t.shape)}, expected rank ${rank} or more`,
      name,
    );
  return t.dtype === 'float64' || t.dtype === 'float32' ? t : t.cast('float32');
}

/** The values of a window. @throws InvalidArgumentError for another length or dtype */
function windowOf(fn: WindowFunction, length: Dim, dtype: DType, name: string): Tensor {
  checkFunction(fn, 'windowFn', name);
  // Functions of others get a number, for which the trace is made.
  const own = fn === vorbisWindow || fn === hannWindow;
  const n = own ? length : knownDim(length);
  const window = toTensor(fn(sizeValue(n, 'int32') as number, { dtype }));
  if (window.rank === 1 && !differs(dims(window)[0], n) && window.dtype === dtype) return window;
  throw new InvalidArgumentError(
    `windowFn gave ${window.dtype} ${showShape(window.shape)}, expected ${dtype} [${n}]`,
    name,
  );
}
/** x times a window; as it is for null. */
const windowed = (x: Tensor, fn: WindowFunction | null, length: Dim, name: string): Tensor =>
  fn === null ? x : x.mul(windowOf(fn, length, x.dtype, name));

/** The least power of two that is not below n. */
function powerOfTwo(n: Dim): number {
  let power = 1;
  while (power < knownDim(n)) power *= 2;
  return power;
}

// ---- short-time Fourier transforms

interface WindowOption {
  /** What frames are multiplied by: a window of their length and dtype; null for nothing. */
  readonly windowFn?: WindowFunction | null;
}
/** Options of `stft`. */
export interface StftOptions extends WindowOption {
  /** Whether the end of the signals is filled up with zeros, so that no number is left out; false by default. */
  readonly padEnd?: boolean;
}

/**
 * The Fourier transforms of frames of real signals [..., n]: complex numbers [..., frames, fftLength / 2 + 1].
 *
 *     const spectrogram = tf.signal.stft(audio, 255, 128).abs();
 *
 * @param fftLength to what frames are filled up with zeros, or cut; the least power of two that is not below `frameLength` by default
 * @param options.windowFn a window, `tf.signal.hannWindow` by default
 * @throws InvalidArgumentError for scalars, and lengths that are none.
 */
export const stft: NamedFunction<
  [signals: TensorLike, frameLength: IntegerLike, frameStep: IntegerLike, fftLength?: IntegerLike | null],
  ['signals', 'frameLength', 'frameStep', 'fftLength'],
  StftOptions
> = /* @__PURE__ */ defineFunction(
  'signal.stft',
  { signals: kind.tensor, frameLength: kind.size, frameStep: kind.size, fftLength: kind.size },
  { windowFn: kind.asIs, padEnd: kind.asIs },
  (
    signals,
    frameLength,
    frameStep,
    fftLength: IntegerLike | null = null,
    { windowFn = hannWindow, padEnd },
  ) => {
    const name = 'signal.stft';
    const x = signalOf(signals, 1, 'signals', name);
    const length = checkSize(frameLength, 'frameLength', name, 1);
    const wide = fftLength === null ? powerOfTwo(length) : checkSize(fftLength, 'fftLength', name, 1);
    const frames = frame(x, length as number, frameStep, padEnd === undefined ? {} : { padEnd });
    return rfft(windowed(frames, windowFn, length, name), toShape([wide]));
  },
);

/**
 * A window for `inverseStft` that undoes another: divided by the sum of its squares at places that are a multiple of the step apart
 * (D. Griffin and J. Lim, 1984).
 * @param options.forwardWindowFn the window of the transform, `tf.signal.hannWindow` by default
 */
export const inverseStftWindowFn: NamedFunction<
  [frameStep: IntegerLike],
  ['frameStep'],
  {
    /** The window of the transform that is inverted; `hannWindow` by default. */
    readonly forwardWindowFn?: WindowFunction;
  },
  WindowFunction
> = /* @__PURE__ */ defineFunction(
  'signal.inverseStftWindowFn',
  { frameStep: kind.size },
  { forwardWindowFn: kind.asIs },
  (frameStep, { forwardWindowFn = hannWindow }): WindowFunction => {
    const name = 'signal.inverseStftWindowFn';
    const step = knownDim(checkSize(frameStep, 'frameStep', name, 1));
    checkFunction(forwardWindowFn, 'forwardWindowFn', name);
    return (windowLength, { dtype }) => {
      const forward = windowOf(forwardWindowFn, windowLength, dtype, name);
      const overlaps = Math.ceil(windowLength / step);
      const squares = pad(forward.square(), [[0, overlaps * step - windowLength]]);
      const sums = squares.reshape([overlaps, step]).sum(0).tile([overlaps]).at(`:${windowLength}`);
      const none = sums.equal(0);
      return where(none, 0, forward.div(where(none, 1, sums)));
    };
  },
);

/** The first numbers along the last axis, or zeros behind them. */
function fitted(x: Tensor, size: Dim): Tensor {
  if (equalDims(last(x), size)) return x;
  return atMost(size, last(x))
    ? x.slice(new Array<number>(x.rank).fill(0), toShape([...dims(x).slice(0, -1), size]))
    : pad(x, dims(x).map((_, i) => toShape(i < x.rank - 1 ? [0, 0] : [0, subDims(size, last(x))])) as never);
}

/**
 * The signals [..., (frames − 1) · frameStep + frameLength] of Fourier transforms of their frames [..., frames, fftLength / 2 + 1]: the sum of frames that
 * overlap. With a window `inverseStftWindowFn(frameStep)` these are the signals that `stft` was given, but for their ends.
 * @param fftLength what `stft` had; the least power of two that is not below `frameLength` by default
 * @param options.windowFn a window, `tf.signal.hannWindow` by default
 * @throws InvalidArgumentError for real numbers, and lengths that are none.
 */
export const inverseStft: NamedFunction<
  [stfts: TensorLike, frameLength: IntegerLike, frameStep: IntegerLike, fftLength?: IntegerLike | null],
  ['stfts', 'frameLength', 'frameStep', 'fftLength'],
  WindowOption
> = /* @__PURE__ */ defineFunction(
  'signal.inverseStft',
  { stfts: kind.tensor, frameLength: kind.size, frameStep: kind.size, fftLength: kind.size },
  { windowFn: kind.asIs },
  (stfts, frameLength, frameStep, fftLength: IntegerLike | null = null, { windowFn = hannWindow }) => {
    const name = 'signal.inverseStft';
    const x = toTensor(stfts);
    if (x.rank < 2)
      throw new InvalidArgumentError(`stfts has shape ${showShape(x.shape)}, expected rank 2 or more`, name);
    const length = checkSize(frameLength, 'frameLength', name, 1);
    const wide = fftLength === null ? powerOfTwo(length) : checkSize(fftLength, 'fftLength', name, 1);
    const frames = fitted(irfft(x, toShape([wide])), length);
    return overlapAndAdd(windowed(frames, windowFn, length, name), frameStep);
  },
);

// ---- cosine transforms

type Norm = 'ortho' | null;
/** Options of cosine transforms. */
export interface DctOptions {
  /** The length of the transform: the input is cut, or filled with zeros. */
  readonly n?: IntegerLike | null;
  /** The axis, which must be the last. */
  readonly axis?: -1;
  /** `ortho` for an orthonormal matrix; nothing by default. */
  readonly norm?: Norm;
}
type Cosines = NamedFunction<[input: TensorLike, type?: 1 | 2 | 3 | 4], ['input', 'type'], DctOptions>;

/** e^(sign · iπk / 2n) · 2, of k below n. */
function twiddles(n: Dim, sign: number, dtype: DType): Tensor {
  return ofSize(n, () => {
    const angle = iota(n)
      .cast('float64')
      .mul((sign * Math.PI) / 2)
      .div(sizeValue(n, 'float64'));
    return complex(cast(angle.cos().mul(2), dtype), cast(angle.sin().mul(2), dtype));
  });
}
/** The root of a number times n to a power of 1 or -1, as n need not be known; the root of another multiple in the first place. */
function weights(n: Dim, first: number, others: number, power: 1 | -1, dtype: DType): Tensor {
  return ofSize(n, () => {
    const factor = where(iota(n).equal(0), toTensor(first, 'float64'), toTensor(others, 'float64'));
    const size = sizeValue(n, 'float64');
    return cast((power === 1 ? factor.mul(size) : factor.div(size)).sqrt(), dtype);
  });
}
/** x times n; divided by it for a power of -1. */
const timesSize = (x: Tensor, n: Dim, power: 1 | -1): Tensor => {
  const size = sizeValue(n, 'float64');
  const factor = typeof size === 'number' ? size : size.cast(x.dtype);
  return power === 1 ? x.mul(factor) : x.div(factor);
};

/** The cosine transform of one of four types (J. Makhoul, 1980, for types 2 and 3). */
function cosines(x: Tensor, type: 1 | 2 | 3 | 4, norm: Norm): Tensor {
  const n = last(x);
  const twice = mulDims(2, n);
  const ortho = norm === 'ortho';
  if (type === 1) return real(rfft(concat([x, reverse(x.at('...', '1:-1'), -1)], -1)));
  if (type === 2) {
    const y = real(fitted(rfft(x, toShape([twice])), n).mul(twiddles(n, -1, x.dtype)));
    return ortho ? y.mul(weights(n, 0.25, 0.5, -1, x.dtype)) : y;
  }
  if (type === 3) {
    const scaled = ortho ? x.mul(weights(n, 1, 0.5, 1, x.dtype)) : timesSize(x, n, 1);
    const turned = complex(scaled, scaled.mul(0)).mul(twiddles(n, 1, x.dtype));
    return fitted(irfft(turned, toShape([twice])), n);
  }
  const y = cosines(fitted(x, twice), 2, null).at('...', '1::2');
  if (!ortho) return y;
  const size = sizeValue(twice, 'float64');
  return y.div(typeof size === 'number' ? Math.sqrt(size) : size.sqrt().cast(x.dtype));
}

const cosineTransform = (name: string, typeOf: (type: 1 | 2 | 3 | 4) => 1 | 2 | 3 | 4): Cosines =>
  defineFunction(
    `signal.${name}`,
    { input: kind.tensor, type: kind.asIs },
    { n: kind.size, axis: kind.asIs, norm: kind.asIs },
    (input, type: 1 | 2 | 3 | 4 = 2, { n = null, axis = -1, norm = null }) => {
      const refuse = (message: string): never => {
        throw new InvalidArgumentError(message, `signal.${name}`);
      };
      let x = signalOf(input, 1, 'input', `signal.${name}`);
      if (![1, 2, 3, 4].includes(type)) refuse(`type is ${String(type)}, expected 1, 2, 3 or 4`);
      if (axis !== -1) refuse(`axis is ${String(axis)}, expected -1; move the axis with moveAxis`);
      if (norm !== null && norm !== 'ortho') refuse(`norm is ${String(norm)}, expected 'ortho' or nothing`);
      if (n !== null) x = fitted(x, checkSize(n, 'n', `signal.${name}`, 1));
      if (type === 1 && norm === 'ortho') refuse('type 1 has no orthonormal form');
      if (type === 1 && lessThan(last(x), 2)) refuse('type 1 needs two numbers or more');
      return cosines(x, typeOf(type), norm);
    },
  );

/**
 * The discrete cosine transforms of real numbers along the last axis, of type 1, 2 (the default), 3 or 4, as SciPy has them.
 * @throws InvalidArgumentError for other types, and `norm: 'ortho'` of type 1.
 */
export const dct: Cosines = /* @__PURE__ */ cosineTransform('dct', (type) => type);
/** The inverse of `dct` of a type; without `norm: 'ortho'` times 2n, or 2 (n − 1) of type 1. */
export const idct: Cosines = /* @__PURE__ */ cosineTransform('idct', (type) =>
  type === 2 ? 3 : type === 3 ? 2 : type,
);

// ---- modified cosine transforms

/** Options of `mdct` and `inverseMdct`. */
export interface MdctOptions extends WindowOption {
  /** `ortho` for an orthonormal matrix; nothing by default. */
  readonly norm?: Norm;
}
function checkNorm(norm: unknown, name: string): Norm {
  if (norm === null || norm === 'ortho') return norm;
  throw new InvalidArgumentError(`norm is ${String(norm)}, expected 'ortho' or nothing`, name);
}
/** x times a window; divided by √2 for null. */
const scaledBy = (x: Tensor, fn: WindowFunction | null, length: Dim, name: string): Tensor =>
  fn === null ? x.mul(Math.SQRT1_2) : windowed(x, fn, length, name);

/**
 * The modified discrete cosine transforms of frames of real signals [..., n] that overlap by half: [..., frames, frameLength / 2].
 * @param frameLength a multiple of 4
 * @param options.windowFn a window, `tf.signal.vorbisWindow` by default; null for 1/√2
 * @throws InvalidArgumentError for scalars, and lengths that are none.
 */
export const mdct: NamedFunction<
  [signals: TensorLike, frameLength: IntegerLike],
  ['signals', 'frameLength'],
  MdctOptions & {
    /** Whether zeros are added at the end, so that nothing is left over; false by default. */
    readonly padEnd?: boolean;
  }
> = /* @__PURE__ */ defineFunction(
  'signal.mdct',
  { signals: kind.tensor, frameLength: kind.size },
  { windowFn: kind.asIs, padEnd: kind.asIs, norm: kind.asIs },
  (signals, frameLength, { windowFn = vorbisWindow, padEnd, norm = null }) => {
    const name = 'signal.mdct';
    const x = signalOf(signals, 1, 'signals', name);
    const length = knownDim(checkSize(frameLength, 'frameLength', name, 1));
    if (length % 4 !== 0)
      throw new InvalidArgumentError(`frameLength is ${length}, expected a multiple of 4`, name);
    const frames = frame(x, length, length / 2, padEnd === undefined ? {} : { padEnd });
    const [a, b, c, d] = split(scaledBy(frames, windowFn, length, name), 4, -1);
    const folded = concat([reverse(c, -1).neg().sub(d), a.sub(reverse(b, -1))], -1);
    return cosines(folded, 4, checkNorm(norm, name));
  },
);

/**
 * The signals of their modified discrete cosine transforms [..., frames, n]: the sum of frames of 2n numbers that overlap by half.
 * @param options.windowFn the window of `mdct`
 * @throws InvalidArgumentError for what has less than two axes.
 */
export const inverseMdct: NamedFunction<[mdcts: TensorLike], ['mdcts'], MdctOptions> =
  /* @__PURE__ */ defineFunction(
    'signal.inverseMdct',
    { mdcts: kind.tensor },
    { windowFn: kind.asIs, norm: kind.asIs },
    (mdcts, { windowFn = vorbisWindow, norm = null }) => {
      const name = 'signal.inverseMdct';
      const x = signalOf(mdcts, 2, 'mdcts', name);
      const half = last(x);
      if (differs(modDims(half, 2), 0) || !differs(half, 0))
        throw new InvalidArgumentError(`mdcts has ${half} numbers in a frame, expected an even number`, name);
      const ortho = checkNorm(norm, name) === 'ortho';
      const folded = ortho ? cosines(x, 4, 'ortho') : timesSize(cosines(x, 4, null).mul(0.5), half, -1);
      const [a, b] = split(folded, 2, -1);
      const frames = concat([b, reverse(b, -1).neg(), reverse(a, -1).neg(), a.neg()], -1);
      return overlapAndAdd(scaledBy(frames, windowFn, mulDims(2, half), name), half as number);
    },
  );

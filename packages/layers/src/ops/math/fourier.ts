// Fourier's transforms. Complex numbers are pairs of tensors, as in Keras.
import {
  complex,
  constant,
  type DType,
  type IntegerLike,
  type NamedFunction,
  signal,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import { defineFunction, dims, kind, knownDim, toTensor } from '@eagre/core/internal';
import { floating, integer as integerKind, named, refuse } from '../define.ts';

/** Real and imaginary parts. */
export type Pair = [real: Tensor, imag: Tensor];

/** A function of complex numbers, for pairs. */
const onPairs =
  (run: (x: Tensor) => Tensor) =>
  ([re, im]: Pair): Pair =>
    parts(run(complex(re, im)));
const parts = (x: Tensor): Pair => [x.real(), x.imag()];

const last = (x: Tensor): number => knownDim(dims(x)[x.rank - 1]);
function pairOf(x: readonly TensorLike[], name: string): Pair {
  if (!Array.isArray(x) || x.length !== 2)
    refuse('x must be a list of the real and the imaginary part', name);
  return x.map((t) => floating(t as TensorLike)) as Pair;
}
type Transform = NamedFunction<[x: readonly [real: TensorLike, imag: TensorLike]], ['x'], unknown, Pair>;
const transform = (name: string, run: (x: Pair) => Pair): Transform =>
  defineFunction(named(name), { x: kind.asIs }, {}, (x) => run(pairOf(x, name)));

/** The discrete Fourier transform along the last axis of [real, imag]. */
export const fft: Transform = transform('fft', onPairs(signal.fft));
/** The discrete Fourier transform along the last two axes of [real, imag]. */
export const fft2: Transform = transform('fft2', onPairs(signal.fft2d));
/** The inverse of `fft2`. */
export const ifft2: Transform = transform('ifft2', onPairs(signal.ifft2d));

const lengthArguments = { x: kind.asIs, fftLength: integerKind };

/** The first half of the transform of real numbers, [real, imag] [..., fftLength / 2 + 1]; the other half mirrors it. */
export const rfft: NamedFunction<
  [x: TensorLike, fftLength?: IntegerLike | null],
  ['x', 'fftLength'],
  unknown,
  Pair
> = defineFunction(named('rfft'), lengthArguments, {}, (x, fftLength: number | null = null) => {
  const t = floating(x);
  return half(t, fftLength ?? last(t));
});
const half = (x: Tensor, n: number): Pair => parts(signal.rfft(x, [n]));

/** The inverse of `rfft`: real numbers [..., fftLength]. */
export const irfft: NamedFunction<
  [x: readonly [real: TensorLike, imag: TensorLike], fftLength?: IntegerLike | null],
  ['x', 'fftLength']
> = defineFunction(named('irfft'), lengthArguments, {}, (x, fftLength: number | null = null) => {
  const given = pairOf(x, 'irfft');
  return whole(given, fftLength ?? 2 * (last(given[0]) - 1));
});
const whole = ([re, im]: Pair, n: number): Tensor => signal.irfft(complex(re, im), [n]);

// ---- pieces of sequences

/** Pieces of a sequence [..., n] of one length at equal distances: [..., count, sequenceLength]. */
export const extractSequences: NamedFunction<
  [x: TensorLike, sequenceLength: IntegerLike, sequenceStride: IntegerLike],
  ['x', 'sequenceLength', 'sequenceStride']
> = defineFunction(
  named('extractSequences'),
  { x: kind.tensor, sequenceLength: integerKind, sequenceStride: integerKind },
  {},
  (x, sequenceLength: number, sequenceStride: number) => signal.frame(x, sequenceLength, sequenceStride),
);

/** What pieces are multiplied by: a window's name, its values, or nothing. */
export type Window = 'hann' | 'hamming' | TensorLike | null;
interface WindowOptions {
  /** `hann` by default. */
  readonly window?: Window;
  /** Whether pieces are centred on their places, beyond whose ends the sequence is mirrored; true by default. */
  readonly center?: boolean;
}

function windowOf(window: Window, length: number, wide: number, dtype: DType, name: string): Tensor {
  const before = Math.floor((wide - length) / 2);
  let values: Tensor;
  if (window === null) return constant(new Array<number>(wide).fill(1), 'float64').cast(dtype);
  if (typeof window === 'string') {
    if (window !== 'hann' && window !== 'hamming')
      refuse(`window is '${window}', expected 'hann' or 'hamming'`, name);
    const base = window === 'hann' ? 0.5 : 0.54;
    const list = Array.from({ length }, (_, i) => base - (1 - base) * Math.cos((2 * Math.PI * i) / length));
    values = constant(list, 'float64').cast(dtype);
  } else values = toTensor(window).cast(dtype);
  if (values.rank !== 1 || values.shape[0] !== length) refuse(`the window must have shape [${length}]`, name);
  return values.pad([[before, wide - length - before]]);
}

type Times = [sequenceLength: IntegerLike, sequenceStride: IntegerLike, fftLength: IntegerLike];
const timeArguments = {
  x: kind.asIs,
  sequenceLength: integerKind,
  sequenceStride: integerKind,
  fftLength: integerKind,
};

/** Fourier's transform of pieces of a sequence [..., n]: [real, imag] [..., count, fftLength / 2 + 1]. */
export const stft: NamedFunction<
  [x: TensorLike, ...Times],
  ['x', 'sequenceLength', 'sequenceStride', 'fftLength'],
  WindowOptions,
  Pair
> = defineFunction(
  named('stft'),
  timeArguments,
  { window: kind.asIs, center: kind.asIs },
  (
    x,
    sequenceLength: number,
    sequenceStride: number,
    fftLength: number,
    { window = 'hann', center = true },
  ) => {
    if (fftLength < sequenceLength) refuse('fftLength must be at least sequenceLength', 'stft');
    const t = floating(x);
    const by = Math.floor(fftLength / 2);
    const wide = center
      ? t.pad(
          dims(t).map((_, i): [number, number] => (i === t.rank - 1 ? [by, by] : [0, 0])),
          { mode: 'REFLECT' },
        )
      : t;
    const shape = windowOf(window, sequenceLength, fftLength, t.dtype, 'stft');
    return half(signal.frame(wide, fftLength, sequenceStride).mul(shape), fftLength);
  },
);

/** The sequence of which `stft` has given [real, imag]: the sum of its pieces, divided by what the windows leave of it. */
export const istft: NamedFunction<
  [x: readonly [real: TensorLike, imag: TensorLike], ...Times],
  ['x', 'sequenceLength', 'sequenceStride', 'fftLength'],
  WindowOptions & { readonly length?: IntegerLike | null }
> = defineFunction(
  named('istft'),
  timeArguments,
  { window: kind.asIs, center: kind.asIs, length: integerKind },
  (
    x,
    sequenceLength: number,
    sequenceStride: number,
    fftLength: number,
    { window = 'hann', center = true, length },
  ) => {
    const given = pairOf(x, 'istft');
    const frames = whole(given, fftLength);
    const shape = windowOf(window, sequenceLength, fftLength, frames.dtype, 'istft');
    const count = knownDim(dims(frames)[frames.rank - 2]);
    const total = fftLength + sequenceStride * (count - 1);
    // By windows that repeat: each place is divided by the sum of squares of the windows there.
    const summed = window === null ? null : periodicSum(shape.square(), sequenceStride, fftLength);
    const scaled =
      summed === null
        ? frames
        : frames.mul(summed.equal(0).where(0, shape.div(summed.equal(0).where(1, summed))));
    const sum = signal.overlapAndAdd(scaled, sequenceStride);
    const start = center ? Math.floor(fftLength / 2) : 0;
    const end = typeof length === 'number' ? start + length : center ? total - start : total;
    return sum.at('...', `${start}:${end}`);
  },
);

/** For each place of a window the sum of its squares at places a multiple of the stride away. */
function periodicSum(squares: Tensor, stride: number, length: number): Tensor {
  const ids = constant(
    Array.from({ length }, (_, i) => i % stride),
    'int32',
  );
  return squares.unsortedSegmentSum(ids, stride).gather(ids);
}

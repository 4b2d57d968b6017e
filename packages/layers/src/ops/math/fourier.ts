// Fourier's transforms. Complex numbers are pairs of tensors, as in Keras.
import {
  constant,
  type DType,
  type IntegerLike,
  type NamedFunction,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  addDims,
  defineFunction,
  dims,
  floorDivDims,
  iota,
  kind,
  knownDim,
  maxDims,
  subDims,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { floating, integer as integerKind, named, refuse } from '../define.ts';

/** Real and imaginary parts. */
export type Pair = [real: Tensor, imag: Tensor];

// Up to this length one product with a matrix is as good as any.
const DIRECT = 32;

/** cos and sin of numbers of turns. */
function turns(parts: readonly number[], shape: readonly number[], dtype: DType): Pair {
  const made = (f: (x: number) => number): Tensor =>
    constant(
      parts.map((t) => f(2 * Math.PI * t)),
      'float64',
      { shape },
    ).cast(dtype);
  return [made(Math.cos), made(Math.sin)];
}
const times = ([a, b]: Pair, [c, d]: Pair): Pair => [a.mul(c).sub(b.mul(d)), a.mul(d).add(b.mul(c))];

/** e to the power of −2πi · row · column / n. */
function matrixOf(n: number, dtype: DType): Pair {
  const list = Array.from({ length: n * n }, (_, i) => -(((Math.floor(i / n) * (i % n)) % n) / n));
  return turns(list, [n, n], dtype);
}

/** The transform along the last axis of [..., n]: by the factors of n, by convolution where it is a large prime. */
function transformed(x: Pair, n: number): Pair {
  const dtype = x[0].dtype;
  if (n <= 1) return x;
  if (n <= DIRECT) return byMatrix(x, matrixOf(n, dtype));
  const p = factorOf(n);
  if (p === n) return n <= 512 ? byMatrix(x, matrixOf(n, dtype)) : bluestein(x, n);
  // Cooley and Tukey: n = p · q, columns first.
  const q = n / p;
  const split = x.map((t) => t.reshape(toShape([...dims(t).slice(0, -1), q, p])).swapAxes(-1, -2)) as Pair;
  const inner = transformed(split, q);
  const twiddles = turns(
    Array.from({ length: n }, (_, i) => -((Math.floor(i / q) * (i % q)) / n)),
    [p, q],
    dtype,
  );
  const turned = times(inner, twiddles);
  const outer = transformed(turned.map((t) => t.swapAxes(-1, -2)) as Pair, p);
  return outer.map((t) => t.swapAxes(-1, -2).reshape(toShape([...dims(t).slice(0, -2), n]))) as Pair;
}

function byMatrix([re, im]: Pair, [c, s]: Pair): Pair {
  const product = (a: Tensor, b: Tensor): Tensor => a.tensordot(b, 1);
  return [product(re, c).sub(product(im, s)), product(re, s).add(product(im, c))];
}

/** The largest factor up to `DIRECT`, else the smallest one. */
function factorOf(n: number): number {
  for (let p = DIRECT; p > 1; p--) if (n % p === 0) return p;
  for (let p = DIRECT + 1; p * p <= n; p++) if (n % p === 0) return p;
  return n;
}

/** A transform of any length by three of a power of two. */
function bluestein(x: Pair, n: number): Pair {
  let m = 1;
  while (m < 2 * n - 1) m *= 2;
  const half = Array.from({ length: n }, (_, i) => ((i * i) % (2 * n)) / (2 * n));
  const dtype = x[0].dtype;
  const chirp = turns(
    half.map((t) => -t),
    [n],
    dtype,
  );
  const around = Array.from({ length: m }, (_, i) => (i < n ? half[i] : m - i < n ? half[m - i] : null));
  const there = constant(
    around.map((t) => (t === null ? 0 : 1)),
    'float64',
    { shape: [m] },
  ).cast(dtype);
  const filter = turns(
    around.map((t) => t ?? 0),
    [m],
    dtype,
  ).map((t) => t.mul(there)) as Pair;
  const wide = times(x, chirp).map((t) => padded(t, m - n)) as Pair;
  const product = times(transformed(wide, m), transformed(filter, m));
  const back = inverse(product, m).map((t) => t.at('...', `:${n}`)) as Pair;
  return times(back, chirp);
}
const padded = (x: Tensor, more: number): Tensor =>
  x.pad(dims(x).map((_, i): [number, number] => [0, i === x.rank - 1 ? more : 0]));
/** The inverse: that of the parts in each other's place, whose parts change places again. */
const inverse = ([re, im]: Pair, n: number): Pair => {
  const [a, b] = transformed([im, re], n);
  return [b.div(n), a.div(n)];
};

const last = (x: Tensor): number => knownDim(dims(x)[x.rank - 1]);
/** Along the last axis but one. */
const acrossRows = (x: Pair, run: (x: Pair, n: number) => Pair): Pair => {
  const moved = x.map((t) => t.swapAxes(-1, -2)) as Pair;
  return run(moved, last(moved[0])).map((t) => t.swapAxes(-1, -2)) as Pair;
};

function pairOf(x: readonly TensorLike[], name: string): Pair {
  if (!Array.isArray(x) || x.length !== 2)
    refuse('x must be a list of the real and the imaginary part', name);
  return x.map((t) => floating(t as TensorLike)) as Pair;
}
type Transform = NamedFunction<[x: readonly [real: TensorLike, imag: TensorLike]], ['x'], unknown, Pair>;
const transform = (name: string, run: (x: Pair) => Pair): Transform =>
  defineFunction(named(name), { x: kind.asIs }, {}, (x) => run(pairOf(x, name)));

/** The discrete Fourier transform along the last axis of [real, imag]. */
export const fft: Transform = transform('fft', (x) => transformed(x, last(x[0])));
/** The discrete Fourier transform along the last two axes of [real, imag]. */
export const fft2: Transform = transform('fft2', (x) => acrossRows(transformed(x, last(x[0])), transformed));
/** The inverse of `fft2`. */
export const ifft2: Transform = transform('ifft2', (x) => acrossRows(inverse(x, last(x[0])), inverse));

/** x cut or filled with zeros to a length along its last axis. */
function fitted(x: Tensor, length: number): Tensor {
  const n = last(x);
  return n === length ? x : n > length ? x.at('...', `:${length}`) : padded(x, length - n);
}
const lengthArguments = { x: kind.asIs, fftLength: integerKind };

/** The first half of the transform of real numbers, [real, imag] [..., fftLength / 2 + 1]; the other half mirrors it. */
export const rfft: NamedFunction<
  [x: TensorLike, fftLength?: IntegerLike | null],
  ['x', 'fftLength'],
  unknown,
  Pair
> = defineFunction(named('rfft'), lengthArguments, {}, (x, fftLength: number | null = null) => {
  const t = floating(x);
  return half(fitted(t, fftLength ?? last(t)));
});
function half(x: Tensor): Pair {
  const n = last(x);
  return transformed([x, x.mul(0)], n).map((t) => t.at('...', `:${Math.floor(n / 2) + 1}`)) as Pair;
}

/** The inverse of `rfft`: real numbers [..., fftLength]. */
export const irfft: NamedFunction<
  [x: readonly [real: TensorLike, imag: TensorLike], fftLength?: IntegerLike | null],
  ['x', 'fftLength']
> = defineFunction(named('irfft'), lengthArguments, {}, (x, fftLength: number | null = null) => {
  const given = pairOf(x, 'irfft');
  return whole(given, fftLength ?? 2 * (last(given[0]) - 1));
});
function whole(x: Pair, n: number): Tensor {
  const count = Math.floor(n / 2) + 1;
  const [re, im] = x.map((t) => fitted(t, count));
  // Numbers from the other end are conjugates; those that stand alone are real.
  const places = Array.from({ length: n }, (_, i) => (i < count ? i : n - i));
  const at = constant(places, 'int32');
  const signs = places.map((p, i) => (p === 0 || 2 * p === n ? 0 : i < count ? 1 : -1));
  const sign = constant(signs, 'float64').cast(im.dtype);
  return inverse([re.gather(at, -1), im.gather(at, -1).mul(sign)], n)[0];
}

// ---- pieces of sequences

/** Pieces of a sequence [..., n] of one length at equal distances: [..., count, length]. */
function pieces(x: Tensor, length: number, stride: number): Tensor {
  const count = maxDims(0, addDims(floorDivDims(subDims(dims(x)[x.rank - 1], length), stride), 1));
  return x.gather(iota(count, stride).expandDims(1).add(iota(length)), x.rank - 1);
}

/** Pieces of a sequence [..., n] of one length at equal distances: [..., count, sequenceLength]. */
export const extractSequences: NamedFunction<
  [x: TensorLike, sequenceLength: IntegerLike, sequenceStride: IntegerLike],
  ['x', 'sequenceLength', 'sequenceStride']
> = defineFunction(
  named('extractSequences'),
  { x: kind.tensor, sequenceLength: integerKind, sequenceStride: integerKind },
  {},
  (x, sequenceLength: number, sequenceStride: number) => pieces(toTensor(x), sequenceLength, sequenceStride),
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
    return half(pieces(wide, fftLength, sequenceStride).mul(shape));
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
    const places = Array.from(
      { length: count * fftLength },
      (_, i) => Math.floor(i / fftLength) * sequenceStride + (i % fftLength),
    );
    const at = constant(places, 'int32');
    const added = (pieces: Tensor): Tensor => {
      const lead = dims(pieces).slice(0, -2);
      const rows = pieces.reshape(toShape([-1, count * fftLength])).transpose();
      return rows
        .unsortedSegmentSum(at, total)
        .transpose()
        .reshape(toShape([...lead, total]));
    };
    // By windows that repeat: each place is divided by the sum of squares of the windows there.
    const summed = window === null ? null : periodicSum(shape.square(), sequenceStride, fftLength);
    const scaled =
      summed === null
        ? frames
        : frames.mul(summed.equal(0).where(0, shape.div(summed.equal(0).where(1, summed))));
    const sum = added(scaled);
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

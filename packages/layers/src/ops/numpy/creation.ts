// Tensors of given shapes, ranges and windows.
import {
  fullLike as coreFullLike,
  ones as coreOnes,
  zeros as coreZeros,
  type DType,
  fill,
  meshgrid as grid,
  type IntegerLike,
  type NamedFunction,
  onesLike,
  range,
  type Shape,
  type ShapeLike,
  type Tensor,
  type TensorLike,
  zerosLike,
} from '@eagre/core';
import {
  checkSize,
  type Dim,
  defineFunction,
  defineVariadic,
  dims,
  iota,
  kerasDefaults,
  kind,
  sizeValue,
  toTensor,
} from '@eagre/core/internal';
import {
  floating,
  integer as integerKind,
  named,
  refuse,
  size as sizeKind,
  type Unary,
  unary,
} from '../define.ts';

export { identity as copy, onesLike, zerosLike } from '@eagre/core';

type Filled = NamedFunction<[shape: ShapeLike, dtype?: DType | null], ['shape', 'dtype']>;
/** Zeros of a shape; of `tf.keras.config.floatx()` by default. */
export const zeros: Filled = defineFunction(
  named('zeros'),
  { shape: kind.shape, dtype: kind.asIs },
  {},
  (shape, dtype: DType | null = null) => coreZeros(shape, dtype ?? kerasDefaults.floatx),
);
/** Ones of a shape; of `tf.keras.config.floatx()` by default. */
export const ones: Filled = defineFunction(
  named('ones'),
  { shape: kind.shape, dtype: kind.asIs },
  {},
  (shape, dtype: DType | null = null) => coreOnes(shape, dtype ?? kerasDefaults.floatx),
);

/** A tensor of values: numbers, lists, arrays or tensors; of their dtype unless another is given. */
export const array: NamedFunction<[x: TensorLike, dtype?: DType | null], ['x|val|a', 'dtype']> =
  defineFunction(
    named('array'),
    { 'x|val|a': kind.tensor, dtype: kind.asIs },
    {},
    (x, dtype: DType | null = null) => converted(x, dtype),
  );

const converted = (x: TensorLike, dtype: DType | null): Tensor => {
  const t = toTensor(x, dtype ?? undefined);
  return dtype === null || t.dtype === dtype ? t.identity() : t.cast(dtype);
};

/**
 * The numbers from `start` on in steps, those below `stop`; `arange(n)` counts from 0. int32 if all numbers are integers, otherwise
 * float32.
 */
export const arange: NamedFunction<
  [
    start: number | Tensor,
    stop?: number | Tensor | null,
    step?: number | Tensor | null,
    dtype?: DType | null,
  ],
  ['start', 'stop', 'step', 'dtype']
> = defineFunction(
  named('arange'),
  { start: kind.asIs, stop: kind.asIs, step: kind.asIs, dtype: kind.asIs },
  {},
  (
    start,
    stop: number | Tensor | null = null,
    step: number | Tensor | null = null,
    dtype: DType | null = null,
  ) => {
    const given = [start, stop ?? 0, step ?? 1];
    const numbers = given.every((v) => typeof v === 'number');
    const type = dtype ?? (numbers && given.every(Number.isInteger) ? 'int32' : undefined);
    return range(start, stop, step ?? 1, type === undefined ? null : { dtype: type });
  },
);

/** A tensor of one value, which is broadcast to the shape; float32 unless another dtype is given. */
export const full: NamedFunction<
  [shape: ShapeLike, fillValue: TensorLike, dtype?: DType | null],
  ['shape', 'fillValue', 'dtype']
> = defineFunction(
  named('full'),
  { shape: kind.shape, fillValue: kind.tensor, dtype: kind.asIs },
  {},
  (shape: Shape, fillValue, dtype: DType | null = null) =>
    filled(shape, fillValue, dtype ?? kerasDefaults.floatx),
);

function filled(shape: Shape, value: TensorLike, dtype: DType): Tensor {
  if (typeof value === 'number') return fill(shape, value, dtype);
  return toTensor(value).cast(dtype).broadcastTo(shape);
}

/** A tensor like another one, with one value throughout. */
export const fullLike: NamedFunction<
  [x: TensorLike, fillValue: TensorLike, dtype?: DType | null],
  ['x|a', 'fillValue', 'dtype']
> = defineFunction(
  named('fullLike'),
  { 'x|a': kind.tensor, fillValue: kind.tensor, dtype: kind.asIs },
  {},
  (x, fillValue, dtype: DType | null = null) => {
    const t = toTensor(x);
    if (typeof fillValue === 'number') return coreFullLike(t, fillValue, dtype ?? t.dtype);
    return filled(t.shape, fillValue, dtype ?? t.dtype);
  },
);

/** A tensor whose values do not matter; they are 0. */
export const empty: NamedFunction<[shape: ShapeLike, dtype?: DType | null], ['shape', 'dtype']> =
  defineFunction(
    named('empty'),
    { shape: kind.shape, dtype: kind.asIs },
    {},
    (shape, dtype: DType | null = null) => zeros(shape, dtype ?? kerasDefaults.floatx),
  );

/** A tensor like another one, whose values do not matter; they are 0. */
export const emptyLike: NamedFunction<[x: TensorLike, dtype?: DType | null], ['x|a', 'dtype']> =
  defineFunction(
    named('emptyLike'),
    { 'x|a': kind.tensor, dtype: kind.asIs },
    {},
    (x, dtype: DType | null = null) => zerosLike(x, dtype ?? undefined),
  );

/** Ones up to a diagonal, zeros above: `column ≤ row + k`. */
const below = (rows: Dim, columns: Dim, k: number): Tensor =>
  iota(columns).lessEqual(iota(rows).expandDims(1).add(k));

/** A matrix [N, M] of ones on and below its diagonal of number `k`, zeros above. */
export const tri: NamedFunction<
  [N: IntegerLike, M?: IntegerLike | null, k?: IntegerLike, dtype?: DType | null],
  ['N', 'M', 'k', 'dtype']
> = defineFunction(
  named('tri'),
  { N: sizeKind, M: sizeKind, k: integerKind, dtype: kind.asIs },
  {},
  (N: number, M: number | null = null, k: number = 0, dtype: DType | null = null) =>
    below(checkSize(N, 'N', named('tri')), M ?? N, k).cast(dtype ?? kerasDefaults.floatx),
);

/** A matrix [N, M] of ones on its diagonal of number `k`, zeros elsewhere. */
export const eye: NamedFunction<
  [N: IntegerLike, M?: IntegerLike | null, k?: IntegerLike, dtype?: DType | null],
  ['N', 'M', 'k', 'dtype']
> = defineFunction(
  named('eye'),
  { N: sizeKind, M: sizeKind, k: integerKind, dtype: kind.asIs },
  {},
  (N: number, M: number | null = null, k: number = 0, dtype: DType | null = null) =>
    diagonalOfOnes(checkSize(N, 'N', named('eye')), M ?? N, k).cast(dtype ?? kerasDefaults.floatx),
);

const diagonalOfOnes = (rows: Dim, columns: Dim, k: number): Tensor =>
  iota(columns).equal(iota(rows).expandDims(1).add(k));

/** The matrix [n, n] of ones on the diagonal, zeros elsewhere. */
export const identity: NamedFunction<[n: IntegerLike, dtype?: DType | null], ['n', 'dtype']> = defineFunction(
  named('identity'),
  { n: sizeKind, dtype: kind.asIs },
  {},
  (n: number, dtype: DType | null = null) =>
    diagonalOfOnes(checkSize(n, 'n', named('identity')), n, 0).cast(dtype ?? kerasDefaults.floatx),
);

interface Spacing {
  /** Whether `stop` is the last number; true by default. */
  readonly endpoint?: boolean;
  /** float32 unless the ends have another dtype of floats. */
  readonly dtype?: DType | null;
  /** The axis of the result along which the numbers are; the first by default. */
  readonly axis?: IntegerLike;
}
type Spaced<O = Spacing, R = Tensor> = NamedFunction<
  [start: TensorLike, stop: TensorLike, num?: IntegerLike],
  ['start', 'stop', 'num'],
  O,
  R
>;
const ends = { start: kind.tensor, stop: kind.tensor, num: sizeKind };
const spacing = { endpoint: kind.asIs, dtype: kind.asIs, axis: kind.axis };

interface Numbers {
  readonly values: Tensor;
  readonly step: Tensor;
}

/** Numbers at equal distances, along the first axis. */
function spaced(start: TensorLike, stop: TensorLike, num: number, endpoint: boolean): Numbers {
  checkSize(num, 'num', named('linspace'));
  const [first, last] = [floating(start), floating(stop)];
  const distance = last.sub(first);
  const count = sizeValue(num as Dim, 'float64');
  const parts =
    typeof count === 'number' ? Math.max(1, endpoint ? count - 1 : count) : count.sub(endpoint ? 1 : 0);
  const shares = iota(num as Dim)
    .cast('float64')
    .div(parts);
  const by = shares.cast(distance.dtype).reshape([-1, ...distance.shape.map(() => 1)]);
  // Both ends are exact.
  const values = first.mul(by.mul(-1).add(1)).add(last.mul(by));
  return { values, step: distance.div(typeof parts === 'number' ? parts : parts.cast(distance.dtype)) };
}

const placed = (x: Tensor, { axis = 0, dtype }: Spacing): Tensor => {
  const moved = axis === 0 ? x : x.moveAxis(0, axis as number);
  return dtype === undefined || dtype === null ? moved : moved.cast(dtype);
};

/**
 * `num` numbers at equal distances from `start` to `stop`, which may be tensors that broadcast.
 * @param options.retstep whether to give [the numbers, their distance].
 */
export const linspace: Spaced<
  Spacing & {
    /** Whether the step is given too; false by default. */
    readonly retstep?: boolean;
  }
> = defineFunction<Spaced<Spacing & { readonly retstep?: boolean }, unknown>>(
  named('linspace'),
  ends,
  { ...spacing, retstep: kind.asIs },
  (start, stop, num: number = 50, options) => {
    const { values, step } = spaced(start, stop, num, options.endpoint ?? true);
    const result = placed(values, options);
    return options.retstep === true ? [result, step] : result;
  },
) as never;

/** `num` numbers whose logarithms to the base are at equal distances: from `base` to the `start` to `base` to the `stop`. */
export const logspace: Spaced<
  Spacing & {
    /** Whose powers are given; 10 by default. */
    readonly base?: number;
  }
> = defineFunction(
  named('logspace'),
  ends,
  { ...spacing, base: kind.asIs },
  (start, stop, num: number = 50, options) => {
    const { values } = spaced(start, stop, num, options.endpoint ?? true);
    return placed(values.mul(Math.log(options.base ?? 10)).exp(), options);
  },
);

/** `num` numbers from `start` to `stop`, each the same multiple of the one before. */
export const geomspace: Spaced = defineFunction(
  named('geomspace'),
  ends,
  spacing,
  (start, stop, num: number = 50, options) => {
    const [first, last] = [floating(start), floating(stop)];
    const { values } = spaced(first.abs().log(), last.abs().log(), num, options.endpoint ?? true);
    return placed(values.exp().mul(first.sign()), options);
  },
);

/** The coordinates of a grid: a tensor of the grid's shape for each vector. */
export const meshgrid: (
  ...args:
    | [...x: TensorLike[]]
    | [
        ...x: TensorLike[],
        options: {
          /** `xy`, the default: the first input runs along columns. `ij`: along rows. */
          readonly indexing?: 'xy' | 'ij';
        },
      ]
) => Tensor[] = defineVariadic(
  named('meshgrid'),
  {},
  'x',
  { indexing: kind.asIs },
  (vectors: readonly TensorLike[], options: { indexing?: 'xy' | 'ij' }) => grid(vectors, options),
);

/** Windows of `n` values: of cosines at multiples of a whole turn. */
function cosines(name: string, weights: readonly number[]): Unary {
  return unary(name, (x) =>
    windowOf(x, name, (turn) => {
      let sum = turn.mul(0).add(weights[0]);
      weights.slice(1).forEach((weight, i) => {
        sum = sum.add(
          turn
            .mul(i + 1)
            .cos()
            .mul(weight),
        );
      });
      return sum;
    }),
  );
}

/** @param of the values at 0 … 2π */
function windowOf(x: Tensor, name: string, of: (turn: Tensor) => Tensor): Tensor {
  if (x.rank !== 0) refuse(`x is of rank ${x.rank}, expected one number`, name);
  const n = Number(x.item());
  if (n <= 1) return onesLike(zeros([Math.max(0, n)]));
  return of(range(0, n, 1, { dtype: 'float64' }).mul((2 * Math.PI) / (n - 1))).cast('float32');
}

/** Hamming's window of x values (a number): float32 [x]. */
export const hamming: Unary = cosines('hamming', [0.54, -0.46]);
/** Hann's window of x values (a number): float32 [x]. */
export const hanning: Unary = cosines('hanning', [0.5, -0.5]);
/** Blackman's window of x values (a number): float32 [x]. */
export const blackman: Unary = cosines('blackman', [0.42, -0.5, 0.08]);
/** Bartlett's window of x values (a number), a triangle: float32 [x]. */
export const bartlett: Unary = unary('bartlett', (x) =>
  windowOf(x, 'bartlett', (turn) => turn.div(Math.PI).sub(1).abs().mul(-1).add(1)),
);

/** Kaiser's window of x values (a number) with the shape `beta`: float32 [x]. */
export const kaiser: NamedFunction<[x: TensorLike, beta: number], ['x', 'beta']> = defineFunction(
  named('kaiser'),
  { x: kind.tensor, beta: kind.asIs },
  {},
  (x, beta) =>
    windowOf(toTensor(x), 'kaiser', (turn) => {
      const at = turn.div(Math.PI).sub(1).square().mul(-1).add(1).maximum(0).sqrt();
      return bessel(at.mul(beta)).div(bessel(toTensor(beta, 'float64')));
    }),
);

// Abramowitz and Stegun 9.8.1 and 9.8.2: two polynomials.
const NEAR = [1, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813];
const FAR = [
  0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633,
  0.00392377,
];
const polynomial = (x: Tensor, factors: readonly number[]): Tensor =>
  factors.slice(0, -1).reduceRight((sum, f) => sum.mul(x).add(f), x.mul(0).add(factors[factors.length - 1]));

/** The modified Bessel function of order 0. */
function bessel(x: Tensor): Tensor {
  const size = x.abs();
  const near = polynomial(size.minimum(3.75).div(3.75).square(), NEAR);
  const far = size.maximum(3.75);
  const outer = far
    .exp()
    .div(far.sqrt())
    .mul(polynomial(far.reciprocal().mul(3.75), FAR));
  return size.less(3.75).where(near, outer);
}

/** The modified Bessel function of the first kind and order 0, accurate to about 7 digits. */
export const i0: Unary = unary('i0', bessel, floating);

/** The powers of a vector's values as columns [n, N]: falling, or rising from 0 on. */
export const vander: NamedFunction<
  [x: TensorLike, N?: IntegerLike | null],
  ['x', 'N'],
  {
    /** Whether powers rise from left to right; false by default. */
    readonly increasing?: boolean;
  }
> = defineFunction(
  named('vander'),
  { x: kind.tensor, N: sizeKind },
  { increasing: kind.asIs },
  (x, N: number | null = null, options) => {
    const t = toTensor(x);
    if (t.rank !== 1) refuse(`x has shape [${t.shape}], expected rank 1`, 'vander');
    const powers = iota((N as Dim | null) ?? dims(t)[0]).cast(t.dtype);
    return t.expandDims(1).pow(options.increasing === true ? powers : powers.reverse(0));
  },
);

// `tf.keras.ops`: special functions, segments, the largest values, complex numbers.
import {
  complex,
  type IntegerLike,
  math,
  type NamedFunction,
  stack,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import { type Dim, defineFunction, kind, pair, toTensor } from '@eagre/core/internal';
import {
  type Along,
  along,
  floating,
  integer as integerKind,
  named,
  size as sizeKind,
  type Unary,
  unary,
  unaryFloat,
} from './define.ts';
import { cholesky } from './linalg/factors.ts';

export { erf, erfc, erfinv } from '@eagre/core';
export * from './math/fourier.ts';

/** 1 / √x. */
export const rsqrt: Unary = unaryFloat('rsqrt', (x) => x.rsqrt());
/** The logarithm of the sum of exponentials over axes. */
export const logsumexp: Along = along(
  'logsumexp',
  (x, axis, options) => x.logSumExp(axis, options),
  floating,
);

/** The `k` largest values along the last axis in falling order, and their places (int32): [values, indices]. */
export const topK: NamedFunction<
  [x: TensorLike, k: IntegerLike],
  ['x', 'k'],
  { readonly sorted?: boolean },
  [values: Tensor, indices: Tensor]
> = defineFunction(named('topK'), { x: kind.tensor, k: sizeKind }, { sorted: kind.asIs }, (x, k: number) => {
  const { values, indices } = math.topK(x, k);
  return [values, indices];
});

/** For each example whether its class is among the `k` largest of its predictions. */
export const inTopK: NamedFunction<
  [targets: TensorLike, predictions: TensorLike, k: IntegerLike],
  ['targets', 'predictions', 'k']
> = defineFunction(
  named('inTopK'),
  { targets: kind.tensor, predictions: kind.tensor, k: integerKind },
  {},
  (targets, predictions, k: number) => math.inTopK(toTensor(targets, 'int32'), predictions, k),
);

// ---- segments

type Segment = NamedFunction<
  [data: TensorLike, segmentIds: TensorLike, numSegments?: IntegerLike | null],
  ['data', 'segmentIds', 'numSegments'],
  { readonly sorted?: boolean }
>;
const segment = (name: string, run: (data: Tensor, ids: Tensor, count: Dim | Tensor) => Tensor): Segment =>
  defineFunction(
    named(name),
    { data: kind.tensor, segmentIds: kind.tensor, numSegments: sizeKind },
    { sorted: kind.asIs },
    (data, segmentIds, numSegments: number | null = null) => {
      const ids = toTensor(segmentIds, 'int32');
      const i = ids.dtype === 'int64' ? ids : ids.cast('int32');
      return run(toTensor(data), i, numSegments ?? i.max().add(1));
    },
  );
/** The sums of the rows that have the same number. */
export const segmentSum: Segment = segment('segmentSum', (data, ids, count) =>
  data.unsortedSegmentSum(ids, count as number),
);

/** The largest of the rows that have the same number; the lowest number of the dtype where there are none. */
export const segmentMax: Segment = segment('segmentMax', (data, ids, count) =>
  math.unsortedSegmentMax(data, ids, count as number),
);
/** The smallest of the rows that have the same number; the highest number of the dtype where there are none. */
export const segmentMin: Segment = segment('segmentMin', (data, ids, count) =>
  math.unsortedSegmentMin(data, ids, count as number),
);
/** The products of the rows that have the same number; 1 where there are none. */
export const segmentProd: Segment = segment('segmentProd', (data, ids, count) =>
  math.unsortedSegmentProd(data, ids, count as number),
);

// ---- distances, complex numbers, determinants

/** The distances of all rows of x [..., n, size] from all of y [..., m, size]: [..., n, m]. */
export const cdist: NamedFunction<[x: TensorLike, y: TensorLike], ['x', 'y']> = defineFunction(
  named('cdist'),
  { x: kind.tensor, y: kind.tensor },
  {},
  (x, y) => {
    const [a, b] = pair(floating(x), floating(y), named('cdist'));
    return a.expandDims(-2).sub(b.expandDims(-3)).square().sum(-1).sqrt();
  },
);

/** Pairs of numbers [..., 2] as complex numbers [...]. */
export const viewAsComplex: Unary = unary('viewAsComplex', (x) => complex(x.at('...', 0), x.at('...', 1)));
/** Complex numbers [...] as pairs of numbers [..., 2]. */
export const viewAsReal: Unary = unary('viewAsReal', (x) => stack([x.real(), x.imag()], -1));

/** The logarithm of the determinant of symmetric positive definite matrices. */
export const logdet: Unary = unaryFloat('logdet', (x) => cholesky(x).diagPart().log().sum(-1).mul(2));

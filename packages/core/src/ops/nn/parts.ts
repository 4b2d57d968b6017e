// Parts of networks that need no kernels of their own.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineElementwise, execute1, type Op, pair } from '../../dispatch/op.ts';
import { uniform } from '../../dispatch/samples.ts';
import * as random from '../../random/random.ts';
import type { Dim } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { type PartialShape, show, showShape } from '../../shapes/shape.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { shortenedRows } from '../../sparse/embedding.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { gather } from '../array/gather.ts';
import { toIndices } from '../array/moving.ts';
import { expandDims, identity, reshape } from '../array/shaping.ts';
import { where } from '../elementwise/select.ts';
import { noiseShapeOf } from './noise-shape.ts';

/**
 * Adds a bias [c] along the axis of channels.
 * @param options.dataFormat where the channels are: `N...C`, `NHWC` and the like for the last axis, as by default; `NC...`, `NCHW` and the
 * like for the second one.
 * @throws InvalidArgumentError for another shape.
 */
export const biasAdd: NamedFunction<
  [x: TensorLike, bias: TensorLike],
  ['x|value', 'bias'],
  { dataFormat?: string | null }
> = /* @__PURE__ */ defineFunction(
  'nn.biasAdd',
  { 'x|value': kind.tensor, bias: kind.tensor },
  { dataFormat: kind.asIs },
  (x, bias, options) => {
    const format = options.dataFormat ?? 'N...C';
    if (typeof format !== 'string' || !/^(NC|N.*C$)/.test(format))
      throw new InvalidArgumentError(
        `dataFormat is ${show(format)}, expected 'N...C' or 'NC...', or one such as 'NHWC' or 'NCHW'`,
        'BiasAdd',
      );
    const [t, b] = pair(x, bias, 'BiasAdd');
    const first = format.startsWith('NC');
    if (t.rank < 2 || b.rank !== 1 || differs(dims(b)[0], dims(t)[first ? 1 : t.rank - 1])) {
      throw new InvalidArgumentError(
        `x has shape ${showShape(t.shape)} and bias ${showShape(b.shape)}, expected ${first ? '[n, c, ...]' : '[..., c]'} of rank 2 or more and [c]`,
        'BiasAdd',
      );
    }
    if (!first || t.rank === 2) return t.add(b);
    return t.add(reshape(b, toShape([...dims(b), ...new Array<number>(t.rank - 2).fill(1)])));
  },
);

/** x scaled by 1 / (1 − rate) where noise is at least the rate, 0 elsewhere. */
const dropoutOp: Op = defineElementwise({
  name: 'Dropout',
  key: (attrs) => String(attrs.rate),
  scalar: (attrs) => (s, x, noise) =>
    s.select(s.ge(noise, attrs.rate as number), s.mul(x, 1 / (1 - (attrs.rate as number))), 0),
  grad: ({ inputs, attrs }, dy) => [execute1(dropoutOp, [dy, inputs[1]], attrs), null],
  samples: () => [
    { inputs: [uniform([4, 5]), uniform([4, 5], 0, 1)], attrs: { rate: 0.4 } },
    { inputs: [uniform([4, 5]), uniform([4, 1], 0, 1)], attrs: { rate: 0.5 } },
  ],
});

/**
 * Puts a share `rate` of the elements to 0, at random, and scales the others by 1 / (1 − rate), so that the expected sum stays.
 * @param rate from 0, and less than 1.
 * @param options.noiseShape broadcasts to x: what lies along dimensions of 1 is dropped or kept as a whole, such as
 * `[batch, 1, 1, channels]`, where null stands for x's own dimension.
 */
export const dropout: NamedFunction<
  [x: TensorLike, rate: number],
  ['x', 'rate'],
  { seed?: number | random.SeedSource; noiseShape?: readonly (IntegerLike | null)[] | Tensor | null }
> = /* @__PURE__ */ defineFunction(
  'nn.dropout',
  { x: kind.tensor, rate: kind.asIs },
  { seed: kind.asIs, noiseShape: kind.shape },
  (x, rate, options: { seed?: number | random.SeedSource; noiseShape?: PartialShape | null }) => {
    const t = toTensor(x);
    checkDType(t.dtype, 'floating', 'x', 'dropout');
    if (typeof rate !== 'number' || !(rate >= 0 && rate < 1))
      throw new InvalidArgumentError(`rate is ${show(rate)}, expected 0 ≤ rate < 1`, 'dropout');
    if (rate === 0) return identity(t);
    const shape = noiseShapeOf(options.noiseShape ?? t.shape, t, 'dropout');
    const noise = random.uniform(shape, {
      dtype: t.dtype,
      ...(options.seed === undefined ? {} : { seed: options.seed }),
    });
    return execute1(dropoutOp, [t, noise], { rate });
  },
);

/**
 * Rows of `params` at `ids` (int32 or int64): shape of ids, then that of a row.
 * Of ragged ids it is ragged as they are.
 * @param options.maxNorm the length to which longer rows are shortened.
 * @throws OutOfRangeError
 */
export const embeddingLookup: NamedFunction<
  [params: TensorLike, ids: TensorLike],
  ['params', 'ids'],
  { maxNorm?: TensorLike | null }
> = /* @__PURE__ */ defineFunction(
  'nn.embeddingLookup',
  { params: kind.tensor, ids: kind.tensor },
  { maxNorm: kind.tensor },
  (params, ids, { maxNorm }) => {
    const at = toIndices(ids, 'ids', 'GatherV2');
    return shortenedRows(gather(params, at, 0), maxNorm, at.rank);
  },
);

/** For each example whether the target class (int32 or int64 [n]) is among the k largest of its predictions [n, classes]. */
export const inTopK: NamedFunction<
  [targets: TensorLike, predictions: TensorLike, k: IntegerLike],
  ['targets', 'predictions', 'k'],
  unknown,
  Tensor<'bool'>
> = /* @__PURE__ */ defineFunction(
  'nn.inTopK',
  { targets: kind.tensor, predictions: kind.tensor, k: kind.integer },
  {},
  (targets, predictions, k: number) => {
    const t = toIndices(targets, 'targets', 'InTopKV2');
    const p = toTensor(predictions);
    if (p.rank !== 2 || t.rank !== 1 || differs(dims(t)[0], dims(p)[0])) {
      throw new InvalidArgumentError(
        `targets ${showShape(t.shape)} and predictions ${showShape(p.shape)} must be [n] and [n, classes]`,
        'InTopKV2',
      );
    }
    // No class outside of the predictions is among the largest, and none is where a prediction is not finite.
    const known = t.greaterEqual(0).logicalAnd(t.less(sizeValue(dims(p)[1] as Dim, t.dtype)));
    const own = gather(p, expandDims(where(known, t, 0), -1), 1, { batchDims: 1 });
    const among = p.greater(own).cast('int32').sum(-1).less(k);
    return among.logicalAnd(p.isFinite().all(-1)).logicalAnd(known);
  },
);

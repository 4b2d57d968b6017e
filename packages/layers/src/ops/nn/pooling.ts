// Pooling of sequences, images and volumes.
import { gather, type NamedFunction, nn, type Tensor, type TensorLike } from '@eagre/core';
import {
  addDims,
  defineFunction,
  dims,
  floorDivDims,
  iota,
  kind,
  sizeValue,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { channelsLast, type DataFormat, floating, named } from '../define.ts';
import { each, type Padding, paddingOf, type Sizes } from './conv.ts';

interface PoolOptions {
  /** The windows' size by default. */
  readonly strides?: Sizes | null;
  /** `valid` by default. */
  readonly padding?: Padding;
  readonly dataFormat?: DataFormat | null;
}
type Pool = NamedFunction<[inputs: TensorLike, poolSize: Sizes], ['inputs', 'poolSize'], PoolOptions>;

const pooling = (name: string, pool: typeof nn.maxPool, read: (x: TensorLike) => Tensor): Pool =>
  defineFunction(
    named(name),
    { inputs: kind.tensor, poolSize: kind.asIs },
    { strides: kind.asIs, padding: kind.asIs, dataFormat: kind.asIs },
    (inputs, poolSize, { strides, padding, dataFormat }) => {
      const x = read(inputs);
      const window = each(poolSize, x.rank - 2, 1);
      const steps = strides === undefined || strides === null ? window : each(strides, x.rank - 2, 1);
      return channelsLast(x, dataFormat, name, (images) =>
        pool(images, window as [number], { strides: steps as [number], padding: paddingOf(padding, name) }),
      );
    },
  );
/** The largest value of each window of [batch, ...sizes, channels]. */
export const maxPool: Pool = pooling('maxPool', nn.maxPool, toTensor);
/** The mean of each window of [batch, ...sizes, channels]; what is beyond the border does not count. */
export const averagePool: Pool = pooling('averagePool', nn.avgPool, floating);

/**
 * One direction pooled by as many windows as asked for: that of number i is from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.
 */
export function adaptivelyPooled(x: Tensor, axis: number, n: number, reduction: 'mean' | 'max'): Tensor {
  const own = dims(x);
  const size = sizeValue(own[axis], 'int32');
  const i = iota(n).expandDims(1);
  const begin = i.mul(size).floorDiv(n);
  const end = i
    .add(1)
    .mul(size)
    .add(n - 1)
    .floorDiv(n);
  const longest = addDims(floorDivDims(addDims(own[axis], n - 1), n), 1);
  // Shorter windows see their last element again, which no maximum minds.
  const places = begin.add(iota(longest));
  const seen = gather(x, places.minimum(end.sub(1)), axis);
  if (reduction === 'max') return seen.max(axis + 1);
  const shares = places.less(end).cast(x.dtype).div(end.sub(begin).cast(x.dtype));
  return seen.mul(shares.reshape(toShape([n, longest, ...own.slice(axis + 1).map(() => 1)]))).sum(axis + 1);
}

type Adaptive = NamedFunction<
  [inputs: TensorLike, outputSize: Sizes],
  ['inputs', 'outputSize'],
  { readonly dataFormat?: DataFormat | null }
>;
const adaptive = (name: string, reduction: 'mean' | 'max', read: (x: TensorLike) => Tensor): Adaptive =>
  defineFunction(
    named(name),
    { inputs: kind.tensor, outputSize: kind.asIs },
    { dataFormat: kind.asIs },
    (inputs, outputSize, { dataFormat }) =>
      channelsLast(read(inputs), dataFormat, name, (x) =>
        each(outputSize, x.rank - 2, 1).reduce((y, n, i) => adaptivelyPooled(y, i + 1, n, reduction), x),
      ),
  );
/** The means of as many windows as asked for in each direction. */
export const adaptiveAveragePool: Adaptive = adaptive('adaptiveAveragePool', 'mean', floating);
/** The largest values of as many windows as asked for in each direction. */
export const adaptiveMaxPool: Adaptive = adaptive('adaptiveMaxPool', 'max', toTensor);

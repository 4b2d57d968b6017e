// Pooling of sequences, images and volumes.
import { type NamedFunction, nn, type Tensor, type TensorLike } from '@eagre/core';
import { defineFunction, kind, toTensor } from '@eagre/core/internal';
import { channelsLast, type DataFormat, floating, named } from '../define.ts';
import { adaptivelyPooled, each, type Padding, paddingOf, type Sizes } from './windows.ts';

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

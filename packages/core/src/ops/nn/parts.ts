// Parts of networks that need no kernels of their own.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineElementwise, execute1, type Op, pair } from '../../dispatch/op.ts';
import { uniform } from '../../dispatch/samples.ts';
import * as random from '../../random/random.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { type PartialShape, show, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { identity, reshape } from '../array/shaping.ts';
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
  {
    /** Where the channels are: last (`NHWC`, the default), or behind the batch (`NCHW`). */
    dataFormat?: string | null;
  }
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
  {
    /** Makes what is dropped the same in each run of the program; drawn anew unless given. */
    seed?: number | random.SeedSource;
    /** Dimensions of 1 are dropped or kept as a whole; the input's shape by default. */
    noiseShape?: readonly (IntegerLike | null)[] | Tensor | null;
  }
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

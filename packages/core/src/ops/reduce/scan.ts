import { isComplex } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, type GradContext, type Op } from '../../dispatch/op.ts';
import { integers, type Sample, uniform, values } from '../../dispatch/samples.ts';
import { dims } from '../../shapes/dims.ts';
import { checkFlag, normalizeAxis } from '../../shapes/shape.ts';
import { atMost, lessThan } from '../../shapes/shape-env.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { complexCumprod, shifted } from './doubling.ts';

/** Options of `cumsum`, `cumprod` and `cumulativeLogsumexp`. */
export interface ScanOptions {
  /** Leaves out the element itself: the result starts with 0 (for a product, 1); false by default. */
  readonly exclusive?: boolean;
  /** Runs from the end to the start; false by default. */
  readonly reverse?: boolean;
}

const scanSamples = (): readonly Sample[] => [
  { inputs: [uniform([3, 5])], attrs: { axis: 1, exclusive: false, reverse: false } },
  { inputs: [uniform([2, 4, 3])], attrs: { axis: 1, exclusive: true, reverse: false } },
  { inputs: [uniform([6])], attrs: { axis: 0, exclusive: false, reverse: true } },
  { inputs: [uniform([6, 2])], attrs: { axis: 0, exclusive: true, reverse: true } },
  { inputs: [integers([7], -3, 4)], attrs: { axis: 0, exclusive: false, reverse: false } },
];

/** The running sum along an axis. */
const cumsumOp: Op = defineOp({
  name: 'Cumsum',
  ulp: 16,
  kernel: 'CumSum',
  infer: ([x]) => ({ dtype: x.dtype, shape: x.shape }),
  grad: ({ attrs }, dy) => execute1(cumsumOp, [dy], { ...attrs, reverse: attrs.reverse !== true }),
  samples: scanSamples,
});
/** The running product along an axis. */
const cumprodOp: Op = defineOp({
  name: 'Cumprod',
  ulp: 16,
  kernel: 'CumProd',
  infer: ([x]) => ({ dtype: x.dtype, shape: x.shape }),
  grad: (g, dy) => cumprodGrad(g, dy),
  samples: () => [
    ...scanSamples(),
    { inputs: [values([2, 0, 3, 0, -1])], attrs: { axis: 0, exclusive: false, reverse: false } },
  ],
});

/**
 * With L the product of what lies before an element, its gradient is L · S, where S adds up the dy from there on, each times
 * the factors in between: S[k] = dy[k] + x[k+1] · S[k+1]. That recurrence is solved by doubling, in about log2(n) steps, with
 * no division, which would fail at 0.
 */
function cumprodGrad(g: GradContext, dy: Tensor): Tensor {
  const { axis, exclusive, reverse } = g.attrs as { axis: number; exclusive: boolean; reverse: boolean };
  const turned = (t: Tensor): Tensor => (reverse ? t.reverse(axis) : t);
  const x = turned(g.x);
  const n = dims(x)[axis];
  const later = (t: Tensor, by: number): Tensor => shifted(t, axis, by, 0);
  if (atMost(n, 0)) return dy;
  let sum = exclusive ? later(turned(dy), 1) : turned(dy);
  let factor = later(x, 1);
  for (let by = 1; lessThan(by, n); by *= 2) {
    sum = sum.add(factor.mul(later(sum, by)));
    if (lessThan(2 * by, n)) factor = factor.mul(later(factor, by));
  }
  return turned(x.cumprod(axis, { exclusive: true }).mul(sum));
}

function scan(op: Op, x: TensorLike, axis: number, options: ScanOptions): Tensor {
  const value = toTensor(x);
  checkDType(value.dtype, 'numeric', 'x', op.name);
  const along = normalizeAxis(axis, value.rank, op.name);
  const exclusive = checkFlag(options.exclusive, 'exclusive', op.name);
  const reverse = checkFlag(options.reverse, 'reverse', op.name);
  if (op === cumprodOp && isComplex(value.dtype)) return complexCumprod(value, along, exclusive, reverse);
  return execute1(op, [value], { axis: along, exclusive, reverse });
}
/**
 * The running sum along one axis.
 * @example tf.cumsum([1, 2, 3]) // [1, 3, 6]; exclusive: [0, 1, 3]; reverse: [6, 5, 3]
 */
export const cumsum: NamedFunction<[x: TensorLike, axis?: IntegerLike], ['x', 'axis'], ScanOptions> =
  defineFunction(
    'cumsum',
    { x: kind.tensor, axis: kind.axis },
    { exclusive: kind.asIs, reverse: kind.asIs },
    (x, axis: number = 0, options) => scan(cumsumOp, x, axis, options),
  );
/** The running product along one axis. Its gradient is right where factors are 0, too. */
export const cumprod: NamedFunction<[x: TensorLike, axis?: IntegerLike], ['x', 'axis'], ScanOptions> =
  defineFunction(
    'cumprod',
    { x: kind.tensor, axis: kind.axis },
    { exclusive: kind.asIs, reverse: kind.asIs },
    (x, axis: number = 0, options) => scan(cumprodOp, x, axis, options),
  );

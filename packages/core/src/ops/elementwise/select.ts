import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineElementwise, execute1, type Op, opHooks, pair, sumTo } from '../../dispatch/op.ts';
import { bools, integers, uniform, values } from '../../dispatch/samples.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, common } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { move } from '../array/moving.ts';

/** x where the condition holds, else y, element-wise; all three broadcast. */
const selectOp: Op = defineElementwise({
  name: 'SelectV2',
  samples: () => [
    { inputs: [bools([3, 4]), uniform([3, 4]), uniform([3, 4])] },
    { inputs: [bools([3, 1]), uniform([4]), uniform([2, 1, 1])] },
    { inputs: [bools([5]), integers([5], -9, 9), integers([], -9, 9)] },
  ],
  scalar: () => (s, condition, x, y) => s.select(condition, x, y),
  check: ([condition, x]) => {
    checkDType(condition.dtype, 'bool', 'condition', 'SelectV2');
    checkDType(x.dtype, 'any', 'x', 'SelectV2');
  },
  grad: (g, dy) => {
    const [condition, x, y] = g.inputs;
    return [
      null,
      g.needs(1) ? sumTo(where(condition, dy, 0), x.shape) : null,
      g.needs(2) ? sumTo(where(condition, 0, dy), y.shape) : null,
    ];
  },
});
type WhereCall = NamedFunction<
  [condition: TensorLike, x?: TensorLike | null, y?: TensorLike | null],
  ['condition', 'x', 'y']
>;
interface Where extends WhereCall {
  (condition: TensorLike): Tensor<'int64'>;
}
/**
 * x where the condition holds, else y. All three broadcast; x and y are promoted to one dtype. Without x and y, the coordinates of
 * the elements that are true or not 0, as of `nonzero`: int64 [n, rank].
 * @param condition a bool tensor, such as `x.greater(0)`.
 * @throws InvalidArgumentError when the condition is not bool, the shapes do not broadcast, or one of x and y is missing.
 */
export const where: Where = defineFunction<WhereCall>(
  'where',
  { condition: kind.tensor, x: kind.optional(kind.tensor), y: kind.optional(kind.tensor) },
  {},
  (condition, x = undefined, y = undefined) => {
    if (x === undefined || x === null || y === undefined || y === null) {
      if ((x ?? y ?? null) === null) return toTensor(condition).nonzero();
      throw new InvalidArgumentError(
        'give both x and y, or neither to get the coordinates of the true elements',
        'SelectV2',
      );
    }
    return move(selectOp, [toTensor(condition), ...pair(x, y, 'SelectV2')], {});
  },
);

/** x limited to low … high, element-wise: max(min(x, high), low). All three broadcast. */
const clipOp: Op = defineElementwise({
  name: 'ClipByValue',
  samples: () => [
    { inputs: [uniform([3, 5]), values([-0.5], []), values([1], [])] },
    { inputs: [uniform([2, 1, 4]), uniform([3, 1], -1.5, -0.5), uniform([4], 0.5, 1.5)] },
    { inputs: [integers([7], -9, 9), integers([], -3, -2), integers([], 3, 4)] },
  ],
  scalar: () => (s, x, low, high) => s.max(s.min(x, high), low),
  check: ([x]) => checkDType(x.dtype, 'numeric', 'x', 'ClipByValue'),
  grad: (g, dy) => {
    const [x, low, high] = g.inputs;
    const under = x.lessEqual(high);
    // As of minimum and maximum, also where the limits have changed places.
    const free = g.needs(1) || g.needs(2) ? x.minimum(high).greaterEqual(low) : null;
    return [
      g.needs(0) ? sumTo(where(under.logicalAnd(x.greaterEqual(low)), dy, 0), x.shape) : null,
      g.needs(1) && free !== null ? sumTo(where(free, 0, dy), low.shape) : null,
      g.needs(2) && free !== null
        ? sumTo(where(free.logicalAnd(under.logicalNot()), dy, 0), high.shape)
        : null,
    ];
  },
});

/** A limit as a tensor of the dtype of what it limits. */
function limit(value: TensorLike, dtype: Tensor['dtype'], name: string): Tensor {
  const bound = toTensor(value, dtype);
  if (bound.dtype === dtype) return bound;
  if (common(dtype, bound.dtype, 'ClipByValue') !== dtype) {
    throw new InvalidArgumentError(
      `${name} is ${bound.dtype}, which x (${dtype}) cannot represent; cast one of them`,
      'ClipByValue',
    );
  }
  return opHooks.cast(bound, dtype);
}

/**
 * x limited to `low` … `high`, element-wise; `low` where that is above `high`. The limits are numbers or tensors that broadcast
 * with x. The gradient passes where x lies between them, both included.
 */
export const clipByValue: NamedFunction<
  [x: TensorLike, low: TensorLike, high: TensorLike],
  ['x|t', 'low|clipValueMin', 'high|clipValueMax']
> = defineFunction(
  'clipByValue',
  { 'x|t': kind.tensor, 'low|clipValueMin': kind.tensor, 'high|clipValueMax': kind.tensor },
  {},
  (x, low, high) => {
    const value = toTensor(x);
    return execute1(clipOp, [value, limit(low, value.dtype, 'low'), limit(high, value.dtype, 'high')]);
  },
);
/** NumPy's name for `clipByValue`. */
export const clip: NamedFunction<[x: TensorLike, low: TensorLike, high: TensorLike], ['x', 'low', 'high']> =
  defineFunction('clip', { x: kind.tensor, low: kind.tensor, high: kind.tensor }, {}, (x, low, high) =>
    clipByValue(x, low, high),
  );

/** start + weight · (end − start), element-wise: on the way from start (weight 0) to end (weight 1). All three broadcast. */
const lerpOp: Op = defineElementwise({
  name: 'Lerp',
  ulp: 16,
  samples: () => [
    { inputs: [uniform([3, 5]), uniform([3, 5]), uniform([], 0, 1)] },
    { inputs: [uniform([2, 1, 4]), uniform([3, 1]), uniform([4], 0, 1)] },
  ],
  scalar: () => (s, start, end, weight) => s.add(start, s.mul(weight, s.sub(end, start))),
  check: ([x]) => checkDType(x.dtype, 'floating', 'start', 'Lerp'),
  grad: (g, dy) => {
    const [start, end, weight] = g.inputs;
    const toEnd = dy.mul(weight);
    return [
      g.needs(0) ? sumTo(dy.sub(toEnd), start.shape) : null,
      g.needs(1) ? sumTo(toEnd, end.shape) : null,
      g.needs(2) ? sumTo(dy.mul(end.sub(start)), weight.shape) : null,
    ];
  },
});
/** The point between `start` (weight 0) and `end` (weight 1); all three broadcast. */
export const lerp: NamedFunction<
  [start: TensorLike, end: TensorLike, weight: TensorLike],
  ['start', 'end', 'weight']
> = defineFunction(
  'lerp',
  { start: kind.tensor, end: kind.tensor, weight: kind.tensor },
  {},
  (start, end, weight) => {
    const [a, b] = pair(start, end, 'Lerp');
    const [from, w] = pair(a, weight, 'Lerp');
    // A wider weight widens both ends.
    const to = b.dtype === w.dtype ? b : opHooks.cast(b, w.dtype);
    return execute1(lerpOp, [from, to, w]);
  },
);

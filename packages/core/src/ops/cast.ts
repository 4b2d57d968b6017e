import { type DType, InvalidArgumentError } from '@eagre/backend';
import * as kind from '../argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments.ts';
import { type TensorLike, toTensor } from '../convert.ts';
import { dtypeGroups, isFloating } from '../dtypes.ts';
import { castHook, defineElementwise, execute1, type Op } from '../op.ts';
import { bools, integers, uniform } from '../samples.ts';
import { show } from '../shape.ts';
import { identity } from './array.ts';

const castOp: Op = defineElementwise({
  name: 'Cast',
  doc: 'x converted to another dtype. Floats become integers by truncation toward zero, saturating, NaN to 0; any number to bool is x ≠ 0.',
  samples: () => [
    { inputs: [uniform([3, 5], -9, 9)], attrs: { dtype: 'int32' } },
    { inputs: [uniform([3, 5])], attrs: { dtype: 'float64' } },
    { inputs: [integers([7], -9, 9)], attrs: { dtype: 'int64' } },
    { inputs: [integers([7], -2, 3)], attrs: { dtype: 'bool' } },
    { inputs: [bools([7])], attrs: { dtype: 'float32' } },
  ],
  key: (attrs) => attrs.dtype as string,
  scalar: (attrs) => (s, x) => s.cast(x, attrs.dtype as Exclude<DType, 'string'>),
  grad: (g, dy) => (isFloating(g.x.dtype) ? dy.cast(g.x.dtype) : null),
});

/**
 * x converted to another dtype. Floats become integers by truncation toward zero; what the integer cannot hold becomes its
 * lowest or highest value, and NaN becomes 0. Integers to narrower ones wrap around. Any number to bool is `x ≠ 0`.
 * @throws InvalidArgumentError from or to string.
 */
export const cast: NamedFunction<[x: TensorLike, dtype: DType], ['x', 'dtype']> = defineFunction(
  'cast',
  { x: kind.tensor, dtype: kind.asIs },
  {},
  (x, dtype) => {
    const value = toTensor(x);
    // A tensor of its own even so: disposing it, or assigning to the variable it came from, must not touch the other.
    if (value.dtype === dtype) return identity(value);
    if (!dtypeGroups.any.includes(dtype) || value.dtype === 'string') {
      throw new InvalidArgumentError(
        `cannot convert ${value.dtype} to ${show(dtype)}; expected one of ${dtypeGroups.any.join(', ')} on both sides`,
        'Cast',
      );
    }
    return execute1(castOp, [value], { dtype });
  },
);
castHook.cast = cast;

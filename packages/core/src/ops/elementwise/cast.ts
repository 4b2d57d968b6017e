import {
  type DType,
  type DTypeTraits,
  dtypeTraits,
  InvalidArgumentError,
  isBig,
  largestFloat,
  type NumberBuilder,
  type NumberValue,
  type NumericDType,
} from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineElementwise, defineOp, execute1, type Op, opHooks } from '../../dispatch/op.ts';
import { bools, integers, uniform } from '../../dispatch/samples.ts';
import { dims } from '../../shapes/dims.ts';
import { show, showShape } from '../../shapes/shape.ts';
import { ofStrings, type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, dtypeGroups, hasGradient } from '../../tensor/dtypes.ts';
import type { Known, Tensor } from '../../tensor/tensor.ts';
import { checkRank } from '../array/moving.ts';
import { identity } from '../array/shaping.ts';

/** x converted to another dtype. Floats become integers by truncation toward zero, saturating, NaN to 0; any number to bool is x ≠ 0. */
const castOp: Op = defineElementwise({
  name: 'Cast',
  samples: () => [
    { inputs: [uniform([3, 5], -9, 9)], attrs: { dtype: 'int32' } },
    { inputs: [uniform([3, 5])], attrs: { dtype: 'float64' } },
    { inputs: [integers([7], -9, 9)], attrs: { dtype: 'int64' } },
    { inputs: [integers([7], -2, 3)], attrs: { dtype: 'bool' } },
    { inputs: [bools([7])], attrs: { dtype: 'float32' } },
  ],
  key: (attrs) => attrs.dtype as string,
  scalar: (attrs) => (s, x) => s.cast(x, attrs.dtype as NumberValue['dtype']),
  grad: (g, dy) => (hasGradient(g.x.dtype) ? dy.cast(g.x.dtype) : null),
});

/**
 * x converted to another dtype. Floats become integers by truncation toward zero; what the integer cannot hold becomes its
 * lowest or highest value, and NaN becomes 0. Integers to narrower ones wrap around. Any number to bool is `x ≠ 0`. Complex numbers to
 * others lose their imaginary part, to bool too, as in TensorFlow.
 * @throws InvalidArgumentError from or to string.
 */
export const cast: <D extends DType>(
  ...args: Arguments<[x: TensorLike, dtype: D], ['x', 'dtype']>
) => Tensor<Known<D>> = defineFunction<NamedFunction<[x: TensorLike, dtype: DType], ['x', 'dtype']>>(
  'cast',
  { x: kind.tensor, dtype: kind.asIs },
  {},
  (x, dtype) => {
    const value = toTensor(x);
    // A tensor of its own even so: disposing it, or assigning to the variable it came from, must not touch the other.
    if (value.dtype === dtype) return identity(value);
    if (!dtypeGroups.any.includes(dtype) || value.dtype === 'string') {
      if (value.dtype === 'string' && dtypeGroups.any.includes(dtype))
        throw new InvalidArgumentError(`cannot convert string to ${show(dtype)}: ${ofStrings}`, 'Cast');
      throw new InvalidArgumentError(
        `cannot convert ${value.dtype} to ${show(dtype)}; expected one of ${dtypeGroups.any.join(', ')} on both sides`,
        'Cast',
      );
    }
    return execute1(castOp, [value], { dtype });
  },
);
opHooks.cast = cast;

/** The bits of x as elements of another dtype. */
const bitcastOp: Op = defineOp({
  name: 'Bitcast',
  kernel: 'Bitcast',
  infer: ([x], { dtype }) => {
    const from = dtypeTraits[x.dtype].bytes;
    const to = dtypeTraits[dtype as DType].bytes;
    const shape = dims(x);
    if (from === to) return { dtype: dtype as DType, shape };
    if (from > to) {
      checkRank(x.rank + 1, 'Bitcast');
      return { dtype: dtype as DType, shape: [...shape, from / to] };
    }
    if (x.rank === 0 || x.shape[x.rank - 1] !== to / from) {
      throw new InvalidArgumentError(
        `x has shape ${showShape(x.shape)}; for a ${show(dtype)} of ${to} bytes its last axis must hold ${to / from} elements of ${from}`,
      );
    }
    return { dtype: dtype as DType, shape: shape.slice(0, -1) };
  },
  kernelAttrs: () => ({}),
  notDifferentiable: 'bits have no slope',
  samples: () => [
    { inputs: [integers([3, 4], -9, 9)], attrs: { dtype: 'uint32' } },
    { inputs: [integers([3], -9, 9)], attrs: { dtype: 'int16' } },
    { inputs: [integers([3, 2], -9, 9)], attrs: { dtype: 'int64' } },
  ],
});

/**
 * The bits of x as elements of another dtype. Of a smaller one there are several for each of x's, along a new last axis; of a larger one
 * each is made of x's last axis, which goes.
 * @throws InvalidArgumentError from or to bool and string, and where the last axis does not fit.
 */
export const bitcast: NamedFunction<[x: TensorLike, dtype: DType], ['x|input', 'dtype|type']> =
  defineFunction('bitcast', { 'x|input': kind.tensor, 'dtype|type': kind.asIs }, {}, (x, dtype) => {
    const value = toTensor(x);
    checkDType(value.dtype, 'numeric', 'x', 'Bitcast');
    checkDType(dtype, 'numeric', 'dtype', 'Bitcast');
    return execute1(bitcastOp, [value], { dtype });
  });

/** The largest value of a dtype of 64 bits, which no number is exactly: all bits, or all but the sign's. */
const largest = (s: NumberBuilder, dtype: NumberValue['dtype'], of: DTypeTraits): NumberValue => {
  const ones = s.bitNot(s.constant(0, dtype));
  return dtypeTraits[dtype].kind === 'uint' && of.kind === 'int' ? s.shiftRight(ones, 1) : ones;
};

/** x converted to another dtype; what that cannot hold becomes its lowest or highest value. */
const saturateOp: Op = defineElementwise({
  name: 'SaturateCast',
  samples: () => [
    { inputs: [integers([7], -300, 300)], attrs: { dtype: 'int8' } },
    { inputs: [uniform([7], -300, 300)], attrs: { dtype: 'uint8' } },
    { inputs: [integers([7], -300, 300, 'int64')], attrs: { dtype: 'uint64' } },
  ],
  key: (attrs) => attrs.dtype as string,
  scalar: (attrs) => (s, x) => {
    const dtype = attrs.dtype as NumericDType;
    const from = dtypeTraits[x.dtype];
    const to = dtypeTraits[dtype];
    let y = x;
    if (from.integer && to.integer) {
      if (from.low < to.low) y = s.max(y, to.low);
      if (from.high > to.high) y = s.min(y, isBig(dtype) ? largest(s, x.dtype, to) : to.high);
    } else if (to.floating) {
      const most = largestFloat(dtype);
      if (from.integer ? from.high > most : largestFloat(x.dtype) > most) {
        y = s.min(y, most);
        if (from.kind !== 'uint') y = s.max(y, -most);
      }
    }
    return s.cast(y, dtype);
  },
  grad: (g, dy) => (hasGradient(g.x.dtype) ? dy.cast(g.x.dtype) : null),
});

/**
 * x converted to another dtype, where `cast` lets integers wrap: what the dtype cannot hold becomes its lowest or highest value.
 * @throws InvalidArgumentError from or to bool and string.
 */
export const saturateCast: NamedFunction<[x: TensorLike, dtype: DType], ['x|value', 'dtype']> =
  defineFunction('saturateCast', { 'x|value': kind.tensor, dtype: kind.asIs }, {}, (x, dtype) => {
    const value = toTensor(x);
    checkDType(value.dtype, 'numeric', 'x', 'SaturateCast');
    checkDType(dtype, 'numeric', 'dtype', 'SaturateCast');
    return value.dtype === dtype ? identity(value) : execute1(saturateOp, [value], { dtype });
  });

// Dtypes of `tf.experimental.numpy`: names, limits, and in what dtype arrays meet.
import {
  asDtype,
  type DType,
  InvalidArgumentError,
  type NamedFunction,
  Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  checkDTypeName,
  defineFunction,
  defineVariadic,
  isFloating,
  isInteger,
  kind,
  shown,
  toTensor,
} from '@eagre/core/internal';
import { meeting } from './meeting.ts';

/** True or false. */
const bool: 'bool' = 'bool';
/** float64, as in NumPy. */
const float: 'float64' = 'float64';
/** int64, as in NumPy. */
const int: 'int64' = 'int64';
/** Texts and bytes of any length. */
const string: 'string' = 'string';
/** complex128, as in NumPy. */
const complex: 'complex128' = 'complex128';

export { bool, complex, float, int, string, string as unicode };
/** Complex numbers of two float32. */
export const complex64: 'complex64' = 'complex64';
/** Complex numbers of two float64. */
export const complex128: 'complex128' = 'complex128';
/** Floats of 16 bits: 11 bits of precision, up to 65,504. */
export const float16: 'float16' = 'float16';
/** Floats of 32 bits. */
export const float32: 'float32' = 'float32';
/** Floats of 64 bits. */
export const float64: 'float64' = 'float64';
/** Integers of 8 bits. */
export const int8: 'int8' = 'int8';
/** Integers of 16 bits. */
export const int16: 'int16' = 'int16';
/** Integers of 32 bits. */
export const int32: 'int32' = 'int32';
/** Integers of 64 bits. */
export const int64: 'int64' = 'int64';
/** Integers from 0 to 255. */
export const uint8: 'uint8' = 'uint8';
/** Integers of 16 bits from 0 on. */
export const uint16: 'uint16' = 'uint16';
/** Integers of 32 bits from 0 on. */
export const uint32: 'uint32' = 'uint32';
/** Integers of 64 bits from 0 on. */
export const uint64: 'uint64' = 'uint64';
/** π */
export const pi: number = Math.PI;
/** The base of natural logarithms. */
export const e: number = Math.E;
/** Infinity. */
export const inf: number = Number.POSITIVE_INFINITY;
/** What arrays are. */
export const ndarray: typeof Tensor = Tensor;
export type ndarray = Tensor;

/** The smallest dtype to which NumPy converts both. */
export const promoteTypes: NamedFunction<[type1: DType, type2: DType], ['type1', 'type2'], unknown, DType> =
  /* @__PURE__ */ defineFunction(
    'numpy.promoteTypes',
    { type1: kind.asIs, type2: kind.asIs },
    {},
    (type1, type2) => {
      for (const dtype of [type1, type2]) checkDTypeName(dtype, 'numpy.promoteTypes');
      return meeting(type1, type2, 'numpy.promoteTypes');
    },
  );
/** The smallest dtype to which NumPy converts all of these, arrays or names of dtypes. */
export const resultType: (...arraysAndDtypes: readonly (TensorLike | DType)[]) => DType =
  /* @__PURE__ */ defineVariadic<(...arraysAndDtypes: readonly (TensorLike | DType)[]) => DType>(
    'numpy.resultType',
    {},
    'arraysAndDtypes',
    {},
    (arraysAndDtypes: readonly (TensorLike | DType)[]): DType => {
      if (arraysAndDtypes.length === 0)
        throw new InvalidArgumentError('expected at least one array or dtype', 'numpy.resultType');
      return arraysAndDtypes
        .map((value) => {
          if (typeof value !== 'string') return toTensor(value as TensorLike).dtype;
          checkDTypeName(value as DType, 'numpy.resultType');
          return value as DType;
        })
        .reduce((a, b) => meeting(a, b, 'numpy.resultType'));
    },
  );

/** NumPy's groups of dtypes. */
const GROUPS: Readonly<Record<string, (dtype: DType) => boolean>> = {
  inexact: (dtype) => isFloating(dtype) || dtype.startsWith('complex'),
  floating: (dtype) => isFloating(dtype),
  complexfloating: (dtype) => dtype.startsWith('complex'),
  integer: (dtype) => isInteger(dtype),
  signedinteger: (dtype) => isInteger(dtype) && !dtype.startsWith('uint'),
  unsignedinteger: (dtype) => dtype.startsWith('uint'),
  number: (dtype) => isInteger(dtype) || isFloating(dtype) || dtype.startsWith('complex'),
  generic: () => true,
};
/** The group of floats and complex numbers, for `issubdtype`. */
export const inexact: 'inexact' = 'inexact';
/** Whether a dtype is another one, or of a group: inexact, floating, complexfloating, integer, signedinteger, unsignedinteger, number, generic. */
export const issubdtype: NamedFunction<[arg1: DType, arg2: string], ['arg1', 'arg2'], unknown, boolean> =
  /* @__PURE__ */ defineFunction(
    'numpy.issubdtype',
    { arg1: kind.asIs, arg2: kind.asIs },
    {},
    (arg1, arg2) => {
      checkDTypeName(arg1, 'numpy.issubdtype');
      if (typeof arg2 === 'string' && Object.hasOwn(GROUPS, arg2))
        return (GROUPS[arg2] as (dtype: DType) => boolean)(arg1);
      checkDTypeName(arg2 as DType, 'numpy.issubdtype');
      return arg1 === arg2;
    },
  );

/** What is known of the integers of a dtype. */
export interface IntegerInfo {
  /** Which integers this is about. */
  readonly dtype: DType;
  /** How many bits one takes. */
  readonly bits: number;
  /** The smallest one. */
  readonly min: number | bigint;
  /** The largest one. */
  readonly max: number | bigint;
}
/** The range of the integers of a dtype. */
export const iinfo: NamedFunction<[intType: DType], ['intType'], unknown, IntegerInfo> =
  /* @__PURE__ */ defineFunction('numpy.iinfo', { intType: kind.asIs }, {}, (intType) => {
    const known = asDtype(intType);
    if (!known.isInteger) throw new InvalidArgumentError(`${shown(intType)} has no integers`, 'numpy.iinfo');
    return {
      dtype: known.name,
      bits: 8 * known.size,
      min: known.min as number | bigint,
      max: known.max as number | bigint,
    };
  });

/** What is known of the floats of a dtype. */
export interface FloatInfo {
  /** Which numbers this is about. */
  readonly dtype: DType;
  /** How many bits one takes. */
  readonly bits: number;
  /** The smallest one, far below 0. */
  readonly min: number;
  /** The largest one. */
  readonly max: number;
  /** The distance from 1 to the next number. */
  readonly eps: number;
  /** The smallest positive number with all digits. */
  readonly tiny: number;
}
const FLOAT_DIGITS: Readonly<Record<string, readonly [digits: number, lowest: number]>> = {
  float16: [10, -14],
  bfloat16: [7, -126],
  float32: [23, -126],
  float64: [52, -1022],
};
/** The range and the precision of the floats of a dtype. */
export const finfo: NamedFunction<[dtype: DType], ['dtype'], unknown, FloatInfo> =
  /* @__PURE__ */ defineFunction('numpy.finfo', { dtype: kind.asIs }, {}, (dtype) => {
    const known = asDtype(dtype);
    const limits = FLOAT_DIGITS[known.name];
    if (limits === undefined) throw new InvalidArgumentError(`${shown(dtype)} has no floats`, 'numpy.finfo');
    return {
      dtype: known.name,
      bits: 8 * known.size,
      min: known.min as number,
      max: known.max as number,
      eps: 2 ** -limits[0],
      tiny: 2 ** limits[1],
    };
  });

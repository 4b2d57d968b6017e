/**
 * `tf.experimental.numpy`: NumPy's functions over tensors. Most are those of `tf.keras.ops.numpy`; the
 * files beside this one have the others. Bare numbers are float32 as everywhere in Eagre, and not float64.
 */
export { newaxis } from '@eagre/core';
export { array as asanyarray, array as asarray, array as ascontiguousarray } from '../ops/numpy/creation.ts';
export { round as around } from '../ops/numpy/elementwise.ts';
export * from '../ops/numpy.ts';
export { max as amax, min as amin } from '../ops/numpy.ts';
export * from './arrays.ts';
export { argmax, argmin, argsort, bitwiseNot, countNonzero, nonzero, take } from './arrays.ts';
export * from './dtypes.ts';
export {
  add,
  allclose,
  append,
  arctan2,
  bitwiseAnd,
  bitwiseOr,
  bitwiseXor,
  clip,
  concatenate,
  cross,
  divide,
  dot,
  dstack,
  equal,
  floorDivide,
  gcd,
  greater,
  greaterEqual,
  heaviside,
  hstack,
  hypot,
  inner,
  isclose,
  kron,
  lcm,
  less,
  lessEqual,
  logaddexp,
  logaddexp2,
  matmul,
  maximum,
  minimum,
  mod,
  multiply,
  notEqual,
  outer,
  power,
  remainder,
  stack,
  subtract,
  tensordot,
  trueDivide,
  vdot,
  vstack,
  where,
} from './pairs.ts';
export * as random from './random.ts';
export { cumprod, cumsum, mean, nanmean, nanprod, nansum, prod, std, sum, var } from './reductions.ts';

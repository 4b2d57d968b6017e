/** TensorFlow's names beside NumPy's: one function each, under both. */
export { argSort as argsort } from './ops/array.ts';
export {
  div as divide,
  mul as multiply,
  neg as negative,
  sub as subtract,
} from './ops/math.ts';
export {
  all as reduceAll,
  any as reduceAny,
  argMax as argmax,
  argMin as argmin,
  logSumExp as reduceLogSumExp,
  max as reduceMax,
  mean as reduceMean,
  min as reduceMin,
  prod as reduceProd,
  std as reduceStd,
  sum as reduceSum,
  variance as reduceVariance,
} from './ops/reduce.ts';

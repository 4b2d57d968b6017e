/** TensorFlow's names beside NumPy's: one function each, under both. A name is here or beside its function, never twice. */
export { argSort as argsort, unique as uniqueWithCounts } from '../ops/array/array.ts';
export {
  div as divide,
  div as realdiv,
  div as truediv,
  divNoNan as divideNoNan,
  floorDiv as floordiv,
  mod as floormod,
  mul as multiply,
  mul as scalarMul,
  mulNoNan as multiplyNoNan,
  neg as negative,
  round as rint,
  sub as subtract,
} from '../ops/elementwise/math.ts';
export {
  all as reduceAll,
  any as reduceAny,
  argMax as argmax,
  argMin as argmin,
  logSumExp as reduceLogsumexp,
  max as reduceMax,
  mean as reduceMean,
  min as reduceMin,
  prod as reduceProd,
  std as reduceStd,
  sum as reduceSum,
  variance as reduceVariance,
} from '../ops/reduce/reduce.ts';

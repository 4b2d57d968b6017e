// Functions of several arrays, which meet in one dtype as in NumPy: `tf.experimental.numpy` promotes where the rest of Eagre refuses to lose digits.
import {
  cast,
  logicalAnd as coreAnd,
  logicalOr as coreOr,
  logicalXor as coreXor,
  type IntegerLike,
  type NamedFunction,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import { defineFunction, dtypeOf, hasGradient, kind, pair } from '@eagre/core/internal';
import type { Binary } from '../ops/define.ts';
import * as keras from '../ops/numpy.ts';
import { met } from './meeting.ts';

type Run = (x1: TensorLike, x2: TensorLike) => Tensor;
/** Declares a function of two arrays; `ofBools` is what it does with two arrays of bools. */
const binary = (name: string, run: Run, ofBools: Run = run): Binary =>
  defineFunction(`numpy.${name}`, { 'x1|a': kind.tensor, 'x2|b': kind.tensor }, {}, (x1, x2) => {
    const { values, dtype } = met([x1, x2] as const, `numpy.${name}`);
    const [a, b] = values;
    return ((dtype ?? pair(a, b, `numpy.${name}`)[0].dtype) === 'bool' ? ofBools : run)(a, b);
  });
/** Bools as int8, in which NumPy divides them, and which has an order. */
const inSmall =
  (run: Run): Run =>
  (a, b) =>
    run(cast(a, 'int8'), cast(b, 'int8'));

/** Products of bools: those of int8, which are true unless 0. */
const truth =
  (run: Run): Run =>
  (a, b) =>
    inSmall(run)(a, b).cast('bool');

/** x1 + x2; of bools, whether one is true. */
export const add: Binary = /* @__PURE__ */ binary('add', keras.add, coreOr);
/** x1 − x2. */
export const subtract: Binary = /* @__PURE__ */ binary('subtract', keras.subtract);
/** x1 · x2; of bools, whether both are true. */
export const multiply: Binary = /* @__PURE__ */ binary('multiply', keras.multiply, coreAnd);

/** Integers divide as float32 if they have 16 bits at most, and as float64 otherwise, as bools do. */
const quotient: Run = (a, b) => {
  const dtype = dtypeOf(a) ?? dtypeOf(b);
  if (dtype === undefined || hasGradient(dtype)) return keras.divide(a, b);
  const wide = /^u?int(8|16)$/.test(dtype) ? 'float32' : 'float64';
  return keras.divide(cast(a, wide), cast(b, wide));
};
/** x1 / x2; integers become float32 if they have 16 bits at most, and float64 otherwise. */
export const divide: Binary = /* @__PURE__ */ binary('divide', quotient);
/** The same as `divide`. */
export const trueDivide: Binary = /* @__PURE__ */ binary('trueDivide', quotient);
/** x1 / x2, rounded down; of bools as int8. */
export const floorDivide: Binary = /* @__PURE__ */ binary(
  'floorDivide',
  keras.floorDivide,
  /* @__PURE__ */ inSmall(keras.floorDivide),
);
/** What is left of x1 behind `floorDivide`; of bools as int8. */
export const mod: Binary = /* @__PURE__ */ binary('mod', keras.mod, /* @__PURE__ */ inSmall(keras.mod));
/** The same as `mod`. */
export const remainder: Binary = /* @__PURE__ */ binary(
  'remainder',
  keras.mod,
  /* @__PURE__ */ inSmall(keras.mod),
);
/** x1 to the power x2. */
export const power: Binary = /* @__PURE__ */ binary('power', keras.power);
/** The larger of both; of bools, whether one is true. */
export const maximum: Binary = /* @__PURE__ */ binary('maximum', keras.maximum, coreOr);
/** The smaller of both; of bools, whether both are true. */
export const minimum: Binary = /* @__PURE__ */ binary('minimum', keras.minimum, coreAnd);
/** The angle of the point (x2, x1). */
export const arctan2: Binary = /* @__PURE__ */ binary('arctan2', keras.arctan2);
/** √(x1² + x2²). */
export const hypot: Binary = /* @__PURE__ */ binary('hypot', keras.hypot);
/** log(exp(x1) + exp(x2)). */
export const logaddexp: Binary = /* @__PURE__ */ binary('logaddexp', keras.logaddexp);
/** log2(2 ** x1 + 2 ** x2). */
export const logaddexp2: Binary = /* @__PURE__ */ binary('logaddexp2', keras.logaddexp2);
/** Whether x1 = x2. */
export const equal: Binary = /* @__PURE__ */ binary('equal', keras.equal);
/** Whether x1 ≠ x2. */
export const notEqual: Binary = /* @__PURE__ */ binary('notEqual', keras.notEqual);
/** Whether x1 < x2. */
export const less: Binary = /* @__PURE__ */ binary('less', keras.less, /* @__PURE__ */ inSmall(keras.less));
/** Whether x1 ≤ x2. */
export const lessEqual: Binary = /* @__PURE__ */ binary(
  'lessEqual',
  keras.lessEqual,
  /* @__PURE__ */ inSmall(keras.lessEqual),
);
/** Whether x1 > x2. */
export const greater: Binary = /* @__PURE__ */ binary(
  'greater',
  keras.greater,
  /* @__PURE__ */ inSmall(keras.greater),
);
/** Whether x1 ≥ x2. */
export const greaterEqual: Binary = /* @__PURE__ */ binary(
  'greaterEqual',
  keras.greaterEqual,
  /* @__PURE__ */ inSmall(keras.greaterEqual),
);
/** 0 where x1 is negative, x2 where it is 0, and 1 where it is positive. */
export const heaviside: Binary = /* @__PURE__ */ binary('heaviside', keras.heaviside);
/** The largest integer that divides both; integers only. */
export const gcd: Binary = /* @__PURE__ */ binary('gcd', keras.gcd);
/** The smallest integer that both divide; integers only. */
export const lcm: Binary = /* @__PURE__ */ binary('lcm', keras.lcm);
/** The bits that both have; of bools, whether both are true. */
export const bitwiseAnd: Binary = /* @__PURE__ */ binary('bitwiseAnd', keras.bitwiseAnd, coreAnd);
/** The bits that one has; of bools, whether one is true. */
export const bitwiseOr: Binary = /* @__PURE__ */ binary('bitwiseOr', keras.bitwiseOr, coreOr);
/** The bits that exactly one has; of bools, whether exactly one is true. */
export const bitwiseXor: Binary = /* @__PURE__ */ binary('bitwiseXor', keras.bitwiseXor, coreXor);
/** The sum over the last axis of x1 and the last but one of x2; the product if one is a scalar. */
export const dot: Binary = /* @__PURE__ */ binary('dot', keras.dot);
/** The sums of the products along the last axes of both. */
export const inner: Binary = /* @__PURE__ */ binary('inner', keras.inner);
/** The products of each element of x1 and each of x2: [n, m]. */
export const outer: Binary = /* @__PURE__ */ binary('outer', keras.outer, /* @__PURE__ */ truth(keras.outer));
/** The sum of the products of all elements of x1, conjugated, and x2. */
export const vdot: Binary = /* @__PURE__ */ binary('vdot', keras.vdot);
/** Kronecker's product: each element of x1 times the whole of x2. */
export const kron: Binary = /* @__PURE__ */ binary('kron', keras.kron, /* @__PURE__ */ truth(keras.kron));
/** NumPy's product of matrices: vectors are rows on the left and columns on the right. */
export const matmul: Binary = /* @__PURE__ */ binary('matmul', keras.matmul);

/** The cross product of vectors of 2 or 3 elements. */
export const cross: typeof keras.cross = /* @__PURE__ */ defineFunction(
  'numpy.cross',
  { 'x1|a': kind.tensor, 'x2|b': kind.tensor },
  { axisa: kind.axis, axisb: kind.axis, axisc: kind.axis, axis: kind.axis },
  (x1, x2, options) => keras.cross(...met([x1, x2] as const, 'numpy.cross').values, options),
);
/** Sums of products along axes of both: the last and first so many, 2 by default, or two lists. */
export const tensordot: typeof keras.tensordot = /* @__PURE__ */ defineFunction(
  'numpy.tensordot',
  { 'x1|a': kind.tensor, 'x2|b': kind.tensor, axes: kind.axisLists },
  {},
  (x1, x2, axes: unknown = 2) =>
    keras.tensordot(...met([x1, x2] as const, 'numpy.tensordot').values, axes as number),
);
const closeness = { rtol: kind.asIs, atol: kind.asIs, equalNan: kind.asIs };
const near = (name: string, run: typeof keras.isclose): typeof keras.isclose =>
  defineFunction(
    `numpy.${name}`,
    { 'x1|a': kind.tensor, 'x2|b': kind.tensor },
    closeness,
    (x1, x2, options) => run(...met([x1, x2] as const, `numpy.${name}`).values, options),
  );
/** Whether |x1 − x2| ≤ atol + rtol · |x2|, for each element. */
export const isclose: typeof keras.isclose = /* @__PURE__ */ near('isclose', keras.isclose);
/** Whether |x1 − x2| ≤ atol + rtol · |x2| for all elements: one bool. */
export const allclose: typeof keras.isclose = /* @__PURE__ */ near('allclose', keras.allclose);
/** x limited to `xMin` … `xMax`. */
export const clip: typeof keras.clip = /* @__PURE__ */ defineFunction(
  'numpy.clip',
  { 'x|a': kind.tensor, 'xMin|aMin': kind.tensor, 'xMax|aMax': kind.tensor },
  {},
  (x, xMin, xMax) => keras.clip(...met([x, xMin, xMax] as const, 'numpy.clip').values),
);
/** x1 where the condition is true or not 0, x2 elsewhere. Without x1 and x2, the places of the true elements. */
export const where: typeof keras.where = /* @__PURE__ */ defineFunction<
  NamedFunction<
    [condition: TensorLike, x1?: TensorLike | null, x2?: TensorLike | null],
    ['condition', 'x1|x', 'x2|y'],
    unknown,
    unknown
  >
>(
  'numpy.where',
  { condition: kind.tensor, 'x1|x': kind.tensor, 'x2|y': kind.tensor },
  {},
  (condition, x1: TensorLike | null = null, x2: TensorLike | null = null) =>
    x1 === null || x2 === null
      ? keras.where(condition, x1, x2)
      : keras.where(condition, ...met([x1, x2] as const, 'numpy.where').values),
) as never;
/** x1 and then x2 along an axis; both as lists of their elements by default. */
export const append: typeof keras.append = /* @__PURE__ */ defineFunction(
  'numpy.append',
  { 'x1|arr': kind.tensor, 'x2|values': kind.tensor, axis: kind.axis },
  {},
  (x1, x2, axis: IntegerLike | null = null) =>
    keras.append(...met([x1, x2] as const, 'numpy.append').values, axis),
);

const together = (xs: readonly TensorLike[], name: string): readonly TensorLike[] =>
  Array.isArray(xs) ? met(xs, `numpy.${name}`).values : xs;
const along = (name: string, run: typeof keras.concatenate): typeof keras.concatenate =>
  defineFunction(
    `numpy.${name}`,
    { 'xs|arys|arrays': kind.asIs, axis: kind.axis },
    {},
    (xs, axis: IntegerLike = 0) => run(together(xs, name), axis),
  );
const beside = (name: string, run: typeof keras.hstack): typeof keras.hstack =>
  defineFunction(`numpy.${name}`, { 'xs|tup': kind.asIs }, {}, (xs) => run(together(xs, name)));
/** Arrays one behind the other along an axis, the first by default. */
export const concatenate: typeof keras.concatenate = /* @__PURE__ */ along('concatenate', keras.concatenate);
/** Arrays along a new axis, the first by default. */
export const stack: typeof keras.concatenate = /* @__PURE__ */ along('stack', keras.stack as never);
/** Arrays side by side. */
export const hstack: typeof keras.hstack = /* @__PURE__ */ beside('hstack', keras.hstack);
/** Arrays one below the other. */
export const vstack: typeof keras.hstack = /* @__PURE__ */ beside('vstack', keras.vstack);
/** Arrays behind one another, along their third axis. */
export const dstack: typeof keras.hstack = /* @__PURE__ */ beside('dstack', keras.dstack);

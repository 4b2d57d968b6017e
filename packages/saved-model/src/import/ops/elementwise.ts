// Element-wise ops, and conversions.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { isFloating } from '@eagre/core/internal';
import { binary, type OpTable, type Translate, unary } from '../op-row.ts';

/** Quotients towards zero, as C has them. */
export function truncatedDiv(x: Tensor, y: Tensor): Tensor {
  if (isFloating(x.dtype)) return truncated(x.div(y));
  const quotient = x.abs().floorDiv(y.abs());
  return tf.where(x.less(0).logicalXor(y.less(0)), quotient.neg(), quotient);
}
const truncated = (x: Tensor): Tensor => tf.where(x.less(0), x.ceil(), x.floor());

/** Float quotients, and those of integers towards zero. */
const div: Translate = (c) => {
  const [x, y] = [c.x(0), c.x(1)];
  return isFloating(x.dtype) || x.dtype.startsWith('complex') ? x.div(y) : truncatedDiv(x, y);
};

/** TensorFlow 1's form: a vector condition chooses rows. */
const select: Translate = (c) => {
  const [condition, x, y] = [c.x(0), c.x(1), c.x(2)];
  if (condition.rank !== 1 || x.rank <= 1) return tf.where(condition, x, y);
  return tf.where(tf.reshape(condition, [-1, ...Array.from({ length: x.rank - 1 }, () => 1)]), x, y);
};

const clip: Translate = (c) => tf.minimum(tf.maximum(c.x(0), c.x(1)), c.x(2));

export const elementwise: OpTable = {
  Abs: unary(tf.abs),
  Neg: unary(tf.neg),
  Sign: unary(tf.sign),
  Floor: unary(tf.floor),
  Ceil: unary(tf.ceil),
  Round: unary(tf.round),
  Rint: unary(tf.round),
  Square: unary(tf.square),
  Sqrt: unary(tf.sqrt),
  Rsqrt: unary(tf.rsqrt),
  Reciprocal: unary(tf.reciprocal),
  Inv: unary(tf.reciprocal),
  Exp: unary(tf.exp),
  Expm1: unary(tf.expm1),
  Log: unary(tf.log),
  Log1p: unary(tf.log1p),
  Sin: unary(tf.sin),
  Cos: unary(tf.cos),
  Tan: unary(tf.tan),
  Asin: unary(tf.asin),
  Acos: unary(tf.acos),
  Atan: unary(tf.atan),
  Sinh: unary(tf.sinh),
  Cosh: unary(tf.cosh),
  Tanh: unary(tf.tanh),
  Asinh: unary(tf.asinh),
  Acosh: unary(tf.acosh),
  Atanh: unary(tf.atanh),
  Erf: unary(tf.erf),
  Erfc: unary(tf.erfc),
  Erfinv: unary(tf.erfinv),
  Ndtri: unary((x) => tf.erfinv(x.mul(2).sub(1)).mul(Math.SQRT2)),
  Lgamma: unary(tf.lgamma),
  Digamma: unary(tf.digamma),
  Sigmoid: unary(tf.sigmoid),
  LogicalNot: unary(tf.logicalNot),
  IsNan: unary(tf.isNan),
  IsInf: unary(tf.isInf),
  IsFinite: unary(tf.isFinite),
  Invert: unary(tf.bitwiseNot),
  Conj: unary(tf.conj),
  Real: unary(tf.real),
  Imag: unary(tf.imag),
  Angle: unary(tf.angle),
  ComplexAbs: unary(tf.abs),
  OnesLike: unary((x) => tf.onesLike(x)),
  Relu: unary(tf.relu),
  Relu6: unary(tf.relu6),
  Elu: unary((x) => tf.elu(x)),
  Selu: unary(tf.selu),
  Softplus: unary(tf.softplus),
  Softsign: unary(tf.softsign),
  LeakyRelu: (c) => tf.leakyRelu(c.x(), { alpha: c.floatAttr('alpha', 0.2) }),
  Softmax: unary((x) => tf.softmax(x)),
  LogSoftmax: unary((x) => tf.logSoftmax(x)),

  Add: (c) => (c.x(0).dtype === 'string' ? joined(c.x(0), c.x(1)) : tf.add(c.x(0), c.x(1))),
  AddV2: (c) => (c.x(0).dtype === 'string' ? joined(c.x(0), c.x(1)) : tf.add(c.x(0), c.x(1))),
  Sub: binary(tf.sub),
  Mul: binary(tf.mul),
  MulNoNan: binary(tf.mulNoNan),
  RealDiv: binary(tf.div),
  Div: div,
  DivNoNan: binary(tf.divNoNan),
  FloorDiv: binary(tf.floorDiv),
  FloorMod: binary(tf.mod),
  TruncateDiv: (c) => truncatedDiv(c.x(0), c.x(1)),
  TruncateMod: (c) => c.x(0).sub(truncatedDiv(c.x(0), c.x(1)).mul(c.x(1))),
  Mod: (c) => c.x(0).sub(truncatedDiv(c.x(0), c.x(1)).mul(c.x(1))),
  Pow: binary(tf.pow),
  Maximum: binary(tf.maximum),
  Minimum: binary(tf.minimum),
  SquaredDifference: binary(tf.squaredDifference),
  Xlogy: binary(tf.xlogy),
  Xlog1py: binary(tf.xlog1py),
  Xdivy: binary(tf.xdivy),
  Atan2: binary(tf.atan2),
  Complex: binary(tf.complex),
  BitwiseAnd: binary(tf.bitwiseAnd),
  BitwiseOr: binary(tf.bitwiseOr),
  BitwiseXor: binary(tf.bitwiseXor),
  LeftShift: binary(tf.bitwiseLeftShift),
  RightShift: binary(tf.bitwiseRightShift),
  Equal: binary(tf.equal),
  NotEqual: binary(tf.notEqual),
  Less: binary(tf.less),
  LessEqual: binary(tf.lessEqual),
  Greater: binary(tf.greater),
  GreaterEqual: binary(tf.greaterEqual),
  ApproximateEqual: (c) => c.x(0).sub(c.x(1)).abs().less(c.floatAttr('tolerance', 1e-5)),
  LogicalAnd: binary(tf.logicalAnd),
  LogicalOr: binary(tf.logicalOr),

  AccumulateNV2: (c) => tf.addN(c.xs()),
  Select: select,
  SelectV2: (c) => tf.where(c.x(0), c.x(1), c.x(2)),
  ClipByValue: clip,
  Cast: (c) => tf.cast(c.x(), c.dtypeAttr('DstT')),
  Bitcast: (c) => tf.bitcast(c.x(), c.dtypeAttr('type')),
  CheckNumerics: (c) => tf.debugging.checkNumerics(c.x(), c.textAttr('message', '')),
  CheckNumericsV2: (c) => tf.debugging.checkNumerics(c.x(), c.textAttr('message', '')),
};

/** Text one behind the other, element by element. */
function joined(x: Tensor, y: Tensor): Tensor {
  const [a, b] = [x.strings(), y.strings()];
  const longer = a.length >= b.length ? x : y;
  return tf.constant(
    longer.strings().map((_, i) => `${a[a.length === 1 ? 0 : i]}${b[b.length === 1 ? 0 : i]}`),
    'string',
    { shape: longer.shape },
  );
}

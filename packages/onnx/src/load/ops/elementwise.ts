// Ops that compute element by element.

import type { DType } from '@eagre/backend';
import { dtypeTraits } from '@eagre/backend';
import {
  abs,
  add,
  bitcast,
  bitwise,
  clip,
  equal,
  greater,
  greaterEqual,
  less,
  lessEqual,
  logicalAnd,
  logicalNot,
  logicalOr,
  logicalXor,
  math,
  maximum,
  minimum,
  mod,
  mul,
  nn,
  pow,
  sign,
  sub,
  Tensor,
  where,
} from '@eagre/core';
import { context, leastOf } from '@eagre/core/internal';
import { dtypeOf } from '../../tensors.ts';
import { floating, type NodeCall, type OpTable, Results, type Run } from '../node.ts';
import { constantLike } from './helpers.ts';

type Unary = (x: Tensor) => Tensor;
type Binary = (a: Tensor, b: Tensor) => Tensor;

const unary =
  (fn: Unary): Run =>
  (node) =>
    fn(node.x());
const binary =
  (fn: Binary): Run =>
  (node) =>
    fn(node.x(0), node.x(1));
const variadic =
  (fn: Binary): Run =>
  (node) =>
    node
      .all()
      .reduce((a, b) => fn(a, b))
      .identity();

/** Floats compute as they are; integers where no kernel does, as float32. */
export function inFloats(x: Tensor, fn: Unary): Tensor {
  return floating(x.dtype) ? fn(x) : fn(x.cast('float32')).cast(x.dtype);
}

/** Whether a tensor holds sizes, so that nothing in it is below 0. */
function areSizes(x: Tensor): boolean {
  const sizes = context.tracer?.integers(x) ?? null;
  return sizes?.every((d) => leastOf(d) >= 0) ?? false;
}

/** The quotient, rounded towards zero for integers. */
export const quotient: Binary = (a, b) => {
  if (floating(a.dtype)) return a.div(b);
  if (dtypeTraits[a.dtype].name.startsWith('u') || (areSizes(a) && areSizes(b))) return a.floorDiv(b);
  return abs(a).floorDiv(abs(b)).mul(sign(a)).mul(sign(b));
};

const modulo: Run = (node) => {
  const [a, b] = [node.x(0), node.x(1)];
  if (node.attrs.int('fmod', 0) === 0) return mod(a, b);
  // The remainder has the sign of a.
  const rest = mod(abs(a), abs(b));
  return where(a.less(0), rest.neg(), rest);
};

const power: Run = (node) => {
  const [base, exponent] = [node.x(0), node.x(1)];
  if (base.dtype === exponent.dtype) return pow(base, exponent);
  if (floating(base.dtype)) return pow(base, exponent.cast(base.dtype));
  return floating(exponent.dtype)
    ? pow(base.cast(exponent.dtype), exponent).cast(base.dtype)
    : pow(base, exponent.cast(base.dtype));
};

/** Between limits, each of which may be left out. */
const clipped: Run = (node) => {
  const x = node.x();
  const limit = (i: number, name: string, rest: number): Tensor | number | null =>
    node.opset >= 11 ? node.maybe(i) : node.attrs.has(name) ? node.attrs.float(name, rest) : null;
  const low = limit(1, 'min', Number.NEGATIVE_INFINITY);
  const high = limit(2, 'max', Number.POSITIVE_INFINITY);
  if (low !== null && high !== null && node.opset >= 13) return minimum(maximum(x, low), high);
  if (low !== null && high !== null) return clip(x, low, high);
  return low !== null ? maximum(x, low) : high !== null ? minimum(x, high) : x.identity();
};

const shift: Run = (node) => {
  const [a, b] = [node.x(0), node.x(1)];
  const bits = dtypeTraits[a.dtype].bytes * 8;
  // Further than the width nothing is left, but the sign.
  const far = logicalOr(b.less(0), b.greaterEqual(bits));
  const near = where(far, 0, b);
  if (node.attrs.text('direction') === 'LEFT') return where(far, 0, bitwise.leftShift(a, near));
  return where(far, bitwise.rightShift(a, constantLike(a, bits - 1)), bitwise.rightShift(a, near));
};

const infinite: Run = (node) => {
  const x = node.x();
  const [low, high] = [node.attrs.int('detect_negative', 1), node.attrs.int('detect_positive', 1)];
  const found = math.isInf(x);
  if (low === 1 && high === 1) return found;
  if (low === 0 && high === 0) return logicalAnd(found, logicalNot(found));
  return logicalAnd(found, high === 1 ? x.greater(0) : x.less(0));
};

const scaledSelu: Run = (node) => {
  const x = node.x();
  const alpha = node.attrs.float('alpha', 1.6732632423543772);
  const gamma = node.attrs.float('gamma', 1.0507009873554805);
  return where(x.greater(0), x, x.exp().sub(1).mul(alpha)).mul(gamma);
};

const shrink: Run = (node) => {
  const x = node.x();
  const [lambd, bias] = [node.attrs.float('lambd', 0.5), node.attrs.float('bias', 0)];
  const work = floating(x.dtype) ? x : x.cast('float32');
  return where(work.less(-lambd), work.add(bias), where(work.greater(lambd), work.sub(bias), 0)).cast(
    x.dtype,
  );
};

const hardSigmoid: Run = (node) =>
  clip(node.x().mul(node.attrs.float('alpha', 0.2)).add(node.attrs.float('beta', 0.5)), 0, 1);

const castTo = (node: NodeCall, x: Tensor, dtype: DType): Tensor => {
  if (x.dtype === dtype) return x.identity();
  if (x.dtype === 'string' || dtype === 'string') node.unsupported('strings are not converted');
  return x.cast(dtype);
};

const swished = (node: NodeCall): Tensor => {
  const x = node.x();
  return x.mul(x.mul(node.attrs.float('alpha', 1)).sigmoid());
};

export const elementwise: OpTable = {
  Abs: unary((x) => x.abs()),
  Acos: unary((x) => x.acos()),
  Acosh: unary((x) => x.acosh()),
  Asin: unary((x) => x.asin()),
  Asinh: unary((x) => x.asinh()),
  Atan: unary((x) => x.atan()),
  Atanh: unary((x) => x.atanh()),
  BitwiseNot: unary((x) => bitwise.invert(x)),
  Ceil: unary((x) => x.ceil()),
  Cos: unary((x) => x.cos()),
  Cosh: unary((x) => x.cosh()),
  Erf: unary((x) => inFloats(x, (t) => t.erf())),
  Exp: unary((x) => x.exp()),
  Floor: unary((x) => x.floor()),
  Identity: (node) => {
    const value = node.inputs[0] ?? null;
    return value instanceof Tensor ? value.identity() : new Results(value);
  },
  IsNaN: unary((x) => math.isNan(x)),
  IsInf: infinite,
  Log: unary((x) => x.log()),
  Mish: unary((x) => nn.mish(x)),
  Neg: unary((x) => x.neg()),
  Not: unary((x) => logicalNot(x)),
  Reciprocal: unary((x) => x.reciprocal()),
  Relu: unary((x) => x.relu()),
  Round: unary((x) => x.round()),
  Sigmoid: unary((x) => x.sigmoid()),
  Sign: unary((x) => x.sign()),
  Sin: unary((x) => x.sin()),
  Sinh: unary((x) => x.sinh()),
  Softplus: unary((x) => x.softplus()),
  Softsign: unary((x) => nn.softsign(x)),
  Sqrt: unary((x) => x.sqrt()),
  Tan: unary((x) => x.tan()),
  Tanh: unary((x) => x.tanh()),

  Add: binary(add),
  Sub: binary(sub),
  Mul: binary(mul),
  Div: binary(quotient),
  Mod: modulo,
  Pow: power,
  Max: variadic(maximum),
  Min: variadic(minimum),
  Sum: variadic(add),
  Mean: (node) =>
    quotient(
      node.all().reduce((a, b) => add(a, b)),
      constantLike(node.x(), node.inputs.length),
    ),
  And: binary(logicalAnd),
  Or: binary(logicalOr),
  Xor: binary(logicalXor),
  Equal: binary(equal),
  Greater: binary(greater),
  GreaterOrEqual: binary(greaterEqual),
  Less: binary(less),
  LessOrEqual: binary(lessEqual),
  BitCast: (node) => {
    const [x, to] = [node.x(), dtypeOf(node.attrs.int('to', 0))];
    // Bools are bytes.
    const bits = x.dtype === 'bool' ? x.cast('uint8') : x;
    if (dtypeTraits[bits.dtype].bytes !== dtypeTraits[to].bytes)
      return node.fail(`${x.dtype} has not as many bits as ${to}`);
    return to === 'bool' ? bitcast(bits, 'uint8').cast('bool') : bitcast(bits, to);
  },
  BitShift: shift,
  BitwiseAnd: binary((a, b) => bitwise.bitwiseAnd(a, b)),
  BitwiseOr: binary((a, b) => bitwise.bitwiseOr(a, b)),
  BitwiseXor: binary((a, b) => bitwise.bitwiseXor(a, b)),
  Where: (node) => where(node.x(0), node.x(1), node.x(2)),

  Cast: (node) => castTo(node, node.x(), dtypeOf(node.attrs.int('to'))),
  CastLike: (node) => castTo(node, node.x(), node.x(1).dtype),
  Clip: clipped,
  Celu: (node) => {
    const [x, alpha] = [node.x(), node.attrs.float('alpha', 1)];
    return maximum(x, 0).add(minimum(x.div(alpha).exp().sub(1).mul(alpha), 0));
  },
  Elu: (node) => nn.elu(node.x(), { alpha: node.attrs.float('alpha', 1) }),
  Gelu: (node) => nn.gelu(node.x(), { approximate: node.attrs.text('approximate', 'none') === 'tanh' }),
  HardSigmoid: hardSigmoid,
  HardSwish: unary((x) => x.mul(clip(x.div(6).add(0.5), 0, 1))),
  LeakyRelu: (node) => nn.leakyRelu(node.x(), { alpha: node.attrs.float('alpha', 0.01) }),
  PRelu: (node) => {
    const [x, slope] = [node.x(0), node.x(1)];
    return where(x.less(0), x.mul(slope), x);
  },
  Selu: scaledSelu,
  Shrink: shrink,
  Swish: swished,
  SwiGLU: (node) => swished(node).mul(node.x(1)),
  ThresholdedRelu: (node) => {
    const x = node.x();
    return where(x.greater(node.attrs.float('alpha', 1)), x, 0);
  },
};

import { type BinaryFunction, defineBinary, defineUnary, type UnaryFunction } from '../op.ts';

// ---- arithmetic

export const add: BinaryFunction = defineBinary({
  name: 'AddV2',
  doc: 'a + b, element-wise.',
  dtypes: 'numeric',
  scalar: (s, a, b) => s.add(a, b),
  grad: (_, dy) => [dy, dy],
});
export const sub: BinaryFunction = defineBinary({
  name: 'Sub',
  doc: 'a − b, element-wise.',
  dtypes: 'numeric',
  scalar: (s, a, b) => s.sub(a, b),
  grad: (g, dy) => [dy, g.needs(1) ? dy.neg() : null],
});
export const mul: BinaryFunction = defineBinary({
  name: 'Mul',
  doc: 'a · b, element-wise.',
  dtypes: 'numeric',
  scalar: (s, a, b) => s.mul(a, b),
  grad: (g, dy) => [g.needs(0) ? dy.mul(g.b) : null, g.needs(1) ? dy.mul(g.a) : null],
});
export const tanh: UnaryFunction = defineUnary({
  name: 'Tanh',
  doc: 'Hyperbolic tangent, element-wise.',
  scalar: (s, x) => s.tanh(x),
  grad: ({ y }, dy) => dy.mul(y.square().neg().add(1)),
});
export const neg: UnaryFunction = defineUnary({
  name: 'Neg',
  doc: '−x, element-wise.',
  dtypes: 'numeric',
  scalar: (s, x) => s.neg(x),
  grad: (_, dy) => dy.neg(),
});
export const square: UnaryFunction = defineUnary({
  name: 'Square',
  doc: 'x², element-wise.',
  dtypes: 'numeric',
  scalar: (s, x) => s.mul(x, x),
  grad: ({ x }, dy) => dy.mul(x).mul(2),
});

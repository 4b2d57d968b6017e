import { defineUnary, type UnaryFunction } from '../../dispatch/op.ts';
import { polygamma } from '../gradients.ts';

/** The error function 2/√π ∫ exp(−t²) dt from 0 to x, element-wise. */
export const erf: UnaryFunction = defineUnary({
  name: 'Erf',
  scalar: (s, x) => s.erf(x),
  grad: ({ x }, dy) => dy.mul(x.square().neg().exp()).mul(2 / Math.sqrt(Math.PI)),
});
/** 1 − erf(x), element-wise, exact where it is small. */
export const erfc: UnaryFunction = defineUnary({
  name: 'Erfc',
  ulp: 16,
  scalar: (s, x) => s.erfc(x),
  grad: ({ x }, dy) => dy.mul(x.square().neg().exp()).mul(-2 / Math.sqrt(Math.PI)),
});
/** The inverse of erf on (−1, 1), element-wise; infinite at −1 and 1, NaN beyond. */
export const erfinv: UnaryFunction = defineUnary({
  name: 'Erfinv',
  domain: [-0.9, 0.9],
  ulp: 16,
  scalar: (s, x) => s.erfinv(x),
  grad: ({ y }, dy) => dy.mul(y.square().exp()).mul(Math.sqrt(Math.PI) / 2),
});
/** The logarithm of the absolute value of the gamma function, element-wise; infinite at 0, −1, −2 and so on. */
export const lgamma: UnaryFunction = defineUnary({
  name: 'Lgamma',
  domain: [0.3, 5],
  ulp: 32,
  scalar: (s, x) => s.lgamma(x),
  grad: ({ x }, dy) => dy.mul(x.digamma()),
});
/** The derivative of lgamma, element-wise; NaN at 0, −1, −2 and so on. */
export const digamma: UnaryFunction = defineUnary({
  name: 'Digamma',
  domain: [0.3, 5],
  ulp: 32,
  scalar: (s, x) => s.digamma(x),
  grad: ({ x }, dy) => dy.mul(polygamma(x, 1)),
});

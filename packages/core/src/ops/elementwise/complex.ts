// Complex numbers and their parts.
import { InvalidArgumentError, isComplex } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import {
  defineElementwise,
  defineUnary,
  execute1,
  type Op,
  opHooks,
  pair,
  sumTo,
  type UnaryFunction,
} from '../../dispatch/op.ts';
import { uniform } from '../../dispatch/samples.ts';
import type { TensorLike } from '../../tensor/convert.ts';
import { zerosLike } from '../array/creation.ts';

/** re + i · im, element-wise, of floats. */
const complexOp: Op = defineElementwise({
  name: 'Complex',
  samples: () => [
    { inputs: [uniform([3, 5]), uniform([3, 5])] },
    { inputs: [uniform([2, 1, 4]), uniform([3, 1])] },
  ],
  scalar: () => (s, re, im) => s.complex(re, im),
  // What comes here is conjugated.
  grad: ({ a, b }, dy) => [sumTo(real(dy), a.shape), sumTo(imag(dy).neg(), b.shape)],
});

/**
 * The complex numbers re + i · im: complex64 of float32, complex128 of float64. Both broadcast.
 *
 *     tf.complex([1, 2], [0, -1]); // [1.+0.j 2.-1.j]
 *
 * @throws InvalidArgumentError for dtypes other than float32 and float64.
 */
export const complex: NamedFunction<[real: TensorLike, imag: TensorLike], ['real', 'imag']> = defineFunction(
  'complex',
  { real: kind.tensor, imag: kind.tensor },
  {},
  (re, im) => {
    const both = pair(re, im, 'Complex');
    const [{ dtype }] = both;
    if (dtype !== 'float32' && dtype !== 'float64') {
      throw new InvalidArgumentError(
        `the parts are ${dtype}, expected float32 or float64; convert them, for example with cast('float32')`,
        'Complex',
      );
    }
    return execute1(complexOp, both);
  },
);

/** The real part of complex numbers, a float; real numbers as they are. */
export const real: UnaryFunction<'x|input|val'> = defineUnary(
  {
    name: 'Real',
    dtypes: 'numeric',
    scalar: (s, x) => s.real(x),
    grad: ({ x }, dy) => dy.cast(x.dtype),
  },
  'x|input|val',
);
/** The imaginary part of complex numbers, a float; 0 for real numbers. */
export const imag: UnaryFunction<'x|input|val'> = defineUnary(
  {
    name: 'Imag',
    dtypes: 'numeric',
    scalar: (s, x) => s.imag(x),
    grad: ({ x }, dy) => (isComplex(x.dtype) ? execute1(complexOp, [zerosLike(dy), dy]) : zerosLike(dy)),
  },
  'x|input|val',
);
/** re − i · im for re + i · im, element-wise; real numbers as they are. */
export const conj: UnaryFunction = defineUnary({
  name: 'Conj',
  dtypes: 'numeric',
  scalar: (s, x) => s.conj(x),
  grad: (_, dy) => conj(dy),
});
opHooks.conj = conj;
/** The angle of complex numbers in (−π, π], element-wise: that of the point (re, im). For real numbers 0, of NaN too, or π below 0. */
export const angle: UnaryFunction<'x|input|z'> = defineUnary(
  {
    name: 'Angle',
    scalar: (s, x) =>
      isComplex(x.dtype) ? s.atan2(s.imag(x), s.real(x)) : s.mul(s.cast(s.lt(x, 0), x.dtype), Math.PI),
    grad: ({ x }, dy) => {
      if (!isComplex(x.dtype)) return zerosLike(dy);
      const [re, im] = [real(x), imag(x)];
      const scaled = dy.div(re.square().add(im.square()));
      return execute1(complexOp, [scaled.mul(im).neg(), scaled.mul(re)]);
    },
  },
  'x|input|z',
);

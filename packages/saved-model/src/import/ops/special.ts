// Special functions: Bessel's, incomplete gammas, integrals.
import * as tf from '@eagre/core';
import { binary, type OpTable, unary } from '../op-row.ts';
import { vjp } from '../vjp.ts';

const { special } = tf.math;

export const specialFunctions: OpTable = {
  BesselI0: unary((x) => special.besselI0(x)),
  BesselI0e: unary((x) => special.besselI0e(x)),
  BesselI1: unary((x) => special.besselI1(x)),
  BesselI1e: unary((x) => special.besselI1e(x)),
  BesselJ0: unary((x) => special.besselJ0(x)),
  BesselJ1: unary((x) => special.besselJ1(x)),
  BesselK0: unary((x) => special.besselK0(x)),
  BesselK0e: unary((x) => special.besselK0e(x)),
  BesselK1: unary((x) => special.besselK1(x)),
  BesselK1e: unary((x) => special.besselK1e(x)),
  BesselY0: unary((x) => special.besselY0(x)),
  BesselY1: unary((x) => special.besselY1(x)),
  Dawsn: unary((x) => special.dawsn(x)),
  Expint: unary((x) => special.expint(x)),
  FresnelCos: unary((x) => special.fresnelCos(x)),
  FresnelSin: unary((x) => special.fresnelSin(x)),
  Spence: unary((x) => special.spence(x)),
  Igamma: binary((a, x) => tf.math.igamma(a, x)),
  IgammaGradA: (c) => {
    const [a, x] = [c.x(0), c.x(1)];
    const shape = tf.broadcastDynamicShape(tf.shapeOf(a), tf.shapeOf(x));
    // Of each element by itself: nothing is added up over axes that are broadcast.
    const [whole, other] = [tf.broadcastTo(a, shape), tf.broadcastTo(x, shape)];
    return vjp((v) => tf.math.igamma(v as tf.Tensor, other), [whole], tf.onesLike(whole))[0] as tf.Tensor;
  },
  // A sample moves so that the distribution function of it stays as it is. In float64, as densities may be tiny.
  RandomGammaGrad: (c) => {
    const shape = tf.shapeOf(c.x(0).add(c.x(1)));
    const [alpha, sample] = c.xs().map((x) => tf.broadcastTo(tf.cast(x, 'float64'), shape));
    const given = [alpha as tf.Tensor, sample as tf.Tensor];
    const [byAlpha, density] = vjp(
      (a, x) => tf.math.igamma(a as tf.Tensor, x as tf.Tensor),
      given,
      tf.ones(shape, 'float64'),
    );
    return tf.cast((byAlpha as tf.Tensor).div(density as tf.Tensor).neg(), c.x(1).dtype);
  },
  Igammac: binary((a, x) => tf.math.igammac(a, x)),
  Polygamma: binary((a, x) => tf.math.polygamma(a, x)),
  Zeta: binary((x, q) => tf.math.zeta(x, q)),
  Betainc: (c) => tf.math.betainc(c.x(0), c.x(1), c.x(2)),
  NextAfter: binary((x, y) => tf.math.nextafter(x, y)),
};

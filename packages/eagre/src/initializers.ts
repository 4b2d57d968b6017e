/** The initializers that `tf` has itself: those of Keras, under TensorFlow's names. */
import { initializers } from '@eagre/layers';

// Bundlers leave out calls that are marked, and so what these lie in.

/** All elements are `value`. */
export const constantInitializer: typeof initializers.constant = /* @__PURE__ */ (() =>
  initializers.constant)();
/** All elements are 1. */
export const onesInitializer: typeof initializers.ones = /* @__PURE__ */ (() => initializers.ones)();
/** All elements are 0. */
export const zerosInitializer: typeof initializers.zeros = /* @__PURE__ */ (() => initializers.zeros)();
/** Normally distributed numbers, of mean 0 and standard deviation 0.05 by default. */
export const randomNormalInitializer: typeof initializers.randomNormal = /* @__PURE__ */ (() =>
  initializers.randomNormal)();
/** Uniform numbers, from −0.05 to 0.05 by default. */
export const randomUniformInitializer: typeof initializers.randomUniform = /* @__PURE__ */ (() =>
  initializers.randomUniform)();

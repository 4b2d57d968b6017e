/** Gradient tapes, custom gradients and gradients of functions. */
export * as autodiff from './autodiff.ts';
export * from './autodiff.ts';
export {
  type CustomGradientOptions,
  type CustomResult,
  type CustomResultWithVariables,
  customGradient,
  gradPassThrough,
} from './custom-gradient.ts';
export type { GradientsOf, Nested, Source } from './nest.ts';
export { recomputeGrad } from './recompute-grad.ts';
export type { GradientOptions, GradientTapeOptions } from './tape.ts';

/** Gradient tapes, custom gradients and gradients of functions. */
export * as autodiff from './autodiff.ts';
export {
  type CustomGradientOptions,
  type CustomResult,
  type CustomResultWithVariables,
  customGradient,
  gradPassThrough,
} from './custom-gradient.ts';
export { ForwardAccumulator } from './forward-accumulator.ts';
export {
  type GradientPair,
  grad,
  gradientsFunction,
  implicitGradients,
  implicitValueAndGradients,
  valueAndGrad,
  valueAndGradientsFunction,
} from './functional.ts';
export type { GradientsOf, Nested, Source } from './nest.ts';
export { recomputeGrad } from './recompute-grad.ts';
export { type GradientOptions, GradientTape, type GradientTapeOptions } from './tape.ts';

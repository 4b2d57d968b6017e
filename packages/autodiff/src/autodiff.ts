/** `tf.autodiff`: derivatives along a direction, and gradients of functions. */
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
export { GradientTape } from './tape.ts';

/** `tf.autodiff`. */
export { ForwardAccumulator } from './forward-accumulator.ts';
export { GradientTape } from './tape.ts';

/** `tf.linalg.experimental`. */
export {
  type ConjugateGradient,
  type ConjugateGradientOptions,
  conjugateGradient,
} from './ops/linalg/conjugate-gradient.ts';

/** `tf.random`. */
export { gamma } from './random/gamma.ts';
export * from './random/random.ts';

/** `tf.random`. */
export { beta, gamma } from './random/gamma.ts';
export * from './random/keys.ts';
export * from './random/random.ts';

/** `tf.compat`. */
export * as v1 from './v1.ts';

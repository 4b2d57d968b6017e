/** `tf.keras.ops.numpy`: what NumPy has, under Keras's names. */

export { ndim, size, vectorize } from './core.ts';
export { slogdet } from './linalg.ts';
export * from './numpy/creation.ts';
export * from './numpy/elementwise.ts';
export * from './numpy/products.ts';
export * from './numpy/reduce.ts';
export * from './numpy/shaping.ts';

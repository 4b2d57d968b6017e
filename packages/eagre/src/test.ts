/** `tf.test`: what tests need. */
export * as experimental from './test-experimental.ts';

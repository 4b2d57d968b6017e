/** `tf.types`: classes to ask what a value is. */
export * as experimental from './types-experimental.ts';

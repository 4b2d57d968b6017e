/** `tf.profiler`: how long things take. */
export * as experimental from './profiler-experimental.ts';

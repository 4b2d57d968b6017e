/** `tf.autograph`: ordinary control flow on tensors becomes control flow of graphs. */
export * from '@eagre/autograph';
export * as experimental from './autograph-experimental.ts';

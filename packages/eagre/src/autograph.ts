/** `tf.autograph`: ordinary control flow on tensors becomes control flow of graphs. */
export * from '@eagre/autograph';

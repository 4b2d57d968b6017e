/** `tf.nn`: what networks are made of. */
export * from './ops/nn/nn.ts';

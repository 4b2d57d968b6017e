/** `tf.nn.experimental`. */
export { generalDropout, statelessDropout, type UniformSampler } from './ops/nn/dropouts.ts';

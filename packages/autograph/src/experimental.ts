/** `tf.autograph.experimental` */
export { type LoopOptions, setLoopOptions } from './runtime/loop-options.ts';
export { doNotConvert } from './to-graph.ts';

/** `tf.random.experimental`: names of `tf.random` under which TensorFlow has them too, and orders of numbers. */
export {
  Algorithm,
  createRngState,
  Generator,
  getGlobalGenerator,
  setGlobalGenerator,
} from './random/generator.ts';
export { indexShuffle } from './random/index-shuffle.ts';
export { foldIn as statelessFoldIn, split as statelessSplit } from './random/keys.ts';
export { statelessShuffle } from './random/stateless.ts';

/** `tf.random`. */
export {
  allCandidateSampler,
  type CandidateSample,
  type FixedUnigramOptions,
  fixedUnigramCandidateSampler,
  learnedUnigramCandidateSampler,
  logUniformCandidateSampler,
  uniformCandidateSampler,
} from './random/candidates.ts';
export { beta, gamma } from './random/gamma.ts';
export * from './random/generator.ts';
export * from './random/keys.ts';
export {
  categorical,
  globalStream,
  type NormalOptions,
  normal,
  type Seeded,
  type SeedSource,
  type StatelessSeed,
  setSeed,
  shuffle,
  truncatedNormal,
  type UniformOptions,
  uniform,
} from './random/random.ts';
export {
  type AlgorithmLike,
  type AlgorithmOptions,
  statelessNormal,
  statelessTruncatedNormal,
  statelessUniform,
} from './random/stateless.ts';
export * as experimental from './random-experimental.ts';

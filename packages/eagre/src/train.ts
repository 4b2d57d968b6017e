/** `tf.train`: checkpoints, and the messages of examples. */
export * from '@eagre/checkpoint';
export {
  BytesList,
  Example,
  Feature,
  FeatureList,
  FeatureLists,
  Features,
  FloatList,
  Int64List,
  SequenceExample,
} from '@eagre/data/internal';
export { ClusterDef, ClusterSpec, JobDef, ServerDef } from '@eagre/distribute/internal';
export { ExponentialMovingAverage } from './exponential-moving-average.ts';
export * as experimental from './train-experimental.ts';

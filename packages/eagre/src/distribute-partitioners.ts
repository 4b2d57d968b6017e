/** `tf.distribute.experimental.partitioners`: how variables are divided between parameter servers. */
export {
  FixedShardsPartitioner,
  MaxSizePartitioner,
  MinSizePartitioner,
  Partitioner,
  type VariablePartitioner,
} from '@eagre/distribute';

/** `tf.distribute.clusterResolver`: what tells a process who takes part in a cluster, and which of them it is. */
export {
  type ClusterDef,
  ClusterResolver,
  ClusterSpec,
  SimpleClusterResolver,
  SlurmClusterResolver,
  type TaskType,
  TFConfigClusterResolver,
} from '@eagre/distribute';

/** `tf.distribute.coordinator`: has workers run functions, whose variables are on parameter servers. */
export {
  ClusterCoordinator,
  PerWorkerDataset,
  PerWorkerIterator,
  PerWorkerResource,
  RemoteValue,
  type WorkerDataset,
} from '@eagre/distribute';

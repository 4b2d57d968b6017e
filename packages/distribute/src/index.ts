/** Distribution strategies: `tf.distribute`. */
export {
  ClusterResolver,
  SimpleClusterResolver,
  SlurmClusterResolver,
  TFConfigClusterResolver,
} from './cluster/cluster-resolver.ts';
export { type ClusterDef, ClusterSpec, type TaskType } from './cluster/cluster-spec.ts';
export { DistributedDataset, DistributedIterator } from './input/distributed-dataset.ts';
export { InputContext, ValueContext } from './input/input-context.ts';
export { type InputArguments, InputOptions, InputReplicationMode } from './input/input-options.ts';
export { Optional } from './input/optional.ts';
export {
  type ConnectOptions,
  type MultiWorkerMirroredOptions,
  MultiWorkerMirroredStrategy,
} from './multi-worker/multi-worker-mirrored.ts';
export { ClusterCoordinator, PerWorkerResource } from './parameter-server/cluster-coordinator.ts';
export {
  type ParameterServerConnectOptions,
  type ParameterServerOptions,
  ParameterServerStrategy,
} from './parameter-server/parameter-server-strategy.ts';
export {
  FixedShardsPartitioner,
  MaxSizePartitioner,
  MinSizePartitioner,
  Partitioner,
  type VariablePartitioner,
} from './parameter-server/partitioners.ts';
export { PerWorkerDataset, PerWorkerIterator, type WorkerDataset } from './parameter-server/per-worker.ts';
export { RemoteValue } from './parameter-server/remote-value.ts';
export { type JoinOptions, Server, type ServerOptions } from './parameter-server/server.ts';
export { ShardedVariable } from './parameter-server/sharded-variable.ts';
export { PreemptionCheckpointHandler } from './preemption/preemption-checkpoint-handler.ts';
export { TerminationConfig, type TerminationOptions } from './preemption/termination-config.ts';
export { type CentralStorageOptions, CentralStorageStrategy } from './strategy/central-storage.ts';
export type { CollectiveOptions, Collectives } from './strategy/collectives.ts';
export {
  type CommunicationArguments,
  CommunicationImplementation,
  CommunicationOptions,
} from './strategy/communication-options.ts';
export {
  CrossDeviceOps,
  HierarchicalCopyAllReduce,
  ReductionToOneDevice,
  type ReductionToOneDeviceOptions,
} from './strategy/cross-device-ops.ts';
export {
  experimentalSetStrategy,
  getReplicaContext,
  getStrategy,
  hasStrategy,
  inCrossReplicaContext,
} from './strategy/current.ts';
export {
  type Destinations,
  type ReduceToOptions,
  StrategyExtended,
  type UpdateOptions,
} from './strategy/extended.ts';
export { type MirroredOptions, MirroredStrategy } from './strategy/mirrored.ts';
export type { MirroredVariable } from './strategy/mirrored-variable.ts';
export { NcclAllReduce, type NcclAllReduceOptions } from './strategy/nccl-all-reduce.ts';
export { OneDeviceStrategy } from './strategy/one-device.ts';
export { ReduceOp } from './strategy/reduce-op.ts';
export { type CollectiveCallOptions, ReplicaContext } from './strategy/replica-context.ts';
export { type RunArguments, RunOptions } from './strategy/run-options.ts';
export {
  type DistributedResult,
  type ReduceOptions,
  type ReplicaCall,
  Strategy,
  type StrategyParts,
} from './strategy/strategy.ts';
export { DistributedValues, Mirrored, PerReplica } from './strategy/values.ts';

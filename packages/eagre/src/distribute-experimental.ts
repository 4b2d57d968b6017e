/** `tf.distribute.experimental`. */
export {
  type CentralStorageOptions,
  CentralStorageStrategy,
  type CommunicationArguments,
  CommunicationImplementation,
  CommunicationImplementation as CollectiveCommunication,
  CommunicationOptions,
  CommunicationOptions as CollectiveHints,
  MultiWorkerMirroredStrategy,
  ParameterServerStrategy,
  PreemptionCheckpointHandler,
  TerminationConfig,
  type TerminationOptions,
  ValueContext,
} from '@eagre/distribute';
export * as coordinator from './distribute-coordinator.ts';
export * as partitioners from './distribute-partitioners.ts';

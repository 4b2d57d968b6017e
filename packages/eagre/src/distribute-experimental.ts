/** `tf.distribute.experimental`. */
export {
  type CentralStorageOptions,
  CentralStorageStrategy,
  type CommunicationArguments,
  CommunicationImplementation,
  CommunicationOptions,
  ValueContext,
} from '@eagre/distribute';

/** `tf.serving`: a prediction server. The code comes with the first call, as few programs need it. */
export type {
  BatchingOptions,
  HostTensor,
  HostTensors,
  ModelConfig,
  ModelSource,
  RequestLogEntry,
  Servable,
  ServableSignature,
  ServedModels,
  Server,
  ServerOptions,
  TensorInfo,
  VersionPolicy,
} from '@eagre/serving';
export { createServer } from '@eagre/serving/internal';

/** A prediction server with TensorFlow Serving's REST API. */
export type { BatchingOptions } from './batching/batch-queue.ts';
export { createServer } from './functions.ts';
export type { ModelConfig, ModelSource } from './models/model-source.ts';
export type { VersionPolicy } from './models/version-policy.ts';
export type { KerasModel } from './servable/function-servable.ts';
export type {
  HostTensor,
  HostTensors,
  MethodName,
  Servable,
  ServableSignature,
  TensorInfo,
} from './servable/servable.ts';
export type { ServedModels, Server } from './server.ts';
export type { RequestLogEntry, ServerOptions } from './server-options.ts';

// The function of `tf.serving`. What it does is loaded by the first call.
import { defineFunction, kind, type NamedFunction } from '@eagre/core/internal';
import type { ServedModels, Server } from './server.ts';
import type { ServerOptions } from './server-options.ts';

/**
 * Starts a server with TensorFlow Serving's REST API.
 *
 *     const server = await tf.serving.createServer(model, { name: 'mnist', port: 8501, batching: true });
 *     // POST http://127.0.0.1:8501/v1/models/mnist:predict {"instances": […]}
 *     await server.close();
 *
 * @param models a Keras model, a `tf.function` with an input signature, an object with `signatures`, or the folder of a SavedModel or its
 * versions; or several, in an object by their names.
 * @throws (the promise) InvalidArgumentError for wrong options, and for what cannot be served; NotFoundError for a folder that is not there; UnavailableError
 * where the port cannot be had.
 */
export const createServer: NamedFunction<
  [models: ServedModels],
  ['models'],
  ServerOptions,
  Promise<Server>
> = /* @__PURE__ */ defineFunction(
  'serving.createServer',
  { models: kind.structure },
  {
    host: kind.asIs,
    allowedHosts: kind.asIs,
    port: kind.asIs,
    name: kind.asIs,
    versionPolicy: kind.asIs,
    versionLabels: kind.asIs,
    pollSeconds: kind.asIs,
    batching: kind.asIs,
    maxInFlight: kind.asIs,
    maxEnqueued: kind.asIs,
    predictTimeoutMs: kind.asIs,
    requestTimeoutMs: kind.asIs,
    headersTimeoutMs: kind.asIs,
    keepAliveTimeoutMs: kind.asIs,
    drainTimeoutMs: kind.asIs,
    maxBodyBytes: kind.asIs,
    maxHeaderBytes: kind.asIs,
    maxJsonDepth: kind.asIs,
    maxJsonValues: kind.asIs,
    maxConnections: kind.asIs,
    cors: kind.asIs,
    requestLog: kind.asIs,
    log: kind.asIs,
  },
  async (models, options) => (await import('./server.ts')).createServer(models, options),
);

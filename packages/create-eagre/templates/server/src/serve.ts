import * as tf from 'eagre';

/**
 * Serves a model by TensorFlow Serving's REST API, at `/v1/models/spirals`.
 *
 * @param model a Keras model, or the folder of a SavedModel and its versions
 * @param port 0 takes any that is free
 */
export const serve = (model: tf.Model | string, port: number): Promise<tf.serving.Server> =>
  tf.serving.createServer(model, {
    name: 'spirals',
    port,
    // Rows of requests that come at the same time are computed together.
    batching: { maxBatchSize: 32 },
  });

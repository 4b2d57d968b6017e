/** `tf.keras.applications.imagenetUtils`. */
export { decodePredictions, preprocessInput } from '../imagenet-utils.ts';

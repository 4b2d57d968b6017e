/** `tf.keras.applications.mobilenetV3`. */
export { decodePredictions, preprocessNothing as preprocessInput } from '../imagenet-utils.ts';

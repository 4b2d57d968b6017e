/** `tf.keras.applications.mobilenet`. */
export { decodePredictions, preprocessTf as preprocessInput } from '../imagenet-utils.ts';
export { MobileNet } from '../mobilenet.ts';

/** `tf.keras.applications.mobilenetV2`. */
export { decodePredictions, preprocessTf as preprocessInput } from '../imagenet-utils.ts';
export { MobileNetV2 } from '../mobilenet-v2.ts';

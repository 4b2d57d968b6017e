/** `tf.keras.applications.vgg19`. */
export { decodePredictions, preprocessCaffe as preprocessInput } from '../imagenet-utils.ts';
export { VGG19 } from '../vgg.ts';

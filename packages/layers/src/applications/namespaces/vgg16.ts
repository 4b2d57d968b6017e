/** `tf.keras.applications.vgg16`. */
export { decodePredictions, preprocessCaffe as preprocessInput } from '../imagenet-utils.ts';
export { VGG16 } from '../vgg.ts';

/** `tf.keras.applications.resnet`. */
export { decodePredictions, preprocessCaffe as preprocessInput } from '../imagenet-utils.ts';
export { ResNet50, ResNet101, ResNet152 } from '../resnet.ts';

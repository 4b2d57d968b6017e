/** `tf.keras.applications.resnet50`. */
export { decodePredictions, preprocessCaffe as preprocessInput } from '../imagenet-utils.ts';
export { ResNet50 } from '../resnet.ts';

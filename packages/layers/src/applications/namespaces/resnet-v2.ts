/** `tf.keras.applications.resnetV2`. */
export { decodePredictions, preprocessTf as preprocessInput } from '../imagenet-utils.ts';
export { ResNet50V2, ResNet101V2, ResNet152V2 } from '../resnet.ts';

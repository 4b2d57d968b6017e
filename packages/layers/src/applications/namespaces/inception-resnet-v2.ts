/** `tf.keras.applications.inceptionResnetV2`. */
export { decodePredictions, preprocessTf as preprocessInput } from '../imagenet-utils.ts';
export { InceptionResNetV2 } from '../inception-resnet-v2.ts';

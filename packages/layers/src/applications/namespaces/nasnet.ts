/** `tf.keras.applications.nasnet`. */
export { decodePredictions, preprocessTf as preprocessInput } from '../imagenet-utils.ts';
export { NASNetLarge, NASNetMobile } from '../nasnet.ts';

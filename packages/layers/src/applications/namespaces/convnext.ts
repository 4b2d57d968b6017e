/** `tf.keras.applications.convnext`. */

export { ConvNeXtBase, ConvNeXtLarge, ConvNeXtSmall, ConvNeXtTiny, ConvNeXtXLarge } from '../convnext.ts';
export { decodePredictions, preprocessNothing as preprocessInput } from '../imagenet-utils.ts';

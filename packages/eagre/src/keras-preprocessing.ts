/** `tf.keras.preprocessing`: older places of functions of `tf.keras.utils`. */

export { imageDatasetFromDirectory, textDatasetFromDirectory, timeseriesDatasetFromArray } from '@eagre/data';
export * as image from './keras-preprocessing-image.ts';
export * as sequence from './keras-preprocessing-sequence.ts';

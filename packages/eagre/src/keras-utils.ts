/** `tf.keras.utils`: data in folders, downloads, sequences, series. */
export { imageDatasetFromDirectory, textDatasetFromDirectory, timeseriesDatasetFromArray } from '@eagre/data';
export { getFile, padSequences } from '@eagre/datasets';

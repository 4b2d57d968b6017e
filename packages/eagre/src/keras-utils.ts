/** `tf.keras.utils`: data in folders, downloads, sequences. */
export { imageDatasetFromDirectory, textDatasetFromDirectory } from '@eagre/data';
export { getFile, padSequences } from '@eagre/datasets';

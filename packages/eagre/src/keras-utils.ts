import { random } from '@eagre/core';

/** `tf.keras.utils`: data in folders, downloads, sequences, series, classes, seeds. */
export { imageDatasetFromDirectory, textDatasetFromDirectory, timeseriesDatasetFromArray } from '@eagre/data';
export { getFile, padSequences } from '@eagre/datasets';
export {
  clearSession,
  type DrawOptions,
  modelToDot,
  type PlotOptions,
  packXYSampleWeight,
  plotModel,
  toCategorical,
  unpackXYSampleWeight,
} from '@eagre/layers';
export {
  customObjectScope,
  deserializeKerasObject,
  getCustomObjects,
  getRegisteredName,
  getRegisteredObject,
  type RegisterOptions,
  registerKerasSerializable,
  serializeKerasObject,
} from './keras-saving.ts';

/** `tf.random.setSeed` under Keras's name: what is drawn from here on depends on the seed alone. */
export const setRandomSeed: typeof random.setSeed = random.setSeed;

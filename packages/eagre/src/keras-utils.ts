import { random } from '@eagre/core';

/** `tf.keras.utils`: data in folders, downloads, sequences, series, classes, progress, seeds. */
export {
  arrayToImg,
  audioDatasetFromDirectory,
  imageDatasetFromDirectory,
  imgToArray,
  loadImg,
  saveImg,
  splitDataset,
  textDatasetFromDirectory,
  timeseriesDatasetFromArray,
} from '@eagre/data';
export { getFile, padSequences } from '@eagre/datasets';
export {
  boundingBoxes,
  Config,
  clearSession,
  type DrawOptions,
  disableInteractiveLogging,
  enableInteractiveLogging,
  FeatureSpace,
  type FeatureSpaceArguments,
  type FeatureSpaceOptions,
  getSourceInputs,
  isInteractiveLoggingEnabled,
  isKerasTensor,
  modelToDot,
  normalize,
  type PlotOptions,
  Progbar,
  type ProgbarArguments,
  type ProgbarOptions,
  type ProgbarValues,
  PyDataset,
  type PyDatasetOptions,
  packXYSampleWeight,
  plotModel,
  Sequence,
  standardizeDtype,
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
export const setRandomSeed: typeof random.setSeed = /* @__PURE__ */ (() => random.setSeed)();
export * as experimental from './keras-utils-experimental.ts';

/** `tf.keras.utils.experimental`. */
export { type DatasetContext, DatasetCreator, type DatasetFunction } from '@eagre/layers';

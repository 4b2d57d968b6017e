/**
 * What `tf.keras.config` sets for everything of Keras, of all packages. Code reads it when it runs or when a layer is made, never while it is
 * loaded; what was traced before a change stays as it is.
 */
export interface KerasDefaults {
  /** Keeps quotients and logarithms finite. */
  epsilon: number;
  /** The dtype of what says none. */
  floatx: 'float16' | 'bfloat16' | 'float32' | 'float64';
  /** Where the axis of channels is, unless a layer or a function says it. */
  imageDataFormat: 'channelsLast' | 'channelsFirst';
  /** `fit` ends after so many epochs, whatever it is told; null for no limit. */
  maxEpochs: number | null;
  /** Passes over data end after so many batches; null for no limit. */
  maxStepsPerEpoch: number | null;
}
export const kerasDefaults: KerasDefaults = {
  epsilon: 1e-7,
  floatx: 'float32',
  imageDataFormat: 'channelsLast',
  maxEpochs: null,
  maxStepsPerEpoch: null,
};

/** `floatx` for sums and pictures, which are never of 16 bits. */
export function wideFloatx(): 'float32' | 'float64' {
  return kerasDefaults.floatx === 'float64' ? 'float64' : 'float32';
}

/** `tf.keras.preprocessing`: older names of functions of `tf.keras.utils`. */
export * as image from './keras-preprocessing-image.ts';
export * as sequence from './keras-preprocessing-sequence.ts';

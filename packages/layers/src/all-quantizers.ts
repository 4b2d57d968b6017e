/** `tf.keras.quantizers`. */
export * from './calibrated-quantizers.ts';
export * from './quantizers.ts';

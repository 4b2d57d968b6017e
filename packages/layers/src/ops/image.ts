/** `tf.keras.ops.image`: images [height, width, channels], or batches of them. */
export * from './image/filters.ts';
export * from './image/placing.ts';
export * from './image/warping.ts';

/** The functions of `tf.keras.ops`, by Keras's files. */
export * as core from './core.ts';
export * as image from './image.ts';
export * as linalg from './linalg.ts';
export * as math from './math.ts';
export * as nn from './nn.ts';
export * as numpy from './numpy.ts';

/** `tf.layers`. */
export { deserialize } from '../saving/deserialize.ts';
export { type SerializedLayer, serialize } from '../saving/serialization.ts';
export * from './classes.ts';

/** `tf.audio`: sound in files. */
export { decodeWav, encodeWav } from '@eagre/data/internal';

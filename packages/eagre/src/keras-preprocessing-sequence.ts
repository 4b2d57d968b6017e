/** `tf.keras.preprocessing.sequence`. */
export { padSequences } from '@eagre/datasets';

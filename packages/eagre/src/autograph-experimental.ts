/** `tf.autograph.experimental` */
export { doNotConvert } from '@eagre/autograph';

/** `tf.train.experimental` */
export { PythonState } from '@eagre/checkpoint/internal';

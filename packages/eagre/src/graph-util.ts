/** `tf.graphUtil`: graphs of files. */
export { importGraphDef } from '@eagre/graph';

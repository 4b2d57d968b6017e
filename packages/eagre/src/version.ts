/** `tf.version`: which Eagre this is. */

/** The version of the package, as npm knows it: `tf.version.VERSION`. */
export const VERSION: string = '0.0.0';
/** The version of TensorFlow's graphs that are written here, as `versions.producer` of a GraphDef. */
export { GRAPH_DEF_VERSION } from '@eagre/graph';

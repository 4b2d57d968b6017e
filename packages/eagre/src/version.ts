/** `tf.version`: which Eagre this is. */

/** The version of the package, as npm knows it: `tf.version.VERSION`. */
export const VERSION: string = '0.0.0';
/** The version of TensorFlow's graphs that are written here, as `versions.producer` of a GraphDef. */
export { GRAPH_DEF_VERSION } from '@eagre/graph';
/** The oldest reader that a GraphDef of TensorFlow's may name as `versions.min_consumer`. Graphs that are written here name 12. */
export const GRAPH_DEF_VERSION_MIN_CONSUMER = 0;
/** The oldest version of TensorFlow's graphs that are read. */
export const GRAPH_DEF_VERSION_MIN_PRODUCER = 0;

/** The version of TensorFlow's graphs that are written: that of TensorFlow 2.21. */
export const GRAPH_DEF_VERSION = 2474;

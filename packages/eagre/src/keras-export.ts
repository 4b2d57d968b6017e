/** `tf.keras.export`: models and functions for servers. */
export { type EndpointOptions, ExportArchive, type WriteOutOptions } from '@eagre/layers';

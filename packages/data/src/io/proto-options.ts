// What users give `tf.io.decodeProto` and `tf.io.encodeProto` beside the messages.

/**
 * A `FileDescriptorSet`, as `protoc --descriptor_set_out=… --include_imports` writes it: its bytes, the path of a file with them, or as in
 * TensorFlow text of `bytes://` and the bytes.
 */
export type DescriptorSource = string | Uint8Array;

/** Options of `encodeProto`. */
export interface EncodeProtoOptions {
  /** Must be given: no messages are described here. */
  readonly descriptorSource?: DescriptorSource;
}
/** Options of `decodeProto`. */
export interface DecodeProtoOptions extends EncodeProtoOptions {
  /** How messages are written; `'binary'` by default. */
  readonly messageFormat?: 'binary' | 'text';
  /** Whether messages are first read and written again as protobuf does, which refuses more and drops what a message cannot hold; false by default. */
  readonly sanitize?: boolean;
}

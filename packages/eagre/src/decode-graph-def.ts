// The bytes of TensorFlow's graphs.
import { InvalidArgumentError } from '@eagre/core';
import { FormatError, tensorflow } from '@eagre/formats';

/** The message in bytes that the argument `what` of `op` is. @throws InvalidArgumentError for bytes that are no GraphDef */
export function decodeGraphDef(bytes: Uint8Array, what: string, op: string): tensorflow.GraphDef {
  try {
    return tensorflow.GraphDef.decode(bytes);
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new InvalidArgumentError(`${what} is no GraphDef: ${cause.message}`, op, { cause });
  }
}

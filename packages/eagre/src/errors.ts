/** `tf.errors`: every error that Eagre throws on purpose. */
export {
  CancelledError,
  DataLossError,
  EagreError,
  type ErrorCode,
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  NotFoundError,
  OutOfRangeError,
  ResourceExhaustedError,
  UnimplementedError,
} from '@eagre/core';

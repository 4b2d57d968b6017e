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
  PermissionDeniedError,
  ResourceExhaustedError,
  UnavailableError,
  UnimplementedError,
} from '@eagre/core';

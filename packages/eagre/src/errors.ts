/** `tf.errors`: every error that Eagre throws on purpose. */
export {
  AbortedError,
  CancelledError,
  DataLossError,
  DeadlineExceededError,
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

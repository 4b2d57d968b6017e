/** `tf.errors`: every error that Eagre throws on purpose, and the numbers of their codes: `error.errorCode === tf.errors.NOT_FOUND`. */
export {
  AbortedError,
  AlreadyExistsError,
  CancelledError,
  DataLossError,
  DeadlineExceededError,
  EagreError,
  EagreError as OpError,
  type ErrorCode,
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  NotFoundError,
  OperatorNotAllowedInGraphError,
  OutOfRangeError,
  PermissionDeniedError,
  ResourceExhaustedError,
  UnauthenticatedError,
  UnavailableError,
  UnimplementedError,
  UnknownError,
} from '@eagre/core';

export const OK = 0;
export const CANCELLED = 1;
export const UNKNOWN = 2;
export const INVALID_ARGUMENT = 3;
export const DEADLINE_EXCEEDED = 4;
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
export const PERMISSION_DENIED = 7;
export const RESOURCE_EXHAUSTED = 8;
export const FAILED_PRECONDITION = 9;
export const ABORTED = 10;
export const OUT_OF_RANGE = 11;
export const UNIMPLEMENTED = 12;
export const INTERNAL = 13;
export const UNAVAILABLE = 14;
export const DATA_LOSS = 15;
export const UNAUTHENTICATED = 16;

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

/** The number of no error. */
export const OK = 0;
/** The number of a `CancelledError`. */
export const CANCELLED = 1;
/** The number of an `UnknownError`. */
export const UNKNOWN = 2;
/** The number of an `InvalidArgumentError`. */
export const INVALID_ARGUMENT = 3;
/** The number of a `DeadlineExceededError`. */
export const DEADLINE_EXCEEDED = 4;
/** The number of a `NotFoundError`. */
export const NOT_FOUND = 5;
/** The number of an `AlreadyExistsError`. */
export const ALREADY_EXISTS = 6;
/** The number of a `PermissionDeniedError`. */
export const PERMISSION_DENIED = 7;
/** The number of a `ResourceExhaustedError`. */
export const RESOURCE_EXHAUSTED = 8;
/** The number of a `FailedPreconditionError`. */
export const FAILED_PRECONDITION = 9;
/** The number of an `AbortedError`. */
export const ABORTED = 10;
/** The number of an `OutOfRangeError`. */
export const OUT_OF_RANGE = 11;
/** The number of an `UnimplementedError`. */
export const UNIMPLEMENTED = 12;
/** The number of an `InternalError`. */
export const INTERNAL = 13;
/** The number of an `UnavailableError`. */
export const UNAVAILABLE = 14;
/** The number of a `DataLossError`. */
export const DATA_LOSS = 15;
/** The number of an `UnauthenticatedError`. */
export const UNAUTHENTICATED = 16;

import { foldStack } from './stack.ts';

/** TensorFlow's canonical codes, with their numbers. */
export const errorNumbers = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** The name of a code. */
export type ErrorCode = keyof typeof errorNumbers;

/** Base of every error that Eagre throws on purpose. `op` names the operation it arose in, where there is one. */
export class EagreError extends Error {
  readonly code: ErrorCode;
  readonly op: string | undefined;

  constructor(code: ErrorCode, message: string, op?: string, options?: ErrorOptions) {
    super(op === undefined ? message : `${op}: ${message}`, options);
    this.name = new.target.name;
    this.code = code;
    this.op = op;
    foldStack(this, new.target);
  }

  /** The number of the code, as TensorFlow's `error_code`: equal to `tf.errors.NOT_FOUND` and the like. */
  get errorCode(): number {
    return errorNumbers[this.code];
  }
}

/** A wrong value, rank, shape, dtype, axis or option. */
export class InvalidArgumentError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('INVALID_ARGUMENT', message, op, options);
  }
}

/** Something named does not exist: a device, a variable, a file's entry. */
export class NotFoundError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('NOT_FOUND', message, op, options);
  }
}

/** The object is not in a state that permits the call: a used tape, an unbuilt model, a disposed tensor. */
export class FailedPreconditionError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('FAILED_PRECONDITION', message, op, options);
  }
}

/** JavaScript needs the value of a tensor that has none: code of a traced function branches on it, iterates over it or reads it. */
export class OperatorNotAllowedInGraphError extends FailedPreconditionError {}

/** An index or a label outside of its range. */
export class OutOfRangeError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('OUT_OF_RANGE', message, op, options);
  }
}

/** What is to be made is there already: a file that may not be replaced. */
export class AlreadyExistsError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('ALREADY_EXISTS', message, op, options);
  }
}

/** Known, but not supported: on this device, for this dtype, in this mode. */
export class UnimplementedError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('UNIMPLEMENTED', message, op, options);
  }
}

/** No memory for an allocation, no space on the disk, no more open files. */
export class ResourceExhaustedError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('RESOURCE_EXHAUSTED', message, op, options);
  }
}

/** The system does not permit it: to read or write a file, say. */
export class PermissionDeniedError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('PERMISSION_DENIED', message, op, options);
  }
}

/** It is not known who asks: a server wants a token, or another one. */
export class UnauthenticatedError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('UNAUTHENTICATED', message, op, options);
  }
}

/** What the system says of it is not among the known errors. */
export class UnknownError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('UNKNOWN', message, op, options);
  }
}

/** Not to be had now, perhaps later: a device that fails, a file that another program holds. */
export class UnavailableError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('UNAVAILABLE', message, op, options);
  }
}

/** Somebody asked for it to end early. */
export class CancelledError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('CANCELLED', message, op, options);
  }
}

/** Ends a run that nobody wants any more. @throws CancelledError */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true)
    throw new CancelledError('the run was cancelled', undefined, { cause: signal.reason });
}

/** A broken promise inside Eagre itself; please report it. */
export class InternalError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('INTERNAL', message, op, options);
  }
}

/** A file that is truncated or corrupted. */
export class DataLossError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('DATA_LOSS', message, op, options);
  }
}

/** It took longer than it was given, such as a wait for other processes. */
export class DeadlineExceededError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('DEADLINE_EXCEEDED', message, op, options);
  }
}

/** Ended because something else did: another process that gave up, or a strategy that was closed. */
export class AbortedError extends EagreError {
  constructor(message: string, op?: string, options?: ErrorOptions) {
    super('ABORTED', message, op, options);
  }
}

/** The error class for a code, for errors that arrive from native code as a code and a text. */
export function errorFromCode(code: ErrorCode, message: string, op?: string): EagreError {
  switch (code) {
    case 'INVALID_ARGUMENT':
      return new InvalidArgumentError(message, op);
    case 'NOT_FOUND':
      return new NotFoundError(message, op);
    case 'FAILED_PRECONDITION':
      return new FailedPreconditionError(message, op);
    case 'OUT_OF_RANGE':
      return new OutOfRangeError(message, op);
    case 'UNIMPLEMENTED':
      return new UnimplementedError(message, op);
    case 'RESOURCE_EXHAUSTED':
      return new ResourceExhaustedError(message, op);
    case 'DATA_LOSS':
      return new DataLossError(message, op);
    case 'CANCELLED':
      return new CancelledError(message, op);
    case 'PERMISSION_DENIED':
      return new PermissionDeniedError(message, op);
    case 'UNAVAILABLE':
      return new UnavailableError(message, op);
    case 'DEADLINE_EXCEEDED':
      return new DeadlineExceededError(message, op);
    case 'ABORTED':
      return new AbortedError(message, op);
    case 'INTERNAL':
      return new InternalError(message, op);
    case 'ALREADY_EXISTS':
      return new AlreadyExistsError(message, op);
    case 'UNAUTHENTICATED':
      return new UnauthenticatedError(message, op);
    case 'UNKNOWN':
      return new UnknownError(message, op);
  }
}

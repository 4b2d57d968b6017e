// TensorFlow's canonical codes, and what they are in HTTP.
import { EagreError, type ErrorCode } from '@eagre/backend';

/** A code of a response. */
export type StatusCode = 'OK' | ErrorCode;

const httpStatus: Readonly<Record<StatusCode, number>> = {
  OK: 200,
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  CANCELLED: 499,
  UNKNOWN: 500,
  INTERNAL: 500,
  DATA_LOSS: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

/** A request that is refused, or that fails. */
export class StatusError extends Error {
  readonly code: StatusCode;
  /** Of HTTP. */
  readonly status: number;

  constructor(code: StatusCode, message: string, status: number = httpStatus[code]) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
    this.status = status;
  }
}

/** What clients are told of an error: what went wrong, but nothing of the server's files and code. */
export function statusOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof EagreError) return new StatusError(error.code, withoutPlace(error.message));
  return new StatusError('INTERNAL', 'internal error');
}

/** Without the line of the function that called the op. */
function withoutPlace(message: string): string {
  const place = message.indexOf("\n  in '");
  return place < 0 ? message : message.slice(0, place);
}

// Errors between processes.
import { EagreError, type ErrorCode, errorFromCode, InternalError } from '@eagre/backend';

/** An error as it travels. */
export function fieldsOfError(error: unknown): Readonly<Record<string, unknown>> {
  const { message = String(error), name = 'Error', op } = (error ?? {}) as Partial<EagreError>;
  return { code: error instanceof EagreError ? error.code : null, name, message, op: op ?? null };
}

/** The error that has travelled. */
export function errorOfFields(fields: Readonly<Record<string, unknown>>): Error {
  const { code, name, message } = fields;
  if (typeof code === 'string')
    // What came may name a code that is none.
    return errorFromCode(code as ErrorCode, String(message)) ?? new InternalError(String(message));
  const error = new Error(String(message));
  error.name = String(name);
  return error;
}

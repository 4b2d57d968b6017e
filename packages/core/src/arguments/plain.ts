import { InvalidArgumentError } from '@eagre/backend';

/**
 * Whether a value is an object without a class, such as `{ model, optimizer }`.
 * @throws InvalidArgumentError for what cannot be looked at, such as a proxy that was revoked
 */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === Object.prototype || prototype === null;
  } catch (cause) {
    throw unseen(cause);
  }
}

/** The error for what cannot be looked at. */
export function unseen(cause: unknown): InvalidArgumentError {
  return new InvalidArgumentError('an object cannot be inspected: is it a revoked proxy?', undefined, {
    cause,
  });
}

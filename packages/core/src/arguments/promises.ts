/**
 * Whether a value is a promise, for those who refuse promises. It may be rejected later, which would end the process if nobody
 * listened: so it is listened to.
 */
export function isRefusedPromise(value: unknown): value is Promise<unknown> {
  if (!(value instanceof Promise)) return false;
  value.catch(() => undefined);
  return true;
}

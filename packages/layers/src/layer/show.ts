/** Any value in a message, as JSON where it can be written so. */
export function show(value: unknown): string {
  if (typeof value === 'number') return String(value);
  try {
    return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v)) ?? String(value);
  } catch {
    // It holds itself.
    return Object.prototype.toString.call(value);
  }
}

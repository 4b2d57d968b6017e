// The values of a JSON text, with what TensorFlow Serving tells apart and JSON.parse does not: 1 and 1.0, and integers beyond 2⁵³.

/** A number that was written with a fraction or an exponent, though its value is an integer: `1.0`, `1e3`. */
export class Decimal {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/**
 * A parsed value. Integers are numbers, or bigints beyond ±(2⁵³ − 1); numbers with a fraction are numbers, or `Decimal` where their value is an
 * integer. Objects are maps, so that no key, such as `__proto__`, means anything.
 */
export type Json = null | boolean | string | number | bigint | Decimal | readonly Json[] | JsonObject;
export type JsonObject = ReadonlyMap<string, Json>;

export const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
export const isObject = (value: Json | undefined): value is JsonObject => value instanceof Map;

/** Whether a value is a number of any kind. */
export const isNumber = (value: Json): value is number | bigint | Decimal =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof Decimal;

/** The value of a number as a double. */
export const toDouble = (value: number | bigint | Decimal): number =>
  value instanceof Decimal ? value.value : Number(value);

/** The value of a number that was written without fraction and exponent; undefined for others. */
export function toInteger(value: Json): bigint | number | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** What RapidJSON calls the type of a value. */
export function typeName(value: Json): string {
  if (value === null) return 'Null';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return 'String';
  if (isArray(value)) return 'Array';
  return isObject(value) ? 'Object' : 'Number';
}

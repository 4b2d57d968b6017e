// Where JavaScript takes what it is given for a value of its own: keys, numbers that are looked for, lengths, and what its functions take.
// Of a tensor that is known that is its value; another one is refused, as the answer would be that of an object.
import { isComplex } from '@eagre/backend';
import { knownTensor, toTensor, viewOf } from '@eagre/core/internal';
import { AutographError } from '../errors.ts';
import { isTensor } from './truth.ts';

/**
 * The value of a tensor, in JavaScript.
 * @throws AutographError for one that differs from run to run, or of several elements.
 */
function valueOf(value: unknown, site: string, what: string, instead: string): unknown {
  if (!isTensor(value)) return value;
  const found = knownTensor(toTensor(value));
  if (found === null)
    throw new AutographError(
      site,
      `${what}, and a tensor has no value while a graph is made of the code: ${instead}`,
    );
  if (found.size !== 1 || isComplex(found.dtype))
    throw new AutographError(site, `${what}, not ${found.dtype} [${found.shape}]: ${instead}`);
  if (found.dtype === 'string') return found.item();
  const [one] = viewOf(found);
  if (found.dtype === 'bool') return Boolean(one);
  return typeof one === 'bigint' && !Number.isSafeInteger(Number(one)) ? one : Number(one);
}

/** The key of an element or a member. */
export function key(value: unknown, site: string): unknown {
  return valueOf(
    value,
    site,
    'a key has to be one known value',
    'take rows with tf.gather(tf.stack(list), i), functions with tf.switchCase, and entries with a table of tf.lookup',
  );
}

/** An element or a member that is read. @throws AutographError for an element of a tensor, which has methods for it. */
export function element(object: unknown, at: unknown, site: string): unknown {
  if (isTensor(object) && (typeof at === 'number' || isTensor(at)))
    throw new AutographError(site, 'a tensor has no elements for [ ]: take x.at(i), or x.slice(…)');
  return (object as Readonly<Record<string, unknown>>)[key(at, site) as string];
}

/** The length of a list or a text. @throws AutographError for that of a tensor, which is nothing: a loop up to it would not run. */
export function lengthOf(object: unknown, site: string): unknown {
  if (isTensor(object))
    throw new AutographError(
      site,
      'a tensor has no length: its first size is x.shape[0], or tf.shape(x).at(0) where that is open',
    );
  return (object as { readonly length?: unknown }).length;
}

const isPrimitive = (v: unknown): boolean =>
  typeof v !== 'object' && typeof v !== 'function' && v !== undefined;

/** What is looked through in an array, map or set; null for what may not be. */
function keysOf(object: unknown): Iterable<unknown> | null {
  if (Array.isArray(object) || ArrayBuffer.isView(object)) return object as unknown[];
  return object instanceof Map || object instanceof Set ? object.keys() : null;
}

/**
 * A call of a method that looks for a value. Tensors are found as the objects that they are; among numbers and texts their value counts.
 * @throws AutographError for a tensor that differs from run to run, among those.
 */
export function search(object: unknown, method: string, site: string, ...args: readonly unknown[]): unknown {
  const call = (...given: readonly unknown[]): unknown =>
    Reflect.apply((object as Readonly<Record<string, never>>)[method], object, given);
  const [wanted, ...others] = args;
  if (!isTensor(wanted)) return call(...args);
  const keys = keysOf(object);
  if (keys === null) return call(...args);
  const all = [...keys];
  if (all.includes(wanted) || !all.some(isPrimitive)) return call(...args);
  const value = valueOf(
    wanted,
    site,
    `${method} looks for one known value`,
    'compare elements with tf.equal(list, x), then .any() or tf.argMax, or look them up in a table of tf.lookup',
  );
  return call(value, ...others);
}

/** `Object.is`, if it is that of the language: two tensors are the same object or not. */
export function sameValue(
  is: (a: unknown, b: unknown) => unknown,
  a: unknown,
  b: unknown,
  site: string,
): unknown {
  if (is !== Object.is || isTensor(a) === isTensor(b)) return is(a, b);
  const value = (v: unknown): unknown =>
    valueOf(v, site, 'Object.is compares known values', 'write ===, which compares elements');
  return isPrimitive(a) || isPrimitive(b) ? is(value(a), value(b)) : is(a, b);
}

const TYPED: ReadonlySet<unknown> = new Set([Array, Reflect.getPrototypeOf(Int8Array)]);

/** The only argument of a constructor of arrays, which is a length if it is a number. */
export function length(value: unknown, make: unknown, site: string): unknown {
  if (!isTensor(value) || typeof make !== 'function') return value;
  if (!TYPED.has(make) && !TYPED.has(Reflect.getPrototypeOf(make))) return value;
  if (make === Array && value.rank > 0) return value;
  return valueOf(
    value,
    site,
    `the length of an array is one known number`,
    'make a tensor with tf.zeros or tf.fill, take the values of one with x.data(), or write to a tf.TensorArray',
  );
}

const NATIVE: ReadonlySet<unknown> = new Set([
  Math,
  Number,
  String,
  BigInt,
  parseInt,
  parseFloat,
  isNaN,
  isFinite,
]);

/**
 * An argument of a function of JavaScript that takes values of its own.
 * @param fn the function, or the object that it is a method of. @param whether the value of a known tensor is meant, which the function itself does not take.
 */
export function native(value: unknown, fn: unknown, name: string, site: string, known?: boolean): unknown {
  if (!isTensor(value) || !NATIVE.has(fn)) return value;
  if (known !== true && knownTensor(toTensor(value)) !== null) return value;
  return valueOf(
    value,
    site,
    `${name} takes known values`,
    'use a function of tf or tf.math, which takes tensors',
  );
}

/** A part of a text. */
export function text(value: unknown, site: string): unknown {
  if (isTensor(value) && knownTensor(toTensor(value)) === null)
    throw new AutographError(
      site,
      'a text has to be known, and a tensor has no value while a graph is made of the code: use tf.print, or tf.strings.format',
    );
  return value;
}

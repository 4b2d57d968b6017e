// Conditions: host values, tensors whose value is known, and tensors that differ from run to run.
import { isComplex } from '@eagre/backend';
import {
  constant,
  debugging,
  InvalidArgumentError,
  logicalAnd,
  logicalNot,
  logicalOr,
  notEqual,
  Tensor,
  Variable,
} from '@eagre/core';
import { context, knownTensor, toTensor, viewOf } from '@eagre/core/internal';
import { AutographError } from '../errors.ts';

/** A condition: a boolean where it is known, else a symbolic bool scalar. */
export type Truth = boolean | Tensor;

export function isTensor(value: unknown): value is Tensor | Variable {
  return value instanceof Tensor || value instanceof Variable;
}

/**
 * Whether a value counts as true, as in JavaScript; a number in a tensor does unless it is 0 or NaN.
 * @throws InvalidArgumentError for a tensor of several elements, of strings, or of complex numbers.
 */
export function truth(value: unknown, site: string): Truth {
  if (!isTensor(value)) return Boolean(value);
  const x = toTensor(value);
  if (x.size !== 1 || x.dtype === 'string' || isComplex(x.dtype)) {
    throw new InvalidArgumentError(
      `${site}: the condition is ${x.dtype} [${x.shape}], expected one bool or number: reduce it first, for example x.greater(0).all()`,
      'autograph',
    );
  }
  const found = knownTensor(x);
  if (found !== null) return Boolean(viewOf(found)[0]);
  const one = x.rank === 0 ? x : x.reshape([]);
  return one.dtype === 'bool' ? one : notEqual(one, 0);
}

/**
 * Whether a condition holds where it has to be known.
 * @throws AutographError for one that differs from run to run.
 */
export function host(value: unknown, site: string): boolean {
  const t = truth(value, site);
  if (typeof t === 'boolean') return t;
  throw new AutographError(
    site,
    'this condition depends on a tensor, but its statement cannot become part of a graph: take jumps out of try, switch and labelled statements, and loop variables out of functions that keep them',
  );
}

/** Whether tensors may have no values. */
export function tracing(): boolean {
  return context.tracer !== null;
}

/** A condition among known values. @throws AutographError for one that differs from run to run. */
export function is(value: unknown, site: string): boolean {
  return typeof value === 'object' ? host(value, site) : Boolean(value);
}

/**
 * The condition of an assertion: known, or true where it is checked at each run.
 * @param message that of the assertion.
 */
export function asserted(value: unknown, site: string, message: string | undefined): boolean {
  const t = truth(value, site);
  if (typeof t === 'boolean') return t;
  const text = `${site}: ${message ?? 'the assertion does not hold'}`;
  debugging.assertEqual(t, true, text);
  return true;
}

/** A function whose result is a condition that has to be known. */
export function asks(fn: unknown, site: string): unknown {
  if (typeof fn !== 'function') return fn;
  return function (this: unknown, ...args: readonly unknown[]): unknown {
    const value: unknown = fn === Boolean ? args[0] : Reflect.apply(fn, this, args);
    if (isAsking(args)) return host(value, site);
    return fn === Boolean ? Boolean(value) : value;
  };
}

/** Whether it is the language that calls: with the index, and arrays with themselves. Other methods of these names take what they like. */
function isAsking({ length, 1: index, 2: list }: readonly unknown[]): boolean {
  return (
    typeof index === 'number' &&
    (length === 2 || (length === 3 && (Array.isArray(list) || ArrayBuffer.isView(list))))
  );
}

/** A call of `Boolean`, if it is that of the language. */
export function bool(fn: (value: unknown) => unknown, value: unknown, site: string): unknown {
  return fn === Boolean ? truth(value, site) : fn(value);
}

/** What an object takes over. @throws AutographError for a tensor that differs from run to run. */
export function spread(value: unknown, site: string): unknown {
  if (!isTensor(value)) return value;
  if (typeof truth(value, site) === 'boolean') return null;
  throw new AutographError(
    site,
    'an object cannot have keys only where a tensor says so: give it all of them, with tf.where or ?: for their values',
  );
}

/**
 * What a switch chooses by, and its cases.
 * @param big whether a case is a BigInt.
 * @throws AutographError for a tensor that differs from run to run.
 */
export function hostValue(value: unknown, site: string, big?: boolean): unknown {
  if (!isTensor(value)) return value;
  const found = knownTensor(toTensor(value));
  if (found === null)
    throw new AutographError(
      site,
      'switch on a tensor cannot become part of a graph: write if and else, or tf.switchCase',
    );
  const view = viewOf(found);
  if (view.length !== 1 || isComplex(found.dtype)) return value;
  const [one] = view;
  if (found.dtype === 'bool') return Boolean(one);
  return typeof one === 'bigint' && big !== true ? Number(one) : one;
}

/** What a plain loop goes through. @throws AutographError for a tensor that differs from run to run. */
export function hostIterable<T>(value: T, site: string): T {
  if (isTensor(value) && knownTensor(toTensor(value)) === null)
    throw new AutographError(
      site,
      'this loop over a tensor cannot become part of a graph: take jumps out of try, switch and labelled statements',
    );
  return value;
}

export const or = (a: Truth, b: Truth): Truth =>
  a === true || b === true ? true : a === false ? b : b === false ? a : logicalOr(a, b);
export const and = (a: Truth, b: Truth): Truth =>
  a === false || b === false ? false : a === true ? b : b === true ? a : logicalAnd(a, b);
export const not = (a: Truth): Truth => (typeof a === 'boolean' ? !a : logicalNot(a));
export const asTensor = (a: Truth): Tensor => (typeof a === 'boolean' ? constant(a) : a);

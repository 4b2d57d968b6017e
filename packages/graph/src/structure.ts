// Arguments and results of functions: tensors in arrays, maps and plain objects, beside anything else.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, Tensor, type TypedArray, Variable } from '@eagre/core';

/** Arguments taken apart. */
export interface Flat {
  readonly tensors: Tensor[];
  /** Tells calls apart that need traces of their own. */
  readonly key: string;
}

const ids = new WeakMap<object, number>();
let nextId = 1;

function identity(object: object): number {
  let id = ids.get(object);
  if (id === undefined) ids.set(object, (id = nextId++));
  return id;
}

const isTypedArray = (v: unknown): v is TypedArray => ArrayBuffer.isView(v) && !(v instanceof DataView);

/** Whether a value is looked into: an array, a map or an object without a class. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * The tensors of a call, in order, and a key of everything else: dtypes and shapes of tensors, values of numbers, strings and
 * booleans, the identity of variables and other objects. Typed arrays become tensors.
 */
export function flatten(values: readonly unknown[]): Flat {
  const tensors: Tensor[] = [];
  let key = '';
  const visit = (v: unknown): void => {
    if (v instanceof Tensor) {
      tensors.push(v);
      key += `${v.dtype}[${v.shape}]`;
    } else if (v instanceof Variable) {
      key += `v${v.id}`;
    } else if (typeof v === 'object' && v !== null) {
      if (isTypedArray(v)) visit(constant(v));
      else if (Array.isArray(v)) {
        key += '(';
        for (const item of v) visit(item);
        key += ')';
      } else if (v instanceof Map) {
        key += 'm{';
        for (const [k, item] of v) {
          key += `${JSON.stringify(String(k))}:`;
          visit(item);
        }
        key += '}';
      } else if (isPlain(v)) {
        key += '{';
        for (const [k, item] of Object.entries(v)) {
          key += `${JSON.stringify(k)}:`;
          visit(item);
        }
        key += '}';
      } else key += `#${identity(v)}`;
    } else if (typeof v === 'function') key += `#${identity(v)}`;
    else if (typeof v === 'string') key += JSON.stringify(v);
    else key += Object.is(v, -0) ? '-0' : `${typeof v === 'bigint' ? 'n' : ''}${String(v)}`;
    key += ',';
  };
  for (const v of values) visit(v);
  return { tensors, key };
}

/** The same structure with the next of `leaves` in the place of each tensor (and typed array). */
export function replace(value: unknown, next: () => unknown): unknown {
  if (value instanceof Tensor || isTypedArray(value)) return next();
  if (Array.isArray(value)) return value.map((v) => replace(v, next));
  if (value instanceof Map) return new Map([...value].map(([k, v]) => [k, replace(v, next)]));
  if (typeof value === 'object' && value !== null && isPlain(value))
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, replace(v, next)]));
  return value;
}

/** The tensors that a function returned, with variables read. @throws InvalidArgumentError for a promise. */
export function results(value: unknown): { readonly tensors: Tensor[]; readonly structure: unknown } {
  if (value instanceof Promise) {
    throw new InvalidArgumentError(
      'a traced function must not be async: it is traced once, and its runs do not wait',
      'tf.function',
    );
  }
  const tensors: Tensor[] = [];
  const visit = (v: unknown): unknown => {
    if (v instanceof Tensor || v instanceof Variable) {
      const t = v instanceof Variable ? v.read() : v;
      tensors.push(t);
      return t;
    }
    if (Array.isArray(v)) return v.map(visit);
    if (v instanceof Map) return new Map([...v].map(([k, item]) => [k, visit(item)]));
    if (typeof v === 'object' && v !== null && isPlain(v))
      return Object.fromEntries(Object.entries(v).map(([k, item]) => [k, visit(item)]));
    return v;
  };
  return { structure: visit(value), tensors };
}

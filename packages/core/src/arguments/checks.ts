// What many functions ask of their arguments. `what` names the argument in messages, `op` the function.
import { EagreError, InvalidArgumentError } from '@eagre/backend';
import { show, showShape } from '../shapes/shape.ts';
import { Tensor } from '../tensor/tensor.ts';
import { VariableBase } from '../tensor/variable-base.ts';
import { isPlain } from './plain.ts';
import { isRefusedPromise } from './promises.ts';

/** Whether a function is a class. Its text is looked at only where it may be one. */
export const isClass = (fn: object): boolean =>
  Object.getOwnPropertyDescriptor(fn, 'prototype')?.writable === false && /^class\b/.test(String(fn));

/** A value in a message: short, whatever it is. */
export function shown(value: unknown): string {
  try {
    return described(value);
  } catch {
    // Such as a proxy that was revoked, or fields that throw.
    return `a value of type ${typeof value} that cannot be looked at`;
  }
}

function describedTensor({ dtype, shape }: Pick<Tensor, 'dtype' | 'shape'>): string {
  return `a tensor of ${dtype} ${showShape(shape)}`;
}

function described(value: unknown): string {
  // By one class after the other: to narrow by both, TypeScript would compare them, while it still finds out what they have.
  if (value instanceof Tensor) return describedTensor(value);
  if (value instanceof VariableBase) return describedTensor(value);
  if (typeof value === 'function') {
    if (isClass(value)) return `the class ${value.name}`;
    // Layers and others that can be called are objects of a class.
    return isClass(value.constructor) ? `an object of class ${nameOfClass(value)}` : 'a function';
  }
  if (Array.isArray(value))
    return value.length > 8 ? `an array of ${value.length}` : `[${value.map(shown).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return isPlain(value) ? 'an object' : `an object of class ${nameOfClass(value)}`;
  }
  return show(value);
}

/** The name of an object's class; of a layer and others with a name of their own, that too. */
function nameOfClass(value: object): string {
  const { constructor, name } = value as {
    readonly constructor?: { readonly name?: unknown };
    readonly name?: unknown;
  };
  const cls = typeof constructor?.name === 'string' ? constructor.name : 'unknown';
  return typeof name === 'string' && name !== '' ? `${cls} named '${name}'` : cls;
}

function fail(what: string, expected: string, value: unknown, op: string | undefined): never {
  throw new InvalidArgumentError(`${what} must be ${expected}, got ${shown(value)}`, op);
}

/** What `read` gives. What refuses a value need not know for which argument it is: the message says that, too. */
export function naming<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof EagreError && !error.message.includes(what))
      error.message = `${what}: ${error.message}`;
    throw error;
  }
}

/** @throws InvalidArgumentError for what cannot be called. */
export function checkFunction(value: unknown, what: string, op?: string): void {
  if (typeof value !== 'function' || isClass(value)) fail(what, 'a function', value, op);
}

/** @throws InvalidArgumentError for what is no string. */
export function checkText(value: unknown, what: string, op?: string): void {
  if (typeof value !== 'string') fail(what, 'a string', value, op);
}

/** @throws InvalidArgumentError for what cannot be the path of a file or a folder: no text, none at all, or with a zero byte. */
export function checkPath(value: unknown, what: string, op?: string): void {
  if (typeof value !== 'string' || value === '' || value.includes('\0')) fail(what, 'a path', value, op);
}

/** @throws InvalidArgumentError unless it is an integer of at least `least`. */
export function checkCount(value: unknown, what: string, op?: string, least = 0): void {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    fail(what, `an integer of at least ${least}`, value, op);
}

/** @throws InvalidArgumentError unless it is a number of at least `least`; NaN is none. */
export function checkNumber(
  value: unknown,
  what: string,
  op?: string,
  least: number = Number.NEGATIVE_INFINITY,
): void {
  if (typeof value !== 'number' || !(value >= least))
    fail(what, least === Number.NEGATIVE_INFINITY ? 'a number' : `a number of at least ${least}`, value, op);
}

/** @throws InvalidArgumentError for what is none of these. */
export function checkOneOf(value: unknown, choices: readonly unknown[], what: string, op?: string): void {
  if (!choices.includes(value)) fail(what, `one of ${choices.map(show).join(', ')}`, value, op);
}

/** For what a function of the user's gave where nothing can be waited for. @throws InvalidArgumentError for a promise */
export function checkNoPromise(value: unknown, what: string, op?: string): void {
  if (!isRefusedPromise(value)) return;
  throw new InvalidArgumentError(`${what} returned a promise; it must not be async`, op);
}

const MOST_LEVELS = 256;

/** @throws InvalidArgumentError for a level that only structures have that hold themselves. */
export function checkLevel(level: number, op: string): void {
  if (level > MOST_LEVELS)
    throw new InvalidArgumentError(
      `a structure contains itself, or is nested more than ${MOST_LEVELS} levels deep`,
      op,
    );
}

/** A value as it stands in code, where it is short. */
export function asCode(value: unknown, depth = 0): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'object' && value !== null && !isPlain(value) && Array.isArray(value)) {
    // What is nested deeper is cut off: it may hold itself.
    if (value.length <= 4 && depth < 4) return `[${value.map((item) => asCode(item, depth + 1)).join(', ')}]`;
  }
  return value === null || ['number', 'boolean', 'undefined'].includes(typeof value) ? String(value) : '…';
}

// Branches and loops that are being traced: what they must not do to objects from outside, and what leaves them by a throw.
import { ambient, context } from '@eagre/core/internal';
import { AutographError } from '../errors.ts';

interface Frames {
  /** The branch or loop that is being traced; null where code runs as it stands. */
  frame: object | null;
  depth: number;
  /** What converted code has thrown last, and where. */
  last: { readonly error: unknown; readonly site: string } | null;
}
const now = ambient<Frames>({ frame: null, depth: 0, last: null });
const madeIn = new WeakMap<object, object>();
/** Errors that came out of a branch or loop. */
const escaped = new WeakSet<object>();

/** Thrown where nothing that is tried again could help. */
export class EndlessError extends AutographError {}

/** How deep branches and loops may lie in each other: functions that call themselves forever have no other end. */
const DEPTH = 100;

/**
 * Runs code that becomes part of a branch or loop.
 * @throws AutographError for what it throws, and for a function that calls itself as often as a tensor says.
 */
export function inFrame<T>(fn: () => T, site: string): T {
  if (now.depth >= DEPTH)
    throw new EndlessError(
      site,
      `branches and loops over tensors lie ${DEPTH} deep in each other here: a function that calls itself as often as a tensor says has no end while tracing; write a loop, or count the calls with a number`,
    );
  const around = now.frame;
  now.frame = {};
  now.depth++;
  try {
    return fn();
  } catch (error) {
    throw leaving(error);
  } finally {
    now.frame = around;
    now.depth--;
  }
}

function leaving(error: unknown): unknown {
  const { last } = now;
  const found =
    last !== null && Object.is(last.error, error)
      ? new AutographError(
          last.site,
          'throw in a branch or loop over a tensor: use tf.debugging.assert… for what has to hold at each run',
          { cause: error },
        )
      : error;
  now.last = null;
  if (typeof found === 'object' && found !== null) escaped.add(found);
  return found;
}

/** What converted code throws. It must not leave a branch or loop over a tensor: that would happen while tracing, whatever the values are. */
export function thrown(error: unknown, site: string): unknown {
  if (now.frame !== null) now.last = { error, site };
  return error;
}

/** Throws what a `catch` must not get while tracing: it says nothing about a run. */
export function caught(error: unknown): void {
  if (context.tracer === null || typeof error !== 'object' || error === null) return;
  if (error instanceof AutographError || escaped.has(error)) throw error;
}

/** An object or array that converted code has just made. */
export function made<T extends object>(value: T): T {
  if (now.frame !== null) madeIn.set(value, now.frame);
  return value;
}

/** What a method has given that makes a new array, where the value has that method. */
export function fresh<T>(value: T): T {
  if (now.frame !== null && Array.isArray(value)) madeIn.set(value, now.frame);
  return value;
}

/**
 * An object that converted code is about to change.
 * @param strict whether it must be of the innermost branch or loop.
 * @throws AutographError for one from outside of a branch or loop that is being traced: the change would happen once, while tracing.
 */
export function own<T>(value: T, strict: boolean, site: string): T {
  const { frame } = now;
  if (frame === null || typeof value !== 'object' || value === null) return value;
  const home = madeIn.get(value);
  if (strict ? home === frame : home !== undefined) return value;
  const what = Array.isArray(value)
    ? 'an array'
    : `an object of class ${value.constructor?.name ?? 'Object'}`;
  throw new AutographError(
    site,
    `${what} from outside is changed in a branch or loop over a tensor, which would happen once, while tracing. Assign a new value to a variable, or write to a tf.TensorArray: list = list.write(i, value)`,
  );
}

let strict = false;

/** Reads the state of a statement that becomes part of a graph, whose members must take back what is read of them. */
export function readState(read: () => readonly unknown[]): readonly unknown[] {
  strict = true;
  try {
    return read();
  } finally {
    strict = false;
  }
}

/**
 * A member that a branch or loop assigns to.
 * @param name what an array is called.
 * @throws AutographError for the length of an array, and for what can be set but not read.
 */
export function member(object: unknown, key: string, site: string, name: string = 'an array'): unknown {
  if (object === undefined || object === null) return undefined;
  if (strict && Array.isArray(object) && key === 'length')
    throw new AutographError(
      site,
      `${name} is changed in a branch or loop over a tensor, which would happen once, while tracing: assign a new array, or write to a tf.TensorArray`,
    );
  if (strict && isWriteOnly(object, key))
    throw new AutographError(
      site,
      `${key} can be set but not read, so its value cannot depend on a tensor: call a method behind the branch or loop`,
    );
  return (object as Readonly<Record<string, unknown>>)[key];
}

function isWriteOnly(object: object, key: string): boolean {
  for (let from: object | null = Object(object); from !== null; from = Object.getPrototypeOf(from)) {
    const found = Object.getOwnPropertyDescriptor(from, key);
    if (found !== undefined) return found.set !== undefined && found.get === undefined;
  }
  return false;
}

const Iterating: object = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
const keyed: readonly (abstract new (...args: never[]) => object)[] = [Map, Set, WeakMap, WeakSet, Date];

/** What a method is called on that changes maps, sets, arrays of numbers, dates and iterators. @throws as `own` for these. */
export function ownKeyed<T>(value: T, site: string): T {
  if (now.frame === null || typeof value !== 'object' || value === null) return value;
  return ArrayBuffer.isView(value) ||
    keyed.some((type) => value instanceof type) ||
    Object.prototype.isPrototypeOf.call(Iterating, value)
    ? own(value, true, site)
    : value;
}

/** What a method is called on that changes arrays, and does something else to all other objects. @throws as `own` for an array. */
export function ownArray<T>(value: T, site: string): T {
  return Array.isArray(value) || ArrayBuffer.isView(value) ? own(value, true, site) : value;
}

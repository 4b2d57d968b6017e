// Branches and loops that are being traced: what they must not do to objects from outside.
import { AutographError } from '../errors.ts';

/** The branch or loop that is being traced; null where code runs as it stands. */
let frame: object | null = null;
const madeIn = new WeakMap<object, object>();

/** Runs code that becomes part of a branch or loop. */
export function inFrame<T>(fn: () => T): T {
  const around = frame;
  frame = {};
  try {
    return fn();
  } finally {
    frame = around;
  }
}

/** An object or array that converted code has just made. */
export function made<T extends object>(value: T): T {
  if (frame !== null) madeIn.set(value, frame);
  return value;
}

/**
 * An object that converted code is about to change.
 * @param strict whether it must be of the innermost branch or loop.
 * @throws AutographError for one from outside of a branch or loop that is being traced: the change would happen once, while tracing.
 */
export function own<T>(value: T, strict: boolean, site: string): T {
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

/** What converted code throws. A throw in a branch or loop over a tensor would happen while tracing, whatever the values are. */
export function thrown(error: unknown, site: string): unknown {
  if (frame === null) return error;
  return new AutographError(
    site,
    'throw in a branch or loop over a tensor: use tf.debugging.assert… for what has to hold at each run',
    { cause: error },
  );
}

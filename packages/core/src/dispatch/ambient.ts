// What is current for the code that runs now, of all packages: open tapes and scopes, whether a layer trains, whether code is converted.

import {
  bringBackContext,
  type Context,
  contextNotAtRest,
  contextNow,
  isAlike,
  standAloneInContext,
} from './context.ts';

// The values of all fields lie in one list, which is quicker to read as a whole than the objects: datasets set everything aside for each
// element.
const values: unknown[] = [];
/** By field, as in `values`: what it is where nothing is going on. */
const rests: unknown[] = [];
const names: string[] = [];
/** Whether the field holds for code that stands alone, too. */
const lasts: boolean[] = [];
/** Whether the field is part of what a function computes, so that a second run of it needs it as it was. */
const repeats: boolean[] = [];

/**
 * Declares fields that tell what is current, with what they are where nothing is going on. All code reads and writes them there, so that
 * they can be set aside and brought back as a whole, with the context.
 * @param lasting fields that hold for code that stands alone, too.
 * @param again whether code that runs a second time, for its gradient, needs them as they were at first.
 */
export function ambient<T extends object>(fields: T, lasting: readonly (keyof T)[] = [], again = false): T {
  const declared = {} as T;
  for (const key of Object.keys(fields) as (keyof T & string)[]) {
    const at = values.push(fields[key]) - 1;
    rests.push(fields[key]);
    names.push(key);
    lasts.push(lasting.includes(key));
    repeats.push(again);
    Object.defineProperty(declared, key, {
      get: () => values[at],
      set: (value) => {
        values[at] = value;
      },
      enumerable: true,
    });
  }
  return declared;
}

interface Ambient {
  readonly context: Readonly<Context>;
  readonly values: readonly unknown[];
}
// Mostly nothing is going on but in the context.
const now = (): Ambient => ({ context: contextNow(), values: areAtRest() ? rests : values.slice() });

function areAtRest(): boolean {
  for (let i = 0; i < values.length; i++) if (values[i] !== rests[i]) return false;
  return true;
}

/** Modules that were loaded since may have declared more fields. */
function bringBack(before: Ambient): void {
  bringBackContext(before.context);
  for (let i = 0; i < before.values.length; i++) values[i] = before.values[i];
}

/** Runs `fn`, and leaves everything that is current as it was before, also what `fn` began and never ended. */
export function keepingAmbient<T>(fn: () => T): T {
  const before = now();
  try {
    return fn();
  } finally {
    bringBack(before);
  }
}

/** Notes how code computes here: whether layers train, and in which precision. @returns what runs code in the same way later. */
export function computingAsHere(): <T>(fn: () => T) => T {
  const here = values.map((value, i) => (repeats[i] ? value : undefined));
  return (fn) =>
    keepingAmbient(() => {
      for (let i = 0; i < here.length; i++) if (repeats[i]) values[i] = here[i];
      return fn();
    });
}

/**
 * Runs code that stands alone, such as a function of the host in the middle of a run, or one that makes the elements of a dataset: no tape
 * records it, no scope of memory or names holds it, and no layer around it trains.
 */
export function standingAlone<T>(fn: () => T): T {
  const before = now();
  standAloneInContext();
  for (let i = 0; i < values.length; i++) if (!lasts[i]) values[i] = rests[i];
  try {
    return fn();
  } finally {
    bringBack(before);
  }
}

/** The fields that are not as they are where nothing is going on. */
export function notAtRest(): string[] {
  return [...contextNotAtRest(), ...names.filter((_, i) => !isAlike(values[i], rests[i]))];
}

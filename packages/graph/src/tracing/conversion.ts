// Whether code that can be converted runs converted. `tf.autograph` converts it; here is when.
import { ambient } from '@eagre/core/internal';

/** Read by converted code at each call. */
export const conversion: {
  /** Whether functions that stand converted beside their own text run so: while a function is traced, and while a converted one runs. */
  on: boolean;
  /** Whether code asks to run as it is written, which is more than that nobody asks for anything. */
  refused: boolean;
} = ambient({ on: false, refused: false });

/** Functions called from here run converted. @returns what `leaveConversion` takes. */
export function enterConversion(): boolean {
  const before = conversion.on;
  conversion.on = true;
  return before;
}

/** As it was before `enterConversion`. */
export function leaveConversion(before: boolean): void {
  conversion.on = before;
}

/** Runs `fn` with conversion on or off for all that it calls. */
export function withConversion<T>(on: boolean, fn: () => T): T {
  const before = conversion.on;
  const around = conversion.refused;
  conversion.on = on;
  conversion.refused = !on;
  try {
    return fn();
  } finally {
    conversion.on = before;
    conversion.refused = around;
  }
}

/** Runs `fn` with conversion on, unless code around it asks to run as it is written. */
export function withConversionAllowed<T>(fn: () => T): T {
  return conversion.on || conversion.refused ? fn() : withConversion(true, fn);
}

/**
 * The key of a method by which an object says what a converted `for…of` goes through while a function is traced, where its own iterator is
 * for plain code: `[autographIterate](site: string): Iterable<unknown>`. The turns stand one after the other in the graph; a method that
 * cannot give elements there throws an error that says what to do. `site` is the loop, as `file:line:column`.
 */
export const autographIterate: unique symbol = Symbol.for('eagre.autographIterate') as never;

// Whether code that can be converted runs converted. `tf.autograph` converts it; here is when.

/**
 * Whether functions that stand converted beside their own text run so: while a function is traced, and while a converted one runs.
 * Read by converted code at each call, as a live binding.
 */
export let converting = false;

/** Functions called from here run converted. @returns what `leaveConversion` takes. */
export function enterConversion(): boolean {
  const before = converting;
  converting = true;
  return before;
}

/** As it was before `enterConversion`. */
export function leaveConversion(before: boolean): void {
  converting = before;
}

/** Whether code asks to run as it is written, which is more than that nobody asks for anything. */
let refused = false;

/** Runs `fn` with conversion on or off for all that it calls. */
export function withConversion<T>(on: boolean, fn: () => T): T {
  const before = converting;
  const around = refused;
  converting = on;
  refused = !on;
  try {
    return fn();
  } finally {
    converting = before;
    refused = around;
  }
}

/** Runs `fn` with conversion on, unless code around it asks to run as it is written. */
export function withConversionAllowed<T>(fn: () => T): T {
  return converting || refused ? fn() : withConversion(true, fn);
}

/**
 * The key of a method by which an object says what a converted `for…of` goes through while a function is traced, where its own iterator is
 * for plain code: `[autographIterate](site: string): Iterable<unknown>`. The turns stand one after the other in the graph; a method that
 * cannot give elements there throws an error that says what to do. `site` is the loop, as `file:line:column`.
 */
export const autographIterate: unique symbol = Symbol.for('eagre.autographIterate') as never;

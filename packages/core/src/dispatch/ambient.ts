// What is current for the code that runs now, of all packages: open tapes and scopes, whether a layer trains, whether code is converted.

type Fields = Record<PropertyKey, unknown>;

/** One field, of one of the objects that packages declare. */
interface Field {
  readonly owner: Fields;
  readonly key: PropertyKey;
  /** What it is where nothing is going on. */
  readonly rest: unknown;
  /** Whether it holds for code that stands alone, too. */
  readonly lasting: boolean;
  /** Whether it is part of what a function computes, so that a second run of it needs it as it was. */
  readonly again: boolean;
}
const all: Field[] = [];

/**
 * Declares fields that tell what is current, with what they are where nothing is going on. All code reads and writes them there, so that
 * they can be set aside and brought back as a whole.
 * @param lasting fields that hold for code that stands alone, too: the backend, the graph that is being written.
 * @param except fields that are never set aside: hooks, which tell nothing of the code that runs.
 * @param again whether code that runs a second time, for its gradient, needs them as they were at first.
 */
export function ambient<T extends object>(
  fields: T,
  lasting: readonly (keyof T)[] = [],
  except: readonly (keyof T)[] = [],
  again = false,
): T {
  const owner = fields as unknown as Fields;
  for (const key of Object.keys(fields))
    if (!except.includes(key as keyof T))
      all.push({ owner, key, rest: owner[key], lasting: lasting.includes(key as keyof T), again });
  return fields;
}

// Datasets set everything aside for each element, so these loops make no lists but one and write only what differs.

/** The values of fields now. */
function fieldValues(fields: readonly Field[]): unknown[] {
  const values = new Array<unknown>(fields.length);
  for (let i = 0; i < fields.length; i++) values[i] = fields[i].owner[fields[i].key];
  return values;
}

/** Sets fields to values that they had. Modules that were loaded since may have declared more. */
function bringBack(fields: readonly Field[], values: readonly unknown[]): void {
  for (let i = 0; i < values.length; i++) {
    const { owner, key } = fields[i];
    if (owner[key] !== values[i]) owner[key] = values[i];
  }
}

/** Runs `fn`, and leaves everything that is current as it was before, also what `fn` began and never ended. */
export function keepingAmbient<T>(fn: () => T): T {
  const before = fieldValues(all);
  try {
    return fn();
  } finally {
    bringBack(all, before);
  }
}

/** Notes how code computes here: whether layers train, and in which precision. @returns what runs code in the same way later. */
export function computingAsHere(): <T>(fn: () => T) => T {
  const fields = all.filter(({ again }) => again);
  const values = fieldValues(fields);
  return (fn) =>
    keepingAmbient(() => {
      bringBack(fields, values);
      return fn();
    });
}

/**
 * Runs code that stands alone, such as a function of the host in the middle of a run, or one that makes the elements of a dataset: no tape
 * records it, no scope of memory or names holds it, and no layer around it trains.
 */
export function standingAlone<T>(fn: () => T): T {
  const before = fieldValues(all);
  for (let i = 0; i < before.length; i++) {
    const { owner, key, rest, lasting } = all[i];
    if (!lasting && before[i] !== rest) owner[key] = rest;
  }
  try {
    return fn();
  } finally {
    bringBack(all, before);
  }
}

/** The fields that are not as they are where nothing is going on. */
export function notAtRest(): string[] {
  return all.flatMap(({ owner, key, rest }) => (isAlike(owner[key], rest) ? [] : [String(key)]));
}

function isAlike(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || (Array.isArray(a) && Array.isArray(b) && a.length === 0 && b.length === 0);
}

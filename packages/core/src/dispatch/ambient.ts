// What is current for the code that runs now, of all packages: open tapes and scopes, whether a layer trains, whether code is converted.

type Fields = Record<PropertyKey, unknown>;

interface Part {
  readonly fields: Fields;
  readonly keys: readonly PropertyKey[];
  /** What the fields are where nothing is going on. */
  readonly rest: Fields;
  /** Those that hold for code that stands alone, too. */
  readonly lasting: readonly PropertyKey[];
  /** Whether they are part of what a function computes, so that a second run of it needs them as they were. */
  readonly again: boolean;
}
const parts: Part[] = [];

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
  const all = fields as unknown as Fields;
  const keys = Object.keys(fields).filter((key) => !except.includes(key as keyof T));
  parts.push({ fields: all, keys, rest: { ...all }, lasting, again });
  return fields;
}

/** Takes all fields as they are. @returns what brings them back. */
function capture(from: readonly Part[] = parts): () => void {
  const before = from.map(({ fields, keys }) => keys.map((key) => fields[key]));
  return () => {
    before.forEach((values, i) => {
      const { fields, keys } = from[i] as Part;
      for (let k = 0; k < keys.length; k++) fields[keys[k] as PropertyKey] = values[k];
    });
  };
}

/** Runs `fn`, and leaves everything that is current as it was before, also what `fn` began and never ended. */
export function keepingAmbient<T>(fn: () => T): T {
  const bringBack = capture();
  try {
    return fn();
  } finally {
    bringBack();
  }
}

/** Notes how code computes here: whether layers train, and in which precision. @returns what runs code in the same way later. */
export function computingAsHere(): <T>(fn: () => T) => T {
  const bringBack = capture(parts.filter(({ again }) => again));
  return (fn) =>
    keepingAmbient(() => {
      bringBack();
      return fn();
    });
}

/**
 * Runs code that stands alone, such as a function of the host in the middle of a run, or one that makes the elements of a dataset: no tape
 * records it, no scope of memory or names holds it, and no layer around it trains.
 */
export function standingAlone<T>(fn: () => T): T {
  const bringBack = capture();
  for (const { fields, keys, rest, lasting } of parts)
    for (const key of keys) if (!lasting.includes(key)) fields[key] = rest[key];
  try {
    return fn();
  } finally {
    bringBack();
  }
}

/** The fields that are not as they are where nothing is going on. */
export function notAtRest(): string[] {
  return parts.flatMap(({ fields, keys, rest }) =>
    keys.filter((key) => !isAlike(fields[key], rest[key])).map(String),
  );
}

function isAlike(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || (Array.isArray(a) && Array.isArray(b) && a.length === 0 && b.length === 0);
}

// Finds what processes have not alike.

/** Values by names, each as JSON. */
export type Facts = Readonly<Record<string, string>>;

/** What two processes have in a place that differs. */
export interface Difference {
  /** Such as `batchSize`, or `model.layers[1].config.activation`. */
  readonly place: string;
  readonly first: string;
  readonly other: string;
}

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
};

/** The first place in which facts differ. */
export function differenceOf(first: Facts, other: Facts): Difference | undefined {
  for (const name of new Set([...Object.keys(first), ...Object.keys(other)])) {
    if (first[name] === other[name]) continue;
    const found = within(name, parsed(first[name]), parsed(other[name]));
    if (found !== undefined) return found;
  }
  return undefined;
}

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function within(place: string, first: unknown, other: unknown): Difference | undefined {
  if (!isObject(first) || !isObject(other) || Array.isArray(first) !== Array.isArray(other))
    return Object.is(first, other) ? undefined : { place, first: short(first), other: short(other) };
  for (const key of new Set([...Object.keys(first), ...Object.keys(other)])) {
    const next = Array.isArray(first) ? `${place}[${key}]` : `${place}.${key}`;
    const found = within(next, first[key], other[key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

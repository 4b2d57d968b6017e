// The structures in which models take and give tensors: one, a list, tensors by name, or such in each other.
import { InvalidArgumentError } from '@eagre/core';
import { checkLevel, isPlain, shown, tree } from '@eagre/core/internal';

const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Whether structures are in a structure. */
export function isDeep(form: unknown): boolean {
  return tree.isContainer(form) && !tree.wholeComposites(form) && itemsOf(form).some(isInner);
}
const isInner = (item: unknown): boolean => tree.isContainer(item) && !tree.wholeComposites(item);
const itemsOf = (form: tree.Container): readonly unknown[] =>
  isArray(form) ? form : form instanceof Map ? [...form.values()] : Object.values(form);

/** Whether both have the same keys and as many items everywhere. */
export function sameForm(a: unknown, b: unknown, op: string): boolean {
  let same = true;
  tree.forEachPair(
    a,
    b,
    op,
    (_, other) => {
      if (isInner(other)) same = false;
    },
    () => {
      same = false;
    },
  );
  return same;
}

/**
 * Whether an array holds what is a tensor to `isOne`, or such in lists or by name, rather than numbers. Of numbers there may be many, so the
 * first item of each array inside tells.
 */
export function holdsTensors(list: readonly unknown[], isOne: (value: unknown) => boolean): boolean {
  const holds = (value: unknown, level: number): boolean => {
    if (isOne(value)) return true;
    if (isPlain(value)) return Object.keys(value).length > 0;
    if (!isArray(value)) return false;
    checkLevel(level, 'the call of a layer');
    return holds(
      value.find((item) => item !== null),
      level + 1,
    );
  };
  return list.some((item) => holds(item, 0));
}

/** How values beside a structure are read. */
export interface Along {
  /** Of what the values are, and what has the structure, for messages: `y`, `output`. */
  readonly what: string;
  readonly of: string;
  /** Whether keys may lack, and null may stand for all that lies in a place. */
  readonly partial: boolean;
  /** The names that the tensors have themselves, by which values may be given to a structure of other keys. */
  readonly names?: readonly string[] | null;
  /** What was given in the place of an object in the values, for messages; the object unless given. */
  readonly asGiven?: (leaf: unknown) => unknown;
}

/**
 * The values for each tensor of a structure: in the same structure, or in one list. Undefined where there is none.
 * @throws InvalidArgumentError that names the place, for other keys and lengths
 */
export function along(
  form: unknown,
  given: unknown,
  { what, of, partial, names, asGiven }: Along,
): unknown[] {
  const told = (value: unknown): string =>
    shown(asGiven === undefined ? value : tree.mapLeaves(value, what, asGiven));
  const count = tree.leavesOf(form, what, tree.wholeComposites).length;
  if (isArray(given) && given.length === count && !given.some(isInner))
    return given.map((value) => value ?? undefined);
  if (
    isPlain(given) &&
    names?.length === count &&
    areKeys(given, names) &&
    !(isPlain(form) && areKeys(form, names))
  )
    return names.map((name) => given[name] ?? undefined);
  const found: unknown[] = [];
  const error = (why: string): InvalidArgumentError =>
    new InvalidArgumentError(
      `${what}${why}; the model has the ${of}s ${tree.showStructure(form, () => '·')}`,
    );
  const look = (part: unknown, value: unknown, path: readonly unknown[]): void => {
    if (!isInner(part)) {
      found.push(value ?? undefined);
      return;
    }
    const place = path.length === 0 ? '' : ` at ${tree.showPath(path).replace(/^\./, '')}`;
    if (value === null || value === undefined) {
      if (!partial) throw error(` is ${value}${place}`);
      for (const leaf of tree.leavesOf(part, what, tree.wholeComposites)) look(leaf, undefined, path);
    } else if (isArray(part)) {
      if (!isArray(value)) throw error(` is ${told(value)}${place}, expected a list of ${part.length}`);
      const list = value as readonly unknown[];
      if (list.length !== part.length)
        throw error(` has ${list.length} items${place}, expected ${part.length}`);
      part.forEach((inner, i) => look(inner, list[i], [...path, i]));
    } else {
      const inner = part as Readonly<Record<string, unknown>>;
      if (!isPlain(value))
        throw error(` is ${told(value)}${place}, expected an object of ${tree.keysOf(inner).join(', ')}`);
      for (const key of Object.keys(value))
        if (!Object.hasOwn(inner, key)) throw error(`: there is no ${of} '${key}'${place}`);
      tree.forEachItem(inner, (item, key) => {
        if (!partial && !Object.hasOwn(value, key as string))
          throw error(` lacks the ${of} '${String(key)}'${place}`);
        look(item, Object.hasOwn(value, key as string) ? value[key as string] : undefined, [...path, key]);
      });
    }
  };
  look(form, given, []);
  return found;
}

const areKeys = (given: object, names: readonly string[]): boolean =>
  Object.keys(given).length === names.length && names.every((name) => Object.hasOwn(given, name));

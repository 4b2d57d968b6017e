// How specs stand to each other: compatible, more special, and what is common to several.
import { InvalidArgumentError } from '@eagre/backend';
import { type PartialShape, TensorShape } from '@eagre/core';
import { shown } from '@eagre/core/internal';

type Fields = Readonly<Record<string, unknown>>;

/** Classes of specs: their objects have fields alone, `shape` among them where there is one. */
const classes = new Set<unknown>();
/** Says that the objects of a class are specs. */
export function isSpecClass(cls: { readonly prototype: object }): void {
  classes.add(cls.prototype);
}

/** Whether a value is a spec: of a class that has said so, or of one that extends it. */
export function isSpec(value: unknown): value is Fields {
  if (typeof value !== 'object') return false;
  for (let at: unknown = value; at !== null; at = Object.getPrototypeOf(at)) if (classes.has(at)) return true;
  return false;
}

const isPlain = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
const shapeOf = (value: unknown): TensorShape => new TensorShape(value as PartialShape | null);
const sameKeys = (a: object, b: object): boolean => {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key));
};

/** How shapes and names are compared. */
interface Relation {
  readonly shapes: (a: TensorShape, b: TensorShape) => boolean;
  readonly names: (a: unknown, b: unknown) => boolean;
}

/** Whether two values are alike, shapes and names as the relation says. */
function alike(a: unknown, b: unknown, relation: Relation): boolean {
  if (isSpec(a)) {
    if (!isSpec(b) || a.constructor !== b.constructor || !sameKeys(a, b)) return false;
    return Object.keys(a).every((key) => {
      if (key === 'shape') return relation.shapes(shapeOf(a[key]), shapeOf(b[key]));
      return key === 'name' ? relation.names(a[key], b[key]) : alike(a[key], b[key], relation);
    });
  }
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((part, i) => alike(part, b[i], relation));
  if (isPlain(a))
    return isPlain(b) && sameKeys(a, b) && Object.keys(a).every((key) => alike(a[key], b[key], relation));
  return Object.is(a, b);
}

/** Whether a value can be of both specs. */
export const compatible = (a: unknown, b: unknown): boolean =>
  alike(a, b, { shapes: (x, y) => x.isCompatibleWith(y), names: () => true });
/** Whether each value of the first spec is one of the second. */
export const subtype = (a: unknown, b: unknown): boolean =>
  alike(a, b, { shapes: (x, y) => x.isSubtypeOf(y), names: (x, y) => x === undefined || x === y });

const NONE = Symbol('nothing in common');

function common(a: unknown, b: unknown): unknown {
  const each = (x: Fields, y: Fields): Fields | typeof NONE => {
    const made: Record<string, unknown> = {};
    for (const key of Object.keys(x)) {
      if (key === 'shape') made[key] = shapeOf(x[key]).mostSpecificCompatibleShape(shapeOf(y[key])).dims;
      else made[key] = common(x[key], y[key]);
      if (made[key] === NONE) return NONE;
    }
    return made;
  };
  if (isSpec(a)) {
    if (!isSpec(b) || a.constructor !== b.constructor || !sameKeys(a, b)) return NONE;
    const fields = each(a, b);
    return fields === NONE
      ? NONE
      : Object.defineProperties(
          Object.create(Object.getPrototypeOf(a) as object) as object,
          Object.fromEntries(
            Object.entries(fields).map(([key, value]) => [key, { value, enumerable: true }] as const),
          ),
        );
  }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return NONE;
    const parts = a.map((part, i) => common(part, b[i]));
    return parts.includes(NONE) ? NONE : parts;
  }
  if (isPlain(a)) return isPlain(b) && sameKeys(a, b) ? each(a, b) : NONE;
  return Object.is(a, b) ? a : NONE;
}

/**
 * The most special spec that all values of these have; null where there is none.
 * @throws InvalidArgumentError for what is no list of specs
 */
export function commonSupertype<S>(spec: S, others: unknown, op: string): S | null {
  if (!Array.isArray(others) || !others.every(isSpec))
    throw new InvalidArgumentError(`others must be a list of specs, got ${shown(others)}`, op);
  let found: unknown = spec;
  for (const other of others) {
    found = common(found, other);
    if (found === NONE) return null;
  }
  return found as S;
}

/** The arguments of the methods that specs have in common. */
export const specMethods = {
  isCompatibleWith: { positional: ['specOrValue'], objects: ['specOrValue'] },
  isSubtypeOf: { positional: ['other'], objects: ['other'] },
  mostSpecificCommonSupertype: { positional: ['others'] },
} as const;

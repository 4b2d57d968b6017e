// Structures: arrays, maps and plain objects in each other, to any depth, and composite tensors, which hold their parts. All else is a
// leaf. Leaves are in the order of TensorFlow's `tf.nest`: items of arrays and parts from front to back, those of objects and maps by key.
// What is made anew has the keys as they were given.
import { checkLevel } from '../arguments/checks.ts';
import { unseen } from '../arguments/plain.ts';
import { CompositeTensor, isComposite } from '../composite/composite.ts';

/** What holds other values in a structure. */
export type Container<T = unknown> =
  | readonly T[]
  | ReadonlyMap<unknown, T>
  | Readonly<Record<string, T>>
  | CompositeTensor;

/** The way to a place in a structure: indices of arrays, keys of objects and maps. Callbacks get one that changes behind them. */
export type Path = readonly unknown[];

/** Which containers count as leaves. */
export type IsLeaf = (container: Container) => boolean;

/** For walks to which ragged and sparse tensors are values, and no structures. */
export const wholeComposites: IsLeaf = (container) => container instanceof CompositeTensor;

const nothing: IsLeaf = () => false;

/** Whether a value holds others: an array, a map, a plain object, or a composite tensor. @throws InvalidArgumentError for what cannot be looked at. */
export function isContainer(value: unknown): value is Container {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null || prototype === Array.prototype) return true;
    return Array.isArray(value) || value instanceof Map || value instanceof CompositeTensor;
  } catch (cause) {
    throw unseen(cause);
  }
}

/**
 * Keys in order: strings and numbers by value, in a map with both the numbers first. Keys that have no order, such as objects, stay as
 * they are.
 */
export function sortKeys<K>(keys: readonly K[]): readonly K[] {
  for (let i = 1; i < keys.length; i++)
    if (compareKeys(keys[i - 1], keys[i]) > 0) return [...keys].sort(compareKeys);
  return keys;
}

function compareKeys(a: unknown, b: unknown): number {
  const type = typeof a;
  if (type !== typeof b) return type < typeof b ? -1 : 1;
  if (type !== 'string' && type !== 'number' && type !== 'bigint') return 0;
  return (a as string) < (b as string) ? -1 : (a as string) > (b as string) ? 1 : 0;
}

/** Calls `visit` with each item of an array or a map, each field of an object, or each part of a composite tensor, in order. */
export function forEachItem(container: object, visit: (item: unknown, key: unknown) => void): void {
  if (Array.isArray(container)) {
    for (let i = 0; i < container.length; i++) visit(container[i], i);
  } else if (container instanceof CompositeTensor) {
    const { parts, partNames } = container;
    for (let i = 0; i < parts.length; i++) visit(parts[i], partNames[i]);
  } else for (const key of sortKeys(keysOf(container))) visit(itemAt(container, key), key);
}

/** The keys of a map or an object, as they stand there. */
export function keysOf(container: object): readonly unknown[] {
  return container instanceof Map ? [...container.keys()] : Object.keys(container);
}

function itemAt(container: object, key: unknown): unknown {
  return container instanceof Map
    ? container.get(key)
    : (container as Readonly<Record<string, unknown>>)[key as string];
}

/** The same array, map, object or composite tensor with what `change` makes of each item. `change` is called in order. */
export function mapItems<R>(container: Container, change: (item: unknown, key: unknown) => R): Container<R> {
  if (Array.isArray(container)) {
    const made = new Array<R>(container.length);
    for (let i = 0; i < made.length; i++) made[i] = change(container[i], i);
    return made;
  }
  if (container instanceof CompositeTensor) {
    const { parts, partNames } = container;
    return container.withParts(parts.map((part, i) => change(part, partNames[i]))) as Container<R>;
  }
  const isMap = container instanceof Map;
  const keys = keysOf(container);
  const sorted = sortKeys(keys);
  const made = sorted.map((key) => [key, change(itemAt(container, key), key)] as const);
  const entries = sorted === keys ? made : inOrder(made, keys);
  return isMap ? new Map(entries) : Object.fromEntries(entries as (readonly [string, R])[]);
}

function inOrder<R>(
  entries: readonly (readonly [unknown, R])[],
  keys: readonly unknown[],
): (readonly [unknown, R])[] {
  const items = new Map(entries);
  return keys.map((key) => [key, items.get(key) as R] as const);
}

/**
 * Calls `visit` with each leaf, in order, and the way to it.
 * @throws InvalidArgumentError that names `op`, for what holds itself.
 */
export function forEachLeaf(
  value: unknown,
  op: string,
  visit: (leaf: unknown, path: Path) => void,
  isLeaf: IsLeaf = nothing,
): void {
  const path: unknown[] = [];
  const look = (v: unknown): void => {
    if (!isContainer(v) || isLeaf(v)) {
      visit(v, path);
      return;
    }
    checkLevel(path.length, op);
    forEachItem(v, (item, key) => {
      path.push(key);
      look(item);
      path.pop();
    });
  };
  look(value);
}

/** The leaves, in order. @throws as `forEachLeaf` does. */
export function leavesOf(value: unknown, op: string, isLeaf: IsLeaf = nothing): unknown[] {
  // One tensor is what most structures are.
  if (!isContainer(value)) return [value];
  // And a list of tensors what most others are.
  if (Array.isArray(value) && value.length > 0 && !isLeaf(value) && !value.some(isContainer))
    return [...value];
  const leaves: unknown[] = [];
  let level = 0;
  const look = (v: unknown): void => {
    if (!isContainer(v) || isLeaf(v)) {
      leaves.push(v);
      return;
    }
    checkLevel(level++, op);
    forEachItem(v, look);
    level--;
  };
  look(value);
  return leaves;
}

/** The same structure with what `change` makes of each leaf; it is called in order and gets the number of the leaf. @throws as `forEachLeaf` does. */
export function mapLeaves(
  value: unknown,
  op: string,
  change: (leaf: unknown, index: number) => unknown,
  isLeaf: IsLeaf = nothing,
): unknown {
  if (!isContainer(value)) return change(value, 0);
  let next = 0;
  let level = 0;
  const look = (v: unknown): unknown => {
    if (!isContainer(v) || isLeaf(v)) return change(v, next++);
    checkLevel(level++, op);
    const made = mapItems(v, look);
    level--;
    return made;
  };
  return look(value);
}

/** The same structure with these leaves. @throws as `forEachLeaf` does. */
export function pack(structure: unknown, leaves: readonly unknown[], op: string, isLeaf?: IsLeaf): unknown {
  return mapLeaves(structure, op, (_, i) => leaves[i], isLeaf);
}

/** In what way a value is not what a structure says of its place. */
export interface Misfit {
  readonly kind: 'type' | 'length' | 'unknown key' | 'missing key';
  readonly key?: unknown;
}

function misfit(expected: Container, value: unknown): Misfit | null {
  if (isComposite(expected) || isComposite(value)) return isLike(expected, value) ? null : { kind: 'type' };
  if (!isContainer(value) || expected instanceof Map !== value instanceof Map) return { kind: 'type' };
  if (Array.isArray(expected) || Array.isArray(value)) {
    if (!Array.isArray(expected) || !Array.isArray(value)) return { kind: 'type' };
    return value.length === expected.length ? null : { kind: 'length' };
  }
  const has = (container: Container, key: unknown): boolean =>
    container instanceof Map ? container.has(key) : Object.hasOwn(container, key as string);
  for (const key of keysOf(expected)) if (!has(value, key)) return { kind: 'missing key', key };
  for (const key of keysOf(value)) if (!has(expected, key)) return { kind: 'unknown key', key };
  return null;
}

/** Whether two values are composite tensors of one kind. */
function isLike(a: unknown, b: unknown): boolean {
  return a instanceof CompositeTensor && b instanceof CompositeTensor && a.facts === b.facts;
}

/**
 * Walks a structure and a value beside it. Where they have the same containers, `leaf` gets each leaf of the structure with what the
 * value has there, which may be more than a leaf; `differs` gets the places where they do not, which are left out.
 * @throws as `forEachLeaf` does.
 */
export function forEachPair(
  structure: unknown,
  value: unknown,
  op: string,
  leaf: (leaf: unknown, value: unknown, path: Path) => void,
  differs: (how: Misfit, structure: Container, value: unknown, path: Path) => void,
  isLeaf: IsLeaf = nothing,
): void {
  const path: unknown[] = [];
  const look = (s: unknown, v: unknown): void => {
    if (!isContainer(s) || isLeaf(s)) {
      leaf(s, v, path);
      return;
    }
    checkLevel(path.length, op);
    const how = misfit(s, v);
    if (how !== null) {
      differs(how, s, v, path);
      return;
    }
    const beside = v instanceof CompositeTensor ? v.parts.values() : null;
    forEachItem(s, (item, key) => {
      path.push(key);
      look(item, beside === null ? itemAt(v as Container, key) : beside.next().value);
      path.pop();
    });
  };
  look(structure, value);
}

/** What a container is called in messages. */
export function containerName(container: Container): string {
  if (container instanceof CompositeTensor) return `a ${container.facts}`;
  return Array.isArray(container) ? 'an array' : container instanceof Map ? 'a map' : 'an object';
}

/** The way to a place as in code: `[0].x`. */
export function showPath(path: Path): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
}

// Deeper ones would not be read, and may hold themselves.
const SHOWN_LEVELS = 8;

/** A structure as text, `[…, { a: … }]`, with what `show` says of its leaves. */
export function showStructure(value: unknown, show: (leaf: unknown) => string, level = 0): string {
  if (!isContainer(value)) return show(value);
  if (level > SHOWN_LEVELS) return '…';
  const inside = (v: unknown): string => showStructure(v, show, level + 1);
  if (Array.isArray(value)) return `[${Array.from(value, inside).join(', ')}]`;
  if (value instanceof CompositeTensor)
    return `${value.facts}(${value.partNames.map((name, i) => `${name}: ${inside(value.parts[i])}`).join(', ')})`;
  const isMap = value instanceof Map;
  const items = [...(isMap ? value : Object.entries(value))].map(
    ([key, v]) => `${String(key)}: ${inside(v)}`,
  );
  return `${isMap ? 'Map ' : ''}{ ${items.join(', ')} }`;
}

/** What is in an array, a set, a map, a plain object or a composite tensor, as it stands there; null for what holds nothing, and for objects of other classes. */
export function itemsIn(value: unknown): Iterable<unknown> | null {
  if (value instanceof Set) return value;
  if (!isContainer(value)) return null;
  if (Array.isArray(value)) return value;
  if (value instanceof CompositeTensor) return value.parts;
  return value instanceof Map ? value.values() : Object.values(value);
}

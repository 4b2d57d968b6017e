// The objects of a SavedModel: what a checkpoint sees, and beside it functions and files.

import { type Seen, type View, viewOf, walk, withoutSlots } from '@eagre/checkpoint/internal';
import { Module, Variable } from '@eagre/core';
import { Asset, TableResource, tableOf, tree } from '@eagre/core/internal';
import { ConcreteFunction, isTracedFunction } from '@eagre/graph';
import { assetOf } from '../imported.ts';
import { LoadedObject } from '../load/loaded-object.ts';

/** How an object looks to a SavedModel. */
export function look(object: object): View {
  if (object instanceof TableInitializer) return { ...NOTHING, children: [['_filename', object.asset]] };
  if (isOurs(object as unknown)) return NOTHING;
  const own = withAssets(viewOf(object));
  if (object instanceof Variable || tableOf(object) !== null) return own;
  const { children: saved, ...rest } = withoutSlots(object, own);
  const view = { ...rest, children: [...saved, ...(own.unsaved ?? [])] };
  const names = new Set(view.children.map(([name]) => name));
  const children = new Set(view.children.map(([, child]) => child));
  const more = ownEntries(object).filter(
    ([name, value]) =>
      !names.has(name) && !children.has(value) && (holdsFunction(value) || isEmptyList(value)),
  );
  return more.length === 0 ? view : withAssets({ ...view, children: [...view.children, ...more] });
}

/** Loaded models have assets as tensors with their paths. */
const withAssets = (view: View): View => ({
  ...view,
  children: view.children.map(([name, child]) => [name, assetOf(child) ?? child] as const),
});

/** What names the file that a table is filled from. */
export class TableInitializer {
  readonly asset: Asset;
  constructor(path: string) {
    this.asset = new Asset(path);
  }
}

const NOTHING: View = { children: [], attributes: new Map(), slots: [], listed: [] };

/** All that can be reached from a root, the nearest first. */
export function objectsOf(root: object): readonly Seen[] {
  return walk(root, look);
}

/** Whether a SavedModel keeps something of a value. */
export function isSavable(value: unknown): value is object {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  if (value instanceof Variable || value instanceof Module || holdsFunction(value)) return true;
  return look(value).children.length > 0;
}

const isOurs = (value: unknown): value is object =>
  isTracedFunction(value) ||
  value instanceof ConcreteFunction ||
  assetOf(value) !== null ||
  value instanceof TableResource;

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Whether a value is a function or a file, or holds one in lists, maps and plain objects. */
function holdsFunction(value: unknown, seen: Set<object> = new Set()): value is object {
  if (isOurs(value)) return true;
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  const items = tree.itemsIn(value);
  if (items === null) return false;
  seen.add(value);
  for (const item of items) if (holdsFunction(item, seen)) return true;
  return false;
}

/** What makes an object callable in Python. */
const CALL = '__call__';

/** What is in an object by name. Methods with a decorator are attributes that cannot be listed; what begins with _ is private. */
function ownEntries(object: object): [string, object][] {
  if (Array.isArray(object)) return object.map((item, i) => [String(i), item]);
  if (object instanceof Set) return [...object].map((item, i) => [String(i), item]);
  if (object instanceof Map)
    return [...object].flatMap(([key, item]) =>
      typeof key === 'string' ? [[key, item] as [string, object]] : [],
    );
  // What has the name of a member is no property; nothing that a file has is private.
  if (object instanceof LoadedObject) return LoadedObject.entries(object) as [string, object][];
  return Object.entries(Object.getOwnPropertyDescriptors(object)).flatMap(([name, { value }]) =>
    name.startsWith('_') && name !== CALL ? [] : [[name, value] as [string, object]],
  );
}

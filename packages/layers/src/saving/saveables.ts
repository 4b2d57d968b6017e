// Where Keras's files keep the state of a model: a path for each layer and each optimizer, made of attributes and places in lists.
// The rules are those of keras/src/saving/saving_lib.py.
import { Module } from '@eagre/core';
import { isPlain, snakeCase } from '@eagre/core/internal';
import { LossScaleOptimizer, Optimizer } from '@eagre/optimizers';
import { isBuiltin, Layer } from '../layer/layer.ts';
import { Model } from '../models/model.ts';
import { Operation } from '../models/operations.ts';
import { Sequential } from '../models/sequential.ts';

/** What has state of its own in files. */
export type Saveable = Layer | Optimizer;

/** Called with what lies at a path. @returns whether to look inside too */
export type VisitSaveable = (object: Saveable, path: string) => boolean;

/** Visits a model and all with state inside, in Keras's order. What is reached by several ways is visited at each of them. */
export function walkSaveables(object: Saveable, visit: VisitSaveable, path = ''): void {
  if (!visit(object, path)) return;
  for (const [name, child] of childrenOf(object)) {
    const inner = path === '' ? name : `${path}/${name}`;
    if (isSaveable(child)) walkSaveables(child, visit, inner);
    else walkContainer(child, visit, inner, new Set());
  }
}

const isSaveable = (value: unknown): value is Saveable =>
  (value instanceof Layer && !isPlain(value)) || value instanceof Optimizer;

/** The items of a list, or of what is like one; undefined for anything else. */
function itemsOf(value: unknown): readonly (readonly [key: string | null, item: unknown])[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value) || value instanceof Set) return [...value].map((item) => [null, item]);
  if (value instanceof Map) return [...value.values()].map((item) => [null, item]);
  if (isPlain(value)) return Object.values(value).map((item) => [null, item]);
  // Keras has no modules, so what lies in them has a name of ours.
  if (value instanceof Module) return Object.entries(value);
  return undefined;
}

/** In lists the name is that of the class, numbered: names of layers are not the same in every process. */
function walkContainer(value: unknown, visit: VisitSaveable, path: string, seen: Set<unknown>): void {
  const items = itemsOf(value);
  if (items === undefined || seen.has(value)) return;
  seen.add(value);
  const used = new Map<string, number>();
  const unique = (base: string): string => {
    const n = used.get(base);
    used.set(base, n === undefined ? 0 : n + 1);
    return n === undefined ? base : `${base}_${n + 1}`;
  };
  for (const [key, item] of items) {
    if (isSaveable(item)) walkSaveables(item, visit, `${path}/${key ?? unique(snakeCase(classOf(item)))}`);
    else if (itemsOf(item) !== undefined)
      walkContainer(item, visit, `${path}/${key ?? unique('container')}`, seen);
  }
}

const classOf = (object: Saveable): string =>
  object instanceof Optimizer ? object.constructor.name : object.classInFiles;

/** Private names come last. */
const sortKey = (name: string): string => (name.startsWith('_') ? `~${name}` : name);

/** What lies directly in an object, by the names that Keras's objects have for it. */
function childrenOf(object: Saveable): readonly (readonly [name: string, child: unknown])[] {
  if (object instanceof Optimizer) return optimizersIn(object);
  const named = new Map<string, unknown>(Object.entries(object.innerSaveables));
  const ours = isBuiltin(object);
  for (const [name, value] of Object.entries(object)) {
    if (typeof value !== 'object' && typeof value !== 'function') continue;
    const own = object.savedNames[name];
    named.set(own ?? (ours ? snakeCase(name) : name), value);
  }
  // Where the same class is written in Python, the attribute is in snake_case: found when a file is read. What is written is met before.
  for (const [name, value] of ours ? [] : [...named]) {
    const python = `${/^_*/.exec(name)?.[0] ?? ''}${snakeCase(name)}`;
    if (!named.has(python)) named.set(python, value);
  }
  const children: (readonly [string, unknown])[] = [];
  if (object instanceof Model) {
    const { layers } = object;
    const list = layers.filter((layer) => !(layer instanceof Operation));
    // Sequential and functional models begin with their layers; others have a list of them among their attributes.
    if (object instanceof Sequential || object._graph !== undefined) {
      children.push(['layers', list]);
      named.delete('layers');
    } else if (!named.has('layers')) named.set('layers', list);
    if (object.compiled && !named.has('optimizer')) named.set('optimizer', object.optimizer);
  }
  const sorted = [...named].sort(([a], [b]) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return [...children, ...sorted];
}

function optimizersIn(object: Optimizer): readonly (readonly [string, unknown])[] {
  return object instanceof LossScaleOptimizer ? [['inner_optimizer', object.innerOptimizer]] : [];
}

// What is inside a layer: the layers, weights and metrics among its attributes.
import { Module, Variable } from '@eagre/core';
import { isPlain, snakeCase, tree } from '@eagre/core/internal';
import { metrics } from '@eagre/metrics';
import { Optimizer } from '@eagre/optimizers';
import { SeedGenerator } from '../utils/seed-generator.ts';
import type { Layer } from './layer.ts';
import type { NamedWeight } from './layer-types.ts';
import { LocalNames } from './naming.ts';

/** The layer and all inside, each once. */
export function withInner(layer: Layer, found: Set<Layer> = new Set()): Set<Layer> {
  if (found.has(layer)) return found;
  found.add(layer);
  for (const inner of layer.directLayers()) withInner(inner, found);
  return found;
}

/** Whether a value is a layer, told without its class, whose file needs this one. */
function isLayer(value: object): value is Layer {
  return value instanceof Module && '_layer' in value;
}

/** Visits variables, layers, metrics and seed generators among the attributes, in arrays, maps, plain objects and modules, not inside layers. */
export function walkAttributes(layer: Layer, visit: (key: string, value: unknown) => void): void {
  const seen = new Set<unknown>();
  const inside = (object: object): void => {
    // No list of entries: most attributes are numbers and the like, and this runs whenever somebody asks for weights.
    for (const key of Object.keys(object)) look(key, (object as Record<string, unknown>)[key]);
  };
  const look = (key: string, value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    if (
      isLayer(value) ||
      value instanceof Variable ||
      value instanceof metrics.Metric ||
      value instanceof SeedGenerator
    )
      visit(key, value);
    // What an optimizer remembers is no weight of the model that has it as an attribute.
    else if (value instanceof Module) {
      if (!(value instanceof Optimizer)) inside(value);
    } else if (isPlain(value)) inside(value);
    else for (const item of tree.itemsIn(value) ?? []) look(key, item);
  };
  inside(layer);
}

/** The states of generators among the attributes, here and in the layers inside. */
export function seedStates(layer: Layer): Variable[] {
  const found = new Set<Variable>();
  for (const inner of withInner(layer))
    walkAttributes(inner, (_, value) => {
      if (value instanceof SeedGenerator) found.add(value.state);
    });
  return [...found];
}

// Weights that were made to be trained, and frozen afterwards: their places stay.
const frozenLater = new WeakSet<Variable>();
/** Freezes a weight for good, as LoRA does. */
export function freezeLater(variable: Variable): void {
  if (variable.trainable) frozenLater.add(variable);
  (variable as { trainable: boolean }).trainable = false;
}
const isFirst = (variable: Variable): boolean => variable.trainable || frozenLater.has(variable);

/** @internal The variables of a layer itself: first those that can be trained, then the others. */
export function ownVariables(layer: Layer): Variable[] {
  const own = new Set(layer._layer.weights.map(({ variable }) => variable));
  walkAttributes(layer, (_, value) => {
    if (value instanceof Variable) own.add(value);
  });
  return [...[...own].filter(isFirst), ...[...own].filter((v) => !isFirst(v))];
}

/** Every weight, layer by layer: first those that can be trained, then the others. */
export function namedWeights(
  layer: Layer,
  prefix = '',
  frozen = false,
  seen: Set<Variable> = new Set(),
): NamedWeight[] {
  const own: NamedWeight[] = [];
  const still = frozen || !layer.trainable;
  const names = new LocalNames();
  const add = (name: string, variable: Variable): void => {
    if (seen.has(variable)) return;
    seen.add(variable);
    own.push({ path: prefix + names.unique(name), variable, trainable: variable.trainable && !still });
  };
  for (const { name, variable } of layer._layer.weights) add(name, variable);
  walkAttributes(layer, (key, value) => {
    if (value instanceof Variable) add(key, value);
  });
  const out = [...own.filter((w) => isFirst(w.variable)), ...own.filter((w) => !isFirst(w.variable))];
  const inner = new LocalNames();
  for (const child of layer.directLayers()) {
    // Numbered within this layer, not by the names that layers happened to get, so that another process finds them again.
    const name = inner.unique(nameInFiles(child));
    out.push(...namedWeights(child, `${prefix}${name}/`, still, seen));
  }
  return layer.arranged(out);
}

/** Its name, without the number where it is one that layers get by themselves, or a direction and such a name. */
function nameInFiles({ name, constructor }: Layer): string {
  const bare = name.replace(/_\d+$/, '');
  return bare.replace(/^(forward|backward)_/, '') === snakeCase(constructor.name) ? bare : name;
}

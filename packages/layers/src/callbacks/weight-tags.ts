import type { Variable } from '@eagre/core';
import { withInner } from '../layer/inside.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';

/**
 * Weights with their paths as Keras has them: below the names of models and layers that made them, so without those of functional models,
 * whose layers are made outside.
 */
export function weightTags(model: Model): ReadonlyMap<Variable, string> {
  const tags = new Map<Variable, string>();
  const prefix = isFunctional(model) ? '' : `${model.name}/`;
  for (const { path, variable } of model.namedWeights) tags.set(variable, prefix + path);
  for (const inner of withInner(model)) {
    if (inner === model || !(inner instanceof Model) || !isFunctional(inner)) continue;
    for (const { path, variable } of inner.namedWeights) tags.set(variable, path);
  }
  return tags;
}

const isFunctional = (model: Model): boolean => !(model instanceof Sequential) && model._graph !== undefined;

// How checkpoints see layers: under the names that Keras 2 uses in TensorFlow's files.
import { Variable } from '@eagre/core';
import { snakeCase } from '@eagre/core/internal';
import type { Layer } from './layer.ts';
import { LocalNames } from './naming.ts';

type Children = (readonly [name: string, child: unknown])[];

// What `addWeight` calls weights that are given no name.
const UNNAMED = /^variable(_\d+)?$/;

/**
 * The weights by their names (`kernel`, `bias`), then the attributes; those of layers of this package in snake_case.
 * @param ours whether the class is one of this package.
 */
export function layerChildren(layer: Layer, ours: boolean): Children {
  const attributes = Object.entries(layer).map(([name, value]): [string, unknown] => [
    ours ? snakeCase(name) : name,
    value,
  ]);
  const direct = new Set(attributes.map(([, value]) => value).filter((v) => v instanceof Variable));
  const names = new LocalNames();
  const children = new Map<string, unknown>();
  for (const { name, variable } of layer._layer.weights) {
    if (UNNAMED.test(name) && direct.has(variable)) continue;
    children.set(names.unique(name), variable);
  }
  for (const [name, value] of attributes) {
    if (children.get(name) === value || children.get(snakeCase(name)) === value) continue;
    // An attribute with the name of another weight.
    children.set(children.has(name) ? names.unique(name) : name, value);
  }
  return [...children];
}

/**
 * The layers of a model by their places: `layer_with_weights-0`, `layer-0`. Behind a layer that has not made its weights yet, nobody
 * knows the place among those with weights.
 * @param layers null in the place of an input
 */
export function numberedLayers(layers: readonly (Layer | null)[]): Children {
  const children: Children = [];
  let withWeights: number | null = 0;
  layers.forEach((layer, i) => {
    if (layer === null) return;
    if (layer.awaitsBuild) withWeights = null;
    if (withWeights !== null && layer.weights.length > 0)
      children.push([`layer_with_weights-${withWeights++}`, layer]);
    children.push([`layer-${i}`, layer]);
  });
  return children;
}

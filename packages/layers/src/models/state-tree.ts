// All variables of a model by their paths, nested as the layers are.
import {
  type HostArray,
  InvalidArgumentError,
  type Tensor,
  type TensorLike,
  type Variable,
} from '@eagre/core';
import { isPlain, shown } from '@eagre/core/internal';
import { isCompiled } from '../trainers/compile.ts';
import type { Model } from './model.ts';

/** Values by the parts of their variables' paths. */
export type ValueTree<T = Tensor> = { readonly [name: string]: T | ValueTree<T> };
/** All variables of a model, by what they are for. */
export interface StateTree<T = Tensor> {
  /** Weights that training changes. */
  readonly trainableVariables: ValueTree<T>;
  /** Frozen weights, statistics such as those of BatchNormalization, and states of seed generators. */
  readonly nonTrainableVariables: ValueTree<T>;
  /** The optimizer's state; empty before `compile`. */
  readonly optimizerVariables: ValueTree<T>;
  /** What the metrics have counted; empty before `compile`. */
  readonly metricsVariables: ValueTree<T>;
}

/** The variables of each part by their paths. */
function variablesOf(model: Model): Record<keyof StateTree, Map<string, Variable>> {
  const byPaths = (all: readonly Variable[]): Map<string, Variable> => {
    const found = new Map<string, Variable>();
    for (const variable of all) {
      const base = variable.path;
      let path = base;
      for (let n = 1; found.has(path); n++) path = `${base}_${n}`;
      found.set(path, variable);
    }
    return found;
  };
  return {
    trainableVariables: byPaths(model.trainableVariables),
    nonTrainableVariables: byPaths(model.nonTrainableVariables),
    optimizerVariables: isCompiled(model) ? byPaths(model.optimizer.variables) : new Map(),
    metricsVariables: byPaths(model.metricsVariables),
  };
}

/** What the values of a state tree are: tensors, or arrays of the host. */
export type ValueFormat = 'backendTensor' | 'numpyArray';

/** @throws InvalidArgumentError for another format */
export function getStateTree(model: Model, given: unknown): StateTree<Tensor | HostArray> {
  const asArrays = given === 'numpyArray' || given === 'numpy_array';
  if (!asArrays && given !== undefined && given !== 'backendTensor' && given !== 'backend_tensor')
    throw new InvalidArgumentError(
      `valueFormat must be 'backendTensor' or 'numpyArray', got ${shown(given)}`,
      'getStateTree',
    );
  const parts = Object.entries(variablesOf(model)).map(([part, variables]) => {
    const tree: Record<string, unknown> = {};
    for (const [path, variable] of variables) {
      const names = path.split('/');
      const last = names.pop() as string;
      let at = tree;
      for (const name of names) at = (at[name] ??= {}) as Record<string, unknown>;
      const value = variable.read();
      at[last] = asArrays ? value.ndarray() : value;
    }
    return [part, tree] as const;
  });
  return Object.fromEntries(parts) as unknown as StateTree;
}

/** @throws InvalidArgumentError for names that the model does not have; nothing is set then. */
export function setStateTree(model: Model, tree: Partial<StateTree<TensorLike>>): void {
  const known = variablesOf(model);
  const found: [Variable, TensorLike][] = [];
  if (!isPlain(tree))
    throw new InvalidArgumentError(`stateTree must be an object, got ${shown(tree)}`, 'setStateTree');
  for (const [part, values] of Object.entries(tree)) {
    const variables = known[part as keyof StateTree];
    if (variables === undefined)
      throw new InvalidArgumentError(`'${part}' is none of ${Object.keys(known).join(', ')}`, 'setStateTree');
    const visit = (at: unknown, path: string): void => {
      const variable = variables.get(path);
      if (variable !== undefined) found.push([variable, at as TensorLike]);
      else if (isPlain(at) && !Array.isArray(at['shape']))
        for (const [name, value] of Object.entries(at)) visit(value, path === '' ? name : `${path}/${name}`);
      else throw new InvalidArgumentError(`${model.name} has no '${path}' among its ${part}`, 'setStateTree');
    };
    visit(values, '');
  }
  for (const [variable, value] of found) variable.assign(value);
}

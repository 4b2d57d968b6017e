// Models of Keras in files of TensorFlow.js.
import { DataLossError, InvalidArgumentError, type Variable } from '@eagre/core';
import { isPlain } from '@eagre/core/internal';
import type { NDArray, TensorValue } from '@eagre/formats';
import { parseTfjsModel, readTfjsModel, readTfjsWeights, type TfjsModel } from '@eagre/formats/tensorflow-js';
import { ownVariables, withInner } from '../layer/inside.ts';
import type { Layer } from '../layer/layer.ts';
import { Model } from '../models/model.ts';
import { assignmentOf, type Dataset, misfit, type Plan } from './keras-state.ts';
import { fromLegacyConfig, fromLegacyTraining } from './legacy-config.ts';
import { checkDepth, type ModelReading, modelOfConfig } from './model-config.ts';
import { withCustomObjects } from './serialization.ts';
import { fromTfjsConfig, fromTfjsTraining } from './tfjs-config.ts';

type Config = Readonly<Record<string, unknown>>;

/** Reads the model of a `model.json`, with its weights, and compiled if it was. */
export async function loadTfjsModel(path: string, reading: ModelReading): Promise<Model> {
  return modelOfTfjs(...(await withWeights(await readTfjsModel(path))), reading);
}

/** What the bytes of a `model.json` say, with the weights that lie beside it. */
export const readTfjsBytes = (bytes: Uint8Array, file: string): ReturnType<typeof withWeights> =>
  withWeights(parseTfjsModel(bytes, file));

async function withWeights(read: TfjsModel): Promise<readonly [TfjsModel, ReadonlyMap<string, TensorValue>]> {
  if (read.kind !== 'layers-model')
    throw new InvalidArgumentError(
      `${read.file} is a graph of TensorFlow: read it with tf.savedModel.load(path)`,
      'loadModel',
    );
  return [read, await readTfjsWeights(read)];
}

/** The model of what is read. */
export function modelOfTfjs(
  read: TfjsModel,
  weights: ReadonlyMap<string, TensorValue>,
  reading: ModelReading,
): Model {
  const { file, compile, customObjects } = reading;
  const { topology, manifest } = read;
  checkDepth(topology, `${file}: modelTopology`);
  // What is converted from a file of Keras has the model inside, beside what else that file had.
  const { model_config: inside } = topology;
  const config = isPlain(inside) ? inside : topology;
  const version = String(
    (inside === undefined ? undefined : topology['keras_version']) ??
      config['keras_version'] ??
      topology['keras_version'] ??
      '',
  );
  const isOld = /^(tfjs|[012]\.)/.test(version) || version === '';
  const { keras_version: _, backend: __, ...own } = fromTfjsConfig(config, isOld) as Record<string, unknown>;
  const model = modelOfConfig(fromLegacyConfig(own), reading);
  if (!model.built)
    throw new InvalidArgumentError(
      `${file}: the model '${model.name}' does not say the shape of its input, so nothing can be made of its weights`,
      'loadModel',
    );
  const isOptimizers = new Set(
    manifest.flatMap((group) => group.weights.filter((w) => w.group === 'optimizer').map((w) => w.name)),
  );
  const named = [...weights].filter(([name]) => !isOptimizers.has(name));
  const owners = assign(model, named, file);
  if (!compile) return model;
  const training = read.trainingConfig ?? (topology['training_config'] as unknown);
  if (!isPlain(training)) return model;
  checkDepth(training, `${file}: trainingConfig`);
  withCustomObjects(customObjects, () =>
    model.compileFromConfig(fromLegacyTraining(fromTfjsTraining(training as Config))),
  );
  const state = new Map([...weights].filter(([name]) => isOptimizers.has(name)));
  if (model.compiled && state.size > 0) restoreOptimizer(model, state, owners, training as Config, file);
  return model;
}

/** An array of the file in the form of those of HDF5. */
function datasetOf(value: TensorValue, name: string, file: string): Dataset {
  if (value.dtype === 'string')
    throw new DataLossError(`${file}: the weight '${name}' holds texts, and weights of layers are numbers`);
  const array: NDArray = value;
  return { shape: array.shape, dtype: array.dtype, type: array.dtype, read: () => array };
}

/** In the order of the file: those that are trained come first. */
const weightsOf = (layer: Layer): Variable[] => [...layer.trainableVariables, ...layer.nonTrainableVariables];

/** The layers that have weights in a file by themselves: those of models inside are theirs. */
function leavesOf(model: Model, found: Set<Layer> = new Set()): Set<Layer> {
  for (const layer of model.layers)
    if (layer instanceof Model) leavesOf(layer, found);
    else found.add(layer);
  return found;
}

const lastOf = (name: string): string => (name.split('/').at(-1) as string).replace(/:\d+$/, '');

/**
 * Gives a model the weights of a file, which are known by the names of layers: `dense/kernel`, `inner/dense/kernel`.
 * @returns the variables by the names of their weights
 * @throws InvalidArgumentError where they do not fit; the model stays as it was
 */
function assign(
  model: Model,
  weights: readonly (readonly [name: string, value: TensorValue])[],
  file: string,
): ReadonlyMap<string, Variable> {
  const leaves = [...leavesOf(model)];
  const found = new Map<Layer, (readonly [name: string, value: TensorValue])[]>();
  const strange: string[] = [];
  for (const [name, value] of weights) {
    const owner = ownerOf(model, name);
    if (owner === undefined) strange.push(name);
    else found.set(owner, [...(found.get(owner) ?? []), [name, value]]);
  }
  const problems = strange.map((name) => `no layer has the weight '${name}'`);
  const own = ownVariables(model);
  if (own.length > 0) problems.push(`'${model.name}' has weights outside of its layers`);
  const plans: Plan[] = [];
  const variablesByName = new Map<string, Variable>();
  for (const layer of leaves) {
    const own = found.get(layer) ?? [];
    const variables = inOrder(
      weightsOf(layer),
      own.map(([name]) => name),
    );
    if (variables.length !== own.length) {
      problems.push(
        `'${layer.name}': expected ${variables.length} weights${variables.length > 0 ? ` (${variables.map((v) => v.path).join(', ')})` : ''}, got ${own.length}${own.length > 0 ? ` (${own.map(([name]) => name).join(', ')})` : ''}`,
      );
      continue;
    }
    const sets = own.map(([name, value]) => datasetOf(value, name, file));
    const wrong = variables.map((v, i) => misfit(v, sets[i] as Dataset)).find((why) => why !== undefined);
    if (wrong !== undefined) {
      problems.push(`'${layer.name}': ${wrong}`);
      continue;
    }
    variables.forEach((variable, i) =>
      variablesByName.set((own[i] as readonly [string, unknown])[0], variable),
    );
    if (variables.length > 0) plans.push(assignmentOf(layer, variables, sets));
  }
  if (problems.length > 0)
    throw new InvalidArgumentError(
      `${file}: the weights do not match the model: ${problems.slice(0, 8).join('; ')}${problems.length > 8 ? '; …' : ''}`,
      'loadModel',
    );
  for (const { run } of plans) run();
  return variablesByName;
}

/** The variables in the order of the names, where the last parts of both are the same; as they are otherwise. */
function inOrder(variables: readonly Variable[], names: readonly string[]): readonly Variable[] {
  const byLast = new Map(variables.map((variable) => [lastOf(variable.path), variable]));
  const last = names.map(lastOf);
  const fits =
    byLast.size === variables.length &&
    last.length === byLast.size &&
    new Set(last).size === last.length &&
    last.every((name) => byLast.has(name));
  return fits ? last.map((name) => byLast.get(name) as Variable) : variables;
}

/** The layer whose name, or that of one inside of it, is first in the name of a weight. */
function ownerOf(model: Model, name: string): Layer | undefined {
  let scope = model;
  for (const part of name.split('/').slice(0, -1)) {
    const leaves = [...leavesOf(scope)];
    const leaf = leaves.find((layer) => layer.name === part);
    if (leaf !== undefined) return leaf;
    const inner = [...withInner(scope)].find((layer) => layer !== scope && layer.name === part);
    if (inner instanceof Model) scope = inner;
    else if (inner !== undefined) return leaves.find((layer) => withInner(layer).has(inner));
  }
  return undefined;
}

/** Gives an optimizer what it remembered: `iter`, and `dense/kernel/m` for a variable. What does not fit begins anew, as in Keras. */
function restoreOptimizer(
  model: Model,
  state: ReadonlyMap<string, TensorValue>,
  owners: ReadonlyMap<string, Variable>,
  training: Config,
  file: string,
): void {
  const { optimizer } = model;
  optimizer.build(model.trainableVariables);
  const slots = [...(optimizer.trackableView().slots ?? [])];
  const variables: Variable[] = [];
  const sets: Dataset[] = [];
  // There it is what is subtracted, before it is multiplied by the learning rate.
  const { class_name: kind, config = {} } = (training['optimizer_config'] ?? {}) as Config;
  const factor = kind === 'Momentum' ? -Number((config as Config)['learningRate']) : 1;
  let lost = 0;
  for (const [name, value] of state) {
    const at = name.lastIndexOf('/');
    const variable = owners.get(name.slice(0, at));
    const slot =
      name === 'iter'
        ? optimizer.iterations
        : slots.find((one) => one.variable === variable && one.name === name.slice(at + 1))?.slot;
    const set = datasetOf(value, name, file);
    // Of RMSprop without momentum there is one of zeros.
    if (slot === undefined && kind === 'RMSProp' && name.endsWith('/momentum')) continue;
    if (slot === undefined || misfit(slot, set) !== undefined) {
      lost++;
      continue;
    }
    variables.push(slot);
    const array = set.read() as NDArray;
    const isScaled = factor !== 1 && name !== 'iter';
    sets.push(
      isScaled
        ? {
            ...set,
            read: () => ({ ...array, data: (array.data as Float32Array).map((v) => v * factor) }) as NDArray,
          }
        : set,
    );
  }
  if (lost > 0)
    console.warn(
      `${file}: the state of the optimizer does not fit '${optimizer.name}' (${lost} of ${state.size} arrays), so it begins anew`,
    );
  else assignmentOf(optimizer, variables, sets).run();
}

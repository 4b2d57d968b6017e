// Keras's older files: a whole model, or its weights, in HDF5, where weights are known by their places.
import { DataLossError, InvalidArgumentError, type Variable } from '@eagre/core';
import { isPlain, showShape } from '@eagre/core/internal';
import {
  encodeHdf5,
  type FileParts,
  type Hdf5Dataset,
  type Hdf5Group,
  Hdf5GroupBuilder,
  hdf5At,
  isHdf5Dataset,
} from '@eagre/formats';
import { namedWeights, ownVariables } from '../layer/inside.ts';
import type { Layer } from '../layer/layer.ts';
import type { Model } from '../models/model.ts';
import { kerasJson } from './keras-json.ts';
import { assignmentOf, misfit, type Plan, sourceOf } from './keras-state.ts';
import { fromLegacyConfig, fromLegacyTraining, toLegacyConfig, toLegacyTraining } from './legacy-config.ts';
import { checkDepth, type ModelReading, modelOfConfig, serializedModel } from './model-config.ts';
import { withCustomObjects } from './serialization.ts';

const KERAS_VERSION = '3.15.1';
const BACKEND = 'tensorflow';
const TOP = 'top_level_model_weights';
// Of texts in one attribute, whose header is of at most 64 KiB.
const MOST_TEXTS = 2000;

// ---- writing

/** A model as such a file. */
export function encodeLegacyModel(model: Model, includeOptimizer: boolean): FileParts {
  const root = new Hdf5GroupBuilder();
  const { compile_config: compiled, ...written } = serializedModel(model);
  root.attributes.set('keras_version', KERAS_VERSION);
  root.attributes.set('backend', BACKEND);
  root.attributes.set('model_config', kerasJson(toLegacyConfig(written)));
  addWeights(root.group('model_weights'), model);
  if (includeOptimizer && model.compiled && isPlain(compiled)) {
    const { optimizer, ...training } = compiled as Readonly<Record<string, unknown>>;
    const { class_name, registered_name, config } = optimizer as Readonly<Record<string, unknown>>;
    const optimizerConfig = { class_name: registered_name ?? class_name, config };
    root.attributes.set(
      'training_config',
      kerasJson({ ...toLegacyTraining(training), optimizer_config: optimizerConfig }),
    );
    const { variables, name } = model.optimizer;
    if (variables.length > 0)
      addArrays(
        root.group('optimizer_weights'),
        variables.map((variable) => ({ path: `${name}/${variable.path}`, variable })),
        name,
      );
  }
  return encodeHdf5(root);
}

function addWeights(group: Hdf5GroupBuilder, model: Model): void {
  const layers = layersOf(model);
  setTexts(
    group,
    'layer_names',
    layers.map(({ name }) => name),
  );
  group.attributes.set('backend', BACKEND);
  group.attributes.set('keras_version', KERAS_VERSION);
  for (const layer of layers) {
    const paths = new Map(namedWeights(layer).map(({ path, variable }) => [variable, path]));
    const weights = legacyWeights(layer).map((variable) => ({
      path: `${layer.name}/${paths.get(variable) ?? variable.path}`,
      variable,
    }));
    addArrays(group.group(layer.name), weights, layer.name);
  }
  const own = ownVariables(model).map((variable) => ({ path: variable.path, variable }));
  addArrays(group.group(TOP), own, model.name);
}

function addArrays(
  group: Hdf5GroupBuilder,
  weights: readonly { readonly path: string; readonly variable: Variable }[],
  owner: string,
): void {
  const used = new Set<string>();
  const names = weights.map(({ path }) => {
    let name = path;
    for (let n = 1; used.has(name); n++) name = `${path}_${n}`;
    used.add(name);
    return name;
  });
  setTexts(group, 'weight_names', names);
  weights.forEach(({ variable }, i) =>
    group.add(names[i] as string, sourceOf(variable.read(), { name: owner })),
  );
}

function setTexts(group: Hdf5GroupBuilder, name: string, texts: readonly string[]): void {
  if (texts.length <= MOST_TEXTS) {
    group.attributes.set(name, texts);
    return;
  }
  for (let i = 0; i * MOST_TEXTS < texts.length; i++)
    group.attributes.set(`${name}${i}`, texts.slice(i * MOST_TEXTS, (i + 1) * MOST_TEXTS));
}

const layersOf = (model: Model): Layer[] => model.layers;
/** In these files weights that are trained come first, in models inside of others too. */
const legacyWeights = (layer: Layer): Variable[] => [
  ...layer.trainableVariables,
  ...layer.nonTrainableVariables,
];

// ---- reading

/** The model of such a file, with its weights, and compiled if it was. */
export function modelOfLegacy(root: Hdf5Group, reading: ModelReading): Model {
  const { file, compile, customObjects } = reading;
  const config = jsonOf(root, 'model_config', file);
  if (config === undefined)
    throw new InvalidArgumentError(
      `${file} holds no configuration of a model; for weights alone make the model first and use model.loadWeights`,
      'loadModel',
    );
  const model = modelOfConfig(fromLegacyConfig(config), reading);
  loadLegacyWeights(model, root, { file });
  if (!compile) return model;
  const training = jsonOf(root, 'training_config', file);
  if (training === undefined) {
    console.warn(`${file}: the model was not compiled, or saved without that; compile it`);
    return model;
  }
  withCustomObjects(customObjects, () => model.compileFromConfig(fromLegacyTraining(training)));
  if (model.compiled) loadOptimizer(model, root, file);
  return model;
}

/** Of another number of values, or other shapes, the optimizer begins anew, as in Keras. */
function loadOptimizer(model: Model, root: Hdf5Group, file: string): void {
  const group = root.children.get('optimizer_weights');
  if (group === undefined || isHdf5Dataset(group)) return;
  const sets = arraysOf(group, file);
  const { optimizer } = model;
  optimizer.build(model.trainableVariables);
  const all = optimizer.variables;
  // Optimizers of Keras 2 keep no learning rate among their variables.
  const isKeras2 = sets.length === all.length - 1 && (all[1]?.name === 'learning_rate') === true;
  const variables = isKeras2 ? all.filter((_, i) => i !== 1) : all;
  const fits =
    sets.length === variables.length &&
    variables.every((v, i) => misfit(v, sets[i] as Hdf5Dataset) === undefined);
  if (fits) assignmentOf(optimizer, variables, sets).run();
  else
    console.warn(
      `${file}: the state of the optimizer does not fit '${optimizer.name}' (${sets.length} arrays, expected ${variables.length}), so it begins anew`,
    );
}

/** Of loading weights. */
export interface LegacyWeightsOptions {
  readonly file: string;
  readonly skipMismatch?: boolean;
  readonly byName?: boolean;
}

/** Gives a model the weights of such a file. @throws InvalidArgumentError where they do not fit; the model stays as it was */
export function loadLegacyWeights(
  model: Model,
  root: Hdf5Group,
  { file, skipMismatch = false, byName = false }: LegacyWeightsOptions,
): void {
  const inside = root.children.get('model_weights');
  const isWhole =
    textsOf(root, 'layer_names') === undefined && inside !== undefined && !isHdf5Dataset(inside);
  const group = isWhole ? (inside as Hdf5Group) : root;
  const names = textsOf(group, 'layer_names');
  if (names === undefined)
    throw new InvalidArgumentError(
      `${file} holds no weights in Keras's older format${group.children.has('layers') || group.children.has('_layer_checkpoint_dependencies') ? '; weights in the newer one need a name that ends in .weights.h5' : ''}`,
      'loadWeights',
    );
  const saved = names.map((name): SavedLayer => ({ name, sets: arraysOf(groupIn(group, name, file), file) }));
  const plans: Plan[] = [];
  const problems: string[] = [];
  const plan = (
    variables: readonly Variable[],
    sets: readonly Hdf5Dataset[],
    layer: Layer,
    name: string,
  ): void => {
    const problem = problemOf(variables, sets);
    if (problem === undefined) plans.push(assignmentOf(layer, variables, sets));
    else problems.push(`'${layer.name}'${name === layer.name ? '' : ` ('${name}' in the file)`}: ${problem}`);
  };
  for (const [layer, { name, sets }] of byName ? pairsByName(model, saved) : pairsByPlace(model, saved, file))
    plan(legacyWeights(layer), sets, layer, name);
  const top = group.children.get(TOP);
  if (top !== undefined && !isHdf5Dataset(top))
    plan(ownVariables(model), arraysOf(top, file), model, model.name);
  if (problems.length > 0) {
    const text = `${file} does not match the model: ${problems.join('; ')}`;
    if (!skipMismatch) throw new InvalidArgumentError(text, 'loadWeights');
    console.warn(`${text}. These keep their values.`);
  }
  for (const { run } of plans) run();
}

interface SavedLayer {
  readonly name: string;
  readonly sets: readonly Hdf5Dataset[];
}
type Pairs = readonly (readonly [layer: Layer, saved: SavedLayer])[];

const pairsByName = (model: Model, saved: readonly SavedLayer[]): Pairs =>
  saved.flatMap((one) =>
    layersOf(model)
      .filter(({ name }) => name === one.name)
      .map((layer) => [layer, one] as const),
  );
function pairsByPlace(model: Model, saved: readonly SavedLayer[], file: string): Pairs {
  const layers = layersOf(model).filter((layer) => legacyWeights(layer).length > 0);
  const found = saved.filter(({ sets }) => sets.length > 0);
  if (layers.length === found.length)
    return layers.map((layer, i) => [layer, found[i] as SavedLayer] as const);
  const list = (all: readonly { readonly name: string }[]): string => all.map(({ name }) => name).join(', ');
  throw new InvalidArgumentError(
    `${file} does not match the model: it has ${found.length} layers with weights (${list(found)}), the model ${layers.length} (${list(layers)})`,
    'loadWeights',
  );
}

function problemOf(variables: readonly Variable[], sets: readonly Hdf5Dataset[]): string | undefined {
  if (variables.length !== sets.length) {
    const list = variables.map((v) => `${v.path} ${showShape(v.shape)}`).join(', ');
    return `expected ${variables.length} arrays (${list}), got ${sets.length}`;
  }
  return variables
    .map((variable, i) => misfit(variable, sets[i] as Hdf5Dataset))
    .find((p) => p !== undefined);
}

/** The arrays of a group in the order of their names in its attribute. */
function arraysOf(group: Hdf5Group, file: string): readonly Hdf5Dataset[] {
  return (textsOf(group, 'weight_names') ?? []).map((name) => {
    const set = hdf5At(group, name);
    if (set !== undefined && isHdf5Dataset(set)) return set;
    throw new DataLossError(`${file}: the array ${JSON.stringify(name.slice(0, 100))} is missing`);
  });
}

function groupIn(group: Hdf5Group, name: string, file: string): Hdf5Group {
  const found = hdf5At(group, name);
  if (found !== undefined && !isHdf5Dataset(found)) return found;
  throw new DataLossError(`${file}: the group ${JSON.stringify(name.slice(0, 100))} is missing`);
}

/** Texts of an attribute, or of several that are numbered; undefined where there is none. */
function textsOf({ attributes }: Hdf5Group, name: string): readonly string[] | undefined {
  const texts = (key: string): readonly string[] | undefined => {
    const value = attributes.get(key);
    if (value === undefined) return undefined;
    if (typeof value === 'string') return [value];
    // An empty list has numbers, of which there are none.
    return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
  };
  const whole = texts(name);
  if (whole !== undefined) return whole;
  const all: string[] = [];
  for (let i = 0; ; i++) {
    const some = texts(`${name}${i}`);
    if (some === undefined) return i === 0 ? undefined : all;
    all.push(...some);
  }
}

/** The JSON of an attribute; undefined where there is none. */
function jsonOf(root: Hdf5Group, name: string, file: string): Readonly<Record<string, unknown>> | undefined {
  const text = root.attributes.get(name);
  if (typeof text !== 'string') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DataLossError(`${file}: ${name} is no JSON: ${(cause as Error).message}`, undefined, { cause });
  }
  if (!isPlain(value)) throw new DataLossError(`${file}: ${name} must hold an object`);
  checkDepth(value, `${file}: ${name}`);
  return value as Readonly<Record<string, unknown>>;
}

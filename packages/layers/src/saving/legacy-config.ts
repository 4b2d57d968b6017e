// Configurations of Keras's older files, in which layers have no modules, and which Keras 2 wrote in a form of its own.
import { UnimplementedError } from '@eagre/core';
import { isPlain } from '@eagre/core/internal';
import { moduleOfOperation } from '../models/keras-operations.ts';
import type { SerializedLayer } from './serialization.ts';

type Config = Readonly<Record<string, unknown>>;

// These files have the names in Keras's code, of which one differs from the public one.
const CODE_NAMES: Readonly<Record<string, string>> = { GroupQueryAttention: 'GroupedQueryAttention' };
const PUBLIC_NAMES: Readonly<Record<string, string>> = { GroupedQueryAttention: 'GroupQueryAttention' };

/** What a layer is in such a file: its class, which is `package>name` of one that is registered, and its configuration. */
export function toLegacyConfig(written: SerializedLayer): Config {
  const { module, class_name: name, registered_name: registered, config, ...rest } = written;
  const { build_config: _, compile_config: __, shared_object_id: ___, ...behind } = rest;
  const { layers } = config as { readonly layers?: readonly SerializedLayer[] };
  const inner = Array.isArray(layers) ? { ...config, layers: layers.map(toLegacyConfig) } : config;
  // Classes of Keras have a module.
  const own = CODE_NAMES[name] ?? name;
  return { class_name: module === null ? (registered ?? name) : own, config: inner, ...behind };
}

/** Options that Keras 3 has not, by values with which they say nothing. */
const OBSOLETE: Readonly<Record<string, readonly unknown[] | 'any'>> = {
  time_major: [false],
  implementation: [0, 1, 2],
  renorm: [false],
  virtual_batch_size: [null],
  fused: [null, true, false],
  adjustment: [null],
  input_length: 'any',
  interpolation_method: [null],
  experimental_relax_shapes: [null, false, true],
  batch_input_shape: 'any',
  ragged: [false, null],
  sparse: [false, null],
};

/** The configuration as Keras 3 writes it. @throws UnimplementedError for what Keras 2 had and Keras 3 has not */
export function fromLegacyConfig(given: Config): Config {
  const { class_name: name, config: written, ...rest } = given;
  // The oldest files have a list of layers by itself.
  const config = name === 'Sequential' && Array.isArray(written) ? { layers: written } : written;
  if (typeof name !== 'string' || !isPlain(config)) return given;
  if (name === 'TFOpLambda' || name === 'SlicingOpLambda' || name === 'TensorFlowOpLayer')
    throw new UnimplementedError(
      `the model has a layer of class ${name}, an op of TensorFlow as Keras 2 wrote it; save the model with Keras 3`,
      'loadModel',
    );
  const own = config as Config;
  // Operations have the names of layers, but no `trainable`. Keras writes them without their module, and does not find them again.
  const isOperation = 'inbound_nodes' in given && !('trainable' in own);
  const module = isOperation ? moduleOfOperation(name) : undefined;
  if (module !== undefined) return { ...given, module };
  const isCustom = name.includes('>');
  const className = isCustom
    ? { class_name: name.slice(name.indexOf('>') + 1), registered_name: name }
    : { class_name: Object.hasOwn(PUBLIC_NAMES, name) ? PUBLIC_NAMES[name] : name };
  if (name === 'Sequential') return { ...rest, class_name: name, config: sequential(own) };
  if (name === 'Functional' || name === 'Model')
    return { ...rest, class_name: 'Functional', config: 'layers' in own ? functional(own) : own };
  return { ...rest, ...className, config: isCustom ? own : layerConfig(name, own) };
}

/** A layer whose input shape is known begins with one for the input. */
function sequential(config: Config): Config {
  const layers = (Array.isArray(config['layers']) ? config['layers'] : []) as readonly Config[];
  const [first] = layers;
  const own = (isPlain(first?.['config']) ? first?.['config'] : {}) as Config;
  const shape = own['batch_input_shape'];
  const made = layers.map(fromLegacyConfig);
  const needsInput = Array.isArray(shape) && first?.['class_name'] !== 'InputLayer';
  const dtype =
    typeof own['dtype'] === 'string' && first?.['class_name'] !== 'Embedding' ? own['dtype'] : 'float32';
  const input = {
    module: 'keras.layers',
    class_name: 'InputLayer',
    config: { batch_shape: shape, dtype, name: `${String(own['name'])}_input` },
  };
  const { build_input_shape: built, ...rest } = withoutObsolete(config);
  const build = needsInput || built === undefined ? {} : { build_input_shape: built };
  return { ...rest, ...build, layers: needsInput ? [input, ...made] : made };
}

function functional(config: Config): Config {
  const layers = (Array.isArray(config['layers']) ? config['layers'] : []) as readonly Config[];
  const isKeras2 = layers.some(({ inbound_nodes: nodes }) => Array.isArray(nodes) && Array.isArray(nodes[0]));
  const outputs = config['output_layers'];
  const places = isKeras2
    ? [...layers.flatMap((l) => placesIn(l['inbound_nodes'])), ...placesIn(outputs)]
    : [];
  // In Keras 2 the first call of a model inside was the one that made it, which is none of this model.
  const made = new Set<unknown>();
  for (const { name, inbound_nodes: nodes } of layers)
    if (Array.isArray(nodes) && places.some((p) => p[0] === name && p[1] >= nodes.length)) made.add(name);
  const call: Call = (name, index) => (made.has(name) && index > 0 ? index - 1 : index);
  const isModel = (name: string): boolean =>
    layers.some((l) => l['name'] === name && ['Functional', 'Model'].includes(l['class_name'] as string));
  const shifted = (value: unknown): unknown => {
    if (isPlace(value)) {
      const [name, index, output] = value;
      return [name, call(name, index) + (made.has(name) && isModel(name) ? 1 : 0), output];
    }
    return Array.isArray(value) ? value.map(shifted) : value;
  };
  return {
    ...config,
    ...(isKeras2
      ? { input_layers: only(config['input_layers']), output_layers: only(shifted(outputs)) }
      : {}),
    layers: layers.map((layer) => {
      const nodes = layer['inbound_nodes'];
      const own = fromLegacyConfig(layer);
      return Array.isArray(nodes) ? { ...own, inbound_nodes: nodes.map((one) => node(one, call)) } : own;
    }),
  };
}

/** One tensor is not in a list. */
const only = (given: unknown): unknown =>
  Array.isArray(given) && given.length === 1 ? (given[0] as unknown) : given;

/** The number of a call of a layer among those of this model. */
type Call = (name: string, index: number) => number;
type Place = readonly [name: string, call: number, output: number];

/** All places of tensors in a value. */
function placesIn(value: unknown): Place[] {
  if (!Array.isArray(value)) return isPlain(value) ? Object.values(value).flatMap(placesIn) : [];
  if (!isPlace(value)) return value.flatMap(placesIn);
  // Behind it are the other arguments of a call.
  return [value, ...(value as readonly unknown[]).slice(3).flatMap(placesIn)];
}

/** A call. In Keras 2 it was a list of tensors, each with the other arguments: `[['dense', 0, 0, {}]]`. */
function node(given: unknown, call: Call): unknown {
  if (!Array.isArray(given)) return given;
  const tensors = given as readonly unknown[];
  // One tensor by itself, without arguments.
  const list = typeof tensors[0] === 'string' ? [tensors] : tensors;
  const args = list.map((one) => tensor(one, call));
  const last = list[0];
  const kwargs = Array.isArray(last) && isPlain(last[3]) ? (last[3] as Config) : {};
  return {
    args: args.length === 1 ? args : [args],
    kwargs: Object.fromEntries(Object.entries(kwargs).map(([name, value]) => [name, argument(value, call)])),
  };
}
const isPlace = (value: unknown): value is Place =>
  Array.isArray(value) && typeof value[0] === 'string' && [1, 2].every((i) => Number.isInteger(value[i]));
/** Tensors among the other arguments are known by their places. */
function argument(value: unknown, call: Call): unknown {
  if (isPlace(value)) return tensor(value, call);
  return Array.isArray(value) ? value.map((one) => argument(one, call)) : value;
}
function tensor(place: unknown, call: Call): unknown {
  if (!isPlace(place)) return place;
  const [name, index, output] = place;
  return { class_name: '__keras_tensor__', config: { keras_history: [name, call(name, index), output] } };
}

/** The options of a layer. */
function layerConfig(name: string, config: Config): Config {
  const { dtype, axis, batch_input_shape: shape, layer, cell, ...rest } = config;
  const own: Record<string, unknown> = withoutObsolete(rest) as Record<string, unknown>;
  if (name === 'InputLayer' && Array.isArray(shape)) own['batch_shape'] = shape;
  if (dtype !== undefined) own['dtype'] = policyName(dtype);
  if (axis !== undefined) own['axis'] = name === 'BatchNormalization' && Array.isArray(axis) ? axis[0] : axis;
  if (name === 'DepthwiseConv2D' && own['groups'] === 1) delete own['groups'];
  if (name === 'LeakyReLU' && 'alpha' in own) {
    own['negative_slope'] = own['alpha'];
    delete own['alpha'];
  }
  if (isPlain(layer)) own['layer'] = fromLegacyConfig(layer as Config);
  if (isPlain(cell)) own['cell'] = fromLegacyConfig(cell as Config);
  if (Array.isArray(own['cells'])) own['cells'] = (own['cells'] as Config[]).map(fromLegacyConfig);
  return own;
}

function withoutObsolete(config: Config): Config {
  const kept = Object.entries(config).filter(([name, value]) => {
    const values = Object.hasOwn(OBSOLETE, name) ? OBSOLETE[name] : undefined;
    return values === undefined || !(values === 'any' || values.includes(value));
  });
  return Object.fromEntries(kept);
}

/** Keras 2 has policies of its own: `{ class_name: 'Policy', config: { name } }`. */
function policyName(dtype: unknown): unknown {
  if (!isPlain(dtype) || dtype['class_name'] !== 'Policy') return dtype;
  return isPlain(dtype['config']) ? (dtype['config'] as Config)['name'] : dtype;
}

// Keras cannot read short names in these files, which it writes itself.
const LONG_NAMES: Readonly<Record<string, string>> = {
  ...{ mse: 'mean_squared_error', mae: 'mean_absolute_error', mape: 'mean_absolute_percentage_error' },
  ...{ msle: 'mean_squared_logarithmic_error', bce: 'binary_crossentropy', kld: 'kl_divergence' },
};
/** What a model was compiled with, beside the optimizer. */
export function toLegacyTraining(given: Config): Config {
  const { loss, metrics, weighted_metrics: weighted, ...rest } = given;
  const long = (value: unknown): unknown => {
    if (typeof value === 'string') return LONG_NAMES[value.toLowerCase()] ?? value;
    if (Array.isArray(value)) return value.map(long);
    if (!isPlain(value) || 'class_name' in value) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, long(one)]));
  };
  return { ...rest, loss: long(loss), metrics: long(metrics), weighted_metrics: long(weighted) };
}

/** What a model is compiled with. */
export function fromLegacyTraining(given: Config): Config {
  const { optimizer_config: optimizer, metrics, weighted_metrics: weighted, ...rest } = given;
  return {
    ...rest,
    optimizer: isPlain(optimizer) ? optimizerConfig(optimizer as Config) : optimizer,
    metrics: metricsConfig(metrics),
    weighted_metrics: metricsConfig(weighted),
  };
}

function optimizerConfig({ class_name: name, config, ...rest }: Config): Config {
  const plain =
    typeof name === 'string' &&
    /^Custom>(Adam|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam|Ftrl|AdamW)$/.test(name);
  const own = { ...(config as Record<string, unknown>) };
  if (own['decay'] === 0) delete own['decay'];
  // Before Keras 2.3.
  if ('lr' in own && !('learning_rate' in own)) {
    own['learning_rate'] = own['lr'];
    delete own['lr'];
  }
  for (const key of ['jit_compile', 'is_legacy_optimizer']) delete own[key];
  return { ...rest, class_name: plain ? (name as string).slice('Custom>'.length) : name, config: own };
}

/** Keras 2 wraps functions: `{ class_name: 'MeanMetricWrapper', config: { name, fn } }`. */
function metricsConfig(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(metricsConfig);
  if (!isPlain(given)) return given;
  const { class_name: name, config } = given as Config;
  if (name === undefined)
    return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, metricsConfig(value)]));
  const { fn } = (isPlain(config) ? config : {}) as Config;
  return name === 'MeanMetricWrapper' && typeof fn === 'string' ? fn : given;
}

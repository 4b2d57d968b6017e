// Functional models as Keras writes them, and back.
import { constant, type DType, InvalidArgumentError, type PartialShape, Tensor, Variable } from '@eagre/core';
import { camelCaseKeys, checkDTypeName, isPlain, shown, snakeCase, tree } from '@eagre/core/internal';
import { symbolicIn } from '../layer/call.ts';
import type { CallOptions, Layer, Symbolic } from '../layer/layer.ts';
import { inputNames, takesStates } from '../layer/own-call.ts';
import { functionConfig, functionOf } from '../saving/keras-object.ts';
import { deserializeLayer, type SerializedLayer, serializeLayer } from '../saving/serialization.ts';
import { type FunctionalGraph, Input, inputLayer } from './functional.ts';
import { type KerasOperation, kerasOperation, operationOfClass } from './keras-operations.ts';
import { KerasTensor, type Producer } from './keras-tensor.ts';
import { argumentsOfKeras, describe, kerasCall, Operation } from './operations.ts';

type Config = Readonly<Record<string, unknown>>;
/** Which layer a tensor is of, by which of its calls, and which of the results. */
type History = readonly [layer: string, call: number, output: number];

/** A call of a layer. Symbolic tensors in it are `{ class_name: '__keras_tensor__', config: { keras_history } }`. */
interface NodeConfig {
  readonly args: readonly unknown[];
  readonly kwargs: Config;
}
type LayerConfig = SerializedLayer & {
  readonly name: string;
  readonly inbound_nodes: readonly NodeConfig[];
};

/** What a functional model is made of, as Keras writes it. */
export interface FunctionalConfig {
  readonly layers: readonly LayerConfig[];
  /** As they were given: one, several, by name, or such in each other. */
  readonly input_layers: unknown;
  readonly output_layers: unknown;
}

/** Functional models inside of others have a call already: the one that made them. */
const madeBy = (layer: Layer): number => ('_graph' in layer && layer._graph !== undefined ? 1 : 0);

/** @throws InvalidArgumentError for a call with what no file holds, UnimplementedError for ops that Keras has not */
export function functionalConfig(graph: FunctionalGraph): FunctionalConfig {
  const inputs = new Set(graph.inputs);
  const own = new Set(graph.calls);
  const callsOf = (layer: Layer): readonly Producer[] => layer._layer.calls.filter((call) => own.has(call));
  // Among the arguments of calls Keras counts the calls of a functional model from 0, among the outputs of the whole from 1.
  const history = (t: KerasTensor, first: (layer: Layer) => number = () => 0): History => {
    const { producer } = t;
    if (producer === null || inputs.has(t)) return [inputLayer(t).name, 0, 0];
    const { layer } = producer;
    const outputs = layer instanceof Operation ? inKerasOrder(layer.op, producer.outputs) : producer.outputs;
    return [layer.name, callsOf(layer).indexOf(producer) + first(layer), outputs.indexOf(t)];
  };
  const written = (value: unknown, layer: Layer): unknown => {
    if (value instanceof KerasTensor) {
      const { shape, dtype } = value;
      return { class_name: '__keras_tensor__', config: { shape, dtype, keras_history: history(value) } };
    }
    if (Array.isArray(value)) return value.map((item) => written(item, layer));
    if (isPlain(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, written(item, layer)]));
    return plainValue(value, layer);
  };
  const layerConfig = (layer: Layer): LayerConfig => {
    const calls = callsOf(layer);
    const write = ({ args, kwargs }: NodeConfig): NodeConfig => ({
      args: args.map((arg) => written(arg, layer)),
      kwargs: written(kwargs, layer) as Config,
    });
    if (layer instanceof Operation) {
      const all = calls.map(({ args }) => kerasCall(layer, (args.at(-1) as OperationCall).args));
      const [{ of, settings }] = all as [(typeof all)[number]];
      return {
        module: of.module,
        class_name: of.className,
        config: { name: layer.name, ...(written(settings, layer) as Config) },
        registered_name: of.className,
        name: layer.name,
        inbound_nodes: all.map(write),
      };
    }
    const nodes = calls.map((call) => write(nodeOf(call)));
    return { ...serializeLayer(layer), name: layer.name, inbound_nodes: nodes };
  };
  const places = (given: Symbolic): unknown =>
    tree.mapLeaves(given, 'Model', (t) => history(t as KerasTensor, madeBy));
  const layers = graph.nodes.map((node): LayerConfig => {
    if (!(node instanceof KerasTensor)) return layerConfig(node);
    const layer = inputLayer(node);
    return { ...serializeLayer(layer), name: layer.name, inbound_nodes: [] };
  });
  const { inputs: given, outputs } = graph.given;
  return { layers, input_layers: places(given), output_layers: places(outputs) };
}

interface OperationCall {
  readonly args: readonly unknown[];
}

/** The arguments of a call as Keras's layers take them. */
function nodeOf({ layer, args }: Producer): NodeConfig {
  const [inputs, ...rest] = args;
  const options = rest.at(-1) as CallOptions;
  const more = rest.slice(0, -1);
  const kwargs = Object.fromEntries(
    Object.entries(options).map(([name, value]) => [snakeCase(name), value] as const),
  );
  // What is queried for itself, Keras is told twice.
  if (!Array.isArray(inputs) && inputNames(layer).length > 1) return { args: [inputs, inputs], kwargs };
  if (!Array.isArray(inputs)) return { args: [inputs, ...more], kwargs };
  // Of one of ours, several inputs are a list here and arguments of their own in Keras; so are the states behind a sequence.
  if (inputNames(layer).length > 1) return { args: inputs, kwargs };
  if (takesStates(layer) && inputs.length > 1)
    return { args: [inputs[0]], kwargs: { initial_state: inputs.slice(1), ...kwargs } };
  return { args: [inputs, ...more], kwargs };
}

/** A value beside the tensors of a call as JSON holds it. */
function plainValue(value: unknown, layer: Layer): unknown {
  const refuse = (what: string): never => {
    throw new InvalidArgumentError(
      `was called with ${what}, which a configuration cannot contain: put it into your own layer with getConfig`,
      layer.name,
    );
  };
  if (value instanceof Tensor) {
    const nested = (item: unknown): unknown => {
      if (Array.isArray(item)) return item.map(nested);
      const number = typeof item === 'bigint' ? Number(item) : item;
      if (typeof item === 'bigint' && !Number.isSafeInteger(number)) return refuse(`the integer ${item}`);
      if (typeof number === 'number' && !Number.isFinite(number)) return refuse(`the number ${number}`);
      return number;
    };
    return { class_name: '__tensor__', config: { value: nested(value.array()), dtype: value.dtype } };
  }
  if (value instanceof Variable) return refuse('a variable');
  if (typeof value === 'bigint') return refuse('a bigint');
  return functionConfig(value);
}

/** The inputs and outputs of a model that is equal to the one of which the configuration is. */
export function functionalFromConfig(config: FunctionalConfig): {
  readonly inputs: Symbolic;
  readonly outputs: Symbolic;
} {
  checkList(config.layers, 'layers');
  for (const one of config.layers) checkLayer(one);
  const made = new Map<string, Made>();
  for (const one of config.layers) made.set(one.name, makeLayer(one));
  const result = ([name, call, output]: History): KerasTensor | undefined => {
    const layer = made.get(name);
    if (layer === undefined)
      throw new InvalidArgumentError(`a call of the layer '${name}', which is not among the layers`, 'Model');
    return layer.results[call]?.[output];
  };
  // In Keras's order a layer may come before what it is called with again: then it has to wait.
  let left = config.layers.flatMap(({ name, inbound_nodes }) =>
    inbound_nodes.map((node) => ({ layer: made.get(name) as Made, node })),
  );
  while (left.length > 0) {
    const waiting: typeof left = [];
    for (const one of left) {
      const { layer, node } = one;
      // The calls of one layer keep their order, by which they are known.
      if (waiting.some((other) => other.layer === layer) || !isReady(node, result)) waiting.push(one);
      else layer.results.push(layer.call(readNode(node, result)));
    }
    if (waiting.length === left.length)
      throw new InvalidArgumentError(
        'the calls of the configuration form a cycle, or use tensors that do not exist',
        'Model',
      );
    left = waiting;
  }
  const place = (given: unknown): unknown => {
    const [name, call, output] = checkHistory(given);
    return result([name, call - (made.get(name)?.first ?? 0), output]);
  };
  const places = (given: unknown): unknown => {
    if (Array.isArray(given)) return typeof given[0] === 'string' ? place(given) : given.map(places);
    if (!isPlain(given)) return refuse('input_layers and output_layers to be places of tensors', given);
    return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, places(one)]));
  };
  return {
    inputs: places(config.input_layers) as Symbolic,
    outputs: places(config.output_layers) as Symbolic,
  };
}

function refuse(expected: string, got: unknown): never {
  throw new InvalidArgumentError(
    `the configuration does not have the form that getConfig returns: expected ${expected}, got ${shown(got)}`,
    'Model',
  );
}
function checkList(value: unknown, what: string): void {
  if (!Array.isArray(value)) refuse(`${what} to be a list`, value);
}
function checkPlain(value: unknown, what: string): void {
  if (!isPlain(value)) refuse(`${what} to be an object`, value);
}
function checkLayer(layer: LayerConfig): void {
  checkPlain(layer, 'a layer');
  const { name, module = null, class_name: className, config, inbound_nodes: nodes } = layer;
  if (typeof name !== 'string' || typeof className !== 'string')
    refuse('name and class_name of a layer', layer);
  if (module !== null && typeof module !== 'string') refuse('module to be a name or null', module);
  checkPlain(config, 'config');
  checkList(nodes, 'inbound_nodes');
  for (const node of nodes) {
    checkPlain(node, 'a call');
    checkList(node.args, 'args');
    checkPlain(node.kwargs, 'kwargs');
  }
}
function checkHistory(value: unknown): History {
  const isHistory =
    Array.isArray(value) &&
    typeof value[0] === 'string' &&
    [value[1], value[2]].every((n) => Number.isSafeInteger(n) && n >= 0);
  return isHistory ? (value as unknown as History) : refuse("a tensor's place, [layer, call, output]", value);
}

/** A layer of a configuration. */
interface Made {
  /** The number of its first call among the outputs of the whole. */
  readonly first: number;
  call(node: NodeConfig): readonly KerasTensor[];
  readonly results: (readonly KerasTensor[])[];
}

function makeLayer(written: LayerConfig): Made {
  const { module, class_name: name, config } = written;
  if (name === 'InputLayer') {
    return { first: 0, results: [[inputFromConfig(config)]], call: () => [] };
  }
  const operation = operationOfClass(module, name);
  if (operation !== undefined) return makeOperation(operation, config);
  if (module?.startsWith('keras.src.ops.') === true)
    throw new InvalidArgumentError(`Keras's ${module}.${name} is not available`, 'Model');
  const layer = deserializeLayer(written);
  const call = ({ args, kwargs }: NodeConfig): readonly KerasTensor[] => {
    const { training, ...options } = camelCaseKeys(kwargs);
    const own = training === undefined || isDefault(layer, kwargs) ? options : { training, ...options };
    if (args.length === 0) return symbolicIn(layer.invoke(own));
    const [first, ...more] = args;
    return symbolicIn(layer.invoke(first, ...more, own));
  };
  return { first: madeBy(layer), results: [], call };
}

function makeOperation(of: KerasOperation, config: Config): Made {
  const { name } = config;
  if (typeof name !== 'string') refuse('the name of an op', name);
  const layer = new Operation({ op: of.op, name: name });
  return {
    first: 0,
    results: [],
    call: ({ args, kwargs }) =>
      inKerasOrder(of.op, symbolicIn(describe(layer, argumentsOfKeras(of, config, args, kwargs)))),
  };
}

/**
 * Whether that a call does not train is what Keras noted of its own accord: of a call without options it notes what is so by default, and no
 * mask. In training, such layers train.
 */
function isDefault(layer: Layer, { training, mask }: Config): boolean {
  const { isNotedWithoutTraining: isNoted } = layer;
  return training === false && (isNoted === 'masked' ? mask !== undefined : isNoted);
}

/** The results of an op whose results have names, of which we have the first in the alphabet first. */
function inKerasOrder(op: string, outputs: readonly KerasTensor[]): readonly KerasTensor[] {
  const names = kerasOperation(op)?.outputs;
  if (names === undefined) return outputs;
  const ours = tree.sortKeys([...names]);
  return names.map((name) => outputs[ours.indexOf(name)]);
}

/** The symbolic input of an `InputLayer` of Keras. */
export function inputFromConfig(config: Config): KerasTensor {
  const { name, batch_shape: batchShape, dtype, sparse, ragged, optional } = config;
  if (typeof name !== 'string') refuse('the name of an input', name);
  checkList(batchShape, 'batch_shape');
  const [batchSize = null, ...shape] = batchShape as PartialShape;
  return Input({
    name: name,
    shape,
    batchSize,
    dtype: (dtype ?? 'float32') as DType,
    sparse: (sparse ?? false) as boolean,
    ragged: (ragged ?? false) as boolean,
    optional: (optional ?? false) as boolean,
  });
}

type Find = (history: History) => KerasTensor | undefined;
const historyOf = ({ config }: Config): History =>
  isPlain(config) ? checkHistory(config['keras_history']) : refuse('config of a tensor', config);
const isTensorConfig = (value: Config): boolean => value['class_name'] === '__keras_tensor__';

/** Whether all tensors of a call are made. */
function isReady(node: unknown, find: Find): boolean {
  if (Array.isArray(node)) return node.every((item) => isReady(item, find));
  if (!isPlain(node)) return true;
  if (isTensorConfig(node)) return find(historyOf(node)) !== undefined;
  return Object.values(node).every((item) => isReady(item, find));
}

/** A call with its tensors. What Keras says of nothing is left out. */
function readNode({ args, kwargs }: NodeConfig, find: Find): NodeConfig {
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(read);
    if (!isPlain(value)) return value;
    if (isTensorConfig(value)) return find(historyOf(value));
    if (value['class_name'] === '__tensor__' || value['class_name'] === '__numpy__') {
      const { config } = value;
      checkPlain(config, 'config of a tensor');
      const { value: values, dtype } = config as { value: unknown; dtype: DType };
      return tensorOf(values, dtype);
    }
    return functionOf(value) ?? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, read(v)]));
  };
  const given = Object.entries(kwargs).filter(([, value]) => value !== null);
  return {
    args: args.map(read),
    kwargs: Object.fromEntries(given.map(([name, value]) => [name, read(value)])),
  };
}

/** A tensor of nested numbers, texts or truths. */
function tensorOf(values: unknown, dtype: DType): Tensor {
  checkDTypeName(dtype, 'Model');
  const wide = dtype === 'int64' || dtype === 'uint64';
  const item = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(item);
    return wide && Number.isSafeInteger(value) ? BigInt(value as number) : value;
  };
  return constant(item(values) as never, dtype);
}

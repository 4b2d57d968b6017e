// Graphs of TensorFlow.js: `model.json` has the nodes, files beside it the values of the constants.
import { errorFromCode } from '@eagre/backend';
import { DataLossError, EagreError, InvalidArgumentError } from '@eagre/core';
import { dataTypeInfo, encodeTensorProto, type NDArray, type TensorValue, tensorflow } from '@eagre/formats';
import { fromProtoJson, readTfjsModel, readTfjsWeights, type TfjsModel } from '@eagre/formats/tensorflow-js';
import { translatedOps } from '../import/ops/index.ts';
import { nothingAround, Runtime } from '../import/runtime.ts';
import { unfused } from '../import/unfused.ts';
import { OP, translatedError } from './files.ts';
import type { LoadedObject } from './loaded-object.ts';
import { loadVersion1 } from './version1.ts';

type NodeDef = tensorflow.NodeDef;
type JsonObject = Readonly<Record<string, unknown>>;
type Weights = ReadonlyMap<string, TensorValue>;

const { DT_RESOURCE } = tensorflow.DataType;
/** What a signature is called that has no name in the file. */
const SERVING = 'serving_default';

/** Loads the graph that a `model.json` has. */
export async function loadGraphModel(path: string, lazy: boolean): Promise<LoadedObject> {
  try {
    const model = await readTfjsModel(path);
    if (model.kind !== 'graph-model')
      throw new InvalidArgumentError(
        'it is a model of Keras: read it with tf.keras.models.loadModel(path)',
        OP,
      );
    const meta = metaGraphOf(model, await readTfjsWeights(model));
    const runtime = new Runtime(meta.graph_def ?? {}, translatedOps(), nothingAround());
    return await loadVersion1({ meta, runtime, checkpoint: '', values: null, assets: [], lazy });
  } catch (cause) {
    throw named(translatedError(cause, path), path);
  }
}

/** Errors of graphs do not know of what file. */
function named(error: unknown, path: string): unknown {
  if (!(error instanceof EagreError) || error.message.includes(path)) return error;
  return errorFromCode(error.code, `${path}: ${error.message}`);
}

/** A graph in JSON as messages, with the values of its constants. */
export function metaGraphOf(model: TfjsModel, weights: Weights): tensorflow.MetaGraphDef {
  const { file } = model;
  const read = (value: unknown, at: string): tensorflow.GraphDef =>
    fromProtoJson(tensorflow.GraphDef, value, { file, at });
  const own = read(model.topology, 'modelTopology');
  const filled = (nodes: readonly NodeDef[] | undefined, isFunction: boolean): readonly NodeDef[] =>
    unfused(
      (nodes ?? []).map((node) => withValue(node, weights)),
      isFunction,
    );
  const library = own.library?.function?.map((f) => ({ ...f, node_def: filled(f.node_def, true) }));
  let nodes = filled(own.node, false);
  const metadata = model.userDefinedMetadata ?? {};
  const given = isObject(metadata['signature']) ? metadata['signature'] : model.signature;
  let signature = signatureOf(given, nodes, file);
  const signatures = new Map<string, tensorflow.SignatureDef>();
  if (model.modelInitializer !== undefined) {
    const initializer = filled(read(model.modelInitializer, 'modelInitializer').node, false);
    const joined = withInitializer(nodes, initializer);
    const captured = capturedBy(model, given);
    const placeholders = new Map(
      [...captured].map(([name, from]) => [operationOf(name), joined.renamed(from)] as const),
    );
    nodes = withoutPlaceholders(joined.nodes, placeholders);
    const inputs = [...(signature.inputs ?? [])].filter(
      ([, { name = '' }]) => !placeholders.has(operationOf(name)),
    );
    signature = { ...signature, inputs: new Map(inputs) };
    signatures.set('__saved_model_init_op', {
      outputs: new Map([['__saved_model_init_op', { name: joined.initializer }]]),
    });
  }
  signatures.set(SERVING, structured(signature, metadata['structuredOutputKeys'], file));
  return {
    graph_def: { node: nodes, library: { ...own.library, function: library ?? [] } },
    signature_def: signatures,
  };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const operationOf = (name: string): string => name.replace(/^\^/, '').replace(/:.*$/s, '');

/** A constant with its value, in the data type that the graph has: files have fewer types. */
function withValue(node: NodeDef, weights: Weights): NodeDef {
  if (node.op !== 'Const') return node;
  const { name = '', attr = new Map() } = node;
  const value = weights.get(name);
  const inside = attr.get('value')?.tensor;
  if (value === undefined) {
    if (inside !== undefined && holdsValues(inside)) return node;
    throw new DataLossError(`the list of weights has none for the constant '${name}'`, OP);
  }
  const dtype = attr.get('dtype')?.type ?? tensorflow.DataType.DT_FLOAT;
  const tensor = encodeTensorProto(
    value.dtype === 'string' ? value : inDataType(value, attr.has('dtype') ? dtype : undefined, name),
  );
  return {
    ...node,
    attr: new Map([...attr, ['dtype', { type: tensor.dtype ?? dtype }], ['value', { tensor }]]),
  };
}

/** Whether a message has values, or needs none. */
function holdsValues(tensor: tensorflow.TensorProto): boolean {
  const { dtype: _, tensor_shape: shape, version_number: __, ...values } = tensor;
  return (
    Object.values(values).some((list) => (list as { readonly length: number }).length > 0) ||
    (shape?.dim ?? []).some(({ size = 0 }) => Number(size) === 0)
  );
}

/** An array in the type with a number, which the converter has narrowed. */
function inDataType(value: NDArray, number: number | undefined, name: string): NDArray {
  const kind = number === undefined ? value.dtype : dataTypeInfo(number)?.kind;
  if (kind === value.dtype) return value;
  const { shape } = value;
  const data = value.data as Float32Array | Int32Array;
  const isReal = value.dtype === 'float32' || value.dtype === 'int32';
  switch (isReal ? kind : undefined) {
    case 'int64':
      return { dtype: 'int64', shape, data: BigInt64Array.from(data, BigInt) };
    case 'uint64':
      return { dtype: 'uint64', shape, data: BigUint64Array.from(data, BigInt) };
    case 'float64':
      return { dtype: 'float64', shape, data: Float64Array.from(data) };
    case 'float16':
    case 'bfloat16':
      return { dtype: kind as 'float16', shape, data: Float32Array.from(data) };
    case 'int8':
      return { dtype: 'int8', shape, data: Int8Array.from(data) };
    case 'uint8':
      return { dtype: 'uint8', shape, data: Uint8Array.from(data) };
    case 'int16':
      return { dtype: 'int16', shape, data: Int16Array.from(data) };
    case 'uint16':
      return { dtype: 'uint16', shape, data: Uint16Array.from(data) };
    case 'uint32':
      return { dtype: 'uint32', shape, data: Uint32Array.from(data) };
    default:
      throw new DataLossError(
        `the constant '${name}' is ${kind ?? `of the data type ${number}`} in the graph, and ${value.dtype} in the list of weights`,
        OP,
      );
  }
}

/** What the graph is called with. Old files do not say it: then all placeholders are inputs, and what no node uses is a result. */
function signatureOf(
  given: JsonObject | undefined,
  nodes: readonly NodeDef[],
  file: string,
): tensorflow.SignatureDef {
  const { inputs, outputs } = fromProtoJson(tensorflow.SignatureDef, given ?? {}, { file, at: 'signature' });
  const byName = new Map(nodes.map((node) => [node.name ?? '', node]));
  const completed = (info: tensorflow.TensorInfo): tensorflow.TensorInfo => {
    const attr = byName.get(operationOf(info.name ?? ''))?.attr;
    const dtype = info.dtype || attr?.get('dtype')?.type || attr?.get('T')?.type || 0;
    const shape = info.tensor_shape ?? attr?.get('shape')?.shape;
    return { ...info, dtype, ...(shape === undefined ? {} : { tensor_shape: shape }) };
  };
  const ofNodes = (some: readonly NodeDef[]): [string, tensorflow.TensorInfo][] =>
    some.map(({ name = '' }) => [name, { name: `${name}:0` }]);
  const used = new Set(nodes.flatMap(({ input = [] }) => input.map(operationOf)));
  const ends = nodes.filter(({ op = '', name = '' }) => !used.has(name) && !NO_RESULTS.has(op));
  const listed = [...(inputs ?? [])].filter(([, { name = '' }]) => byName.has(operationOf(name)));
  const placeholders = nodes.filter(({ op }) => op === 'Placeholder');
  const complete = (
    all: Iterable<readonly [string, tensorflow.TensorInfo]>,
  ): Map<string, tensorflow.TensorInfo> =>
    new Map([...all].map(([key, info]) => [key, completed(withIndex(info))] as const));
  const named = (inputs?.size ?? 0) > 0;
  return {
    inputs: complete(named ? listed : ofNodes(placeholders)),
    outputs: complete((outputs?.size ?? 0) > 0 ? [...(outputs ?? [])] : ofNodes(ends)),
  };
}
const NO_RESULTS: ReadonlySet<string> = new Set(['Const', 'NoOp', 'Placeholder', 'Assert']);
/** A node's name is that of its first output. */
const withIndex = (info: tensorflow.TensorInfo): tensorflow.TensorInfo =>
  info.name === undefined || info.name === '' || info.name.includes(':')
    ? info
    : { ...info, name: `${info.name}:0` };

/** Results under the names that they had in Python. */
function structured(
  signature: tensorflow.SignatureDef,
  keys: unknown,
  file: string,
): tensorflow.SignatureDef {
  if (keys === undefined || keys === null) return signature;
  const outputs = [...(signature.outputs ?? [])];
  const isRight =
    Array.isArray(keys) &&
    keys.length === outputs.length &&
    keys.every((key) => typeof key === 'string') &&
    new Set(keys).size === keys.length;
  if (!isRight)
    throw new DataLossError(
      `${file}: structuredOutputKeys must be as many names as the signature has outputs, ${outputs.length}`,
      OP,
    );
  return {
    ...signature,
    outputs: new Map(outputs.map(([, info], i) => [(keys as readonly string[])[i] as string, info] as const)),
  };
}

/** A graph with the one that fills its tables. */
interface Joined {
  readonly nodes: readonly NodeDef[];
  /** The operation that runs the latter. */
  readonly initializer: string;
  /** What a tensor of the latter is called. */
  readonly renamed: (tensor: string) => string;
}

function withInitializer(nodes: readonly NodeDef[], initializer: readonly NodeDef[]): Joined {
  const own = new Map(nodes.map((node) => [node.name ?? '', node]));
  // A constant or a table of both is one.
  const names = new Map<string, string>();
  for (const { name = '', op } of initializer) {
    const other = own.get(name);
    names.set(name, other === undefined || other.op === op ? name : free(`initializer/${name}`, own));
  }
  const renamed = (input: string): string => {
    const control = input.startsWith('^') ? '^' : '';
    const operation = operationOf(input);
    return control + (names.get(operation) ?? operation) + input.slice(control.length + operation.length);
  };
  const added = initializer
    .filter(({ name = '' }) => names.get(name) !== name || !own.has(name))
    .map((node) => ({
      ...node,
      name: names.get(node.name ?? '') ?? '',
      input: (node.input ?? []).map(renamed),
    }));
  const used = new Set(added.flatMap(({ input }) => input.map(operationOf)));
  const ends = added.filter(({ name, op }) => !used.has(name) && op !== 'Const');
  const name = free('initializer', new Map([...own, ...added.map((node) => [node.name, node] as const)]));
  const run: NodeDef = { name, op: 'NoOp', input: ends.map((end) => `^${end.name}`) };
  return { nodes: [...nodes, ...added, run], initializer: name, renamed };
}

function free(name: string, taken: ReadonlyMap<string, unknown>): string {
  let own = name;
  for (let n = 1; taken.has(own); n++) own = `${name}_${n}`;
  return own;
}

/** The tensors of the initializer that inputs of the signature stand for, by the inputs' tensors: both have the number of a resource. */
function capturedBy(model: TfjsModel, signature: JsonObject | undefined): Map<string, string> {
  const numbered = (value: unknown): (readonly [id: unknown, name: string])[] =>
    Object.values(isObject(value) ? value : {}).flatMap((info) =>
      isObject(info) && info['resourceId'] !== undefined && typeof info['name'] === 'string'
        ? [[info['resourceId'], info['name']] as const]
        : [],
    );
  const made = new Map(numbered(model.initializerSignature?.['outputs']));
  return new Map(
    numbered(signature?.['inputs']).map(([id, name]) => {
      const from = made.get(id);
      if (from === undefined)
        throw new DataLossError(`the initializer does not make the resource ${String(id)} of '${name}'`, OP);
      return [name, from];
    }),
  );
}

/** The nodes with other tensors in the place of resources that were arguments. */
function withoutPlaceholders(nodes: readonly NodeDef[], by: ReadonlyMap<string, string>): readonly NodeDef[] {
  if (by.size === 0) return nodes;
  const isGone = ({ name = '', op, attr }: NodeDef): boolean =>
    by.has(name) && op === 'Placeholder' && attr?.get('dtype')?.type === DT_RESOURCE;
  const replaced = (input: string): string => by.get(operationOf(input)) ?? input;
  return nodes
    .filter((node) => !isGone(node))
    .map((node) =>
      (node.input ?? []).some((input) => by.has(operationOf(input)))
        ? { ...node, input: (node.input ?? []).map(replaced) }
        : node,
    );
}

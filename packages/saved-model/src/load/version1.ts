// SavedModels without objects: graphs of TensorFlow 1, and graphs that hold all their values as constants.
import {
  constant,
  InvalidArgumentError,
  SparseTensor,
  Tensor,
  UnimplementedError,
  type Variable,
} from '@eagre/core';
import { Asset } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import {
  declareSavedFunction,
  SparseTensorSpec,
  TensorSpec,
  type TracedFunction,
  tfFunction,
} from '@eagre/graph';
import { Names } from '@eagre/graph/interchange';
import type { Body, Ref } from '../import/body.ts';
import { dtypeOf, partialShapeOf } from '../import/op-call.ts';
import type { Pause } from '../import/pauses.ts';
import type { Runtime } from '../import/runtime.ts';
import { type Value, VariableHandle } from '../import/values.ts';
import { declareImported, type ImportedFunction } from '../imported.ts';
import { keywordSpec } from '../save/functions.ts';
import { OP } from './files.ts';
import { type SignatureFunction, withoutSignal } from './functions.ts';
import { GraphFunctions, type NamedTensor } from './graph-functions.ts';
import { LoadedObject } from './loaded-object.ts';
import { restoreDirectly } from './restored-version1.ts';
import { fit, objectOf, type Structure } from './structure.ts';
import { TracedOrHost } from './traced-or-host.ts';
import type { SavedValues } from './variables.ts';

const { AssetFileDef, VariableDef } = tensorflow;

type AnyFunction = (...args: never[]) => unknown;

/** A part of a graph as a function of some of its tensors. */
export interface PrunedFunction {
  (...inputs: readonly unknown[]): Tensor[];
  readonly inputs: readonly TensorSpec[];
}

/** The operation that a tensor or a control input is of. */
const operationOf = (name: string): string => name.replace(/:\d+$/, '').replace(/^\^/, '');
const tensorName = (name: string): string => (name.includes(':') ? name : `${name}:0`);

/** What is known of a placeholder's tensor. */
function specOf(body: Body, { node }: Ref, name: string): TensorSpec {
  const { attr } = body.defs[node] as tensorflow.NodeDef;
  const number = attr?.get('dtype')?.type ?? attr?.get('T')?.type;
  if (number === undefined)
    throw new InvalidArgumentError(`the dtype of '${name}' is not known: give a tf.TensorSpec`, 'prune');
  const shape = attr?.get('shape')?.shape ?? attr?.get('_output_shapes')?.list?.shape?.[0];
  return new TensorSpec(partialShapeOf(shape), dtypeOf(number, name), name.replace(/:0$/, ''));
}

/** What a part of a graph is computed from, and what it computes. */
export interface PartOptions {
  /** The specs of the fed tensors; those of the placeholders unless given. */
  readonly specs?: readonly TensorSpec[];
  readonly name: string;
  readonly lazy: boolean;
  /** Whether something is fed anyway, such as the paths of assets. */
  readonly always?: ReadonlyMap<number, readonly Value[]>;
  /** What makes functions of parts of the graph when they are saved; a graph by itself has none. */
  readonly functions?: GraphFunctions;
}

/** What computes fetched tensors, or runs fetched operations, from fed ones. @throws UnimplementedError for ops that are missing. */
export function partOf(
  runtime: Runtime,
  feeds: readonly string[],
  fetches: readonly string[],
  { specs, name, lazy, always = new Map() }: PartOptions,
): {
  readonly specs: readonly TensorSpec[];
  readonly run: (inputs: readonly Tensor[]) => Tensor[];
  readonly runAsync: (inputs: readonly Tensor[], pause: Pause) => Promise<Tensor[]>;
  readonly onHost: boolean;
} {
  const { graph } = runtime;
  const fed = feeds.map((feed) => graph.ref(tensorName(feed)));
  const inputs = specs ?? fed.map((ref, i) => specOf(graph, ref, feeds[i] as string));
  // What stands without a colon, and has no outputs, is run for its own sake.
  const isOperation = (fetch: string): boolean => !fetch.includes(':');
  const wanted = fetches.filter((fetch) => !isOperation(fetch)).map((fetch) => graph.ref(fetch));
  const effects = fetches.filter(isOperation).map((fetch) => graph.id(fetch));
  const given = new Set([...fed.map((ref) => ref.node), ...always.keys()]);
  if (!lazy) runtime.check(graph, wanted, effects, given);
  const valuesOf = (tensors: readonly Tensor[]): Map<number, (Value | undefined)[]> => {
    const values = new Map<number, (Value | undefined)[]>([...always].map(([id, list]) => [id, [...list]]));
    fed.forEach(({ node, output }, i) => {
      const list = values.get(node) ?? [];
      list[output] = tensors[i];
      values.set(node, list);
    });
    return values;
  };
  const tensorsOf = (results: readonly Value[]): Tensor[] =>
    results.map((value) => {
      const tensor = value instanceof VariableHandle ? value.variable.read() : value;
      if (!(tensor instanceof Tensor))
        throw new UnimplementedError('a resource or list is no result of a function', name);
      return tensor;
    });
  const run = (tensors: readonly Tensor[]): Tensor[] =>
    tensorsOf(runtime.run(graph, valuesOf(tensors), wanted, effects));
  const runAsync = async (tensors: readonly Tensor[], pause: Pause): Promise<Tensor[]> =>
    tensorsOf(await runtime.runAsync(graph, valuesOf(tensors), wanted, effects, pause));
  const needs = graph.order([...wanted.map((ref) => ref.node), ...effects], given);
  const onHost = inputs.some(({ dtype }) => dtype === 'string') || needs.some(({ def }) => givesText(def));
  return { specs: inputs, run, runAsync, onHost };
}

/** Whether a node computes text. */
function givesText({ attr, op }: tensorflow.NodeDef): boolean {
  return op !== 'Const' && (attr?.get('T')?.type === 7 || attr?.get('Tout')?.type === 7);
}

/** A part of a graph as a function. */
export function prunedFunction(
  runtime: Runtime,
  feeds: readonly string[],
  fetches: readonly string[],
  options: PartOptions,
): PrunedFunction {
  const part = partOf(runtime, feeds, fetches, options);
  const traced = tfFunction(((...inputs: Tensor[]) => part.run(inputs)) as never, {
    inputSignature: part.specs,
    name: options.name,
    autograph: false,
  }) as unknown as TracedFunction<AnyFunction>;
  const calls = new TracedOrHost(
    traced,
    () => traced.getConcreteFunction(),
    { now: part.run, later: part.runAsync },
    part.onHost,
  );
  const structure: Structure = { kind: 'list', items: part.specs.map((spec) => ({ kind: 'tensor', spec })) };
  const fn = (...inputs: readonly unknown[]): Tensor[] => {
    const tensors = fitted(structure, inputs, options.name);
    return calls.call(tensors, tensors) as Tensor[];
  };
  const names = new Names();
  const keys = feeds.map((feed) => names.take(operationOf(feed).replace(/\W/g, '_')));
  declareSavedFunction(fn, () => ({
    name: options.name,
    hostFunction: traced.hostFunction,
    inputSignature: part.specs,
    get concreteFunctions() {
      return [traced.getConcreteFunction()];
    },
    parameters: { parameters: keys.map((name) => ({ name })), rest: null },
  }));
  const { functions, name } = options;
  declareImported(fn, () =>
    functions === undefined
      ? null
      : asInFile(part.onHost, () => {
          const inputs = keys.map((key, i) => ({
            key,
            tensor: tensorName(feeds[i] as string),
            spec: part.specs[i] as TensorSpec,
          }));
          const bare = { argument_keywords: keys, allowed_positional_arguments: keys.length };
          const trace = functions.trace({
            name,
            inputs,
            outputs: outputsOf(fetches, functions),
            isFlat: true,
          });
          return { traces: [trace], spec: undefined, bare };
        }),
  );
  return Object.assign(fn, { inputs: part.specs });
}

function outputsOf(fetches: readonly string[], functions: GraphFunctions): NamedTensor[] {
  const operation = fetches.find((fetch) => !fetch.includes(':'));
  if (operation !== undefined)
    throw new UnimplementedError(
      `a part of a graph that runs the operation '${operation}' has no form in a SavedModel: fetch tensors`,
      'savedModel.save',
    );
  return fetches.map((tensor, i) => ({ key: `tensor_${i}`, tensor, spec: functions.specOf(tensor) }));
}

/** A function as its file has it. What cannot be one may be written in Eagre's ops, but for strings: then it is null. */
function asInFile(onHost: boolean, read: () => ImportedFunction): ImportedFunction | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnimplementedError && !onHost) return null;
    throw error;
  }
}

/** @throws InvalidArgumentError for what does not fit. */
function fitted(structure: Structure, given: unknown, name: string): Tensor[] {
  const tensors = fit(structure, given, true, 'arguments');
  if (typeof tensors === 'string') throw new InvalidArgumentError(tensors, name);
  return tensors;
}

/** What signatures of a graph share. */
interface Surrounding {
  readonly runtime: Runtime;
  readonly lazy: boolean;
  readonly variables: () => readonly Variable[];
  readonly functions: GraphFunctions;
}

type NamedInfo = readonly [key: string, info: tensorflow.TensorInfo];

/** The tensors that a signature's value consists of: of a sparse one three, which TensorFlow names in this way. */
function partsOf([key, info]: NamedInfo): NamedInfo[] {
  const { coo_sparse: sparse, tensor_shape: shape, dtype } = info;
  if (sparse === undefined) return [[key, info]];
  const rank = partialShapeOf(shape)?.length ?? -1;
  const part = (name: string | undefined, dtype: number | undefined, sizes: readonly number[]) => ({
    name,
    dtype,
    tensor_shape: { dim: sizes.map((size) => ({ size })) },
  });
  return [
    [`${key}_indices`, part(sparse.indices_tensor_name, INT64, [-1, rank])],
    [`${key}_values`, part(sparse.values_tensor_name, dtype, [-1])],
    [`${key}_dense_shape`, part(sparse.dense_shape_tensor_name, INT64, [rank])],
  ] as NamedInfo[];
}
const INT64 = 9;

/** A signature as a function of tensors by name. */
function signatureOf(
  name: string,
  signature: tensorflow.SignatureDef,
  { runtime, lazy, variables, functions }: Surrounding,
): SignatureFunction {
  const sorted = <T extends readonly [string, ...unknown[]]>(entries: Iterable<T> = []): T[] =>
    [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const inputs = sorted([...(signature.inputs ?? [])].flatMap(partsOf));
  const results = sorted(signature.outputs);
  const outputs = results.flatMap(partsOf);
  for (const [key, info] of [...inputs, ...outputs])
    if (info.name === undefined || info.name === '')
      throw new UnimplementedError(`'${key}' of the signature '${name}' is no plain tensor`, OP);
  const spec = ([key, info]: NamedInfo): TensorSpec =>
    new TensorSpec(partialShapeOf(info.tensor_shape), dtypeOf(info.dtype ?? 0, key), key);
  const specOfResult = (entry: NamedInfo): TensorSpec | SparseTensorSpec => {
    if (entry[1].coo_sparse === undefined) return spec(entry);
    const { shape, dtype } = spec(entry);
    return new SparseTensorSpec(shape, dtype);
  };
  const specs = inputs.map(spec);
  const part = partOf(
    runtime,
    inputs.map(([, info]) => info.name as string),
    outputs.map(([, info]) => info.name as string),
    { specs, name, lazy },
  );
  const packed = (tensors: readonly Tensor[]): Record<string, Tensor> => {
    const left = [...tensors];
    const next = (): Tensor => left.shift() as Tensor;
    const valueOf = ({ coo_sparse: sparse }: tensorflow.TensorInfo): unknown =>
      sparse === undefined ? next() : new SparseTensor(next(), next(), next());
    return objectOf(results.map(([key, info]) => [key, valueOf(info)])) as Record<string, Tensor>;
  };
  const run = (given: Readonly<Record<string, Tensor>>): Record<string, Tensor> =>
    packed(part.run(inputs.map(([key]) => given[key] as Tensor)));
  const signatureOfInputs = objectOf(inputs.map(([key], i) => [key, specs[i]]));
  const traced = tfFunction((inputs.length > 0 ? run : () => run({})) as never, {
    inputSignature: inputs.length > 0 ? [signatureOfInputs as never] : [],
    name,
    autograph: false,
  }) as unknown as TracedFunction<AnyFunction>;
  const structure: Structure = {
    kind: 'dict',
    keys: inputs.map(([key]) => key),
    items: specs.map((spec) => ({ kind: 'tensor', spec })),
  };
  const calls = new TracedOrHost(
    traced,
    () => traced.getConcreteFunction(),
    {
      now: (tensors) => packed(part.run(tensors)),
      later: async (tensors, pause) => packed(await part.runAsync(tensors, pause)),
    },
    part.onHost,
  );
  const argumentsOf = (given: unknown): readonly [args: readonly unknown[], tensors: Tensor[]] => {
    const [only] = inputs;
    const named =
      given instanceof Tensor && inputs.length === 1 && only !== undefined ? { [only[0]]: given } : given;
    const tensors = fitted(structure, named, name);
    const args = objectOf(inputs.map(([key], i) => [key, tensors[i]]));
    return [inputs.length > 0 ? [args] : [], tensors];
  };
  const call = (given: unknown = {}): unknown => calls.call(...argumentsOf(given));
  const fn = Object.assign(call, {
    runAsync: async (...args: readonly unknown[]): Promise<unknown> => {
      const [[given = {}], signal] = withoutSignal(args);
      return calls.callAsync(...argumentsOf(given), signal);
    },
    getConcreteFunction: () => traced.getConcreteFunction(),
    structuredInputSignature: [[], signatureOfInputs],
    structuredOutputs: objectOf(results.map((entry) => [entry[0], specOfResult(entry)])),
    inputs: specs,
    outputs: outputs.map(spec),
    traces: [traced],
  });
  Object.defineProperty(fn, 'variables', { get: variables });
  declareSavedFunction(fn, () => ({
    name,
    hostFunction: traced.hostFunction,
    inputSignature: null,
    get concreteFunctions() {
      return [traced.getConcreteFunction()];
    },
    parameters: { parameters: inputs.length > 0 ? [{ name: 'inputs' }] : [], rest: null },
  }));
  const tensors = (entries: typeof inputs): NamedTensor[] =>
    sorted(entries).map((entry) => ({ key: entry[0], tensor: entry[1].name as string, spec: spec(entry) }));
  declareImported(fn, () =>
    asInFile(part.onHost, () => ({
      traces: [functions.trace({ name, inputs: tensors(inputs), outputs: tensors(outputs) })],
      spec: keywordSpec(inputs.map(([key]) => key)),
    })),
  );
  Object.defineProperty(fn, 'name', { value: name });
  return fn as unknown as SignatureFunction;
}

/** What a model of TensorFlow 1 says of itself. */
export interface Version1Parts {
  readonly meta: tensorflow.MetaGraphDef;
  readonly runtime: Runtime;
  /** The checkpoint's prefix. */
  readonly checkpoint: string;
  /** What is in it, or null where there is none. */
  readonly values: SavedValues | null;
  /** The files, with the tensors of the graph that are their paths. */
  readonly assets: readonly { readonly tensor: string; readonly path: string }[];
  readonly lazy: boolean;
}

/** The key of the collection that older programs list the files in. */
const ASSETS = 'saved_model_assets';

/** The files of a model. */
export function assetsOf({
  asset_file_def: defs = [],
  collection_def: collections,
}: tensorflow.MetaGraphDef): readonly tensorflow.AssetFileDef[] {
  if (defs.length > 0) return defs;
  return (collections?.get(ASSETS)?.any_list?.value ?? []).map(({ value }) =>
    AssetFileDef.decode(value ?? new Uint8Array(), { file: ASSETS }),
  );
}

/** Which variables of a graph are trained: those in the collection of these; all where there are no collections. */
export function trainableIn({
  collection_def: collections,
}: tensorflow.MetaGraphDef): (name: string) => boolean {
  const namesIn = (key: string): readonly string[] | undefined =>
    collections
      ?.get(key)
      ?.bytes_list?.value?.map((bytes) => VariableDef.decode(bytes, { file: key }).variable_name ?? '');
  const trainable = namesIn('trainable_variables');
  if (trainable === undefined && !collections?.has('variables')) return () => true;
  const names = new Set(trainable?.map(operationOf));
  return (name) => names.has(name);
}

/** Loads a graph with its variables, and runs what initializes its tables. */
export async function loadVersion1({
  meta,
  runtime,
  checkpoint,
  values,
  assets,
  lazy,
}: Version1Parts): Promise<LoadedObject> {
  const { graph, surroundings } = runtime;
  const paths = new Map<number, readonly Value[]>();
  const files = new Map<string, Asset>();
  for (const { tensor, path } of assets) {
    if (tensor === '') continue;
    paths.set(graph.ref(tensorName(tensor)).node, [constant(path)]);
    files.set(operationOf(tensor), new Asset(path));
  }
  const runOperation = (operation: string, fed: ReadonlyMap<number, readonly Value[]>): void => {
    partOf(runtime, [], [operationOf(operation)], {
      name: operation,
      lazy,
      always: new Map([...paths, ...fed]),
    }).run([]);
  };
  const { restore_op_name: restore = '', filename_tensor_name: file = '' } = meta.saver_def ?? {};
  if (values !== null && restore !== '') {
    const prefix = graph.ref(tensorName(file)).node;
    if (!(await restoreDirectly(runtime, graph.id(operationOf(restore)), prefix, values)))
      runOperation(restore, new Map([[prefix, [constant(checkpoint)]]]));
  }
  for (const operation of initializersOf(meta)) runOperation(operation, new Map());
  const variables = (): Variable[] =>
    [...surroundings.resources.values()].flatMap((r) => (r instanceof VariableHandle ? [r.variable] : []));
  const surrounding: Surrounding = {
    runtime,
    lazy,
    variables,
    functions: new GraphFunctions({
      nodes: meta.graph_def?.node ?? [],
      ops: meta.meta_info_def?.stripped_op_list?.op ?? [],
      runtime,
      assets: files,
    }),
  };
  const signatures = [...(meta.signature_def ?? [])].flatMap(([name, signature]) =>
    name.startsWith('__saved_model') ? [] : [[name, signatureOf(name, signature, surrounding)] as const],
  );
  const root = new LoadedObject();
  LoadedObject.attach(root, 'signatures', objectOf(signatures));
  LoadedObject.attach(root, 'variables', variables());
  LoadedObject.attach(root, 'graphVariables', objectOf(variables().map((v) => [v.path, v])));
  LoadedObject.attach(
    root,
    'prune',
    (feeds: string | readonly string[], fetches: string | readonly string[]): PrunedFunction =>
      prunedFunction(runtime, namesOf(feeds, 'feeds'), namesOf(fetches, 'fetches'), {
        name: 'pruned',
        lazy,
        functions: surrounding.functions,
      }),
  );
  return root;
}

/** @throws InvalidArgumentError for what is no name or list of names. */
export function namesOf(value: unknown, what: string): readonly string[] {
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || list.some((name) => typeof name !== 'string'))
    throw new InvalidArgumentError(`${what} must be names of tensors, such as 'x:0'`, 'prune');
  return list as readonly string[];
}

const INIT_KEYS = ['saved_model_main_op', 'legacy_init_op'];

/** The operations that make a graph ready for use. */
function initializersOf({
  signature_def: signatures,
  collection_def: collections,
}: tensorflow.MetaGraphDef): string[] {
  const named = signatures?.get('__saved_model_init_op')?.outputs?.get('__saved_model_init_op')?.name;
  const listed = INIT_KEYS.flatMap((key) => collections?.get(key)?.node_list?.value ?? []);
  return [...new Set([...(named === undefined ? [] : [named]), ...listed])];
}

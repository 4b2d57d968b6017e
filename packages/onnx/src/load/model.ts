// A model that is read from a file.
import { type DType, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { Module, type PartialShape, Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  callable,
  context,
  isCompatible,
  isPlain,
  showFields,
  shown,
  showShape,
  toTensor,
} from '@eagre/core/internal';
import type { onnx } from '@eagre/formats';
import { tfFunction } from '@eagre/graph';
import { dtypeOf } from '../tensors.ts';
import type { ClassMap, TypedMap, Value } from './node.ts';
import { Compiler, functionKey, invalid, opsetsOf, Program, partsOf } from './program.ts';

/** What a model gives: a tensor, or a sequence of tensors or of maps from classes to numbers. */
export type OnnxResult = Tensor | readonly (Tensor | ClassMap)[] | null;

/** What a model takes for a map; by position a Map. */
export type OnnxMap =
  | ReadonlyMap<string | number | bigint, number | bigint | string>
  | Readonly<Record<string, number | bigint | string>>;

/** An input or output of a model. */
export interface OnnxValueInfo {
  readonly name: string;
  /** Null for what is no tensor. */
  readonly dtype: DType | null;
  /** Of a map: the dtypes of its keys and values. */
  readonly map?: { readonly key: 'string' | 'int64'; readonly value: DType };
  /** Null in the place of a size that may be any; null for an unknown rank. */
  readonly shape: PartialShape | null;
  /** The names of sizes that may be any, null elsewhere. */
  readonly sizes: readonly (string | null)[];
}

/** A model of an ONNX file. See `tf.onnx.load`. */
export class OnnxModel extends Module {
  /** What it takes, in the order of the file. */
  readonly inputs: readonly OnnxValueInfo[];
  /** What it gives. */
  readonly outputs: readonly OnnxValueInfo[];
  /** Its floating weights by name, which can be trained. */
  readonly weights: ReadonlyMap<string, Variable>;
  /** The versions of the sets of ops that it uses, by domain. */
  readonly opsets: ReadonlyMap<string, number>;
  /** Who wrote the file. */
  readonly producer: string;
  /** The file's own notes. */
  readonly metadata: ReadonlyMap<string, string>;
  /** Whether calls run as a graph: not if an op needs values of the run, or strings. */
  readonly traced: boolean;
  /** @internal */
  declare readonly _program: Program;
  /** @internal */
  declare readonly _prepare: ReadonlySet<() => Promise<void>>;
  /** @internal */
  declare readonly _run: (...inputs: Tensor[]) => Value[];

  /** @internal */
  constructor(
    model: onnx.ModelProto,
    external: ReadonlyMap<onnx.TensorProto, Uint8Array>,
    options: {
      /** Whether training may change its weights. */
      readonly trainable: boolean;
      /** Of the model. */
      readonly name: string;
    },
  ) {
    super({ name: options.name });
    const graph = model.graph as onnx.GraphProto;
    const context = {
      functions: new Map((model.functions ?? []).map((f) => [functionKey(f.domain, f.name, f.overload), f])),
      external: (proto: onnx.TensorProto) => external.get(proto),
      count: { nodes: 0 },
      prepare: new Set<() => Promise<void>>(),
    };
    this.opsets = opsetsOf(model.opset_import);
    this.producer = [model.producer_name, model.producer_version]
      .filter((s) => s !== undefined && s !== '')
      .join(' ');
    this.metadata = new Map((model.metadata_props ?? []).map(({ key = '', value = '' }) => [key, value]));
    const program = new Program(new Compiler(partsOf(graph, context), context, this.opsets, [], [], []));
    const isWeight = (t: Tensor, name: string): boolean =>
      t.dtype.includes('float') && !program.hosted.has(name);
    this.weights = new Map(
      [...program.constants]
        .filter(([name, t]) => isWeight(t, name))
        .map(([name, t]) => [name, new Variable(t, { trainable: options.trainable, name })]),
    );
    const given = (graph.input ?? []).filter(({ name = '' }) => !program.constants.has(name));
    this.inputs = given.map(infoOf);
    this.outputs = (graph.output ?? []).map(infoOf);
    this.traced =
      !program.eager &&
      [...this.inputs, ...this.outputs].every(({ dtype }) => dtype !== null && dtype !== 'string');
    const run = (...inputs: Tensor[]): Value[] => {
      const values = [...program.constants].map(([name, t]): [string, Value] => [
        name,
        this.weights.get(name)?.read() ?? t,
      ]);
      const byName = new Map(this.inputs.map(({ name }, i) => [name, inputs[i] ?? null]));
      return [...program.run(program.inputs.map((name) => byName.get(name)) as Value[], values, null)];
    };
    Object.defineProperty(this, '_program', { value: program });
    Object.defineProperty(this, '_prepare', { value: context.prepare });
    const traced = this.traced ? (tfFunction(run as never) as unknown as typeof run) : run;
    Object.defineProperty(this, '_run', {
      value: this.traced && program.branches ? orNow(traced, run, this.name) : traced,
    });
    // biome-ignore lint/correctness/noConstructorReturn: this is what makes the object callable
    return callable(this, (self, args) => self._invoke(args));
  }

  /** @internal */
  _invoke(args: readonly unknown[]): unknown {
    const [first] = args;
    const byName = args.length === 1 && isPlain(first) && !('data' in first && 'shape' in first);
    const given = byName ? this._named(first as Record<string, unknown>) : args;
    if (given.length !== this.inputs.length)
      throw new InvalidArgumentError(
        `the model takes ${this.inputs.length} inputs (${this.inputs.map((i) => i.name).join(', ')}), got ${given.length}`,
        this.name,
      );
    const tensors = this.inputs.map((info, i) => this._fitting(info, given[i]));
    const results = this._run(...tensors) as OnnxResult[];
    if (byName) return Object.fromEntries(this.outputs.map(({ name }, i) => [name, results[i]]));
    return results.length === 1 ? results[0] : results;
  }

  /** @internal */
  _named(given: Readonly<Record<string, unknown>>): unknown[] {
    const names = this.inputs.map((i) => i.name);
    for (const name of Object.keys(given))
      if (!names.includes(name))
        throw new InvalidArgumentError(
          `the model has no input '${name}'; it has ${names.join(', ')}`,
          this.name,
        );
    return names.map((name) => {
      if (!Object.hasOwn(given, name))
        throw new InvalidArgumentError(`the input '${name}' is missing`, this.name);
      return given[name];
    });
  }

  /** @internal */
  _fitting({ name, dtype, shape, map }: OnnxValueInfo, value: unknown): Tensor {
    if (map !== undefined) return mapOf(value, map, `the input '${name}'`, this.name) as never;
    if (dtype === null) {
      if (Array.isArray(value) || value === null || value instanceof Tensor) return value as never;
      throw new InvalidArgumentError(
        `the input '${name}' is a sequence or optional: give a tensor, an array of tensors or null, got ${shown(value)}`,
        this.name,
      );
    }
    const tensor = toTensor(value as TensorLike, dtype);
    if (tensor.dtype !== dtype || (shape !== null && !isCompatible(tensor.shape, shape)))
      throw new InvalidArgumentError(
        `the input '${name}' is ${tensor.dtype} ${showShape(tensor.shape)}, expected ${dtype} ${shape === null ? 'of any shape' : showShape(shape)}`,
        this.name,
      );
    return tensor;
  }
}

type Runs = (...inputs: Tensor[]) => Value[];

/** A traced model whose branches may give what no trace can hold, such as other ranks: then its nodes run one by one, and it says so once. */
function orNow(traced: Runs, now: Runs, name: string): Runs {
  let cannot = false;
  return (...inputs) => {
    if (cannot || context.tracer !== null) return now(...inputs);
    try {
      return traced(...inputs);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      // What is wrong with the inputs is wrong here too.
      const results = now(...inputs);
      cannot = true;
      console.warn(
        `tf.onnx.load: the nodes of '${name}' run one by one, as its branches do not fit a graph: ${error.message}`,
      );
      return results;
    }
  };
}

export interface OnnxModel {
  /** Runs the model on its inputs, by position. @returns its output, or a list of its outputs. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes back depends on the file
  (...inputs: readonly (TensorLike | readonly Tensor[] | OnnxMap)[]): any;
  /** Runs the model on its inputs, by name. @returns its outputs by name. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  (inputs: Readonly<Record<string, TensorLike | OnnxMap>>): any;
}
showFields(OnnxModel.prototype, ({ name, inputs, outputs, opsets, producer }) => ({
  name,
  inputs,
  outputs,
  opsets,
  producer,
}));

/** A map, or an object, as the ops of a model see it. @throws InvalidArgumentError for what is none, or has other keys and values */
function mapOf(given: unknown, type: Omit<TypedMap, 'values'>, what: string, op: string): TypedMap {
  const refuse = (why: string): never => {
    throw new InvalidArgumentError(`${what} is a map from ${type.key} to ${type.value}${why}`, op);
  };
  if (!(given instanceof Map) && !isPlain(given)) refuse(`: give a Map or an object, got ${shown(given)}`);
  const entries: [unknown, unknown][] = given instanceof Map ? [...given] : Object.entries(given as object);
  const wantsText = type.value === 'string';
  const values = entries.map(([key, value]): [string, number | bigint | string] => {
    const isKey = type.key === 'string' ? typeof key === 'string' : /^-?\d+$/.test(String(key));
    if (!isKey) refuse(`, got the key ${shown(key)}`);
    const isValue = wantsText
      ? typeof value === 'string'
      : typeof value === 'bigint' ||
        (typeof value === 'number' && (type.value !== 'int64' || Number.isInteger(value)));
    if (!isValue) refuse(`, got ${shown(value)} at ${shown(key)}`);
    return [String(key), value as number | bigint | string];
  });
  return { ...type, values: new Map(values) };
}

function mapInfo(name: string, { key_type, value_type }: onnx.MapTypeProto): OnnxValueInfo {
  const value = value_type?.tensor_type?.elem_type;
  const key = dtypeOf(key_type ?? 0);
  if (value === undefined || (key !== 'string' && key !== 'int64'))
    throw new UnimplementedError(
      `'${name}' is a map whose keys are neither texts nor int64, or whose values are no tensors`,
      'tf.onnx.load',
    );
  return { name, dtype: null, map: { key, value: dtypeOf(value) }, shape: null, sizes: [] };
}

function infoOf({ name = '', type }: onnx.ValueInfoProto): OnnxValueInfo {
  const tensor = type?.tensor_type;
  if (type?.map_type !== undefined) return mapInfo(name, type.map_type);
  if (tensor === undefined) return { name, dtype: null, shape: null, sizes: [] };
  if (tensor.elem_type === undefined || tensor.elem_type === 0) throw invalid(`'${name}' has no data type`);
  const dim = tensor.shape?.dim ?? null;
  const sizeOf = (value: number | bigint | undefined): number | null =>
    value === undefined || Number(value) < 0 ? null : Number(value);
  return {
    name,
    dtype: dtypeOf(tensor.elem_type),
    shape: tensor.shape === undefined ? null : (dim ?? []).map((d) => sizeOf(d.dim_value)),
    sizes: (dim ?? []).map((d) => d.dim_param ?? null),
  };
}

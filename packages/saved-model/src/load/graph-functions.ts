// Parts of a graph of TensorFlow 1 as functions of a library, in which variables, tables and assets are arguments: so they are saved again.
import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import type { Asset } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { TensorSpec } from '@eagre/graph';
import { Names } from '@eagre/graph/interchange';
import { dtypeOf, partialShapeOf } from '../import/op-call.ts';
import type { Runtime } from '../import/runtime.ts';
import { TableHandle, VariableHandle } from '../import/values.ts';
import type { ImportedCapture, ImportedLibrary, ImportedTrace } from '../imported.ts';
import { dict, list, NONE, specProto, tuple, typeOf } from '../save/structured-value.ts';
import { objectOf } from './structure.ts';

type NodeDef = tensorflow.NodeDef;
type OpDef = tensorflow.OpDef;
type AttrValue = tensorflow.AttrValue;

const RESOURCE = 20;
const STRING = 7;

const VARIABLES: ReadonlySet<string> = new Set(['VarHandleOp', 'Variable', 'VariableV2']);
const isReference = (op: string): boolean => op === 'Variable' || op === 'VariableV2';
const isTable = (op: string): boolean => /^(Mutable|MutableDense)?HashTable(OfTensors)?(V2)?$/.test(op);

/** What attributes of an op of references are called by that of resources; those that are not listed go. */
const DTYPE: Readonly<Record<string, string>> = { T: 'dtype', Tindices: 'Tindices' };
/** Ops of references to variables, and those of resources that do the same. */
const OF_VARIABLES: Readonly<Record<string, string>> = {
  Assign: 'AssignVariableOp',
  AssignAdd: 'AssignAddVariableOp',
  AssignSub: 'AssignSubVariableOp',
  ScatterUpdate: 'ResourceScatterUpdate',
  ScatterAdd: 'ResourceScatterAdd',
  ScatterSub: 'ResourceScatterSub',
  ScatterMax: 'ResourceScatterMax',
  ScatterMin: 'ResourceScatterMin',
};
/** The same of tables, whose attributes are alike. */
const OF_TABLES: ReadonlySet<string> = new Set([
  'LookupTableFind',
  'LookupTableSize',
  'LookupTableInsert',
  'LookupTableImport',
  'LookupTableExport',
]);

/** A tensor of the graph under the name that callers give it. */
export interface NamedTensor {
  readonly key: string;
  /** As in `x:0`. */
  readonly tensor: string;
  readonly spec: TensorSpec;
}

/** A part of a graph: what it computes, from what. */
export interface GraphPart {
  readonly name: string;
  readonly inputs: readonly NamedTensor[];
  readonly outputs: readonly NamedTensor[];
  /** Whether it is called by position and gives a list; otherwise all has names. */
  readonly isFlat?: boolean;
}

/** Where a graph is from. */
export interface GraphSource {
  readonly nodes: readonly NodeDef[];
  /** The ops as the file describes them. */
  readonly ops: readonly OpDef[];
  readonly runtime: Runtime;
  /** The files whose paths nodes give, by the names of these. */
  readonly assets: ReadonlyMap<string, Asset>;
}

/** The functions of a graph's library, with parts of the graph beside them. */
export class GraphFunctions implements ImportedLibrary {
  readonly #source: GraphSource;
  readonly #nodes: ReadonlyMap<string, NodeDef>;
  readonly #ops: ReadonlyMap<string, OpDef>;
  readonly #parts = new Map<string, tensorflow.FunctionDef>();

  constructor(source: GraphSource) {
    this.#source = source;
    this.#nodes = new Map(source.nodes.map((def) => [def.name ?? '', def]));
    this.#ops = new Map(source.ops.map((op) => [op.name ?? '', op]));
  }

  definition(name: string): tensorflow.FunctionDef | undefined {
    return this.#parts.get(name) ?? this.#source.runtime.definition(name);
  }
  gradientOf(type: string): string | undefined {
    return this.#source.runtime.gradientOf(type);
  }

  /** A part of the graph as a trace. @throws UnimplementedError for nodes that no function can have, or that the file does not describe. */
  trace(part: GraphPart): ImportedTrace {
    const { runtime, assets } = this.#source;
    let name = `__inference_${part.name.replace(/\W/g, '_')}_0`;
    for (let i = 1; this.definition(name) !== undefined; i++) name = name.replace(/\d+$/, String(i));
    const lookUp: Lookup = {
      node: (wanted) => this.#nodes.get(wanted),
      outputs: (def) => this.#outputsOf(def),
      references: (def) =>
        (this.#ops.get(def.op ?? '')?.input_arg ?? []).some(({ is_ref }) => is_ref === true),
      isAsset: (wanted) => assets.has(wanted),
    };
    const { def, captured } = new PartWriter(name, part, lookUp).write();
    this.#parts.set(name, def);
    return {
      name,
      library: this,
      ...(part.isFlat === true ? flatSignature(part) : namedSignature(part)),
      namedInputs: part.inputs.map(({ key, spec }) => ({ name: key, spec })),
      importedCaptures: () => captured.map((node) => assets.get(node) ?? resourceOf(runtime, node)),
      described: () => undefined,
    };
  }

  /** What the graph tells of a tensor. */
  specOf(tensor: string): TensorSpec {
    const { node, index } = outputOf(tensor);
    const def = this.#nodes.get(node);
    if (def === undefined)
      throw new InvalidArgumentError(`the graph has no node '${node}'`, 'savedModel.save');
    if (VARIABLES.has(def.op ?? ''))
      return new TensorSpec(
        partialShapeOf(def.attr?.get('shape')?.shape),
        dtypeOf(def.attr?.get('dtype')?.type ?? 0, node),
      );
    let at = index;
    for (const arg of this.#outputsOf(def)) {
      const count = countOf(arg, def);
      if (at < count) {
        const attr = (key: string | undefined): AttrValue | undefined => def.attr?.get(key ?? '');
        const type = arg.type || attr(arg.type_attr)?.type || attr(arg.type_list_attr)?.list?.type?.[at];
        const shape = attr('_output_shapes')?.list?.shape?.[index];
        return new TensorSpec(shape === undefined ? null : partialShapeOf(shape), dtypeOf(type ?? 0, node));
      }
      at -= count;
    }
    throw new InvalidArgumentError(`the node '${node}' has no output ${index}`, 'savedModel.save');
  }

  /** The arguments of output of a node. */
  #outputsOf({ op = '', name }: NodeDef): readonly tensorflow.ArgDef[] {
    const described = this.#ops.get(op) ?? this.#source.runtime.definition(op)?.signature;
    if (described === undefined)
      throw new UnimplementedError(
        `the file does not describe the op '${op}' (node '${name}'), so its graph cannot become a function`,
        'savedModel.save',
      );
    return described.output_arg ?? [];
  }
}

type TraceSignature = Pick<ImportedTrace, 'saved' | 'structuredOutputs'>;

function namedSignature({ inputs, outputs }: GraphPart): TraceSignature {
  const specs = (tensors: readonly NamedTensor[]): tensorflow.StructuredValue =>
    dict(tensors.map(({ key, spec }) => [key, specProto(spec, key)]));
  return {
    saved: {
      canonicalized_input_signature: tuple([tuple([]), specs(inputs)]),
      output_signature: specs(outputs),
    },
    structuredOutputs: objectOf(outputs.map(({ key, spec }) => [key, spec])),
  };
}

/** As TensorFlow has it: without a structure of arguments. */
function flatSignature({ outputs }: GraphPart): TraceSignature {
  return {
    saved: {
      canonicalized_input_signature: NONE,
      output_signature: list(outputs.map(({ key, spec }) => specProto(spec, key))),
    },
    structuredOutputs: outputs.map(({ spec }) => spec),
  };
}

/** The variable or table of a node. */
function resourceOf(runtime: Runtime, name: string): ImportedCapture {
  const { graph } = runtime;
  const [value] = runtime.run(graph, new Map(), [{ node: graph.id(name), output: 0 }]);
  if (value instanceof VariableHandle) return value.variable;
  if (value instanceof TableHandle) return value.resource;
  throw new UnimplementedError(`the node '${name}' is no variable or table`, 'savedModel.save');
}

/** What is known of the nodes around a part. */
interface Lookup {
  node(name: string): NodeDef | undefined;
  outputs(def: NodeDef): readonly tensorflow.ArgDef[];
  /** Whether a node takes references. */
  references(def: NodeDef): boolean;
  /** Whether a node gives the path of a file. */
  isAsset(name: string): boolean;
}

/** An output of a node. */
interface Output {
  readonly node: string;
  readonly index: number;
}

function outputOf(name: string): Output {
  const [, node = '', index = '0'] = /^(.*?)(?::(\d+))?$/s.exec(name) ?? [];
  return { node, index: Number(index) };
}

/** Writes one part. */
class PartWriter {
  readonly #name: string;
  readonly #part: GraphPart;
  readonly #lookUp: Lookup;
  readonly #names = new Names();
  /** The arguments for tensors that are given. */
  readonly #given = new Map<string, string>();
  /** The arguments for nodes that are captured. */
  readonly #captured = new Map<string, { readonly arg: string; readonly type: number }>();
  readonly #written: NodeDef[] = [];
  readonly #seen = new Set<string>();
  readonly #waiting: string[] = [];

  constructor(name: string, part: GraphPart, lookUp: Lookup) {
    this.#name = name;
    this.#part = part;
    this.#lookUp = lookUp;
  }

  write(): { readonly def: tensorflow.FunctionDef; readonly captured: readonly string[] } {
    const { inputs, outputs } = this.#part;
    this.#takeNames(outputs);
    const args = inputs.map(({ key, tensor, spec }): tensorflow.ArgDef => {
      const arg = this.#names.take(key.replace(/\W/g, '_'));
      const { node, index } = outputOf(tensor);
      this.#given.set(`${node}:${index}`, arg);
      return { name: arg, type: typeOf(spec.dtype) };
    });
    const results = outputs.map(({ key, tensor, spec }, i) => {
      // Through a node of its own: an output that is an argument, or one of a variable, is a value then.
      const node = this.#names.take(`result_${i}`);
      const type = typeOf(spec.dtype);
      const input = [this.#result(tensor)];
      this.#written.push({ name: node, op: 'Identity', input, attr: new Map([['T', { type }]]) });
      return { arg: { name: key.replace(/\W/g, '_'), type }, ref: `${node}:output:0` };
    });
    for (let name = this.#waiting.pop(); name !== undefined; name = this.#waiting.pop())
      this.#copy(this.#node(name));
    const own = new Names();
    const named = results.map(({ arg, ref }) => ({ arg: { ...arg, name: own.take(arg.name) }, ref }));
    const captures = [...this.#captured.values()].map(({ arg, type }) => ({ name: arg, type }));
    return {
      def: {
        signature: {
          name: this.#name,
          input_arg: [...args, ...captures],
          output_arg: named.map(({ arg }) => arg),
          is_stateful: true,
        },
        node_def: this.#written,
        ret: new Map(named.map(({ arg, ref }) => [arg.name, ref])),
      },
      captured: [...this.#captured.keys()],
    };
  }

  /** Nodes keep their names, which nothing else gets. */
  #takeNames(outputs: readonly NamedTensor[]): void {
    const seen = new Set<string>();
    const waiting = outputs.map(({ tensor }) => outputOf(tensor).node);
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (seen.has(name)) continue;
      seen.add(name);
      this.#names.take(name);
      for (const input of this.#node(name).input ?? []) waiting.push(outputOf(input.replace(/^\^/, '')).node);
    }
  }

  #node(name: string): NodeDef {
    const def = this.#lookUp.node(name);
    if (def === undefined)
      throw new InvalidArgumentError(`the graph has no node '${name}'`, 'savedModel.save');
    return def;
  }

  /** The argument for a node that is captured; undefined for others. */
  #capture(def: NodeDef): string | undefined {
    const { name = '', op = '' } = def;
    const isAsset = this.#lookUp.isAsset(name);
    if (!isAsset && !VARIABLES.has(op) && !isTable(op)) return undefined;
    let found = this.#captured.get(name);
    if (found === undefined) {
      found = {
        arg: this.#names.take(`${name.replace(/\W/g, '_')}_captured`),
        type: isAsset ? STRING : RESOURCE,
      };
      this.#captured.set(name, found);
    }
    return found.arg;
  }

  /** How the value of a tensor is named. @param control what has to have run before it is read, where it is a variable */
  #value(tensor: string, control: readonly string[]): string {
    const { node, index } = outputOf(tensor);
    const given = this.#given.get(`${node}:${index}`);
    if (given !== undefined) return given;
    const def = this.#node(node);
    const captured = this.#capture(def);
    if (captured !== undefined)
      return isReference(def.op ?? '') ? this.#read(def, captured, control) : captured;
    this.#want(node);
    // What changes a variable gives the value that it then has: see #copy.
    if (this.#update(def) !== undefined) return `${node}:value:0`;
    let first = 0;
    for (const arg of this.#lookUp.outputs(def)) {
      const count = countOf(arg, def);
      if (index < first + count) return `${node}:${arg.name}:${index - first}`;
      first += count;
    }
    throw new InvalidArgumentError(`the node '${node}' has no output ${index}`, 'savedModel.save');
  }

  /** The same of what the part gives: of a variable its value. */
  #result(tensor: string): string {
    const def = this.#node(outputOf(tensor).node);
    const captured = VARIABLES.has(def.op ?? '') ? this.#capture(def) : undefined;
    return captured === undefined ? this.#value(tensor, []) : this.#read(def, captured, []);
  }

  #want(node: string): void {
    if (this.#seen.has(node)) return;
    this.#seen.add(node);
    this.#waiting.push(node);
  }

  /** A node that reads a variable. */
  #read({ name, attr }: NodeDef, resource: string, control: readonly string[]): string {
    const read = this.#names.take(`${name}/value`);
    this.#written.push(reading(read, resource, attr?.get('dtype'), control));
    return `${read}:value:0`;
  }

  /** The op of resources that does what a node does to a variable that it has by reference. */
  #update({ op = '' }: NodeDef): string | undefined {
    return OF_VARIABLES[op];
  }

  #copy(def: NodeDef): void {
    const { name = '', op = '', attr = new Map<string, AttrValue>() } = def;
    const control = (def.input ?? []).flatMap((input) =>
      input.startsWith('^') ? this.#control(input.slice(1)) : [],
    );
    const data = (def.input ?? []).filter((input) => !input.startsWith('^'));
    const attrs = new Map([...attr].filter(([key]) => key !== '_class'));
    const update = this.#update(def);
    if (update !== undefined) {
      const [target = '', ...values] = data;
      const resource = this.#resource(def, target);
      const own = this.#names.take(`${name}/update`);
      const kept = [...attrs].flatMap(([key, value]) =>
        DTYPE[key] === undefined ? [] : [[DTYPE[key], value] as const],
      );
      const input = [resource, ...values.map((value) => this.#value(value, control)), ...control];
      this.#written.push({ ...def, name: own, op: update, input, attr: new Map(kept) });
      this.#written.push(reading(name, resource, attr.get('T'), [`^${own}`]));
      return;
    }
    if (op === 'IsVariableInitialized') {
      const input = [this.#resource(def, data[0] ?? ''), ...control];
      this.#written.push({ name, op: 'VarIsInitializedOp', input });
      return;
    }
    const ofTable = OF_TABLES.has(op);
    if (!ofTable && this.#lookUp.references(def))
      throw new UnimplementedError(
        `the node '${name}' (${op}) takes a variable of TensorFlow 1 by reference, which no function can have`,
        'savedModel.save',
      );
    if (op === 'Placeholder')
      throw new InvalidArgumentError(
        `'${this.#name}' needs the placeholder '${name}', which is no input`,
        'savedModel.save',
      );
    const input = [...data.map((tensor) => this.#value(tensor, control)), ...control];
    this.#written.push({ ...def, op: ofTable ? `${op}V2` : op, input, attr: attrs });
  }

  /** The variable that a node has by reference. @throws UnimplementedError for one that it has from another node. */
  #resource({ name, op }: NodeDef, tensor: string): string {
    const { node } = outputOf(tensor);
    const target = this.#node(node);
    const captured = this.#capture(target);
    if (captured !== undefined) return captured;
    throw new UnimplementedError(
      `the node '${name}' (${op}) changes a variable that it has from '${node}' (${target.op}), which no function can have`,
      'savedModel.save',
    );
  }

  #control(node: string): string[] {
    if (this.#given.has(`${node}:0`) || this.#capture(this.#node(node)) !== undefined) return [];
    this.#want(node);
    return [`^${node}`];
  }
}

function reading(
  name: string,
  resource: string,
  dtype: AttrValue | undefined,
  control: readonly string[],
): NodeDef {
  return {
    name,
    op: 'ReadVariableOp',
    input: [resource, ...control],
    attr: new Map(dtype === undefined ? [] : [['dtype', dtype]]),
  };
}

/** How many outputs an argument of output has. */
function countOf(
  { number_attr: number, type_list_attr: types }: tensorflow.ArgDef,
  { attr }: NodeDef,
): number {
  if (number !== undefined && number !== '') return Number(attr?.get(number)?.i ?? 1);
  if (types !== undefined && types !== '') return attr?.get(types)?.list?.type?.length ?? 0;
  return 1;
}

// The objects of a SavedModel of TensorFlow 2, from the graph of them in the file.
import { constant, InvalidArgumentError, type Tensor, UnimplementedError, Variable } from '@eagre/core';
import { Asset } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { constantOf } from '../import/constants.ts';
import type { Runtime } from '../import/runtime.ts';
import { type Resource, TableHandle, type Value, VariableHandle } from '../import/values.ts';
import { assetOf, declareAsset, type ImportedCapture, type ImportedTrace, InnerTensor } from '../imported.ts';
import { OP } from './files.ts';
import {
  type LoadedFunction,
  loadedConcreteFunction,
  loadedFunction,
  SavedTrace,
  type SignatureFunction,
  signatureFunction,
} from './functions.ts';
import { LoadedObject } from './loaded-object.ts';
import { LoadedTable } from './loaded-table.ts';
import { objectOf, structureOf } from './structure.ts';
import { keyIn, restoredVariables, type SavedValues, type SavedVariableNode } from './variables.ts';

/** What objects are made of. */
export interface Parts {
  readonly graph: tensorflow.SavedObjectGraph;
  readonly runtime: Runtime;
  readonly values: SavedValues | null;
  /** The paths of the assets, in the file's order. */
  readonly assets: readonly string[];
  readonly partial: boolean;
  /** Whether ops that are not there may be found out about later. */
  readonly lazy: boolean;
  /** Other names of functions, by their names in the graph; null where nobody asks for them. */
  readonly aliases: ReadonlyMap<string, string> | null;
}

/** Functions that tables have for TensorFlow's sake. */
const CREATE = '_create_resource';
const INITIALIZE = '_initialize';
/** What objects with the signatures of a model are called. */
const SIGNATURE_MAP = 'signature_map';
const OF_RESOURCES: ReadonlySet<string> = new Set([CREATE, INITIALIZE, '_destroy_resource']);

/** Makes the objects of a model. @returns the root. */
export async function loadObjects(parts: Parts): Promise<LoadedObject> {
  return new ObjectLoader(parts).load();
}

class ObjectLoader {
  readonly #parts: Parts;
  readonly #nodes: readonly tensorflow.SavedObject[];
  readonly #objects: unknown[];
  readonly #resources: Map<number, Resource> = new Map();
  readonly #traces = new Map<string, SavedTrace>();
  readonly #checked = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#nodes = parts.graph.nodes ?? [];
    this.#objects = new Array(this.#nodes.length);
  }

  async load(): Promise<LoadedObject> {
    await this.#makeAll();
    this.#findGradients();
    this.#attachAll();
    this.#makeTables();
    await this.#restoreTables();
    for (const [id, resource] of this.#resources)
      if (resource instanceof TableHandle) (this.#objects[id] as LoadedTable).fill(resource);
    const root = this.#objects[0];
    if (!(root instanceof LoadedObject))
      throw new InvalidArgumentError('the first object of the model is no module', OP);
    LoadedObject.attach(root, 'signatures', this.#signatures());
    if (this.#parts.aliases !== null)
      LoadedObject.attach(root, 'functionAliases', this.#aliased(this.#parts.aliases));
    return root;
  }

  /** The node with a number. */
  #node(id: number): tensorflow.SavedObject {
    const node = this.#nodes[id];
    if (node === undefined)
      throw new InvalidArgumentError(
        `the model has ${this.#nodes.length} objects, but names number ${id}`,
        OP,
      );
    return node;
  }

  async #makeAll(): Promise<void> {
    const { values, partial } = this.#parts;
    const stored = values?.nodesOf(this.#nodes) ?? new Map<number, tensorflow.TrackableObject>();
    // Variables first, as functions hold them.
    const ids: number[] = [];
    const saved: SavedVariableNode[] = [];
    for (const [id, { variable }] of this.#nodes.entries()) {
      if (variable === undefined) continue;
      ids.push(id);
      saved.push({ saved: variable, key: keyIn(stored.get(id), 'VARIABLE_VALUE') });
    }
    (await restoredVariables(saved, values, partial)).forEach((variable, i) => {
      this.#objects[ids[i] as number] = variable;
    });
    for (const [id, node] of this.#nodes.entries())
      if (node.variable === undefined) this.#objects[id] = this.#make(node);
  }

  #make(node: tensorflow.SavedObject): unknown {
    const { runtime, assets } = this.#parts;
    if (node.user_object !== undefined) return emptyOf(node.user_object.identifier ?? '');
    if (node.asset !== undefined) {
      const path = assets[node.asset.asset_file_def_index ?? 0];
      if (path === undefined) throw new InvalidArgumentError('an asset of the model has no file', OP);
      const tensor = constant(path);
      declareAsset(tensor, new Asset(path));
      return tensor;
    }
    if (node.constant !== undefined) {
      const { graph } = runtime;
      const def = graph.defs[graph.id(node.constant.operation ?? '')] as tensorflow.NodeDef;
      if (def.op !== 'Const') throw new InvalidArgumentError(`the node '${def.name}' is no constant`, OP);
      return constantOf(def);
    }
    if (node.function !== undefined || node.bare_concrete_function !== undefined) return undefined;
    // Tensors of a graph around a function are held by functions inside of it, which nobody calls from outside.
    if (node.captured_tensor !== undefined) return undefined;
    return node.resource === undefined ? new LoadedObject() : new LoadedTable();
  }

  /** The gradients that the file has for nodes. */
  #findGradients(): void {
    const { runtime, graph } = this.#parts;
    for (const type of runtime.gradientTypes) {
      const name = runtime.gradientOf(type) ?? '';
      const saved = graph.concrete_functions?.get(name);
      if (saved === undefined || !runtime.hasFunction(name)) continue;
      const results = structureOf(saved.output_signature, name);
      let next = 0;
      const places = (results.kind === 'list' ? results.items : [results]).map((result) =>
        result.kind === 'tensor' ? next++ : null,
      );
      const captures = (): readonly (Value | InnerTensor)[] =>
        (saved.bound_inputs ?? []).map((id) => this.#inner(id) ?? this.#capture(id));
      runtime.surroundings.gradients.set(type, { name, captures, places });
    }
  }

  #attachAll(): void {
    for (const [id, name] of this.#functionNames()) this.#objects[id] = this.#functionAt(id, name);
    for (const [id, node] of this.#nodes.entries()) {
      const object = this.#objects[id];
      for (const { local_name: name = '', node_id: child = 0 } of node.children ?? []) {
        this.#node(child);
        if (id === 0 && name === 'signatures') continue;
        attach(object, name, this.#objects[child]);
      }
      for (const slot of node.slot_variables ?? []) this.#attachSlot(object, slot);
    }
  }

  /** The functions that objects have as attributes, with their names: not those of tables alone, nor what functions and signatures consist of. */
  #functionNames(): ReadonlyMap<number, string> {
    const names = new Map<number, string>();
    for (const { children, resource, function: saved, user_object: own } of this.#nodes) {
      if (saved !== undefined || own?.identifier === SIGNATURE_MAP) continue;
      for (const { local_name: name = '', node_id: id = 0 } of children ?? []) {
        const node = this.#node(id);
        const isFunction = node.function !== undefined || node.bare_concrete_function !== undefined;
        if (!isFunction || names.has(id) || (resource !== undefined && OF_RESOURCES.has(name))) continue;
        names.set(id, name);
      }
    }
    return names;
  }

  /** The function of a node; undefined where a lazy load cannot describe its only trace. */
  #functionAt(id: number, name: string): LoadedFunction | undefined {
    const { function: saved, bare_concrete_function: bare } = this.#node(id);
    if (bare === undefined) {
      const traces = (saved?.concrete_functions ?? []).flatMap((fn) => this.#traceIfKnown(fn));
      return loadedFunction(name, traces, saved?.function_spec);
    }
    const [trace] = this.#traceIfKnown(bare.concrete_function_name ?? '');
    return trace === undefined ? undefined : loadedConcreteFunction(name, trace, bare);
  }

  #attachSlot(object: unknown, saved: tensorflow.SlotVariableReference): void {
    const [variable, slot] = [saved.original_variable_node_id ?? 0, saved.slot_variable_node_id ?? 0].map(
      (id) => {
        this.#node(id);
        return this.#objects[id];
      },
    );
    if (object instanceof LoadedObject && variable instanceof Variable && slot instanceof Variable)
      LoadedObject.attachSlot(object, { variable, slot, name: saved.slot_name ?? '' });
  }

  /** The trace of a name, with its ops checked. */
  #trace(name: string): SavedTrace {
    let trace = this.#traces.get(name);
    if (trace !== undefined) return trace;
    const saved = this.#parts.graph.concrete_functions?.get(name);
    if (saved === undefined)
      throw new InvalidArgumentError(`the model does not describe the function '${name}'`, OP);
    const bound = saved.bound_inputs ?? [];
    for (const id of bound) this.#checkBound(id, name);
    const captures = () => bound.map((id) => this.#capture(id));
    const imported = () => bound.map((id) => this.#imported(id));
    const described = (other: string) => this.#described(other);
    trace = new SavedTrace(name, this.#parts.runtime, saved, captures, imported, described);
    if (!this.#parts.lazy) this.#parts.runtime.checkFunction(name, this.#checked);
    this.#traces.set(name, trace);
    return trace;
  }

  /** @throws InvalidArgumentError for an object that no function can hold, such as another function. */
  #checkBound(id: number, name: string): void {
    const node = this.#node(id);
    if (node.function ?? node.bare_concrete_function)
      throw new InvalidArgumentError(`the function '${name}' holds object ${id}, which is a function`, OP);
    if (BESIDE_VALUES.has(node.user_object?.identifier ?? '') || id === 0)
      throw new InvalidArgumentError(`the function '${name}' holds object ${id}, which has no value`, OP);
  }

  /** None, where a lazy load meets one that it cannot describe, such as one of ragged tensors. */
  #traceIfKnown(name: string): SavedTrace[] {
    try {
      return [this.#trace(name)];
    } catch (error) {
      if (this.#parts.lazy && error instanceof UnimplementedError) return [];
      throw error;
    }
  }

  /** What a function holds. */
  #capture(id: number): Value {
    const object = this.#objects[id];
    if (object instanceof Variable) return new VariableHandle(object);
    const resource = this.#resources.get(id);
    if (resource !== undefined) return resource;
    if (this.#node(id).constant !== undefined || this.#node(id).asset !== undefined) return object as Tensor;
    throw new UnimplementedError(
      `a function of the model holds object ${id}, which is no variable, table, asset or constant`,
      OP,
    );
  }

  /** What the file says of a function that is written with others. */
  #described(name: string): ReturnType<ImportedTrace['described']> {
    const saved = this.#parts.graph.concrete_functions?.get(name);
    if (saved === undefined) return undefined;
    return { saved, importedCaptures: () => (saved.bound_inputs ?? []).map((id) => this.#imported(id)) };
  }

  /** What a function holds of another one. */
  #inner(id: number): InnerTensor | undefined {
    const { captured_tensor: inner } = this.#node(id);
    return inner && new InnerTensor(inner.name ?? '', inner.concrete_function ?? '');
  }

  /** The same as it is saved again. */
  #imported(id: number): ImportedCapture {
    const inner = this.#inner(id);
    if (inner !== undefined) return inner;
    const value = this.#capture(id);
    if (value instanceof VariableHandle) return value.variable;
    if (value instanceof TableHandle) return value.resource;
    return assetOf(value) ?? (value as Tensor);
  }

  #makeTables(): void {
    const initializers: string[] = [];
    for (const [id, node] of this.#nodes.entries()) {
      if (node.resource === undefined) continue;
      const create = this.#functionOf(node, CREATE);
      if (create === undefined) continue;
      try {
        if (!this.#parts.lazy) this.#parts.runtime.checkFunction(create, this.#checked);
        const [handle] = this.#run(create);
        if (handle instanceof TableHandle) this.#resources.set(id, handle);
      } catch (error) {
        if (!(this.#parts.lazy && error instanceof UnimplementedError)) throw error;
        continue;
      }
      const initialize = this.#functionOf(node, INITIALIZE);
      if (initialize !== undefined) initializers.push(initialize);
    }
    for (const name of initializers) {
      if (!this.#parts.lazy) this.#parts.runtime.checkFunction(name, this.#checked);
      this.#run(name);
    }
  }

  /** The trace of a function of a resource. */
  #functionOf(node: tensorflow.SavedObject, name: string): string | undefined {
    const child = node.children?.find((c) => c.local_name === name);
    if (child === undefined) return undefined;
    const { function: saved, bare_concrete_function: bare } = this.#node(child.node_id ?? 0);
    return saved?.concrete_functions?.[0] ?? bare?.concrete_function_name;
  }

  #run(name: string): Value[] {
    const saved = this.#parts.graph.concrete_functions?.get(name);
    const captures = (saved?.bound_inputs ?? []).map((id) => this.#capture(id));
    return this.#parts.runtime.call(name, captures);
  }

  /** The contents of tables that programs have changed. */
  async #restoreTables(): Promise<void> {
    const { values } = this.#parts;
    const stored = values?.nodesOf(this.#nodes);
    for (const [id, resource] of this.#resources) {
      const key = keyIn(stored?.get(id), 'table') ?? keyIn(stored?.get(id), 'VARIABLE_VALUE');
      if (key === undefined || !(resource instanceof TableHandle) || !values?.has(`${key}-keys`)) continue;
      const [keys, items] = [await values.read(`${key}-keys`), await values.read(`${key}-values`)];
      resource.table.replace(keys, items);
    }
  }

  /** The functions with other names, by these: each with all traces of the name. */
  #aliased(aliases: ReadonlyMap<string, string>): Readonly<Record<string, LoadedFunction>> {
    const traces = new Map<string, SavedTrace[]>();
    for (const [name, alias] of aliases)
      traces.set(alias, [...(traces.get(alias) ?? []), ...this.#traceIfKnown(name)]);
    return objectOf(
      [...traces].map(([alias, own]) => [alias, loadedFunction(alias, own, undefined)]),
    ) as Readonly<Record<string, LoadedFunction>>;
  }

  #signatures(): Readonly<Record<string, SignatureFunction>> {
    const child = this.#node(0).children?.find((c) => c.local_name === 'signatures');
    if (child === undefined) return {};
    const found = (this.#node(child.node_id ?? 0).children ?? []).flatMap(
      ({ local_name: name = '', node_id: id = 0 }) => {
        const { bare_concrete_function: bare, function: saved } = this.#node(id);
        const fn = bare?.concrete_function_name ?? saved?.concrete_functions?.[0];
        if (fn === undefined) return [];
        const [trace] = this.#traceIfKnown(fn);
        return trace === undefined ? [] : [[name, signatureFunction(name, trace)] as const];
      },
    );
    return objectOf(found) as Readonly<Record<string, SignatureFunction>>;
  }
}

const LISTS: ReadonlySet<string> = new Set(['trackable_list_wrapper', 'trackable_tuple_wrapper']);
const DICT = 'trackable_dict_wrapper';
/** Objects that hold others, and have no value of their own. */
const BESIDE_VALUES: ReadonlySet<string> = new Set([...LISTS, DICT, SIGNATURE_MAP]);

/** What a user's object of a kind is here: lists and dicts of Python are arrays and objects. */
function emptyOf(identifier: string): object {
  if (LISTS.has(identifier)) return [];
  if (identifier === DICT) return {};
  return new LoadedObject();
}

function attach(object: unknown, name: string, child: unknown): void {
  if (child === undefined) return;
  if (object instanceof LoadedObject) LoadedObject.attach(object, name, child);
  else if (Array.isArray(object)) {
    const index = Number(name);
    // An index far behind the end would be a list of nothing.
    if (Number.isInteger(index) && index >= 0 && index <= object.length + 1024) object[index] = child;
  } else if (isEmptyObject(object))
    Object.defineProperty(object, name, {
      value: child,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

const isEmptyObject = (object: unknown): object is object =>
  typeof object === 'object' && object !== null && Object.getPrototypeOf(object) === Object.prototype;

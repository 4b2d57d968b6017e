// Everything that a SavedModel holds, made of objects and their functions; nothing is written yet.
import { describe, type Entry, type Look, type Seen, walk } from '@eagre/checkpoint/internal';
import { FailedPreconditionError, InvalidArgumentError, Tensor, Variable } from '@eagre/core';
import { Asset, shown, TableResource, tableOf } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { ConcreteFunction, isTracedFunction, savedFunction } from '@eagre/graph';
import { type Capture, Names, streamState } from '@eagre/graph/interchange';
import { SERVING } from '../constants.ts';
import { type ImportedCapture, type ImportedTrace, InnerTensor, importedOf } from '../imported.ts';
import { SaveOptions } from '../options.ts';
import { assetNames } from './asset-names.ts';
import {
  FunctionWriter,
  keywordSpec,
  positionalSpec,
  type WrittenFunction,
  type WrittenTrace,
} from './functions.ts';
import {
  MainGraph,
  restoreFunction,
  type SavedHandle,
  type SavedTable,
  saveFunction,
  type Value,
  wrapperFunction,
} from './main-graph.ts';
import { look, TableInitializer } from './objects.ts';
import { outputNames, type SignatureTrace } from './signatures.ts';
import { dict, list, shapeProto, specProto, tuple, typeOf } from './structured-value.ts';
import { creator, destroyer, initializer, restoreTable, saveTable, tableOp } from './tables.ts';

const { OBJECT_GRAPH_KEY, TrackableObjectGraph } = tensorflow;
const OP = 'savedModel.save';
// What TensorFlow 2.21 writes; nothing that is used is newer than its oldest reader.
const VERSIONS: tensorflow.VersionDef = { producer: 2474, min_consumer: 12 };
const TENSORFLOW = '2.21.0';
const RESOURCE = 20;
const STRING = 7;
const INT32 = 3;
/** Where the root keeps the state of random streams. */
const RANDOM_STATES = '_random_states';
/** Where it keeps tables that are no attributes: those of layers. */
const TABLES = '_tables';

/** A SavedModel in memory, but for its weights and files. */
export interface SavedModelContents {
  readonly proto: tensorflow.SavedModel;
  /** What the checkpoint holds. */
  readonly objectGraph: tensorflow.TrackableObjectGraph;
  readonly entries: readonly Entry[];
  /** The files to copy, by the names that they get. */
  readonly assets: ReadonlyMap<string, string>;
}

const WRITTEN_ANEW: ReadonlySet<string> = new Set(['signatures', RANDOM_STATES, TABLES]);

type SavedObject = { -readonly [K in keyof tensorflow.SavedObject]: tensorflow.SavedObject[K] };
type Child = tensorflow.ObjectReference;
type AnyCapture = Capture | ImportedCapture;

/**
 * @param signatures traces by name.
 * @throws UnimplementedError for what TensorFlow's graphs cannot hold, FailedPreconditionError for a variable that is used and not
 * part of what is saved.
 */
export function savedModelOf(
  root: object,
  signatures: ReadonlyMap<string, SignatureTrace>,
  options: SaveOptions = new SaveOptions(),
): SavedModelContents {
  return new Builder(root, signatures, options).build();
}

class Builder {
  readonly #root: object;
  readonly #signatures: ReadonlyMap<string, SignatureTrace>;
  readonly #options: SaveOptions;
  readonly #functions: FunctionWriter;
  readonly #graph = new MainGraph();
  readonly #nodes: SavedObject[] = [];
  readonly #ids = new Map<object, number>();
  readonly #traceIds = new Map<WrittenTrace, number>();
  readonly #concrete = new Map<string, tensorflow.SavedConcreteFunction>();
  /** The variables that stand for streams of random numbers. */
  readonly #states = new Map<AnyCapture, Variable>();
  /** Tables and files that functions use and no object has. */
  readonly #loose = new Set<TableResource | Asset>();
  /** What names the files of tables. */
  readonly #files = new Map<TableResource, TableInitializer>();
  /** What fills the tables, as nodes of the graph. */
  readonly #initializers: string[] = [];
  /** The nodes of variables, tables and constants in the graph. */
  readonly #handles = new Map<AnyCapture, Value>();

  constructor(root: object, signatures: ReadonlyMap<string, SignatureTrace>, options: SaveOptions) {
    this.#root = root;
    this.#options = options;
    this.#functions = new FunctionWriter(options.experimentalCustomGradients);
    this.#signatures = signatures;
  }

  build(): SavedModelContents {
    const written = this.#write();
    const see = this.#look();
    const seen = walk(this.#root, see);
    for (const [id, { object }] of seen.entries()) this.#ids.set(object, id);
    const { proto, entries } = describe(this.#root, see);
    const objectGraph = withTables(proto);
    for (const { object } of seen) this.#nodes.push(this.#node(object));
    const assets = this.#assets(seen);
    const handles = this.#variables(seen, entries);
    const tables = this.#tables(seen, objectGraph, assets.initializers);
    for (const { object, view } of seen) {
      const node = this.#nodes[this.#ids.get(object) as number] as SavedObject;
      const children = view.children.map(([name, child]) =>
        this.#child(name, this.#ids.get(child) as number),
      );
      const own = written.functions.get(object) ?? [];
      const bare = importedOf(object)?.bare;
      if (object instanceof ConcreteFunction || bare !== undefined) {
        this.#traceAt(own[0] as WrittenTrace, this.#ids.get(object) as number, bare);
        continue;
      }
      for (const trace of own) if (trace.spec === null) this.#describe(trace);
      // Those of loaded models have no calls of their own.
      const traces = own
        .filter(({ spec }) => spec !== null)
        .map((trace, i) => this.#child(`trace_${i}`, this.#trace(trace)));
      if (children.length + traces.length > 0)
        node.children = [...(node.children ?? []), ...children, ...traces];
    }
    for (const gradient of this.#functions.gradientTraces) this.#describe(gradient);
    const signature_def = this.#addSignatures(written.signatures);
    const saver_def = this.#saver(handles, tables, objectGraph);
    return {
      proto: this.#proto(signature_def, saver_def, assets, written.functions),
      objectGraph,
      entries,
      assets: assets.files,
    };
  }

  /** Writes all traces into the library, before anything else is known. */
  #write(): {
    readonly functions: ReadonlyMap<object, readonly WrittenTrace[]>;
    readonly signatures: ReadonlyMap<string, WrittenTrace>;
  } {
    const functions = new Map<object, readonly WrittenTrace[]>();
    const owned = new Set<TableResource | Asset>();
    for (const { object, names } of walk(this.#root, this.#look())) {
      const table = tableOf(object);
      if (table !== null) owned.add(table);
      if (object instanceof Asset) owned.add(object);
      const imported = importedOf(object);
      if (object instanceof ConcreteFunction) functions.set(object, [this.#functions.trace(object)]);
      else if (imported?.bare !== undefined) {
        const [trace] = imported.traces as readonly [ImportedTrace];
        functions.set(object, [this.#functions.imported(trace, names.at(-1) ?? trace.name)]);
      } else if (isTracedFunction(object)) {
        const { traces, spec } = this.#function(object, names.at(-1));
        functions.set(object, traces);
        this.#specs.set(object, spec);
      }
    }
    const signatures = new Map(
      [...this.#signatures].map(([name, trace]) => [
        name,
        trace instanceof ConcreteFunction
          ? this.#functions.trace(trace)
          : this.#functions.imported(trace, name),
      ]),
    );
    const former = this.#formerStates();
    const all = [...functions.values(), ...signatures.values(), ...this.#functions.gradientTraces].flat();
    for (const { captures } of all)
      for (const capture of captures) {
        if (capture instanceof TableResource && !owned.has(capture)) this.#loose.add(capture);
        if (capture instanceof Asset && !owned.has(capture)) this.#loose.add(capture);
        if (capture instanceof Variable && former.has(capture)) this.#states.set(capture, capture);
        if (
          capture instanceof Variable ||
          capture instanceof Tensor ||
          capture instanceof TableResource ||
          capture instanceof Asset ||
          capture instanceof InnerTensor ||
          this.#states.has(capture)
        )
          continue;
        const name = `random_state_${this.#states.size}`;
        this.#states.set(
          capture,
          new Variable(streamState(capture as Exclude<typeof capture, Variable>), { trainable: false, name }),
        );
      }
    return { functions, signatures };
  }

  readonly #specs = new Map<object, tensorflow.FunctionSpec>();

  #function(fn: object, attribute: string | undefined): WrittenFunction {
    const imported = importedOf(fn);
    if (imported !== null)
      return this.#functions.importedFunction(imported, attribute ?? (fn as { readonly name: string }).name);
    const saved = savedFunction(fn) as NonNullable<ReturnType<typeof savedFunction>>;
    return this.#functions.function(saved, attribute ?? saved.name);
  }

  /** The states of random streams that a loaded model has. */
  #formerStates(): ReadonlySet<unknown> {
    const states = look(this.#root).children.find(([name]) => name === RANDOM_STATES)?.[1];
    return new Set(Array.isArray(states) ? states : []);
  }

  /** The objects, with the states of random streams beside what the root has. */
  #look(): Look {
    const states = [...this.#states.values()];
    const tables = [...this.#loose];
    return (object) => {
      const own = look(object);
      const table = tableOf(object);
      const view =
        table === null || table.file === null
          ? own
          : { ...own, children: [...own.children, ['_initializer', this.#fileOf(table)] as const] };
      if (object !== this.#root) return view;
      // Loaded objects have theirs, which are written anew.
      const children = view.children.filter(([name]) => !WRITTEN_ANEW.has(name));
      if (states.length > 0) children.push([RANDOM_STATES, states]);
      if (tables.length > 0) children.push([TABLES, tables]);
      return { ...view, children };
    };
  }

  #fileOf(table: TableResource): TableInitializer {
    let initializer = this.#files.get(table);
    if (initializer === undefined)
      this.#files.set(table, (initializer = new TableInitializer(table.file?.path as string)));
    return initializer;
  }

  #child(local_name: string, node_id: number): Child {
    return { node_id, local_name };
  }

  /** What an object is, without what is inside. */
  #node(object: object): SavedObject {
    if (object instanceof Variable) {
      const { dtype, openShape, trainable, path: name } = object;
      return { variable: { dtype: typeOf(dtype), shape: shapeProto(openShape), trainable, name } };
    }
    const spec = this.#specs.get(object);
    if (spec !== undefined) return { function: { function_spec: spec } };
    if (object instanceof ConcreteFunction || importedOf(object)?.bare !== undefined) return {};
    if (object instanceof Asset) return {};
    if (tableOf(object) !== null) return { resource: {} };
    const isRoot = object === this.#root;
    if (Array.isArray(object) || object instanceof Set) return userObject('trackable_list_wrapper');
    const isDict = object instanceof Map || (!isRoot && Object.getPrototypeOf(object) === Object.prototype);
    return userObject(isDict ? 'trackable_dict_wrapper' : '_generic_user_object');
  }

  /** Nodes for all variables. @returns those that the checkpoint holds. */
  #variables(seen: readonly Seen[], entries: readonly Entry[]): readonly SavedHandle[] {
    const keys = new Map(entries.map(({ key, attribute }) => [attribute, key]));
    return seen.flatMap(({ object, view }): SavedHandle[] => {
      if (!(object instanceof Variable)) return [];
      const { path, dtype, openShape } = object;
      const handle = this.#graph.handle(path, dtype, openShape);
      this.#handles.set(object, { name: handle, type: RESOURCE });
      const [attribute] = view.attributes.values();
      return [{ handle, dtype, key: keys.get(attribute as NonNullable<typeof attribute>) as string }];
    });
  }

  /** Nodes and functions for all tables. @returns those that the checkpoint holds. */
  #tables(
    seen: readonly Seen[],
    { nodes = [] }: tensorflow.TrackableObjectGraph,
    files: ReadonlyMap<Asset, string>,
  ): readonly SavedTable[] {
    return seen.flatMap(({ object }): SavedTable[] => {
      const table = tableOf(object);
      if (table === null) return [];
      const id = this.#ids.get(object) as number;
      this.#ids.set(table, id);
      const handle = this.#graph.table(table);
      this.#handles.set(table, { name: handle, type: RESOURCE });
      this.#addTableFunctions(id, table, handle, files);
      const key = nodes[id]?.attributes?.[0]?.checkpoint_key;
      if (!table.isMutable || key === undefined) return [];
      (this.#nodes[id] as SavedObject).saveable_objects = new Map([['table', this.#saveable(id, table)]]);
      return [{ handle, table, key }];
    });
  }

  /** What makes, fills and removes a table, as functions of its object. */
  #addTableFunctions(
    id: number,
    table: TableResource,
    handle: string,
    files: ReadonlyMap<Asset, string>,
  ): void {
    const { library } = this.#functions;
    const children: Child[] = [];
    const add = (attribute: string, bound: readonly number[], type: number, fn: string): void => {
      const trace = this.#bare(fn, [], bound, [], unnamed(type));
      const at = this.#nodes.push({
        function: { concrete_functions: [fn], function_spec: positionalSpec([]) },
        children: [this.#child('trace_0', trace)],
      });
      children.push(this.#child(attribute, at - 1));
    };
    const [create, initialize, destroy] = ['_creator', '_initializer', '_destroyer'].map((name) =>
      this.#functions.unique(name),
    ) as [string, string, string];
    library.push(creator(create, tableOp(table, handle)));
    library.push(initializer(initialize, table));
    library.push(destroyer(destroy));
    const asset = this.#files.get(table)?.asset;
    const bound = asset === undefined ? [id] : [this.#ids.get(asset) as number, id];
    const inputs: Value[] = [{ name: handle, type: RESOURCE }];
    if (asset !== undefined) inputs.unshift({ name: files.get(asset) as string, type: STRING });
    add('_create_resource', [], RESOURCE, create);
    add('_initialize', table.isMutable ? [] : bound, INT32, initialize);
    add('_destroy_resource', [], INT32, destroy);
    if (!table.isMutable)
      this.#initializers.push(this.#graph.call(initialize, inputs, [{ type: INT32, shape: {} }]));
    (this.#nodes[id] as SavedObject).children = children;
  }

  /** The functions by which a table goes into checkpoints and comes out of them. */
  #saveable(id: number, table: TableResource): tensorflow.SaveableObject {
    const [save, restore] = ['save_fn', 'restore_fn'].map((name) => this.#functions.unique(name)) as [
      string,
      string,
    ];
    this.#functions.library.push(saveTable(save, table));
    this.#functions.library.push(restoreTable(restore, table));
    const types = [table.keyDtype, table.valueDtype].map(typeOf);
    const parts = types.map((type, i) =>
      dict([
        ['name', tensorSpec(`tensor_${i}_name`, STRING, {})],
        ['slice_spec', tensorSpec(`tensor_${i}_slice_spec`, STRING, {})],
        ['tensor', tensorSpec(`tensor_${i}_tensor`, type, ANY_SHAPE)],
      ]),
    );
    const key = tensorSpec('checkpoint_key', STRING, {});
    const restored = types.map((type, i) => tensorSpec(`restored_tensors_${i}`, type, ANY_SHAPE));
    return {
      save_function: this.#bare(save, ['checkpoint_key'], [id], [key], list(parts)),
      restore_function: this.#bare(
        restore,
        ['restored_tensors_0', 'restored_tensors_1'],
        [id],
        restored,
        unnamed(INT32),
      ),
    };
  }

  /** A node for a function of the library that is called by positions. */
  #bare(
    fn: string,
    names: readonly string[],
    bound_inputs: readonly number[],
    args: readonly tensorflow.StructuredValue[],
    output_signature: tensorflow.StructuredValue,
  ): number {
    this.#concrete.set(fn, {
      bound_inputs,
      canonicalized_input_signature: tuple([tuple(args), dict([])]),
      output_signature,
    });
    const bare_concrete_function = {
      concrete_function_name: fn,
      argument_keywords: names,
      allowed_positional_arguments: names.length,
      function_spec: positionalSpec(names),
    };
    return this.#nodes.push({ bare_concrete_function }) - 1;
  }

  /** The node of what a function captures. */
  #capture(capture: AnyCapture, trace: WrittenTrace): number {
    const object = this.#states.get(capture) ?? capture;
    const known = this.#ids.get(object);
    if (known !== undefined) return known;
    if (object instanceof Tensor) {
      const name = this.#graph.constant('Const', object);
      this.#handles.set(object, { name, type: typeOf(object.dtype) });
      const id = this.#nodes.push({ constant: { operation: name } }) - 1;
      this.#ids.set(object, id);
      return id;
    }
    if (object instanceof InnerTensor) {
      const { name, concreteFunction: concrete_function } = object;
      const id = this.#nodes.push({ captured_tensor: { name, concrete_function } }) - 1;
      this.#ids.set(object, id);
      return id;
    }
    const called = object instanceof Variable ? `the variable '${object.path}'` : 'a variable';
    throw new FailedPreconditionError(
      `the function '${trace.called}' uses ${called}, which is not part of what is saved: make it an attribute of the object, or of one inside`,
      OP,
    );
  }

  /** The nodes of the graph that give a trace what it captures. */
  #captured(trace: WrittenTrace): Value[] {
    return trace.captures.map((capture) => {
      this.#capture(capture, trace);
      return this.#handles.get(this.#states.get(capture) ?? capture) as Value;
    });
  }

  /** What a trace takes and gives. */
  #describe(trace: WrittenTrace): void {
    const { input_signature: canonicalized_input_signature, output_signature } = trace;
    this.#concrete.set(trace.name, {
      bound_inputs: trace.captures.map((capture) => this.#capture(capture, trace)),
      canonicalized_input_signature,
      output_signature,
    });
  }

  /** The node of a trace: one for all who name it. */
  #trace(trace: WrittenTrace): number {
    return this.#traceIds.get(trace) ?? this.#traceAt(trace, this.#nodes.length);
  }

  /** Makes a node that of a trace. @param bare how it is called, where a file says so */
  #traceAt(trace: WrittenTrace, id: number, bare?: tensorflow.SavedBareConcreteFunction): number {
    const names = trace.inputs.map(({ name }) => name);
    this.#nodes[id] = {
      bare_concrete_function: {
        argument_keywords: names,
        allowed_positional_arguments: names.length,
        ...(trace.spec === null ? {} : { function_spec: trace.spec }),
        ...bare,
        concrete_function_name: trace.name,
      },
    };
    if (!this.#traceIds.has(trace)) this.#traceIds.set(trace, id);
    this.#describe(trace);
    return id;
  }

  #addSignatures(traces: ReadonlyMap<string, WrittenTrace>): ReadonlyMap<string, tensorflow.SignatureDef> {
    const defs = new Map<string, tensorflow.SignatureDef>();
    const children: Child[] = [];
    const map = this.#nodes.push(userObject('signature_map')) - 1;
    for (const [name, trace] of traces) {
      const { id, def } = this.#signature(name, trace);
      children.push(this.#child(name, id));
      defs.set(name, def);
    }
    if (children.length > 0) (this.#nodes[map] as SavedObject).children = children;
    const root = this.#nodes[0] as SavedObject;
    root.children = [...(root.children ?? []), this.#child('signatures', map)];
    return defs;
  }

  /** A function that calls a trace by names and gives its results by names, its node, and what servers are told. */
  #signature(
    name: string,
    trace: WrittenTrace,
  ): { readonly id: number; readonly def: tensorflow.SignatureDef } {
    const outputs = outputNames(trace.outputs, name).map(({ name: output, spec }) => ({
      name: output,
      spec,
      type: typeOf(spec.dtype),
      shape: shapeProto(spec.shape),
    }));
    const names = new Names();
    for (const input of trace.inputs) names.take(input.name);
    const bound = this.#captured(trace);
    const captured = bound.map(({ type }, i) => ({ name: names.take(`unknown_${i}`), type }));
    const passed = trace.inputs.map((input) => ({ ...input, type: typeOf(input.spec.dtype) }));
    // TensorFlow gives a function its named arguments in the order of their names.
    const inputs = [...passed].sort((a, b) => (a.name < b.name ? -1 : 1));
    const values = (list: typeof inputs): Value[] => [
      ...list.map(({ name: arg, type }) => ({ name: arg, type })),
      ...captured,
    ];
    const wrapper = this.#functions.unique(`signature_wrapper_${trace.called}`);
    this.#functions.library.push(
      wrapperFunction(wrapper, {
        fn: trace.name,
        inputs: values(inputs),
        passed: values(passed),
        outputs,
      }),
    );
    const keywords = inputs.map((input) => input.name);
    const id =
      this.#nodes.push({
        bare_concrete_function: {
          concrete_function_name: wrapper,
          argument_keywords: keywords,
          allowed_positional_arguments: inputs.length === 1 ? 1 : 0,
          function_spec: keywordSpec(keywords),
        },
      }) - 1;
    this.#concrete.set(wrapper, {
      bound_inputs: trace.captures.map((capture) => this.#capture(capture, trace)),
      canonicalized_input_signature: tuple([
        tuple([]),
        dict(inputs.map((input) => [input.name, specProto(input.spec, input.name)])),
      ]),
      output_signature: dict(outputs.map((o) => [o.name, specProto(o.spec, o.name)])),
    });
    const placeholders = inputs.map(({ name: arg, spec, type }) => ({
      name: this.#graph.placeholder(`${name}_${arg}`, type, shapeProto(spec.shape)),
      type,
    }));
    const call = this.#graph.call(wrapper, [...placeholders, ...bound], outputs);
    const def: tensorflow.SignatureDef = {
      ...(inputs.length === 0
        ? {}
        : {
            inputs: new Map(
              inputs.map(({ name: arg, spec, type }, i) => [
                arg,
                { name: `${placeholders[i]?.name}:0`, dtype: type, tensor_shape: shapeProto(spec.shape) },
              ]),
            ),
          }),
      ...(outputs.length === 0
        ? {}
        : {
            outputs: new Map(
              outputs.map((o, i) => [o.name, { name: `${call}:${i}`, dtype: o.type, tensor_shape: o.shape }]),
            ),
          }),
      method_name: 'tensorflow/serving/predict',
    };
    return { id, def };
  }

  /** What loads the variables where there are no objects, as in TensorFlow Serving. */
  #saver(
    handles: readonly SavedHandle[],
    tables: readonly SavedTable[],
    objectGraph: tensorflow.TrackableObjectGraph,
  ): tensorflow.SaverDef {
    const { library } = this.#functions;
    const prefix: Value = { name: this.#graph.placeholder('saver_filename', STRING, {}), type: STRING };
    const inputs = [
      prefix,
      ...[...handles, ...tables].map((h): Value => ({ name: h.handle, type: RESOURCE })),
    ];
    const encoded = TrackableObjectGraph.encode(objectGraph);
    const output = [{ type: STRING, shape: {} }];
    const [save, restore] = ['_traced_save', '_traced_restore'].map((name) =>
      this.#functions.unique(name),
    ) as [string, string];
    library.push(saveFunction(save, handles, tables, [OBJECT_GRAPH_KEY, encoded]));
    library.push(restoreFunction(restore, handles, tables));
    return {
      filename_tensor_name: `${prefix.name}:0`,
      save_tensor_name: `${this.#graph.call(save, inputs, output)}:0`,
      restore_op_name: this.#graph.call(restore, inputs, output),
      version: 2,
    };
  }

  #assets(seen: readonly Seen[]): ReturnType<typeof assetNames> & {
    readonly defs: tensorflow.AssetFileDef[];
    readonly initializers: ReadonlyMap<Asset, string>;
  } {
    const assets = seen.flatMap(({ object }) => (object instanceof Asset ? [object] : []));
    const named = assetNames(assets.map((a) => a.assetPath));
    const initializers = new Map<Asset, string>();
    const defs = assets.map((asset, i): tensorflow.AssetFileDef => {
      const id = this.#ids.get(asset) as number;
      this.#nodes[id] = { asset: { asset_file_def_index: i } };
      const initializer = this.#graph.placeholder('asset_path_initializer', STRING, {});
      initializers.set(asset, initializer);
      this.#handles.set(asset, { name: initializer, type: STRING });
      return {
        tensor_info: { name: `${initializer}:0` },
        filename: named.names.get(asset.assetPath) as string,
      };
    });
    return { ...named, defs, initializers };
  }

  /** The other names of traces, by their names in the graph. */
  #aliases(functions: ReadonlyMap<object, readonly WrittenTrace[]>): ReadonlyMap<string, string> {
    const aliases = new Map<string, string>();
    for (const [alias, fn] of Object.entries(this.#options.functionAliases)) {
      const traces = functions.get(fn);
      if (traces === undefined || traces.length === 0)
        throw new InvalidArgumentError(
          `functionAliases.${alias} is ${shown(fn)}, which is no function of tf.function with a trace that is part of what is saved`,
          OP,
        );
      for (const { name } of traces) aliases.set(name, alias);
    }
    return aliases;
  }

  #proto(
    signatures: ReadonlyMap<string, tensorflow.SignatureDef>,
    saver_def: tensorflow.SaverDef,
    { defs }: { readonly defs: readonly tensorflow.AssetFileDef[] },
    functions: ReadonlyMap<object, readonly WrittenTrace[]>,
  ): tensorflow.SavedModel {
    const function_aliases = this.#aliases(functions);
    const init = this.#graph.noOp(this.#initializers);
    const { gradients } = this.#functions;
    for (const [object, function_spec] of this.#specs)
      (this.#nodes[this.#ids.get(object) as number] as SavedObject).function = {
        concrete_functions: (functions.get(object) ?? []).map(({ name }) => name),
        function_spec,
      };
    const initOp: tensorflow.SignatureDef = {
      outputs: new Map([['__saved_model_init_op', { name: init, tensor_shape: { unknown_rank: true } }]]),
    };
    const meta: tensorflow.MetaGraphDef = {
      meta_info_def: {
        tags: [...new Set([SERVING, ...this.#options.extraTags])],
        tensorflow_version: TENSORFLOW,
        stripped_default_attrs: false,
        ...(function_aliases.size === 0 ? {} : { function_aliases }),
      },
      graph_def: {
        node: this.#graph.nodes,
        library: {
          function: this.#functions.library.functions(),
          ...(gradients.length === 0 ? {} : { registered_gradients: gradients }),
        },
        versions: VERSIONS,
      },
      saver_def,
      collection_def: new Map([['saved_model_main_op', { node_list: { value: [init] } }]]),
      signature_def: new Map([...signatures, ['__saved_model_init_op', initOp]]),
      ...(defs.length === 0 ? {} : { asset_file_def: defs }),
      object_graph_def: { nodes: this.#nodes, concrete_functions: this.#concrete },
    };
    return { saved_model_schema_version: 1, meta_graphs: [meta] };
  }
}

function userObject(identifier: string): SavedObject {
  return { user_object: { identifier, version: { producer: 1, min_consumer: 1 } } };
}

const ANY_SHAPE: tensorflow.TensorShapeProto = { unknown_rank: true };

const tensorSpec = (
  name: string,
  dtype: number,
  shape: tensorflow.TensorShapeProto,
): tensorflow.StructuredValue => ({ tensor_spec_value: { name, shape, dtype } });
/** The one result of a function. */
const unnamed = (dtype: number): tensorflow.StructuredValue => tensorSpec('unknown', dtype, {});

/** A checkpoint's objects with the contents of tables as TensorFlow lists them: keys and values under one name. */
function withTables(graph: tensorflow.TrackableObjectGraph): tensorflow.TrackableObjectGraph {
  const nodes = graph.nodes?.map((node) => {
    const [keys] = node.attributes ?? [];
    if (keys?.name !== 'table-keys') return node;
    const checkpoint_key = keys.checkpoint_key?.slice(0, -'-keys'.length) ?? '';
    return { ...node, attributes: [{ name: 'table', checkpoint_key }] };
  });
  return nodes === undefined ? graph : { ...graph, nodes };
}

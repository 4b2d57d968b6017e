import {
  type DType,
  dtypeTraits,
  FailedPreconditionError,
  halfBits,
  ResourceExhaustedError,
  UnimplementedError,
} from '@eagre/backend';
import { Tensor, Variable } from '@eagre/core';
import {
  bytesIn,
  Computed,
  checkAlive,
  type Dim,
  DimExpr,
  DimSymbol,
  type Dims,
  type DrawSource,
  dimOf,
  dims,
  dimsOf,
  type Factor,
  hasUnknown,
  identicalDims,
  isElementwise,
  isExpression,
  Operated,
  type Operation,
  partialShape,
  shapesAgree,
  TableResource,
  type TypedAttr,
  viewOf,
} from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import type { ForwardRecord, Saved } from '../control/control-op.ts';
import type { CustomGradientAttrs } from '../control/custom-gradient.ts';
import type { WhileGradAttrs } from '../control/while.ts';
import type { Graph, GraphNode, GraphValue } from '../ir/graph.ts';
import { bodiesOf, isGraph, keepsOrder, lateSizesIn } from '../ir/graph-bodies.ts';
import { GRAPH_DEF_VERSION } from '../ir/graph-def-version.ts';
import { isUnknownRank } from '../tracing/unknown-rank.ts';
import type { Composition } from './composed-ops.ts';
import { type OpAttribute, outputName, signatureOf } from './op-signatures.ts';
import {
  type DrawCall,
  drawCall,
  drawFunction,
  type NodeWriter,
  noDraw,
  RandomStates,
  StreamNames,
  sourcesIn,
} from './random-def.ts';
import { type ConstantInput, tensorFlowOp } from './tensorflow-ops.ts';
import { type Parts, partsOf } from './tensorflow-parts.ts';

type AttrValue = tensorflow.AttrValue;
type NodeDef = tensorflow.NodeDef;
type TensorSpecProto = NonNullable<tensorflow.StructuredValue['tensor_spec_value']>;

/** How a graph becomes a `GraphDef`. */
export interface GraphDefOptions {
  /**
   * Constants of more bytes are left without their values: enough to look at the graph, which cannot be run then. Unlimited unless
   * given.
   */
  readonly largestConstant?: number;
}

// What TensorFlow 2.21 writes. Nothing of what is used is newer than its oldest reader.
const versions = (): tensorflow.VersionDef => ({ producer: GRAPH_DEF_VERSION, min_consumer: 12 });
// Protocol buffers hold less than 2 GiB.
const MOST_BYTES = 2 ** 31 - 1;

const numberOf = (dtype: DType): number => dtypeTraits[dtype].tensorflow;

/**
 * The nodes of a graph that run, as TensorFlow writes them: arguments are placeholders, results `Identity` nodes at the end, variables handles
 * that are read and assigned, constants and whatever TensorFlow's ops take as inputs `Const` nodes. Ops that TensorFlow has under other
 * signatures, or not at all, stay under their names with their attributes; what an attribute means in this process alone is left out.
 * A size that may be any is -1 in the shape of a placeholder; what is computed with it, other nodes compute.
 * Random draws are those of Eagre, by functions of the library and a variable for each stream.
 * @throws ResourceExhaustedError for more than 2 GiB; UnimplementedError for a learning rate that only code of the host knows.
 */
export function graphDef(graph: Graph, options: GraphDefOptions = {}): tensorflow.GraphDef {
  const library = new Library(options);
  const node = new Writer(graph, library, null).write();
  const functions = library.functions();
  return {
    node,
    ...(functions.length === 0 ? {} : { library: { function: functions } }),
    versions: versions(),
  };
}

/** The bytes of `graphDef`. */
export function encodeGraphDef(graph: Graph, options?: GraphDefOptions): Uint8Array {
  const bytes = tensorflow.GraphDef.encode(graphDef(graph, options));
  if (bytes.length > MOST_BYTES) {
    throw new ResourceExhaustedError(
      `the graph '${graph.name}' takes ${bytes.length} bytes, but a GraphDef must be smaller than 2 GiB: leave out large constants with largestConstant, or keep them in variables`,
      'asGraphDef',
    );
  }
  return bytes;
}

/** What the gradient of a node takes of the function around it: arguments of its graph, and sizes. */
interface GivenToGradient {
  /** How many values there are. */
  readonly count: number;
  readonly symbols: readonly DimSymbol[];
  readonly unused: ReadonlySet<GraphValue>;
  readonly inner: readonly InnerValue[];
}

/** What functions are written for: a program that gives them what they capture. */
export interface FunctionOptions {
  /** A node in terms of ops that TensorFlow has; null where there is no such form. */
  readonly compose: (node: GraphNode, isUsed: (output: number) => boolean) => Composition | null;
  /** Whether gradients of `tf.customGradient` are written; where not, they are missed by whoever asks for them. */
  readonly customGradients: boolean;
}

/** A tensor inside of a function, under the name that it has in TensorFlow's graphs. */
export interface InnerValue {
  readonly fn: string;
  readonly tensor: string;
}

/** The gradient of a node of `tf.customGradient`: a function of the gradients of the node's results, with what it captures behind them. */
export interface WrittenGradient {
  /** By which the node finds it. */
  readonly type: string;
  readonly fn: string;
  readonly arguments: readonly TensorSpecProto[];
  /** How many of the node's results are values: they have no gradients, and the results behind them, the arguments, have those that follow. */
  readonly count: number;
  readonly results: readonly TensorSpecProto[];
  readonly captures: readonly (Capture | InnerValue)[];
}

/** What a function uses that is no argument: a variable, a stream of random numbers, a large constant, a table. */
export type Capture = Variable | DrawSource | Tensor | TableResource;

/** The functions that nodes call: graphs inside of attributes, and what is added. */
export class Library {
  readonly options: GraphDefOptions;
  /** Null where functions find variables by their names. */
  readonly portable: FunctionOptions | null;
  /** The streams that are drawn from anywhere. */
  readonly streams: StreamNames = new StreamNames();
  /** The gradients of `tf.customGradient`. */
  readonly gradients: WrittenGradient[] = [];
  #gradientTypes = 0;
  readonly #draws = new Map<string, string>();
  readonly #names = new Map<Graph, string>();
  readonly #unique = new Names();
  readonly #functions: tensorflow.FunctionDef[] = [];

  constructor(options: GraphDefOptions, portable: FunctionOptions | null = null) {
    this.options = options;
    this.portable = portable;
  }

  /**
   * Adds the function of a graph.
   * @param name no other function's, and none that a node could have.
   * @param names those of its arguments and results.
   * @returns what it captures, which are its last arguments.
   */
  add(name: string, graph: Graph, names: FunctionNames): readonly Capture[] {
    const captures = new Captures(this.streams);
    this.#functions.push(functionDef(name, graph, graph.outputs, NO_SIZES, this, captures, names));
    return captures.list;
  }

  /** A name by which nodes find another gradient. */
  gradientType(): string {
    return `CustomGradient-${++this.#gradientTypes}`;
  }

  /**
   * Adds the gradient of a node as a function.
   * @param around the function that the node is in.
   * @param results those of the node, which have gradients.
   * @param given what the function takes behind these gradients.
   * @returns the name by which the node finds it.
   */
  addGradient(
    around: string,
    gradient: Graph,
    results: readonly GraphValue[],
    { count, symbols, unused, inner }: GivenToGradient,
  ): string {
    const fn = this.#unique.take(`${around}_gradient`);
    const captures = new Captures(this.streams);
    // The arguments have results of the node, too, whose gradients are nothing to us.
    const ignored = { at: count, values: results.slice(count) };
    const sizes: PassedSizes = { symbols, returned: false, ignored, unused };
    const def = functionDef(fn, gradient, gradient.outputs, sizes, this, captures);
    this.#functions.push(def);
    const spec = (value: GraphValue, name = ''): TensorSpecProto => ({
      name,
      shape: valueShape(value),
      dtype: numberOf(value.dtype),
    });
    const type = this.gradientType();
    this.gradients.push({
      type,
      fn,
      arguments: results.map((value, i) => spec(value, def.signature?.input_arg?.[i]?.name)),
      count,
      results: gradient.outputs.map((value) => spec(value)),
      captures: [...inner, ...captures.list],
    });
    return type;
  }

  /** Adds a function that was written elsewhere. */
  push(fn: tensorflow.FunctionDef): void {
    this.#functions.push(fn);
  }

  /** The name of the function that makes such draws. */
  drawing(call: DrawCall): string {
    let name = this.#draws.get(call.name);
    if (name === undefined) {
      name = this.#unique.take(call.name);
      this.#draws.set(call.name, name);
      this.#functions.push(drawFunction({ ...call, name }));
    }
    return name;
  }

  /** The functions of a loop back through turns that another one has counted: as many turns. */
  backLoop(
    body: Graph,
    more: readonly GraphValue[],
    symbols: readonly DimSymbol[],
    popped: readonly GraphValue[],
  ): { readonly body: string; readonly condition: string; readonly types: readonly number[] } {
    const stacks: Stacks = { count: popped.length, pushed: [], popped };
    const name = this.nameOf(body, more, { symbols, returned: true, isLoop: true, stacks });
    const { input_arg = [] } = this.#functions.find((fn) => fn.signature?.name === name)?.signature ?? {};
    const condition = this.#unique.take(`${name}_condition`);
    const total = input_arg[input_arg.length - popped.length - 1]?.name as string;
    this.#functions.push({
      signature: { name: condition, input_arg, output_arg: [{ name: 'output', type: BOOL }] },
      node_def: [
        {
          name: 'Less',
          op: 'Less',
          input: [input_arg[0]?.name as string, total],
          attr: new Map([['T', { type: numberOf('int32') }]]),
        },
      ],
      ret: new Map([['output', 'Less:z:0']]),
    });
    return { body: name, condition, types: input_arg.map(({ type = 0 }) => type) };
  }

  functions(): readonly tensorflow.FunctionDef[] {
    return this.#functions;
  }

  /**
   * The name of a graph's function, which is added at its first use.
   * @param more values that the function returns behind the graph's own results.
   * @param sizes what else it takes, behind its arguments: sizes that may be any. A loop returns them.
   * @param bodies all bodies of the node, which is given what they draw from.
   */
  nameOf(
    graph: Graph,
    more: readonly GraphValue[] = [],
    sizes: PassedSizes = NO_SIZES,
    bodies: readonly Graph[] = [graph],
  ): string {
    let name = this.#names.get(graph);
    if (name === undefined) {
      name = this.#unique.take(graph.name);
      this.#names.set(graph, name);
      // Of a body: the streams that it draws from, which it is given.
      const captures = this.portable === null ? null : new Captures(this.streams, bodies);
      this.#functions.push(functionDef(name, graph, [...graph.outputs, ...more], sizes, this, captures));
    }
    return name;
  }
}

function functionDef(
  name: string,
  graph: Graph,
  results: readonly GraphValue[],
  { symbols, returned, isLoop, stacks = NO_STACKS, ignored, unused = NONE_UNUSED }: PassedSizes,
  library: Library,
  captures: Captures | null = null,
  wanted: FunctionNames = {},
): tensorflow.FunctionDef {
  const names = new Names();
  // What TensorFlow looks for where it makes the gradient of a loop.
  const leading =
    isLoop === true ? ['loop_counter', 'maximum_iterations'].map((name) => names.take(name)) : [];
  const args = graph.arguments.map((value, i) => names.take(wanted.arguments?.[i] ?? value.node.name));
  const others = ignored?.values.map((value) => [names.take(value.node.name), value] as const) ?? [];
  const sizes = new Map(symbols.map((symbol) => [symbol, names.take(`size_${symbol.text}`)]));
  const outputs = results.map((_, i) =>
    names.take(wanted.results?.[i] ?? (i === 0 ? 'output' : `output_${i}`)),
  );
  const kept: (readonly [string, string])[] = returned
    ? symbols.map((symbol) => [names.take('size'), sizes.get(symbol) as string])
    : [];
  captures?.nameAll(names);
  const total = stacks.popped.length > 0 ? [names.take('total')] : [];
  const lists = Array.from({ length: stacks.count }, (_, i) => names.take(`stack_${i}`));
  const own = graph.arguments
    .slice(0, graph.arguments.length - stacks.popped.length)
    .map((value, i) => [args[i] as string, value] as const)
    .filter(([, value]) => !unused.has(value));
  own.splice(ignored?.at ?? 0, 0, ...others);
  const writer = new Writer(graph, library, args, {
    sizes,
    captures,
    results: [...results, ...stacks.pushed],
    reserved: [...leading, ...others.map(([other]) => other), ...total, ...lists],
    fn: name,
    unused,
  });
  const left = stacks.popped.map((value, i) => writer.pop(lists[i] as string, value));
  const counter = leading.length > 0 && returned ? writer.counted(leading[0] as string) : null;
  const node_def = writer.write();
  left.push(...stacks.pushed.map((value, i) => writer.push(lists[i] as string, value)));
  const arg = (argument: string, { dtype }: Pick<GraphValue, 'dtype'>) => ({
    name: argument,
    type: numberOf(dtype),
  });
  const size = (argument: string) => arg(argument, { dtype: 'int32' });
  const captured = captures?.args() ?? [];
  // What a loop is given it returns.
  const passed = returned
    ? captured.map((a) => ({ ...a, from: a.name, name: names.take(`${a.name}_out`) }))
    : [];
  const shapes = [
    ...leading.map(() => shapeProto([])),
    ...own.map(([, value]) => valueShape(value)),
    ...symbols.map(() => shapeProto([])),
    ...(captures?.list ?? []).map(captureShape),
    ...[...total, ...lists].map(() => shapeProto([])),
  ];
  return {
    signature: {
      name,
      input_arg: [
        ...leading.map(size),
        ...own.map(([argument, value]) => arg(argument, value)),
        ...[...sizes.values()].map(size),
        ...captured,
        ...total.map(size),
        ...lists.map((list) => ({ name: list, type: VARIANT })),
      ],
      output_arg: [
        ...(counter === null ? [] : leading.map((name) => size(`${name}_out`))),
        ...results.map((value, i) => arg(outputs[i], value)),
        ...kept.map(([output]) => size(output)),
        ...passed.map(({ name: output, type }) => ({ name: output, type })),
        ...(returned ? total.map((name) => size(`${name}_out`)) : []),
        ...left.map((_, i) => ({ name: `${lists[i]}_out`, type: VARIANT })),
      ],
      ...(writer.effects.length === 0 ? {} : { is_stateful: true, control_output: writer.effects }),
    },
    node_def,
    ret: new Map([
      ...(counter === null
        ? []
        : leading.map((name, i) => [`${name}_out`, i === 0 ? counter : name] as const)),
      ...results.map((value, i) => [outputs[i], writer.reference(value)] as const),
      ...kept,
      ...passed.map(({ name: output, from }) => [output, from as string] as const),
      ...(returned ? total.map((name) => [`${name}_out`, name] as const) : []),
      ...left.map((list, i) => [`${lists[i]}_out`, list] as const),
    ]),
    ...(captures === null
      ? {}
      : {
          attr: new Map([['_input_shapes', { list: { shape: shapes } }]]),
          arg_attr: shapes.map((shape, key) => ({
            key,
            value: {
              attr: new Map<string, AttrValue>([
                ['_output_shapes', { list: { shape: [shape] } }],
                ...(leading.length === 0 && key < own.length
                  ? ([['_user_specified_name', { s: utf8((own[key] as (typeof own)[0])[0]) }]] as const)
                  : []),
              ]),
            },
          })),
        }),
    ...(writer.effects.length === 0 ? {} : { control_ret: new Map(writer.effects.map((e) => [e, e])) }),
  };
}

/** What arguments and results of a function are called. */
export interface FunctionNames {
  readonly arguments?: readonly string[];
  readonly results?: readonly string[];
}

/** What a function is given behind its arguments, each under a name. */
class Captures {
  readonly list: Capture[] = [];
  readonly #names = new Map<Capture, string>();
  readonly #streams: StreamNames;
  #unique = new Names();

  /** @param bodies those of a branch or loop, which is given what all of them draw from, and nothing else. */
  constructor(streams: StreamNames, bodies: readonly Graph[] | null = null) {
    this.#streams = streams;
    this.isBody = bodies !== null;
    if (bodies !== null) this.list.push(...sourcesIn(bodies));
  }

  readonly isBody: boolean;

  /** Names what is known already, and the rest as it comes. */
  nameAll(names: Names): void {
    this.#unique = names;
    for (const capture of this.list) this.#name(capture);
  }

  /** The argument for it. */
  of(capture: Capture): string {
    const known = this.#names.get(capture);
    if (known !== undefined) return known;
    this.list.push(capture);
    return this.#name(capture);
  }

  args(): tensorflow.ArgDef[] {
    return this.list.map((capture) => ({
      name: this.of(capture),
      type: capture instanceof Tensor ? numberOf(capture.dtype) : RESOURCE,
    }));
  }

  #name(capture: Capture): string {
    const wanted =
      capture instanceof Variable
        ? `${capture.path}_resource`
        : capture instanceof Tensor
          ? 'constant'
          : capture instanceof TableResource
            ? `${capture.name}_table_handle`
            : this.#streams.of(capture);
    const name = this.#unique.take(wanted.replaceAll('/', '_').toLowerCase());
    this.#names.set(capture, name);
    return name;
  }
}

const COUNTER = { dtype: 'int32', shape: [] } as const;
// DT_RESOURCE
const RESOURCE = 20;
// Constants of more bytes are one tensor for all functions.
const SHARED_CONSTANT = 256;

const captureShape = (capture: Capture): tensorflow.TensorShapeProto =>
  capture instanceof Tensor ? shapeProto(capture.shape) : shapeProto([]);

/** Sizes that may be any, which a function needs beside its arguments. */
interface PassedSizes {
  readonly symbols: readonly DimSymbol[];
  /** Whether it returns them, as the body of a loop does. */
  readonly returned: boolean;
  /** Whether it is the condition or the body of a loop that counts its turns. */
  readonly isLoop?: boolean;
  readonly stacks?: Stacks;
  /** Arguments that nobody uses, between those of the graph: what other functions have these types for. */
  readonly ignored?: { readonly at: number; readonly values: readonly GraphValue[] };
  /** The graph's arguments that the function does without. */
  readonly unused?: ReadonlySet<GraphValue>;
}
const NONE_UNUSED: ReadonlySet<GraphValue> = new Set();
/** What a loop keeps of each turn for its gradient, in lists that are loop variables. */
interface Stacks {
  readonly count: number;
  /** The values of a turn that are kept. */
  readonly pushed: readonly GraphValue[];
  /** The last arguments of the gradient's body, which come out of the lists. */
  readonly popped: readonly GraphValue[];
}
const NO_STACKS: Stacks = { count: 0, pushed: [], popped: [] };
// DT_VARIANT, DT_BOOL
const VARIANT = 21;
const BOOL = 10;
const NO_SIZES: PassedSizes = { symbols: [], returned: false };

/** The unknown sizes that graphs compute with. */
function symbolsIn(graphs: readonly Graph[]): readonly DimSymbol[] {
  const found = new Set<DimSymbol>();
  const visit = (value: unknown): void => {
    if (isExpression(value)) for (const { factors } of value.terms) factors.forEach(visit);
    else if (value instanceof DimSymbol) found.add(value);
    else if (value instanceof Operated) [value.a, value.b].forEach(visit);
    else if (value instanceof Computed) value.args.forEach(visit);
    else if (isGraph(value))
      for (const { what, attrs, outputs } of value.nodes) {
        if (what.kind === 'size') visit(what.size);
        Object.values(attrs).forEach(visit);
        for (const output of outputs) visit(output.shape);
      }
    else if (Array.isArray(value)) dimsOf(value as readonly number[]).forEach(visit);
  };
  graphs.forEach(visit);
  // What depends on values in there is told in there.
  for (const symbol of graphs.flatMap(lateSizesIn)) found.delete(symbol);
  return [...found];
}

/** What a gradient takes and does not use: TensorFlow refuses those of branches that take anything of the branch. */
function unusedArguments(gradient: Graph, count: number): ReadonlySet<GraphValue> {
  const live = gradient.liveNodes(gradient.measures.map(({ value }) => value));
  const used = new Set([...gradient.outputs, ...live.flatMap((node) => node.inputs)]);
  // The first ones are the gradients of the values, which are always given.
  return new Set(gradient.arguments.slice(count).filter((value) => !used.has(value)));
}

/** The unknown sizes of a gradient that its arguments do not tell. */
function symbolsBeside(gradient: Graph, unused: ReadonlySet<GraphValue>): readonly DimSymbol[] {
  const told = gradient.arguments
    .filter((value) => !unused.has(value) && !isUnknownRank(value))
    .flatMap((value) => dims(value));
  return symbolsIn([gradient]).filter((symbol) => !told.some((d) => identicalDims(d, dimOf(symbol))));
}

/** Names that TensorFlow accepts, each once. */
export class Names {
  readonly #taken = new Set<string>();

  take(wanted: string): string {
    const valid = wanted.replace(/[^A-Za-z0-9_.\\/>-]/g, '_').replace(/^[^A-Za-z0-9.]+/, '') || 'node';
    let name = valid;
    for (let i = 1; this.#taken.has(name); i++) name = `${valid}_${i}`;
    this.#taken.add(name);
    return name;
  }
}

/** What is known of a function beside its arguments. */
interface FunctionParts {
  /** The arguments that are sizes. */
  readonly sizes?: ReadonlyMap<DimSymbol, string>;
  /** What it is given beside its arguments; null where it finds that by name. */
  readonly captures?: Captures | null;
  /** What it returns. */
  readonly results?: readonly GraphValue[];
  /** Names that no node may have. */
  readonly reserved?: readonly string[];
  /** What the function is called; null for a graph on its own. */
  readonly fn?: string | null;
  readonly unused?: ReadonlySet<GraphValue>;
}

/** Writes the nodes of one graph. */
class Writer {
  /** The nodes that do something beside their results: the last code of the host, and assignments. */
  readonly effects: string[] = [];
  readonly #graph: Graph;
  readonly #library: Library;
  /** The names of the arguments of a function; null for a graph on its own. */
  readonly #args: readonly string[] | null;
  readonly #names = new Names();
  readonly #nodes: NodeDef[] = [];
  readonly #written = new Map<GraphNode, Written>();
  /** Of nodes that are written as several: the one for each output. */
  readonly #parts = new Map<GraphNode, readonly Written[]>();
  readonly #handles = new Map<Variable, { readonly handle: string; readonly read: string | null }>();
  /** Assignments that are nodes, for which TensorFlow has no results. */
  readonly #assigning = new Map<GraphNode, { readonly name: string; readonly variable: Variable }>();

  readonly #captures: Captures | null;
  readonly #results: readonly GraphValue[];
  readonly #fn: string | null;
  readonly #unused: ReadonlySet<GraphValue>;
  /** Values that stand for others, or are results of what stands for a node. */
  readonly #aliases = new Map<GraphValue, string>();
  /** The lists that loops have filled, and the numbers of their turns. */
  readonly #stacks = new Map<Saved, { readonly lists: readonly string[]; readonly total: string }>();
  #usedValues: ReadonlySet<GraphValue> | undefined;

  /** Null for graphs of sessions, in which TensorFlow draws numbers of its own. */
  readonly #random: RandomStates | null;

  /** The int32 scalars of sizes and of what is computed with them, by the keys of their expressions. */
  readonly #sizes = new Map<string, string>();

  constructor(
    graph: Graph,
    library: Library,
    args: readonly string[] | null,
    {
      sizes = new Map(),
      captures = null,
      results = graph.outputs,
      reserved = [],
      fn = null,
      unused = NONE_UNUSED,
    }: FunctionParts = {},
  ) {
    this.#fn = fn;
    this.#unused = unused;
    this.#captures = captures;
    this.#results = results;
    this.#graph = graph;
    this.#library = library;
    this.#args = args;
    const nodes: NodeWriter = {
      name: (wanted) => this.#names.take(wanted),
      add: (name, op, input, attrs) => {
        this.#add(name, op, input, attrs);
        return this.#first({ name, op });
      },
      constant: (name, value) => this.#put(name, value),
    };
    const handleOf = captures === null ? undefined : (source: DrawSource) => captures.of(source);
    this.#random = graph.runsWhole ? new RandomStates(nodes, library.streams, handleOf) : null;
    const given = captures?.args().map(({ name }) => name as string) ?? [];
    for (const name of [...reserved, ...(args ?? []), ...sizes.values(), ...given]) this.#names.take(name);
    for (const [symbol, name] of sizes) this.#sizes.set(dimOf(symbol).key, name);
  }

  write(): readonly NodeDef[] {
    const graph = this.#graph;
    let host: string | null = null;
    const live = graph.liveNodes([...graph.measures.map(({ value }) => value), ...this.#results]);
    for (const node of live) {
      const { what } = node;
      const from = this.#nodes.length;
      const name =
        this.#args !== null && what.kind === 'argument'
          ? this.#args[graph.arguments.findIndex((a) => a.node === node)]
          : this.#names.take(node.name);
      if (what.kind === 'argument') this.#argument(node, name);
      else if (what.kind === 'constant') this.#constant(node, name, what.tensor);
      else if (what.kind === 'size') this.#sizeNode(node, name, what.size);
      else if (what.kind === 'variable') this.#variable(node, name, what.variable);
      else {
        if (node.type === 'LearningRate' && this.#library.options.largestConstant === undefined)
          throw hostSchedule();
        // What the host does keeps its order.
        const control = this.#control(node);
        const isOrdered = what.kind === 'host' || keepsOrder(node);
        if (isOrdered && host !== null) control.push(`^${host}`);
        const assigned = node.type === 'AssignVariableOp' ? node.attrs['variable'] : null;
        if (assigned instanceof Variable) this.#assign(node, name, assigned, control);
        else this.#op(node, name, control);
        // Several nodes may stand for one, and none for a check that ops cannot say.
        const isWritten = this.#nodes.length > from;
        if (isOrdered && isWritten && graph.runsWhole) host = this.#written.get(node)?.name ?? name;
      }
      if (node.device !== '')
        for (let i = from; i < this.#nodes.length; i++)
          this.#nodes[i] = { ...this.#nodes[i], device: node.device };
    }
    if (host !== null) this.effects.push(host);
    if (this.#random !== null) {
      // One node may have advanced several states.
      this.effects.push(...new Set(this.#random.finish()));
      if (this.#args === null) this.#random.initialize();
    }
    for (const { variable, value } of graph.assignments) this.effects.push(this.#assignment(variable, value));
    if (this.#args === null) this.#identities();
    return this.#nodes;
  }

  /** Takes an argument from a list. @returns how others name the list without it. */
  pop(list: string, value: GraphValue): string {
    const name = this.#names.take(`${list}/TensorListPopBack`);
    this.#add(name, 'TensorListPopBack', [list, this.#elementShape(name, value)], {
      element_dtype: { type: numberOf(value.dtype) },
    });
    this.#aliases.set(value, `${name}:tensor:0`);
    return `${name}:output_handle:0`;
  }

  /** Adds a value to a list. @returns how others name the list with it. */
  push(list: string, value: GraphValue): string {
    const name = this.#names.take(`${list}/TensorListPushBack`);
    this.#add(name, 'TensorListPushBack', [list, this.reference(value)], {
      element_dtype: { type: numberOf(value.dtype) },
    });
    return `${name}:output_handle:0`;
  }

  #elementShape(owner: string, value: GraphValue): string {
    const shape = partialShape(value.shape).map((size) => size ?? -1);
    return this.#constantInput(owner, { name: 'element_shape', dtype: 'int32', value: shape });
  }

  /** Adds 1 to a counter of turns. @returns how others name the result. */
  counted(counter: string): string {
    const one = this.#constantInput(counter, { name: 'one', dtype: 'int32', value: 1 });
    const T = { type: numberOf('int32') };
    return this.#node('AddV2', [counter, one], { T }, this.#names.take(`${counter}/next`));
  }

  /** How other nodes name a value. */
  reference(value: GraphValue): string {
    const alias = this.#aliases.get(value);
    if (alias !== undefined) return alias;
    const { node, index } = value;
    const parts = this.#parts.get(node);
    const written = parts?.[index] ?? this.#written.get(node) ?? this.#readAfter(node);
    if (written === undefined) throw new FailedPreconditionError(`${node.name} is not part of the graph`);
    if (parts !== undefined) return this.#first(written);
    if (this.#args === null) return index === 0 ? written.name : `${written.name}:${index}`;
    if (node.what.kind === 'argument') return written.name;
    return `${written.name}:${outputName(written.op, index, node.outputs.length)}`;
  }

  /** How other nodes name a node's first output. */
  #first({ name, op }: Written): string {
    return this.#args === null ? name : `${name}:${outputName(op, 0)}`;
  }

  /** What a node runs after beside its inputs. */
  #control(node: GraphNode): string[] {
    return this.#graph.controlInputs(node).map((other) => {
      const name = this.#assigning.get(other)?.name ?? this.#written.get(other)?.name;
      if (name === undefined) throw new FailedPreconditionError(`${other.name} is not part of the graph`);
      return `^${name}`;
    });
  }

  #add(name: string, op: string, input: readonly string[], attrs: Readonly<Record<string, AttrValue>>): void {
    const sorted = Object.entries(attrs).sort(([a], [b]) => (a < b ? -1 : 1));
    this.#nodes.push({ name, op, ...(input.length === 0 ? {} : { input }), attr: new Map(sorted) });
  }

  #argument(node: GraphNode, name: string): void {
    const [value] = node.outputs as readonly [GraphValue];
    this.#written.set(node, { name, op: 'Placeholder' });
    if (this.#args !== null) return;
    this.#add(name, 'Placeholder', [], {
      dtype: { type: numberOf(value.dtype) },
      shape: { shape: valueShape(value) },
      _user_specified_name: { s: utf8(node.name) },
      ...outputShapes(node.outputs),
    });
  }

  #constant(node: GraphNode, name: string, tensor: Tensor): void {
    const { largestConstant = Number.POSITIVE_INFINITY } = this.#library.options;
    checkAlive(tensor);
    const captures = this.#captures;
    if (
      captures !== null &&
      !captures.isBody &&
      tensor.dtype !== 'string' &&
      viewOf(tensor).byteLength > SHARED_CONSTANT
    ) {
      this.#aliases.set(node.outputs[0] as GraphValue, captures.of(tensor));
      this.#written.set(node, { name, op: 'Const' });
      return;
    }
    const value = tensorProto(tensor);
    this.#written.set(node, { name, op: 'Const' });
    this.#add(name, 'Const', [], {
      dtype: { type: numberOf(tensor.dtype) },
      ...(sizeOfProto(value) > largestConstant ? {} : { value: { tensor: value } }),
      ...outputShapes(node.outputs),
    });
  }

  #variable(node: GraphNode, read: string, variable: Variable): void {
    const handle = this.#handles.get(variable)?.handle ?? this.#handle(variable);
    this.#handles.set(variable, { handle, read });
    this.#read(node, read, handle, this.#control(node));
  }

  #read(node: GraphNode, name: string, handle: string, control: readonly string[]): void {
    const [{ dtype }] = node.outputs as readonly [GraphValue];
    this.#written.set(node, { name, op: 'ReadVariableOp' });
    this.#add(name, 'ReadVariableOp', [this.#resource(handle), ...control], {
      dtype: { type: numberOf(dtype) },
      ...outputShapes(node.outputs),
    });
  }

  #assign(node: GraphNode, name: string, variable: Variable, control: readonly string[]): void {
    const known = this.#handles.get(variable);
    const handle = known?.handle ?? this.#handle(variable);
    if (known === undefined) this.#handles.set(variable, { handle, read: null });
    this.#assigning.set(node, { name, variable });
    const [value] = node.inputs as readonly [GraphValue];
    this.#add(name, 'AssignVariableOp', [this.#resource(handle), this.reference(value), ...control], {
      dtype: { type: numberOf(variable.dtype) },
      validate_shape: { b: false },
    });
  }

  /** The result of an assignment is read after it. */
  #readAfter(node: GraphNode): Written | undefined {
    const assigning = this.#assigning.get(node);
    if (assigning === undefined) return undefined;
    const { handle } = this.#handles.get(assigning.variable) as { readonly handle: string };
    this.#read(node, this.#names.take(`${assigning.name}/Read`), handle, [`^${assigning.name}`]);
    return this.#written.get(node);
  }

  #assignment(variable: Variable, value: GraphValue): string {
    const known = this.#handles.get(variable);
    // A variable whose old value nobody needs is not read.
    const handle = known?.handle ?? this.#handle(variable);
    const name = this.#names.take(`${variable.path}/Assign`);
    this.#add(
      name,
      'AssignVariableOp',
      [
        this.#resource(handle),
        this.reference(value),
        ...(typeof known?.read === 'string' ? [`^${known.read}`] : []),
      ],
      { dtype: { type: numberOf(variable.dtype) }, validate_shape: { b: false } },
    );
    return name;
  }

  /** How nodes name a handle. */
  #resource(handle: string): string {
    return this.#args === null || this.#captures !== null ? handle : `${handle}:resource:0`;
  }

  #handle(variable: Variable): string {
    if (this.#captures !== null) return this.#captures.of(variable);
    const { dtype, shape } = variable;
    const handle = this.#names.take(variable.path);
    this.#add(handle, 'VarHandleOp', [], {
      dtype: { type: numberOf(dtype) },
      shape: { shape: shapeProto(shape) },
      shared_name: { s: utf8(handle) },
      container: { s: utf8('') },
      ...outputShapes([{ shape: [] }]),
    });
    return handle;
  }

  /** A node as several of TensorFlow's; other nodes run after the last of them. */
  #several(node: GraphNode, name: string, control: readonly string[], { nodes, outputs }: Parts): void {
    const own = node.inputs.map((v) => this.reference(v));
    const made = new Map<string, Written>();
    for (const part of nodes) {
      const written = { name: this.#names.take(`${name}/${part.name}`), op: part.op };
      const inputs = part.inputs.map((i) => {
        if (typeof i === 'number') return own[i];
        return typeof i === 'string' ? this.#first(made.get(i) as Written) : this.#constantInput(name, i);
      });
      const attrs = Object.entries(part.attrs).map(([key, value]) => [key, typedAttr(value)] as const);
      const shape = { dim: part.shape.map((size) => ({ size: size ?? -1 })) };
      this.#add(written.name, part.op, [...inputs, ...control], {
        ...Object.fromEntries(attrs),
        _output_shapes: { list: { shape: [shape] } },
      });
      made.set(part.name, written);
    }
    this.#parts.set(
      node,
      outputs.map((output) => made.get(output) as Written),
    );
    this.#written.set(node, [...made.values()].at(-1) as Written);
  }

  /** A node in terms of other ops, which are written in its place. */
  #composed(node: GraphNode, name: string, control: readonly string[], portable: FunctionOptions): void {
    const composition = portable.compose(node, (i) => this.#isUsed(node, i));
    if (composition === null) throw notWritable(node);
    const { graph, places } = composition;
    node.inputs.forEach((v, i) => this.#aliases.set(graph.arguments[i] as GraphValue, this.reference(v)));
    let last: Written | undefined;
    for (const part of graph.liveNodes()) {
      if (part.what.kind === 'argument') continue;
      const own = this.#names.take(`${name}/${part.name}`);
      if (part.what.kind === 'constant') this.#constant(part, own, part.what.tensor);
      else if (part.what.kind === 'size') this.#sizeNode(part, own, part.what.size);
      else this.#op(part, own, [...control]);
      last = this.#written.get(part);
    }
    if (last !== undefined) this.#written.set(node, last);
    places.forEach((place, i) => {
      if (place === null) return;
      this.#aliases.set(node.outputs[i] as GraphValue, this.reference(graph.outputs[place] as GraphValue));
    });
  }

  /** Whether anything needs an output of a node. */
  #isUsed(node: GraphNode, index: number): boolean {
    this.#usedValues ??= new Set([
      ...this.#results,
      ...this.#graph.outputs,
      ...this.#graph.assignments.map(({ value }) => value),
      ...this.#graph.measures.map(({ value }) => value),
      ...this.#graph.liveNodes(this.#graph.measures.map(({ value }) => value)).flatMap((n) => n.inputs),
    ]);
    const value = node.outputs[index] as GraphValue;
    // A part of a composition is not in the graph.
    return this.#usedValues.has(value) || !this.#graph.nodes.includes(node);
  }

  /** A constant of the writer's own. */
  #put(wanted: string, tensor: Tensor): string {
    const name = this.#names.take(wanted);
    this.#add(name, 'Const', [], {
      dtype: { type: numberOf(tensor.dtype) },
      value: { tensor: tensorProto(tensor) },
    });
    return this.#first({ name, op: 'Const' });
  }

  /** A random draw by TensorFlow's Philox; false for another node. */
  #drawn(node: GraphNode, name: string): boolean {
    if (this.#random === null || node.what.kind !== 'op' || bodiesOf(node).length > 0) return false;
    const call = drawCall(node);
    const state = call === null ? null : this.#random.draw(node, name);
    if (call === null || state === null) {
      if (node.draws && this.#library.options.largestConstant === undefined) throw noDraw(node);
      return false;
    }
    const [value] = node.outputs as readonly [GraphValue];
    const shape = this.#constantInput(name, { name: 'shape', dtype: 'int32', value: dims(value) });
    const given = call.parameters.map(([last, value]) => this.#put(`${name}/${last}`, value));
    const types = ['int64', 'int32', ...call.parameters.map(([, { dtype }]) => dtype)] as const;
    this.#written.set(node, { name, op: 'PartitionedCall' });
    this.#add(name, 'PartitionedCall', [state, shape, ...given], {
      Tin: { list: { type: types.map(numberOf) } },
      Tout: { list: { type: [numberOf(value.dtype)] } },
      f: { func: { name: this.#library.drawing(call) } },
      ...outputShapes(node.outputs),
    });
    return true;
  }

  #op(node: GraphNode, name: string, control: readonly string[]): void {
    if (this.#drawn(node, name)) return;
    const parts = partsOf(node);
    if (parts !== null) {
      this.#several(node, name, control, parts);
      return;
    }
    const portable = this.#library.portable;
    if (portable?.customGradients === true && node.type === 'CustomGradient') {
      this.#ownGradient(node, name, control);
      return;
    }
    const known = tensorFlowOp(node, portable === null ? undefined : (i) => this.#isUsed(node, i));
    const isControl = CONTROL.has(node.type) || node.type === 'WhileGrad';
    if (portable !== null && !isControl && (FUSED.has(node.type) || !isWritable(node, known))) {
      this.#composed(node, name, control, portable);
      return;
    }
    const own = node.inputs.map((v) => this.reference(v));
    const op = known?.op ?? node.type;
    this.#written.set(node, { name, op });
    if (known !== null) {
      const table = known.table === undefined ? [] : [this.#table(node, known.table)];
      const others = known.inputs.map((i) => (typeof i === 'number' ? own[i] : this.#constantInput(name, i)));
      const inputs = [...table, ...others];
      const attrs = Object.entries(known.attrs).map(([key, value]) => [key, typedAttr(value)] as const);
      this.#add(name, op, [...inputs, ...control], {
        ...Object.fromEntries(attrs),
        ...outputShapes([...node.outputs, ...(known.moreOutputs ?? []).map((shape) => ({ shape }))]),
      });
      return;
    }
    if (portable !== null && node.type === 'WhileGrad') {
      this.#backLoop(node, name, own, control);
      return;
    }
    if (CONTROL.has(node.type)) {
      const symbols = symbolsIn(bodiesOf(node));
      const sizes = symbols.map((symbol) => this.#size(dimOf(symbol)));
      const behind = this.#random?.enter(node) ?? [];
      const captures = this.#captures;
      const states = captures === null ? [] : sourcesIn(bodiesOf(node)).map((source) => captures.of(source));
      const isLoop = node.type === 'While' && portable !== null;
      const counters = isLoop
        ? (['loop_counter', 'maximum_iterations'] as const).map((last, i) =>
            this.#constantInput(name, { name: last, dtype: 'int32', value: -i }),
          )
        : [];
      const kept = isLoop ? this.#keptFor(node) : [];
      const values = kept.flatMap((saved) => saved.values);
      const lists = values.map((value) => this.#emptyList(name, value));
      this.#add(
        name,
        op,
        [...counters, ...own, ...sizes, ...states, ...lists, ...control, ...new Set(behind)],
        this.#controlAttrs(node, symbols, { states: states.length, isLoop, kept: values }),
      );
      const before = counters.length + own.length + sizes.length + states.length;
      for (const [i, saved] of kept.entries()) {
        const first = before + kept.slice(0, i).reduce((sum, { values }) => sum + values.length, 0);
        this.#stacks.set(saved, {
          lists: saved.values.map((_, k) => `${name}:${outputName(op, first + k)}`),
          total: `${name}:${outputName(op, 0)}`,
        });
      }
      if (isLoop)
        node.outputs.forEach((value, i) => {
          this.#aliases.set(value, `${name}:${outputName(op, i + counters.length)}`);
        });
      this.#random?.leave(node, name);
      return;
    }
    this.#add(name, op, [...own, ...control], {
      ...this.#attrs(node),
      ...(node.what.kind === 'op' ? typesOf(node) : {}),
      ...outputShapes(node.outputs),
    });
  }

  /** A value whose gradient is a function: TensorFlow finds it by an attribute of a node that passes value and arguments on. */
  #ownGradient(node: GraphNode, name: string, control: readonly string[]): void {
    const { gradient, count, places } = node.attrs as CustomGradientAttrs;
    const values = node.outputs.map((_, i) => i);
    const results = [...values, ...places].map((place) => node.inputs[place] as GraphValue);
    const unused = unusedArguments(gradient, count);
    const symbols = symbolsBeside(gradient, unused);
    const inner = (from: string, dtype: DType): InnerValue => {
      const inside = this.#names.take(`${name}/inner`);
      this.#add(inside, 'Identity', [from], { T: { type: numberOf(dtype) } });
      return { fn: this.#fn as string, tensor: `${inside}:0` };
    };
    const given = {
      count,
      symbols,
      unused,
      inner: [
        ...node.inputs
          .slice(count)
          .filter((_, i) => !unused.has(gradient.arguments[i + count] as GraphValue))
          .map((value) => inner(this.reference(value), value.dtype)),
        ...symbols.map((symbol) => inner(this.#size(dimOf(symbol)), 'int32')),
      ],
    };
    let type: string;
    try {
      type = this.#library.addGradient(this.#fn as string, gradient, results, given);
    } catch (error) {
      if (!(error instanceof UnimplementedError)) throw error;
      throw new UnimplementedError(
        `the gradient of the tf.customGradient '${node.name}' cannot be written; SaveOptions({ experimentalCustomGradients: false }) leaves all such gradients out: ${error.message}`,
      );
    }
    this.#written.set(node, { name, op: 'IdentityN' });
    this.#add(name, 'IdentityN', [...results.map((value) => this.reference(value)), ...control], {
      T: { list: { type: results.map(({ dtype }) => numberOf(dtype)) } },
      _gradient_op_type: { s: utf8(type) },
      ...outputShapes(results),
    });
  }

  /** The argument for a table. */
  #table(node: GraphNode, table: TableResource): string {
    if (this.#captures === null) throw notWritable(node);
    if (this.#captures.isBody)
      throw new UnimplementedError(
        `the table '${table.name}' is used in a branch or loop, which cannot be written: look up outside of it`,
        'savedModel.save',
      );
    return this.#captures.of(table);
  }

  /** The gradients of a loop that are in the graph. */
  #keptFor(node: GraphNode): readonly Saved[] {
    const { saved } = node.attrs['record'] as ForwardRecord;
    const restored = new Set(this.#graph.liveNodes(this.#results).map(({ attrs }) => attrs['restored']));
    return saved.filter((each) => restored.has(each));
  }

  #emptyList(owner: string, value: GraphValue): string {
    const name = this.#names.take(`${owner}/EmptyTensorList`);
    const most = this.#constantInput(name, { name: 'max_num_elements', dtype: 'int32', value: -1 });
    this.#add(name, 'EmptyTensorList', [this.#elementShape(name, value), most], {
      element_dtype: { type: numberOf(value.dtype) },
      shape_type: { type: numberOf('int32') },
    });
    return `${name}:handle:0`;
  }

  /** The gradient of a loop: another one, which takes from lists what the first has put there. */
  #backLoop(node: GraphNode, name: string, own: readonly string[], control: readonly string[]): void {
    const { body, restored, forward } = node.attrs as unknown as WhileGradAttrs;
    const stacks = this.#stacks.get(restored);
    if (stacks === undefined) throw notWritable(node);
    const count = body.outputs.length;
    const same = own.slice(count + forward.body.outputs.length);
    const popped = body.arguments.slice(count + same.length);
    // The sizes of what a turn takes from the lists are those of that turn.
    const ofTurn = new Set(
      popped
        .filter((v) => !isUnknownRank(v))
        .flatMap((value) => dims(value))
        .map(String),
    );
    const symbols = symbolsIn([body]).filter((symbol) => !ofTurn.has(`${dimOf(symbol)}`));
    const fn = this.#library.backLoop(
      body,
      body.arguments.slice(count, count + same.length),
      symbols,
      popped,
    );
    const counters = [0, -1].map((value, i) =>
      this.#constantInput(name, {
        name: i === 0 ? 'loop_counter' : 'maximum_iterations',
        dtype: 'int32',
        value,
      }),
    );
    const sizes = symbols.map((symbol) => this.#size(dimOf(symbol)));
    const inputs = [...counters, ...own.slice(0, count), ...same, ...sizes, stacks.total, ...stacks.lists];
    this.#written.set(node, { name, op: 'While' });
    this.#add(name, 'While', [...inputs, ...control], {
      T: { list: { type: fn.types } },
      cond: { func: { name: fn.condition } },
      body: { func: { name: fn.body } },
      ...outputShapes([
        COUNTER,
        COUNTER,
        ...body.arguments.slice(0, count + same.length),
        ...sizes.map(() => COUNTER),
        COUNTER,
        ...stacks.lists.map(() => ({ shape: [] })),
      ]),
    });
    node.outputs.forEach((value, i) => {
      this.#aliases.set(value, `${name}:${outputName('While', i + counters.length)}`);
    });
  }

  #constantInput(owner: string, { name: last, dtype, value }: ConstantInput): string {
    const name = this.#names.take(`${owner}/${last}`);
    if (hasSizes(value)) return this.#computed(name, dtype, value);
    const tensor = hostTensor(dtype, value);
    this.#add(name, 'Const', [], {
      dtype: { type: numberOf(dtype) },
      value: { tensor },
      _output_shapes: { list: { shape: [tensor.tensor_shape ?? {}] } },
    });
    return this.#args === null ? name : `${name}:output:0`;
  }

  /** Numbers that are made of sizes, under a name of their own. */
  #computed(name: string, dtype: DType, value: ConstantInput['value']): string {
    const T = { type: numberOf('int32') };
    const packed = (of: ConstantInput['value']): string => {
      if (!Array.isArray(of)) return this.#size(of as Dim);
      const items = (of as Dims | readonly Dims[]).map(packed);
      return this.#node('Pack', items, { N: { i: items.length }, T, axis: { i: 0 } });
    };
    return dtype === 'int32'
      ? this.#node('Identity', [packed(value)], { T }, name)
      : this.#node('Cast', [packed(value)], castAttrs(dtype), name);
  }

  #sizeNode(node: GraphNode, name: string, size: DimExpr): void {
    const [{ dtype }] = node.outputs as readonly [GraphValue];
    this.#written.set(node, { name, op: dtype === 'int32' ? 'Identity' : 'Cast' });
    this.#computed(name, dtype, size);
  }

  /** The int32 scalar that is a size at each run. */
  #size(d: Dim): string {
    const key = typeof d === 'number' ? `${d}` : d.key;
    let name = this.#sizes.get(key);
    if (name === undefined) this.#sizes.set(key, (name = this.#computedSize(d)));
    return name;
  }

  #computedSize(d: Dim): string {
    if (typeof d === 'number')
      return this.#constantInput('sizes', { name: 'Const', dtype: 'int32', value: d });
    const binary = (op: string, a: string, b: string): string =>
      this.#node(op, [a, b], { T: { type: numberOf('int32') } });
    return d.terms
      .map(({ coefficient, factors }) => {
        const product = factors.map((f) => this.#factor(f));
        if (coefficient !== 1 || product.length === 0) product.unshift(this.#size(coefficient));
        return product.reduce((a, b) => binary('Mul', a, b));
      })
      .reduce((a, b) => binary('AddV2', a, b));
  }

  #factor(factor: Factor): string {
    if (factor instanceof Operated)
      return this.#node(OPERATIONS[factor.operation], [this.#size(factor.a), this.#size(factor.b)], {
        T: { type: numberOf('int32') },
      });
    if (factor instanceof Computed)
      throw new UnimplementedError(
        `the size ${factor.text} is computed by code that a graph cannot hold: write the graph for known sizes`,
      );
    const symbol = dimOf(factor);
    const known = this.#sizes.get(symbol.key);
    if (known !== undefined) return known;
    const [shape, axis] = this.#integersWith(symbol);
    const place = (last: string, at: number): string =>
      this.#constantInput('sizes', { name: last, dtype: 'int32', value: [at] });
    const masks = ['begin', 'end', 'ellipsis', 'new_axis'].map((m) => [`${m}_mask`, { i: 0 }] as const);
    const slice = this.#node(
      'StridedSlice',
      [shape, place('begin', axis), place('end', axis + 1), place('strides', 1)],
      {
        T: { type: numberOf('int32') },
        Index: { type: numberOf('int32') },
        ...Object.fromEntries(masks),
        shrink_axis_mask: { i: 1 },
      },
    );
    this.#sizes.set(symbol.key, slice);
    return slice;
  }

  /** Integers of rank 1 of which one is the size: the shape of the argument, or of what came of an op, that has it, or values. */
  #integersWith(symbol: DimExpr): readonly [name: string, at: number] {
    const measure = this.#graph.measures.find(
      (m) => m.from === 'element' && identicalDims(dimOf(m.symbol), symbol),
    );
    if (measure === undefined) {
      const [value, axis] = this.#valueOfSize(symbol);
      const T = { type: numberOf(value.dtype) };
      return [
        this.#node('Shape', [this.reference(value)], { T, out_type: { type: numberOf('int32') } }),
        axis,
      ];
    }
    const { value, at } = measure;
    const T = { type: numberOf('int32') };
    const integers = this.#node('Cast', [this.reference(value)], {
      SrcT: { type: numberOf(value.dtype) },
      DstT: T,
    });
    const flat = this.#constantInput('sizes', { name: 'flat', dtype: 'int32', value: [-1] });
    return [this.#node('Reshape', [integers, flat], { T, Tshape: T }), at];
  }

  #valueOfSize(symbol: DimExpr): readonly [GraphValue, number] {
    const written = [...this.#written.keys()].flatMap((node) => node.outputs);
    for (const value of [...this.#graph.arguments, ...written]) {
      if (isUnknownRank(value) || this.#unused.has(value)) continue;
      const axis = dims(value).findIndex((d) => identicalDims(d, symbol));
      if (axis >= 0) return [value, axis];
    }
    throw new FailedPreconditionError(`the size ${symbol} is not that of a value of the graph`, 'asGraphDef');
  }

  /** A node of one output, and how others name it. */
  #node(
    op: string,
    input: readonly string[],
    attrs: Readonly<Record<string, AttrValue>>,
    own?: string,
  ): string {
    const name = own ?? this.#names.take(`sizes/${op}`);
    this.#add(name, op, input, attrs);
    return this.#first({ name, op });
  }

  /** The attributes of an op as they are, under names as TensorFlow has them. */
  #attrs(node: GraphNode): Readonly<Record<string, AttrValue>> {
    const attrs: Record<string, AttrValue> = {};
    for (const [key, value] of Object.entries(node.attrs)) {
      const attr = this.#attr(value, key);
      if (attr !== null) attrs[key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)] = attr;
    }
    return attrs;
  }

  /** Branches and loops; TensorFlow's loops return all that goes into them. */
  #controlAttrs(
    node: GraphNode,
    symbols: readonly DimSymbol[],
    {
      states,
      isLoop,
      kept,
    }: { readonly states: number; readonly isLoop: boolean; readonly kept: readonly GraphValue[] },
  ): Readonly<Record<string, AttrValue>> {
    const { type, attrs, inputs, outputs } = node;
    const library = this.#library;
    const bodies = bodiesOf(node);
    const stacksOf = (returned: boolean): Stacks => ({
      count: kept.length,
      pushed: returned ? kept : [],
      popped: [],
    });
    const func = (
      graph: unknown,
      more: readonly GraphValue[] = [],
      returned = false,
    ): { func: tensorflow.NameAttrList } => ({
      func: {
        name: library.nameOf(
          graph as Graph,
          more,
          { symbols, returned, isLoop, stacks: stacksOf(returned) },
          bodies,
        ),
      },
    });
    const sizes = symbols.map(() => ({ dtype: 'int32', shape: [] }) as const);
    const resources = [...new Array<number>(states).fill(RESOURCE), ...kept.map(() => VARIANT)];
    const counters = isLoop ? [COUNTER, COUNTER] : [];
    const list = (values: readonly Pick<GraphValue, 'dtype'>[], more: readonly number[] = []): AttrValue => ({
      list: { type: [...values.map((v) => numberOf(v.dtype)), ...more] },
    });
    if (type === 'While') {
      const body = attrs['body'] as Graph;
      return {
        T: list([...counters, ...inputs, ...sizes], resources),
        cond: func(attrs['condition']),
        body: func(body, body.arguments.slice(body.outputs.length), true),
        ...outputShapes([
          ...counters,
          ...outputs,
          ...inputs.slice(outputs.length),
          ...sizes,
          ...resources.map(() => ({ shape: [] })),
        ]),
      };
    }
    const branches = (attrs['branches'] as readonly Graph[]).map((graph) => func(graph).func);
    const [first, second] = branches;
    const named: Readonly<Record<string, AttrValue>> =
      type === 'If' && first !== undefined && second !== undefined
        ? {
            Tcond: { type: numberOf(inputs[0].dtype) },
            then_branch: { func: first },
            else_branch: { func: second },
          }
        : { branches: { list: { func: branches } } };
    return {
      ...named,
      Tin: list([...inputs.slice(1), ...sizes], resources),
      Tout: list(outputs),
      ...outputShapes(outputs),
    };
  }

  #attr(value: unknown, key: string): AttrValue | null {
    if (isGraph(value)) return { func: { name: this.#library.nameOf(value) } };
    if (typeof value === 'boolean') return { b: value };
    if (typeof value === 'bigint') return { i: value };
    if (value instanceof DimExpr) return { i: -1 };
    if (typeof value === 'number')
      return Number.isSafeInteger(value) && !REALS.has(key) ? { i: value } : { f: value };
    if (typeof value === 'string')
      return key === 'dtype' && Object.hasOwn(dtypeTraits, value)
        ? { type: numberOf(value as DType) }
        : { s: utf8(value) };
    if (value instanceof Tensor) return { tensor: tensorProto(value) };
    if (value instanceof Variable) return { s: utf8(value.path) };
    if (Array.isArray(value)) return this.#list(dimsOf(value as readonly number[]).flat(8), key);
    if (ArrayBuffer.isView(value) && !(value instanceof DataView))
      return this.#list(Array.from(value as unknown as ArrayLike<number | bigint>), key);
    return null;
  }

  #list(values: readonly unknown[], key: string): AttrValue | null {
    const items = values.map((v) => this.#attr(v, key));
    const of = <K extends keyof AttrValue>(field: K): NonNullable<AttrValue[K]>[] | null => {
      const list = items.map((item) => item?.[field]);
      return list.every((v) => v !== undefined) ? (list as NonNullable<AttrValue[K]>[]) : null;
    };
    const [b, func, type, s, i] = [of('b'), of('func'), of('type'), of('s'), of('i')];
    if (items.length === 0) return { list: {} };
    if (b !== null) return { list: { b } };
    if (func !== null) return { list: { func } };
    if (type !== null) return { list: { type } };
    if (s !== null) return { list: { s } };
    if (i !== null) return { list: { i } };
    return values.every((v) => typeof v === 'number') ? { list: { f: values } } : null;
  }

  /** What the function returns: nodes that run after everything that it does. */
  #identities(): void {
    const control = this.effects.map((name) => `^${name}`);
    for (const value of this.#graph.outputs) {
      this.#add(this.#names.take('Identity'), 'Identity', [this.reference(value), ...control], {
        T: { type: numberOf(value.dtype) },
        ...outputShapes([value]),
      });
    }
    // Without results there is still something to run.
    if (this.#graph.outputs.length === 0 && control.length > 0)
      this.#add(this.#names.take('NoOp'), 'NoOp', control, {});
  }
}

// They have no gradients in TensorFlow, or other second results.
const FUSED: ReadonlySet<string> = new Set([
  'SoftmaxCrossEntropyWithLogits',
  '_FusedMatMul',
  '_FusedConv2D',
  'FusedBatchNormV3',
  'FusedBatchNormGradV3',
]);

/** Whether a node can be written as one of TensorFlow's. */
function isWritable(node: GraphNode, known: ReturnType<typeof tensorFlowOp>): boolean {
  const signature = signatureOf(known?.op ?? node.type);
  if (signature === null) return false;
  const [first, ...others] = node.inputs;
  // TensorFlow's gradients of elementwise ops do not broadcast, and its bounds do not stretch.
  if (isStrict(node) && others.some((v) => !shapesAgree(dims(v), dims(first as GraphValue)))) return false;
  const { inputs, attrs } = signature;
  const given = known === null ? Object.keys(typesOf(node)) : Object.keys(known.attrs);
  const more = known === null ? Object.keys(node.attrs) : [];
  const ofTable = known?.table === undefined ? 0 : 1;
  const count = (known?.inputs.length ?? node.inputs.length) + ofTable;
  const T = node.inputs[0]?.dtype;
  const types: readonly (readonly [string, DType])[] =
    known === null
      ? T === undefined
        ? []
        : [['T', T]]
      : Object.entries(known.attrs).flatMap(([name, a]) =>
          a.kind === 'type' ? [[name, a.value] as const] : [],
        );
  return (
    [...attrs.values()].every(
      (a) => !isTooSmall(a, known === null ? node.attrs[a.name] : known.attrs[a.name]),
    ) &&
    [...given, ...more].every((name) => attrs.has(name) || name.startsWith('_')) &&
    [...attrs.values()].every((a) => !a.isRequired || given.includes(a.name) || more.includes(a.name)) &&
    (inputs.some(({ isList }) => isList) || inputs.length === count) &&
    [...types].every(([name, dtype]) => attrs.get(name)?.dtypes?.has(numberOf(dtype)) !== false)
  );
}

/** Whether an integer is below what TensorFlow takes. */
function isTooSmall({ least }: OpAttribute, given: unknown): boolean {
  const value = typeof given === 'object' && given !== null && 'value' in given ? given.value : given;
  return least > 0 && typeof value === 'number' && value < least;
}

const isStrict = ({ what, type }: GraphNode): boolean =>
  type === 'ClipByValue' || (type.endsWith('Grad') && what.kind === 'op' && isElementwise(what.op));

function notWritable({ name, type, inputs, what }: GraphNode): UnimplementedError {
  const why =
    what.kind === 'host'
      ? 'it is code of this process (tf.print, tf.experimental.hostFunction, a host loop or a layer of texts)'
      : 'TensorFlow has no such op, and Eagre no form of it in other ones';
  const dtypes = inputs.map((v) => v.dtype).join(', ');
  return new UnimplementedError(
    `'${name}', a ${type} of (${dtypes}), cannot be written for TensorFlow: ${why}. Leave it out of the functions that are saved`,
    'savedModel.save',
  );
}

/** For a graph that could not run elsewhere, and would not say why. */
function hostSchedule(): UnimplementedError {
  return new UnimplementedError(
    'the learning rate schedule is code of this process, which a GraphDef cannot hold: use a schedule from ' +
      'tf.optimizers.schedules, or a class that extends LearningRateSchedule and has trace(step) beside call(step). To look at the graph ' +
      'only, give largestConstant',
    'asGraphDef',
  );
}

/** A node of a GraphDef. */
interface Written {
  readonly name: string;
  readonly op: string;
}

const CONTROL: ReadonlySet<string> = new Set(['If', 'Case', 'While']);

// Attributes that are no integers even when their values are.
const REALS: ReadonlySet<string> = new Set([
  'alpha',
  'epsilon',
  'rate',
  'value',
  'scale',
  'momentum',
  'beta1',
  'beta2',
]);

/** The type attributes that TensorFlow derives from inputs: `T` of one dtype; none where they differ. */
function typesOf({ inputs, outputs, attrs }: GraphNode): Readonly<Record<string, AttrValue>> {
  const nested = Object.values(attrs).some(
    (v) => isGraph(v) || (Array.isArray(v) && !hasUnknown(v) && isGraph(v[0])),
  );
  if (nested) {
    const list = (values: readonly GraphValue[]) => ({
      list: { type: values.map((v) => numberOf(v.dtype)) },
    });
    return { Tin: list(inputs), Tout: list(outputs) };
  }
  const dtype = inputs[0]?.dtype;
  return dtype !== undefined && inputs.every((v) => v.dtype === dtype)
    ? { T: { type: numberOf(dtype) } }
    : {};
}

function typedAttr(attr: TypedAttr): AttrValue {
  switch (attr.kind) {
    case 'type':
      return { type: numberOf(attr.value) };
    case 'types':
      return { list: { type: attr.value.map((t) => numberOf(t)) } };
    case 'int':
      return { i: attr.value };
    case 'ints':
      return { list: { i: attr.value } };
    case 'float':
      return { f: attr.value };
    case 'floats':
      return { list: { f: [...attr.value] } };
    case 'bool':
      return { b: attr.value };
    case 'text':
      return { s: utf8(attr.value) };
    case 'texts':
      return { list: { s: attr.value.map(utf8) } };
  }
}

const encoder = new TextEncoder();
const utf8 = (value: string): Uint8Array => encoder.encode(value);

function shapeProto(shape: readonly number[]): tensorflow.TensorShapeProto {
  return { dim: partialShape(shape).map((size) => ({ size: size ?? -1 })) };
}

function valueShape(value: Pick<GraphValue, 'shape'>): tensorflow.TensorShapeProto {
  return isUnknownRank(value) ? { unknown_rank: true } : shapeProto(value.shape);
}

/** The attribute that TensorBoard takes shapes from. */
function outputShapes(outputs: readonly Pick<GraphValue, 'shape'>[]): Readonly<Record<string, AttrValue>> {
  return { _output_shapes: { list: { shape: outputs.map(valueShape) } } };
}

function tensorProto(tensor: Tensor): tensorflow.TensorProto {
  const { dtype, shape } = tensor;
  const head = { dtype: numberOf(dtype), tensor_shape: shapeProto(shape) };
  if (dtype === 'string') return { ...head, string_val: bytesIn(tensor) };
  const view = viewOf(tensor);
  return { ...head, tensor_content: new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice() };
}

function sizeOfProto({ tensor_content, string_val }: tensorflow.TensorProto): number {
  return tensor_content?.length ?? string_val?.reduce((sum, s) => sum + s.length, 0) ?? 0;
}

function hostTensor(dtype: DType, value: ConstantInput['value']): tensorflow.TensorProto {
  const rows = Array.isArray(value) ? (value as readonly unknown[]) : null;
  const first = rows?.[0];
  const shape = rows === null ? [] : Array.isArray(first) ? [rows.length, first.length] : [rows.length];
  const flat = rows === null ? [value as number] : (rows as readonly number[]).flat();
  const head = { dtype: numberOf(dtype), tensor_shape: shapeProto(shape) };
  switch (dtype) {
    case 'float32':
      return { ...head, float_val: flat };
    case 'float64':
      return { ...head, double_val: flat };
    case 'int64':
      return { ...head, int64_val: flat };
    case 'float16':
    case 'bfloat16':
      return { ...head, half_val: flat.map((n) => halfBits(n, dtype)) };
    case 'bool':
      return { ...head, bool_val: flat.map((n) => n !== 0) };
    case 'complex64':
      return { ...head, scomplex_val: flat.flatMap((n) => [n, 0]) };
    case 'complex128':
      return { ...head, dcomplex_val: flat.flatMap((n) => [n, 0]) };
    default:
      return { ...head, int_val: flat };
  }
}

/** Whether numbers are made of sizes that may be any. */
function hasSizes(value: ConstantInput['value']): boolean {
  return Array.isArray(value) ? value.some((v: Dim | Dims) => hasSizes(v)) : isExpression(value);
}

const OPERATIONS: Readonly<Record<Operation, string>> = {
  floorDiv: 'FloorDiv',
  mod: 'FloorMod',
  max: 'Maximum',
  min: 'Minimum',
};

const castAttrs = (to: DType): Readonly<Record<string, AttrValue>> => ({
  SrcT: { type: numberOf('int32') },
  DstT: { type: numberOf(to) },
  Truncate: { b: false },
});

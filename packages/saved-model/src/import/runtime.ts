// Runs the nodes of TensorFlow's graphs by calling Eagre's ops: at once, or, in a function that is traced, into its graph.
// Types in a circle: the rows of ops get a call, which knows the runtime that calls them.
import { EagreError, errorFromCode, ResourceExhaustedError } from '@eagre/backend';
import { InvalidArgumentError, type Tensor, UnimplementedError } from '@eagre/core';
import { context, textOf } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { type ImportedLibrary, InnerTensor } from '../imported.ts';
import { Body, type Node, type Ref } from './body.ts';
import { functionalized } from './frames.ts';
import { OpCall } from './op-call.ts';
import type { OpRow } from './op-row.ts';
import { whyNot } from './ops/untranslated.ts';
import { missingGradient, type OwnGradient, withOwnGradient } from './own-gradients.ts';
import type { Pause } from './pauses.ts';
import type { Resource, Value } from './values.ts';

/** What a graph finds outside of itself. */
export interface Surroundings {
  /** Resources of the graph by their names, such as variables. */
  readonly resources: Map<string, Resource>;
  /** Whether a variable of the graph is trained. */
  readonly isTrainable: (name: string) => boolean;
  /** Reads tensors of a checkpoint by their names. */
  readonly restore: (prefix: string, names: readonly string[], call: OpCall) => Tensor[];
  /** The gradients that the file has for nodes, by their types. */
  readonly gradients: Map<string, OwnGradient>;
  /** The text of an asset; graphs read no other files. */
  readonly assetText: (path: string, call: OpCall) => string;
}

/** A graph by itself. */
export const nothingAround = (): Surroundings => ({
  resources: new Map(),
  isTrainable: () => true,
  gradients: new Map(),
  restore: (_, __, call) => {
    throw call.lacks('there is no checkpoint to read from');
  },
  assetText: (path, call) => {
    throw call.lacks(`'${path}' is no asset of the model`);
  },
});

// Calls in calls; functions that call themselves would never end.
const DEEPEST_CALL = 100;

/** Nodes of a function with those of all that it calls, each as often as it is called. */
const MOST_NODES = 200_000;

/** The attribute of a node whose gradient is not that of its op. */
const GRADIENT = '_gradient_op_type';

/** A function of the library, ready to be called. */
interface LibraryFunction {
  readonly body: Body;
  readonly outputs: readonly Ref[];
  /** What has to run beside the outputs. */
  readonly effects: readonly number[];
  readonly def: tensorflow.FunctionDef;
}

/** A graph with its functions. */
export class Runtime implements ImportedLibrary {
  readonly graph: Body;
  readonly rows: ReadonlyMap<string, OpRow>;
  readonly surroundings: Surroundings;
  readonly #library: ReadonlyMap<string, tensorflow.FunctionDef>;
  readonly #gradients: ReadonlyMap<string, string>;
  readonly #functions = new Map<string, LibraryFunction>();
  readonly #sizes = new Map<string, number>();
  #depth = 0;

  /** @throws InvalidArgumentError for functions or nodes of one name. */
  constructor(
    graphDef: tensorflow.GraphDef,
    rows: ReadonlyMap<string, OpRow>,
    surroundings: Surroundings = nothingAround(),
  ) {
    this.rows = rows;
    this.surroundings = surroundings;
    const library = new Map<string, tensorflow.FunctionDef>();
    for (const def of graphDef.library?.function ?? []) {
      const name = def.signature?.name ?? '';
      if (library.has(name)) throw new InvalidArgumentError(`two functions are called '${name}'`);
      library.set(name, def);
    }
    this.#library = library;
    this.#gradients = new Map(
      (graphDef.library?.registered_gradients ?? []).map((g) => [
        g.registered_op_type ?? '',
        g.gradient_func ?? '',
      ]),
    );
    this.graph = functionalized(new Body('main', graphDef.node ?? [], null, this.#place));
  }

  /** Whether some node makes lists longer: lists of fixed size are faster. */
  get growsLists(): boolean {
    this.#grows ??= [
      ...this.graph.defs,
      ...[...this.#library.values()].flatMap((f) => f.node_def ?? []),
    ].some(
      ({ op, attr }) =>
        op === 'TensorListResize' ||
        op === 'TensorListConcatLists' ||
        attr?.get('resize_if_index_out_of_bounds')?.b === true,
    );
    return this.#grows;
  }
  #grows: boolean | undefined;

  /** The names of the library's functions. */
  get functionNames(): readonly string[] {
    return [...this.#library.keys()];
  }
  hasFunction(name: string): boolean {
    return this.#library.has(name);
  }
  definition(name: string): tensorflow.FunctionDef | undefined {
    return this.#library.get(name);
  }
  /** The types of nodes that have a gradient of their own in the file. */
  get gradientTypes(): readonly string[] {
    return [...this.#gradients.keys()];
  }
  gradientOf(type: string): string | undefined {
    return this.#gradients.get(type);
  }

  /** Where outputs with a name begin among a node's outputs. */
  readonly #place = (def: tensorflow.NodeDef, name: string, body: Body): number => {
    const row = this.rows.get(def.op ?? '');
    const called = this.#library.get(def.op ?? '');
    const names = row === undefined ? called?.signature?.output_arg?.map((a) => a.name ?? '') : row.outputs;
    // An op with one output, or a list of them.
    if (names === undefined) return 0;
    const at = names.indexOf(name);
    if (at < 0)
      throw new InvalidArgumentError(
        `graph '${body.name}': node '${def.name}' (${def.op}) has no output '${name}'`,
      );
    const counts = row?.counts?.(def);
    return counts === undefined ? at : counts.slice(0, at).reduce((sum, count) => sum + count, 0);
  };

  /** @throws InvalidArgumentError for a function that is not in the library. */
  function(name: string): LibraryFunction {
    let found = this.#functions.get(name);
    if (found !== undefined) return found;
    const def = this.#library.get(name);
    if (def === undefined) throw new InvalidArgumentError(`the graph has no function '${name}'`);
    const args = (def.signature?.input_arg ?? []).map((a) => a.name ?? '');
    const body = functionalized(new Body(name, def.node_def ?? [], args, this.#place));
    const outputs = (def.signature?.output_arg ?? []).map(({ name: output = '' }) => {
      const ref = def.ret?.get(output);
      if (ref === undefined)
        throw new InvalidArgumentError(`function '${name}' does not say what '${output}' is`);
      return body.ref(ref);
    });
    body.results = outputs;
    const effects = [...(def.control_ret?.values() ?? [])].map((node) => body.id(node));
    found = { body, outputs, effects, def };
    this.#functions.set(name, found);
    return found;
  }

  /** How many nodes run for a call of a function; each function is looked at once. */
  #sizeOf(name: string, depth: number): number {
    const known = this.#sizes.get(name);
    if (known !== undefined) return known;
    // What calls itself, or is nested too deep, is refused where it is called.
    if (depth > DEEPEST_CALL) return 0;
    this.#sizes.set(name, 0);
    let size = 0;
    for (const { op = '', attr } of this.#library.get(name)?.node_def ?? []) {
      size += 1 + (this.#library.has(op) ? this.#sizeOf(op, depth + 1) : 0);
      for (const { func, list } of attr?.values() ?? [])
        for (const called of [func, ...(list?.func ?? [])])
          if (called?.name !== undefined) size += this.#sizeOf(called.name, depth + 1);
    }
    this.#sizes.set(name, size);
    return size;
  }

  /** A function of the library that is called. @throws InvalidArgumentError for another number of arguments, and for calls without end or too many. */
  #called(name: string, args: readonly Value[], depth: number): LibraryFunction {
    const found = this.function(name);
    if (args.length !== found.body.arguments.length)
      throw new InvalidArgumentError(
        `function '${name}' takes ${found.body.arguments.length} arguments, but got ${args.length}`,
      );
    if (depth === 0 && this.#sizeOf(name, 0) > MOST_NODES)
      throw new ResourceExhaustedError(
        `function '${name}': with the functions that it calls it has more than ${MOST_NODES} nodes`,
      );
    if (depth >= DEEPEST_CALL)
      throw new InvalidArgumentError(`function '${name}': calls are nested more than ${DEEPEST_CALL} deep`);
    return found;
  }

  /** Calls a function of the library. */
  call(name: string, args: readonly Value[]): Value[] {
    const { body, outputs, effects } = this.#called(name, args, this.#depth);
    this.#depth++;
    try {
      return this.run(body, new Map(args.map((value, id) => [id, [value]])), outputs, effects);
    } finally {
      this.#depth--;
    }
  }

  /** {@link call} with pauses between nodes, also those of functions that it calls. */
  async callAsync(name: string, args: readonly Value[], pause: Pause, depth: number = 0): Promise<Value[]> {
    const { body, outputs, effects } = this.#called(name, args, depth);
    const fed = new Map(args.map((value, id) => [id, [value]]));
    return this.runAsync(body, fed, outputs, effects, pause, depth + 1);
  }

  /** {@link run} with pauses between nodes. */
  async runAsync(
    body: Body,
    fed: ReadonlyMap<number, readonly (Value | undefined)[]>,
    outputs: readonly Ref[],
    effects: readonly number[],
    pause: Pause,
    depth: number = 0,
  ): Promise<Value[]> {
    const values = new Map(fed);
    const wanted = [...outputs.map((ref) => ref.node), ...effects];
    for (const node of body.order(wanted, new Set(fed.keys()))) {
      const wait = pause();
      if (wait !== null) await wait;
      const called = this.#calledBy(body, node);
      if (called === undefined) values.set(node.id, this.#runNode(body, node, values));
      else {
        const inputs = node.inputs.map((ref) => valueAt(body, values, ref));
        values.set(node.id, await this.callAsync(called, inputs, pause, depth));
      }
    }
    return outputs.map((ref) => valueAt(body, values, ref));
  }

  /** The function that a node does nothing but call. */
  #calledBy(body: Body, { def, id }: Node): string | undefined {
    if (body.macro(id) !== undefined) return undefined;
    if (def.op === 'PartitionedCall' || def.op === 'StatefulPartitionedCall')
      return def.attr?.get('f')?.func?.name;
    return !this.rows.has(def.op ?? '') && this.#library.has(def.op ?? '') ? def.op : undefined;
  }

  /** What outputs of a body are, where the nodes in `fed` have these values; `effects` run too. */
  run(
    body: Body,
    fed: ReadonlyMap<number, readonly (Value | undefined)[]>,
    outputs: readonly Ref[],
    effects: readonly number[] = [],
  ): Value[] {
    const values = this.runNodes(body, fed, [...outputs.map((ref) => ref.node), ...effects]);
    return outputs.map((ref) => valueAt(body, values, ref));
  }

  /** What the nodes that some need compute. */
  runNodes(
    body: Body,
    fed: ReadonlyMap<number, readonly (Value | undefined)[]>,
    wanted: readonly number[],
  ): ReadonlyMap<number, readonly (Value | undefined)[]> {
    const values = new Map(fed);
    for (const node of body.order(wanted, new Set(fed.keys())))
      values.set(node.id, this.#runNode(body, node, values));
    return values;
  }

  #runNode(
    body: Body,
    node: Node,
    values: ReadonlyMap<number, readonly (Value | undefined)[]>,
  ): readonly Value[] {
    const { def } = node;
    if (body.isArgument(node.id))
      throw new InvalidArgumentError(`graph '${body.name}': the argument '${def.name}' has no value`);
    const inputs = node.inputs.map((ref) => valueAt(body, values, ref));
    const row = this.rows.get(def.op ?? '');
    const macro = body.macro(node.id);
    try {
      if (macro !== undefined) return macro.run(new OpCall(def, inputs, this), this, body);
      if (row === undefined) {
        if (this.#library.has(def.op ?? '')) return this.call(def.op as string, inputs);
        throw lacking(def, body);
      }
      const result = row.run(new OpCall(def, inputs, this));
      const outputs = result === undefined ? [] : Array.isArray(result) ? result : [result as Value];
      const type = def.attr?.get(GRADIENT)?.s;
      // A call's is that of the function.
      const isOwn = type !== undefined && !CALLS.has(def.op ?? '');
      if (!isOwn || (context.tapes.length === 0 && context.tracer === null)) return outputs;
      return this.#withGradient(body, node, inputs, outputs, values, textOf(type));
    } catch (error) {
      throw located(error, def);
    }
  }

  /** The outputs of a node whose gradient is a function of the file. */
  #withGradient(
    body: Body,
    { def, id }: Node,
    inputs: readonly Value[],
    outputs: readonly Value[],
    values: ReadonlyMap<number, readonly (Value | undefined)[]>,
    type: string,
  ): Value[] {
    const used = (output: number): boolean => body.isUsed(id, output);
    const gradient = this.surroundings.gradients.get(type);
    if (gradient === undefined) {
      const all = inputs.map((_, i) => i);
      return withOwnGradient(inputs, outputs, used, all, () => missingGradient(inputs, def.name ?? '', type));
    }
    const inner = ({ name, concreteFunction }: InnerTensor): Value => {
      if (concreteFunction !== body.name)
        throw new UnimplementedError(
          `the gradient of node '${def.name}' uses '${name}' of '${concreteFunction}', a function around the node's`,
        );
      const ref = body.ref(name);
      const known = values.has(ref.node) ? values : this.runNodes(body, values, [ref.node]);
      return valueAt(body, known, ref);
    };
    return withOwnGradient(inputs, outputs, used, gradient.places, (gradients) =>
      this.call(gradient.name, [
        ...gradients,
        ...gradient.captures().map((value) => (value instanceof InnerTensor ? inner(value) : value)),
      ]),
    );
  }

  /** @throws UnimplementedError for ops that Eagre lacks among those that outputs of a body need, in functions too. */
  check(
    body: Body,
    outputs: readonly Ref[],
    effects: readonly number[],
    fed: ReadonlySet<number>,
    checked: Set<string> = new Set(),
  ): void {
    // A list and no recursion: functions may call each other in a circle.
    const waiting: (() => readonly [Body, readonly number[], ReadonlySet<number>])[] = [
      () => [body, [...outputs.map((ref) => ref.node), ...effects], fed],
    ];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [own, wanted, given] = next();
      for (const { def } of own.order(wanted, given)) {
        if (given.has(own.id(def.name ?? ''))) continue;
        const called = functionsOf(def);
        const macro = own.macro(own.id(def.name ?? ''));
        for (const { outputs: parts, fed: also } of macro?.parts ?? [])
          waiting.push(() => [own, parts.map((ref) => ref.node), new Set([...given, ...also])]);
        if (macro !== undefined) continue;
        if (!this.rows.has(def.op ?? '')) {
          if (!this.#library.has(def.op ?? '')) throw lacking(def, own);
          called.push(def.op as string);
        }
        for (const name of called) {
          if (checked.has(name)) continue;
          checked.add(name);
          waiting.push(() => {
            const fn = this.function(name);
            return [
              fn.body,
              [...fn.outputs.map((ref) => ref.node), ...fn.effects],
              new Set(fn.body.arguments),
            ];
          });
        }
      }
    }
  }

  /** {@link check} of a function. */
  checkFunction(name: string, checked: Set<string>): void {
    if (checked.has(name)) return;
    checked.add(name);
    const { body, outputs, effects } = this.function(name);
    this.check(body, outputs, effects, new Set(body.arguments), checked);
  }
}

function valueAt(
  body: Body,
  values: ReadonlyMap<number, readonly (Value | undefined)[]>,
  { node, output }: Ref,
): Value {
  const value = values.get(node)?.[output];
  if (value === undefined)
    throw new InvalidArgumentError(
      `graph '${body.name}': node '${body.defs[node]?.name}' has no output ${output}`,
    );
  return value;
}

/** The functions that a node names in its attributes, such as the body of a loop. */
function functionsOf({ attr, op = '' }: tensorflow.NodeDef): string[] {
  const found: string[] = [];
  if (!CALLS.has(op)) return found;
  for (const { func, list } of attr?.values() ?? []) {
    if (func?.name !== undefined) found.push(func.name);
    for (const { name } of list?.func ?? []) if (name !== undefined) found.push(name);
  }
  return found;
}

const CALLS: ReadonlySet<string> = new Set([
  'PartitionedCall',
  'StatefulPartitionedCall',
  'BatchFunction',
  'SymbolicGradient',
  'If',
  'StatelessIf',
  'Case',
  'StatelessCase',
  'While',
  'StatelessWhile',
  'For',
]);

function lacking(def: tensorflow.NodeDef, body: Body): UnimplementedError {
  const why = whyNot(def.op ?? '');
  return new UnimplementedError(
    `Eagre has no op '${def.op}' (node '${def.name}' of '${body.name}')${why === undefined ? '' : `, as ${why}`}: export the model without it, or load it with { lazy: true } and call functions that do not need it`,
  );
}

/** An error of an op, with the node that it arose in. */
function located(error: unknown, { name = '', op = '' }: tensorflow.NodeDef): unknown {
  if (!(error instanceof EagreError) || error.message.includes("node '")) return error;
  return errorFromCode(error.code, `${error.message} (in node '${name}', ${op})`);
}

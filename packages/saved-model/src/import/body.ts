// The nodes of a graph or a function, found by their names and put in an order in which each comes after what it needs.
// Types in a circle: a macro is run by the runtime, which runs bodies.
import { InvalidArgumentError } from '@eagre/core';
import type { tensorflow } from '@eagre/formats';
import type { OpCall } from './op-call.ts';
import type { Runtime } from './runtime.ts';
import type { Value } from './values.ts';

/** An output of a node or an argument. */
export interface Ref {
  readonly node: number;
  readonly output: number;
}

/** A node with its inputs found. */
export interface Node {
  readonly def: tensorflow.NodeDef;
  /** Its place among the body's nodes. */
  readonly id: number;
  readonly inputs: readonly Ref[];
  readonly control: readonly number[];
}

/** Tells where the outputs of a node begin that have a name in functions, such as `variance` of FusedBatchNormV3. */
export type OutputPlace = (def: tensorflow.NodeDef, name: string, body: Body) => number;

/** A node that runs parts of its own body: a branch or loop of TensorFlow 1. */
export interface Macro {
  /** What it may run: outputs, and the nodes that have values then. */
  readonly parts: readonly { readonly outputs: readonly Ref[]; readonly fed: readonly number[] }[];
  run(call: OpCall, runtime: Runtime, body: Body): readonly Value[];
}

const ARGUMENT = '_Arg';

/** The nodes of a graph or of a function. */
export class Body {
  readonly name: string;
  readonly #defs: readonly tensorflow.NodeDef[];
  readonly #ids = new Map<string, number>();
  readonly #nodes: (Node | undefined)[] = [];
  readonly #place: OutputPlace;
  /** Whether outputs have names, as in functions. */
  readonly isFunction: boolean;
  /** The numbers of the arguments' nodes. */
  readonly arguments: readonly number[];
  readonly #plans = new Map<string, readonly Node[]>();

  /**
   * @param args the names of a function's arguments; null for a graph, in which outputs have numbers alone.
   * @throws InvalidArgumentError for a name that two nodes have.
   */
  constructor(
    name: string,
    defs: readonly tensorflow.NodeDef[],
    args: readonly string[] | null,
    place: OutputPlace,
  ) {
    this.name = name;
    this.isFunction = args !== null;
    this.#place = place;
    this.#defs = [...(args ?? []).map((name) => ({ name, op: ARGUMENT })), ...defs];
    this.#defs.forEach(({ name: own = '' }, id) => {
      if (this.#ids.has(own)) throw this.#error(`two nodes are called '${own}'`);
      this.#ids.set(own, id);
    });
    this.arguments = (args ?? []).map((_, i) => i);
  }

  #error(why: string): InvalidArgumentError {
    return new InvalidArgumentError(`graph '${this.name}': ${why}`);
  }

  /** The same with other nodes, of which some are macros. */
  with(defs: readonly tensorflow.NodeDef[], macros: ReadonlyMap<string, Macro>): Body {
    const args = defs.slice(0, this.arguments.length).map(({ name = '' }) => name);
    const other = new Body(this.name, defs.slice(args.length), this.isFunction ? args : null, this.#place);
    for (const [name, macro] of macros) other.#macros.set(other.id(name), macro);
    return other;
  }
  readonly #macros = new Map<number, Macro>();
  macro(id: number): Macro | undefined {
    return this.#macros.get(id);
  }

  get defs(): readonly tensorflow.NodeDef[] {
    return this.#defs;
  }

  /** The number of the node with a name. @throws InvalidArgumentError where there is none. */
  id(name: string, from: string = ''): number {
    const id = this.#ids.get(name);
    if (id === undefined)
      throw this.#error(`${from === '' ? '' : `node '${from}' needs `}'${name}', which is not in the graph`);
    return id;
  }
  has(name: string): boolean {
    return this.#ids.has(name);
  }

  /** The output with a name: `node`, `node:1`, or `node:output:0` in functions. */
  ref(name: string, from: string = ''): Ref {
    const [node = '', ...rest] = name.split(':');
    const id = this.id(node, from);
    const index = Number(rest.at(-1) ?? 0);
    if (rest.length > 2 || !Number.isInteger(index) || index < 0)
      throw this.#error(`'${name}' is the name of no output`);
    if (rest.length < 2) return { node: id, output: index };
    if (!this.isFunction) throw this.#error(`'${name}' is the name of no output`);
    const def = this.#defs[id] as tensorflow.NodeDef;
    return { node: id, output: this.#place(def, rest[0] as string, this) + index };
  }

  node(id: number): Node {
    let node = this.#nodes[id];
    if (node !== undefined) return node;
    const def = this.#defs[id] as tensorflow.NodeDef;
    const inputs: Ref[] = [];
    const control: number[] = [];
    for (const input of def.input ?? []) {
      if (input.startsWith('^')) control.push(this.id(input.slice(1), def.name));
      else inputs.push(this.ref(input, def.name));
    }
    node = { def, id, inputs, control };
    this.#nodes[id] = node;
    return node;
  }

  /** What the function gives: it uses these outputs, too. */
  results: readonly Ref[] = [];
  /** Whether an output is used by a node, or is a result. */
  isUsed(id: number, output: number): boolean {
    this.#used ??= new Set(
      [...this.#defs.flatMap((_, i) => this.node(i).inputs), ...this.results].map(
        (ref) => `${ref.node}:${ref.output}`,
      ),
    );
    return this.#used.has(`${id}:${output}`);
  }
  #used: ReadonlySet<string> | undefined;

  isArgument(id: number): boolean {
    return (this.#defs[id] as tensorflow.NodeDef).op === ARGUMENT && this.isFunction;
  }

  /**
   * The nodes that some need, themselves included, each after what it needs; those in `fed` have values already.
   * @throws InvalidArgumentError for nodes that need each other.
   */
  order(wanted: readonly number[], fed: ReadonlySet<number> = new Set()): readonly Node[] {
    const key = `${wanted.join()}|${[...fed].join()}`;
    let plan = this.#plans.get(key);
    if (plan === undefined) this.#plans.set(key, (plan = this.#ordered(wanted, fed)));
    return plan;
  }

  #ordered(wanted: readonly number[], fed: ReadonlySet<number>): Node[] {
    const order: Node[] = [];
    const state = new Map<number, 'open' | 'done'>();
    // A list and no recursion: graphs may be deeper than the stack.
    const stack = [...wanted].reverse();
    while (stack.length > 0) {
      const id = stack.at(-1) as number;
      const now = state.get(id);
      if (now === 'done' || fed.has(id)) {
        stack.pop();
        continue;
      }
      const node = this.node(id);
      if (now === 'open') {
        state.set(id, 'done');
        order.push(node);
        stack.pop();
        continue;
      }
      state.set(id, 'open');
      const needs = [...node.inputs.map((ref) => ref.node), ...node.control];
      for (let i = needs.length - 1; i >= 0; i--) {
        const need = needs[i] as number;
        if (fed.has(need) || state.get(need) === 'done') continue;
        if (state.get(need) === 'open')
          throw this.#error(`the nodes '${node.def.name}' and '${this.#defs[need]?.name}' need each other`);
        stack.push(need);
      }
    }
    return order;
  }
}

// Functions on several devices: each device runs its parts of the graph as plans of its own, and values go from one to the other.
import { type Allocator, type Backend, placement, throwIfAborted, UnimplementedError } from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import { copyTo, deviceName, findDevice, onBackend } from '@eagre/core/internal';
import type { ForwardRecord } from '../control/control-op.ts';
import { type Assignment, Graph, type GraphNode, type GraphValue } from '../ir/graph.ts';
import { bodiesOf, changedBy, hasEffects, isFree, onlyComputes } from '../ir/graph-bodies.ts';

/** Nodes that run as one plan on one device. The graph's arguments and outputs are values of the whole graph. */
export interface PlacedPart {
  readonly backend: Backend;
  readonly graph: Graph;
}

/** What runs the graph of a part. */
export interface PartRun {
  run(inputs: readonly Tensor[]): readonly Tensor[];
  callAsync(inputs: readonly Tensor[], signal?: AbortSignal): Promise<unknown>;
  planText(): string;
  dispose(): void;
}

/**
 * The parts of a graph that is called on a device, in the order in which they run; null where all of it runs there.
 *
 * An op runs where `tf.device` put it, else where the function is called; what changes a variable, or is assigned to it, runs where that is. As much as
 * can be runs at once, so that the work of several devices overlaps, but calls of the host and random draws keep their order.
 * @throws NotFoundError for a device that is no more; UnimplementedError where a loop and its gradient come apart.
 */
export function partsByDevice(graph: Graph, backend: Backend): readonly PlacedPart[] | null {
  // Most graphs, told without a look at all that they need.
  const isHome = ({ variable }: Assignment): boolean => variable.backend.allocator === backend.allocator;
  if (graph.nodes.every(({ device }) => device === '') && graph.assignments.every(isHome)) return null;
  const live = graph.liveNodes();
  const places = new Places(backend);
  const at = new Map<GraphNode, Backend>();
  const free = new Set<GraphNode>();
  const assigned = new Map(graph.assignments.map(({ variable, value }) => [value.node, variable]));
  for (const node of live.filter(({ what }) => what.kind !== 'argument'))
    if (isFree(node) || isMadeOfConstants(node, free)) free.add(node);
    else at.set(node, places.of(node, assigned.get(node)));
  const isHere = (b: Backend): boolean => b === backend;
  if ([...at.values()].every(isHere) && graph.assignments.every((a) => isHere(places.ofVariable(a.variable))))
    return null;
  return new Partition(graph, live, at, places).parts();
}

/** What nobody placed and needs nothing of a run: zeros, ones. Each part makes its own. */
function isMadeOfConstants(node: GraphNode, free: ReadonlySet<GraphNode>): boolean {
  const { what, device, inputs } = node;
  return (
    what.kind === 'op' &&
    device === '' &&
    onlyComputes(node) &&
    inputs.every((v) => free.has(v.node) && v.node.what.kind !== 'variable')
  );
}

/** Where nodes run. Devices that share one memory are one: that of the call, if it is among them. */
class Places {
  readonly #call: Backend;
  readonly #byMemory: Map<Allocator, Backend>;
  readonly #byName = new Map<string, Backend>();

  constructor(call: Backend) {
    this.#call = call;
    this.#byMemory = new Map([[call.allocator, call]]);
  }

  /** @param assigned the variable that gets the node's result. */
  of(node: GraphNode, assigned: Variable | undefined): Backend {
    const [first, ...others] = changedBy(node).map((variable) => this.ofVariable(variable));
    if (first !== undefined && others.some((other) => other !== first))
      throw new UnimplementedError(
        `'${node.name}' changes variables of several devices: a branch or a loop runs on one`,
        node.type,
      );
    const unnamed = assigned === undefined ? this.#call : this.ofVariable(assigned);
    const place = first ?? (node.device === '' ? unnamed : this.#named(node.device));
    if (!placement.soft) this.#checkInside(node, node, place);
    return place;
  }

  ofVariable({ backend }: Variable): Backend {
    return this.#shared(backend);
  }

  /** Branches and loops run as a whole, wherever `tf.device` put what is inside. */
  #checkInside(node: GraphNode, around: GraphNode, place: Backend): void {
    for (const inner of bodiesOf(around).flatMap(({ nodes }) => nodes)) {
      if (inner.device !== '' && this.#named(inner.device) !== place)
        throw new UnimplementedError(
          `'${inner.name}' is placed on ${inner.device}, but the branch or loop around it runs as a whole on ${deviceName(place)}`,
          node.type,
        );
      this.#checkInside(node, inner, place);
    }
  }

  #named(name: string): Backend {
    let backend = this.#byName.get(name);
    if (backend === undefined) this.#byName.set(name, (backend = this.#shared(findDevice(name))));
    return backend;
  }

  #shared(backend: Backend): Backend {
    const known = this.#byMemory.get(backend.allocator);
    if (known === undefined) this.#byMemory.set(backend.allocator, backend);
    return known ?? backend;
  }
}

interface Building {
  readonly backend: Backend;
  readonly nodes: Set<GraphNode>;
  readonly given: Set<GraphValue>;
  readonly outputs: Set<GraphValue>;
  readonly stores: Map<Variable, GraphValue>;
}

class Partition {
  readonly #graph: Graph;
  readonly #live: readonly GraphNode[];
  readonly #at: ReadonlyMap<GraphNode, Backend>;
  readonly #places: Places;
  readonly #parts: Building[] = [];
  /** By node: the number of its part. */
  readonly #part = new Map<GraphNode, number>();
  /** By variable: the first part that changes it, in which its value from before the call is known. */
  readonly #changedIn = new Map<Variable, number>();

  constructor(graph: Graph, live: readonly GraphNode[], at: ReadonlyMap<GraphNode, Backend>, places: Places) {
    this.#graph = graph;
    this.#live = live;
    this.#at = at;
    this.#places = places;
  }

  parts(): readonly PlacedPart[] {
    this.#order();
    this.#checkLoops();
    this.#store();
    this.#parts.forEach((part, index) => {
      for (const node of [...part.nodes]) for (const value of node.inputs) this.#need(index, value);
      for (const value of part.stores.values()) this.#need(index, value);
    });
    for (const value of this.#graph.outputs) {
      const index = this.#part.get(value.node) ?? this.#homeOf(value.node);
      this.#need(index, value);
      this.#parts[index].outputs.add(value);
    }
    return this.#parts.map((part) => ({ backend: part.backend, graph: this.#graphOf(part) }));
  }

  /** Gives each node its part: all that can run now on the device of the first that is left, and so on. */
  #order(): void {
    const at = this.#at;
    let left = this.#live.filter((node) => at.has(node));
    while (left.length > 0) {
      const backend = at.get(left[0]) as Backend;
      const index = this.#parts.length;
      const later: GraphNode[] = [];
      let waits = false;
      for (const node of left) {
        const effects = hasEffects(node);
        const isReady =
          at.get(node) === backend &&
          !(effects && waits) &&
          node.inputs.every((v) => !at.has(v.node) || this.#part.has(v.node));
        if (isReady) this.#part.set(node, index);
        else {
          later.push(node);
          waits ||= effects;
        }
      }
      this.#add(
        backend,
        left.filter((node) => this.#part.get(node) === index),
      );
      left = later;
    }
  }

  #add(backend: Backend, nodes: readonly GraphNode[]): number {
    const part = {
      backend,
      nodes: new Set(nodes),
      given: new Set<GraphValue>(),
      outputs: new Set<GraphValue>(),
    };
    return this.#parts.push({ ...part, stores: new Map() }) - 1;
  }

  /** What a loop keeps for its gradient lies in the memory of one plan. */
  #checkLoops(): void {
    for (const node of this.#live) {
      const of = (node.attrs['restored'] as { readonly of: ForwardRecord } | null | undefined)?.of;
      const loop = of === undefined ? undefined : this.#live.find(({ attrs }) => attrs['record'] === of);
      if (loop !== undefined && this.#part.get(loop) !== this.#part.get(node))
        throw new UnimplementedError(
          `'${loop.name}' has a gradient that needs values of another device on its way: compute loops and what becomes of them on one device`,
          loop.type,
        );
    }
  }

  /** Decides which parts change variables, and what these are behind each. */
  #store(): void {
    const parts = this.#parts;
    const changes = new Map<Variable, Set<number>>();
    const change = (variable: Variable, index: number): void => {
      changes.set(variable, (changes.get(variable) ?? new Set()).add(index));
    };
    for (const [node, index] of this.#part) for (const variable of changedBy(node)) change(variable, index);
    for (const { variable, value } of this.#graph.assignments) {
      const backend = this.#places.ofVariable(variable);
      const made = this.#part.get(value.node) ?? -1;
      const last = Math.max(-1, ...(changes.get(variable) ?? []));
      // In place where the value is made, else in the first part behind that, which gets it.
      let index = parts.findIndex((part, i) => part.backend === backend && i >= Math.max(made, last));
      if (index < 0) index = this.#add(backend, []);
      parts[index].stores.set(variable, value);
      change(variable, index);
    }
    for (const [node, index] of this.#part)
      changedBy(node).forEach((variable, i) => {
        const { stores } = parts[index];
        const isFinal = this.#graph.assignments.some(
          (a) => a.variable === variable && stores.get(variable) === a.value,
        );
        if (isFinal) return;
        if (node.what.kind !== 'update')
          throw new UnimplementedError(
            `'${node.name}' changes the variable '${variable.path}', which changes again behind work of another device`,
            node.type,
          );
        stores.set(variable, node.outputs[i]);
      });
    for (const [variable, indices] of changes) this.#changedIn.set(variable, Math.min(...indices));
  }

  /** Where a value that costs nothing becomes a result. */
  #homeOf({ what }: GraphNode): number {
    const changed = what.kind === 'variable' ? this.#changedIn.get(what.variable) : undefined;
    return changed ?? 0;
  }

  /** Brings a value into a part: a node of its own, or from the part that makes it. */
  #need(index: number, value: GraphValue): void {
    const { node } = value;
    const part = this.#parts[index];
    switch (node.what.kind) {
      case 'argument':
        part.given.add(value);
        return;
      case 'constant':
      case 'size':
        part.nodes.add(node);
        return;
      case 'variable': {
        const changed = this.#changedIn.get(node.what.variable) ?? index;
        if (index > changed) this.#bring(value, changed, part);
        (index > changed ? this.#parts[changed] : part).nodes.add(node);
        return;
      }
      default: {
        const made = this.#part.get(node);
        if (made === undefined) {
          part.nodes.add(node);
          for (const input of node.inputs) this.#need(index, input);
        } else if (made !== index) this.#bring(value, made, part);
      }
    }
  }

  #bring(value: GraphValue, from: number, to: Building): void {
    this.#parts[from].outputs.add(value);
    to.given.add(value);
  }

  #graphOf({ nodes, given, outputs, stores }: Building): Graph {
    const graph = new Graph(this.#graph.name);
    graph.nodes.push(...this.#live.filter((node) => nodes.has(node)));
    graph.arguments.push(...given);
    graph.outputs = [...outputs];
    graph.assignments = [...stores].map(([variable, value]): Assignment => ({ variable, value }));
    return graph;
  }
}

/** Runs the parts of a graph, one behind the other; devices that compute later go on meanwhile. */
export class PlacedRun {
  readonly #graph: Graph;
  readonly #parts: readonly (PlacedPart & { readonly run: PartRun })[];

  constructor(graph: Graph, parts: readonly PlacedPart[], prepare: (graph: Graph) => PartRun) {
    this.#graph = graph;
    this.#parts = parts.map((part) => ({ ...part, run: prepare(part.graph) }));
  }

  /** @returns a tensor for each output of the graph, on the device that made it. */
  run(inputs: readonly Tensor[]): readonly Tensor[] {
    const values = new Values(this.#graph, inputs);
    try {
      for (const part of this.#parts)
        onBackend(part.backend, () => values.add(part, part.run.run(values.given(part))));
      return values.results();
    } finally {
      values.end();
    }
  }

  /** `run`, whose parts run on another thread where their device is the CPU. One that changes variables runs at once, so that no other comes between its parts. */
  async runAsync(inputs: readonly Tensor[], signal?: AbortSignal): Promise<readonly Tensor[]> {
    throwIfAborted(signal);
    if (this.#graph.assignments.length > 0) return this.run(inputs);
    const values = new Values(this.#graph, inputs);
    try {
      for (const part of this.#parts) {
        const made = onBackend(part.backend, () => part.run.callAsync(values.given(part), signal));
        values.add(part, (await made) as readonly Tensor[]);
      }
      return values.results();
    } finally {
      values.end();
    }
  }

  planText(): string {
    return this.#parts
      .map(({ backend, run }, i) => {
        const plan = onBackend(backend, () => run.planText());
        return `part ${i + 1}, on ${deviceName(backend)}:\n${plan}`;
      })
      .join('\n\n');
  }

  dispose(): void {
    for (const { run } of this.#parts) run.dispose();
  }
}

/** The values of a run that more than one part of it needs. */
class Values {
  readonly #outputs: readonly GraphValue[];
  readonly #values = new Map<GraphValue, Tensor>();
  /** What parts got on their devices of what lies on others. */
  readonly #copies = new Map<Allocator, Map<GraphValue, Tensor>>();
  /** What is given back at the end. */
  readonly #made = new Set<Tensor>();

  constructor(graph: Graph, inputs: readonly Tensor[]) {
    this.#outputs = graph.outputs;
    graph.arguments.forEach((value, i) => {
      this.#values.set(value, inputs[i]);
    });
  }

  given({ backend, graph }: PlacedPart): readonly Tensor[] {
    return graph.arguments.map((value) => {
      const tensor = this.#values.get(value) as Tensor;
      const { allocator } = backend;
      if (tensor.storage.allocator === allocator) return tensor;
      let copies = this.#copies.get(allocator);
      if (copies === undefined) this.#copies.set(allocator, (copies = new Map()));
      let copy = copies.get(value);
      if (copy === undefined) {
        copies.set(value, (copy = copyTo(tensor, backend)));
        this.#made.add(copy);
      }
      return copy;
    });
  }

  add({ graph }: PlacedPart, results: readonly Tensor[]): void {
    results.forEach((tensor, i) => {
      this.#values.set(graph.outputs[i], tensor);
      this.#made.add(tensor);
    });
  }

  results(): readonly Tensor[] {
    const results = this.#outputs.map((value) => this.#values.get(value) as Tensor);
    for (const tensor of results) this.#made.delete(tensor);
    return results;
  }

  end(): void {
    for (const tensor of this.#made) tensor.dispose();
  }
}

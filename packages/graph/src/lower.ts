import {
  type Backend,
  dtypeTraits,
  FailedPreconditionError,
  type HostCode,
  InternalError,
  type KernelName,
  type Plan,
  type PlanCall,
  type PlanState,
  type PlanTensor,
  type ScalarProgram,
  type Storage,
  type TensorRef,
  UnimplementedError,
} from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import {
  callHost,
  copyBytes,
  emptyTensor,
  hostBackend,
  inContext,
  lifted,
  named,
  type Sink,
  type SymbolicAttrs,
  SymbolicStorage,
  symbolically,
  symbolicTensor,
  transfer,
  viewOf,
} from '@eagre/core/internal';
import type { CaseAttrs } from './control/case.ts';
import { ControlOp, type ForwardRecord, type Saved } from './control/control-op.ts';
import { type WhileAttrs, type WhileGradAttrs, whileGradOp, whileOp } from './control/while.ts';
import type { Assignment, Graph, GraphNode, GraphValue, NodeKind } from './graph.ts';

/** A graph as kernel calls. Outputs of the graph that are one value share a place of `plan.outputs`. */
export interface Lowered {
  readonly plan: Plan;
  /** For each output of the graph, its place in `plan.outputs`. */
  readonly places: readonly number[];
}

/** Turns every op of a graph into kernel calls for the backend that is current. */
export function lower(graph: Graph): Lowered {
  const written = graph.assignments.map((a) => a.variable);
  const lowering = new Lowering(graph, hostBackend(), written);
  return inContext({ tapes: [], tracker: null }, () => symbolically(lowering, () => lowering.run()));
}

/** The memory of a variable, and which of its values lies there now. */
interface VariablePlace {
  readonly tensor: Tensor;
  holds: GraphValue | null;
}

/** One that the bodies of a node change: `written[index]`. */
interface Place {
  readonly variable: Variable;
  readonly index: number;
  readonly tensor: Tensor;
  readonly place: VariablePlace;
}

/** A value that goes on a stack, or comes from one. */
interface Kept {
  readonly value: GraphValue;
  readonly stack: object;
}

function keptOf(values: readonly GraphValue[], stacks: readonly object[] | undefined): Kept[] {
  return values.map((value, i) => ({ value, stack: stacks?.[i] as object }));
}

function restoredBy({ what, attrs }: GraphNode): Saved | null {
  if (what.kind !== 'op' || !(what.op instanceof ControlOp) || what.op === whileOp) return null;
  return (attrs as WhileGradAttrs | CaseAttrs).restored;
}

interface BodySpec {
  /** The arguments that the call gives. */
  readonly plain: readonly GraphValue[];
  /** How many of these a loop carries. */
  readonly carried: number;
  /** Whether a counter stands behind these. */
  readonly counted: boolean;
  /** What a turn adds to it; null where it is only passed by. */
  readonly step: number | null;
  /** The arguments that lie in a variable's memory. */
  readonly placed: readonly { readonly variable: Variable; readonly argument: GraphValue }[];
  readonly popped: readonly Kept[];
  readonly pushed: readonly Kept[];
  /** The outputs that are not variables in their memory. */
  readonly outputs: readonly GraphValue[];
  /** What these variables are at the end. */
  readonly stored: readonly Assignment[];
}

class Lowering implements Sink {
  readonly #graph: Graph;
  readonly #backend: Backend;
  readonly #bytes: number[] = [];
  readonly #calls: PlanCall[] = [];
  readonly #states: PlanState[] = [];
  /** What each value of the graph became. */
  readonly #tensors = new Map<GraphValue, Tensor>();
  readonly #constants = new Map<Tensor, Tensor>();
  readonly #variables = new Map<Variable, VariablePlace>();
  readonly #written: Set<Variable>;
  readonly #lastUse = new Map<GraphValue, number>();
  readonly #stacks = new Map<object, PlanTensor>();
  /** By the record of a loop: how many turns it made. */
  readonly #turns = new Map<ForwardRecord, Tensor>();
  /** What gradients in this graph take over. */
  readonly #restored = new Set<Saved>();
  #node: GraphNode | null = null;

  constructor(graph: Graph, backend: Backend, written: readonly Variable[]) {
    this.#graph = graph;
    this.#backend = backend;
    this.#written = new Set(written);
  }

  run(): Lowered {
    const graph = this.#graph;
    const inputs = graph.arguments.map((value) => this.#number(this.#fresh(value)));
    this.#nodes();
    const outputs: number[] = [];
    const places = graph.outputs.map((value) => this.#output(value, outputs, true));
    this.#assign(graph.assignments);
    return { plan: this.#plan(inputs, outputs), places };
  }

  /** Lowers a body. Its plan has the plain arguments as inputs, and a counter behind the first `carried` of them if there is one. */
  body(spec: BodySpec): Plan {
    return symbolically(this, () => {
      const { plain, carried, counted, step } = spec;
      const given = plain.map((value) => this.#fresh(value));
      const counter = symbolicTensor('int32', []);
      if (counted) given.splice(carried, 0, counter);
      const inputs = given.map((t) => this.#number(t));
      for (const { variable, argument } of spec.placed) this.#variable(variable, argument);
      for (const { value, stack } of spec.popped) this.#pop(this.#fresh(value), stack);
      const pushed = new Map<GraphNode, Kept[]>();
      for (const kept of spec.pushed) {
        const { node } = kept.value;
        if (node.what.kind === 'argument') this.#push(kept);
        else pushed.set(node, [...(pushed.get(node) ?? []), kept]);
      }
      this.#nodes(pushed);
      const outputs: number[] = [];
      for (const value of spec.outputs) this.#output(value, outputs, false);
      if (step !== null) outputs.push(this.#number(counter.add(step)));
      this.#assign(spec.stored);
      return this.#plan(inputs, outputs);
    });
  }

  /** The plan of `counter > 0` for a loop with such a body, its counter behind the first `carried` inputs. */
  countDown(plain: readonly GraphValue[], carried: number): Plan {
    return symbolically(this, () => {
      const given = plain.map((value) => this.#fresh(value));
      const counter = symbolicTensor('int32', []);
      given.splice(carried, 0, counter);
      const inputs = given.map((t) => this.#number(t));
      return this.#plan(inputs, [this.#number(counter.greater(0))]);
    });
  }

  #plan(inputs: readonly number[], outputs: readonly number[]): Plan {
    return { bytes: this.#bytes, inputs, states: this.#states, calls: this.#calls, outputs };
  }

  /** Lowers the nodes in order. `pushed`: of which values go on stacks once they are there. */
  #nodes(pushed: ReadonlyMap<GraphNode, readonly Kept[]> = new Map()): void {
    const graph = this.#graph;
    const nodes = graph.liveNodes([...pushed.values()].flatMap((list) => list.map((k) => k.value)));
    nodes.forEach((node, i) => {
      for (const input of node.inputs) this.#lastUse.set(input, i);
      const restored = restoredBy(node);
      if (restored !== null) this.#restored.add(restored);
    });
    for (const value of [...graph.outputs, ...graph.assignments.map((a) => a.value)])
      this.#lastUse.set(value, Number.POSITIVE_INFINITY);
    nodes.forEach((node, i) => {
      this.#node = node;
      switch (node.what.kind) {
        case 'argument':
          break;
        case 'constant':
          this.#tensors.set(node.outputs[0] as GraphValue, this.capture(node.what.tensor));
          break;
        case 'variable':
          this.#variable(node.what.variable, node.outputs[0] as GraphValue);
          break;
        case 'op':
          if (node.what.op === whileOp) this.#while(node, node.attrs as WhileAttrs, i);
          else if (node.what.op === whileGradOp) this.#whileGrad(node, node.attrs as WhileGradAttrs);
          else if (node.what.op instanceof ControlOp) this.#case(node, node.attrs as CaseAttrs, i);
          else this.#op(node);
          break;
        case 'update':
          this.#update(node, i);
          break;
        case 'host':
          this.#host(node, node.what);
      }
      for (const kept of pushed.get(node) ?? []) this.#push(kept);
    });
    this.#node = null;
  }

  #case(node: GraphNode, { branches, written, record, restored }: CaseAttrs, index: number): void {
    const places = this.#places(node, written, 1, index);
    const isPlaced = (i: number): boolean => places.some((p) => p.index === i);
    const [selector, ...given] = node.inputs as readonly [GraphValue, ...GraphValue[]];
    const results = node.outputs.length - written.length;
    const stacks = [...this.#stacksOf(record), ...(restored === null ? [] : restored.stacks.flat())];
    const bodies = branches.map((branch, b) => {
      const args = branch.arguments.slice(0, given.length);
      return this.#sub(branch, written).body({
        plain: args.filter((_, i) => !isPlaced(i)),
        carried: 0,
        counted: false,
        step: null,
        placed: places.map(({ variable, index: i }) => ({ variable, argument: args[i] as GraphValue })),
        popped: restored === null ? [] : keptOf(branch.arguments.slice(given.length), restored.stacks[b]),
        pushed: this.#pushes(record, b),
        outputs: branch.outputs.filter((_, i) => !isPlaced(i - results)),
        stored: places.map(({ variable, index: i }) => ({
          variable,
          value: branch.outputs[results + i] as GraphValue,
        })),
      });
    });
    const inputs = [selector, ...given.filter((_, i) => !isPlaced(i))].map((v) => this.#apart(v, places));
    const outputs = node.outputs.filter((_, i) => !isPlaced(i - results)).map((v) => this.#fresh(v));
    this.#control('Case', bodies, inputs, outputs, places, stacks);
    this.#hold(places, node.outputs.slice(results));
  }

  #while(node: GraphNode, { condition, body, written, record }: WhileAttrs, index: number): void {
    const variables = body.outputs.length - written.length;
    const places = this.#places(node, written, variables, index);
    const isPlaced = (i: number): boolean => places.some((p) => p.index === i - variables);
    const carried = body.outputs.filter((_, i) => !isPlaced(i)).length;
    const pushed = this.#pushes(record, 0);
    // Who goes back has to know how many turns there were.
    const counted = record.saved.some((s) => this.#restored.has(s));
    const spec = (graph: Graph): BodySpec => ({
      plain: graph.arguments.filter((_, i) => !isPlaced(i)),
      carried,
      counted,
      step: null,
      placed: places.map(({ variable, index: i }) => ({
        variable,
        argument: graph.arguments[variables + i] as GraphValue,
      })),
      popped: [],
      pushed: [],
      outputs: graph.outputs,
      stored: [],
    });
    const test = this.#sub(condition, written);
    const turn = this.#sub(body, written).body({
      ...spec(body),
      step: counted ? 1 : null,
      pushed,
      outputs: body.outputs.filter((_, i) => !isPlaced(i)),
      stored: places.map(({ variable, index: i }) => ({
        variable,
        value: body.outputs[variables + i] as GraphValue,
      })),
    });
    const inputs = node.inputs.filter((_, i) => !isPlaced(i)).map((v) => this.#apart(v, places));
    const outputs = node.outputs.filter((_, i) => !isPlaced(i)).map((v) => this.#fresh(v));
    if (counted) {
      inputs.splice(carried, 0, this.#zero());
      const turns = symbolicTensor('int32', []);
      outputs.push(turns);
      this.#turns.set(record, turns);
    }
    const bodies = [test.body(spec(condition)), turn];
    this.#control('While', bodies, inputs, outputs, places, this.#stacksOf(record));
    this.#hold(places, node.outputs.slice(variables));
  }

  #whileGrad(node: GraphNode, { body, restored, forward }: WhileGradAttrs): void {
    const turns = this.#turns.get(restored.of);
    if (turns === undefined) throw new InternalError(`${node.name} comes before its loop`);
    const carried = body.outputs.length;
    const same = node.inputs.slice(carried + forward.body.outputs.length);
    const plain = body.arguments.slice(0, carried + same.length);
    const turn = this.#sub(body, []).body({
      plain,
      carried,
      counted: true,
      step: -1,
      placed: [],
      popped: keptOf(body.arguments.slice(plain.length), restored.stacks[0]),
      pushed: [],
      outputs: body.outputs,
      stored: [],
    });
    const inputs = [...node.inputs.slice(0, carried), ...same].map((v) => this.#tensor(v));
    inputs.splice(carried, 0, turns);
    const outputs = [...node.outputs.map((v) => this.#fresh(v)), symbolicTensor('int32', [])];
    const test = this.#sub(body, []).countDown(plain, carried);
    this.#control('While', [test, turn], inputs, outputs, [], restored.stacks.flat());
  }

  #sub(graph: Graph, written: readonly Variable[]): Lowering {
    return new Lowering(graph, this.#backend, written);
  }

  #control(
    kernel: 'Case' | 'While',
    bodies: readonly Plan[],
    inputs: readonly Tensor[],
    outputs: readonly Tensor[],
    places: readonly Place[],
    stacks: readonly object[],
  ): void {
    const states = [...places.map(({ tensor }) => this.#ref(tensor)), ...stacks.map((s) => this.#stack(s))];
    this.#calls.push({
      kernel,
      bodies,
      inputs: [...inputs.map((t) => this.#ref(t)), ...states],
      outputs: [...outputs.map((t) => this.#ref(t)), ...states],
      attrs: {},
      name: this.#node?.name ?? kernel,
    });
  }

  /** The variables that a node's bodies change in place, those of `written` whose memory this plan has; their values lie there now. */
  #places(node: GraphNode, written: readonly Variable[], first: number, at: number): Place[] {
    const places = written.flatMap((variable, index) => {
      const place = this.#variables.get(variable);
      return place === undefined ? [] : [{ variable, index, tensor: place.tensor, place }];
    });
    for (const { place, index } of places) this.#settle(place, node.inputs[first + index] as GraphValue, at);
    for (const { tensor } of places) this.#saveUsers(tensor.storage, at);
    return places;
  }

  /** After a node that changed them. */
  #hold(places: readonly Place[], values: readonly GraphValue[]): void {
    for (const { place, index, tensor } of places) {
      const value = values[index] as GraphValue;
      place.holds = value;
      this.#tensors.set(value, tensor);
    }
  }

  /** Puts a value of a variable into the variable's memory, unless it is there. */
  #settle(place: VariablePlace, value: GraphValue, at: number): void {
    if (this.#tensor(value).storage === place.tensor.storage) return;
    this.#saveUsers(place.tensor.storage, at - 1);
    this.#copy(this.#tensor(value), place.tensor);
  }

  /** The tensor of an input, copied if it lies where a variable changes. */
  #apart(value: GraphValue, places: readonly Place[]): Tensor {
    const tensor = this.#tensor(value);
    return places.some((p) => p.tensor.storage === tensor.storage) ? this.#copied(tensor) : tensor;
  }

  #zero(): Tensor {
    const zero = symbolicTensor('int32', []);
    this.call('Fill', [], [zero], { value: 0 });
    return zero;
  }

  #stack(source: object): PlanTensor {
    let stack = this.#stacks.get(source);
    if (stack === undefined) {
      const value = this.#bytes.push(0) - 1;
      this.#states.push({ value, source, memory: null });
      stack = { value, dtype: 'uint8', shape: [0], size: 0 };
      this.#stacks.set(source, stack);
    }
    return stack;
  }

  /** The stacks that bodies with this record push to, for gradients that are in this graph. */
  #stacksOf(record: ForwardRecord): object[] {
    return record.saved.filter((s) => this.#restored.has(s)).flatMap((s) => s.stacks.flat());
  }

  #pushes(record: ForwardRecord, body: number): Kept[] {
    const wanted = record.saved.filter((s) => this.#restored.has(s));
    return wanted.flatMap((s) => keptOf(s.values[body] as readonly GraphValue[], s.stacks[body]));
  }

  #push({ value, stack }: Kept): void {
    const to = this.#stack(stack);
    const inputs = [this.#ref(this.#tensor(value)), to];
    this.#calls.push({ kernel: 'Push', inputs, outputs: [to], attrs: {}, name: value.node.name });
  }

  #pop(to: Tensor, stack: object): void {
    const from = this.#stack(stack);
    const outputs = [this.#ref(to), from];
    this.#calls.push({ kernel: 'Pop', inputs: [from], outputs, attrs: {}, name: 'Pop' });
  }

  call(
    kernel: KernelName | ScalarProgram,
    inputs: readonly TensorRef[],
    outputs: readonly TensorRef[],
    attrs: SymbolicAttrs,
  ): void {
    this.#calls.push({
      kernel,
      inputs: inputs.map((t) => this.#ref(t)),
      outputs: outputs.map((t) => this.#ref(t)),
      attrs,
      name: this.#node?.name ?? 'assign',
    });
  }

  capture(x: Tensor): Tensor {
    const known = this.#constants.get(x);
    if (known !== undefined) return known;
    const tensor = symbolicTensor(x.dtype, x.shape, x.size);
    this.#constants.set(x, tensor);
    if (x.dtype === 'string')
      throw new UnimplementedError('strings are not computed with in a traced function');
    const number = x.size === 1 ? Number(viewOf(x)[0]) : Number.NaN;
    // A bare number becomes part of the programs that use it.
    if (x.size === 1 && (x.dtype !== 'int64' || Number.isSafeInteger(number))) {
      this.call('Fill', [], [tensor], { value: number });
      return tensor;
    }
    const held = lifted(() => (x.backend === this.#backend ? x : transfer(x, this.#backend)));
    this.#states.push({ value: this.#number(tensor), source: x, memory: () => held.storage });
    return tensor;
  }

  #op(node: GraphNode): void {
    const { what } = node;
    if (what.kind !== 'op') throw new InternalError(`${node.name} is no op`);
    let outputs: readonly Tensor[];
    try {
      outputs = what.op.evaluate(
        node.inputs.map((v) => this.#tensor(v)),
        node.attrs,
      );
    } catch (error) {
      throw named(error, what.op);
    }
    node.outputs.forEach((value, i) => this.#tensors.set(value, outputs[i] as Tensor));
  }

  /** Code of the host gets copies of what it reads, which it may keep. */
  #host(node: GraphNode, { fn, results }: Extract<NodeKind, { kind: 'host' }>): void {
    const inputs = node.inputs.map((v) => this.#tensor(v));
    const outputs = node.outputs.map((v) => this.#fresh(v));
    const host: HostCode = (given, wanted) => {
      const tensors = given.map((t) => {
        const own = emptyTensor(t.dtype, t.shape, t.size, this.#backend);
        copyBytes(t.storage, own.storage);
        return own;
      });
      const made = lifted(() => callHost(node.type, fn, tensors, results));
      made.forEach((t, i) => copyBytes(t.storage, (wanted[i] as TensorRef).storage));
    };
    this.#calls.push({
      kernel: 'Host',
      host,
      inputs: inputs.map((t) => this.#ref(t)),
      outputs: outputs.map((t) => this.#ref(t)),
      attrs: {},
      name: node.name,
    });
  }

  /** Makes a state of a variable, whose value before the function runs is `value`; null if nobody reads that. */
  #variable(variable: Variable, value: GraphValue | null): VariablePlace {
    const tensor = value === null ? symbolicTensor(variable.dtype, variable.shape) : this.#fresh(value);
    const { allocator } = this.#backend;
    const written = this.#written.has(variable);
    this.#states.push({
      value: this.#number(tensor),
      source: variable,
      memory: () => {
        const { storage } = written ? variable.writable() : variable;
        if (storage.allocator !== allocator) {
          throw new FailedPreconditionError(
            `the variable '${variable.name}' lies on another backend than the function that uses it runs on`,
          );
        }
        return storage;
      },
    });
    const place: VariablePlace = { tensor, holds: value };
    this.#variables.set(variable, place);
    return place;
  }

  /** A kernel that writes into variables: in place, once what must outlive it is copied away. */
  #update(node: GraphNode, index: number): void {
    const { what } = node;
    if (what.kind !== 'update') throw new InternalError(`${node.name} is no update`);
    const places = what.written.map((variable, i) => {
      const place = this.#variables.get(variable);
      if (place === undefined) throw new InternalError(`${node.name}: '${variable.name}' was not read`);
      this.#settle(place, node.inputs[what.at[i] as number] as GraphValue, index);
      return place;
    });
    for (const place of places) this.#saveUsers(place.tensor.storage, index);
    const inputs = node.inputs.map((v) => this.#tensor(v));
    what.written.forEach((_, i) => {
      inputs[what.at[i] as number] = (places[i] as { tensor: Tensor }).tensor;
    });
    // A gradient may be the value of a variable that changes here.
    const changing = new Set<Storage>(places.map((p) => p.tensor.storage));
    inputs.forEach((t, i) => {
      if (!what.at.includes(i) && changing.has(t.storage)) inputs[i] = this.#copied(t);
    });
    this.call(
      what.kernel,
      inputs,
      places.map((p) => p.tensor),
      node.attrs as SymbolicAttrs,
    );
    places.forEach((place, i) => {
      const value = node.outputs[i] as GraphValue;
      place.holds = value;
      this.#tensors.set(value, place.tensor);
    });
  }

  /** Copies what lies in this memory and is still used after the node of that index. */
  #saveUsers(memory: Storage, index: number): void {
    let copy: Tensor | null = null;
    for (const [value, tensor] of this.#tensors) {
      if (tensor.storage !== memory || (this.#lastUse.get(value) ?? -1) <= index) continue;
      copy ??= this.#copied(tensor);
      // The same bytes under the value's own shape.
      const view = symbolicTensor(tensor.dtype, tensor.shape, tensor.size);
      (view.storage as SymbolicStorage).value = this.#number(copy);
      this.#tensors.set(value, view);
    }
  }

  /** Adds a value to the outputs; `shared`: only once. */
  #output(value: GraphValue, outputs: number[], shared: boolean): number {
    const tensor = this.#tensor(value);
    const number = this.#number(tensor);
    const known = outputs.indexOf(number);
    if (known >= 0) return shared ? known : outputs.push(this.#number(this.#copied(tensor))) - 1;
    const made = this.#calls.some((c) => c.outputs.some((t) => t.value === number));
    const state = this.#states.some((s) => s.value === number);
    return outputs.push(made && !state ? number : this.#number(this.#copied(tensor))) - 1;
  }

  /** Puts the last values of variables into their memory. */
  #assign(assignments: readonly Assignment[]): void {
    const stores = assignments
      .map(({ variable, value }) => ({
        place: this.#variables.get(variable) ?? this.#variable(variable, null),
        value,
      }))
      .filter(({ place, value }) => place.holds !== value)
      .map(({ place, value }) => ({ to: place.tensor, from: this.#tensor(value) }));
    // Two variables may change places.
    const overwritten = new Set(stores.map(({ to }) => this.#number(to)));
    const sources = stores.map(({ from, to }) =>
      from.storage !== to.storage && overwritten.has(this.#number(from)) ? this.#copied(from) : from,
    );
    stores.forEach(({ to }, i) => {
      const from = sources[i] as Tensor;
      if (this.#number(from) !== this.#number(to)) this.#copy(from, to);
    });
  }

  #copy(from: Tensor, to: Tensor): void {
    this.call('Copy', [from], [to], {});
  }

  #copied(x: Tensor): Tensor {
    const copy = symbolicTensor(x.dtype, x.shape, x.size);
    this.#copy(x, copy);
    return copy;
  }

  #fresh(value: GraphValue): Tensor {
    const tensor = symbolicTensor(value.dtype, value.shape);
    this.#number(tensor);
    this.#tensors.set(value, tensor);
    return tensor;
  }

  #tensor(value: GraphValue): Tensor {
    const tensor = this.#tensors.get(value);
    if (tensor === undefined) throw new InternalError(`${value.node.name} was not lowered`);
    // An op may have had a result that is known; it is a constant then.
    return tensor.storage instanceof SymbolicStorage ? tensor : this.capture(tensor);
  }

  #ref(t: TensorRef): PlanTensor {
    return { value: this.#number(t), dtype: t.dtype, shape: t.shape, size: t.size };
  }

  #number(t: TensorRef): number {
    const { storage } = t;
    if (!(storage instanceof SymbolicStorage)) throw new InternalError('a tensor with memory in a plan');
    if (storage.value < 0) {
      if (t.dtype === 'string')
        throw new UnimplementedError('strings are not computed with in a traced function');
      storage.value = this.#bytes.push(t.size * dtypeTraits[t.dtype].bytes) - 1;
    }
    return storage.value;
  }
}

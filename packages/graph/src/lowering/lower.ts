import { InternalError, type Plan, type PlanTensor } from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import { eagerBackend, inContext, symbolically, symbolicTensor } from '@eagre/core/internal';
import type { CaseAttrs } from '../control/case.ts';
import type { ControlOp, ForwardRecord, Saved } from '../control/control-op.ts';
import { type WhileAttrs, type WhileGradAttrs, whileGradOp, whileOp } from '../control/while.ts';
import type { Assignment, Graph, GraphNode, GraphValue } from '../ir/graph.ts';
import { bodiesOf, draws } from '../ir/graph-bodies.ts';
import { type Feed, OpLowering, type VariablePlace } from './lower-ops.ts';

/** A graph as kernel calls. Outputs of the graph that lie in the same memory, one value or views of it, share a place of `plan.outputs`. */
export interface Lowered {
  readonly plan: Plan;
  /** For each output of the graph, its place in `plan.outputs`. */
  readonly places: readonly number[];
  /** What the plan's last inputs are, behind the graph's arguments. */
  readonly feeds: readonly Feed[];
}

/** Turns every op of a graph into kernel calls for the backend that is current. */
export function lower(graph: Graph): Lowered {
  const written = graph.assignments.map((a) => a.variable);
  // How often a branch or a loop draws, only a run tells.
  const fed = !graph.nodes.some((node) => bodiesOf(node).some(draws));
  const lowering = new Lowering(graph, eagerBackend(), written, fed);
  return inContext({ tapes: [], tracker: null }, () => symbolically(lowering, () => lowering.run()));
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

function keptOf(values: readonly GraphValue[], stacks: readonly object[]): Kept[] {
  return values.map((value, i) => ({ value, stack: stacks[i] }));
}

function restoredBy({ what, attrs }: GraphNode): Saved | null {
  return what.kind === 'op' && what.op === whileGradOp ? (attrs as WhileGradAttrs).restored : null;
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

class Lowering extends OpLowering {
  readonly #stacks = new Map<object, PlanTensor>();
  /** By the record of a loop: how many turns it made. */
  readonly #turns = new Map<ForwardRecord, Tensor>();
  /** What gradients in this graph take over. */
  readonly #restored = new Set<Saved>();

  run(): Lowered {
    const graph = this.graph;
    const inputs = graph.arguments.map((value) => this.number(this.fresh(value)));
    this.#lowerNodes(new Map());
    const outputs: number[] = [];
    const lowered = new Map([...new Set(graph.outputs)].map((v) => [v, this.output(v, outputs, true)]));
    const places = graph.outputs.map((v) => lowered.get(v) as number);
    this.assign(graph.assignments);
    const feeds = [...(this.feeds?.values() ?? [])];
    for (const { from } of feeds) inputs.push(this.number(from));
    return { plan: this.plan(inputs, outputs), places, feeds };
  }

  /** Lowers a body. Its plan has the plain arguments as inputs, and a counter behind the first `carried` of them if there is one. */
  body(spec: BodySpec): Plan {
    return symbolically(this, () => {
      const { plain, carried, counted, step } = spec;
      const given = plain.map((value) => this.fresh(value));
      const counter = symbolicTensor('int32', []);
      if (counted) given.splice(carried, 0, counter);
      const inputs = given.map((t) => this.number(t));
      for (const { variable, argument } of spec.placed) this.variable(variable, argument);
      for (const { value, stack } of spec.popped) this.#pop(this.fresh(value), stack);
      const pushed = new Map<GraphNode, Kept[]>();
      for (const kept of spec.pushed) {
        const { node } = kept.value;
        if (node.what.kind === 'argument') this.#push(kept);
        else pushed.set(node, [...(pushed.get(node) ?? []), kept]);
      }
      this.#lowerNodes(pushed);
      const outputs: number[] = [];
      for (const value of spec.outputs) this.output(value, outputs, false);
      if (step !== null) outputs.push(this.number(counter.add(step)));
      this.assign(spec.stored);
      return this.plan(inputs, outputs);
    });
  }

  /** The plan of `counter > 0` for a loop with such a body, its counter behind the first `carried` inputs. */
  countDown(plain: readonly GraphValue[], carried: number): Plan {
    return symbolically(this, () => {
      const given = plain.map((value) => this.fresh(value));
      const counter = symbolicTensor('int32', []);
      given.splice(carried, 0, counter);
      const inputs = given.map((t) => this.number(t));
      return this.plan(inputs, [this.number(counter.greater(0))]);
    });
  }

  #lowerNodes(pushed: ReadonlyMap<GraphNode, readonly Kept[]>): void {
    const kept = [...pushed.values()].flat().map((k) => k.value);
    const nodes = this.graph.liveNodes(kept);
    for (const node of nodes) {
      const restored = restoredBy(node);
      if (restored !== null) this.#restored.add(restored);
    }
    this.nodes(nodes, (node) => {
      for (const k of pushed.get(node) ?? []) this.#push(k);
    });
  }

  protected override control(node: GraphNode, op: ControlOp, index: number): void {
    if (op === whileOp) this.#while(node, node.attrs as WhileAttrs, index);
    else if (op === whileGradOp) this.#whileGrad(node, node.attrs as WhileGradAttrs);
    else this.#case(node, op, node.attrs as CaseAttrs, index);
  }

  #case(node: GraphNode, op: ControlOp, { branches, written }: CaseAttrs, index: number): void {
    const places = this.#places(node, written, 1, index);
    const isPlaced = (i: number): boolean => places.some((p) => p.index === i);
    const [selector, ...given] = node.inputs as readonly [GraphValue, ...GraphValue[]];
    const results = node.outputs.length - written.length - op.drawn(node.attrs);
    const bodies = branches.map((branch) =>
      this.#sub(branch, written).body({
        plain: branch.arguments.filter((_, i) => !isPlaced(i)),
        carried: 0,
        counted: false,
        step: null,
        placed: places.map(({ variable, index: i }) => ({
          variable,
          argument: branch.arguments[i],
        })),
        popped: [],
        pushed: [],
        outputs: branch.outputs.filter((_, i) => !isPlaced(i - results)),
        stored: places.map(({ variable, index: i }) => ({
          variable,
          value: branch.outputs[results + i],
        })),
      }),
    );
    const inputs = [selector, ...given.filter((_, i) => !isPlaced(i))].map((v) => this.#apart(v, places));
    const outputs = node.outputs.filter((_, i) => !isPlaced(i - results)).map((v) => this.fresh(v));
    this.#addCall('Case', bodies, inputs, outputs, places, []);
    this.#hold(places, node.outputs.slice(results));
  }

  #while(node: GraphNode, { condition, body, written, record }: WhileAttrs, index: number): void {
    const variables = body.outputs.length - written.length;
    const places = this.#places(node, written, variables, index);
    const isPlaced = (i: number): boolean => places.some((p) => p.index === i - variables);
    const carried = body.outputs.filter((_, i) => !isPlaced(i)).length;
    const pushed = this.#pushes(record);
    // Who goes back has to know how many turns there were.
    const counted = record.saved.some((s) => this.#restored.has(s));
    const spec = (graph: Graph): BodySpec => ({
      plain: graph.arguments.filter((_, i) => !isPlaced(i)),
      carried,
      counted,
      step: null,
      placed: places.map(({ variable, index: i }) => ({
        variable,
        argument: graph.arguments[variables + i],
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
        value: body.outputs[variables + i],
      })),
    });
    const inputs = node.inputs.filter((_, i) => !isPlaced(i)).map((v) => this.#apart(v, places));
    const outputs = node.outputs.filter((_, i) => !isPlaced(i)).map((v) => this.fresh(v));
    if (counted) {
      inputs.splice(carried, 0, this.#zero());
      const turns = symbolicTensor('int32', []);
      outputs.push(turns);
      this.#turns.set(record, turns);
    }
    const bodies = [test.body(spec(condition)), turn];
    this.#addCall('While', bodies, inputs, outputs, places, this.#stacksOf(record));
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
      popped: keptOf(body.arguments.slice(plain.length), restored.stacks),
      pushed: [],
      outputs: body.outputs,
      stored: [],
    });
    const inputs = [...node.inputs.slice(0, carried), ...same].map((v) => this.tensor(v));
    inputs.splice(carried, 0, turns);
    const outputs = [...node.outputs.map((v) => this.fresh(v)), symbolicTensor('int32', [])];
    const test = this.#sub(body, []).countDown(plain, carried);
    this.#addCall('While', [test, turn], inputs, outputs, [], restored.stacks);
  }

  #sub(graph: Graph, written: readonly Variable[]): Lowering {
    return new Lowering(graph, this.backend, written, this.feeds !== null);
  }

  #addCall(
    kernel: 'Case' | 'While',
    bodies: readonly Plan[],
    inputs: readonly Tensor[],
    outputs: readonly Tensor[],
    places: readonly Place[],
    stacks: readonly object[],
  ): void {
    const states = [...places.map(({ tensor }) => this.ref(tensor)), ...stacks.map((s) => this.#stack(s))];
    this.calls.push({
      kernel,
      bodies,
      inputs: [...inputs.map((t) => this.ref(t)), ...states],
      outputs: [...outputs.map((t) => this.ref(t)), ...states],
      attrs: {},
      name: this.node?.name ?? kernel,
    });
  }

  /** The variables that a node's bodies change in place, those of `written` whose memory this plan has; their values lie there now. */
  #places(node: GraphNode, written: readonly Variable[], first: number, at: number): Place[] {
    const places = written.flatMap((variable, index) => {
      const place = this.variables.get(variable);
      return place === undefined ? [] : [{ variable, index, tensor: place.tensor, place }];
    });
    for (const { place, index } of places) this.settle(place, node.inputs[first + index], at);
    for (const { tensor } of places) this.saveUsers(tensor.storage, at);
    return places;
  }

  /** After a node that changed them. */
  #hold(places: readonly Place[], values: readonly GraphValue[]): void {
    for (const { place, index, tensor } of places) {
      const value = values[index];
      place.holds = value;
      this.tensors.set(value, tensor);
    }
  }

  /** The tensor of an input, copied if it lies where a variable changes. */
  #apart(value: GraphValue, places: readonly Place[]): Tensor {
    const tensor = this.tensor(value);
    return places.some((p) => p.tensor.storage === tensor.storage) ? this.copied(tensor) : tensor;
  }

  #zero(): Tensor {
    const zero = symbolicTensor('int32', []);
    this.call('Fill', [], [zero], { value: 0 });
    return zero;
  }

  #stack(source: object): PlanTensor {
    let stack = this.#stacks.get(source);
    if (stack === undefined) {
      const value = this.bytes.push(0) - 1;
      this.states.push({ value, source, memory: null });
      stack = { value, dtype: 'uint8', shape: [0], size: 0 };
      this.#stacks.set(source, stack);
    }
    return stack;
  }

  /** The stacks that the loop with this record pushes to, for gradients that are in this graph. */
  #stacksOf(record: ForwardRecord): object[] {
    return record.saved.filter((s) => this.#restored.has(s)).flatMap((s) => s.stacks);
  }

  #pushes(record: ForwardRecord): Kept[] {
    const wanted = record.saved.filter((s) => this.#restored.has(s));
    return wanted.flatMap((s) => keptOf(s.values, s.stacks));
  }

  #push({ value, stack }: Kept): void {
    const to = this.#stack(stack);
    const inputs = [this.ref(this.tensor(value)), to];
    this.calls.push({ kernel: 'Push', inputs, outputs: [to], attrs: {}, name: value.node.name });
  }

  #pop(to: Tensor, stack: object): void {
    const from = this.#stack(stack);
    const outputs = [this.ref(to), from];
    this.calls.push({ kernel: 'Pop', inputs: [from], outputs, attrs: {}, name: 'Pop' });
  }
}

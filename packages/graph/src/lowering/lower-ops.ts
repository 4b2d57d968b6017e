import {
  type Backend,
  copyStorage,
  dtypeTraits,
  FailedPreconditionError,
  type HostCode,
  InternalError,
  isBig,
  isComplex,
  type KernelAttrs,
  type KernelName,
  type Plan,
  type PlanCall,
  type PlanState,
  type PlanTensor,
  partsOf,
  type ScalarProgram,
  type Storage,
  type TensorRef,
} from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import {
  callHost,
  copyBytes,
  copyTo,
  type DrawSource,
  emptyTensor,
  hostValues,
  inInitScope,
  type KernelRecorder,
  kernelFor,
  type SymbolicDraw,
  SymbolicStorage,
  symbolic,
  symbolicTensor,
  withOpName,
} from '@eagre/core/internal';
import { ControlOp } from '../control/control-op.ts';
import type { Assignment, Graph, GraphNode, GraphValue, NodeKind } from '../ir/graph.ts';
import { noStrings } from '../tracing/strings.ts';

/** The memory of a variable, and which of its values lies there now. */
export interface VariablePlace {
  readonly tensor: Tensor;
  holds: GraphValue | null;
}

/** Draws of one source that are made before each run: the plan gets the first one's counter and key as an input. */
export interface Feed {
  readonly source: DrawSource;
  readonly from: Tensor;
  draws: number;
}

/** Turns the ops of a graph, or of a body, into kernel calls; what branches and loops become is for its heir to say. */
export abstract class OpLowering implements KernelRecorder {
  protected readonly graph: Graph;
  protected readonly backend: Backend;
  protected readonly bytes: number[] = [];
  protected readonly calls: PlanCall[] = [];
  protected readonly states: PlanState[] = [];
  /** What each value of the graph became. */
  protected readonly tensors: Map<GraphValue, Tensor> = new Map();
  protected readonly variables: Map<Variable, VariablePlace> = new Map();
  /** The draws that are made before each run, by their sources; null where kernels make them in the run. */
  protected readonly feeds: Map<DrawSource, Feed> | null;
  /** The node that is being lowered. */
  protected node: GraphNode | null = null;
  readonly #constants = new Map<Tensor, Tensor>();
  readonly #written: ReadonlySet<Variable>;
  readonly #lastUse = new Map<GraphValue, number>();

  readonly #streams = new Map<DrawSource, Tensor>();

  /**
   * @param written the variables that the graph changes.
   * @param fed whether the same draws are made in each run.
   */
  constructor(graph: Graph, backend: Backend, written: readonly Variable[], fed: boolean) {
    this.graph = graph;
    this.backend = backend;
    this.feeds = fed ? new Map() : null;
    this.#written = new Set(written);
  }

  /** Lowers the node of a branch or loop, the one at `index` of those that run. */
  protected abstract control(node: GraphNode, op: ControlOp, index: number): void;

  protected plan(inputs: readonly number[], outputs: readonly number[]): Plan {
    const { bytes, states, calls } = this;
    return { bytes, inputs, states, calls, outputs };
  }

  /** Lowers the nodes that run, in order, and calls `lowered` after each. */
  protected nodes(nodes: readonly GraphNode[], lowered: (node: GraphNode) => void): void {
    const { graph } = this;
    nodes.forEach((node, i) => {
      for (const input of node.inputs) this.#lastUse.set(input, i);
    });
    for (const value of [...graph.outputs, ...graph.assignments.map((a) => a.value)])
      this.#lastUse.set(value, Number.POSITIVE_INFINITY);
    nodes.forEach((node, i) => {
      this.node = node;
      switch (node.what.kind) {
        case 'argument':
          break;
        case 'constant':
          this.tensors.set(node.outputs[0], this.capture(node.what.tensor));
          break;
        case 'variable':
          this.variable(node.what.variable, node.outputs[0]);
          break;
        case 'op':
          if (node.what.op instanceof ControlOp) this.control(node, node.what.op, i);
          else this.#op(node);
          break;
        case 'update':
          this.#update(node, i);
          break;
        case 'host':
          this.#host(node, node.what);
      }
      lowered(node);
    });
    this.node = null;
  }

  call(
    kernel: KernelName | ScalarProgram,
    inputs: readonly TensorRef[],
    outputs: readonly TensorRef[],
    attrs: KernelAttrs,
  ): void {
    this.calls.push({
      kernel,
      inputs: inputs.map((t) => this.ref(t)),
      outputs: outputs.map((t) => this.ref(t)),
      attrs,
      name: this.node?.name ?? 'assign',
    });
  }

  capture(x: Tensor): Tensor {
    const known = this.#constants.get(x);
    if (known !== undefined) return known;
    const tensor = symbolicTensor(x.dtype, x.shape);
    this.#constants.set(x, tensor);
    if (x.dtype === 'string') throw noStrings();
    const single = x.size === 1 && !isComplex(x.dtype);
    const number = single ? Number(hostValues(x)[0]) : Number.NaN;
    // A bare number becomes part of the programs that use it.
    if (single && (!isBig(x.dtype) || Number.isSafeInteger(number))) {
      this.call('Fill', [], [tensor], { value: number });
      return tensor;
    }
    const held = inInitScope(() => (x.backend === this.backend ? x : copyTo(x, this.backend)));
    this.states.push({ value: this.number(tensor), source: x, memory: held.storage });
    return tensor;
  }

  scratch(x: TensorRef): void {
    const { allocator } = this.backend;
    const bytes = x.size * dtypeTraits[x.dtype].bytes;
    this.states.push({ value: this.number(x), source: {}, memory: () => allocator.allocate(bytes) });
  }

  draw(source: DrawSource): SymbolicDraw {
    if (this.feeds === null) return { from: this.#nextDraw(source), place: 0 };
    let feed = this.feeds.get(source);
    if (feed === undefined) {
      feed = { source, from: symbolicTensor('uint64', [2]), draws: 0 };
      this.number(feed.from);
      this.feeds.set(source, feed);
    }
    return { from: feed.from, place: feed.draws++ };
  }

  /** A draw that the plan makes by itself, of a state. */
  #nextDraw(source: DrawSource): Tensor {
    let state = this.#streams.get(source);
    if (state === undefined) {
      state = symbolicTensor('uint64', [2]);
      const { backend } = this;
      this.states.push({ value: this.number(state), source, memory: () => source.memory(backend) });
      this.#streams.set(source, state);
    }
    const draw = symbolicTensor('uint64', [2]);
    this.call('NextDraw', [state], [draw, state], {});
    return draw;
  }

  #op(node: GraphNode): void {
    const { what } = node;
    if (what.kind !== 'op') throw new InternalError(`${node.name} is no op`);
    let outputs: readonly Tensor[];
    try {
      outputs = what.op.evaluate(
        node.inputs.map((v) => this.tensor(v)),
        node.attrs,
      );
    } catch (error) {
      throw withOpName(error, what.op);
    }
    node.outputs.forEach((value, i) => this.tensors.set(value, outputs[i]));
  }

  #host(node: GraphNode, { fn, results }: Extract<NodeKind, { kind: 'host' }>): void {
    const inputs = node.inputs.map((v) => this.tensor(v));
    const outputs = node.outputs.map((v) => this.fresh(v));
    this.host(node.name, (...given) => callHost(node.type, fn, given, results), inputs, outputs);
  }

  /** Code of the host gets copies of what it reads, which it may keep. */
  host(
    name: string,
    fn: (...inputs: Tensor[]) => readonly Tensor[],
    inputs: readonly Tensor[],
    outputs: readonly Tensor[],
  ): void {
    const host: HostCode = (given, wanted) => {
      const tensors = given.map((t, i) => {
        const { dtype, shape, size } = inputs[i];
        const own = emptyTensor(dtype, shape, size, this.backend);
        copyBytes(t.storage, own.storage);
        return own;
      });
      const made = inInitScope(() => fn(...tensors));
      made.forEach((t, i) => copyBytes(t.storage, wanted[i].storage));
    };
    this.calls.push({
      kernel: 'Host',
      host,
      inputs: inputs.map((t) => this.ref(t)),
      outputs: outputs.map((t) => this.ref(t)),
      attrs: {},
      name,
    });
  }

  /** Makes a state of a variable, whose value before the function runs is `value`; null if nobody reads that. */
  protected variable(variable: Variable, value: GraphValue | null): VariablePlace {
    const tensor = value === null ? symbolicTensor(variable.dtype, variable.shape) : this.fresh(value);
    const { allocator } = this.backend;
    const written = this.#written.has(variable);
    this.states.push({
      value: this.number(tensor),
      source: variable,
      memory: () => {
        const { storage } = written ? variable.writable() : variable;
        if (storage.allocator === allocator) return storage;
        if (written) {
          throw new FailedPreconditionError(
            `the variable '${variable.path}' is not on the device of the function that changes it: call the function in tf.device('${variable.device}', …)`,
          );
        }
        const copy = allocator.allocate(storage.capacity);
        copyStorage(storage, copy, storage.capacity);
        return copy;
      },
    });
    const place: VariablePlace = { tensor, holds: value };
    this.variables.set(variable, place);
    return place;
  }

  /** A kernel that writes into variables: in place, once what must outlive it is copied away. */
  #update(node: GraphNode, index: number): void {
    const { what } = node;
    if (what.kind !== 'update') throw new InternalError(`${node.name} is no update`);
    const places = what.written.map((variable, i) => {
      // Nobody reads the old value of a variable that was assigned to before.
      const place = this.variables.get(variable) ?? this.variable(variable, null);
      this.settle(place, node.inputs[what.at[i]], index);
      return place;
    });
    for (const place of places) this.saveUsers(place.tensor.storage, index);
    const inputs = node.inputs.map((v) => this.tensor(v));
    what.written.forEach((_, i) => {
      inputs[what.at[i]] = (places[i] as { tensor: Tensor }).tensor;
    });
    // A gradient may be the value of a variable that changes here.
    const changing = new Set<Storage>(places.map((p) => p.tensor.storage));
    inputs.forEach((t, i) => {
      if (!what.at.includes(i) && changing.has(t.storage)) inputs[i] = this.copied(t);
    });
    kernelFor(symbolic, what.kernel, inputs)(
      inputs,
      places.map((p) => p.tensor),
      node.attrs as KernelAttrs,
    );
    places.forEach((place, i) => {
      const value = node.outputs[i];
      place.holds = value;
      this.tensors.set(value, place.tensor);
    });
  }

  /** Copies what lies in this memory and is still used after the node of that index. */
  protected saveUsers(memory: Storage, index: number): void {
    let copy: Tensor | null = null;
    for (const [value, tensor] of this.tensors) {
      if (tensor.storage !== memory || (this.#lastUse.get(value) ?? -1) <= index) continue;
      copy ??= this.copied(tensor);
      // The same bytes under the value's own shape.
      const view = symbolicTensor(tensor.dtype, tensor.shape);
      (view.storage as SymbolicStorage).value = this.number(copy);
      this.tensors.set(value, view);
    }
  }

  /** Adds a value to the outputs; `shared`: only once. */
  protected output(value: GraphValue, outputs: number[], shared: boolean): number {
    const tensor = this.tensor(value);
    const number = this.number(tensor);
    const known = outputs.indexOf(number);
    if (known >= 0) return shared ? known : outputs.push(this.number(this.copied(tensor))) - 1;
    const made = this.calls.some((c) => c.outputs.some((t) => t.value === number));
    const state = this.states.some((s) => s.value === number);
    return outputs.push(made && !state ? number : this.number(this.copied(tensor))) - 1;
  }

  /** Puts the last values of variables into their memory. */
  protected assign(assignments: readonly Assignment[]): void {
    const stores = assignments
      .map(({ variable, value }) => ({
        place: this.variables.get(variable) ?? this.variable(variable, null),
        value,
      }))
      .filter(({ place, value }) => place.holds !== value)
      .map(({ place, value }) => ({ to: place.tensor, from: this.tensor(value) }));
    // Two variables may change places.
    const overwritten = new Set(stores.map(({ to }) => this.number(to)));
    const sources = stores.map(({ from, to }) =>
      from.storage !== to.storage && overwritten.has(this.number(from)) ? this.copied(from) : from,
    );
    stores.forEach(({ to }, i) => {
      const from = sources[i];
      if (this.number(from) !== this.number(to)) this.#copy(from, to);
    });
  }

  /** Puts a value of a variable into the variable's memory, unless it is there. */
  protected settle(place: VariablePlace, value: GraphValue, at: number): void {
    if (this.tensor(value).storage === place.tensor.storage) return;
    this.saveUsers(place.tensor.storage, at - 1);
    this.#copy(this.tensor(value), place.tensor);
  }

  #copy(from: Tensor, to: Tensor): void {
    this.call('Copy', [from], [to], {});
  }

  protected copied(x: Tensor): Tensor {
    const copy = symbolicTensor(x.dtype, x.shape);
    this.#copy(x, copy);
    return copy;
  }

  protected fresh(value: GraphValue): Tensor {
    const tensor = symbolicTensor(value.dtype, value.shape);
    this.number(tensor);
    this.tensors.set(value, tensor);
    return tensor;
  }

  protected tensor(value: GraphValue): Tensor {
    const tensor = this.tensors.get(value);
    if (tensor === undefined) throw new InternalError(`${value.node.name} was not lowered`);
    // An op may have had a result that is known; it is a constant then.
    return tensor.storage instanceof SymbolicStorage ? tensor : this.capture(tensor);
  }

  /** What a plan calls a tensor; of a complex one it has the parts, in one more axis. */
  protected ref(t: TensorRef): PlanTensor {
    const value = this.number(t);
    const { dtype, shape, size } = t;
    if (isComplex(dtype)) return { value, dtype: partsOf(dtype), shape: [...shape, 2], size: 2 * size };
    return { value, dtype, shape, size };
  }

  protected number(t: TensorRef): number {
    const { storage } = t;
    if (!(storage instanceof SymbolicStorage)) throw new InternalError('a tensor with memory in a plan');
    if (storage.value < 0) {
      if (t.dtype === 'string') throw noStrings();
      storage.value = this.bytes.push(t.size * dtypeTraits[t.dtype].bytes) - 1;
    }
    return storage.value;
  }
}

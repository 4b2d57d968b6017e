import {
  type Backend,
  type DType,
  EagreError,
  type Executable,
  errorFromCode,
  FailedPreconditionError,
  type Plan,
  type Storage,
  UnimplementedError,
} from '@eagre/backend';
import { optimizePlan, planToString } from '@eagre/compiler';
import type { Shape, Tensor } from '@eagre/core';
import {
  aliasTensor,
  context,
  copyTo,
  eagerBackend,
  emptyTensor,
  hasGradient,
  outOfScope,
  profiling,
  sizeOf,
} from '@eagre/core/internal';
import { graphRuns } from '../inspect/graph-trace.ts';
import { type Profile, type ProfileOptions, profileGraph } from '../inspect/profile.ts';
import type { Assignment, Graph, GraphValue } from '../ir/graph.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { lower } from '../lowering/lower.ts';
import type { Feed } from '../lowering/lower-ops.ts';
import { userLine } from '../tracing/source-lines.ts';
import { type Rebuild, rebuilder, specsOf } from '../tracing/structure.ts';
import { AsyncRuns } from './async-run.ts';
import { prepareFed } from './fed.ts';
import { ForwardBackward } from './forward-backward.ts';
import { interpretFunction } from './interpret.ts';
import { PlacedRun, partsByDevice } from './placed.ts';
import { toldToTapes } from './unrecorded.ts';

/** What runs the graph where it is called on a device. */
type Prepared = OnOneDevice | OnSeveral;

interface OnSeveral {
  readonly backend: Backend;
  readonly placed: PlacedRun;
}

interface OnOneDevice {
  readonly backend: Backend;
  readonly placed: null;
  background: AsyncRuns | null;
  /** What the executable runs. */
  readonly plan: Plan;
  readonly feeds: readonly Feed[];
  readonly executable: Executable;
  /** Whether the executable runs: code of the host may call the function in the middle. */
  running: boolean;
  /** Others, for runs inside of runs. */
  readonly spare: Executable[];
  /** For each output of the graph, its place in `results`. */
  readonly places: readonly number[];
  /** Makes what the function returns of its results. */
  readonly rebuild: Rebuild;
  /** The values that are returned, each once. */
  readonly results: readonly Result[];
}

/** A value that a function returns: a tensor of its own, though it may share its memory with another one, as a reshaped view does. */
interface Result {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly size: number;
  /** Which of the plan's outputs is its memory. */
  readonly output: number;
  /** The first result with that memory, if it is not this one. */
  readonly viewOf: number | null;
}

/** One trace of a function: a graph for arguments of certain dtypes and shapes. */
export class AtomicFunction {
  readonly graph: Graph;
  readonly #structure: unknown;
  readonly #rebuild: Rebuild;
  readonly #captured: readonly Tensor[];
  /** Tensors from outside whose values are part of the graph, of which a tape may want the gradient. */
  readonly #constants: readonly Tensor[];
  readonly #prepared = new Map<Backend, Prepared>();
  /** The one that ran last. */
  #last: Prepared | null = null;
  #taped: ForwardBackward | null | undefined;

  /**
   * @param structure what the function returned, with anything in the places of its tensors.
   * @param captured tensors of the function around this one, which are the graph's last arguments.
   */
  constructor(graph: Graph, structure: unknown, captured: readonly Tensor[] = []) {
    this.graph = graph;
    this.#structure = structure;
    this.#rebuild = rebuilder(structure);
    this.#captured = captured;
    this.#constants = graph.nodes.flatMap(({ what }) =>
      what.kind === 'constant' && hasGradient(what.tensor.dtype) ? [what.tensor] : [],
    );
  }

  /** Whether it uses tensors of a function around it; then it runs only while that one is traced. */
  get captures(): boolean {
    return this.#captured.length > 0;
  }

  /** What the function returns, with a spec in the place of each tensor. */
  get structuredOutputs(): unknown {
    return specsOf(this.#structure, this.graph.outputs);
  }

  /** Runs the graph on tensors for its arguments. @returns the results in the function's structure. */
  call(inputs: readonly Tensor[]): unknown {
    graphRuns(this.graph);
    if (context.tapes.length > 0 || context.tracer !== null) return this.#rebuild(this.run(inputs));
    const prepared = this.#preparedFor(eagerBackend());
    if (prepared.placed !== null) return this.#rebuild(this.#runPlaced(prepared, inputs));
    return prepared.rebuild(this.#run(prepared, inputs));
  }

  /**
   * Runs the graph on another thread.
   * @throws (the promise) FailedPreconditionError while a function is traced; CancelledError after `signal` was aborted.
   */
  async callAsync(inputs: readonly Tensor[], signal?: AbortSignal): Promise<unknown> {
    graphRuns(this.graph);
    checkAsync(this.graph.name);
    const backend = eagerBackend();
    const prepared = this.#preparedFor(backend);
    const { placed } = prepared;
    if (placed !== null)
      return this.#rebuild(await toldToTapes(this.graph, inputs, () => placed.runAsync(inputs, signal)));
    const background = (prepared.background ??= new AsyncRuns(
      backend,
      prepared.plan,
      prepared.feeds,
      this.graph.assignments.map((a) => a.variable),
    ));
    const run = async (): Promise<readonly Tensor[]> => {
      const { memory, written, results } = this.#memory(prepared, inputs);
      try {
        await background.run(memory, written, signal);
      } catch (error) {
        for (const t of results) t.dispose();
        throw this.#located(error);
      }
      return results;
    };
    return prepared.rebuild(await toldToTapes(this.graph, inputs, run));
  }

  /** Runs the graph on tensors for its arguments. @returns a tensor for each of its outputs. */
  run(inputs: readonly Tensor[]): readonly Tensor[] {
    const { tapes, tracer } = context;
    if (tapes.length === 0 && tracer === null) {
      const prepared = this.#preparedFor(eagerBackend());
      if (prepared.placed !== null) return this.#runPlaced(prepared, inputs);
      const results = this.#run(prepared, inputs);
      // As many: each output is another value.
      if (prepared.places.length === results.length) return results;
      return prepared.places.map((p) => results[p]);
    }
    const [tape] = tapes;
    if (
      tracer === null &&
      !this.captures &&
      tapes.length === 1 &&
      tape?.takesCalls === true &&
      !this.#constants.some((t) => tape.follows?.(t))
    ) {
      if (this.#taped === undefined)
        this.#taped = ForwardBackward.of(this.graph, (graph) => {
          const concrete = new AtomicFunction(graph, null);
          return (given) => concrete.run(given);
        });
      if (this.#taped !== null) {
        // The tape would hold what it is given.
        inputs.forEach((input, i) => {
          if (input.storage.refs <= 0) throw this.#disposed(input, i);
        });
        return this.#taped.call(inputs);
      }
    }
    // Other observers, several tapes, gradients of what the function has kept, or another function that is being traced: they have to see the ops.
    const call = (): readonly Tensor[] => interpretFunction(this.graph, [...inputs, ...this.#captured]);
    return tracer === null ? call() : tracer.called(call);
  }

  /**
   * Runs the function once, then `runs` times with a clock, and tells what its kernels take. Variables are afterwards what they were
   * before; random numbers have been drawn. Only the kernels are measured: what comes to each run is the same for all functions.
   *
   *     console.log(String(step.getConcreteFunction(x, y).profile({ runs: 100 }, x, y)));
   *
   * @param inputs a tensor for each argument of the graph.
   * @throws InvalidArgumentError for tensors that do not fit the arguments; FailedPreconditionError while a function is traced.
   */
  profile(...inputs: readonly Tensor[]): Profile;
  profile(options: ProfileOptions, ...inputs: readonly Tensor[]): Profile;
  profile(...args: readonly (Tensor | ProfileOptions)[]): Profile {
    this.#checkOwn();
    return profileGraph(
      this.graph,
      args,
      () => this.#onOneDevice('profile'),
      (inputs, times) => this.#run(this.#onOneDevice('profile'), inputs, times),
    );
  }

  /** The plan that runs, as text: a line for each kernel call, with its values, shapes and scalar program. */
  planText(): string {
    const prepared = this.#preparedFor(eagerBackend());
    return prepared.placed === null ? planToString(prepared.plan) : prepared.placed.planText();
  }

  /** Gives back what is kept for runs; another run makes it anew. */
  dispose(): void {
    for (const prepared of this.#prepared.values()) {
      if (prepared.placed !== null) {
        prepared.placed.dispose();
        continue;
      }
      const { executable, spare, background, running } = prepared;
      // A run that goes on needs its memory: code of the host in the middle of it may ask for other traces.
      if (running) continue;
      executable.dispose();
      for (const other of spare) other.dispose();
      background?.dispose();
    }
    this.#prepared.clear();
    this.#last = null;
  }

  /** @throws FailedPreconditionError where it uses tensors of a function around it, so that it cannot run by itself. */
  #checkOwn(): void {
    const [captured] = this.#captured;
    if (captured !== undefined) throw outOfScope(captured);
  }

  #preparedFor(backend: Backend): Prepared {
    if (this.#last?.backend === backend) return this.#last;
    this.#checkOwn();
    let prepared = this.#prepared.get(backend);
    if (prepared === undefined) {
      const parts = partsByDevice(this.graph, backend);
      const placed = parts === null ? null : new PlacedRun(this.graph, parts, listFunction);
      prepared = placed === null ? this.#prepare(backend) : { backend, placed };
      this.#prepared.set(backend, prepared);
    }
    this.#last = prepared;
    return prepared;
  }

  /** @throws UnimplementedError where several devices run it. */
  #onOneDevice(what: string): OnOneDevice {
    const prepared = this.#preparedFor(eagerBackend());
    if (prepared.placed === null) return prepared;
    throw new UnimplementedError(
      `several devices run the function: ${what} one that runs on one`,
      this.graph.name,
    );
  }

  #runPlaced({ placed }: OnSeveral, inputs: readonly Tensor[]): readonly Tensor[] {
    inputs.forEach((input, i) => {
      if (input.storage.refs <= 0) throw this.#disposed(input, i);
    });
    return placed.run(inputs);
  }

  /**
   * @param times filled with the seconds that each call of the plan took, if given.
   * @returns a tensor for each of `prepared.results`.
   */
  #run(prepared: OnOneDevice, inputs: readonly Tensor[], times?: Float64Array): readonly Tensor[] {
    const { memory, written, results } = this.#memory(prepared, inputs);
    if (prepared.running) return this.#runInside(prepared, memory, written, results);
    prepared.running = true;
    const { record } = profiling;
    const begin = record === null ? 0 : performance.now();
    try {
      prepared.executable.run(memory, written, times);
    } catch (error) {
      throw this.#located(error);
    } finally {
      prepared.running = false;
    }
    if (record !== null) record(this.graph.name, begin);
    return results;
  }

  #disposed({ dtype, shape }: Tensor, at: number): FailedPreconditionError {
    return new FailedPreconditionError(
      `argument ${at} (${dtype} [${shape}]) was disposed, so its values are gone`,
      this.graph.name,
    );
  }

  /** A run in the middle of another one, with memory of its own. */
  #runInside(
    { backend, plan, feeds, spare }: OnOneDevice,
    memory: readonly Storage[],
    written: readonly Storage[],
    results: readonly Tensor[],
  ): readonly Tensor[] {
    if (this.graph.assignments.length > 0) {
      const [{ variable }] = this.graph.assignments as [Assignment];
      throw new FailedPreconditionError(
        `host code called the function during one of its runs, which changes variables ('${variable.path}'): call it before or after the run, or pass tensors instead of changing variables`,
        this.graph.name,
      );
    }
    const executable = spare.pop() ?? prepareFed(backend, plan, feeds);
    try {
      executable.run(memory, written);
    } catch (error) {
      throw this.#located(error);
    } finally {
      spare.push(executable);
    }
    return results;
  }

  #memory(
    { backend, plan, results: wanted }: OnOneDevice,
    inputs: readonly Tensor[],
  ): { memory: Storage[]; written: Storage[]; results: Tensor[] } {
    const memory = new Array<Storage>(inputs.length);
    for (let i = 0; i < inputs.length; i++) {
      const input = inputs[i];
      if (input.storage.refs <= 0) throw this.#disposed(input, i);
      memory[i] = (input.backend === backend ? input : copyTo(input, backend)).storage;
    }
    const results = new Array<Tensor>(wanted.length);
    const written = new Array<Storage>(plan.outputs.length);
    for (let i = 0; i < wanted.length; i++) {
      const { dtype, shape, size, output, viewOf } = wanted[i];
      const tensor =
        viewOf === null
          ? emptyTensor(dtype, shape, size, backend)
          : aliasTensor(results[viewOf], shape, size);
      results[i] = tensor;
      written[output] = tensor.storage;
    }
    return { memory, written, results };
  }

  #prepare(backend: Backend): OnOneDevice {
    const lowered = lower(this.graph);
    const { feeds } = lowered;
    const optimized = optimizePlan(lowered.plan);
    const plan = backend.tailor?.(optimized) ?? optimized;
    const order = new Map<GraphValue, number>();
    const places = this.graph.outputs.map((v) => placeOf(order, v));
    const outputs = [...order.keys()].map((_, i) => lowered.places[places.indexOf(i)]);
    const firsts = new Map<number, number>();
    return {
      backend,
      placed: null,
      plan,
      feeds,
      executable: prepareFed(backend, plan, feeds),
      running: false,
      spare: [],
      background: null,
      places,
      rebuild: rebuilder(this.#structure, places),
      results: [...order.keys()].map(({ dtype, shape }, i): Result => {
        const output = outputs[i];
        const first = firsts.get(output);
        if (first === undefined) firsts.set(output, i);
        return { dtype, shape, size: sizeOf(shape), output, viewOf: first ?? null };
      }),
    };
  }

  /** An error of a run, with the line of the function that called the op. */
  #located(error: unknown): unknown {
    if (!(error instanceof EagreError) || error.op === undefined) return error;
    const name = error.op;
    // A call that was fused has the names of several.
    const names = name.split('+');
    const node = this.graph.nodes.find((n) => names.includes(n.name));
    const line = userLine(node?.traced?.stack);
    if (node === undefined || line === undefined) return error;
    return errorFromCode(error.code, `${error.message}\n  in '${name}', traced ${line}`, node.type);
  }
}

/** The function of a part of a graph: it returns a list. */
export function listFunction(graph: Graph): AtomicFunction {
  return new AtomicFunction(
    graph,
    graph.outputs.map(({ dtype, shape }) => new TensorSpec(shape, dtype)),
  );
}

/** @throws FailedPreconditionError while a function is traced. */
export function checkAsync(name: string): void {
  if (context.tracer !== null)
    throw new FailedPreconditionError('runAsync cannot be called in another traced function', name);
}

/** The place of a value among those that were met, each once. */
function placeOf(order: Map<GraphValue, number>, value: GraphValue): number {
  let place = order.get(value);
  if (place === undefined) order.set(value, (place = order.size));
  return place;
}

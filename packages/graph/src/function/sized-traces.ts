// Traces that serve arguments of any size: a trace, and a plan for each size that comes.
import { type DType, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { PartialShape, Shape, Tensor } from '@eagre/core';
import { type Guard, holdsFor, isLate, RecentMap, ShapeEnv, type Sizes, toShape } from '@eagre/core/internal';
import type { Graph } from '../ir/graph.ts';
import { isMeasured } from '../ir/graph-bodies.ts';
import { userLine } from '../tracing/source-lines.ts';
import { specsOf } from '../tracing/structure.ts';
import { MADE_UP, type TracedCall } from '../tracing/tracer.ts';
import { AtomicFunction } from './atomic-function.ts';
import { MeasuredFunction, runnable, type TraceResult } from './measured.ts';
import { describeGuard, sizesOf, specialize } from './specialize.ts';

/** What is known of an argument that is a tensor. */
export interface ArgumentSpec {
  readonly dtype: DType;
  readonly shape: PartialShape;
}

/**
 * Runs the function's code for arguments of these shapes; `anySize`: with unknown sizes of its own. `inputs` and `measured` are those of
 * the call that is traced, as far as it is known: see `TracedCall`.
 */
export type Trace = (
  shapes: readonly Shape[],
  anySize: boolean,
  inputs?: readonly Tensor[],
  measured?: ReadonlyMap<number, number>,
) => TraceResult;

// Plans that are kept for one trace.
const PLANS = 16;
// Traces that are kept. Most functions need one; those that ask for a size need one for each.
const TRACES = 1024;

/** One trace, and what it has found true of sizes. */
interface Variant {
  readonly guards: readonly Guard[];
  readonly graph: Graph;
  readonly structure: unknown;
  readonly call: TracedCall;
  readonly plans: RecentMap<string, AtomicFunction>;
}

/** The traces of one function for arguments of some dtypes and ranks, with sizes of which some may be any. */
export class SizedTraces {
  readonly specs: readonly ArgumentSpec[];
  readonly args: readonly unknown[];
  /** How many sizes are unknown. */
  readonly unknown: number;
  readonly #name: string;
  readonly #trace: Trace;
  /** Where the unknown sizes are. */
  readonly #places: readonly { readonly argument: number; readonly axis: number }[];
  readonly #variants: Variant[] = [];
  /** The trace for no call in particular. */
  #general: Variant | null = null;
  readonly #perSize = new RecentMap<string, AtomicFunction>(TRACES, (concrete) => concrete.dispose());
  #warned = false;

  /** @param args the arguments, with specs in the places of tensors. */
  constructor(name: string, args: readonly unknown[], specs: readonly ArgumentSpec[], trace: Trace) {
    this.args = args;
    this.specs = specs;
    this.#name = name;
    this.#trace = trace;
    this.#places = specs.flatMap(({ shape }, argument) =>
      shape.flatMap((d, axis) => (d === null ? [{ argument, axis }] : [])),
    );
    this.unknown = this.#places.length;
  }

  /** The graph that serves all sizes. @throws the error of the trace where there is none. */
  graph(): Graph {
    return this.#forNoCall().graph;
  }

  /** What the function returns, with a spec in the place of each tensor; null for sizes that may be any. */
  structuredOutputs(): unknown {
    const { graph, structure } = this.#forNoCall();
    return specsOf(structure, graph.outputs);
  }

  /** The trace that serves all sizes, not only those of the calls so far. @throws the error of the trace where there is none. */
  forAllSizes(): { readonly graph: Graph; readonly structuredOutputs: unknown } {
    const { graph, structure } =
      this.#variants.find(({ guards }) => guards.length === 0) ?? this.#forAnyCall();
    return { graph, structuredOutputs: specsOf(structure, graph.outputs) };
  }

  #forNoCall(): Variant {
    const [first] = this.#variants;
    return this.#general ?? first ?? this.#forAnyCall();
  }

  #forAnyCall(): Variant {
    if (this.#general !== null) return this.#general;
    // Sizes along one axis are taken for the same: those of a batch.
    const axes = [...new Set(this.#places.map(({ axis }) => axis))];
    const sizes = this.#places.map(({ axis }) => MADE_UP * (1 + axes.indexOf(axis)));
    this.#general = this.#madeUp(sizes);
    this.#variants.push(this.#general);
    return this.#general;
  }

  /** Where what is computed asks for sizes that are equal (square matrices, parts that are joined), all are taken for the same. */
  #madeUp(sizes: readonly number[]): Variant {
    try {
      return this.#variant(sizes, false);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError) || error instanceof EndlessTrace) throw error;
      try {
        return this.#variant(
          sizes.map(() => MADE_UP),
          false,
        );
      } catch {
        throw error;
      }
    }
  }

  /** What runs for tensors that fit. */
  concrete(shapes: readonly Shape[], inputs?: readonly Tensor[]): AtomicFunction {
    const sizes = this.#places.map(({ argument, axis }) => shapes[argument]?.[axis]);
    const key = sizes.join();
    const known = this.#perSize.get(key);
    if (known !== undefined) return known;
    const variant = this.#variants.find(({ guards, graph }) => {
      const now = sizesOf(graph, shapes);
      return guards.every((guard) => holdsFor(guard, now));
    });
    if (variant !== undefined) return this.#plan(variant, key, sizesOf(variant.graph, shapes), sizes);
    let made: Variant;
    try {
      made = this.#variant(sizes, true, inputs);
    } catch (error) {
      if (error instanceof CapturesOutside || error instanceof EndlessTrace) throw error;
      return this.#forSize(key, shapes, inputs, error);
    }
    this.#warn(made);
    this.#variants.push(made);
    if (this.#variants.length > TRACES) this.#variants.shift();
    return this.#plan(made, key, sizesOf(made.graph, shapes), sizes);
  }

  /** Where sizes have to be known for what the code does. @throws what it throws then. */
  #forSize(
    key: string,
    shapes: readonly Shape[],
    inputs: readonly Tensor[] | undefined,
    why: unknown,
  ): AtomicFunction {
    const concrete = runnable(this.#trace(shapes, false, inputs), (now, measured) =>
      this.#trace(shapes, false, now, measured),
    );
    this.#perSize.set(key, concrete);
    this.#tell(why instanceof Error ? why.message : String(why));
    return concrete;
  }

  #variant(
    sizes: readonly number[],
    hasCall: boolean,
    inputs?: readonly Tensor[],
    measured?: ReadonlyMap<number, number>,
  ): Variant {
    const env = new ShapeEnv(hasCall);
    let next = 0;
    const shapes = this.specs.map(({ shape }, i) =>
      shape.map((d, axis) => {
        if (d !== null) return d;
        const size = sizes[next++];
        return env.symbol(this.specs.length === 1 ? `n${axis}` : `n${i}_${axis}`, size);
      }),
    );
    const { concrete, structure, call } = this.#trace(shapes.map(toShape), true, inputs, measured);
    return {
      // The others are looked at in the middle of a run.
      guards: env.guards.filter(({ a, b }) => !isLate(a) && !isLate(b)),
      call,
      graph: concrete.graph,
      structure,
      plans: new RecentMap<string, AtomicFunction>(PLANS, (plan) => plan.dispose()),
    };
  }

  #plan(variant: Variant, key: string, known: Sizes, sizes: readonly number[]): AtomicFunction {
    const { plans, graph, structure } = variant;
    let plan = plans.get(key);
    if (plan === undefined) {
      plan = isMeasured(graph)
        ? new MeasuredFunction(variant, (inputs, measured) => this.#variant(sizes, true, inputs, measured))
        : new AtomicFunction(specialize(graph, known), structure);
      plans.set(key, plan);
    }
    return plan;
  }

  /** Says where a trace asked for a size, once it is clear that others come. */
  #warn({ guards }: Variant): void {
    const asked = guards.find((guard) => guard.asked !== undefined);
    if (this.#variants.length === 0 || asked === undefined) return;
    const line = userLine(asked.asked?.stack);
    this.#tell(`it asks for a size, ${describeGuard(asked)}; tf.shape(x) gives it as a tensor`, line);
  }

  #tell(why: string, line?: string): void {
    if (this.#warned) return;
    this.#warned = true;
    const where = line === undefined ? '' : ` (${line})`;
    console.warn(
      `tf.function: '${this.#name}' is traced anew for each size of its arguments instead of once for all: ${why}${where}`,
    );
  }
}

/** The function uses tensors of the one that is being traced around it, so its trace serves that one only, and its sizes. */
export class CapturesOutside extends UnimplementedError {
  constructor() {
    super(
      'a function that uses tensors of the traced function around it has a graph for known sizes only: call it, or pass the tensors as arguments',
      'tf.function',
    );
  }
}

/** A function calls itself while it is traced, and never comes to an end: no other trace would. */
export class EndlessTrace extends InvalidArgumentError {
  constructor(name: string) {
    super(
      'a traced function calls itself without an end: what its tensors hold is not known while it is traced; write a loop, or count the ' +
        'calls with a number',
      name,
    );
  }
}

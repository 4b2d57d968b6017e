// Traces that serve arguments of any size: one trace, and a plan for each size that comes.
import { type DType, FailedPreconditionError, UnimplementedError } from '@eagre/backend';
import type { PartialShape, Shape } from '@eagre/core';
import { assumeSizes, RecentMap, symbolicTensor, unknownSizes } from '@eagre/core/internal';
import { ConcreteFunction } from './concrete.ts';
import type { Graph } from './graph.ts';
import { userLine } from './source-lines.ts';
import { type Knowledge, Refused, specialize } from './specialize.ts';
import {
  type Assumption,
  MOST_UNKNOWN,
  SMALLEST_STAND_IN,
  StandIns,
  standIn,
  withoutStandIns,
} from './stand-ins.ts';
import { identity, specsOf } from './structure.ts';
import { CannotSpecialize } from './substitution.ts';
import { holdsNumbersOfSizes, type SizedGraph, sameHostValues, Twins } from './twins.ts';

/** What is known of an argument that is a tensor. */
export interface ArgumentSpec {
  readonly dtype: DType;
  readonly shape: PartialShape;
}

/** One run of the function's code on symbolic tensors. */
export interface TraceResult {
  readonly concrete: ConcreteFunction;
  readonly structure: unknown;
}

/**
 * Runs the function's code for arguments of these shapes, in which numbers stand for unknown sizes if `standIns` says so;
 * `again`: with other ones, for the same trace.
 */
export type Trace = (shapes: readonly Shape[], standIns: StandIns | null, again: boolean) => TraceResult;

// Plans that are kept for one trace.
const PLANS = 16;
// Traces that are kept, each for one size.
const TRACES = 1024;
// A trace that could serve none of so many sizes is given up.
const PATIENCE = 3;

interface Plan {
  readonly concrete: ConcreteFunction;
  readonly assumptions: readonly Assumption[];
}

interface SizedTrace {
  readonly traced: SizedGraph;
  readonly structure: unknown;
}

/** One trace, in which some of the unknown sizes are the same. */
interface Variant {
  /** For each unknown size the number of its class. */
  readonly classes: readonly number[];
  readonly traced: SizedGraph;
  readonly knowledge: Knowledge;
  readonly structure: unknown;
  readonly plans: Map<string, Plan>;
  refused: number;
}

/** The traces of one function for arguments of some dtypes and ranks, with sizes of which some may be any. */
export class SizedTraces {
  readonly specs: readonly ArgumentSpec[];
  /** How many sizes are unknown. */
  readonly unknown: number;
  readonly #name: string;
  readonly #trace: Trace;
  /** Where the unknown sizes are. */
  readonly #places: readonly { readonly argument: number; readonly axis: number }[];
  /** Whether known sizes are as large as the numbers that stand for unknown ones. */
  readonly #hasLargeSizes: boolean;
  readonly #variants: Variant[] = [];
  /** Classes for which tracing has failed. */
  readonly #failed = new Set<string>();
  readonly #perSize = new RecentMap<string, ConcreteFunction>(TRACES, (concrete) => concrete.dispose());
  #warned = false;

  constructor(name: string, specs: readonly ArgumentSpec[], trace: Trace) {
    this.specs = specs;
    this.#name = name;
    this.#trace = trace;
    this.#places = specs.flatMap(({ shape }, argument) =>
      shape.flatMap((d, axis) => (d === null ? [{ argument, axis }] : [])),
    );
    this.unknown = this.#places.length;
    this.#hasLargeSizes = specs.some(({ shape }) => shape.some((d) => d !== null && d >= SMALLEST_STAND_IN));
  }

  /** The graph that serves all sizes. @throws the error of the trace where there is none. */
  graph(): Graph {
    return this.#first().traced.graph;
  }

  /** What the function returns, with a spec in the place of each tensor; null for sizes that may be any. */
  structuredOutputs(): unknown {
    const {
      traced: { graph },
      structure,
    } = this.#first();
    const outputs = graph.outputs.map(({ dtype, shape }) => ({ dtype, shape: withoutStandIns(shape) }));
    return specsOf(structure, outputs);
  }

  #first(): Variant {
    // Sizes along one axis are taken for the same: those of a batch.
    return this.#variants[0] ?? this.#variant(this.#classes(this.#places.map(() => 1)));
  }

  /** What runs for tensors that fit. */
  concrete(tensors: readonly { readonly shape: Shape }[]): ConcreteFunction {
    const sizes = this.#places.map(({ argument, axis }) => tensors[argument]?.shape[axis] as number);
    const around = unknownSizes();
    // What is made while sizes are unknown to a function around this one is part of its trace.
    const key = around === null ? sizes.join() : `${sizes.join()}@${identity(around)}`;
    const known = this.#perSize.get(key);
    if (known !== undefined) return known;
    let why: unknown = null;
    if (sizes.length <= MOST_UNKNOWN && !sizes.includes(0)) {
      const variant = this.#variants.find(({ classes }) => fits(classes, sizes));
      try {
        const plan = this.#plan(variant ?? this.#newVariant(sizes), key, tensors);
        for (const { kind, a, b } of plan?.assumptions ?? []) assumeSizes(kind, a, b);
        if (plan !== null) return plan.concrete;
      } catch (error) {
        if (error instanceof CapturesOutside) throw error;
        why = error;
      }
    }
    const { concrete } = this.#trace(
      tensors.map((t) => t.shape),
      null,
      false,
    );
    this.#perSize.set(key, concrete);
    if (why !== null) this.#warn(why);
    return concrete;
  }

  /** @throws what makes it impossible. */
  #newVariant(sizes: readonly number[]): Variant {
    const classes = this.#classes(sizes);
    const all = sizes.map((d) => sizes.indexOf(d));
    try {
      return this.#variant(classes);
    } catch (error) {
      if (error instanceof CapturesOutside) throw error;
      // Sizes along different axes may have to be the same as well.
      if (this.#gaveUp || fits(all, classes)) throw error;
      return this.#variant(all);
    }
  }

  /** Sizes along one axis of several tensors that are equal now are taken for the same: those of a batch. */
  #classes(sizes: readonly number[]): number[] {
    const classes: number[] = [];
    this.#places.forEach(({ argument, axis }, i) => {
      const same = this.#places.findIndex(
        (p, j) => j < i && p.axis === axis && p.argument !== argument && sizes[j] === sizes[i],
      );
      classes.push(same < 0 ? i : (classes[same] as number));
    });
    return classes;
  }

  #gaveUp = false;

  #variant(classes: readonly number[]): Variant {
    const key = classes.join();
    if (this.#gaveUp || this.#failed.has(key)) throw new Silent();
    const firstId = symbolicTensor('bool', []).id;
    const attempt = (again: boolean): SizedTrace => {
      const standIns = new StandIns();
      try {
        return this.#withStandIns(classes, standIns, again);
      } catch (error) {
        standIns.end();
        // Code that asks for a size does so for all.
        if (standIns.failure !== null) {
          this.#gaveUp = true;
          throw new Located(standIns.failure.error.message, standIns.failure.line);
        }
        throw error;
      }
    };
    try {
      const one = attempt(false);
      let twins: Twins | null = null;
      if (this.#hasLargeSizes || holdsNumbersOfSizes(one.traced, firstId)) {
        const other = attempt(true);
        twins = new Twins(one.traced, other.traced);
        if (!sameHostValues(one.structure, other.structure))
          throw new CannotSpecialize('it returns something that depends on a size');
      }
      const { traced, structure } = one;
      const knowledge = { twins, firstId };
      const variant: Variant = { classes, traced, knowledge, structure, plans: new Map(), refused: 0 };
      this.#variants.push(variant);
      return variant;
    } catch (error) {
      if (!(error instanceof CapturesOutside)) this.#failed.add(key);
      throw error;
    }
  }

  /** The code's trace with numbers in the places of the unknown sizes. */
  #withStandIns(classes: readonly number[], standIns: StandIns, again: boolean): SizedTrace {
    const order = [...new Set(classes)];
    let next = 0;
    const shapes = this.specs.map(({ shape }) =>
      shape.map((d) => d ?? standIn(order.indexOf(classes[next++] as number), again)),
    );
    const { concrete, structure } = this.#trace(shapes, standIns, again);
    standIns.end();
    if (standIns.failure !== null) throw standIns.failure.error;
    if (holdsSize(structure, standIns)) throw new CannotSpecialize('it returns a size as a number');
    return { traced: { graph: concrete.graph, assumptions: standIns.assumptions }, structure };
  }

  /** null where the sizes are not for this trace, which is nobody's mistake. */
  #plan(variant: Variant, key: string, tensors: readonly { readonly shape: Shape }[]): Plan | null {
    const { plans } = variant;
    let plan = plans.get(key);
    if (plan !== undefined) plans.delete(key);
    else {
      if (variant.refused >= PATIENCE && plans.size === 0) return null;
      try {
        const { graph, assumptions } = specialize(
          variant.traced,
          tensors.map((t) => t.shape),
          variant.knowledge,
        );
        plan = { concrete: new ConcreteFunction(graph, variant.structure), assumptions };
      } catch (error) {
        variant.refused++;
        if (plans.size > 0 || !(error instanceof Refused)) return null;
        throw new Located(`${error.node.type}: ${error.message}`, userLine(error.node.traced?.stack));
      }
    }
    plans.set(key, plan);
    if (plans.size > PLANS) {
      const [oldest] = plans;
      if (oldest !== undefined) {
        plans.delete(oldest[0]);
        oldest[1].concrete.dispose();
      }
    }
    return plan;
  }

  #warn(why: unknown): void {
    if (this.#warned || why instanceof Silent) return;
    this.#warned = true;
    const line = why instanceof Located && why.line !== undefined ? ` (${why.line})` : '';
    const message = why instanceof Error ? why.message : String(why);
    console.warn(
      `tf.function: '${this.#name}' is traced anew for each size of its arguments instead of once for all: ${message}${line}`,
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

/** A failure that is known already. */
class Silent extends Error {}

class Located extends FailedPreconditionError {
  readonly line: string | undefined;
  constructor(message: string, line: string | undefined) {
    super(message);
    this.line = line;
  }
}

/** Whether sizes that are the same in a trace are the same here. */
function fits(classes: readonly number[], sizes: readonly number[]): boolean {
  return classes.every((c, i) => sizes[classes.indexOf(c)] === sizes[i]);
}

/** Whether a number among what a function returned stands for a size. */
function holdsSize(value: unknown, standIns: StandIns): boolean {
  if (typeof value === 'number') return standIns.has(value);
  if (Array.isArray(value)) return value.some((v) => holdsSize(v, standIns));
  if (value instanceof Map) return [...value.values()].some((v) => holdsSize(v, standIns));
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === Object.prototype || prototype === null) &&
    Object.values(value).some((v) => holdsSize(v, standIns))
  );
}

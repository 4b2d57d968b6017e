// Two traces of one program, in which other numbers stand for its unknown sizes: what differs between them is made of sizes, what is the
// same in both is the program's own.
import type { Tensor } from '@eagre/core';
import { isSharedScalar, symbolic, viewOf } from '@eagre/core/internal';
import { bodiesOf, Graph, type GraphNode, type GraphValue } from './graph.ts';
import { type Assumption, SMALLEST_STAND_IN } from './stand-ins.ts';
import { CannotSpecialize, isRound } from './substitution.ts';

/** Attributes that are bits, drawn anew for each trace. */
export const BITS: ReadonlySet<string> = new Set(['k0', 'k1', 'counter0', 'counter1', 'seed']);

/** The graph of a trace, with what it takes for true of unknown sizes. */
export interface SizedGraph {
  readonly graph: Graph;
  readonly assumptions: readonly Assumption[];
}

const CHANGED = 'the function does something else when it is traced again with other sizes';

/** The nodes of two traces, by pairs. */
export class Twins {
  readonly #others = new Map<GraphNode, GraphNode>();
  readonly assumptions: readonly Assumption[];

  /** @throws CannotSpecialize where the traces do not consist of the same nodes. */
  constructor(one: SizedGraph, other: SizedGraph) {
    this.#graphs(one.graph, other.graph);
    this.#same(one.assumptions.length, other.assumptions.length);
    one.assumptions.forEach(({ kind, a }, i) => {
      const twin = other.assumptions[i] as Assumption;
      this.#same(kind, twin.kind);
      this.#same(a.length, twin.a.length);
    });
    this.assumptions = other.assumptions;
  }

  /** The node of the other trace. */
  of(node: GraphNode): GraphNode {
    const other = this.#others.get(node);
    if (other === undefined) throw new CannotSpecialize(CHANGED);
    return other;
  }

  #same(a: unknown, b: unknown): void {
    if (!Object.is(a, b)) throw new CannotSpecialize(CHANGED);
  }

  #values(a: readonly GraphValue[], b: readonly GraphValue[]): void {
    this.#same(a.length, b.length);
    a.forEach((value, i) => {
      const twin = b[i] as GraphValue;
      this.#same(this.of(value.node), twin.node);
      this.#same(value.index, twin.index);
    });
  }

  #graphs(a: Graph, b: Graph): void {
    this.#same(a.nodes.length, b.nodes.length);
    const live = new Set(a.liveNodes());
    a.nodes.forEach((node, i) => {
      try {
        this.#nodes(node, b.nodes[i] as GraphNode);
      } catch (error) {
        // Nobody needs what others give, nor asks for their twins.
        if (live.has(node)) throw error;
      }
    });
    this.#values(a.arguments, b.arguments);
    this.#values(a.outputs, b.outputs);
    this.#same(a.assignments.length, b.assignments.length);
    a.assignments.forEach(({ variable, value }, i) => {
      const twin = b.assignments[i] as (typeof b.assignments)[number];
      this.#same(variable, twin.variable);
      this.#values([value], [twin.value]);
    });
  }

  #nodes(a: GraphNode, b: GraphNode): void {
    this.#same(a.type, b.type);
    this.#same(a.what.kind, b.what.kind);
    this.#values(a.inputs, b.inputs);
    this.#same(a.outputs.length, b.outputs.length);
    a.outputs.forEach(({ dtype, shape }, i) => {
      this.#same(dtype, b.outputs[i]?.dtype);
      this.#same(shape.length, b.outputs[i]?.shape.length);
    });
    if (a.what.kind === 'variable' && b.what.kind === 'variable')
      this.#same(a.what.variable, b.what.variable);
    if (a.what.kind === 'update' && b.what.kind === 'update') {
      const { written } = b.what;
      this.#same(a.what.written.length, written.length);
      a.what.written.forEach((variable, i) => this.#same(variable, written[i]));
    }
    this.#others.set(a, b);
    const bodies = bodiesOf(b);
    this.#same(bodiesOf(a).length, bodies.length);
    bodiesOf(a).forEach((body, i) => this.#graphs(body, bodies[i] as Graph));
  }
}

/** Whether two values that functions returned beside tensors are the same. */
export function sameHostValues(a: unknown, b: unknown): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((v, i) => sameHostValues(v, b[i]));
  if (a instanceof Map) return b instanceof Map && sameHostValues([...a.values()], [...b.values()]);
  if (typeof a === 'object' && a !== null) {
    const prototype: unknown = Object.getPrototypeOf(a);
    if (prototype !== Object.prototype && prototype !== null) return true;
    return typeof b === 'object' && b !== null && sameHostValues(Object.values(a), Object.values(b));
  }
  return typeof a === 'function' || Object.is(a, b);
}

// Longer lists that are made while tracing are looked at in any case.
const LONGEST = 64;

/**
 * Whether a trace holds numbers that may be made of sizes, or decides something by one, so that a second trace has to tell which are.
 * @param firstId tensors with smaller numbers were made before the trace: they know nothing of its sizes.
 */
export function holdsNumbersOfSizes({ graph, assumptions }: SizedGraph, firstId: number): boolean {
  return assumptions.length > 0 || graph.nodes.some((node) => mayHold(node, firstId));
}

function mayHold(node: GraphNode, firstId: number): boolean {
  const { what, attrs } = node;
  if (what.kind === 'constant') return !isFromBefore(what.tensor, firstId) && mayDepend(what.tensor);
  if (what.kind === 'argument') return false;
  if (what.kind === 'host')
    return what.results.some(({ shape }) => shape.some((d) => d >= SMALLEST_STAND_IN));
  if (what.kind === 'variable') return what.variable.shape.some((d) => d >= SMALLEST_STAND_IN);
  return (
    Object.entries(attrs).some(([name, value]) => !BITS.has(name) && mayBeOfSizes(value)) ||
    bodiesOf(node).some((body) => body.nodes.some((n) => mayHold(n, firstId)))
  );
}

/** Whether a tensor was made before a trace began, so that it knows nothing of its sizes. */
export function isFromBefore(tensor: Tensor, firstId: number): boolean {
  return tensor.id < firstId && !isSharedScalar(tensor);
}

function mayDepend(tensor: Tensor): boolean {
  if (tensor.backend === symbolic || tensor.dtype === 'string') return false;
  if (tensor.size > LONGEST) return true;
  return Array.from(viewOf(tensor) as ArrayLike<number | bigint>, Number).some((n) =>
    mayBeOfSize(n, tensor.dtype === 'float32'),
  );
}

function mayBeOfSizes(value: unknown): boolean {
  if (typeof value === 'number') return mayBeOfSize(value, false);
  if (Array.isArray(value)) return value.some(mayBeOfSizes);
  if (ArrayBuffer.isView(value)) return true;
  if (typeof value !== 'object' || value === null || value instanceof Graph) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).some(mayBeOfSizes);
}

function mayBeOfSize(n: number, single: boolean): boolean {
  const size = Math.abs(n);
  if (n === 0 || !Number.isFinite(n)) return false;
  if (size >= SMALLEST_STAND_IN || size <= 1 / SMALLEST_STAND_IN) return true;
  return !Number.isInteger(n) && !isRound(n, single);
}

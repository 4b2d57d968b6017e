import { type DType, LateNumber } from '@eagre/backend';
import { constant, type Shape, Tensor } from '@eagre/core';
import { inContext, isFloating, symbolic, symbolically, symbolicTensor, viewOf } from '@eagre/core/internal';
import { ForwardRecord, type Saved } from './control/control-op.ts';
import { Graph, type GraphNode, type GraphValue, type NodeKind } from './graph.ts';
import type { Assumption } from './stand-ins.ts';
import { CannotSpecialize, Numbers } from './substitution.ts';
import { BITS, isFromBefore, type SizedGraph, type Twins } from './twins.ts';

// Longer lists of numbers that a library makes do not hold sizes.
const LONGEST = 64;
// Attributes that are numbers to compute with. All others are sizes and positions.
const VALUES: ReadonlySet<string> = new Set([
  'value',
  'low',
  'high',
  'mean',
  'stddev',
  'alpha',
  'epsilon',
  'scale',
  'min',
  'max',
  'rate',
  'momentum',
]);

/** A graph for arguments of known shapes; its assumptions hold for these, which matters where they are unknown to a function around it. */
export type Specialized = SizedGraph;

/** How a trace tells which numbers are made of unknown sizes. */
export interface Knowledge {
  /** The second trace. Without it numbers are told by their values, so none but those of sizes may look like one. */
  readonly twins: Twins | null;
  /** Tensors with smaller numbers were made before the trace: they know nothing of its sizes. */
  readonly firstId: number;
}

/**
 * The graph of a trace in which numbers stand for unknown sizes, for arguments of certain shapes. Every op infers its shapes anew.
 * @param traced the graph, whose arguments have numbers for unknown sizes, and what it takes for true of them.
 * @param shapes of the arguments.
 * @throws CannotSpecialize where a number cannot be told, or what the trace took for true does not hold for these shapes.
 */
export function specialize(traced: SizedGraph, shapes: readonly Shape[], knowledge: Knowledge): Specialized {
  const specializing = new Specializing(traced, shapes, knowledge);
  return inContext({ tapes: [], tracker: null }, () => symbolically(null, () => specializing.run()));
}

class Specializing {
  readonly #traced: SizedGraph;
  readonly #shapes: readonly Shape[];
  readonly #twins: Twins | null;
  readonly #firstId: number;
  readonly #values = new Map<GraphValue, GraphValue>();
  readonly #sizes: Numbers;
  /** Bodies of branches and loops, and what their gradients take over from them. */
  readonly #bodies = new Map<Graph, Graph>();
  readonly #records = new Map<ForwardRecord, ForwardRecord>();
  readonly #saved = new Map<Saved, Saved>();

  constructor(traced: SizedGraph, shapes: readonly Shape[], { twins, firstId }: Knowledge) {
    this.#traced = traced;
    this.#shapes = shapes;
    this.#twins = twins;
    this.#firstId = firstId;
    this.#sizes = new Numbers(twins !== null);
  }

  run(): Specialized {
    const { graph: traced, assumptions: taken } = this.#traced;
    traced.arguments.forEach((value, i) =>
      this.#sizes.learn(value.shape, this.#twin(value).shape, this.#shapes[i] as Shape),
    );
    const graph = this.#specialized(traced);
    const assumptions = taken.map(({ kind, a, b }, i): Assumption => {
      const other = this.#twins?.assumptions[i] ?? { a, b };
      const x = this.#shape(a, other.a);
      const y = this.#shape(b, other.b);
      const holds =
        kind === 'differ' ? x.some((d, i) => d !== y[i]) : x.every((d, i) => d >= 0 && d <= (y[i] as number));
      if (!holds) throw new CannotSpecialize('the function does something else for these sizes');
      return { kind, a: x, b: y };
    });
    return { graph, assumptions };
  }

  #specialized(traced: Graph): Graph {
    const graph = new Graph(traced.name);
    const live = new Set(traced.liveNodes());
    for (const node of traced.nodes) {
      try {
        this.#node(graph, node);
      } catch (error) {
        // Others are here because numbers may be the sizes of what they give, and a gradient may take them over.
        if (live.has(node)) throw error instanceof Refused ? error : new Refused(error, node);
      }
    }
    graph.arguments.push(...traced.arguments.map((v) => this.#value(v)));
    graph.outputs = traced.outputs.map((v) => this.#value(v));
    graph.assignments = traced.assignments.map(({ variable, value }) => ({
      variable,
      value: this.#value(value),
    }));
    return graph;
  }

  #body(traced: Graph): Graph {
    let body = this.#bodies.get(traced);
    if (body === undefined) this.#bodies.set(traced, (body = this.#specialized(traced)));
    return body;
  }

  #record(traced: ForwardRecord): ForwardRecord {
    let record = this.#records.get(traced);
    if (record === undefined) this.#records.set(traced, (record = new ForwardRecord()));
    return record;
  }

  /** What a gradient takes over from the body of its loop, which comes before it. */
  #restored(traced: Saved): Saved {
    let saved = this.#saved.get(traced);
    if (saved === undefined) {
      saved = this.#record(traced.of).save(traced.values.map((v) => this.#value(v)));
      this.#saved.set(traced, saved);
    }
    return saved;
  }

  #value(value: GraphValue): GraphValue {
    const now = this.#values.get(value);
    if (now === undefined) throw new CannotSpecialize(`${value.node.name} is not in the graph`);
    return now;
  }

  /** The node of the second trace. */
  #other(node: GraphNode): GraphNode {
    return this.#twins === null ? node : this.#twins.of(node);
  }

  #twin({ node, index }: GraphValue): GraphValue {
    return this.#other(node).outputs[index] as GraphValue;
  }

  #node(graph: Graph, node: GraphNode): void {
    const inputs = node.inputs.map((v) => this.#value(v));
    const other = this.#other(node);
    const attrs = this.#attrs(node.attrs, other.attrs);
    let what: NodeKind = node.what;
    let outputs: readonly { readonly dtype: Tensor['dtype']; readonly shape: Shape }[] = node.outputs;
    switch (what.kind) {
      case 'argument':
        outputs = node.outputs.map(({ dtype, shape }, i) => ({
          dtype,
          shape: this.#shape(shape, other.outputs[i]?.shape ?? shape),
        }));
        break;
      case 'constant':
        what = { kind: 'constant', tensor: this.#constant(what.tensor, tensorOf(other)) };
        break;
      case 'op': {
        const { op } = what;
        const made = op.evaluate(
          inputs.map(({ dtype, shape }) => symbolicTensor(dtype, shape)),
          attrs as GraphNode['attrs'] & Record<string, unknown>,
        );
        outputs = made.map(({ dtype, shape }) => ({ dtype, shape }));
        break;
      }
      case 'host': {
        const results = what.results.map((r, i) => ({
          ...r,
          shape: this.#shape(r.shape, other.outputs[i]?.shape ?? r.shape),
        }));
        what = { ...what, results };
        outputs = results;
        break;
      }
      case 'variable':
      case 'update':
        break;
    }
    const added = graph.add(node.type, what, inputs, attrs, outputs, {
      name: node.name,
      traced: node.traced,
      late: node.late,
    });
    node.outputs.forEach((value, i) => {
      const now = added.outputs[i] as GraphValue;
      this.#sizes.learn(value.shape, this.#twin(value).shape, now.shape);
      this.#values.set(value, now);
    });
  }

  #shape(shape: Shape, other: Shape): number[] {
    return shape.map((d, i) => this.#sizes.size(d, other[i] as number));
  }

  #constant(tensor: Tensor, other: Tensor): Tensor {
    const { dtype } = tensor;
    if (tensor.backend === symbolic) return tensor;
    const twins = this.#twins !== null;
    // The same tensor in both traces, or one from before the trace, knows nothing of sizes.
    if (twins ? tensor === other : isFromBefore(tensor, this.#firstId)) return tensor;
    if (dtype === 'string') {
      if (twins && !sameStrings(tensor, other))
        throw new CannotSpecialize('strings depend on an unknown size');
      return tensor;
    }
    if (!twins && (dtype === 'bool' || dtype === 'uint8')) return tensor;
    if (tensor.shape.some((d, i) => this.#sizes.concerns(d, other.shape[i] as number)))
      throw new CannotSpecialize('a constant has as many elements as an unknown size says');
    if (tensor.size > LONGEST && !twins) return tensor;
    const before = viewOf(tensor) as ArrayLike<number | bigint>;
    const twin = viewOf(other) as ArrayLike<number | bigint>;
    const differs = (i: number): boolean =>
      twins ? !Object.is(before[i], twin[i]) : this.#number(before, twin, i, dtype) !== Number(before[i]);
    let same = true;
    for (let i = 0; i < tensor.size && same; i++) same = !differs(i) || Number.isNaN(Number(before[i]));
    if (same) return tensor;
    if (tensor.size > LONGEST) throw new CannotSpecialize('a list of numbers depends on an unknown size');
    const now = Array.from(before, (_, i) => this.#number(before, twin, i, dtype));
    if (!isFloating(dtype) && !now.every(Number.isSafeInteger))
      throw new CannotSpecialize('an integer constant is not one any more');
    return inContext({ tracer: null, tapes: [], tracker: null }, () =>
      constant(now, dtype, { shape: tensor.shape }),
    );
  }

  #number(
    one: ArrayLike<number | bigint>,
    other: ArrayLike<number | bigint>,
    i: number,
    dtype: DType,
  ): number {
    return this.#sizes.value(Number(one[i]), Number(other[i]), dtype === 'float32');
  }

  #attrs(attrs: GraphNode['attrs'], other: GraphNode['attrs']): GraphNode['attrs'] {
    return Object.fromEntries(
      Object.entries(attrs).map(([name, value]) => [
        name,
        BITS.has(name)
          ? value
          : this.#attr(value, (other as Record<string, unknown>)[name], VALUES.has(name)),
      ]),
    ) as GraphNode['attrs'];
  }

  #attr(value: unknown, other: unknown, computed: boolean): unknown {
    if (typeof value === 'number') {
      if (typeof other !== 'number') throw new CannotSpecialize('an attribute depends on an unknown size');
      if (computed || !Number.isInteger(value)) return this.#sizes.value(value, other, false);
      return this.#sizes.size(value, other);
    }
    if (Array.isArray(value)) {
      if (!Array.isArray(other) || other.length !== value.length)
        throw new CannotSpecialize('the length of a list depends on an unknown size');
      return value.map((v, i) => this.#attr(v, other[i], computed));
    }
    if (ArrayBuffer.isView(value)) {
      const [list, twin] = [value, other].map((v) => Array.from(v as ArrayLike<number | bigint>, Number)) as [
        number[],
        number[],
      ];
      if (list.length !== twin.length || list.some((n, i) => this.#sizes.concerns(n, twin[i] as number)))
        throw new CannotSpecialize('a list of numbers depends on an unknown size');
      return value;
    }
    if (value instanceof LateNumber || typeof value === 'function') return value;
    if (typeof value !== 'object' || value === null) {
      if (!Object.is(value, other)) throw new CannotSpecialize('an attribute depends on an unknown size');
      return value;
    }
    if (value instanceof Graph) return this.#body(value);
    if (value instanceof ForwardRecord) return this.#record(value);
    if (isSaved(value)) return this.#restored(value);
    if (value instanceof Tensor) throw new CannotSpecialize('an attribute is a tensor');
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return value;
    const twin = (other ?? {}) as Record<string, unknown>;
    const entries = Object.entries(value).map(([k, v]) => [k, this.#attr(v, twin[k], computed)] as const);
    return entries.every(([k, v]) => v === (value as Record<string, unknown>)[k])
      ? value
      : Object.fromEntries(entries);
  }
}

function tensorOf({ what }: GraphNode): Tensor {
  if (what.kind !== 'constant')
    throw new CannotSpecialize('a constant is none when the function is traced again');
  return what.tensor;
}

function sameStrings(a: Tensor, b: Tensor): boolean {
  return String(a.shape) === String(b.shape) && String(a.strings()) === String(b.strings());
}

function isSaved(value: object): value is Saved {
  return 'of' in value && value.of instanceof ForwardRecord;
}

/** A refusal that is due to one node. */
export class Refused extends CannotSpecialize {
  readonly node: GraphNode;
  constructor(why: unknown, node: GraphNode) {
    super(why instanceof Error ? why.message : String(why));
    this.node = node;
  }
}

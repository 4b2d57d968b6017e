import { LateNumber } from '@eagre/backend';
import { constant, type Shape, Tensor } from '@eagre/core';
import { inContext, symbolic, symbolically, symbolicTensor, viewOf } from '@eagre/core/internal';
import { ForwardRecord, type Saved } from './control/control-op.ts';
import { Graph, type GraphNode, type GraphValue, type NodeKind } from './graph.ts';
import type { Assumption } from './stand-ins.ts';
import { CannotSpecialize, Substitution } from './substitution.ts';

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
const BITS: ReadonlySet<string> = new Set(['k0', 'k1', 'counter0', 'counter1', 'seed']);

/** A graph for arguments of known shapes. */
export interface Specialized {
  readonly graph: Graph;
  /** What holds for these shapes, and must: it matters where they are themselves unknown to a function around this one. */
  readonly assumptions: readonly Assumption[];
}

/**
 * The graph of a trace in which numbers stand for unknown sizes, for arguments of certain shapes. Every op infers its shapes anew.
 * @param traced the graph, whose arguments have numbers for unknown sizes.
 * @param shapes of the arguments.
 * @throws CannotSpecialize where a number cannot be told, or what the trace took for true does not hold for these shapes.
 */
export function specialize(
  traced: Graph,
  shapes: readonly Shape[],
  assumptions: readonly Assumption[],
): Specialized {
  const specializing = new Specializing(traced, shapes, assumptions);
  return inContext({ tapes: [], tracker: null }, () => symbolically(null, () => specializing.run()));
}

class Specializing {
  readonly #traced: Graph;
  readonly #shapes: readonly Shape[];
  readonly #assumptions: readonly Assumption[];
  readonly #values = new Map<GraphValue, GraphValue>();
  readonly #sizes = new Substitution();
  /** Bodies of branches and loops, and what their gradients take over from them. */
  readonly #bodies = new Map<Graph, Graph>();
  readonly #records = new Map<ForwardRecord, ForwardRecord>();
  readonly #saved = new Map<Saved, Saved>();

  constructor(traced: Graph, shapes: readonly Shape[], assumptions: readonly Assumption[]) {
    this.#traced = traced;
    this.#shapes = shapes;
    this.#assumptions = assumptions;
  }

  run(): Specialized {
    this.#traced.arguments.forEach((value, i) => this.#sizes.learn(value.shape, this.#shapes[i] as Shape));
    const graph = this.#specialized(this.#traced);
    const assumptions = this.#assumptions.map(({ kind, a, b }): Assumption => {
      const [x, y] = [a, b].map((list) => list.map((n) => this.#sizes.size(n))) as [number[], number[]];
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

  #node(graph: Graph, node: GraphNode): void {
    const inputs = node.inputs.map((v) => this.#value(v));
    const attrs = this.#attrs(node.attrs);
    let what: NodeKind = node.what;
    let outputs: readonly { readonly dtype: Tensor['dtype']; readonly shape: Shape }[] = node.outputs;
    switch (what.kind) {
      case 'argument':
        outputs = node.outputs.map(({ dtype, shape }) => ({ dtype, shape: this.#shape(shape) }));
        break;
      case 'constant':
        what = { kind: 'constant', tensor: this.#constant(what.tensor) };
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
        const results = what.results.map((r) => ({ ...r, shape: this.#shape(r.shape) }));
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
      this.#sizes.learn(value.shape, now.shape);
      this.#values.set(value, now);
    });
  }

  #shape(shape: Shape): number[] {
    return shape.map((d) => this.#sizes.size(d));
  }

  #constant(tensor: Tensor): Tensor {
    if (
      tensor.backend === symbolic ||
      tensor.dtype === 'string' ||
      tensor.dtype === 'bool' ||
      tensor.dtype === 'uint8'
    )
      return tensor;
    if (tensor.shape.some((d) => this.#sizes.concerns(d)))
      throw new CannotSpecialize('a constant has as many elements as an unknown size says');
    if (tensor.size > LONGEST) return tensor;
    const floating = tensor.dtype === 'float32' || tensor.dtype === 'float64';
    const before = Array.from(viewOf(tensor) as ArrayLike<number | bigint>, Number);
    const now = before.map((v) => this.#sizes.value(v, tensor.dtype === 'float32'));
    if (now.every((v, i) => Object.is(v, before[i]))) return tensor;
    if (!floating && !now.every(Number.isSafeInteger))
      throw new CannotSpecialize('an integer constant is not one any more');
    return inContext({ tracer: null, tapes: [], tracker: null }, () =>
      constant(now, tensor.dtype, { shape: tensor.shape }),
    );
  }

  #attrs(attrs: GraphNode['attrs']): GraphNode['attrs'] {
    return Object.fromEntries(
      Object.entries(attrs).map(([name, value]) => [
        name,
        BITS.has(name) ? value : this.#attr(value, VALUES.has(name)),
      ]),
    ) as GraphNode['attrs'];
  }

  #attr(value: unknown, computed: boolean): unknown {
    if (typeof value === 'number') {
      if (computed || !Number.isInteger(value)) return this.#sizes.value(value, false);
      return this.#sizes.size(value);
    }
    if (Array.isArray(value)) return value.map((v) => this.#attr(v, computed));
    if (ArrayBuffer.isView(value)) {
      const list = Array.from(value as unknown as ArrayLike<number | bigint>, Number);
      if (list.some((n) => this.#sizes.concerns(n)))
        throw new CannotSpecialize('a list of numbers depends on an unknown size');
      return value;
    }
    if (value instanceof LateNumber || typeof value !== 'object' || value === null) return value;
    if (value instanceof Graph) return this.#body(value);
    if (value instanceof ForwardRecord) return this.#record(value);
    if (isSaved(value)) return this.#restored(value);
    if (value instanceof Tensor) throw new CannotSpecialize('an attribute is a tensor');
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return value;
    const entries = Object.entries(value).map(([k, v]) => [k, this.#attr(v, computed)] as const);
    return entries.every(([k, v]) => v === (value as Record<string, unknown>)[k])
      ? value
      : Object.fromEntries(entries);
  }
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

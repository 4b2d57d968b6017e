// The graph of a trace for any size, for the sizes of a run.
import { InternalError } from '@eagre/backend';
import { constant, type Shape, type Tensor } from '@eagre/core';
import {
  type Dim,
  type DimSymbol,
  dims,
  dimsOf,
  evaluateDim,
  type Guard,
  inContext,
  type Sizes,
  symbolically,
  symbolicTensor,
  symbolOf,
} from '@eagre/core/internal';
import { ForwardRecord, type Saved } from '../control/control-op.ts';
import { type Assignment, Graph, type GraphNode, type GraphValue, type NodeKind } from '../ir/graph.ts';
import { replaceSizes } from '../tracing/sizes-in-attributes.ts';

/** What the symbols of a trace are for arguments of certain shapes. @throws InternalError for one that is no argument's size. */
export function sizesOf(traced: Graph, shapes: readonly Shape[]): Sizes {
  const found = new Map<DimSymbol, number>();
  traced.arguments.forEach((value, i) => {
    dims(value).forEach((d, axis) => {
      const symbol = symbolOf(d);
      if (symbol !== null) found.set(symbol, shapes[i]?.[axis]);
    });
  });
  return (symbol) => {
    const size = found.get(symbol);
    if (size === undefined) throw new InternalError(`the size ${symbol.text} is not that of an argument`);
    return size;
  };
}

/** Whether a trace holds for certain sizes. */
export function describeGuard({ kind, a, b }: Guard): string {
  return `${a} ${kind === 'equal' ? '=' : kind === 'differ' ? '≠' : '≤'} ${b}`;
}

/** The graph of a trace for certain sizes, for which its guards hold. Every op infers its shapes anew. */
export function specialize(traced: Graph, sizes: Sizes): Graph {
  return inContext({ tapes: [], tracker: null }, () =>
    symbolically(null, () => new Specializing(sizes).graph(traced)),
  );
}

/** Some nodes of a graph. */
export interface Segment {
  readonly name: string;
  /** What the nodes get from elsewhere: the arguments of its graph. */
  readonly given: readonly GraphValue[];
  readonly nodes: readonly GraphNode[];
  readonly outputs: readonly GraphValue[];
  readonly assignments: readonly Assignment[];
}

/** The graph of a segment for certain sizes. */
export function specializeSegment(segment: Segment, sizes: Sizes): Graph {
  return inContext({ tapes: [], tracker: null }, () =>
    symbolically(null, () => new Specializing(sizes).segment(segment)),
  );
}

class Specializing {
  readonly #sizes: Sizes;
  readonly #values = new Map<GraphValue, GraphValue>();
  /** Bodies of branches and loops, and what their gradients take over from them. */
  readonly #bodies = new Map<Graph, Graph>();
  readonly #records = new Map<ForwardRecord, ForwardRecord>();
  readonly #saved = new Map<Saved, Saved>();

  constructor(sizes: Sizes) {
    this.#sizes = sizes;
  }

  graph(traced: Graph): Graph {
    const graph = new Graph(traced.name);
    const live = new Set(traced.liveNodes());
    for (const node of traced.nodes) {
      try {
        this.#node(graph, node);
      } catch (error) {
        // Others are here because a gradient may take them over.
        if (live.has(node)) throw error;
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

  segment({ name, given, nodes, outputs, assignments }: Segment): Graph {
    const graph = new Graph(name);
    for (const value of given) {
      const { dtype, node } = value;
      const shape = this.#shape(value.shape);
      const made = graph.add('Placeholder', { kind: 'argument' }, [], { dtype, shape }, [{ dtype, shape }], {
        name: node.name,
      });
      this.#values.set(value, made.outputs[0]);
    }
    for (const node of nodes) this.#node(graph, node);
    graph.arguments.push(...given.map((v) => this.#value(v)));
    graph.outputs = outputs.map((v) => this.#value(v));
    graph.assignments = assignments.map(({ variable, value }) => ({ variable, value: this.#value(value) }));
    return graph;
  }

  #body(traced: Graph): Graph {
    let body = this.#bodies.get(traced);
    if (body === undefined) this.#bodies.set(traced, (body = this.graph(traced)));
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
    if (now === undefined) throw new InternalError(`${value.node.name} is not in the graph`);
    return now;
  }

  #size(d: Dim): number {
    return evaluateDim(d, this.#sizes);
  }

  #shape(shape: Shape): number[] {
    return dimsOf(shape).map((d) => this.#size(d));
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
      case 'size': {
        const { size, dtype } = what;
        const tensor = inContext({ tracer: null }, () => constant(this.#size(size), dtype));
        what = { kind: 'constant', tensor };
        outputs = [tensor];
        break;
      }
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
      case 'constant':
      case 'variable':
      case 'update':
        break;
    }
    const added = graph.add(node.type, what, inputs, attrs, outputs, {
      name: node.name,
      traced: node.traced,
      draws: node.draws,
      device: node.device,
    });
    node.outputs.forEach((value, i) => {
      this.#values.set(value, added.outputs[i]);
    });
  }

  #attrs(attrs: GraphNode['attrs']): GraphNode['attrs'] {
    return replaceSizes(
      attrs,
      (d) => this.#size(d),
      (value) => {
        if (value instanceof Graph) return this.#body(value);
        if (value instanceof ForwardRecord) return this.#record(value);
        return isSaved(value) ? this.#restored(value) : value;
      },
    );
  }
}

function isSaved(value: object): value is Saved {
  return 'of' in value && value.of instanceof ForwardRecord;
}

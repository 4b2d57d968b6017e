// A traced function under a gradient tape: one graph forward, one graph backward.
import { GradientTape } from '@eagre/autodiff';
import { InternalError } from '@eagre/backend';
import { type Tensor, type Variable, zerosLike } from '@eagre/core';
import { type GradContext, hasGradient, Op, recordOnTapes, withoutTapes } from '@eagre/core/internal';
import { Graph, type GraphNode, type GraphValue } from '../ir/graph.ts';
import { FunctionTracer } from '../tracing/tracer.ts';
import { interpretFunction } from './interpret.ts';

/** Runs a graph; the results are those of its outputs. */
type Run = (inputs: readonly Tensor[]) => readonly Tensor[];

/**
 * What a tape sees of a call: one op. Its inputs are the function's arguments and the variables that it reads, its outputs the results
 * and whatever else the gradient needs of the run.
 */
export class ForwardBackward {
  readonly #variables: readonly Variable[];
  readonly #places: readonly number[];
  readonly #results: number;
  readonly #run: Run;
  readonly #op: Op;

  private constructor(split: Split, prepare: (graph: Graph) => Run) {
    this.#variables = split.variables;
    this.#places = split.places;
    this.#results = split.results;
    this.#run = prepare(split.forward);
    const backwards = new Map<string, Run>();
    const grad = (g: GradContext, dys: readonly (Tensor | null)[]): (Tensor | null)[] => {
      const wanted = split.gradients.map((v, i) => v !== null && g.needs(i));
      const key = wanted.map(Number).join('');
      let run = backwards.get(key);
      if (run === undefined) backwards.set(key, (run = prepare(split.backward(wanted))));
      const seeds = split.seeded.map((i) => dys[i] ?? zerosLike(g.outputs[i]));
      const found = run([...g.inputs, ...split.kept.map((i) => g.outputs[i]), ...seeds]);
      let next = 0;
      return wanted.map((w) => (w ? found[next++] : null));
    };
    this.#op = new Op(
      {
        name: 'PartitionedCall',
        samples: () => [],
        grad: (g, dy, ...more) => grad(g, [dy, ...more]),
      },
      () => {
        throw new InternalError('a call of a traced function was not told to a tape by itself');
      },
    );
  }

  /**
   * @param prepare makes a graph ready to run.
   * @returns null where the gradient needs more of the run than tensors: what loops and branches keep on stacks.
   */
  static of(graph: Graph, prepare: (graph: Graph) => Run): ForwardBackward | null {
    const split = splitGraph(graph);
    return split === null ? null : new ForwardBackward(split, prepare);
  }

  /** Runs the function and tells the tape. */
  call(args: readonly Tensor[]): readonly Tensor[] {
    const inputs = [...args, ...this.#variables.map((v) => v.taken())];
    // Held, so that the run changes no variable in the memory that the gradient will read.
    for (const { storage } of inputs) storage.refs++;
    try {
      const outputs = withoutTapes(() => this.#run(args));
      recordOnTapes(this.#op, inputs, {}, outputs);
      for (const kept of outputs.slice(this.#results)) kept.dispose();
      return this.#places.map((place) => outputs[place]);
    } finally {
      for (const { storage } of inputs) storage.release();
    }
  }
}

interface Split {
  /** Its outputs are the results, each once, and what the gradient needs beside. */
  readonly forward: Graph;
  readonly results: number;
  /** By result of the function: which of these outputs it is. */
  readonly places: readonly number[];
  /** The outputs that the gradient needs; it may need results. */
  readonly kept: readonly number[];
  readonly variables: readonly Variable[];
  /** The outputs that have gradients. */
  readonly seeded: readonly number[];
  /** By argument and variable: its gradient, if there is one. */
  readonly gradients: readonly (GraphValue | null)[];
  /** The graph of the wanted gradients; its arguments are arguments, variables, what else the forward graph gives, gradients of results. */
  backward(wanted: readonly boolean[]): Graph;
}

function splitGraph(graph: Graph): Split | null {
  const tracer = new FunctionTracer(graph.name, false);
  const variables = graph
    .liveNodes()
    .flatMap(({ what }) =>
      what.kind === 'variable' && hasGradient(what.variable.dtype) ? [what.variable] : [],
    );
  return tracer.run(() => {
    const args = graph.arguments.map(({ dtype, shape, node }) => tracer.argument(dtype, shape, node.name));
    const tape = new GradientTape({ watchAccessedVariables: false });
    const sources = [...args.filter((t) => hasGradient(t.dtype)), ...variables];
    tape.watch(sources);
    const initial = variables.map((v) => tracer.valueOf(tracer.read(v)));
    const outputs = interpretFunction(graph, args);
    tracer.finish(outputs);
    const whole = tracer.graph;
    // A tape adds up what comes to a tensor by itself: each stands among the outputs once, however often it is returned.
    const results = [...new Set(whole.outputs)];
    const first = results.map((v) => outputs[whole.outputs.indexOf(v)]);
    const count = whole.nodes.length;
    const seeded = first.flatMap((t, i) => (hasGradient(t.dtype) ? [i] : []));
    const seeds = seeded.map((i) => {
      const { dtype, shape } = first[i];
      return tracer.argument(dtype, shape, `grad_${i}`);
    });
    const found = tape.denseGradient(
      seeded.map((i) => first[i]),
      sources,
      { outputGradients: seeds },
    ) as readonly (Tensor | null)[];
    const given = [...args.map((t) => tracer.valueOf(t)), ...initial];
    let next = 0;
    const gradients = [...args, ...variables].map(({ dtype }) => {
      const gradient = hasGradient(dtype) ? (found[next++] ?? null) : null;
      return gradient === null ? null : tracer.valueOf(gradient);
    });
    const behind = whole.nodes.slice(count);
    if (behind.some(({ attrs }) => (attrs['restored'] ?? null) !== null)) return null;
    const before = new Set(whole.nodes.slice(0, count));
    const known = new Set(given);
    const needed = [...behind.flatMap((node) => node.inputs), ...gradients.filter((v) => v !== null)];
    const kept = [...new Set(needed)].filter(
      (v) => before.has(v.node) && v.node.what.kind !== 'constant' && !known.has(v),
    );
    const forward = new Graph(graph.name);
    forward.nodes.push(...before);
    forward.arguments.push(...given.slice(0, args.length));
    forward.outputs = [...new Set([...results, ...kept])];
    forward.assignments = whole.assignments;
    const taken = [...given, ...kept, ...seeds.map((t) => tracer.valueOf(t))];
    return {
      forward,
      results: results.length,
      places: whole.outputs.map((v) => results.indexOf(v)),
      kept: kept.map((v) => forward.outputs.indexOf(v)),
      variables,
      seeded,
      gradients,
      backward: (wanted) =>
        backwardGraph(
          `${graph.name}_gradient`,
          behind,
          taken,
          gradients.filter((v, i): v is GraphValue => v !== null && wanted[i] === true),
        ),
    };
  });
}

/** A graph of these nodes, with the values of `taken` as arguments. */
function backwardGraph(
  name: string,
  nodes: readonly GraphNode[],
  taken: readonly GraphValue[],
  outputs: readonly GraphValue[],
): Graph {
  const graph = new Graph(name);
  const copies = new Map<GraphValue, GraphValue>();
  for (const value of taken) {
    const { dtype, shape, node } = value;
    const copy = graph.add('Placeholder', { kind: 'argument' }, [], { dtype, shape }, [value], {
      name: node.name,
    });
    graph.arguments.push(copy.outputs[0]);
    copies.set(value, copy.outputs[0]);
  }
  const copyNode = ({
    type,
    what,
    inputs,
    attrs,
    outputs: made,
    name: wanted,
    traced,
    draws,
    device,
  }: GraphNode): void => {
    const copy = graph.add(type, what, inputs.map(copied), attrs, made, {
      name: wanted,
      traced,
      draws,
      device,
    });
    made.forEach((v, i) => copies.set(v, copy.outputs[i]));
  };
  const copied = (value: GraphValue): GraphValue => {
    if (!copies.has(value)) copyNode(value.node);
    return copies.get(value) as GraphValue;
  };
  for (const node of nodes) {
    const done = node.outputs.length > 0 && node.outputs.every((v) => copies.has(v));
    if (!done) copyNode(node);
  }
  graph.outputs = outputs.map(copied);
  return graph;
}

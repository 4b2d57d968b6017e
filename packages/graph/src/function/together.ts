// Several functions that exchange values on their way become part of one graph. JavaScript cannot leave a function in the middle, so each is
// traced to its end first, with what others will give it as unknown values; then the traces are written into the graph around them, part by
// part, with the exchanges between the parts.
import {
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  UnimplementedError,
} from '@eagre/backend';
import { Tensor, type Variable, zerosLike } from '@eagre/core';
import {
  type Attrs,
  context,
  type Dims,
  dims,
  execute,
  Op,
  showShape,
  symbolicTensor,
  toShape,
} from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../ir/graph.ts';
import { rebuilder, results } from '../tracing/structure.ts';
import { FunctionTracer } from '../tracing/tracer.ts';
import { GraphInterpreter, RunSizes, type Stop } from './interpret.ts';

/** A dtype and a shape. */
export interface ExchangeSpec {
  readonly dtype: DType;
  readonly shape: Dims;
}

/** Something that all functions do at the same place of their code: each gives tensors, and gets some made of those of all. */
export interface Exchange {
  /** For errors. */
  readonly name: string;
  /** What one function gets, by what each gives. */
  specs(given: readonly (readonly ExchangeSpec[])[], index: number): readonly ExchangeSpec[];
  /** What each gets, from what each gave. */
  combine(given: readonly (readonly Tensor[])[]): readonly (readonly Tensor[])[];
  /** The gradients of what a function gave, from those of what it got; computed in that function. Without it there is none. */
  gradient?(
    gradients: readonly Tensor[],
    given: readonly (readonly ExchangeSpec[])[],
    index: number,
  ): readonly Tensor[];
}

type ExchangeAttrs = Attrs & {
  readonly exchange: Exchange;
  readonly given: readonly (readonly ExchangeSpec[])[];
  readonly index: number;
};

const spec = (t: Tensor): ExchangeSpec => ({ dtype: t.dtype, shape: dims(t) });

/** Where a trace gets what others give it. */
const exchangeOp: Op = /* @__PURE__ */ new Op(
  {
    name: 'Exchange',
    samples: () => [],
    grad: ({ outputs, attrs }, ...gradients) => {
      const { exchange, given, index } = attrs as ExchangeAttrs;
      if (exchange.gradient === undefined)
        throw new UnimplementedError(`${exchange.name} has no gradient`, exchange.name);
      const all = outputs.map((y, i) => gradients[i] ?? zerosLike(y));
      return exchange.gradient(all, given, index);
    },
  },
  (_, attrs) => {
    const { exchange, given, index } = attrs as ExchangeAttrs;
    return exchange.specs(given, index).map(({ dtype, shape }) => symbolicTensor(dtype, shape));
  },
);

/** The tracer of one of the functions. Variables that it makes belong to the trace around it. */
class PartTracer extends FunctionTracer {
  override created(variable: Variable): void {
    this.around?.created(variable);
    this.made.push(variable);
  }
}

/** One of the functions as it was traced. */
interface Part {
  readonly tracer: PartTracer;
  readonly structure: unknown;
  /** Its exchanges, in the order of its code. */
  readonly exchanges: readonly GraphNode[];
  /** Why it did not come to its end. */
  readonly failure: Failure | null;
}

interface Failure {
  readonly error: unknown;
}

/** What one of the functions exchanges values by, while it is traced. */
export type Give = (exchange: Exchange, values: readonly Tensor[]) => readonly Tensor[];

/** How often sizes that others give may turn out to be other ones than was assumed. */
const ATTEMPTS = 64;

/**
 * Calls `call` for each of `count` functions, which exchange values. Only while a function is traced.
 * @returns what each returned
 * @throws InvalidArgumentError where the functions do not exchange the same, UnimplementedError for an exchange in a branch or a loop
 */
export function runTogether(
  name: string,
  count: number,
  call: (index: number, give: Give) => unknown,
): readonly unknown[] {
  const { tracer } = context;
  if (!(tracer instanceof FunctionTracer))
    throw new FailedPreconditionError('functions run together only while tf.function traces', name);
  let known: Known = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const parts = Array.from({ length: count }, (_, index) => trace(name, tracer, index, count, known, call));
    const failure = parts.find((part) => part.failure !== null)?.failure ?? null;
    const found = givenBy(parts, name, failure === null);
    if (agrees(parts, found)) {
      if (failure !== null) throw failure.error;
      return replay(parts, tracer);
    }
    // What went wrong may come of sizes that the others do not give.
    known = found;
  }
  throw new InvalidArgumentError(
    'the sizes that the replicas exchange do not settle: each trace gives other ones',
    name,
  );
}

/** By exchange and function: what each gives. */
type Known = readonly (readonly (readonly ExchangeSpec[])[])[];

function trace(
  name: string,
  around: FunctionTracer,
  index: number,
  count: number,
  known: Known,
  call: (index: number, give: Give) => unknown,
): Part {
  const { sizes } = around.tracedCall;
  const tracer = new PartTracer(name, true, null, null, around, { sizes, late: [], guess: {} });
  const exchanges: GraphNode[] = [];
  const give: Give = (exchange, values) => {
    if (context.tracer !== tracer)
      throw new UnimplementedError(
        'replicas cannot meet in a branch or a loop of a traced function: put strategy.run into the loop, or the branch around it',
        exchange.name,
      );
    const own = values.map(spec);
    const given = known[exchanges.length] ?? Array.from({ length: count }, () => own);
    const before = tracer.graph.nodes.length;
    const outputs = execute(exchangeOp, values, { exchange, given, index } satisfies ExchangeAttrs);
    exchanges.push(
      ...tracer.graph.nodes.slice(before).filter(({ what }) => what.kind === 'op' && what.op === exchangeOp),
    );
    return outputs;
  };
  let structure: unknown;
  let failure: Failure | null = null;
  try {
    structure = tracer.run(() => {
      const made = results(call(index, give));
      tracer.finish(made.tensors);
      return made.structure;
    });
  } catch (error) {
    failure = { error };
  }
  tracer.graph.arguments.push(...tracer.outside.map(({ argument }) => argument));
  return { tracer, structure, exchanges, failure };
}

const attrsOf = (node: GraphNode): ExchangeAttrs => node.attrs as ExchangeAttrs;

/**
 * What the functions give each other, as far as all have come.
 * @throws InvalidArgumentError where the functions do not do the same
 */
function givenBy(parts: readonly Part[], name: string, areWhole: boolean): Known {
  const common = Math.min(...parts.map(({ exchanges }) => exchanges.length));
  const names = ({ exchanges }: Part): string =>
    (areWhole ? exchanges : exchanges.slice(0, common)).map((node) => attrsOf(node).exchange.name).join(', ');
  const [first, ...others] = parts;
  for (const [i, other] of others.entries())
    if (names(other) !== names(first))
      throw new InvalidArgumentError(
        `all replicas must do the same together, in the same order, but replica 0 does [${names(first)}] and replica ${i + 1} [${names(other)}]`,
        name,
      );
  return first.exchanges.slice(0, common).map((node, k) =>
    parts.map(({ exchanges }, i) => {
      const own = inputsOf(exchanges[k]);
      const isLike = own.length === node.inputs.length;
      if (!isLike || own.some(({ dtype }, at) => dtype !== node.inputs[at].dtype))
        throw new InvalidArgumentError(
          `replicas 0 and ${i} give ${attrsOf(node).exchange.name} other tensors: ${show(inputsOf(node))} and ${show(own)}`,
          name,
        );
      return own;
    }),
  );
}

const inputsOf = (node: GraphNode): readonly ExchangeSpec[] =>
  node.inputs.map((v) => ({ dtype: v.dtype, shape: dims(v) }));

const show = (specs: readonly ExchangeSpec[]): string =>
  specs.map(({ dtype, shape }) => `${dtype} ${showShape(toShape(shape))}`).join(', ');

const text = (given: readonly (readonly ExchangeSpec[])[]): string => given.map(show).join('; ');

/** Whether each part got what it would get now that the others are known. */
function agrees(parts: readonly Part[], found: Known): boolean {
  return parts.every(({ exchanges }, index) =>
    exchanges.slice(0, found.length).every((node, k) => {
      const { exchange, given } = attrsOf(node);
      return (
        text(given) === text(found[k]) ||
        show(exchange.specs(given, index)) === show(exchange.specs(found[k], index))
      );
    }),
  );
}

/** Writes the parts into the graph around them. */
function replay(parts: readonly Part[], tracer: FunctionTracer): readonly unknown[] {
  checkShared(parts);
  const first = firstValues(parts);
  const runs = parts.map(({ tracer, exchanges }) => {
    const { graph } = tracer;
    const saved = [
      ...graph.assignments.map(({ value }) => value),
      ...exchanges.flatMap(({ outputs }) => outputs),
    ];
    const nodes = new Set(exchanges);
    const inputs = tracer.outside.map(({ from }) => (from instanceof Tensor ? from : from.read()));
    const interpreter = new GraphInterpreter(true, first, new RunSizes());
    return interpreter.steps(graph, inputs, saved, (node) => nodes.has(node));
  });
  const count = parts[0].exchanges.length;
  let got: readonly (readonly Tensor[])[] = parts.map(() => []);
  for (let k = 0; k < count; k++) {
    const stops = runs.map((run, i) => run.next(got[i]).value as Stop);
    const before = new Map(tracer.assigned().map(({ variable, value }) => [variable, value]));
    got = attrsOf(parts[0].exchanges[k]).exchange.combine(stops.map(({ inputs }) => inputs));
    const changed = tracer.assigned().filter(({ variable, value }) => before.get(variable) !== value);
    for (const part of parts)
      for (const { variable } of changed) checkUnused(part, part.exchanges[k], variable);
  }
  return runs.map((run, i) => {
    const last = run.next(got[i]);
    const values = last.value as readonly Tensor[];
    const { graph } = parts[i].tracer;
    graph.assignments.forEach(({ variable }, a) => variable.assign(values[graph.outputs.length + a]));
    return rebuilder(parts[i].structure)(values.slice(0, graph.outputs.length));
  });
}

/** What variables hold that all functions share and change alike: each reads them as they were at the beginning. */
function firstValues(parts: readonly Part[]): ReadonlyMap<GraphValue, Tensor> {
  const known = new Map<GraphValue, Tensor>();
  for (const { tracer } of parts)
    for (const { what, outputs } of tracer.graph.nodes)
      if (what.kind === 'variable' && what.variable.whole !== what.variable)
        known.set(outputs[0], what.variable.read());
  return known;
}

/**
 * What an exchange changes, the replicas have not seen: they were traced before.
 * @throws UnimplementedError where one uses such a variable behind the exchange
 */
function checkUnused({ tracer: { graph } }: Part, exchange: GraphNode, changed: Variable): void {
  const behind = graph.nodes.slice(graph.nodes.indexOf(exchange) + 1);
  const values = graph.nodes.flatMap(({ what, outputs }) =>
    what.kind === 'variable' && what.variable === changed ? outputs : [],
  );
  const isUsed = values.some(
    (value) => behind.some(({ inputs }) => inputs.includes(value)) || graph.outputs.includes(value),
  );
  if (isUsed || graph.assignments.some(({ variable }) => variable === changed))
    throw new UnimplementedError(
      `it changes the variable '${changed.whole.path}', which the replica uses behind it: return what the replica needs`,
      attrsOf(exchange).exchange.name,
    );
}

/**
 * Where a replica changes a variable that later replicas use too, they follow one another.
 * @throws UnimplementedError where they cannot, since they meet on their way
 */
function checkShared(parts: readonly Part[]): void {
  if (parts[0].exchanges.length === 0) return;
  parts.forEach(({ tracer: { graph } }, i) => {
    for (const { variable } of graph.assignments.filter(({ variable: v }) => v.whole === v))
      for (const later of parts.slice(i + 1))
        for (const { what } of later.tracer.graph.nodes)
          if (what.kind === 'variable' && what.variable === variable)
            throw new UnimplementedError(
              `several replicas change the variable '${variable.path}', which was not made in the strategy's scope: make it there, with an aggregation`,
            );
  });
}

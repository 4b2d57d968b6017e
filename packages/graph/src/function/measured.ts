// Functions in which sizes depend on values: parts of the graph run as plans, each once the sizes in it are known.
import { FailedPreconditionError, InternalError } from '@eagre/backend';
import { identity, type Tensor, type Variable } from '@eagre/core';
import {
  context,
  type DimSymbol,
  dims,
  type Guard,
  isLate,
  RecentMap,
  someSymbol,
  withoutTapes,
} from '@eagre/core/internal';
import type { ForwardRecord } from '../control/control-op.ts';
import { graphRuns } from '../inspect/graph-trace.ts';
import type { Graph, GraphNode, GraphValue, Measure } from '../ir/graph.ts';
import { bodiesOf, hasEffects, isCheck, isFree, isMeasured, isOpen } from '../ir/graph-bodies.ts';
import { userLine } from '../tracing/source-lines.ts';
import { type Rebuild, rebuilder } from '../tracing/structure.ts';
import type { TracedCall } from '../tracing/tracer.ts';
import { AtomicFunction, checkAsync, listFunction } from './atomic-function.ts';
import { GraphInterpreter, GuardFailed, interpretFunction, measuresOf, RunSizes } from './interpret.ts';
import { describeGuard, type Segment, specializeSegment } from './specialize.ts';
import { toldToTapes } from './unrecorded.ts';

/** One run of the function's code on symbolic tensors. */
export interface TraceResult {
  readonly concrete: AtomicFunction;
  readonly structure: unknown;
  readonly call: TracedCall;
}

/** One trace, and what it has found true of sizes. */
export interface MeasuredTrace {
  readonly graph: Graph;
  readonly structure: unknown;
  readonly call: TracedCall;
}

/** Traces the function again, where sizes that depend on values are these, by their places in the order of the trace. */
export type Retrace = (inputs: readonly Tensor[], measured: ReadonlyMap<number, number>) => MeasuredTrace;

// Plans that are kept for one part of a graph.
const PLANS = 16;
// Ways through the function's code that are kept.
const TRACES = 64;

/** What runs a trace. @param again traces the function again, see `Retrace`. */
export function runnable(
  trace: TraceResult,
  again: (inputs: readonly Tensor[], measured: ReadonlyMap<number, number>) => TraceResult,
): AtomicFunction {
  const measuredTrace = ({ concrete: { graph }, structure, call }: TraceResult): MeasuredTrace => ({
    graph,
    structure,
    call,
  });
  if (!isMeasured(trace.concrete.graph)) return trace.concrete;
  return new MeasuredFunction(measuredTrace(trace), (inputs, measured) =>
    measuredTrace(again(inputs, measured)),
  );
}

/** A function some of whose sizes depend on values. */
export class MeasuredFunction extends AtomicFunction {
  readonly #retrace: Retrace;
  /** The one that served last comes first. */
  #variants: readonly Stages[];

  constructor(trace: MeasuredTrace, retrace: Retrace) {
    super(trace.graph, trace.structure);
    this.#retrace = retrace;
    this.#variants = [new Stages(trace)];
  }

  override call(inputs: readonly Tensor[]): unknown {
    return this.#serve(inputs, (stages) => {
      graphRuns(stages.graph);
      return stages.rebuild(stages.run(inputs));
    });
  }

  override run(inputs: readonly Tensor[]): readonly Tensor[] {
    return this.#serve(inputs, (stages) => stages.run(inputs));
  }

  /** Each part runs on another thread, one behind the other. */
  override async callAsync(inputs: readonly Tensor[], signal?: AbortSignal): Promise<unknown> {
    checkAsync(this.graph.name);
    for (let attempt = 0; ; attempt++) {
      const stages = this.#forRanks(inputs);
      graphRuns(stages.graph);
      try {
        return stages.rebuild(await toldToTapes(stages.graph, inputs, () => stages.runAsync(inputs, signal)));
      } catch (error) {
        this.#turn(error, stages, inputs, attempt);
      }
    }
  }

  override profile(): never {
    throw new FailedPreconditionError(
      'the function has sizes that depend on values, so it runs in parts: profile a function without such sizes',
      this.graph.name,
    );
  }
  /** The parts, with the plans of the last run. */
  override planText(): string {
    return this.#variants[0]?.planText() ?? '';
  }

  override dispose(): void {
    for (const stages of this.#variants) stages.dispose();
  }

  #serve<T>(inputs: readonly Tensor[], run: (stages: Stages) => T): T {
    for (let attempt = 0; ; attempt++) {
      const stages = this.#forRanks(inputs);
      try {
        return run(stages);
      } catch (error) {
        this.#turn(error, stages, inputs, attempt);
      }
    }
  }

  /** Puts a trace in front that goes the way of this run. @throws the error, unless it says that this one does not. */
  #turn(error: unknown, stages: Stages, inputs: readonly Tensor[], attempt: number): void {
    if (!(error instanceof GuardFailed)) throw error;
    const { guard, sizes } = error;
    const told = sizes.told(stages.symbols);
    if (sizes.effects || attempt > stages.symbols.length) {
      throw new FailedPreconditionError(
        `a size that depends on values is another one than the code was traced for (it was for ${describeGuard(guard)}), ` +
          (sizes.effects
            ? 'and what ran before it cannot run again: let what the size depends on come first'
            : 'and it changes within the run: code in a loop may not ask for a size that differs from turn to turn'),
        this.graph.name,
      );
    }
    if (guard.asked !== undefined) warnOfAsking(this.graph.name, guard, guard.asked);
    this.#first(
      this.#variants.find((other) => other !== stages && other.hasRanks && other.holds(told)) ??
        new Stages(this.#retrace(inputs, told)),
    );
  }

  /** The trace to be tried first: one for the ranks of variables. */
  #forRanks(inputs: readonly Tensor[]): Stages {
    const [first] = this.#variants as readonly [Stages];
    if (first.hasRanks) return first;
    const found = this.#variants.find((other) => other.hasRanks);
    return this.#first(found ?? new Stages(this.#retrace(inputs, new Map())));
  }

  #first(next: Stages): Stages {
    const kept = [next, ...this.#variants.filter((other) => other !== next)];
    for (const old of kept.slice(TRACES)) old.dispose();
    this.#variants = kept.slice(0, TRACES);
    return next;
  }
}

const warned = new Set<string>();

/** Says once of each line that it asks for a size that depends on values. */
function warnOfAsking(name: string, guard: Guard, asked: Error): void {
  const line = userLine(asked.stack) ?? name;
  if (warned.has(line)) return;
  warned.add(line);
  console.warn(
    `tf.function: '${name}' is traced anew for each value of a size that depends on values: it asks for the size, ` +
      `${describeGuard(guard)}; tf.shape(x) gives it as a tensor (${line})`,
  );
}

/** Nodes that run as one plan. */
interface PlanStage {
  readonly segment: Segment;
  readonly plans: RecentMap<string, AtomicFunction>;
  readonly measures: readonly Measure[];
}
/** A node that runs by itself: its results have sizes that nobody knows before, or a node inside of it has. */
interface NodeStage {
  readonly node: GraphNode;
  readonly measures: readonly Measure[];
}
type Stage = PlanStage | NodeStage;

/** One trace, in the parts in which it runs. */
class Stages {
  readonly graph: Graph;
  readonly rebuild: Rebuild;
  readonly symbols: readonly DimSymbol[];
  readonly #guards: readonly Guard[];
  readonly #stages: readonly Stage[];
  /** The variables of any shape, with the rank that each has in the trace. */
  readonly #ranks: ReadonlyMap<Variable, number>;

  constructor({ graph, structure, call }: MeasuredTrace) {
    this.graph = graph;
    this.rebuild = rebuilder(structure);
    this.symbols = call.late;
    this.#guards = call.sizes.guards.filter(({ a, b }) => isLate(a) || isLate(b));
    this.#stages = stagesOf(graph);
    this.#ranks = new Map(
      graph.nodes.flatMap(({ what, outputs }) =>
        what.kind === 'variable' && what.variable.openShape === null
          ? [[what.variable, outputs[0].shape.length]]
          : [],
      ),
    );
  }

  /** Whether the trace is for the ranks that variables of any shape have now. */
  get hasRanks(): boolean {
    return [...this.#ranks].every(([variable, rank]) => variable.rank === rank);
  }

  /** Whether the trace serves a run that has told these sizes. */
  holds(told: ReadonlyMap<number, number>): boolean {
    const sizes = new RunSizes(this.#guards);
    try {
      for (const [place, size] of told) {
        const symbol = this.symbols[place];
        if (symbol !== undefined) sizes.know(symbol, size);
      }
    } catch (error) {
      if (error instanceof GuardFailed) return false;
      throw error;
    }
    return true;
  }

  run(inputs: readonly Tensor[]): readonly Tensor[] {
    const sizes = new RunSizes(this.#guards);
    // Tapes and functions that are traced see the ops.
    if (context.tapes.length > 0 || context.tracer !== null)
      return interpretFunction(this.graph, inputs, sizes);
    const run = new Run(this.graph, inputs, sizes);
    try {
      for (const stage of this.#stages)
        run.after(stage, 'node' in stage ? run.node(stage) : planOf(stage, sizes).run(run.given(stage)));
      run.assign();
      return run.results();
    } finally {
      run.end();
    }
  }

  async runAsync(inputs: readonly Tensor[], signal?: AbortSignal): Promise<readonly Tensor[]> {
    const sizes = new RunSizes(this.#guards);
    const run = new Run(this.graph, inputs, sizes);
    try {
      for (const stage of this.#stages) {
        const results =
          'node' in stage
            ? withoutTapes(() => run.node(stage))
            : ((await planOf(stage, sizes).callAsync(run.given(stage), signal)) as readonly Tensor[]);
        run.after(stage, results);
      }
      run.assign();
      return run.results();
    } finally {
      run.end();
    }
  }

  planText(): string {
    const parts = this.#stages.map((stage, i) => {
      if ('node' in stage) return `part ${i + 1}: ${stage.node.type} '${stage.node.name}', op by op`;
      const plan = [...stage.plans.values()].at(-1);
      return `part ${i + 1}: ${plan === undefined ? 'a plan for each size, made when it runs' : `a plan\n${plan.planText()}`}`;
    });
    return parts.join('\n\n');
  }

  dispose(): void {
    for (const stage of this.#stages) if ('plans' in stage) stage.plans.clear();
  }
}

function planOf({ segment, plans }: PlanStage, sizes: RunSizes): AtomicFunction {
  const key = sizes.key();
  let plan = plans.get(key);
  if (plan === undefined) {
    plans.set(key, (plan = listFunction(specializeSegment(segment, sizes.lookUp))));
  }
  return plan;
}

/** The values of a run that more than one part of it needs. */
class Run {
  readonly #graph: Graph;
  readonly #inputs: ReadonlySet<Tensor>;
  readonly #sizes: RunSizes;
  readonly #values = new Map<GraphValue, Tensor>();
  readonly #interpreter: GraphInterpreter;
  /** What is given back at the end. */
  readonly #made = new Set<Tensor>();
  readonly #get = (value: GraphValue): Tensor => {
    const known = this.#values.get(value);
    if (known !== undefined) return known;
    if (!isFree(value.node)) throw new InternalError(`${value.node.name} has no value`);
    return (this.#interpreter.node(value.node, this.#get) as readonly [Tensor])[0];
  };

  constructor(graph: Graph, inputs: readonly Tensor[], sizes: RunSizes) {
    this.#graph = graph;
    this.#inputs = new Set(inputs);
    this.#sizes = sizes;
    this.#interpreter = new GraphInterpreter(true, new Map(), sizes);
    graph.arguments.forEach((value, i) => {
      this.#values.set(value, inputs[i]);
    });
    sizes.knowArguments(graph, inputs);
    const given = new Set(graph.arguments);
    sizes.knowResults(
      graph.measures.filter(({ value }) => given.has(value)),
      this.#get,
    );
  }

  given({ segment }: PlanStage): readonly Tensor[] {
    return segment.given.map(this.#get);
  }

  node({ node }: NodeStage): readonly Tensor[] {
    return this.#interpreter.node(node, this.#get) ?? [];
  }

  after(stage: Stage, results: readonly Tensor[]): void {
    const values = 'node' in stage ? stage.node.outputs : stage.segment.outputs;
    results.forEach((tensor, i) => {
      this.#values.set(values[i], tensor);
      if (!this.#inputs.has(tensor)) this.#made.add(tensor);
    });
    this.#sizes.knowResults(stage.measures, this.#get);
  }

  /** Gives variables whose shape may change their values; plans have done so for the others. */
  assign(): void {
    for (const { variable, value } of this.#graph.assignments)
      if (!variable.hasOneShape) variable.assign(this.#get(value));
  }

  /** A tensor of its own for each output. */
  results(): readonly Tensor[] {
    return this.#graph.outputs.map((value) => {
      const tensor = this.#get(value);
      return this.#made.delete(tensor) ? tensor : identity(tensor);
    });
  }

  end(): void {
    for (const tensor of this.#made) tensor.dispose();
  }
}

const hasOwnEffects = (node: GraphNode): boolean =>
  (hasEffects(node) && !isCheck(node)) || node.what.kind === 'update';

/** The order in which a graph runs: as much as can be at once, and effects at the end, so that a run can begin again before them. */
function stagesOf(graph: Graph): readonly Stage[] {
  const measures = measuresOf(graph);
  const live = graph
    .liveNodes(graph.measures.map(({ value }) => value))
    .filter((n) => n.what.kind !== 'argument');
  const known = new Set(graph.measures.map(({ symbol }) => symbol));
  const alone = new Set(
    live.filter(
      (node) =>
        measures.get(node)?.some(({ from }) => from === 'axis') === true ||
        asksInside(node, known) ||
        isOpen(node),
    ),
  );
  // What such variables get is read at the end.
  const late = new Set(
    graph.assignments.flatMap(({ variable, value }) => (variable.hasOneShape ? [] : [value.node])),
  );
  const changes = live.some((node) => node.what.kind === 'update');
  for (;;) {
    const parts = partsOf(live, alone, measures);
    // What a loop keeps for its gradient goes from one to the other in one plan, or through the interpreter.
    const torn = live.flatMap((node) => {
      // Read before something in the middle changes it.
      if (node.what.kind === 'variable')
        return !alone.has(node) &&
          (late.has(node) || (changes && parts.slice(0, -1).some((part) => uses(part, node))))
          ? [node]
          : [];
      const restored = node.attrs['restored'] as { readonly of: ForwardRecord } | null | undefined;
      if (restored === null || restored === undefined) return [];
      const forward = live.filter((other) => other.attrs['record'] === restored.of);
      const together = parts.some((part) => part.has(node) && forward.every((other) => part.has(other)));
      const both = [node, ...forward];
      return together && !both.some((n) => alone.has(n)) ? [] : both.filter((n) => !alone.has(n));
    });
    if (torn.length === 0) return stagesOfParts(graph, parts, alone, measures);
    for (const node of torn) alone.add(node);
  }
}

/** Whether sizes inside of a node are told while it runs. */
function asksInside(node: GraphNode, known: ReadonlySet<DimSymbol>): boolean {
  return bodiesOf(node).some(
    (body) =>
      body.measures.length > 0 ||
      body.arguments.some((v) =>
        dims(v).some((d) => someSymbol(d, (symbol) => symbol.late && !known.has(symbol))),
      ) ||
      body.nodes.some((inner) => asksInside(inner, known)),
  );
}

const uses = (part: ReadonlySet<GraphNode>, node: GraphNode): boolean =>
  [...part].some((n) => n.inputs.some((v) => v.node === node));

/** The nodes of each part, in the order in which they run. */
function partsOf(
  live: readonly GraphNode[],
  alone: ReadonlySet<GraphNode>,
  measures: ReadonlyMap<GraphNode, readonly Measure[]>,
): readonly ReadonlySet<GraphNode>[] {
  const parts: ReadonlySet<GraphNode>[] = [];
  const done = new Set<GraphNode>();
  const effects = live.filter(hasOwnEffects);
  const checks = live.filter(isCheck);
  const add = (nodes: Iterable<GraphNode>, before: number): void => {
    const wanted = new Set(nodes);
    // Checks of what comes before come with what they look at.
    for (const check of checks)
      if (
        !done.has(check) &&
        live.indexOf(check) < before &&
        [...needed(check)].every((n) => wanted.has(n) || isFree(n))
      )
        wanted.add(check);
    const part = new Set(
      live.filter((node) => wanted.has(node) && !done.has(node) && (!isFree(node) || alone.has(node))),
    );
    if (part.size === 0) return;
    for (const node of part) done.add(node);
    parts.push(part);
  };
  const needed = (of: GraphNode): Set<GraphNode> => {
    const found = new Set<GraphNode>();
    const visit = of.inputs.map((v) => v.node);
    for (let node = visit.pop(); node !== undefined; node = visit.pop()) {
      if (done.has(node) || found.has(node) || node.what.kind === 'argument') continue;
      found.add(node);
      for (const { node: input } of node.inputs) visit.push(input);
    }
    return found;
  };
  /** Runs a node now; if it has effects, then those before it as well. */
  const now = (node: GraphNode): void => {
    if (done.has(node)) return;
    const place = effects.indexOf(node);
    const before = needed(node);
    const first = new Set([...before, ...effects.slice(0, Math.max(0, place))]);
    for (const other of live)
      if (other !== node && first.has(other) && (alone.has(other) || effects.includes(other))) now(other);
    const apart = alone.has(node) || place >= 0;
    const at = live.indexOf(node);
    add(apart ? before : [...before, node], at);
    if (apart) add([node], at);
  };
  for (const node of live) if (alone.has(node) || measures.has(node)) now(node);
  add(live, live.length);
  return parts;
}

function stagesOfParts(
  graph: Graph,
  parts: readonly ReadonlySet<GraphNode>[],
  alone: ReadonlySet<GraphNode>,
  measures: ReadonlyMap<GraphNode, readonly Measure[]>,
): readonly Stage[] {
  const single = (part: ReadonlySet<GraphNode>, i: number): GraphNode | null => {
    const [node] = part as unknown as readonly [GraphNode];
    if (part.size !== 1) return null;
    return alone.has(node) || (i < parts.length - 1 && hasOwnEffects(node)) ? node : null;
  };
  const whole = [...parts];
  // Variables of one shape get their values in the last plan.
  const last = whole.at(-1);
  const fixed = graph.assignments.filter(({ variable }) => variable.hasOneShape);
  if (fixed.length > 0 && (last === undefined || single(last, whole.length - 1) !== null))
    whole.push(new Set());
  return whole.map((part, i): Stage => {
    const own = [...part];
    const told = own.flatMap((node) => measures.get(node) ?? []);
    const node = single(part, i);
    if (node !== null) return { node, measures: told };
    const assignments = i === whole.length - 1 ? fixed : [];
    const used = new Set([...own.flatMap((n) => n.inputs), ...assignments.map((a) => a.value)]);
    const free = [...used].flatMap((v) => (isFree(v.node) && !alone.has(v.node) ? [v.node] : []));
    const later = new Set([
      ...graph.outputs,
      ...graph.assignments.map((a) => a.value),
      ...graph.measures.map((m) => m.value),
      ...whole.slice(i + 1).flatMap((p) => [...p].flatMap((n) => n.inputs)),
    ]);
    return {
      segment: {
        name: graph.name,
        given: [...used].filter((v) => !part.has(v.node) && !free.includes(v.node)),
        nodes: [...new Set(free), ...own],
        outputs: own.flatMap((n) => n.outputs.filter((v) => later.has(v))),
        assignments,
      },
      plans: new RecentMap<string, AtomicFunction>(PLANS, (plan) => plan.dispose()),
      measures: told,
    };
  });
}

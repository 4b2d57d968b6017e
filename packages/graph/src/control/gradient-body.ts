import { GradientTape } from '@eagre/autodiff';
import { UnimplementedError } from '@eagre/backend';
import { pad, type Shape, slice, type Tensor, type Variable, zeros } from '@eagre/core';
import {
  type Dim,
  dims,
  hasGradient,
  identicalDims,
  isLate,
  minDims,
  someSymbol,
  subDims,
  toShape,
} from '@eagre/core/internal';
import { GraphInterpreter, tellRead } from '../function/interpret.ts';
import type { Graph, GraphNode, GraphValue } from '../ir/graph.ts';
import { sizesIn } from '../tracing/sizes-in-attributes.ts';
import { FunctionTracer } from '../tracing/tracer.ts';
import { ControlOp } from './control-op.ts';

/** A body and its gradient, being traced: the body's nodes again, behind them those of the gradient. */
export interface GradientBody {
  readonly tracer: FunctionTracer;
  /** For each argument of the body, what stands for it. */
  readonly arguments: readonly Tensor[];
  /** For each output of the body, the argument for its gradient; null for one without. */
  readonly dys: readonly (Tensor | null)[];
  /** For each argument of the body its gradient; null where none was wanted, or there is none. */
  readonly gradients: readonly (Tensor | null)[];
  /** What must not be computed again, such as random numbers, and the arguments that stand for it. */
  readonly kept: ReadonlyMap<GraphValue, Tensor>;
}

/** For an argument of a body, the variable whose value it is and which the body changes; for others undefined. */
export type ChangedVariable = (argument: number) => Variable | undefined;

/**
 * Lets a tape see the arguments of a body. @returns what to ask it for: a tensor, or a variable that the body changes, for which what
 * the body reads after it has assigned to it counts as well.
 */
export function watchArguments(
  tape: GradientTape,
  args: readonly Tensor[],
  wanted: readonly number[],
  changed: ChangedVariable,
): readonly (Tensor | Variable)[] {
  const sources = wanted.map((i) => changed(i) ?? args[i]);
  tape.watch(sources);
  for (const i of wanted) {
    const variable = changed(i);
    if (variable !== undefined) tellRead(variable, args[i]);
  }
  return sources;
}

/**
 * Traces the gradient of a body.
 * @param given which outputs have a gradient.
 * @param wanted for which arguments one is wanted.
 * @param results what the outputs are outside, where their sizes may be those of another body: the gradients that come in have these sizes.
 */
export function gradientBody(
  body: Graph,
  given: readonly boolean[],
  wanted: readonly boolean[],
  changed: ChangedVariable,
  results: readonly Tensor[] = [],
): GradientBody {
  const tracer = new FunctionTracer(`${body.name}_grad`, false);
  const argument = ({ dtype, shape }: Pick<GraphValue, 'dtype' | 'shape'>, name: string): Tensor =>
    tracer.argument(dtype, shape, name);
  return tracer.run(() => {
    const args = body.arguments.map((v) => argument(v, v.node.name));
    const kept = new Map(onlyOnce(body).map((v) => [v, argument(v, v.node.name)]));
    const tape = new GradientTape({ watchAccessedVariables: false });
    const places = args.flatMap((_, i) => (wanted[i] === true ? [i] : []));
    const sources = watchArguments(tape, args, places, changed);
    const outputs = new GraphInterpreter(false, kept).run(body, args);
    const dys = outputs.map((y, i) =>
      given[i] === true && hasGradient(y.dtype)
        ? argument({ dtype: y.dtype, shape: shapeOutside(y, results[i]) }, `grad_${i}`)
        : null,
    );
    const targets = outputs.filter((_, i) => dys[i] !== null);
    const found = tape.denseGradient(targets, sources, {
      outputGradients: dys.flatMap((dy, i) => (dy === null ? [] : [inSizesOf(dy, outputs[i])])),
    }) as readonly (Tensor | null)[];
    let next = 0;
    const gradients = args.map((_, i) => (wanted[i] === true ? (found[next++] ?? null) : null));
    return { tracer, arguments: args, dys, gradients, kept };
  });
}

/** The sizes that come in for an output of a body: those of outside, but for what the body itself tells. */
function shapeOutside(y: Tensor, outside: Tensor | undefined): Shape {
  if (outside === undefined) return y.shape;
  const sizes = dims(outside);
  return toShape(dims(y).map((d, axis) => (isLate(d) ? d : (sizes[axis] as Dim))));
}

/**
 * A gradient in the sizes of the result of a branch. They are its own wherever the branch runs; elsewhere they only have to be possible.
 * @internal
 */
export function inSizesOf(dy: Tensor, y: Tensor): Tensor {
  const [from, to] = [dims(dy), dims(y)];
  if (from.every((d, axis) => identicalDims(d, to[axis] as Dim))) return dy;
  const kept = from.map((d, axis) => minDims(d, to[axis] as Dim));
  const part = slice(dy, new Array<number>(kept.length).fill(0), toShape(kept));
  return pad(part, kept.map((d, axis) => [0, subDims(to[axis] as Dim, d)]) as [number, number][]);
}

/** A gradient, or zeros where there is none. */
export function orZeros(gradient: Tensor | null, { dtype, shape }: Tensor | GraphValue): Tensor {
  return gradient ?? zeros(shape, { dtype });
}

/**
 * Ends a trace: with these arguments in this order, of which `optional` go where nothing reads them.
 * @returns the places of those in `optional` that stay.
 */
export function finishBody(
  tracer: FunctionTracer,
  args: readonly Tensor[],
  optional: readonly Tensor[],
  outputs: readonly Tensor[],
): readonly number[] {
  const { graph } = tracer;
  tracer.run(() => tracer.finish(outputs));
  graph.assignments = [];
  const used = new Set(graph.outputs);
  for (const node of graph.liveNodes()) for (const v of node.inputs) used.add(v);
  // Some are only looked at for their sizes.
  const sizes = sizesIn(graph);
  const tells = (t: Tensor): boolean =>
    dims(t).some((d) => someSymbol(d, (symbol) => symbol.late && sizes.has(symbol)));
  const places = optional.flatMap((t, i) => (used.has(tracer.valueOf(t)) || tells(t) ? [i] : []));
  graph.arguments.splice(
    0,
    graph.arguments.length,
    ...[...args, ...places.map((i) => optional[i])].map((t) => tracer.valueOf(t)),
  );
  const left = new Set(graph.arguments);
  graph.nodes.splice(
    0,
    graph.nodes.length,
    ...graph.nodes.filter((n) => n.what.kind !== 'argument' || left.has(n.outputs[0])),
  );
  return places;
}

/**
 * The values of a body that would be others if they were computed again: random draws, what the host returned, updated variables.
 * @throws UnimplementedError for a body with some that nobody outside of an inner loop sees.
 */
export function onlyOnce(body: Graph): GraphValue[] {
  return body.liveNodes().flatMap((node) => {
    const found = drawnBy(node);
    if (found !== null) return found;
    if (node.what.kind === 'op' && node.what.op instanceof ControlOp) {
      throw new UnimplementedError(
        'a loop inside another loop or branch has no gradient if it draws random numbers or calls the host: do that before the inner loop, for all iterations at once, and take one row in each',
        node.name,
      );
    }
    throw new UnimplementedError(
      'an op that draws random numbers itself has no gradient in a traced loop or branch',
      node.name,
    );
  });
}

/** Those that can be told outside of a body: see `CaseAttrs.drawn`. */
export function drawnIn(body: Graph): GraphValue[] {
  return body
    .liveNodes()
    .flatMap((node) => drawnBy(node) ?? [])
    .filter(({ dtype }) => dtype !== 'string');
}

/** null where some are not among the outputs of the node. */
function drawnBy(node: GraphNode): readonly GraphValue[] | null {
  const { what, attrs, outputs } = node;
  if (what.kind === 'host' || what.kind === 'update') return outputs;
  if (what.kind !== 'op') return [];
  if (what.op instanceof ControlOp) {
    const inside = what.op.bodies(attrs).flatMap((body) => body.liveNodes().map(drawnBy));
    if (inside.some((found) => found === null)) return null;
    const count = what.op.drawn(attrs);
    if (inside.flat().length > 0 && count === 0) return null;
    return outputs.slice(outputs.length - count);
  }
  // What it computed again would have sizes of its own.
  if (what.op.valueSized !== undefined) return outputs;
  if (!node.draws) return [];
  return what.op.grad === undefined ? outputs : null;
}

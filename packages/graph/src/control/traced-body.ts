// What branches and loops share when they are traced.
import { InternalError, UnimplementedError } from '@eagre/backend';
import { type PartialShape, type Shape, type Tensor, Variable } from '@eagre/core';
import { context, sameShape, showShape } from '@eagre/core/internal';
import type { GraphValue } from '../ir/graph.ts';
import { FunctionTracer } from '../tracing/tracer.ts';
import type { Written } from './control-op.ts';
import type { Agree } from './nest.ts';

/** Body and results of a traced branch or loop. */
export interface TracedBody {
  readonly tracer: FunctionTracer;
  readonly outputs: readonly GraphValue[];
}

/** Traces a body of a branch or loop of the function that is being traced. */
export function traceBody(name: string, fn: (tracer: FunctionTracer) => readonly Tensor[]): TracedBody {
  const tracer = new FunctionTracer(name, false, currentTracer());
  return tracer.run(() => {
    const outputs = fn(tracer).map((t) => tracer.valueOf(t));
    return { tracer, outputs };
  });
}

/** @throws InternalError when no function is traced. */
function currentTracer(): FunctionTracer {
  const { tracer } = context;
  if (!(tracer instanceof FunctionTracer)) throw new InternalError('no function is being traced');
  return tracer;
}

/**
 * Makes bodies take the same arguments: the values of variables that one of them changes, then all else that any uses.
 * @param first how many arguments each has already, which stay in front.
 * @returns what the arguments behind those are outside.
 */
export function shareArguments(
  bodies: readonly TracedBody[],
  written: Written,
  first: number,
): readonly (Tensor | Variable)[] {
  const from = new Set<Tensor | Variable>(written);
  for (const { tracer } of bodies) for (const outside of tracer.outside) from.add(outside.from);
  for (const { tracer } of bodies) {
    const { graph } = tracer;
    const known = new Map(tracer.outside.map((o) => [o.from, o.argument]));
    const rest = [...from].map((f) => {
      const argument = known.get(f);
      if (argument !== undefined) return argument;
      return tracer.placeholderFor(f, 'unused');
    });
    graph.arguments.splice(first, graph.arguments.length - first, ...rest);
  }
  return [...from];
}

/** The values of what bodies use of outside, told to tapes there. */
export function takenFromOutside(from: readonly (Tensor | Variable)[]): Tensor[] {
  return from.map((f) => (f instanceof Variable ? f.taken() : f));
}

/** The variables that any of the bodies changes. */
export function writtenBy(bodies: readonly TracedBody[]): Variable[] {
  return [...new Set(bodies.flatMap(({ tracer }) => tracer.assigned().map((a) => a.variable)))];
}

/** What a variable is at the end of a body. */
export function lastValues({ tracer }: TracedBody, written: Written): GraphValue[] {
  return tracer.run(() => written.map((v) => tracer.valueOf(tracer.read(v))));
}

/**
 * Checks that a branch or loop leaves one rank for each variable, whichever way it goes.
 * @param shapes those of the variables, by way. @throws UnimplementedError for one whose rank depends on the way.
 */
export function checkRanks(written: Written, shapes: readonly (readonly PartialShape[])[], op: string): void {
  written.forEach((variable, i) => {
    const ranks = shapes.map((way) => way[i].length);
    if (ranks.some((rank) => rank !== ranks[0]))
      throw new UnimplementedError(
        `the variable '${variable.path}' would have the rank ${ranks.join(' or ')} behind it: only sizes may differ, not the rank`,
        op,
      );
  });
}

/** Gives variables the values that a node has made of them. */
export function assignAll(variables: Written, values: readonly Tensor[]): void {
  variables.forEach((variable, i) => {
    variable.assign(values[i]);
  });
}

/** Whether there are equally many, of the same dtypes and shapes. */
export function areAlike(
  a: readonly (GraphValue | Tensor)[],
  b: readonly (GraphValue | Tensor)[],
  agree: Agree = sameShape,
): boolean {
  return a.length === b.length && a.every((v, i) => v.dtype === b[i]?.dtype && agree(v.shape, b[i].shape, i));
}

/** Whether two shapes are equal but for sizes. */
export const sameRank = (a: Shape, b: Shape): boolean => a.length === b.length;

/** `float32 [2,3], int32 []`, for messages. */
export function showValues(values: readonly (GraphValue | Tensor)[]): string {
  return values.length === 0 ? 'none' : values.map((v) => `${v.dtype} ${showShape(v.shape)}`).join(', ');
}

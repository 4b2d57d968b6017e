// Branches and loops over what nodes compute: tensors, lists, and resources, of which there is one in all of them.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { context } from '@eagre/core/internal';
import { TensorArray, whileLoop } from '@eagre/graph';
import type { OpCall } from './op-call.ts';
import { isResource, isVariant, type Resource, type Value } from './values.ts';

/** Whether a value counts as true in a branch or loop: bools, numbers but 0, text but the empty one, and what has elements. */
export function truth(x: Tensor): Tensor | boolean {
  if (x.rank > 0 && x.size !== 1) return x.size > 0;
  if (x.dtype === 'string') return x.strings()[0] !== '';
  const scalar = x.rank === 0 ? x : tf.reshape(x, []);
  return x.dtype === 'bool' ? scalar : scalar.notEqual(0);
}

/** What one of several functions returns; resources are the same whichever it is. */
export function branch(
  c: OpCall,
  functions: readonly (() => readonly Value[])[],
  choose: (branches: (() => readonly Value[])[]) => unknown,
): Value[] {
  if (context.tracer === null) {
    // One runs, and may give what only nodes know.
    let own: (() => readonly Value[]) | undefined;
    choose(
      functions.map((fn) => () => {
        own = fn;
        return [];
      }),
    );
    return [...(own?.() ?? [])];
  }
  let resources: ReadonlyMap<number, Resource> | undefined;
  let count = 0;
  const chosen = choose(
    functions.map((fn) => () => {
      const results = fn();
      count = results.length;
      const own = resourcesIn(results);
      for (const [i, resource] of resources ?? own)
        if (own.get(i) !== resource) throw c.lacks(`result ${i} is another resource in each branch`);
      resources = own;
      return results.filter((value) => !isResource(value));
    }),
  ) as readonly Value[];
  return merged(chosen, resources ?? new Map(), count);
}

function resourcesIn(values: readonly Value[]): Map<number, Resource> {
  return new Map(values.flatMap((value, i) => (isResource(value) ? [[i, value] as const] : [])));
}

/** Values with resources in their places between them. */
function merged(values: readonly Value[], resources: ReadonlyMap<number, Resource>, count: number): Value[] {
  let next = 0;
  return Array.from({ length: count }, (_, i) => resources.get(i) ?? (values[next++] as Value));
}

/**
 * A loop over values, some of which may be resources.
 * @param shapes what the graph says of the shapes in all turns.
 */
export function loop(
  c: OpCall,
  initial: readonly Value[],
  condition: (values: readonly Value[]) => Tensor,
  body: (values: readonly Value[]) => readonly Value[],
  shapes: readonly (readonly (number | null)[] | null)[],
): Value[] {
  const resources = resourcesIn(initial);
  const all = (values: readonly Value[]): Value[] => merged(values, resources, initial.length);
  const own = initial.filter((value) => !isResource(value)) as (Tensor | TensorArray)[];
  if (initial.some(isVariant)) return hostLoop(c, initial, condition, body);
  // A condition without loop variables is the same in each turn; a counter makes the loop one all the same.
  const none = own.length === 0;
  const start: readonly unknown[] = none ? [tf.constant(0, 'int32')] : own;
  const given = (values: readonly unknown[]): Value[] => all(none ? [] : (values as Value[]));
  const run = (shapeInvariants: unknown): Value[] => {
    const results = whileLoop(
      ((...values: readonly Value[]) => truth(condition(given(values)))) as never,
      ((...values: readonly Value[]) => {
        const next = body(given(values));
        for (const [i, resource] of resources)
          if (next[i] !== resource) throw c.lacks(`loop variable ${i} becomes another resource`);
        const rest = next.filter((_, i) => !resources.has(i));
        return none ? values : rest.length === 1 ? rest[0] : rest;
      }) as never,
      start as never,
      shapeInvariants === undefined ? null : ({ shapeInvariants } as never),
    ) as unknown as Value[];
    return given(results);
  };
  const invariants = shapes
    .filter((_, i) => !resources.has(i))
    .map((shape, i) => (own[i] instanceof TensorArray ? null : changing(own[i] as Tensor, shape)));
  try {
    return run(undefined);
  } catch (error) {
    // Sizes that the graph does not know may change from turn to turn. Few do, and others are better known.
    if (!(error instanceof tf.InvalidArgumentError) || none || invariants.every((shape) => shape === null))
      throw error;
    return run(invariants);
  }
}

/** A loop over variants, which no trace has a form for, turn by turn. */
function hostLoop(
  c: OpCall,
  initial: readonly Value[],
  condition: (values: readonly Value[]) => Tensor,
  body: (values: readonly Value[]) => readonly Value[],
): Value[] {
  if (context.tracer !== null)
    throw c.lacks(
      'lists of ragged or sparse tensors have no form in a traced function: call it outside of one',
    );
  let values = [...initial];
  for (;;) {
    const goes = truth(condition(values));
    if (!(typeof goes === 'boolean' ? goes : goes.item<boolean>())) return values;
    values = [...body(values)];
  }
}

/** The shape of a loop variable where the graph knows less than the first value: null where it does not. */
function changing(
  x: Tensor,
  shape: readonly (number | null)[] | null | undefined,
): readonly (number | null)[] | null {
  return shape?.includes(null) && shape.length === x.rank ? shape : null;
}

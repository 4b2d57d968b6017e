// Calls, branches and loops.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { cond, switchCase, TensorArray, whileLoop } from '@eagre/graph';
import type { OpCall } from '../op-call.ts';
import type { OpTable, Translate } from '../op-row.ts';
import { isResource, type Resource, type Value } from '../values.ts';

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

const runIf: Translate = (c) => {
  const args = c.inputs.slice(1);
  const call = (name: string) => (): Value[] => c.runtime.call(c.funcAttr(name).name ?? '', args);
  return branch(c, [call('then_branch'), call('else_branch')], ([then, otherwise]) =>
    cond(truth(c.x(0)) as Tensor, then as never, otherwise as never),
  );
};

const runCase: Translate = (c) => {
  const args = c.inputs.slice(1);
  const functions = c.funcsAttr('branches').map(
    ({ name = '' }) =>
      () =>
        c.runtime.call(name, args),
  );
  return branch(c, functions, (branches) => switchCase(c.x(0), branches as never));
};

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

/** The shape of a loop variable where the graph knows less than the first value: null where it does not. */
function changing(
  x: Tensor,
  shape: readonly (number | null)[] | null | undefined,
): readonly (number | null)[] | null {
  return shape?.includes(null) && shape.length === x.rank ? shape : null;
}

const runWhile: Translate = (c) => {
  const condition = c.funcAttr('cond').name ?? '';
  const body = c.funcAttr('body').name ?? '';
  return loop(
    c,
    c.inputs,
    (values) => c.runtime.call(condition, values)[0] as Tensor,
    (values) => c.runtime.call(body, values),
    c.shapesAttr('output_shapes'),
  );
};

/** `for (i = start; i < limit; i += delta)`. */
const runFor: Translate = (c) => {
  const body = c.funcAttr('body').name ?? '';
  const [limit, delta] = [c.x(1), c.x(2)];
  const [, ...results] = loop(
    c,
    [c.x(0), ...c.inputs.slice(3)],
    ([i]) => {
      const at = i as Tensor;
      return tf.where(delta.greater(0), at.less(limit), at.greater(limit));
    },
    ([i, ...values]) => [(i as Tensor).add(delta), ...c.runtime.call(body, [i as Value, ...values])],
    [],
  );
  return results;
};

const call: Translate = (c) => c.runtime.call(c.funcAttr('f').name ?? '', c.inputs);

export const control: OpTable = {
  PartitionedCall: call,
  StatefulPartitionedCall: call,
  If: runIf,
  StatelessIf: runIf,
  Case: runCase,
  StatelessCase: runCase,
  While: runWhile,
  StatelessWhile: runWhile,
  For: runFor,
  ToBool: (c) => {
    const value = truth(c.x());
    return typeof value === 'boolean' ? tf.constant(value) : value;
  },
  LoopCond: (c) => c.x(),
  ControlTrigger: () => [],
  Placeholder: (c) => {
    throw c.wrong('the placeholder has no value: it is no input of what was called');
  },
  Assert: (c) => {
    const known = c.inputs
      .slice(1)
      .filter((v): v is Tensor => v instanceof tf.Tensor && v.dtype === 'string');
    tf.debugging.assertEqual(c.x(0), true, {
      message: known.map((t) => t.strings().join(' ')).join(' ') || `assertion '${c.node.name}' failed`,
    });
  },
  Print: (c) => {
    tf.print(c.textAttr('message', ''), ...c.xs(1));
    return c.inputs[0] as Value;
  },
  PrintV2: (c) => {
    tf.print(c.x());
  },
  Timestamp: () => {
    // Of the run, as a value of the host.
    return tf.hostFunction(() => tf.constant(Date.now() / 1000, 'float64'), [], {
      dtype: 'float64',
      shape: [],
    });
  },
};

import type { Plan, PlanCall, PlanTensor } from '@eagre/backend';
import type { Constant } from './constants.ts';
import { removeDeadCalls } from './dce.ts';
import { substitute } from './tensors.ts';

/** The body without some of its outputs and what only they need. */
export function withoutOutputs(body: Plan, dropped: ReadonlySet<number>): Plan {
  if (dropped.size === 0) return body;
  return removeDeadCalls({ ...body, outputs: body.outputs.filter((_, k) => !dropped.has(k)) });
}

/** Which inputs a plan reads, by their places. */
export function readInputs(plan: Plan): ReadonlySet<number> {
  const places = new Map(plan.inputs.map((value, i) => [value, i]));
  const read = new Set<number>();
  for (const call of plan.calls) {
    for (const { value } of call.inputs) {
      const place = places.get(value);
      if (place !== undefined) read.add(place);
    }
  }
  return read;
}

/** The plan without some of its inputs, by their places, which no call reads. */
export function withoutInputs(plan: Plan, dropped: ReadonlySet<number>): Plan {
  return dropped.size === 0 ? plan : { ...plan, inputs: plan.inputs.filter((_, i) => !dropped.has(i)) };
}

/** The plan in which another value stands for some, at every reader. */
export function withReplaced(plan: Plan, values: ReadonlyMap<number, number>): Plan {
  return values.size === 0 ? plan : { ...plan, calls: plan.calls.map((call) => substitute(call, values)) };
}

/**
 * Fills some inputs of a body, those that it reads and whose number is known, where the body starts.
 * @param given by place: what the input is given, or undefined where it must stay.
 */
export function withConstants(
  body: Plan,
  given: readonly (PlanTensor | undefined)[],
  constants: ReadonlyMap<number, Constant>,
): Plan {
  const read = readInputs(body);
  const bytes = [...body.bytes];
  const replaced = new Map<number, number>();
  const fills: PlanCall[] = [];
  given.forEach((tensor, i) => {
    const constant = tensor && constants.get(tensor.value);
    const input = body.inputs[i];
    if (tensor === undefined || constant?.dtype !== tensor.dtype || !read.has(i)) return;
    const value = bytes.push(body.bytes[input]) - 1;
    replaced.set(input, value);
    fills.push({
      kernel: 'Fill',
      inputs: [],
      outputs: [{ ...tensor, value }],
      attrs: { value: constant.value },
      name: constant.name,
    });
  });
  if (fills.length === 0) return body;
  const { calls } = withReplaced(body, replaced);
  return { ...body, bytes, calls: [...fills, ...calls] };
}

/**
 * The body with one input read where several are given the same.
 * @param first the place of the first input that this is done to.
 */
export function readingOnce(body: Plan, given: readonly PlanTensor[], first = 0): Plan {
  const known = new Map<number, number>();
  const replaced = new Map<number, number>();
  for (let i = first; i < given.length; i++) {
    const { value } = given[i];
    const input = body.inputs[i];
    const same = known.get(value);
    if (same === undefined) known.set(value, input);
    else if (body.bytes[same] === body.bytes[input]) replaced.set(input, same);
  }
  return withReplaced(body, replaced);
}

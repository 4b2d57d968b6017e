import { type Plan, type PlanCall, Uses } from '@eagre/backend';
import { mapBodies } from './nested.ts';

/**
 * Removes every call of stacks that nobody reads anything from, in all bodies. As each stack is empty before and after a run, as much is
 * taken off one as is put on it.
 */
export function removeDeadStacks(plan: Plan): Plan {
  const [all, live] = [new Set<object>(), new Set<object>()];
  findStacks(plan, all, live);
  const dead = new Set([...all].filter((stack) => !live.has(stack)));
  return dead.size === 0 ? plan : without(plan, dead);
}

function findStacks(plan: Plan, all: Set<object>, live: Set<object>): void {
  const uses = new Uses(plan);
  const sources = new Map(plan.states.map(({ value, source }) => [value, source]));
  for (const call of plan.calls) {
    const source = sources.get(stackOf(call));
    if (source !== undefined) {
      all.add(source);
      const [popped] = call.outputs;
      if (call.kernel !== 'Pop') continue;
      if (uses.readers[popped.value].length > 0 || !uses.isTemporary(popped.value)) live.add(source);
    }
    for (const body of call.bodies ?? []) findStacks(body, all, live);
  }
}

/** The value of the stack that a call of Push or Pop names; -1 for others. */
function stackOf({ kernel, outputs }: PlanCall): number {
  if (kernel === 'Push') return outputs[0].value;
  return kernel === 'Pop' ? outputs[1].value : -1;
}

function without(plan: Plan, dead: ReadonlySet<object>): Plan {
  const values = new Set(plan.states.filter(({ source }) => dead.has(source)).map(({ value }) => value));
  const calls = plan.calls.filter((call) => !values.has(stackOf(call)));
  return mapBodies({ ...plan, calls }, (body) => without(body, dead));
}

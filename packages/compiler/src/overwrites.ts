import { type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { isScalarCall } from './tensors.ts';

/**
 * Moves calls that could write over what they read behind the other readers of that, so that it need not be copied: SetRow, ScatterNd, and scalar
 * programs that make the next value of what a loop carries (an output of the plan, of the input at the same place). A call moves over
 * others only if none of them reads or writes what it writes, or writes what it reads.
 */
export function overwriteLast(plan: Plan): Plan {
  const uses = new Uses(plan);
  const calls = [...plan.calls];
  for (const call of plan.calls) {
    const value = overwritten(plan, call, uses);
    if (value === undefined) continue;
    const from = calls.indexOf(call);
    const to = calls.findLastIndex((other) => reads(other, value));
    const over = calls.slice(from + 1, to + 1);
    if (over.length === 0 || over.some((other) => conflict(call, other))) continue;
    calls.splice(from, to - from + 1, ...over, call);
  }
  return calls.every((call, i) => call === plan.calls[i]) ? plan : { ...plan, calls };
}

/** The value that a call could write over if nobody else needed it; states are written in their turn anyway. */
function overwritten(plan: Plan, call: PlanCall, uses: Uses): number | undefined {
  if (call.kernel === 'SetRow' || call.kernel === 'ScatterNd') {
    const { value } = call.inputs[0];
    return uses.states.has(value) ? undefined : value;
  }
  if (!isScalarCall(call)) return undefined;
  for (const { value } of call.outputs) {
    const carried = plan.inputs[plan.outputs.indexOf(value)];
    if (carried !== undefined && reads(call, carried)) return carried;
  }
  return undefined;
}

function reads({ inputs }: PlanCall, value: number): boolean {
  return inputs.some((input) => input.value === value);
}

function conflict(call: PlanCall, other: PlanCall): boolean {
  const meets = (a: readonly PlanTensor[], b: readonly PlanTensor[]): boolean =>
    a.some(({ value }) => b.some((tensor) => tensor.value === value));
  return (
    meets(call.outputs, other.inputs) ||
    meets(call.outputs, other.outputs) ||
    meets(call.inputs, other.outputs)
  );
}

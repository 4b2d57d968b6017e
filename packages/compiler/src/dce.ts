import { callsHost, isKernelName, outputsWithReserve, type Plan, type PlanCall } from '@eagre/backend';

/**
 * Removes calls whose outputs nobody reads and which write neither a state nor an output of the plan, but for code of the host.
 */
export function removeDeadCalls(plan: Plan): Plan {
  const needed = new Uint8Array(plan.bytes.length);
  for (const value of plan.outputs) needed[value] = 1;
  for (const { value } of plan.states) needed[value] = 1;
  const calls: PlanCall[] = [];
  for (let i = plan.calls.length - 1; i >= 0; i--) {
    let call = plan.calls[i];
    if (!callsHost(call) && !call.outputs.some((output) => needed[output.value] === 1)) continue;
    call = withoutReserve(call, needed);
    for (const input of call.inputs) needed[input.value] = 1;
    calls.push(call);
  }
  return { ...plan, calls: calls.reverse() };
}

/** What only a gradient wants is not computed where there is none. */
function withoutReserve(call: PlanCall, needed: Uint8Array): PlanCall {
  const { kernel, outputs } = call;
  if (!isKernelName(kernel) || outputs.length !== outputsWithReserve[kernel]) return call;
  const last = outputs[outputs.length - 1];
  return needed[last.value] === 1 ? call : { ...call, outputs: outputs.slice(0, -1) };
}

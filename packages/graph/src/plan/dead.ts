import { isKernelName, type Plan, type PlanCall } from '@eagre/backend';
import { hasLateAttrs } from './tensors.ts';

/**
 * Removes calls whose outputs nobody reads and which write neither a state nor an output of the plan. A random draw that nobody
 * reads stays, so that the draws after it are those of the program; it then draws nothing.
 */
export function removeDeadCalls(plan: Plan): Plan {
  const needed = new Uint8Array(plan.bytes.length);
  for (const value of plan.outputs) needed[value] = 1;
  for (const { value } of plan.states) needed[value] = 1;
  const bytes = [...plan.bytes];
  const calls: PlanCall[] = [];
  for (let i = plan.calls.length - 1; i >= 0; i--) {
    let call = plan.calls[i];
    if (!call.outputs.some((output) => needed[output.value] === 1)) {
      if (!hasLateAttrs(call)) continue;
      if (call.inputs.length === 0 && isKernelName(call.kernel)) call = emptied(call, bytes);
    }
    for (const input of call.inputs) needed[input.value] = 1;
    calls.push(call);
  }
  return { ...plan, bytes, calls: calls.reverse() };
}

function emptied(call: PlanCall, bytes: number[]): PlanCall {
  for (const { value } of call.outputs) bytes[value] = 0;
  return { ...call, outputs: call.outputs.map((output) => ({ ...output, shape: [0], size: 0 })) };
}

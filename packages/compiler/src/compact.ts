import type { Plan, PlanTensor } from '@eagre/backend';

/** Numbers the values anew, without those that nothing uses; states that no call touches go. Inputs and outputs keep their places. */
export function compactValues(plan: Plan): Plan {
  const used = new Uint8Array(plan.bytes.length);
  for (const call of plan.calls) for (const { value } of [...call.inputs, ...call.outputs]) used[value] = 1;
  const states = plan.states.filter(({ value }) => used[value] === 1);
  for (const value of [...plan.inputs, ...plan.outputs]) used[value] = 1;
  const numbers = new Int32Array(used.length);
  const bytes: number[] = [];
  plan.bytes.forEach((size, value) => {
    if (used[value] === 0) return;
    numbers[value] = bytes.length;
    bytes.push(size);
  });
  if (bytes.length === plan.bytes.length && states.length === plan.states.length) return plan;
  const renumbered = (tensor: PlanTensor): PlanTensor => ({ ...tensor, value: numbers[tensor.value] });
  return {
    bytes,
    inputs: plan.inputs.map((value) => numbers[value]),
    outputs: plan.outputs.map((value) => numbers[value]),
    states: states.map((state) => ({ ...state, value: numbers[state.value] })),
    calls: plan.calls.map((call) => ({
      ...call,
      inputs: call.inputs.map(renumbered),
      outputs: call.outputs.map(renumbered),
    })),
  };
}

import type { Plan, PlanCall, PlanTensor } from '@eagre/backend';
import { Uses } from './def-use.ts';
import { hasBodies } from './nested.ts';
import { programKey } from './program.ts';
import { callsHost, substitute } from './tensors.ts';

/**
 * Computes once what several calls compute from the same values: kernels are functions of their inputs and attributes. An input
 * state counts as another value after each write; code of the host may do something else each time.
 */
export function shareCommonCalls(plan: Plan): Plan {
  const uses = new Uses(plan);
  const versions = new Uint32Array(plan.bytes.length);
  const known = new Map<string, readonly PlanTensor[]>();
  const replaced = new Map<number, number>();
  const calls: PlanCall[] = [];
  const show = ({ value, dtype, shape }: PlanTensor): string =>
    `${value}.${versions[value]} ${dtype}[${shape}]`;
  const alike = (a: number, b: number): boolean => plan.bytes[a] === plan.bytes[b];
  const kernelKey = (kernel: PlanCall['kernel']): string =>
    typeof kernel === 'string' ? kernel : programKey(kernel);
  for (const original of plan.calls) {
    const call = substitute(original, replaced);
    const writesState = call.outputs.some(({ value }) => uses.states.has(value));
    if (!writesState && !callsHost(call) && !hasBodies(call)) {
      const made = call.outputs.map(({ dtype, shape }) => `${dtype}[${shape}]`);
      const attrs = Object.entries(call.attrs)
        .map(([name, attr]) => `${name}=${Object.is(attr, -0) ? '-0' : String(attr)}`)
        .sort();
      const key = [kernelKey(call.kernel), ...call.inputs.map(show), '->', ...made, ...attrs].join('|');
      const same = known.get(key);
      if (same === undefined) known.set(key, call.outputs);
      else if (call.outputs.every(({ value }, i) => uses.isTemporary(value) && alike(value, same[i].value))) {
        call.outputs.forEach(({ value }, i) => replaced.set(value, same[i].value));
        continue;
      }
    }
    for (const { value } of call.outputs) versions[value]++;
    calls.push(call);
  }
  return { ...plan, calls };
}

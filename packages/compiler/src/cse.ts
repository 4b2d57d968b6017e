import { callsHost, type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { hasBodies } from './nested.ts';
import { programKey } from './program.ts';
import { substitute } from './tensors.ts';

/**
 * Computes once what several calls compute from the same values: kernels are functions of their inputs and attributes. An input
 * state counts as another value after each write; code of the host may do something else each time.
 */
export function shareCommonCalls(plan: Plan): Plan {
  const uses = new Uses(plan);
  const versions = new Uint32Array(plan.bytes.length);
  // By kernel and inputs. The rest is compared where these are alike: few calls are.
  const known = new Map<string, PlanCall[]>();
  const replaced = new Map<number, number>();
  const calls: PlanCall[] = [];
  const keyOf = ({ kernel, inputs }: PlanCall): string => {
    let key = typeof kernel === 'string' ? kernel : programKey(kernel);
    for (const { value } of inputs) key += `|${value}.${versions[value]}`;
    return key;
  };
  const alike = (a: number, b: number): boolean => plan.bytes[a] === plan.bytes[b];
  for (const original of plan.calls) {
    const call = substitute(original, replaced);
    const writesState = call.outputs.some(({ value }) => uses.states.has(value));
    if (!writesState && !callsHost(call) && !hasBodies(call)) {
      const key = keyOf(call);
      const candidates = known.get(key);
      const same = candidates?.find((other) => computesTheSame(call, other))?.outputs;
      if (candidates === undefined) known.set(key, [call]);
      else if (same === undefined) candidates.push(call);
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

/** Whether two calls of one kernel on the same values do the same. */
function computesTheSame(a: PlanCall, b: PlanCall): boolean {
  return (
    a.outputs.length === b.outputs.length &&
    a.inputs.every((t, i) => sameType(t, b.inputs[i])) &&
    a.outputs.every((t, i) => sameType(t, b.outputs[i])) &&
    sameAttrs(a.attrs, b.attrs)
  );
}

function sameType(a: PlanTensor, b: PlanTensor): boolean {
  return a.dtype === b.dtype && sameNumbers(a.shape, b.shape);
}

function sameAttrs(a: PlanCall['attrs'], b: PlanCall['attrs']): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const [x, y] = [a[name], b[name]];
    return Array.isArray(x) && Array.isArray(y) ? sameNumbers(x, y) : Object.is(x, y);
  });
}

function sameNumbers(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((x, i) => Object.is(x, b[i]));
}

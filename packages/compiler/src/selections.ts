import {
  buildScalarProgram,
  callsHost,
  InternalError,
  type Plan,
  type PlanCall,
  type PlanTensor,
  type ScalarProgram,
} from '@eagre/backend';
import { inlineBody, mayInline } from './branches.ts';
import { type BodiesParts, Draft, hasBodies, partsOf } from './nested.ts';
import { cheapInstrs } from './program.ts';
import { isNumeric, isScalarCall } from './tensors.ts';

// To compute more than this takes longer than to jump over it.
const MAX_INSTRS = 8;
const MAX_SIZE = 16;

/**
 * Computes both bodies of a Case that a bool selects, and selects each result, where they hold nothing but a few cheap operations on
 * tiny tensors, none of which can fail: they take less time than the jumps, and can become part of the programs around. States and
 * code of the host must stay in their body.
 */
export function selectResults(plan: Plan): Plan {
  const parts = plan.calls.map((call) => (hasBodies(call) ? selectable(plan, call) : undefined));
  if (parts.every((found) => found === undefined)) return plan;
  const draft = new Draft(plan);
  plan.calls.forEach((call, at) => {
    const found = parts[at];
    if (found === undefined) draft.calls.push(call);
    else select(draft, found.parts, found.selector);
  });
  return draft.finish();
}

interface Selectable {
  readonly parts: BodiesParts;
  readonly selector: PlanTensor;
}

function selectable(plan: Plan, call: PlanCall): Selectable | undefined {
  if (!hasBodies(call)) return undefined;
  const parts = partsOf(call);
  const { selector, bodies, results } = parts;
  if (selector?.dtype !== 'bool' || results.length === 0) return undefined;
  // Only states stand behind the results.
  if (call.outputs.length > results.length || !mayInline(parts, plan)) return undefined;
  let instrs = 0;
  for (const body of bodies) for (const inner of body.calls) instrs += costOf(inner);
  if (instrs > MAX_INSTRS || !bodies.every((body) => looksLike(body, results))) return undefined;
  return { parts, selector };
}

/** The instructions of a call, or Infinity for one that should not run for nothing. */
function costOf(call: PlanCall): number {
  if (callsHost(call) || call.outputs.some(({ size }) => size > MAX_SIZE)) return Number.POSITIVE_INFINITY;
  if (isScalarCall(call)) return cheapInstrs(call.kernel);
  return call.kernel === 'Fill' || call.kernel === 'Copy' ? 0 : Number.POSITIVE_INFINITY;
}

/** Whether a body touches no state and makes its results with the dtypes that the call's have. */
function looksLike({ states, calls, outputs }: Plan, results: readonly PlanTensor[]): boolean {
  const touched = new Set(states.map(({ value }) => value));
  const made = new Map<number, PlanTensor>();
  for (const call of calls) {
    for (const tensor of [...call.inputs, ...call.outputs]) if (touched.has(tensor.value)) return false;
    for (const tensor of call.outputs) made.set(tensor.value, tensor);
  }
  return outputs.every((value, k) => {
    const tensor = made.get(value);
    return tensor?.dtype === results[k].dtype && tensor.size === results[k].size;
  });
}

function select(draft: Draft, parts: BodiesParts, selector: PlanTensor): void {
  const { bodies, results, name } = parts;
  const [whenTrue, whenFalse] = bodies.map((body) => {
    const made = results.map((tensor) => ({ ...tensor, value: draft.value(draft.bytesOf(tensor.value)) }));
    inlineBody(draft, { ...parts, results: made }, body);
    return made;
  });
  results.forEach((result, k) => {
    draft.calls.push({
      kernel: selectOf(result),
      inputs: [selector, whenTrue[k], whenFalse[k]],
      outputs: [result],
      attrs: {},
      name,
    });
  });
}

function selectOf({ dtype }: PlanTensor): ScalarProgram {
  if (!isNumeric(dtype)) throw new InternalError('strings never reach a kernel');
  return buildScalarProgram(['bool', dtype, dtype], (s, c, a, b) => s.select(c, a, b));
}

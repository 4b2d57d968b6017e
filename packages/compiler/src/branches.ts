import type { Plan, PlanCall, PlanTensor } from '@eagre/backend';
import { type BodiesCall, type BodiesParts, type Draft, partsOf, type Surroundings } from './nested.ts';
import { readInputs, readingOnce, withConstants, withoutInputs, withoutOutputs } from './rewire.ts';

/**
 * Simplifies a Case and adds it to the plan: what no body changes goes around it. Where the selector is a constant, the calls of the body that it selects stand in its
 * place.
 */
export function simplifyCase(call: BodiesCall, around: Surroundings): void {
  const parts = partsOf(call);
  const taken = selected(parts, around);
  if (taken !== undefined && mayInline(parts, around.draft.plan)) {
    inlineBody(around.draft, parts, around.simplify(withConstants(taken, parts.given, around.constants)));
    return;
  }
  const dropped = new Set<number>();
  parts.results.forEach((result, k) => {
    if (!around.needed(result)) dropped.add(k);
  });
  const { given } = parts;
  const bodies = parts.bodies.map((body) =>
    around.simplify(
      withConstants(readingOnce(withoutOutputs(body, dropped), given), given, around.constants),
    ),
  );
  const results = parts.results.filter((_, k) => !dropped.has(k));
  const same = passedThrough(bodies, given, results);
  for (const [k, i] of same) around.draft.calls.push(copy(given[i], results[k], parts.name));
  const kept = bodies.map((body) => withoutOutputs(body, new Set(same.keys())));
  const read = kept.map(readInputs);
  const unread = new Set(given.flatMap((_, i) => (read.some((places) => places.has(i)) ? [] : [i])));
  around.draft.nested({
    ...parts,
    bodies: kept.map((body) => withoutInputs(body, unread)),
    given: given.filter((_, i) => !unread.has(i)),
    results: results.filter((_, k) => !same.has(k)),
  });
}

/** The outputs that every body copies from one input, and that input. */
function passedThrough(
  bodies: readonly Plan[],
  given: readonly PlanTensor[],
  results: readonly PlanTensor[],
): Map<number, number> {
  const found = new Map<number, number>();
  const writers = bodies.map(
    ({ calls }) => new Map(calls.flatMap((call) => call.outputs.map(({ value }) => [value, call]))),
  );
  bodies[0].outputs.forEach((_, k) => {
    const from = bodies.map(({ outputs, inputs }, b) => {
      const writer = writers[b].get(outputs[k]);
      return writer?.kernel === 'Copy' ? inputs.indexOf(writer.inputs[0].value) : -1;
    });
    const [first] = from;
    if (first < 0 || from.some((i) => i !== first)) return;
    if (given[first].dtype === results[k].dtype && given[first].size === results[k].size) found.set(k, first);
  });
  return found;
}

function selected({ selector, bodies }: BodiesParts, { constants }: Surroundings): Plan | undefined {
  const constant = selector && constants.get(selector.value);
  if (selector === undefined || constant?.dtype !== selector.dtype) return undefined;
  const { value } = constant;
  if (selector.dtype === 'bool') return bodies[value === 0 ? 1 : 0];
  return bodies[value >= 0 && value < bodies.length ? value : bodies.length - 1];
}

/** Whether no result lies in a state of the plan around: one that was moved there already could be read there by the body. */
export function mayInline({ results }: BodiesParts, { states }: Plan): boolean {
  const touched = new Set(states.map(({ value }) => value));
  return results.every(({ value }) => !touched.has(value));
}

/** Adds a body's calls with the values of the plan around it in the place of its own. */
export function inlineBody(draft: Draft, { given, results, name }: BodiesParts, body: Plan): void {
  const values = new Map<number, number>();
  for (const state of body.states) values.set(state.value, draft.state(state, body.bytes[state.value]));
  const written = new Set<number>();
  for (const { outputs } of body.calls) for (const { value } of outputs) written.add(values.get(value) ?? -1);
  body.inputs.forEach((input, i) => {
    const tensor = given[i];
    // An input has the value of a state as it was before the body wrote the state.
    values.set(input, written.has(tensor.value) ? copied(draft, tensor, name) : tensor.value);
  });
  body.outputs.forEach((output, k) => {
    values.set(output, results[k].value);
  });
  const placed = (tensor: PlanTensor): PlanTensor => {
    let value = values.get(tensor.value);
    if (value === undefined) values.set(tensor.value, (value = draft.value(body.bytes[tensor.value])));
    return { ...tensor, value };
  };
  for (const call of body.calls)
    draft.calls.push({ ...call, inputs: call.inputs.map(placed), outputs: call.outputs.map(placed) });
}

function copied(draft: Draft, tensor: PlanTensor, name: string): number {
  const value = draft.value(draft.bytesOf(tensor.value));
  draft.calls.push(copy(tensor, { ...tensor, value }, name));
  return value;
}

function copy(from: PlanTensor, to: PlanTensor, name: string): PlanCall {
  return { kernel: 'Copy', inputs: [from], outputs: [to], attrs: {}, name };
}

import { InternalError, mayOverwrite, type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { reshaped, substitute } from './tensors.ts';

/**
 * Lets a call write where its result is copied to, a state or an output of the plan, and drops the copy. With the call at i and the
 * copy of its temporary x to t at j:
 * - between them nobody reads or writes t, so that t may have its new value early; the call itself reads t only if it may write over what
 *   it reads: a scalar program does so element by element, SetRow and ScatterNd leave all but some rows;
 * - what reads x reads t from then on, so nobody may write t before the last of them.
 */
export function sinkStores(plan: Plan): Plan {
  const uses = new Uses(plan);
  const calls: (PlanCall | undefined)[] = [...plan.calls];
  plan.calls.forEach((_, at) => sink(plan, uses, calls, at));
  return { ...plan, calls: calls.filter((call) => call !== undefined) };
}

function sink(plan: Plan, uses: Uses, calls: (PlanCall | undefined)[], at: number): void {
  const copy = calls[at];
  if (copy?.kernel !== 'Copy') return;
  const [from] = copy.inputs;
  const [to] = copy.outputs;
  if (!uses.isTemporary(from.value) || plan.bytes[from.value] !== plan.bytes[to.value]) return;
  const [source] = uses.writers[from.value];
  if (uses.readers[to.value].some((reader) => reader > source && reader <= at)) return;
  if (uses.writtenWithin(to.value, source, at - 1)) return;
  if (uses.writtenWithin(to.value, at, uses.lastReader(from.value))) return;
  const call = calls[source];
  const writer = call && storingInto(call, from.value, to);
  if (writer === undefined) return;

  calls[source] = writer;
  calls[at] = undefined;
  const replaced = new Map([[from.value, to.value]]);
  for (const reader of uses.readers[from.value]) {
    const other = calls[reader];
    if (other !== undefined) calls[reader] = substitute(other, replaced);
  }
  uses.renamed(from.value, to.value, source, at);
}

/** The call with its output `value` written to another place; undefined where it cannot be. */
function storingInto(call: PlanCall, value: number, to: PlanTensor): PlanCall | undefined {
  const output = call.outputs.find((tensor) => tensor.value === value);
  if (output === undefined)
    throw new InternalError(`value ${value} is not written where it should be`, call.name);
  if (output.dtype !== to.dtype || output.size !== to.size) return undefined;
  // A condition must stay a scalar.
  if (to.shape.length === 0 && output.shape.length > 0) return undefined;
  // Two results at one place cannot be told apart.
  if (call.outputs.some((tensor) => tensor.value === to.value)) return undefined;
  const places = call.inputs.flatMap((input, i) => (input.value === to.value ? [i] : []));
  if (typeof call.kernel === 'string') {
    if (places.length > 0 && !mayOverwrite(call, places, output)) return undefined;
  } else if (!places.every((i) => call.inputs[i].dtype === to.dtype && call.inputs[i].size === to.size))
    return undefined;
  return {
    ...call,
    inputs: call.inputs.map((input) => (input.value === to.value ? reshaped(input, output.shape) : input)),
    outputs: call.outputs.map((tensor) => (tensor === output ? { ...tensor, value: to.value } : tensor)),
  };
}

import { callsHost, type Plan, type PlanCall, type PlanTensor } from '@eagre/backend';
import { inlineBody } from './branches.ts';
import { type BodiesParts, Draft, hasBodies, partsOf } from './nested.ts';
import { isScalarCall } from './tensors.ts';

// More would be repeated in front of the loop than is saved in it.
const MAX_CALLS = 8;
const MAX_SIZE = 16;

/**
 * Lets a While carry whether its condition holds: it is computed in front of the loop, and behind all else in each turn for the next,
 * where it can become part of what computes the next values. It is computed for the same values, in the same order and as often as
 * before. Only for conditions of a few calls of tiny tensors that touch no states; not for those that are a Copy already.
 */
export function carryConditions(plan: Plan): Plan {
  if (!plan.calls.some(hasBodies)) return plan;
  const draft = new Draft(plan);
  for (const call of plan.calls) {
    if (!hasBodies(call)) {
      draft.calls.push(call);
      continue;
    }
    const parts = partsOf({ ...call, bodies: call.bodies.map(carryConditions) });
    if (call.kernel === 'While' && isSmall(parts.bodies[0])) carry(draft, parts);
    else draft.nested(parts);
  }
  return draft.finish();
}

function isSmall({ calls, states }: Plan): boolean {
  if (calls.length > MAX_CALLS || calls.every(({ kernel }) => kernel === 'Copy')) return false;
  const touched = new Set(states.map(({ value }) => value));
  return calls.every(
    (call) =>
      !hasBodies(call) &&
      !callsHost(call) &&
      (isScalarCall(call) || (call.kernel !== 'Push' && call.kernel !== 'Pop')) &&
      [...call.inputs, ...call.outputs].every(({ value, size }) => size <= MAX_SIZE && !touched.has(value)),
  );
}

function carry(draft: Draft, parts: BodiesParts): void {
  const { bodies, given, results, name } = parts;
  const [condition, body] = bodies;
  const first = flag(draft.value(1));
  inlineBody(draft, { ...parts, results: [first] }, condition);
  const at = results.length;
  const [next, holds] = [withFlag(body, at), withFlag(condition, at)];

  // Behind the body its outputs are what the condition is given.
  const turn = new Draft(next);
  const looks = given.map((tensor, i) => ({ ...tensor, value: i < at ? body.outputs[i] : body.inputs[i] }));
  const following = flag(turn.value(1));
  turn.calls.push(...next.calls);
  inlineBody(turn, { ...parts, given: looks, results: [following] }, condition);
  const finished = turn.finish();

  draft.nested({
    ...parts,
    bodies: [passing(holds, at, name), { ...finished, outputs: [...finished.outputs, following.value] }],
    given: given.toSpliced(at, 0, first),
    results: [...results, flag(draft.value(1))],
  });
}

function flag(value: number): PlanTensor {
  return { value, dtype: 'bool', shape: [], size: 1 };
}

/** The plan with one more input, a flag, at that place. */
function withFlag(plan: Plan, at: number): Plan {
  const value = plan.bytes.length;
  return { ...plan, bytes: [...plan.bytes, 1], inputs: plan.inputs.toSpliced(at, 0, value) };
}

/** A condition that is one of its inputs, in place of another plan with the same inputs. */
function passing({ inputs, bytes }: Plan, at: number, name: string): Plan {
  const output = bytes.length;
  const copy: PlanCall = {
    kernel: 'Copy',
    inputs: [flag(inputs[at])],
    outputs: [flag(output)],
    attrs: {},
    name,
  };
  return { bytes: [...bytes, 1], inputs, states: [], calls: [copy], outputs: [output] };
}

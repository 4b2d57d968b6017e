import { type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { type Constant, constantsOf } from '../constants.ts';
import { Draft, hasBodies, partsOf } from '../nested.ts';
import { isScalarCall, numberAttr, reshaped, type ScalarCall } from '../tensors.ts';
import { isSum } from './epilogues.ts';

/**
 * Takes sums into branches and loops: acc + y, where y is a result of a Case that is zeros, or zeros but for some rows, in one of its
 * bodies, becomes that result; and where y is what a loop adds up from zeros, the loop starts from acc. There `addRowsInPlace` finds more
 * to do, and a body without rows leaves acc as it is. Sums of more than two round in another order.
 */
export function sinkSums(plan: Plan): Plan {
  if (!plan.calls.some(hasBodies)) return plan;
  const uses = new Uses(plan);
  const constants = constantsOf(plan);
  const calls: (PlanCall | undefined)[] = [...plan.calls];
  plan.calls.forEach((call, at) => {
    if (!isScalarCall(call) || !isSum(call.kernel)) return;
    for (const [i, y] of call.inputs.entries()) {
      const source = uses.writers[y.value][0] ?? at;
      const made = source < at ? calls[source] : undefined;
      if (made === undefined || !mayMove(call, 1 - i, source, uses)) continue;
      const sunk = made.kernel === 'Case' ? intoCase(made, call, i) : intoWhile(made, call, i, constants);
      if (sunk === undefined) continue;
      calls[source] = sunk;
      calls[at] = undefined;
      return;
    }
  });
  if (calls.every((call) => call !== undefined)) return plan;
  const draft = new Draft(plan);
  for (const call of calls) {
    if (call === undefined) continue;
    if (hasBodies(call)) draft.nested(partsOf(call));
    else draft.calls.push(call);
  }
  return draft.finish();
}

/** Whether a sum may be part of the call at `source`, which makes one of its operands for nobody else. */
function mayMove(sum: ScalarCall, acc: number, source: number, uses: Uses): boolean {
  const [output] = sum.outputs;
  const a = sum.inputs[acc];
  const y = sum.inputs[1 - acc];
  if ([a, y].some(({ size, dtype }) => size !== output.size || dtype !== output.dtype)) return false;
  if (a.value === y.value || !uses.isTemporary(y.value) || uses.readers[y.value].length !== 1) return false;
  if (uses.states.has(a.value) || uses.states.has(output.value)) return false;
  return (uses.writers[a.value][0] ?? -1) < source;
}

function intoCase(call: PlanCall, sum: ScalarCall, operand: number): PlanCall | undefined {
  if (!hasBodies(call)) return undefined;
  const { selector, given, results, bodies } = partsOf(call);
  const y = sum.inputs[operand];
  const k = results.findIndex(({ value }) => value === y.value);
  if (k < 0 || selector === undefined || !bodies.some((body) => isSparse(body, k))) return undefined;
  const acc = sum.inputs[1 - operand];
  const [output] = sum.outputs;
  return {
    ...call,
    bodies: bodies.map((body) => withSum(body, k, sum, operand)),
    inputs: [selector, ...given, acc],
    outputs: results.map((result, j) => (j === k ? output : result)),
  };
}

/** A body with one more input, which is added to one of its outputs. */
function withSum(body: Plan, k: number, sum: ScalarCall, operand: number): Plan {
  const output = body.outputs[k];
  const bytes = [...body.bytes];
  const acc: PlanTensor = { ...sum.inputs[1 - operand], value: bytes.push(bytes[output]) - 1 };
  const total: PlanTensor = { ...sum.outputs[0], value: bytes.push(bytes[output]) - 1 };
  const y: PlanTensor = { ...sum.inputs[operand], value: output };
  const isZero = Object.is(constantsOf(body).get(output)?.value, 0);
  const added: PlanCall = isZero
    ? { kernel: 'Copy', inputs: [acc], outputs: [total], attrs: {}, name: sum.name }
    : { ...sum, inputs: operand === 0 ? [y, acc] : [acc, y], outputs: [total] };
  return {
    ...body,
    bytes,
    inputs: [...body.inputs, acc.value],
    calls: [...body.calls, added],
    outputs: body.outputs.map((value, j) => (j === k ? total.value : value)),
  };
}

/** Whether an output of a body is zeros, or was added to zeros. */
function isSparse(body: Plan, k: number): boolean {
  const output = body.outputs[k];
  if (Object.is(constantsOf(body).get(output)?.value, 0)) return true;
  const call = body.calls.find(({ outputs }) => outputs.some(({ value }) => value === output));
  if (call === undefined) return false;
  if (call.kernel === 'GatherGrad') return true;
  if (call.kernel === 'SetRow' || call.kernel === 'ScatterNd') return numberAttr(call.attrs['mode']) === 1;
  if (call.kernel !== 'Case' || call.bodies === undefined) return false;
  const place = call.outputs.findIndex(({ value }) => value === output);
  return call.bodies.some((inner) => isSparse(inner, place));
}

function intoWhile(
  call: PlanCall,
  sum: ScalarCall,
  operand: number,
  constants: ReadonlyMap<number, Constant>,
): PlanCall | undefined {
  if (!hasBodies(call) || call.kernel !== 'While') return undefined;
  const { given, results, bodies } = partsOf(call);
  const y = sum.inputs[operand];
  const k = results.findIndex(({ value }) => value === y.value);
  if (k < 0 || !Object.is(constants.get(given[k].value)?.value, 0)) return undefined;
  const [condition, body] = bodies;
  if (reads(condition, condition.inputs[k]) || !addsUp(body, body.inputs[k], body.outputs[k]))
    return undefined;
  const acc = reshaped(sum.inputs[1 - operand], given[k].shape);
  const output = reshaped(sum.outputs[0], results[k].shape);
  return {
    ...call,
    inputs: given.map((tensor, j) => (j === k ? acc : tensor)),
    outputs: results.map((result, j) => (j === k ? output : result)),
  };
}

function reads({ calls }: Plan, value: number): boolean {
  return calls.some(({ inputs }) => inputs.some((input) => input.value === value));
}

/** Whether an output of a body is an input with something added that does not depend on it, and the input is read for nothing else. */
function addsUp(body: Plan, input: number, output: number): boolean {
  const readers = body.calls.filter(({ inputs }) => inputs.some(({ value }) => value === input));
  const [call] = readers;
  if (readers.length !== 1 || body.outputs.includes(input)) return false;
  const places = call.inputs.flatMap(({ value }, i) => (value === input ? [i] : []));
  const [place] = places;
  if (places.length !== 1) return false;
  let made = 0;
  if (isScalarCall(call)) {
    if (!isSum(call.kernel) || call.inputs[place].size !== call.outputs[0].size) return false;
  } else if (call.kernel === 'SetRow' || call.kernel === 'ScatterNd') {
    if (place !== 0 || numberAttr(call.attrs['mode']) !== 1) return false;
  } else if (call.kernel === 'Case' || call.kernel === 'While') {
    made = call.kernel === 'Case' ? sumOfCase(call, place - 1) : sumOfWhile(call, place);
    if (made < 0) return false;
  } else return call.kernel === 'Copy' && call.outputs[0].value === output;
  const { value } = call.outputs[made];
  return value === output || addsUp(body, value, output);
}

/** The result of a Case that is its input at `place` with something added; -1 for none. */
function sumOfCase({ bodies = [] }: PlanCall, place: number): number {
  const [first] = bodies;
  if (place < 0 || place >= first.inputs.length) return -1;
  return first.outputs.findIndex((_, k) =>
    bodies.every((body) => addsUp(body, body.inputs[place], body.outputs[k])),
  );
}

/** The same of a While. */
function sumOfWhile({ bodies = [] }: PlanCall, place: number): number {
  const [condition, body] = bodies;
  if (place >= body.outputs.length || reads(condition, condition.inputs[place])) return -1;
  return addsUp(body, body.inputs[place], body.outputs[place]) ? place : -1;
}

import { dtypeTraits } from '../dtype.ts';
import { InternalError } from '../errors.ts';
import type { Plan, PlanCall, PlanState, PlanTensor } from './plan.ts';

/**
 * Checks how a call fits its bodies, and how it lists the states that they touch. The bodies themselves have been checked.
 * @param stateOf the state of `plan` in which a value lies.
 */
export function checkControl(
  plan: Plan,
  call: PlanCall,
  stateOf: (value: number) => PlanState | undefined,
): void {
  const { kernel, inputs, outputs, bodies = [], name } = call;
  const [given, results] = kernel === 'Case' ? checkCase(call) : checkWhile(call);
  bodies.forEach((body, i) => {
    const skip = kernel === 'Case' ? 1 : 0;
    body.inputs.forEach((value, k) =>
      checkFit(call, `input ${k} of body ${i}`, inputs[skip + k], body.bytes[value]),
    );
    if (kernel === 'While' && i === 0) return;
    body.outputs.forEach((value, k) =>
      checkFit(call, `output ${k} of body ${i}`, outputs[k], body.bytes[value]),
    );
  });
  for (const { value } of inputs.slice(0, given))
    if (stateOf(value)?.memory === null) throw new InternalError(`a body is given the stack ${value}`, name);
  for (const { value } of outputs.slice(0, results))
    if (stateOf(value)?.memory === null) throw new InternalError(`a body's result is stack ${value}`, name);
  checkListed(plan, call, 'input', inputs.slice(given), touchedSources(bodies, false), stateOf);
  checkListed(plan, call, 'output', outputs.slice(results), touchedSources(bodies, true), stateOf);
  checkSources(plan, bodies, name);
}

/** What Push or Pop is given. */
export function checkStackCall(
  { kernel, inputs, outputs, name }: PlanCall,
  isStack: (value: number) => boolean,
): void {
  const [from, to] = kernel === 'Push' ? [inputs, outputs] : [outputs, inputs];
  const stack = to[0]?.value ?? -1;
  if (from.length !== 2 || to.length !== 1)
    throw new InternalError(`${inputs.length} inputs and ${outputs.length} outputs for ${kernel}`, name);
  if (!isStack(stack)) throw new InternalError(`value ${stack} is no stack`, name);
  if (from[1].value !== stack)
    throw new InternalError(`${kernel} reads and writes stacks ${from[1].value} and ${stack}`, name);
  if (isStack(from[0].value)) throw new InternalError(`${kernel} of stack ${from[0].value}`, name);
}

/** @returns how many inputs and outputs come before the states. */
function checkCase({ inputs, outputs, bodies = [], name }: PlanCall): [given: number, results: number] {
  const [first] = bodies;
  if (first === undefined) throw new InternalError('Case without bodies', name);
  const given = first.inputs.length + 1;
  const results = first.outputs.length;
  bodies.forEach((body, i) => {
    if (body.inputs.length + 1 !== given || body.outputs.length !== results) {
      throw new InternalError(
        `body ${i} has ${body.inputs.length} inputs and ${body.outputs.length} outputs, body 0 has ${given - 1} and ${results}`,
        name,
      );
    }
  });
  checkCounts(name, inputs, given, outputs, results);
  const { dtype, shape } = inputs[0];
  if (shape.length > 0 || (dtype !== 'bool' && dtype !== 'int32'))
    throw new InternalError(`a body is selected by ${dtype} of shape [${shape.join(', ')}]`, name);
  if (dtype === 'bool' && bodies.length !== 2)
    throw new InternalError(`a bool selects one of ${bodies.length} bodies`, name);
  return [given, results];
}

function checkWhile({ inputs, outputs, bodies = [], name }: PlanCall): [given: number, results: number] {
  const [condition, body, ...rest] = bodies;
  if (condition === undefined || body === undefined || rest.length > 0)
    throw new InternalError(`While with ${bodies.length} bodies`, name);
  const given = body.inputs.length;
  const results = body.outputs.length;
  if (condition.inputs.length !== given)
    throw new InternalError(`${condition.inputs.length} and ${given} inputs of condition and body`, name);
  if (results > given) throw new InternalError(`${results} of ${given} values are carried`, name);
  checkCounts(name, inputs, given, outputs, results);
  if (condition.outputs.length !== 1)
    throw new InternalError(`a condition of ${condition.outputs.length} outputs`, name);
  for (const call of condition.calls) {
    const found = call.outputs.find(({ value }) => value === condition.outputs[0]);
    if (found !== undefined && (found.dtype !== 'bool' || found.shape.length > 0))
      throw new InternalError(
        `a condition that is ${found.dtype} of shape [${found.shape.join(', ')}]`,
        name,
      );
  }
  body.outputs.forEach((value, k) => {
    checkFit({ name }, `the first value ${k}`, outputs[k], condition.bytes[condition.inputs[k]]);
    checkFit({ name }, `the next value ${k}`, inputs[k], body.bytes[value]);
  });
  return [given, results];
}

function checkCounts(
  name: string,
  { length: inputs }: readonly PlanTensor[],
  given: number,
  { length: outputs }: readonly PlanTensor[],
  results: number,
): void {
  if (inputs < given || outputs < results) {
    throw new InternalError(
      `${inputs} inputs and ${outputs} outputs where the bodies want ${given} and ${results}`,
      name,
    );
  }
}

function checkFit(
  { name }: Pick<PlanCall, 'name'>,
  what: string,
  { dtype, size }: PlanTensor,
  wanted: number,
): void {
  const bytes = size * dtypeTraits[dtype].bytes;
  if (bytes !== wanted) throw new InternalError(`${bytes} bytes for ${what}, which has ${wanted}`, name);
}

function checkListed(
  { states }: Plan,
  { name }: PlanCall,
  what: 'input' | 'output',
  tensors: readonly PlanTensor[],
  sources: ReadonlySet<object>,
  stateOf: (value: number) => PlanState | undefined,
): void {
  const listed = new Set<object>();
  for (const { value } of tensors) {
    const state = stateOf(value);
    if (state === undefined) throw new InternalError(`${what} ${value} is for no body, and no state`, name);
    listed.add(state.source);
  }
  for (const { value, source } of states) {
    if (sources.has(source) && !listed.has(source)) {
      const verb = what === 'input' ? 'touches' : 'writes';
      throw new InternalError(`a body ${verb} state ${value}, which is not among the ${what}s`, name);
    }
  }
}

/** The sources of the states that calls in these plans use, or only those that they write, at any depth. */
function touchedSources(
  plans: readonly Plan[],
  writtenOnly: boolean,
  found = new Set<object>(),
): Set<object> {
  for (const { states, calls } of plans) {
    const values = new Set<number>();
    for (const { inputs, outputs, bodies } of calls) {
      for (const { value } of outputs) values.add(value);
      if (!writtenOnly) for (const { value } of inputs) values.add(value);
      if (bodies !== undefined) touchedSources(bodies, writtenOnly, found);
    }
    for (const { value, source } of states) if (values.has(value)) found.add(source);
  }
  return found;
}

/** One source is as large everywhere, and a stack everywhere or nowhere. */
function checkSources({ bytes, states }: Plan, bodies: readonly Plan[], name: string): void {
  const known = new Map<object, { bytes: number; stack: boolean }>();
  for (const { value, source, memory } of states)
    known.set(source, { bytes: bytes[value], stack: memory === null });
  const visit = (plan: Plan): void => {
    for (const { value, source, memory } of plan.states) {
      const here = { bytes: plan.bytes[value], stack: memory === null };
      const other = known.get(source);
      if (other === undefined) known.set(source, here);
      else if (other.stack !== here.stack)
        throw new InternalError(
          `state ${value} of a body is a stack in one place and memory in another`,
          name,
        );
      else if (other.bytes !== here.bytes)
        throw new InternalError(
          `state ${value} of a body has ${here.bytes} bytes in one place and ${other.bytes} in another`,
          name,
        );
    }
    for (const call of plan.calls) call.bodies?.forEach(visit);
  };
  bodies.forEach(visit);
}

import { dtypeTraits } from '../dtype.ts';
import { InternalError } from '../errors.ts';
import { type KernelName, kernelAttrs, MAX_RANK } from '../kernels.ts';
import type { ScalarProgram } from '../program/scalar.ts';
import { sameShape } from '../shape.ts';
import { checkControl, checkStackCall } from './check-control.ts';
import { mayOverwrite, updates } from './overwrite.ts';
import { isKernelName, type Plan, type PlanCall, type PlanState, type PlanTensor } from './plan.ts';

/**
 * Checks what `Plan` promises, so that backends may trust it: value numbers, sizes, that values are written before they are read
 * and by one call, attributes, the operands of scalar programs, and how calls fit their bodies.
 * @throws InternalError that names the call.
 */
export function checkPlan(plan: Plan): void {
  check(plan, undefined);
}

/** @param op the call that it is a body of. */
function check(plan: Plan, op: string | undefined): void {
  const values = plan.bytes.length;
  const given = new Uint8Array(values);
  const written = new Uint8Array(values);
  plan.bytes.forEach((bytes, value) => {
    if (!Number.isSafeInteger(bytes) || bytes < 0)
      throw new InternalError(`value ${value} has ${bytes} bytes`, op);
  });
  const claim = (value: number, what: string): void => {
    if (!inRange(value, values))
      throw new InternalError(`${what} ${value} of a plan of ${values} values`, op);
    if (given[value] !== 0) throw new InternalError(`${what} ${value} is given twice`, op);
    given[value] = 1;
  };
  for (const value of plan.inputs) claim(value, 'input');
  const states = new Map<number, PlanState>();
  const sources = new Set<object>();
  for (const state of plan.states) {
    const { value, source, memory } = state;
    claim(value, 'state');
    if (sources.has(source)) throw new InternalError(`state ${value} has the source of another`, op);
    if (memory === null && plan.bytes[value] !== 0)
      throw new InternalError(`the stack ${value} has ${plan.bytes[value]} bytes`, op);
    states.set(value, state);
    sources.add(source);
  }
  written.set(given);
  const stateOf = (value: number): PlanState | undefined => states.get(value);
  const isStack = (value: number): boolean => states.get(value)?.memory === null;

  for (const call of plan.calls) {
    for (const tensor of call.inputs) {
      checkTensor(plan, call, tensor);
      if (written[tensor.value] === 0)
        throw new InternalError(`value ${tensor.value} is read before it is written`, call.name);
    }
    for (const tensor of call.outputs) {
      checkTensor(plan, call, tensor);
      if (!states.has(tensor.value) && written[tensor.value] !== 0)
        throw new InternalError(`value ${tensor.value} is written a second time`, call.name);
      written[tensor.value] = 1;
    }
    checkCall(plan, call, stateOf, isStack);
    checkSharing(call, isStack);
  }
  for (const value of plan.outputs) {
    claim(value, 'output');
    if (written[value] === 0) throw new InternalError(`output ${value} is the output of no call`, op);
  }
}

function checkCall(
  plan: Plan,
  call: PlanCall,
  stateOf: (value: number) => PlanState | undefined,
  isStack: (value: number) => boolean,
): void {
  const { kernel, bodies, name } = call;
  if (kernel === 'Case' || kernel === 'While') {
    for (const body of bodies ?? []) check(body, name);
    checkControl(plan, call, stateOf);
    return;
  }
  if (bodies !== undefined) throw new InternalError('bodies of a call that is no Case or While', name);
  if (kernel === 'Push' || kernel === 'Pop') {
    checkStackCall(call, isStack);
    return;
  }
  for (const { value } of [...call.inputs, ...call.outputs])
    if (isStack(value)) throw new InternalError(`the stack ${value} is no tensor`, name);
  if (kernel === 'Own') checkOwn(call);
  else if (kernel === 'Host') checkHost(call);
  else if (isKernelName(kernel)) checkAttrs(call, kernel);
  else if (typeof kernel === 'string') throw new InternalError(`no kernel is called ${kernel}`, name);
  else checkProgram(call, kernel);
}

function inRange(value: number, count: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < count;
}

function checkTensor(plan: Plan, call: PlanCall, { value, dtype, shape, size }: PlanTensor): void {
  if (!inRange(value, plan.bytes.length))
    throw new InternalError(`value ${value} of a plan of ${plan.bytes.length} values`, call.name);
  if (dtype === 'string') throw new InternalError('strings never reach a kernel', call.name);
  if (shape.length > MAX_RANK)
    throw new InternalError(`rank ${shape.length} is above ${MAX_RANK}`, call.name);
  let product = 1;
  for (const dim of shape) {
    if (!Number.isSafeInteger(dim) || dim < 0) throw new InternalError(`a shape with ${dim}`, call.name);
    product *= dim;
  }
  if (product !== size) throw new InternalError(`size ${size} of shape [${shape.join(', ')}]`, call.name);
  const bytes = size * dtypeTraits[dtype].bytes;
  if (bytes > plan.bytes[value])
    throw new InternalError(`${bytes} bytes of value ${value}, which has ${plan.bytes[value]}`, call.name);
}

function checkSharing(call: PlanCall, isStack: (value: number) => boolean): void {
  const { kernel, inputs, outputs, bodies, name } = call;
  // Behind the results of bodies stand the states that they write.
  const states = kernel === 'Case' ? bodies?.[0]?.outputs.length : bodies?.[1]?.outputs.length;
  for (let i = 0; i < outputs.length; i++) {
    const output = outputs[i];
    const { value } = output;
    if (i > 0 && outputs.some((other, j) => j < i && other.value === value))
      throw new InternalError(`two outputs in value ${value}`, name);
    if (kernel === 'Own' || isStack(value) || (states !== undefined && i >= states)) continue;
    const shared: number[] = [];
    for (let place = 0; place < inputs.length; place++) if (inputs[place].value === value) shared.push(place);
    if (typeof kernel === 'string' && updates.has(kernel)) {
      if (shared.length === 0)
        throw new InternalError(`${kernel} updates value ${value} without reading it`, name);
    } else if (!mayOverwrite(call, shared, output)) {
      throw new InternalError(
        typeof kernel === 'string'
          ? `${kernel} cannot write value ${value}, which it reads`
          : `value ${value} is written as another tensor than it is read`,
        name,
      );
    }
  }
}

function checkOwn({ own, name }: PlanCall): void {
  if (own === undefined) throw new InternalError('a call of a backend without its kernel', name);
}

function checkHost({ host, name }: PlanCall): void {
  if (host === undefined) throw new InternalError('a host call without code', name);
}

function checkAttrs({ attrs, name }: PlanCall, kernel: KernelName): void {
  for (const attr of kernelAttrs[kernel]) {
    if (attrs[attr] === undefined)
      throw new InternalError(`the attribute ${attr} of ${kernel} is missing`, name);
  }
}

function checkProgram({ inputs, outputs, name }: PlanCall, program: ScalarProgram): void {
  const operands = program.inputs.length;
  const first = outputs[0];
  if (inputs.length !== operands || outputs.length !== program.outputs.length || first === undefined) {
    throw new InternalError(
      `${inputs.length} inputs and ${outputs.length} outputs for a scalar program of ${operands} and ${program.outputs.length}`,
      name,
    );
  }
  inputs.forEach(({ dtype, shape }, i) => {
    if (dtype !== program.inputs[i])
      throw new InternalError(`input ${i} is ${dtype}, not ${program.inputs[i]}`, name);
    if (!broadcasts(shape, first.shape)) {
      throw new InternalError(
        `input ${i} of shape [${shape.join(', ')}] does not broadcast to [${first.shape.join(', ')}]`,
        name,
      );
    }
  });
  outputs.forEach(({ dtype, shape }, i) => {
    const id = program.outputs[i];
    const expected = id < operands ? program.inputs[id] : program.instrs[id - operands]?.dtype;
    if (dtype !== expected) throw new InternalError(`output ${i} is ${dtype}, not ${expected}`, name);
    if (!sameShape(shape, first.shape)) throw new InternalError('outputs of different shapes', name);
  });
}

function broadcasts(from: readonly number[], to: readonly number[]): boolean {
  const skip = to.length - from.length;
  return skip >= 0 && from.every((dim, axis) => dim === 1 || dim === to[skip + axis]);
}

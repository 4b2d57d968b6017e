// Types in a circle: what is constant simplifies calls, and simpler calls show more constants.
import {
  type NumericDType,
  type Plan,
  type PlanCall,
  type PlanTensor,
  type ScalarProgram,
  sameShape,
  Uses,
} from '@eagre/backend';
import { isKnownMaker, type Known, readingUntiled, simplerCall } from './identities.ts';
import { isValueOf, ProgramWriter, programKey, roundedFloat } from './program.ts';
import { isNumeric, isScalarCall, numberAttr, type ScalarCall } from './tensors.ts';

/** What every element of a temporary is. */
export interface Constant {
  readonly dtype: NumericDType;
  readonly value: number;
  /** The name of the call that filled it. */
  readonly name: string;
}

/** The temporaries of a plan that Fill writes, where the number is exactly a value of the dtype. */
export function constantsOf(plan: Plan): ReadonlyMap<number, Constant> {
  const { states } = new Uses(plan);
  const constants = new Map<number, Constant>();
  for (const call of plan.calls) noteFill(call, states, constants);
  return constants;
}

function noteFill(
  { kernel, outputs: [output], attrs, name }: PlanCall,
  states: ReadonlySet<number>,
  constants: Map<number, Constant>,
): void {
  if (kernel !== 'Fill' || states.has(output.value)) return;
  const value = numberAttr(attrs['value']);
  const { dtype } = output;
  if (value === undefined || !isNumeric(dtype) || !isValueOf(dtype, value)) return;
  constants.set(output.value, { dtype, value: roundedFloat(dtype, value), name });
}

/**
 * Simplifies calls by themselves: what Fill made becomes a constant of the programs that read it, inputs that are the same tensor become
 * one, and a program that is left with nothing to compute becomes a Fill or a Copy; other kernels follow the rules of `kernelRules`.
 */
export function foldConstants(plan: Plan): Plan {
  const uses = new Uses(plan);
  const constants = new Map<number, Constant>();
  const makers = new Map<number, { readonly call: PlanCall; readonly at: number }>();
  const calls = plan.calls.map((original, at) => {
    const known: Known = {
      constant: (tensor) => constantOf(tensor, constants),
      maker: ({ value, shape }) => {
        const made = makers.get(value);
        if (made === undefined || !sameShape(made.call.outputs[0].shape, shape)) return undefined;
        const changed = made.call.inputs.some((input) => uses.writtenWithin(input.value, made.at, at));
        return changed ? undefined : made.call;
      },
    };
    const call = isScalarCall(original)
      ? simplified(readingUntiled(original, known), constants)
      : simplerCall(original, known);
    noteFill(call, uses.states, constants);
    if (isKnownMaker(call) && !uses.states.has(call.outputs[0].value))
      makers.set(call.outputs[0].value, { call, at });
    return call;
  });
  return { ...plan, calls };
}

function constantOf(tensor: PlanTensor, constants: ReadonlyMap<number, Constant>): Constant | undefined {
  const constant = constants.get(tensor.value);
  return constant?.dtype === tensor.dtype && tensor.size > 0 ? constant : undefined;
}

function fill(call: PlanCall, value: number): PlanCall {
  return { ...call, kernel: 'Fill', inputs: [], attrs: { value } };
}

// Programs that are as simple as the rules make them, so long as their inputs are different tensors and no constants.
const simple = new WeakSet<ScalarProgram>();

function isSimple(call: ScalarCall, constants: ReadonlyMap<number, Constant>): boolean {
  const { inputs, kernel } = call;
  if (!simple.has(kernel)) return false;
  return inputs.every(
    (tensor, i) =>
      constantOf(tensor, constants) === undefined &&
      !inputs.some(
        (other, j) => j < i && other.value === tensor.value && sameShape(other.shape, tensor.shape),
      ),
  );
}

function simplified(call: ScalarCall, constants: ReadonlyMap<number, Constant>): PlanCall {
  if (isSimple(call, constants)) return call;
  const writer = new ProgramWriter();
  const tensors: PlanTensor[] = [];
  const known = new Map<string, number>();
  const args = call.inputs.map((tensor, i) => {
    const constant = constantOf(tensor, constants);
    if (constant !== undefined) return writer.constant(constant.dtype, constant.value);
    const key = `${tensor.value} ${tensor.shape}`;
    let node = known.get(key);
    if (node === undefined) {
      node = writer.input(call.kernel.inputs[i]);
      tensors.push(tensor);
      known.set(key, node);
    }
    return node;
  });
  const results = writer.inline(call.kernel, args);
  if (results.length === 1) {
    const value = writer.constantOf(results[0]);
    if (value !== undefined) return fill(call, value);
    const input = tensors[writer.inputOf(results[0]) ?? -1];
    // In place it would be a copy of a state to itself.
    if (input?.size === call.outputs[0].size && input.value !== call.outputs[0].value)
      return { ...call, kernel: 'Copy', inputs: [input], attrs: {} };
  }
  const { program, inputs } = writer.finish(results);
  if (programKey(program) === programKey(call.kernel)) {
    if (tensors.length === call.inputs.length) simple.add(call.kernel);
    return call;
  }
  return { ...call, kernel: program, inputs: inputs.map((i) => tensors[i]) };
}

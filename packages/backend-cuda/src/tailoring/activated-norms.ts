// Batch normalization that merges the parts of its sums in the launch that makes them, adds what is added to its result and applies relu, and its gradient that looks where relu let the gradient through.
import { isHalf, type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { activatedBatchNorm, activatedBatchNormGrad } from '@eagre/gpu-kernels';
import {
  isMadeBefore,
  type MakeOwn,
  mayComeEarlier,
  programOfCall,
  readerOf,
  textOf,
  writerOf,
} from './plans.ts';

/** What is done to a result in the call that reads it. */
interface Activation {
  readonly at: number;
  readonly output: PlanTensor;
  readonly summand: PlanTensor | undefined;
  readonly hasRelu: boolean;
}

/** How a value in 16 bits, or in float32, is seen by programs, and what they make of a result. */
function forms({ dtype }: PlanTensor): { seen: (x: string) => string; made: (x: string) => string } {
  return isHalf(dtype)
    ? { seen: (x) => `float32(${x})`, made: (x) => `${dtype}(${x})` }
    : { seen: (x) => x, made: (x) => x };
}

export function activateNorms(plan: Plan, make: MakeOwn): Plan {
  const uses = new Uses(plan);
  const gone = new Set<number>();
  /** By the value of the result behind relu: the call that makes it without a summand, and its place. */
  const activated = new Map<number, { readonly call: PlanCall; readonly at: number }>();
  const calls = plan.calls.map((call, at): PlanCall => {
    const { attrs, name } = call;
    const epsilon = attrs['epsilon'] as number;
    if (call.kernel === 'FusedBatchNorm') {
      const [y, ...statistics] = call.outputs;
      const activation = activationOf(plan, uses, y, at);
      const { summand, output, hasRelu } = activation ?? { summand: undefined, output: y, hasRelu: false };
      const inputs = [...call.inputs, ...(summand === undefined ? [] : [summand])];
      const made = activatedBatchNorm(inputs, epsilon, hasRelu);
      if (made === undefined) return call;
      if (activation !== undefined) gone.add(activation.at);
      if (activation !== undefined && summand === undefined) activated.set(output.value, { call, at });
      return make({ inputs, outputs: [output, ...statistics], name }, 'FusedBatchNorm', made);
    }
    if (call.kernel === 'FusedBatchNormGrad') {
      const relu = reluGradOf(plan, uses, call.inputs[0], at);
      const summed = relu === undefined ? summedReluGradOf(plan, uses, call.inputs[0], at) : undefined;
      if (summed !== undefined) {
        const { dy, y, summand, output } = summed;
        const inputs = [dy, ...call.inputs.slice(1), y, summand];
        const made = activatedBatchNormGrad(inputs, epsilon, 'sum');
        if (made === undefined) return call;
        gone.add(summed.at);
        const outputs = [...call.outputs, output];
        return make({ inputs, outputs, name }, 'FusedBatchNormGrad', made);
      }
      if (relu === undefined) {
        const made = activatedBatchNormGrad(call.inputs, epsilon, 'all');
        return made === undefined
          ? call
          : make({ inputs: call.inputs, outputs: call.outputs, name }, 'FusedBatchNormGrad', made);
      }
      const { dy, y } = relu;
      const forward = activated.get(y.value);
      const offset = forward && offsetOf(uses, forward.call, forward.at, call, at);
      const inputs = [dy, ...call.inputs.slice(1), offset ?? y];
      const made = activatedBatchNormGrad(inputs, epsilon, offset === undefined ? 'y' : 'offset');
      if (made === undefined) return call;
      gone.add(relu.at);
      return make({ inputs, outputs: call.outputs, name }, 'FusedBatchNormGrad', made);
    }
    return call;
  });
  return { ...plan, calls: calls.filter((_, at) => !gone.has(at)) };
}

function activationOf(plan: Plan, uses: Uses, y: PlanTensor, at: number): Activation | undefined {
  const reader = readerOf(plan, uses, y.value);
  const program = reader && programOfCall(reader.call);
  if (reader === undefined || program === undefined || reader.call.outputs.length !== 1) return undefined;
  const { inputs, outputs } = reader.call;
  const [output] = outputs;
  if (output.dtype !== y.dtype || !mayComeEarlier(uses, output.value)) return undefined;
  if (output.size !== y.size || inputs.some(({ size }) => size !== y.size)) return undefined;
  const { seen, made } = forms(y);
  const text = textOf(program);
  const own = { at: reader.at, output: { ...output, shape: y.shape } };
  if (text === made(`max(0,${seen('x0')})`)) return { ...own, summand: undefined, hasRelu: true };
  const sum = made(`add(${seen('x0')},${seen('x1')})`);
  const hasRelu = text === made(`max(0,${seen(sum)})`);
  if (!hasRelu && text !== sum) return undefined;
  const other = inputs.find(({ value }) => value !== y.value);
  if (other === undefined || other.dtype !== y.dtype || !isMadeBefore(uses, other.value, at))
    return undefined;
  return { ...own, summand: { ...other, shape: y.shape }, hasRelu };
}

/** The call that makes a gradient of so many values like it, which are there before `reader` too, and what it computes, as text. */
function makerOf(
  plan: Plan,
  uses: Uses,
  gradient: PlanTensor,
  count: number,
  reader: number,
): { at: number; inputs: readonly PlanTensor[]; text: string } | undefined {
  const writer = writerOf(plan, uses, gradient.value);
  const program = writer && programOfCall(writer.call);
  if (writer === undefined || program === undefined) return undefined;
  const { inputs, outputs } = writer.call;
  const { size, dtype, shape } = gradient;
  const isAlike = (input: PlanTensor): boolean => input.size === size && input.dtype === dtype;
  if (inputs.length !== count || outputs.length !== 1 || !inputs.every(isAlike)) return undefined;
  if (!inputs.every(({ value }) => isMadeBefore(uses, value, reader))) return undefined;
  return { at: writer.at, inputs: inputs.map((input) => ({ ...input, shape })), text: textOf(program) };
}

/** The call that makes the gradient before relu of that behind it and of the result, where nothing else reads the one. */
function reluGradOf(
  plan: Plan,
  uses: Uses,
  gradient: PlanTensor,
  reader: number,
): { at: number; dy: PlanTensor; y: PlanTensor } | undefined {
  const maker = makerOf(plan, uses, gradient, 2, reader);
  if (maker === undefined || readerOf(plan, uses, gradient.value)?.at !== reader) return undefined;
  const { at, inputs, text } = maker;
  const { seen, made } = forms(gradient);
  const place = [0, 1].find((i) => text === made(`select(gt(${seen(`x${1 - i}`)},0),${seen(`x${i}`)},0)`));
  return place === undefined ? undefined : { at, dy: inputs[place], y: inputs[1 - place] };
}

/** The same of a gradient that is a sum, and that others may read later too. */
function summedReluGradOf(
  plan: Plan,
  uses: Uses,
  gradient: PlanTensor,
  reader: number,
): { at: number; dy: PlanTensor; y: PlanTensor; summand: PlanTensor; output: PlanTensor } | undefined {
  const maker = makerOf(plan, uses, gradient, 3, reader);
  // Who reads it first makes it.
  if (maker === undefined || uses.readers[gradient.value][0] !== reader) return undefined;
  const { at, inputs, text } = maker;
  const { seen, made } = forms(gradient);
  const result = [0, 1, 2].find((i) => {
    const [a, b] = [0, 1, 2].filter((other) => other !== i);
    const sum = seen(made(`add(${seen(`x${a}`)},${seen(`x${b}`)})`));
    return text === made(`select(gt(${seen(`x${i}`)},0),${sum},0)`);
  });
  if (result === undefined) return undefined;
  const [dy, summand] = inputs.filter((_, i) => i !== result);
  return { at, dy, y: inputs[result], summand, output: gradient };
}

/** The offset of a call that normalized, where its gradient knows all that its result was computed from. */
function offsetOf(
  uses: Uses,
  forward: PlanCall,
  at: number,
  gradient: PlanCall,
  reader: number,
): PlanTensor | undefined {
  const [x, scale, offset] = forward.inputs;
  const [, mean, variance] = forward.outputs;
  const isSame = [x, scale, mean, variance].every(({ value }, i) => value === gradient.inputs[i + 1].value);
  const isKept = [x, scale, offset].every(({ value }) => !uses.writtenWithin(value, at, reader));
  return isSame && isKept && forward.attrs['epsilon'] === gradient.attrs['epsilon'] ? offset : undefined;
}

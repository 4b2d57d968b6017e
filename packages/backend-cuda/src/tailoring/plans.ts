// What the passes look at and change in plans.
import {
  callsHost,
  dtypeOfValue,
  isHalf,
  type NumericDType,
  type Plan,
  type PlanCall,
  type PlanTensor,
  type ScalarProgram,
  scalarProgramLimits,
  Uses,
} from '@eagre/backend';
import { type Instead, type Lowered, partOfProgram } from '@eagre/gpu-kernels';

/** Makes a call of dispatches; its operands are the inputs, then the outputs. */
export type MakeOwn = (
  call: Pick<PlanCall, 'inputs' | 'outputs' | 'name'>,
  title: string,
  made: Lowered,
) => PlanCall;

/** What a pass may ask of the GPU. */
export interface Gpu {
  readonly capability: number;
  /** Whether kernels are compiled, or can be, and compute with all bits. */
  readonly runs: (made: Instead) => boolean;
}

/** A pass over the calls of a plan, outside of branches and loops. */
export type Tailoring = (plan: Plan, make: MakeOwn, gpu: Gpu) => Plan;

export function programOfCall({ kernel }: PlanCall): ScalarProgram | undefined {
  return typeof kernel === 'string' ? undefined : kernel;
}

/** The call that alone writes a value, which is no state. */
export function writerOf(plan: Plan, uses: Uses, value: number): { call: PlanCall; at: number } | undefined {
  const [at, ...more] = uses.writers[value];
  if (at === undefined || more.length > 0 || uses.states.has(value)) return undefined;
  return { call: plan.calls[at], at };
}

/** The tensor of 16 bits of which `wide`, which the call at `reader` reads, is the same in float32; undefined where there is none. */
export function narrowOf(plan: Plan, uses: Uses, wide: PlanTensor, reader: number): PlanTensor | undefined {
  if (wide.dtype !== 'float32') return undefined;
  const writer = writerOf(plan, uses, wide.value);
  const program = writer && programOfCall(writer.call);
  if (writer === undefined || program === undefined) return undefined;
  const { inputs, outputs } = writer.call;
  const made = outputs.findIndex(({ value }) => value === wide.value);
  const cast = program.instrs[program.outputs[made] - program.inputs.length];
  if (cast?.op !== 'cast' || !isHalf(dtypeOfValue(program, cast.args[0]))) return undefined;
  const [from] = cast.args;
  const source = from < inputs.length ? inputs[from] : outputs[program.outputs.indexOf(from)];
  if (source === undefined || source.size !== wide.size) return undefined;
  const isLater = from >= inputs.length || !outputs.some(({ value }) => value === source.value);
  if (!isLater || uses.writtenWithin(source.value, writer.at, reader)) return undefined;
  return { ...source, shape: wide.shape };
}

/** The same plan, in which scalar programs also give the 16 bits that results for some calls are cast from: for `narrowOf` to find. Those that nobody reads do not stay. */
export function withNarrow(plan: Plan, isFor: (call: PlanCall) => boolean): Plan {
  const uses = new Uses(plan);
  const bytes = [...plan.bytes];
  const calls = plan.calls.map((call): PlanCall => {
    const program = programOfCall(call);
    if (program === undefined) return call;
    const { inputs, instrs } = program;
    const [outputs, results] = [[...program.outputs], [...call.outputs]];
    call.outputs.forEach((result, i) => {
      const cast = instrs[program.outputs[i] - inputs.length];
      if (result.dtype !== 'float32' || cast?.op !== 'cast' || outputs.length === scalarProgramLimits.outputs)
        return;
      const [from] = cast.args;
      const dtype = dtypeOfValue(program, from);
      if (from < inputs.length || outputs.includes(from) || !isHalf(dtype)) return;
      if (!uses.readers[result.value].some((at) => isFor(plan.calls[at]))) return;
      outputs.push(from);
      results.push({ ...result, dtype, value: bytes.push(2 * result.size) - 1 });
    });
    if (results.length === call.outputs.length) return call;
    return { ...call, kernel: { ...program, outputs }, outputs: results };
  });
  return { ...plan, bytes, calls };
}

/** What a value of float32 becomes in 16 bits, and the calls that then do the rest of what its reader did with it. */
interface Narrowed {
  readonly output: PlanTensor;
  readonly calls: readonly PlanCall[];
}

/** A value whose only reader, a call of a scalar program, rounds it to 16 bits before anything else; undefined where that does something else with it. */
export function narrowed(
  uses: Uses,
  call: PlanCall,
  wide: PlanTensor,
  dtype: NumericDType,
): Narrowed | undefined {
  const program = programOfCall(call);
  const isOwn = ({ value }: PlanTensor): boolean => value === wide.value;
  const own = call.inputs.findIndex(isOwn);
  if (program === undefined || call.inputs.filter(isOwn).length !== 1) return undefined;
  if (call.inputs[own].size !== wide.size || program.outputs.includes(own)) return undefined;
  const first = program.inputs.length;
  const isCast = (id: number): boolean => {
    const instr = program.instrs[id - first];
    return instr?.op === 'cast' && instr.args[0] === own && instr.dtype === dtype;
  };
  if (!program.instrs.every(({ args }, i) => !args.includes(own) || isCast(first + i))) return undefined;
  // The rounded value itself may be a result of the reader.
  const rounded = call.outputs.filter((_, i) => isCast(program.outputs[i]));
  if (rounded.length > 1 || !rounded.every(({ value }) => mayComeEarlier(uses, value))) return undefined;
  const output = { ...(rounded[0] ?? { ...wide, dtype }), shape: wide.shape };
  const places = call.outputs.flatMap((_, i) => (isCast(program.outputs[i]) ? [] : [i]));
  if (places.length === 0) return { output, calls: [] };
  const known = (id: number): number => (isCast(id) ? own : id);
  const whole: ScalarProgram = {
    inputs: program.inputs.map((each, i) => (i === own ? dtype : each)),
    instrs: program.instrs.map((instr, i) =>
      isCast(first + i) ? instr : { ...instr, args: instr.args.map(known) },
    ),
    outputs: program.outputs,
  };
  const { program: kernel, inputs } = partOfProgram(whole, places);
  const given = inputs.map((i) => (i === own ? { ...output, shape: call.inputs[i].shape } : call.inputs[i]));
  return {
    output,
    calls: [{ ...call, kernel, inputs: given, outputs: places.map((i) => call.outputs[i]) }],
  };
}

/** The input and the factor of a scalar program that rounds an input, or that times a number, to 16 bits. */
export function scaledCast(call: PlanCall): { input: PlanTensor; factor: number | undefined } | undefined {
  const program = programOfCall(call);
  if (program === undefined || program.inputs.length !== 1 || program.outputs.length !== 1) return undefined;
  const { instrs, outputs } = program;
  const [input] = call.inputs;
  const of = (id: number): (typeof instrs)[number] | undefined => instrs[id - 1];
  const cast = of(outputs[0]);
  if (cast?.op !== 'cast' || !isHalf(cast.dtype) || input.size !== call.outputs[0].size) return undefined;
  const [from] = cast.args;
  if (from === 0) return { input, factor: undefined };
  const product = of(from);
  if (product?.op !== 'mul' || product.dtype !== 'float32') return undefined;
  const [a, b] = product.args;
  const factor = of(a === 0 ? b : a);
  if ((a !== 0 && b !== 0) || factor?.op !== 'const') return undefined;
  return { input, factor: factor.value };
}

/** Whether a call rounds numbers of float32 to 16 bits, and does nothing else. */
export function isCastOf(call: PlanCall): boolean {
  const cast = scaledCast(call);
  return cast !== undefined && cast.factor === undefined && cast.input.dtype === 'float32';
}

/** What a program of one result computes, as text by which it is recognized: inputs are x0, x1, …; of two that may change places the longer one comes last. */
export function textOf({ inputs, instrs, outputs }: ScalarProgram): string {
  const text = (id: number): string => {
    const instr = instrs[id - inputs.length];
    if (instr === undefined) return `x${id}`;
    const { op, dtype, args, value } = instr;
    if (op === 'const') return Object.is(value, -0) ? '-0' : String(value);
    const operands = args.map(text);
    if (op === 'add' || op === 'mul' || op === 'max')
      operands.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    return `${op === 'cast' ? dtype : op}(${operands.join()})`;
  };
  return outputs.length === 1 ? text(outputs[0]) : '';
}

/** The only call that reads a value, which only calls of the plan see. */
export function readerOf(plan: Plan, uses: Uses, value: number): { call: PlanCall; at: number } | undefined {
  const [at, ...more] = uses.readers[value];
  if (at === undefined || more.length > 0 || !uses.isTemporary(value)) return undefined;
  return { call: plan.calls[at], at };
}

/** Whether the only call that writes a value may be an earlier one: of a state calls between them see what it was. */
export function mayComeEarlier(uses: Uses, value: number): boolean {
  return uses.writers[value].length === 1 && !uses.states.has(value);
}

/** Whether a value is written once, before a call. */
export function isMadeBefore(uses: Uses, value: number, at: number): boolean {
  return uses.writers[value].every((writer) => writer < at) && !uses.states.has(value);
}

/** The two tensors like `sum` that a call of a scalar program adds up to it and does nothing else, and its place, where a later call can add them itself. */
export function summandsOf(
  plan: Plan,
  uses: Uses,
  sum: PlanTensor,
  reader: number,
): { readonly summands: readonly PlanTensor[]; readonly at: number } | undefined {
  const writer = writerOf(plan, uses, sum.value);
  const program = writer && programOfCall(writer.call);
  if (writer === undefined || program === undefined) return undefined;
  const { inputs: summands } = writer.call;
  const isAlike = ({ value, dtype, size }: PlanTensor): boolean =>
    dtype === sum.dtype && size === sum.size && isMadeBefore(uses, value, reader);
  const text = isHalf(sum.dtype) ? `${sum.dtype}(add(float32(x0),float32(x1)))` : 'add(x0,x1)';
  return textOf(program) === text && summands.every(isAlike) ? { summands, at: writer.at } : undefined;
}

/** Without calls of kernels whose results nobody reads, and without such results of scalar programs. */
export function withoutDead(plan: Plan): Plan {
  const needed = new Set([...plan.outputs, ...plan.states.map(({ value }) => value)]);
  const calls: PlanCall[] = [];
  for (const call of [...plan.calls].reverse()) {
    const kept = callsHost(call) ? call : withResults(call, needed);
    if (kept === undefined) continue;
    for (const { value } of kept.inputs) needed.add(value);
    calls.push(kept);
  }
  return { ...plan, calls: calls.reverse() };
}

function withResults(call: PlanCall, needed: ReadonlySet<number>): PlanCall | undefined {
  const places = call.outputs.flatMap(({ value }, i) => (needed.has(value) ? [i] : []));
  if (places.length === 0) return undefined;
  const program = programOfCall(call);
  if (program === undefined || places.length === call.outputs.length) return call;
  const { program: kernel, inputs } = partOfProgram(program, places);
  return {
    ...call,
    kernel,
    inputs: inputs.map((i) => call.inputs[i]),
    outputs: places.map((i) => call.outputs[i]),
  };
}

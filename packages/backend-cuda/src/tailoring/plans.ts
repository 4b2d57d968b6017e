// What the passes look at and change in plans.
import {
  callsHost,
  dtypeOfValue,
  isHalf,
  type Plan,
  type PlanCall,
  type PlanTensor,
  type ScalarProgram,
  type Uses,
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

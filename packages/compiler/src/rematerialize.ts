import {
  dtypeTraits,
  type Plan,
  type PlanCall,
  type PlanTensor,
  type ScalarProgram,
  Uses,
} from '@eagre/backend';
import { inlineCall } from './duplicates.ts';
import { repeatsLong, widthOf } from './patterns/reductions.ts';
import { cheapInstrs, ProgramWriter } from './program.ts';
import { isScalarCall, reshaped, type ScalarCall } from './tensors.ts';

const MAX_INSTRS = 2;
// Inputs of less than this part of the result cost nothing to read.
const SMALL = 16;

/**
 * Lets scalar programs compute anew what another made cheaply of one large input, such as x − mean(x): to read the input costs the
 * same as to read the result, which then need not be written. Only where all readers are scalar programs, or reductions that the
 * program takes in; the states that it reads must not change before its readers.
 */
export function recomputeCheapResults(plan: Plan): Plan {
  const uses = new Uses(plan);
  const calls: (PlanCall | undefined)[] = [...plan.calls];
  plan.calls.forEach((_, at) => {
    for (let k = (calls[at]?.outputs.length ?? 0) - 1; k >= 0; k--) recompute(uses, calls, at, k);
  });
  return { ...plan, calls: calls.filter((call) => call !== undefined) };
}

/** Lets the readers of output k of a call compute it; without readers it is no output any more. */
function recompute(uses: Uses, calls: (PlanCall | undefined)[], at: number, k: number): void {
  const call = calls[at];
  if (call === undefined || !isScalarCall(call)) return;
  const { value } = call.outputs[k];
  const readers = uses.readers[value];
  if (!uses.isTemporary(value) || readers.length === 0) return;
  const part = partOf(call, k);
  if (!isCheap(part)) return;
  if (part.inputs.some(({ value }) => uses.writtenWithin(value, at - 1, readers[readers.length - 1]))) return;
  const changed = new Map<number, PlanCall>();
  for (const reader of readers) {
    const target = calls[reader];
    if (target === undefined) return;
    if (isReduction(target)) continue;
    const inlined = isScalarCall(target) ? computing(target, part) : undefined;
    if (inlined === undefined) return;
    changed.set(reader, inlined);
  }
  for (const [reader, inlined] of changed) calls[reader] = inlined;
  if (changed.size === readers.length) calls[at] = without(call, k);
}

/** The call that makes output k only. */
function partOf(call: ScalarCall, k: number): ScalarCall {
  return withResults(call, [k]);
}

function without(call: ScalarCall, k: number): ScalarCall | undefined {
  const rest = call.outputs.map((_, i) => i).filter((i) => i !== k);
  return rest.length === 0 ? undefined : withResults(call, rest);
}

function withResults(call: ScalarCall, wanted: readonly number[]): ScalarCall {
  const writer = new ProgramWriter();
  const args = call.kernel.inputs.map((dtype) => writer.input(dtype));
  const results = writer.inline(call.kernel, args);
  const { program, inputs } = writer.finish(wanted.map((i) => results[i]));
  return {
    ...call,
    kernel: program,
    inputs: inputs.map((i) => call.inputs[i]),
    outputs: wanted.map((i) => call.outputs[i]),
  };
}

/** The reader computing by itself what `part` makes; undefined where shapes or limits forbid it. */
function computing(reader: ScalarCall, part: ScalarCall): ScalarCall | undefined {
  const [{ size, shape }] = part.outputs;
  if (reader.outputs[0].size !== size) return undefined;
  // A program writes only over what it reads in one way.
  if (part.inputs.some((input) => reader.outputs.some(({ value }) => value === input.value)))
    return undefined;
  const flat = reader.inputs.every((input) => input.size === size || input.size === 1);
  // What is repeated may have more axes than that shape.
  const over = (tensor: PlanTensor): PlanTensor =>
    flat ? reshaped(tensor, tensor.size === size ? shape : []) : tensor;
  return inlineCall({ ...reader, inputs: reader.inputs.map(over), outputs: reader.outputs.map(over) }, part);
}

/** Whether to compute it costs no more than to read its result. */
function isCheap({ kernel, inputs, outputs: [made] }: ScalarCall): boolean {
  const { size, dtype } = made;
  if (instrsOf(kernel) > MAX_INSTRS || !inputs.every((input) => repeatsLong(input, made))) return false;
  const [first, ...others] = inputs.filter((input) => input.size * SMALL > size);
  return (
    first === undefined || (others.length === 0 && dtypeTraits[first.dtype].bytes <= dtypeTraits[dtype].bytes)
  );
}

/** As `cheapInstrs`, but the division of floats, which is fast beside memory, counts as cheap. */
function instrsOf(program: ScalarProgram): number {
  const rest = program.instrs.filter(({ op, dtype }) => op !== 'div' || !dtypeTraits[dtype].floating);
  return cheapInstrs({ ...program, instrs: rest }) + program.instrs.length - rest.length;
}

function isReduction(call: PlanCall): boolean {
  switch (call.kernel) {
    case 'Sum':
    case 'Mean':
    case 'Prod':
    case 'Max':
    case 'Min':
      return widthOf(call) !== undefined;
    default:
      return false;
  }
}

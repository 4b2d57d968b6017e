import { type Plan, type PlanCall, type PlanTensor, sameShape, Uses } from '@eagre/backend';
import { cheapInstrs, fitsTile, ProgramWriter } from './program.ts';
import { isScalarCall, reshaped, type ScalarCall } from './tensors.ts';

// Computing this many elements takes about as long as a call.
const MAX_REPEATED = 8192;
const MAX_INSTRS = 2;

/**
 * Moves a small cheap scalar program into all its readers, if those are scalar programs over which its result is repeated: each
 * element is then computed several times, but a call is saved. The states that it reads must not change before its readers.
 */
export function repeatCheapCalls(plan: Plan): Plan {
  const uses = new Uses(plan);
  const calls: (PlanCall | undefined)[] = [...plan.calls];
  plan.calls.forEach((_, at) => {
    const call = calls[at];
    if (call === undefined || !isScalarCall(call) || call.outputs.length !== 1) return;
    const instrs = cheapInstrs(call.kernel);
    const value = call.outputs[0].value;
    const readers = uses.readers[value];
    if (instrs > MAX_INSTRS || !uses.isTemporary(value) || readers.length === 0) return;
    const last = readers[readers.length - 1];
    if (call.inputs.some((input) => uses.writtenWithin(input.value, at, last))) return;
    const changed = new Map<number, PlanCall>();
    for (const reader of readers) {
      const target = calls[reader];
      if (target === undefined || !isScalarCall(target)) return;
      const { size } = target.outputs[0];
      if (size <= call.outputs[0].size || size * instrs > MAX_REPEATED) return;
      const inlined = inlineCall(target, call);
      if (inlined === undefined) return;
      changed.set(reader, inlined);
    }
    // The inputs' readers change, but not which states are written, and only those matter here.
    calls[at] = undefined;
    for (const [reader, inlined] of changed) calls[reader] = inlined;
  });
  return { ...plan, calls: calls.filter((call) => call !== undefined) };
}

/** The reader with its input computed by itself; undefined where shapes or limits forbid it. */
export function inlineCall(reader: ScalarCall, producer: ScalarCall): ScalarCall | undefined {
  const [made] = producer.outputs;
  const writer = new ProgramWriter();
  const tensors: PlanTensor[] = [];
  const args: number[] = [];
  const add = (tensor: PlanTensor, dtype: ScalarCall['kernel']['inputs'][number]): number => {
    tensors.push(tensor);
    return writer.input(dtype);
  };
  for (const [i, tensor] of reader.inputs.entries()) {
    const dtype = reader.kernel.inputs[i];
    if (tensor.value !== made.value) {
      args.push(add(tensor, dtype));
      continue;
    }
    if (tensor.dtype !== made.dtype || tensor.size !== made.size) return undefined;
    const operands: number[] = [];
    for (const [j, input] of producer.inputs.entries()) {
      const seen = asSeenThrough(input, made, tensor);
      if (seen === undefined) return undefined;
      operands.push(add(seen, producer.kernel.inputs[j]));
    }
    args.push(...writer.inline(producer.kernel, operands));
  }
  const { program, inputs } = writer.finish(writer.inline(reader.kernel, args));
  const kept = inputs.map((i) => tensors[i]);
  const { size } = reader.outputs[0];
  const buffered = kept.map((tensor) => tensor.size !== size);
  if (!fitsTile(program, buffered)) return undefined;
  return { ...reader, kernel: program, inputs: kept, name: `${producer.name}+${reader.name}` };
}

/** The input of a program whose result `made` is read as `view`: under the shape that broadcasts with the view. */
function asSeenThrough(input: PlanTensor, made: PlanTensor, view: PlanTensor): PlanTensor | undefined {
  if (input.size === made.size) return reshaped(input, view.shape);
  if (input.size === 1) return reshaped(input, []);
  return sameShape(made.shape, view.shape) ? input : undefined;
}

// Matrices of 16 bits whose lines tensor cores cannot bring, written with a pitch instead of copied by each product; and cross-entropy that reads and writes 16
// bits, as logits and their gradients are the largest of them.
import { isHalf, type KernelName, type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import {
  isWorthPitching,
  narrowCrossEntropy,
  pitchedLines,
  pitchedMatmul,
  pitchWanted,
} from '@eagre/gpu-kernels';
import { isCastOf, type MakeOwn, mayComeEarlier, narrowOf, scaledCast, writerOf } from './plans.ts';

const LOSS: KernelName = 'SparseSoftmaxCrossEntropyWithLogits';

/** A matrix with a pitch. */
interface Pitched {
  readonly pitch: number;
  readonly lines: number;
  readonly run: number;
  readonly dtype: 'float16' | 'bfloat16';
}

export function pitchLines(plan: Plan, make: MakeOwn): Plan {
  const uses = new Uses(plan);
  const pitched = pitchedValues(plan, uses);
  const bytes = [...plan.bytes];
  /** By value: the one that has its copy. */
  const copies = new Map<number, number>();
  const gone = new Set<number>();
  const replaced = new Map<number, PlanCall>();
  plan.calls.forEach((call, at) => {
    if (call.kernel === LOSS) {
      const loss = narrowLoss(plan, uses, call, at, pitched, make);
      if (loss === undefined) return;
      replaced.set(at, loss.call);
      if (loss.takes !== undefined) gone.add(loss.takes);
    }
  });
  const calls = plan.calls.flatMap((call, at): PlanCall[] => {
    if (gone.has(at)) return [];
    const own = replaced.get(at);
    if (own !== undefined) {
      for (const { value } of own.outputs) widen(bytes, pitched, value);
      return [own];
    }
    if (call.kernel === 'MatMul') return [multiplied(call, pitched, copies, make)];
    const [output] = call.outputs;
    const lines = output && pitched.get(output.value);
    if (lines === undefined) return [call];
    const isCast = isCastOf(call);
    const target = isCast ? output : { ...output, value: bytes.push(0) - 1 };
    if (isCast) widen(bytes, pitched, output.value);
    else {
      copies.set(output.value, target.value);
      bytes[target.value] = bytesOf(lines);
    }
    const source = isCast ? call.inputs[0] : output;
    const copy = make(
      { inputs: [source], outputs: [target], name: call.name },
      'an elementwise function',
      pitchedLines(source.dtype, lines.dtype, lines.lines, lines.run),
    );
    return isCast ? [copy] : [call, copy];
  });
  return { ...plan, bytes, calls };
}

const bytesOf = ({ lines, pitch }: Pitched): number => 2 * lines * pitch;

function widen(bytes: number[], pitched: ReadonlyMap<number, Pitched>, value: number): void {
  const lines = pitched.get(value);
  if (lines !== undefined) bytes[value] = bytesOf(lines);
}

/** Those that only products read, each of which is worth it. */
function pitchedValues(plan: Plan, uses: Uses): ReadonlyMap<number, Pitched> {
  const found = new Map<number, Pitched>();
  const worth = new Map<PlanCall, boolean>();
  const isWorth = (call: PlanCall): boolean => {
    let is = worth.get(call);
    if (is === undefined) worth.set(call, (is = call.kernel === 'MatMul' && isWorthPitching(call)));
    return is;
  };
  plan.calls.forEach((call) => {
    for (const tensor of call.outputs) {
      const { value, dtype, size } = tensor;
      const readers = uses.readers[value].map((at) => plan.calls[at]);
      if (!isHalf(dtype) || !uses.isTemporary(value) || uses.writers[value].length !== 1) continue;
      if (readers.length === 0 || !readers.every(isWorth)) continue;
      const [first] = readers[0].inputs.filter((input) => input.value === value);
      const pitch = pitchWanted(first);
      const run = first.shape[first.shape.length - 1];
      // A bias is no matrix.
      const isSame = ({ shape }: PlanTensor): boolean => shape.length >= 2 && shape[shape.length - 1] === run;
      const all = readers.flatMap(({ inputs }) => inputs.filter((input) => input.value === value));
      if (pitch === undefined || !all.every(isSame) || size % run !== 0) continue;
      // A copy for one product it makes itself.
      if (readers.length === 1 && !writesPitched(plan, uses, call, tensor)) continue;
      found.set(value, { pitch, lines: size / run, run, dtype });
    }
  });
  // Products read both factors so, or neither.
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const value of [...found.keys()]) {
      const isRead = uses.readers[value].every((at) =>
        plan.calls[at].inputs
          .slice(0, 2)
          .every((input) => pitchWanted(input) === undefined || found.has(input.value)),
      );
      if (!isRead) found.delete(value);
    }
  }
  return found;
}

/** Whether a call can leave zeros behind the lines of its output itself. */
function writesPitched(plan: Plan, uses: Uses, call: PlanCall, output: PlanTensor): boolean {
  if (isCastOf(call)) return true;
  const from = scaledCast(call)?.input;
  const writer = from && writerOf(plan, uses, from.value);
  return (
    writer?.call.kernel === LOSS &&
    uses.readers[(from as PlanTensor).value].length === 1 &&
    narrowOf(plan, uses, writer.call.inputs[0], writer.at)?.dtype === output.dtype
  );
}

/** Cross-entropy of logits that were cast from 16 bits, with the call that rounds its gradients to 16 bits, where nobody else reads them. */
function narrowLoss(
  plan: Plan,
  uses: Uses,
  call: PlanCall,
  at: number,
  pitched: ReadonlyMap<number, Pitched>,
  make: MakeOwn,
): { call: PlanCall; takes: number | undefined } | undefined {
  const [logits, labels] = call.inputs;
  const [loss, gradient] = call.outputs;
  const narrow = narrowOf(plan, uses, logits, at);
  if (narrow === undefined) return undefined;
  const readers = uses.readers[gradient.value];
  const cast =
    uses.isTemporary(gradient.value) && readers.length === 1 ? scaledCast(plan.calls[readers[0]]) : undefined;
  const rounded = cast && plan.calls[readers[0]].outputs[0];
  const takes = rounded !== undefined && mayComeEarlier(uses, rounded.value) ? readers[0] : undefined;
  const written = takes === undefined ? gradient : { ...(rounded as PlanTensor), shape: gradient.shape };
  const run = gradient.shape[gradient.shape.length - 1];
  const inputs = [narrow, labels];
  const pitch = pitched.get(written.value)?.pitch ?? run;
  const made = narrowCrossEntropy(
    inputs,
    written,
    (takes === undefined ? undefined : cast?.factor) ?? 1,
    pitch,
  );
  if (made === undefined) return undefined;
  return { call: make({ inputs, outputs: [loss, written], name: call.name }, LOSS, made), takes };
}

function multiplied(
  call: PlanCall,
  pitched: ReadonlyMap<number, Pitched>,
  copies: ReadonlyMap<number, number>,
  make: MakeOwn,
): PlanCall {
  const [left, right] = call.inputs.map(({ value }) => pitched.get(value)?.pitch);
  if (left === undefined && right === undefined) return call;
  const { outputs, attrs, name } = call;
  const inputs = call.inputs.map((input) => ({ ...input, value: copies.get(input.value) ?? input.value }));
  const made = pitchedMatmul({ inputs, outputs, attrs }, [left, right]);
  // All sizes that are pitched fit.
  return make({ inputs, outputs, name }, 'MatMul', made as NonNullable<typeof made>);
}

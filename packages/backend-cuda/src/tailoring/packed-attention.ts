// Attention that reads query, key and value where one product has made them, and writes their gradients where another one reads them.
import { isHalf, type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { packedAttention } from '@eagre/gpu-kernels';
import { type Gpu, isMadeBefore, type MakeOwn, readerOf, writerOf } from './plans.ts';

export function packAttention(plan: Plan, make: MakeOwn, gpu: Gpu): Plan {
  const uses = new Uses(plan);
  const gone = new Set<number>();
  const calls = plan.calls.map((call, at): PlanCall => {
    const isGradient = call.kernel === 'ScaledDotProductAttentionGrad';
    if (!isGradient && call.kernel !== 'ScaledDotProductAttention') return call;
    const { attrs, name } = call;
    const first = isGradient ? 1 : 0;
    if (attrs['timeFirst'] !== true || !isHalf(call.inputs[first].dtype)) return call;
    const parts = partsOf(plan, uses, call.inputs.slice(first, first + 3), at);
    const joined = isGradient ? joinedBy(plan, uses, call.outputs) : undefined;
    if (parts === undefined && joined === undefined) return call;
    const inputs = [...call.inputs];
    if (parts !== undefined) inputs.splice(first, 3, ...parts);
    const outputs = joined === undefined ? call.outputs : [joined.output];
    const packed = { inputs: parts !== undefined, gradients: joined !== undefined };
    const instead = packedAttention({ inputs, outputs, attrs }, packed, gpu.capability);
    if (instead === undefined || !gpu.runs(instead)) return call;
    if (joined !== undefined) gone.add(joined.at);
    return make({ inputs, outputs, name }, call.kernel as string, { dispatches: [], scratch: [], instead });
  });
  return { ...plan, calls: calls.filter((_, at) => !gone.has(at)) };
}

/** The third of its width that each part [b, t, h, d] of a tensor [b, t, 3 · h · d] has, as views of that tensor; undefined where they are no such parts, in order. */
function partsOf(
  plan: Plan,
  uses: Uses,
  parts: readonly PlanTensor[],
  reader: number,
): readonly PlanTensor[] | undefined {
  let whole: PlanTensor | undefined;
  const views: PlanTensor[] = [];
  for (const [i, part] of parts.entries()) {
    const { call, at } = writerOf(plan, uses, part.value) ?? {};
    if (call?.kernel !== 'Slice' || at === undefined || part.shape.length !== 4) return undefined;
    const [source] = call.inputs;
    const width = part.shape[2] * part.shape[3];
    whole ??= source;
    const isThird =
      source.value === whole.value &&
      isTripled(source, part, width) &&
      isSame(call.attrs['begin'], [0, 0, i * width]) &&
      isSame(call.attrs['strides'], [1, 1, 1]);
    if (!isThird || uses.writtenWithin(source.value, at, reader)) return undefined;
    views.push({ ...part, value: source.value });
  }
  return areAlike(parts) ? views : undefined;
}

/** The call that joins gradients [b, t, h, d], which nothing else reads, and its output as a view like the first. */
function joinedBy(
  plan: Plan,
  uses: Uses,
  gradients: readonly PlanTensor[],
): { at: number; output: PlanTensor } | undefined {
  const readers = gradients.map(({ value }) => readerOf(plan, uses, value));
  const [first] = readers;
  if (first === undefined || readers.some((reader) => reader?.at !== first.at)) return undefined;
  const { call, at } = first;
  const [output] = call.outputs;
  const [gradient] = gradients;
  const width = gradient.shape[2] * gradient.shape[3];
  const isJoined =
    call.kernel === 'Concat' &&
    call.attrs['axis'] === 2 &&
    call.inputs.length === 3 &&
    call.inputs.every(({ value }, i) => value === gradients[i].value) &&
    isTripled(output, gradient, width) &&
    areAlike(gradients) &&
    isMadeBefore(uses, output.value, at + 1);
  return isJoined ? { at, output: { ...gradient, value: output.value } } : undefined;
}

const isSame = (value: unknown, wanted: readonly number[]): boolean =>
  Array.isArray(value) && value.length === wanted.length && wanted.every((each, i) => value[i] === each);
/** Whether a tensor is [b, t, 3 · width], as a part is [b, t, h, d]. */
const isTripled = ({ shape, dtype }: PlanTensor, part: PlanTensor, width: number): boolean =>
  dtype === part.dtype && isSame(shape, [part.shape[0], part.shape[1], 3 * width]);
const areAlike = ([first, ...others]: readonly PlanTensor[]): boolean =>
  others.every(({ shape }) => isSame(shape, first.shape));

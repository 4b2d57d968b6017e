import type { Plan, PlanCall, PlanTensor } from '@eagre/backend';
import { type Constant, constantsOf } from './constants.ts';
import { isSum } from './epilogues.ts';
import { isScalarCall, numberAttr, reshaped } from './tensors.ts';
import { Uses } from './uses.ts';

/**
 * Adds a row where it belongs: acc + y, where y is zeros but for one row and nobody else reads it, becomes a SetRow that adds to a row
 * of acc. So what a loop adds up row by row costs a row in each turn. The row is added where the sum was, over no call that writes
 * what it needs. A −0 in acc stays, which a sum with 0 would make 0.
 */
export function addRowsInPlace(plan: Plan): Plan {
  const uses = new Uses(plan);
  const constants = constantsOf(plan);
  const calls: (PlanCall | undefined)[] = [...plan.calls];
  plan.calls.forEach((call, at) => {
    if (!isScalarCall(call) || !isSum(call.kernel)) return;
    const [output] = call.outputs;
    for (const [i, y] of call.inputs.entries()) {
      const [source] = uses.writers[y.value];
      const acc = call.inputs[1 - i];
      const made = calls[source];
      if (made === undefined || source >= at || !uses.isTemporary(y.value)) continue;
      if (uses.readers[y.value].length !== 1 || y.value === acc.value) continue;
      if (acc.size !== output.size || y.size !== output.size || acc.dtype !== output.dtype) continue;
      const added = rowOf(made, constants);
      if (added === undefined || made.outputs[0].dtype !== output.dtype) continue;
      // What SetRow writes may be what it adds to, but nothing else that it reads.
      const needed = [added.index, added.row];
      if (needed.some(({ value }) => value === output.value || uses.writtenWithin(value, source, at)))
        continue;
      const { shape } = made.outputs[0];
      calls[source] = undefined;
      calls[at] = {
        kernel: 'SetRow',
        inputs: [reshaped(acc, shape), added.index, added.row],
        outputs: [reshaped(output, shape)],
        attrs: { mode: 1 },
        name: `${made.name}+${call.name}`,
      };
      return;
    }
  });
  return { ...plan, calls: calls.filter((call) => call !== undefined) };
}

interface Row {
  readonly index: PlanTensor;
  readonly row: PlanTensor;
}

/** What a call adds to zeros in one row; undefined for other calls. */
function rowOf(call: PlanCall, constants: ReadonlyMap<number, Constant>): Row | undefined {
  const { kernel, inputs, outputs, attrs } = call;
  if (kernel === 'SetRow') {
    const [zeros, index, row] = inputs;
    const isZero = Object.is(constants.get(zeros.value)?.value, 0);
    return isZero && numberAttr(attrs['mode']) === 1 ? { index, row } : undefined;
  }
  if (kernel !== 'GatherGrad') return undefined;
  const [row, index] = inputs;
  if (numberAttr(attrs['axis']) !== 0 || numberAttr(attrs['batchDims']) !== 0 || index.size !== 1)
    return undefined;
  const { shape } = outputs[0];
  return { index: reshaped(index, []), row: reshaped(row, shape.slice(1)) };
}

// Sums of columns, such as gradients of biases, in one launch; where a scalar program has made what they add up, that makes them.
import { list, type Plan, type PlanCall, type PlanTensor, product, Uses } from '@eagre/backend';
import { type ColumnMaker, summedColumns } from '@eagre/gpu-kernels';
import { type MakeOwn, mayComeEarlier, programOfCall, writerOf } from './plans.ts';

/** Of fewer rows, a thread adds up a column. */
const LEAST_ROWS = 32;

export function sumColumns(plan: Plan, make: MakeOwn): Plan {
  const uses = new Uses(plan);
  const gone = new Set<number>();
  const instead = new Map<number, PlanCall>();
  plan.calls.forEach((call, at) => {
    const inner = columnsOf(call);
    if (inner === undefined) return;
    const [x] = call.inputs;
    const [sums] = call.outputs;
    const maker = makerOf(plan, uses, x);
    if (maker !== undefined && !instead.has(maker.at) && mayComeEarlier(uses, sums.value)) {
      const { inputs, outputs, name } = maker.call;
      const made = summedColumns(x, inner, maker);
      if (made !== undefined) {
        gone.add(at);
        const joined = { inputs, outputs: [...outputs, sums], name: `${name}+${call.name}` };
        instead.set(maker.at, make(joined, 'an elementwise function', made));
        return;
      }
    }
    const made = summedColumns(x, inner);
    if (made?.dispatches.length === 1)
      instead.set(at, make({ inputs: [x], outputs: [sums], name: call.name }, 'Sum', made));
  });
  return {
    ...plan,
    calls: plan.calls.flatMap((call, at) => (gone.has(at) ? [] : (instead.get(at) ?? call))),
  };
}

/** How many columns a call adds up; undefined where it does something else, or has few rows. */
function columnsOf({ kernel, inputs: [x], outputs, attrs }: PlanCall): number | undefined {
  if (kernel !== 'Sum' || outputs[0].dtype !== x.dtype) return undefined;
  const axes = list(attrs['axes']);
  const isLeading = axes.length < x.shape.length && axes.every((axis, i) => axis === i);
  const rows = product(x.shape.slice(0, axes.length));
  return isLeading && rows >= LEAST_ROWS && x.size > 0 ? x.size / rows : undefined;
}

/** The call of a scalar program that makes a tensor of others like it, and which of its results that is. */
function makerOf(
  plan: Plan,
  uses: Uses,
  x: PlanTensor,
): (ColumnMaker & { readonly call: PlanCall; readonly at: number }) | undefined {
  const writer = writerOf(plan, uses, x.value);
  const program = writer && programOfCall(writer.call);
  if (writer === undefined || program === undefined) return undefined;
  const { inputs, outputs } = writer.call;
  const isAlike = ({ dtype, size }: PlanTensor): boolean => dtype === x.dtype && size === x.size;
  if (![...inputs, ...outputs].every(isAlike)) return undefined;
  return { ...writer, program, summed: outputs.findIndex(({ value }) => value === x.value) };
}

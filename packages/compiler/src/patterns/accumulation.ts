import { type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { type Constant, constantsOf } from '../constants.ts';
import { isScalarCall, numberAttr, reshaped } from '../tensors.ts';
import { isSum } from './epilogues.ts';

/**
 * Adds rows where they belong: acc + y, where y is zeros but for some rows and nobody else reads it, becomes calls that add to rows of
 * acc. So what a loop adds up row by row costs rows in each turn. They are added where the sum was, over no call that writes what they
 * need. A −0 in acc stays, which a sum with 0 would make 0. Several rows are added only in bodies, where it saves more than a copy: one
 * that comes twice is added to acc twice, which may round otherwise than its sum does.
 * @param inside whether the plan is a body of a loop or branch.
 */
export function addRowsInPlace(plan: Plan, inside: boolean): Plan {
  const bytes = [...plan.bytes];
  const uses = new Uses(plan);
  const constants = constantsOf(plan);
  const calls: (readonly PlanCall[])[] = plan.calls.map((call) => [call]);
  plan.calls.forEach((call, at) => {
    if (!isScalarCall(call) || !isSum(call.kernel)) return;
    const [output] = call.outputs;
    for (const [i, y] of call.inputs.entries()) {
      const acc = call.inputs[1 - i];
      if (acc.size !== output.size || y.size !== output.size || acc.dtype !== output.dtype) continue;
      if (y.value === acc.value || y.dtype !== output.dtype) continue;
      const rows = rowsOf(y, at, calls, uses, constants);
      if (rows === undefined) continue;
      const single = rows.length === 1 && rows[0]?.kernel === 'SetRow';
      if (!single && !inside) continue;
      // What is written may be what is added to, but nothing else that is read.
      const fits = rows.every(({ source, index, values }) =>
        [index, values].every(
          ({ value }) => value !== output.value && !uses.writtenWithin(value, source, at),
        ),
      );
      if (!fits) continue;
      for (const { source } of rows) calls[source] = [];
      calls[at] = inPlace(rows, acc, output, call.name, bytes, uses.states.has(output.value));
      return;
    }
  });
  return { ...plan, bytes, calls: calls.flat() };
}

/** Values that a call adds to rows of something. */
interface Rows {
  /** The call's place. */
  readonly source: number;
  readonly name: string;
  readonly kernel: 'SetRow' | 'ScatterNd';
  /** The shape that it sees. */
  readonly shape: readonly number[];
  readonly index: PlanTensor;
  readonly values: PlanTensor;
}

/** What calls have added to zeros to make y, of which nothing else is read; undefined if that is not what they did. */
function rowsOf(
  y: PlanTensor,
  before: number,
  calls: readonly (readonly PlanCall[])[],
  uses: Uses,
  constants: ReadonlyMap<number, Constant>,
): Rows[] | undefined {
  const [source] = uses.writers[y.value];
  if (source === undefined || source >= before || !uses.isTemporary(y.value)) return undefined;
  if (uses.readers[y.value].length !== 1) return undefined;
  // Several calls where a sum was.
  const steps = calls[source].map((step) => addedRows(step, source));
  if (steps.length === 0 || !steps.every((step) => step !== undefined)) return undefined;
  const rows = steps.map((step) => step.rows);
  const [{ base }] = steps;
  if (base === undefined || Object.is(constants.get(base.value)?.value, 0)) return rows;
  const inner = rowsOf(base, source, calls, uses, constants);
  return inner === undefined ? undefined : [...inner, ...rows];
}

/** What a call adds to rows of `base`, or of zeros; undefined for other calls. */
function addedRows(
  { kernel, inputs, outputs, attrs, name }: PlanCall,
  source: number,
): { readonly rows: Rows; readonly base: PlanTensor | undefined } | undefined {
  if (kernel === 'SetRow' || kernel === 'ScatterNd') {
    const [base, index, values] = inputs;
    if (numberAttr(attrs['mode']) !== 1) return undefined;
    const { shape } = base;
    if (kernel === 'SetRow' || index.size !== 1)
      return { rows: { source, name, kernel, shape, index, values }, base };
    const row = { index: reshaped(index, []), values: reshaped(values, shape.slice(1)) };
    return { rows: { source, name, kernel: 'SetRow', shape, ...row }, base };
  }
  if (kernel !== 'GatherGrad' || numberAttr(attrs['axis']) !== 0 || numberAttr(attrs['batchDims']) !== 0)
    return undefined;
  if (outputs[0].dtype !== inputs[0].dtype) return undefined;
  const [dy, given] = inputs;
  const { shape } = outputs[0];
  const one = given.size === 1;
  const index = reshaped(given, one ? [] : [given.size, 1]);
  const values = reshaped(dy, one ? shape.slice(1) : [given.size, ...shape.slice(1)]);
  return {
    rows: { source, name, kernel: one ? 'SetRow' : 'ScatterNd', shape, index, values },
    base: undefined,
  };
}

function inPlace(
  rows: readonly Rows[],
  acc: PlanTensor,
  output: PlanTensor,
  name: string,
  bytes: number[],
  isState: boolean,
): PlanCall[] {
  let from = acc;
  return rows.map(({ kernel, shape, index, values, name: own }, i) => {
    // A state is written again and again.
    const last = isState || i === rows.length - 1;
    const to = last ? output : { ...output, value: bytes.push(bytes[output.value]) - 1 };
    const call: PlanCall = {
      kernel,
      inputs: [reshaped(from, shape), index, values],
      outputs: [reshaped(to, shape)],
      attrs: { mode: 1 },
      name: `${own}+${name}`,
    };
    from = to;
    return call;
  });
}

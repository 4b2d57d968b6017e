import { type Plan, type PlanCall, type PlanTensor, sameShape, Uses } from '@eagre/backend';
import { listAttr, numberAttr, reshaped, substitute } from './tensors.ts';

interface Transposition {
  /** What is transposed, by a call at `at`. */
  readonly source: PlanTensor;
  readonly at: number;
  readonly perm: readonly number[];
  /** As the call writes it. */
  readonly shape: readonly number[];
}

/**
 * Moves less: a transpose of a transpose is one; one that only moves axes of size 1 is a copy; a transpose of the last two axes
 * that only matrix products read is done by them; and readers of a copy read the original. A state is read later than before only
 * where no call writes it in between.
 *
 * Native products of a transposed matrix may add in another order than those of a matrix.
 */
export function foldMovement(plan: Plan): Plan {
  const uses = new Uses(plan);
  const replaced = new Map<number, number>();
  const transposed = new Map<number, Transposition>();
  const calls: PlanCall[] = [];

  const found = (tensor: PlanTensor, at: number): Transposition | undefined => {
    const made = transposed.get(tensor.value);
    if (made === undefined || !sameShape(made.shape, tensor.shape)) return undefined;
    return uses.writtenWithin(made.source.value, made.at, at) ? undefined : made;
  };

  const transpose = (call: PlanCall, perm: readonly number[], at: number): PlanCall => {
    const [input] = call.inputs;
    const before = found(input, at);
    const source = before?.source ?? input;
    const whole = before === undefined ? perm : perm.map((axis) => before.perm[axis]);
    if (keepsOrder(whole, source.shape)) return { ...call, kernel: 'Copy', inputs: [source], attrs: {} };
    const [output] = call.outputs;
    if (!uses.states.has(output.value))
      transposed.set(output.value, { source, at, perm: whole, shape: output.shape });
    return before === undefined ? call : { ...call, inputs: [source], attrs: { perm: whole } };
  };

  const product = (call: PlanCall, at: number): PlanCall => {
    const inputs = [...call.inputs];
    const attrs = { ...call.attrs };
    for (const [i, name] of ['transposeA', 'transposeB'].entries()) {
      const made = found(inputs[i], at);
      if (made === undefined || !swapsLastTwo(made.perm) || !onlyProductsRead(plan, uses, inputs[i]))
        continue;
      inputs[i] = made.source;
      attrs[name] = numberAttr(attrs[name]) === 0;
    }
    return { ...call, inputs, attrs };
  };

  plan.calls.forEach((original, at) => {
    let call = substitute(original, replaced);
    const perm = call.kernel === 'Transpose' ? listAttr(call.attrs['perm']) : undefined;
    if (perm !== undefined) call = transpose(call, perm, at);
    else if (call.kernel === 'MatMul') call = product(call, at);
    if (call.kernel === 'Copy') {
      const from = call.inputs[0].value;
      const to = call.outputs[0].value;
      // A body's input must be as large as what it is given.
      const alike = plan.bytes[from] === plan.bytes[to];
      if (alike && uses.isTemporary(to) && !uses.writtenWithin(from, at, uses.lastReader(to))) {
        replaced.set(to, from);
        const made = transposed.get(from);
        if (made !== undefined) transposed.set(to, made);
        return;
      }
      call = { ...call, inputs: [reshaped(call.inputs[0], call.outputs[0].shape)] };
    }
    calls.push(call);
  });
  return { ...plan, calls };
}

/** Whether the elements lie in the same order afterwards. */
function keepsOrder(perm: readonly number[], shape: readonly number[]): boolean {
  const moved = perm.filter((axis) => shape[axis] !== 1);
  return moved.every((axis, i) => i === 0 || axis > moved[i - 1]);
}

function swapsLastTwo(perm: readonly number[]): boolean {
  const n = perm.length;
  return n >= 2 && perm.every((axis, i) => axis === (i < n - 2 ? i : 2 * n - 3 - i));
}

/** A transpose with other readers is made anyway, and then is there to be read. */
function onlyProductsRead(plan: Plan, uses: Uses, { value, shape }: PlanTensor): boolean {
  if (!uses.isTemporary(value)) return false;
  return uses.readers[value].every((reader) => {
    const { kernel, inputs } = plan.calls[reader];
    if (kernel !== 'MatMul' || inputs[2]?.value === value) return false;
    return inputs.every((input) => input.value !== value || sameShape(input.shape, shape));
  });
}

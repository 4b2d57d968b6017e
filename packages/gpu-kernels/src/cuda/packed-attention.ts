// Attention whose query, key and value are parts of one tensor [b, t, 3, h, d], as one product makes them.
import { paramsOf } from '../kernels/attention.ts';
import { type Call, fits, type Instead, TEMPORARY } from '../kernels/kernel.ts';
import { coreAttentionCall } from './attention-call.ts';
import type { CoreAttention } from './attention-steps.ts';

/**
 * A call of attention, or of its gradients, whose tensors of `packed` are views [b, t, h, d] of such tensors: all inputs of one, and the one output of another.
 * @returns undefined where tensor cores do not serve it
 */
export function packedAttention(
  { inputs, outputs, attrs }: Pick<Call, 'inputs' | 'outputs' | 'attrs'>,
  packed: CoreAttention['packed'],
  capability: number,
): Instead | undefined {
  const isGradient = outputs.length !== 2 || inputs.length > 4;
  const first = isGradient ? 1 : 0;
  const query = inputs[first];
  const masking = inputs[isGradient ? 6 : 3];
  const whole = { ...query, size: 3 * query.size };
  if (!fits(...inputs, ...outputs, whole) || inputs.some(({ size }) => size === 0)) return undefined;
  const output = inputs.length;
  const named = { query: first, key: first + 1, value: first + 2 };
  const mask = masking && { mask: isGradient ? 6 : 3 };
  const gradient = (i: number): number => (packed.gradients ? output : output + i);
  const operands = isGradient
    ? {
        dy: 0,
        ...named,
        y: 4,
        lse: 5,
        ...mask,
        dquery: gradient(0),
        dkey: gradient(1),
        dvalue: gradient(2),
        delta: TEMPORARY,
      }
    : { ...named, ...mask, y: output, lse: output + 1 };
  const made = coreAttentionCall(
    query.dtype,
    masking?.dtype,
    isGradient ? ['queryGradient', 'keyGradients'] : ['result'],
    operands,
    paramsOf({ inputs, attrs }, first, masking?.shape),
    packed,
  )?.(capability);
  if (made === undefined) return undefined;
  return { dispatches: made.dispatches, scratch: isGradient ? 4 * inputs[5].size : 0 };
}

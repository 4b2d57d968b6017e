import type { KernelName } from '../kernels.ts';
import { sameShape } from '../shape.ts';
import type { PlanCall, PlanTensor } from './plan.ts';

/** Kernels whose outputs are among their inputs. */
export const updates: ReadonlySet<string> = new Set<KernelName>([
  'ApplyGradientDescent',
  'ApplyMomentum',
  'ApplyRMSProp',
  'ApplyAdam',
]);

/** Whether two see their memory in the same way, so that a scalar program may write one over the other. */
function sameTensor(a: PlanTensor, b: PlanTensor): boolean {
  return a.dtype === b.dtype && sameShape(a.shape, b.shape);
}

/**
 * Whether a kernel may write `output` into the memory that it reads at all of these places among its inputs: a scalar program reads
 * each element before it writes it, SetRow and ScatterNd leave all but some rows, NextDraw advances a counter.
 */
export function mayOverwrite(
  { kernel, inputs, outputs }: PlanCall,
  places: readonly number[],
  output: PlanTensor,
): boolean {
  if (typeof kernel !== 'string') return places.every((i) => sameTensor(inputs[i], output));
  if (kernel === 'SetRow' || kernel === 'ScatterNd')
    return places.every((i) => i === 0 && sameTensor(inputs[i], output));
  if (kernel === 'NextDraw' && output === outputs[1]) return places.every((i) => i === 0);
  return places.length === 0;
}

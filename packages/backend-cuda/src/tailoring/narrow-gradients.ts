// Steps of optimizers that read gradients of 16 bits as they are.
import { type KernelName, type NumericDType, type Plan, Uses } from '@eagre/backend';
import { gpuKernel } from '@eagre/gpu-kernels';
import { type MakeOwn, narrowOf } from './plans.ts';

/** How many numbers stand behind the variables of a step. */
const scalars: { readonly [name in KernelName]?: number } = {
  ApplyGradientDescent: 1,
  ApplyMomentum: 1,
  ApplyRMSProp: 1,
  ApplyAdam: 2,
};

export function readNarrowGradients(plan: Plan, make: MakeOwn): Plan {
  const uses = new Uses(plan);
  const calls = plan.calls.map((call, at) => {
    const numbers = scalars[call.kernel as KernelName];
    if (numbers === undefined) return call;
    const each = (call.inputs.length - numbers) / (call.attrs['count'] as number);
    let isNew = false;
    const inputs = call.inputs.map((tensor, i) => {
      const isGradient = i % each === each - 1 && i < call.inputs.length - numbers;
      const narrow = isGradient ? narrowOf(plan, uses, tensor, at) : undefined;
      isNew ||= narrow !== undefined;
      return narrow ?? tensor;
    });
    if (!isNew) return call;
    const { outputs, attrs, name } = call;
    const kernel = gpuKernel(
      call.kernel as KernelName,
      inputs.map(({ dtype }) => dtype as NumericDType),
    );
    const made = kernel?.lower({ inputs, outputs, attrs, same: () => false });
    return made === undefined ? call : make({ inputs, outputs, name }, call.kernel as string, made);
  });
  return { ...plan, calls };
}

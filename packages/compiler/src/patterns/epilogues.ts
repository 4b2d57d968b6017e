import { type Plan, type PlanCall, type PlanTensor, type ScalarProgram, Uses } from '@eagre/backend';
import { isScalarCall, numberAttr, type ScalarCall } from '../tensors.ts';

/**
 * Lets MatMul and Conv2D add a bias along the last axis and apply relu, where scalar programs that did so are the only readers
 * of the results. The product moves to the place of what it takes in, over no call that writes one of its inputs.
 *
 * Kernels round as the separate calls do: to the dtype after the product and after the bias. One thing differs: relu of a native
 * product leaves −0, which only underflow makes.
 */
export function fuseEpilogues(plan: Plan): Plan {
  const uses = new Uses(plan);
  const calls: (PlanCall | undefined)[] = [...plan.calls];
  plan.calls.forEach((call, at) => {
    if (!isScalarCall(call)) return;
    for (const input of call.inputs) {
      // A product that has moved lies at the place of the call that it took in, which wrote this value before.
      const source = uses.writers[input.value][0];
      const product = calls[source];
      if (product === undefined || source >= at) continue;
      const fused = withEpilogue(product, call, input, uses);
      if (fused === undefined) continue;
      if (product.inputs.some(({ value }) => uses.writtenWithin(value, source, at))) continue;
      calls[source] = undefined;
      calls[at] = fused;
      return;
    }
  });
  return { ...plan, calls: calls.filter((call) => call !== undefined) };
}

function withEpilogue(
  product: PlanCall,
  call: ScalarCall,
  input: PlanTensor,
  uses: Uses,
): PlanCall | undefined {
  if (product.kernel !== 'MatMul' && product.kernel !== 'Conv2D') return undefined;
  const [made] = product.outputs;
  const [output] = call.outputs;
  const reads = call.inputs.filter(({ value }) => value === input.value).length;
  if (!uses.isTemporary(made.value) || uses.readers[made.value].length !== 1 || reads !== 1) return undefined;
  if (made.dtype !== output.dtype || made.size !== output.size) return undefined;
  if (input.size !== made.size || numberAttr(product.attrs['activation']) !== 0) return undefined;
  const name = `${product.name}+${call.name}`;
  const outputs = [{ ...output, shape: made.shape }];
  const operand = call.inputs.indexOf(input);

  if (isRelu(call.kernel)) return { ...product, outputs, attrs: { ...product.attrs, activation: 1 }, name };

  if (product.inputs.length !== 2 || !isSum(call.kernel)) return undefined;
  const columns = made.shape[made.shape.length - 1];
  const bias = call.inputs[1 - operand];
  // A scalar program may write over what it reads, a product may not.
  if (bias.value === output.value) return undefined;
  if (bias.size !== columns || (bias.shape.at(-1) ?? 1) !== columns || input.shape.at(-1) !== columns)
    return undefined;
  return { ...product, inputs: [...product.inputs, { ...bias, shape: [columns] }], outputs, name };
}

/** x + y */
export function isSum({ inputs, instrs, outputs }: ScalarProgram): boolean {
  return (
    inputs.length === 2 &&
    instrs.length === 1 &&
    instrs[0].op === 'add' &&
    differ(instrs[0].args) &&
    outputs[0] === 2
  );
}

function differ([a, b]: readonly number[]): boolean {
  return a !== b;
}

/** max(x, 0) */
function isRelu({ inputs, instrs, outputs }: ScalarProgram): boolean {
  if (inputs.length !== 1 || instrs.length !== 2 || outputs.length !== 1 || outputs[0] !== 2) return false;
  const [zero, max] = instrs;
  return zero.op === 'const' && Object.is(zero.value, 0) && max.op === 'max' && differ(max.args);
}

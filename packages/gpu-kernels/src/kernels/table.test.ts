import {
  dtypesTaken,
  dtypeTraits,
  isHalf,
  type KernelName,
  kernelAttrs,
  numericDTypes,
} from '@eagre/backend';
import { expect, it } from 'vitest';
import { gpuKernels } from './registry.ts';

/** The registry's kernels, the dtypes that GPUs serve, and who does the rest. */
function page(): string {
  const lines = [
    '# Kernels of GPUs',
    '',
    'The dtypes are those of the first input, or of what a kernel makes of none. Where a kernel has float32 alone of floats,',
    'those of 16 bits are cast to it on the GPU, and the result back. The CPU does the others, under soft placement. This page is made by a test:',
    '`pnpm vitest run packages/gpu-kernels/src/kernels/table.test.ts --update`.',
    '',
    '| kernel | on the GPU |',
    '| --- | --- |',
  ];
  for (const name of Object.keys(kernelAttrs) as KernelName[]) {
    const dtypes = gpuKernels[name]?.dtypes ?? [];
    const text =
      dtypes.length === 0 ? 'no' : dtypes.length === numericDTypes.length ? 'all' : dtypes.join(', ');
    lines.push(`| ${name} | ${text} |`);
  }
  return `${lines.join('\n')}\n`;
}

it('is what the documentation says', async () => {
  await expect(page()).toMatchFileSnapshot('../../../../docs/gpu-kernels.md');
});

it('has kernels for dtypes that the contract knows', () => {
  for (const [name, kernel] of Object.entries(gpuKernels)) {
    const taken = dtypesTaken(name as KernelName);
    // Kernels without inputs are listed by what they make.
    if (name.startsWith('Random') || name === 'TruncatedNormal') continue;
    for (const dtype of kernel.dtypes) {
      // Of 16 bits a backend may have more kernels than all have.
      if (isHalf(dtype) && kernel.dtypes.includes('float32')) continue;
      expect((taken >> dtypeTraits[dtype].code) & 1, `${name} of ${dtype}`).toBe(1);
    }
  }
});

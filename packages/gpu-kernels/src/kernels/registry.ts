import type { KernelName, NumericDType } from '@eagre/backend';
import { kernels as attention } from './attention.ts';
import { kernels as conv2d } from './conv2d.ts';
import { kernels as gather } from './gather.ts';
import type { GpuKernel, GpuKernels } from './kernel.ts';
import { kernels as mapReduce } from './map-reduce.ts';
import { kernels as matmul } from './matmul.ts';
import { kernels as moves } from './moves.ts';
import { kernels as nonzero } from './nonzero.ts';
import { kernels as norms } from './norms.ts';
import { kernels as optimizers } from './optimizers.ts';
import { kernels as pool2d } from './pool2d.ts';
import { kernels as random } from './random.ts';
import { kernels as reduce } from './reduce.ts';
import { kernels as resize } from './resize.ts';
import { kernels as rnn } from './rnn.ts';
import { kernels as scan } from './scan.ts';
import { kernels as softmax } from './softmax.ts';
import { kernels as topK } from './top-k.ts';

/** The kernels of the registry that GPUs have, by name. The host does the others, under soft placement. */
export const gpuKernels: GpuKernels = {
  ...moves,
  ...reduce,
  ...mapReduce,
  ...gather,
  ...softmax,
  ...matmul,
  ...conv2d,
  ...pool2d,
  ...norms,
  ...nonzero,
  ...scan,
  ...topK,
  ...random,
  ...resize,
  ...optimizers,
  ...attention,
  ...rnn,
};

/** The kernel of that name for inputs of these dtypes; undefined where GPUs have none. */
export function gpuKernel(name: KernelName, inputs: readonly NumericDType[]): GpuKernel | undefined {
  const kernel = gpuKernels[name];
  if (kernel === undefined) return undefined;
  return inputs.length === 0 || kernel.dtypes.includes(inputs[0]) ? kernel : undefined;
}

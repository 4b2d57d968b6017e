// Kernels in CUDA C++, which only GPUs of NVIDIA run. Those of all GPUs do not import them, so that pages need not load them.
import type { coreAttention, coreRows, isCoreAttention } from '../cuda/attention.ts';
import type { ProductCores } from '../cuda/factor-tiles.ts';
import type { hopperAttention, hopperRows, isHopperAttention } from '../cuda/hopper-attention.ts';
import type { padLines } from '../cuda/pad-lines.ts';
import type { coreRecurrent } from '../cuda/recurrent.ts';
import type { broughtByTma } from '../cuda/tma-product.ts';

/** What there is in CUDA C++. */
export interface CudaForms {
  readonly warpCores: ProductCores;
  readonly warpgroupCores: ProductCores;
  readonly broughtByTma: typeof broughtByTma;
  readonly isCoreAttention: typeof isCoreAttention;
  readonly coreAttention: typeof coreAttention;
  readonly coreRows: typeof coreRows;
  readonly isHopperAttention: typeof isHopperAttention;
  readonly hopperAttention: typeof hopperAttention;
  readonly hopperRows: typeof hopperRows;
  readonly padLines: typeof padLines;
  readonly coreRecurrent: typeof coreRecurrent;
}

let known: CudaForms | undefined;

/** Undefined where no backend runs them. */
export const cudaForms = (): CudaForms | undefined => known;

export function provideCudaForms(forms: CudaForms): void {
  known = forms;
}

// Kernels in CUDA C++, which only GPUs of NVIDIA run. Those of all GPUs do not import them, so that pages need not load them.
// Types in a circle: what they make is made of what the kernels for all GPUs are made of, which ask for it.
import type { coreAttentionCall } from '../cuda/attention-call.ts';
import type { coreProduct } from '../cuda/core-product.ts';
import type { filledUp } from '../cuda/filled-images.ts';
import type { paddedProduct } from '../cuda/padded-product.ts';
import type { coreRecurrent } from '../cuda/recurrent.ts';
import type { sideBySide } from '../cuda/side-by-side.ts';

/** What there is in CUDA C++. */
export interface CudaForms {
  readonly product: typeof coreProduct;
  readonly paddedProduct: typeof paddedProduct;
  readonly filledUp: typeof filledUp;
  readonly attention: typeof coreAttentionCall;
  readonly recurrent: typeof coreRecurrent;
  readonly sideBySide: typeof sideBySide;
}

let known: CudaForms | undefined;

/** Undefined where no backend runs them. */
export const cudaForms = (): CudaForms | undefined => known;

export function provideCudaForms(forms: CudaForms): void {
  known = forms;
}

import { provideCudaForms } from '../kernels/cuda-forms.ts';
import { coreAttentionCall } from './attention-call.ts';
import { coreProduct } from './core-product.ts';
import { filledUp } from './filled-images.ts';
import { paddedProduct } from './padded-product.ts';
import { coreRecurrent } from './recurrent.ts';
import { sideBySide } from './side-by-side.ts';

/** Has calls tell what GPUs of NVIDIA run instead of the kernels for all GPUs. Whoever runs that calls it first. */
export function serveCuda(): void {
  provideCudaForms({
    product: coreProduct,
    paddedProduct,
    filledUp,
    attention: coreAttentionCall,
    recurrent: coreRecurrent,
    sideBySide,
  });
}

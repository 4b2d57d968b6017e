import { provideCudaForms } from '../kernels/cuda-forms.ts';
import { coreAttention, coreRows, isCoreAttention } from './attention.ts';
import { hopperAttention, hopperRows, isHopperAttention } from './hopper-attention.ts';
import { warpgroupCores } from './hopper-product.ts';
import { padLines } from './pad-lines.ts';
import { coreRecurrent } from './recurrent.ts';
import { broughtByTma } from './tma-product.ts';
import { warpCores } from './warp-product.ts';

/** Has calls tell what GPUs of NVIDIA run instead of the kernels for all GPUs. Whoever runs that calls it first. */
export function serveCuda(): void {
  provideCudaForms({
    warpCores,
    warpgroupCores,
    broughtByTma,
    isCoreAttention,
    coreAttention,
    coreRows,
    isHopperAttention,
    hopperAttention,
    hopperRows,
    padLines,
    coreRecurrent,
  });
}

// Calls of attention on tensor cores: which cores make them, and in how many rows.
import type { DType } from '@eagre/backend';
import { PARAMS } from '../kernels/attention.ts';
import { type CudaDispatch, type Dispatch, groups, perCapability, runsOn } from '../kernels/kernel.ts';
import { coreAttention, coreRows, isCoreAttention } from './attention.ts';
import { CORE_BUFFERS, type CoreAttention } from './attention-steps.ts';
import { hopperAttention, hopperRows, isHopperAttention } from './hopper-attention.ts';
import { lanesOf } from './tensor-cores.ts';

/** A call on tensor cores, where they serve it. @param operands the number of each buffer. */
export function coreAttentionCall(
  dtype: DType,
  mask: DType | undefined,
  makes: readonly CoreAttention['makes'][],
  operands: Readonly<Record<string, number>>,
  params: readonly number[],
  packed: CoreAttention['packed'] = { inputs: false, gradients: false },
): Dispatch['cuda'] {
  const [batch, heads, queries, keys, width, values] = params;
  const widths = [width, values] as const;
  if (!isCoreAttention(dtype, mask, widths, [queries, keys])) return undefined;
  const filled = (size: number): number => Math.ceil(size / 16) * 16;
  const dispatchOf = (each: CoreAttention['makes'], capability: number): CudaDispatch => {
    const count = each === 'keyGradients' ? keys : queries;
    const core = {
      dtype,
      makes: each,
      width: filled(width),
      values: filled(values),
      mask,
      packed,
      aligned: width % lanesOf(dtype) === 0 && values % lanesOf(dtype) === 0,
    };
    const planes = batch * heads;
    const byWarpgroups = capability === 90 && isHopperAttention(core);
    const rows = byWarpgroups ? hopperRows(planes, count) : coreRows(core, planes, count, capability);
    const program = byWarpgroups
      ? hopperAttention({ ...core, rows }, PARAMS)
      : coreAttention({ ...core, rows }, PARAMS);
    return {
      program,
      operands: CORE_BUFFERS[each].filter((name) => name in operands).map((name) => operands[name]),
      params,
      workgroups: groups(planes * Math.ceil(count / rows)),
    };
  };
  return perCapability((capability) => {
    const dispatches = makes.map((each) => dispatchOf(each, capability));
    return dispatches.every(({ program }) => runsOn(program, capability))
      ? { dispatches, scratch: 0 }
      : undefined;
  });
}

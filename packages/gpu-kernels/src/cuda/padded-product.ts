// Products of matrices whose lines begin where tensor cores cannot copy them.
import { isHalf } from '@eagre/backend';
import {
  type CudaDispatch,
  type CudaDispatches,
  type Dispatch,
  perCapability,
  TEMPORARY,
} from '../kernels/kernel.ts';
import { productDispatch } from '../kernels/product.ts';
import type { Factor, Product, ProductSizes } from '../kernels/product-factors.ts';
import { padLines, pitchOf } from './pad-lines.ts';
import { CHUNK_BYTES, lanesOf } from './tensor-cores.ts';

/** Where rows, columns and depth are so many, tensor cores win more than copies of the factors take. */
export const LEAST_PADDED = 128;

/** A factor, the first or the second, whose lines are so many elements apart, from one on; the product has the params `pitch0`, `pitch1` and `fromB`. */
export function pitchedFactor(factor: Factor, i: 0 | 1, pitch: number, from: number): Factor {
  const side = i === 0 ? 'row' : 'column';
  const [line, along] = factor.inner === 'side' ? ['deep', side] : [side, 'deep'];
  const parts = { [line]: `${line} * p.pitch${i}`, [along]: along };
  return {
    ...factor,
    side: { at: `${i === 1 ? 'p.fromB + ' : ''}${parts[side]}` },
    deep: { at: parts.deep },
    run: pitch,
    matrix: { from, pitch, count: 1, number: '0u' },
  };
}

/** The params of products with pitched factors. */
export const pitchFields = { pitch0: 'u32', pitch1: 'u32', fromB: 'u32' } as const;

/** A product of two matrices of which at least one has lines that begin at no multiple of 16 bytes, by copies that do. */
export function paddedProduct(
  product: Product,
  operands: readonly number[],
  sizes: ProductSizes,
): Dispatch['cuda'] {
  const { dtype, left, right, params } = product;
  if (dtype !== 'float32' && !isHalf(dtype)) return undefined;
  const [, rows, columns, depth] = sizes;
  const pitches = [left, right].map(({ run }) => pitchOf(dtype, run));
  if (pitches[0] === left.run && pitches[1] === right.run) return undefined;
  if (Math.min(rows, columns, depth) < LEAST_PADDED) return undefined;
  const copies: CudaDispatch[] = [];
  const all = [...operands];
  /** Of the copies, in chunks; where that of b begins. */
  let [chunks, fromB] = [0, 0];
  const [padded0, padded1] = [left, right].map((factor, i): Factor => {
    if (pitches[i] === factor.run) return factor;
    const lines = factor.inner === 'side' ? depth : i === 0 ? rows : columns;
    copies.push(padLines(dtype, [operands[i], TEMPORARY], { from: chunks, lines, run: factor.run }));
    all[i] = TEMPORARY;
    if (i === 1) fromB = chunks * lanesOf(dtype);
    chunks += (lines * pitches[i]) / lanesOf(dtype);
    return pitchedFactor(factor, i === 0 ? 0 : 1, pitches[i], i === 1 ? fromB : 0);
  });
  const bytes = CHUNK_BYTES * chunks;
  if (bytes >= 2 ** 31) return undefined;
  const cuda = productDispatch(
    {
      ...product,
      params: { ...params, ...pitchFields },
      left: padded0,
      right: padded1,
    },
    all,
    [...pitches, fromB],
    sizes,
    bytes,
  )?.cuda;
  if (cuda === undefined) return undefined;
  return perCapability((capability) => {
    const inner = cuda(capability);
    const behind = ({ dispatches, scratch, withoutMaps }: CudaDispatches): CudaDispatches => ({
      dispatches: [...copies, ...dispatches],
      scratch,
      withoutMaps: withoutMaps && behind(withoutMaps),
    });
    return inner && behind(inner);
  });
}

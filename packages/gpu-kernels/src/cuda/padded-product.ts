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
const LEAST_PADDED = 128;

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
    const side = i === 0 ? 'row' : 'column';
    const [line, along] = factor.inner === 'side' ? ['deep', side] : [side, 'deep'];
    const lines = line === 'deep' ? depth : i === 0 ? rows : columns;
    copies.push(padLines(dtype, [operands[i], TEMPORARY], { from: chunks, lines, run: factor.run }));
    all[i] = TEMPORARY;
    if (i === 1) fromB = chunks * lanesOf(dtype);
    chunks += (lines * pitches[i]) / lanesOf(dtype);
    const parts = { [line]: `${line} * p.pitch${i}`, [along]: along };
    const from = i === 1 ? 'p.fromB + ' : '';
    return {
      ...factor,
      side: { at: `${from}${parts[side]}` },
      deep: { at: parts.deep },
      run: pitches[i],
      matrix: { from: i === 1 ? fromB : 0, pitch: pitches[i], count: 1, number: '0u' },
    };
  });
  const bytes = CHUNK_BYTES * chunks;
  if (bytes >= 2 ** 31) return undefined;
  const cuda = productDispatch(
    {
      ...product,
      params: { ...params, pitch0: 'u32', pitch1: 'u32', fromB: 'u32' },
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

// Products on tensor cores: which cores make them, in how many parts, and what adds the parts.
import { isHalf } from '@eagre/backend';
import {
  bytesOf,
  type CudaDispatch,
  type CudaDispatches,
  type Dispatch,
  launch,
  perCapability,
  perThread,
  TEMPORARY,
} from '../kernels/kernel.ts';
import { lets, MOST_BATCHES, store } from '../kernels/product.ts';
import { FEW, type Product, type ProductSizes } from '../kernels/product-factors.ts';
import { floatType } from '../kernels/scalar-program.ts';
import { type CoreProduct, type ProductCores, ROWS } from './factor-tiles.ts';
import { warpgroupCores } from './hopper-product.ts';
import { broughtByTma } from './tma-product.ts';
import { warpCores } from './warp-product.ts';

/** A part has at least so many steps of the depth. */
const LEAST_STEPS = 8;
/** Bytes that the parts may take in all. */
const MOST_PART_BYTES = 2 ** 26;

/** Into how many parts the depth is cut, where fewer than `many` tiles leave multiprocessors idle; their sums are added afterwards. It depends on the sizes alone, so that results are the same on all GPUs with such cores. */
function partsOf([batches, rows, columns]: ProductSizes, steps: number, tiles: number, many: number): number {
  const most = Math.floor(MOST_PART_BYTES / (4 * batches * rows * columns));
  const wanted = Math.floor(many / (tiles * batches));
  const parts = Math.max(1, Math.min(wanted, Math.floor(steps / LEAST_STEPS), most));
  // Each part has something to do.
  return Math.ceil(steps / Math.ceil(steps / parts));
}

type Narrow = CoreProduct['dtype'];

/** Whether tensor cores are of use for a product. */
function isCoreProduct(
  product: Product,
  [, rows, columns, depth]: ProductSizes,
): product is Product & { readonly dtype: Narrow } {
  const { dtype } = product;
  return (dtype === 'float32' || isHalf(dtype)) && Math.min(rows, columns, depth) >= FEW;
}

/**
 * The tensor cores of a GPU, if it has some. Hopper's wgmma reads float32 along the depth alone: what lies otherwise has to be turned by copies of 4 bytes,
 * which takes longer than to multiply by warps.
 */
function coresOf(capability: number, { dtype, left, right }: Product): ProductCores | undefined {
  if (capability < 80) return undefined;
  const isTurned = dtype === 'float32' && (left.inner === 'side' || right.inner === 'side');
  return capability === 90 && !isTurned ? warpgroupCores : warpCores;
}

/** The same product on the tensor cores of a GPU. */
function onTensorCores(
  product: Product & { readonly dtype: Narrow },
  operands: readonly number[],
  values: readonly number[],
  sizes: ProductSizes,
  kept: number,
  capability: number,
): CudaDispatches | undefined {
  const cores = coresOf(capability, product);
  if (cores === undefined) return undefined;
  const { dtype, biasAt, params = {} } = product;
  const [batches, rows, columns, depth] = sizes;
  const width = cores.width(sizes);
  const tiles = Math.ceil(rows / ROWS) * Math.ceil(columns / width);
  const steps = Math.ceil(depth / cores.depth(dtype));
  const parts = partsOf(sizes, steps, tiles, cores.many(width));
  if (batches * parts > MOST_BATCHES) return undefined;
  const fromParts = kept / bytesOf('float32');
  const core: CoreProduct = { ...product, params, isPart: parts > 1, inPairs: columns % 2 === 0, width };
  const dispatch: CudaDispatch = {
    program: cores.program(core),
    operands: parts === 1 ? operands : [...operands.slice(0, biasAt === undefined ? -1 : -2), TEMPORARY],
    params: [rows, columns, depth, Math.ceil(steps / parts), parts, fromParts, ...values],
    workgroups: [tiles, 1, batches * parts],
  };
  const mapped = cores === warpgroupCores ? broughtByTma(core, dispatch, sizes) : undefined;
  const either = (scratch: number, ...behind: readonly CudaDispatch[]): CudaDispatches => {
    const plain = { dispatches: [dispatch, ...behind], scratch };
    return mapped === undefined ? plain : { dispatches: [mapped, ...behind], scratch, withoutMaps: plain };
  };
  if (parts === 1) return either(kept);
  const type = floatType(dtype);
  const add = perThread(
    { parts: 'f32', ...(biasAt === undefined ? {} : { bias: type }), y: `mut ${type}` },
    { rows: 'u32', columns: 'u32', depth: 'u32', parts: 'u32', fromParts: 'u32', ...params },
    `let column = thread % p.columns; let row = thread / p.columns % p.rows; let batch = thread / p.columns / p.rows;
    ${lets(product.batch)}
    var sum = 0.0;
    for (var i = 0u; i < p.parts; i++) { sum = sum + parts[p.fromParts + ((batch * p.parts + i) * p.rows + row) * p.columns + column]; }
    ${store(product)}`,
  );
  const made = batches * rows * columns;
  const ofSum = [TEMPORARY, ...operands.slice(biasAt === undefined ? -1 : -2)];
  return either(
    kept + made * parts * bytesOf('float32'),
    launch(add, ofSum, [rows, columns, depth, parts, fromParts, ...values], made),
  );
}

/** What makes a product on the tensor cores of a GPU, where they are of use; the arguments are those of `productDispatch`. */
export function coreProduct(
  product: Product,
  operands: readonly number[],
  values: readonly number[],
  sizes: ProductSizes,
  kept: number,
): Dispatch['cuda'] {
  if (!isCoreProduct(product, sizes)) return undefined;
  return perCapability((capability) => onTensorCores(product, operands, values, sizes, kept, capability));
}

// Matrix products by warpgroups, with Hopper's wgmma: on compute capability 9.0 alone. Some warps bring the factors to shared memory, others multiply what is there.
import type { DType } from '@eagre/backend';
import {
  type CoreProduct,
  declarations,
  fetch,
  isAligned,
  kernelOf,
  keyOf,
  type ProductCores,
  partOf,
  prepare,
  ROWS,
  round,
  type signatureOf,
  storeSums,
  type Tile,
  tilesOf,
} from './factor-tiles.ts';
import { ALIGNMENT, GROUP, hopperPrelude, wgmma } from './hopper.ts';
import { CHUNK_BYTES, type CoreDType, coreProgram, kernelText } from './tensor-cores.ts';

/** Threads that multiply: a warpgroup 64 rows. Those before them bring. */
const MULTIPLYING = 2 * GROUP;

/** Bytes of a tile of one factor: 128 deep, which is the longest line that the cores read. */
const DEEP_BYTES = 128;
/** Fewer wide tiles leave multiprocessors idle. */
const MANY_WIDE_TILES = 120;
/** Rows of tiles that are made together, so that what they read stays in the cache. */
const TOGETHER = 8;

const depthOf = (dtype: DType): number => DEEP_BYTES / (dtype === 'float32' ? 4 : 2);

/** In lines of 8 chunks, which are turned around; a tile along its side is cut into pieces of 8 chunks, with all lines of the depth. */
const placeOf =
  (dtype: CoreDType) =>
  (across: number): Tile['at'] =>
  (line, chunk) => {
    const inLine = (of: string): string => `${line} * 8u + ((${of}) ^ (${line} & 7u))`;
    return across === 8
      ? inLine(chunk)
      : `(${chunk}) / 8u * ${8 * depthOf(dtype)}u + ${inLine(`(${chunk}) % 8u`)}`;
  };

/** How a workgroup is made up. */
interface Shape {
  /** Threads that bring the tiles. */
  readonly bringing: number;
  /** Tiles that are in shared memory at once, and by how many of them a tile's copies are told to come before it is waited for. */
  readonly stages: number;
  readonly ahead: number;
  /** How many workgroups are on a multiprocessor at once: of two, one goes on while the other begins or ends. */
  readonly together: number;
}

/** Sums, the places of what is brought, and tiles have to fit into the registers and the shared memory of a multiprocessor. */
function shapeOf(product: CoreProduct): Shape {
  const { width, dtype, left, right } = product;
  if (width === 256) return { bringing: GROUP, stages: 4, ahead: 2, together: 1 };
  // What is gathered element by element takes more registers.
  const isCopied = [left, right].every((factor) => isAligned(factor, dtype));
  if (width === 64 && isCopied) return { bringing: GROUP, stages: 4, ahead: 2, together: 2 };
  return { bringing: 2 * GROUP, stages: 6, ahead: 3, together: 1 };
}

function chunksOf(product: CoreProduct): number {
  const [a, b] = hopperTiles(product);
  return shapeOf(product).stages * (a.chunks + b.chunks);
}

function hopperTiles(product: CoreProduct): readonly [Tile, Tile] {
  const { dtype } = product;
  return tilesOf(product, {
    threads: shapeOf(product).bringing,
    depth: depthOf(dtype),
    at: placeOf(dtype),
    pitch: () => 8,
  });
}

/** Products by warpgroups. */
export const warpgroupCores: ProductCores = {
  depth: depthOf,
  width: ([batches, rows, columns]) => {
    if (columns <= 64) return 64;
    const wide = batches * Math.ceil(rows / ROWS) * Math.ceil(columns / 256);
    return columns > 128 && wide >= MANY_WIDE_TILES ? 256 : 128;
  },
  many: (width) => (width === 64 ? 256 : 128),
  program: (product) =>
    coreProgram(`hopper ${keyOf(product)}`, shapeOf(product).bringing + MULTIPLYING, () => ({
      ...kernelOf(product, text),
      capability: 90,
      isSpecific: true,
      shared: CHUNK_BYTES * chunksOf(product) + ALIGNMENT,
    })),
};

/** Whether the cores read a tile along its side. */
const liesAlongSide = ({ factor }: Tile): boolean => factor.inner === 'side';

/** Where the first rows of a warpgroup, or all columns, are, and by how many chunks the next piece of the depth is further on. */
function descriptor(tile: Tile, from: string): readonly [descriptor: string, step: number] {
  const lines = 8 * tile.depth;
  return liesAlongSide(tile)
    ? [`tc_descriptor(${from}, ${lines * CHUNK_BYTES}u, 1024u)`, 8 * 16]
    : [`tc_descriptor(${from}, 0u, 1024u)`, 2];
}

function text(
  name: string,
  product: CoreProduct,
  { fields, pointers }: ReturnType<typeof signatureOf>,
): string {
  const { dtype, width } = product;
  const depth = depthOf(dtype);
  const { bringing, stages, ahead, together } = shapeOf(product);
  const tiles = hopperTiles(product);
  const [a, b] = tiles;
  const first = bringing / GROUP;
  const [ofA, stepA] = descriptor(
    a,
    `tile_a + (group - ${first}u) * ${liesAlongSide(a) ? 8 * depth : 8 * 64}u`,
  );
  const [ofB, stepB] = descriptor(b, 'tile_b');
  return kernelText(
    name,
    dtype,
    fields,
    `${wgmma(dtype, width)}\n${declarations(product, tiles)}`,
    `__launch_bounds__(${bringing + MULTIPLYING}, ${together}) ${name}(${pointers.join(', ')}, const Params p)`,
    `  __shared__ tc_barrier full[${stages}], empty[${stages}];
  tc_chunk* const tile_a = tc_memory();
  tc_chunk* const tile_b = tile_a + ${stages * a.chunks}u;
  const u32 group = tc_uniform(threadIdx.x / ${GROUP}u), lane = threadIdx.x % 32u, warp = threadIdx.x % ${GROUP}u / 32u;
  const u32 tilesAcross = (p.columns + ${width - 1}u) / ${width}u, tilesDown = (p.rows + ${ROWS - 1}u) / ${ROWS}u;
  const u32 firstRow = blockIdx.x / (tilesAcross * ${TOGETHER}u) * ${TOGETHER}u, together = wg_min(tilesDown - firstRow, ${TOGETHER}u);
  const u32 number = blockIdx.x - firstRow * tilesAcross;
  const u32 top = (firstRow + number % together) * ${ROWS}u, left = number / together * ${width}u;
  ${partOf(product, depth)}
  if (threadIdx.x == 0u)
    for (u32 i = 0; i < ${stages}u; i++) {
      tc_barrier_init(&full[i], ${bringing}u);
      // Each warp that multiplies says so.
      tc_barrier_init(&empty[i], ${MULTIPLYING / 32}u);
    }
  __syncthreads();
  if (group < ${first}u) {
    const u32 t = threadIdx.x;
    ${tiles.map(prepare).join('\n    ')}
    for (u32 step = 0; step < steps + ${ahead}u; step++) {
      if (step < steps) {
        const u32 stage = step % ${stages}u;
        if (step >= ${stages}u) tc_barrier_wait(&empty[stage], (step / ${stages}u - 1u) % 2u);
        ${tiles.map(fetch).join('\n        ')}
      }
      tc_commit();
      if (step < ${ahead}u) continue;
      tc_wait<${ahead}>();
      const u32 stage = (step - ${ahead}u) % ${stages}u;
      ${dtype === 'float32' ? tiles.map(round).join('\n      ') : ''}
      tc_fence_async();
      tc_barrier_arrive(&full[stage]);
    }
    return;
  }
  f32 sums[${width / 2}] = {};
  const unsigned long long from_a = ${ofA}, from_b = ${ofB};
  for (u32 step = 0; step < steps; step++) {
    const u32 stage = step % ${stages}u;
    tc_barrier_wait(&full[stage], step / ${stages}u % 2u);
    tc_wgmma_fence();
    TC_UNROLLED for (u32 k = 0; k < 4u; k++)
      tc_wgmma_${dtype}<${liesAlongSide(a)}, ${liesAlongSide(b)}>(sums, from_a + (stage * ${a.chunks}u + k * ${stepA}u), from_b + (stage * ${b.chunks}u + k * ${stepB}u));
    tc_wgmma_commit();
    // That of the step before is made.
    tc_wgmma_wait<1>();
    if (step > 0u && lane == 0u) tc_barrier_arrive(&empty[(step - 1u) % ${stages}u]);
  }
  tc_wgmma_finish(sums);
  ${storeSums(product, { top: `top + (group - ${first}u) * 64u + warp * 16u`, left: 'left', pairs: width / 8 }, (j, half, e) => `sums[${j} * 4u + ${half} * 2u + ${e}]`)}`,
    hopperPrelude(),
  );
}

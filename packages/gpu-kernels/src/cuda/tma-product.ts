// Products of plain matrices by warpgroups whose tiles Hopper's TMA brings, told by one thread: on compute capability 9.0 alone, where the driver has tensor maps.
import type { CudaDispatch, CudaProgram, TensorMap } from '../kernels/kernel.ts';
import type { Factor, ProductSizes } from '../kernels/product-factors.ts';
import { type CoreProduct, declared, ROWS, signatureOf, type Width } from './factor-tiles.ts';
import { ALIGNMENT, GROUP, hopperPrelude, wgmma } from './hopper.ts';
import { CHUNK_BYTES, type CoreDType, coreProgram, elementOf, kernelText, lanesOf } from './tensor-cores.ts';

/** Two warpgroups multiply, 64 rows each; a thread of the warp behind them has the tiles brought. */
const MULTIPLYING = 2 * GROUP;
const THREADS = MULTIPLYING + 32;
const WARPS = MULTIPLYING / 32;

/** A line of a tile, as the cores read it. */
const LINE_BYTES = 128;
/** What tiles may take of the shared memory, which is 227 KiB, and how many of both factors are there at most. */
const TILE_BYTES = 192 * 1024;
const MOST_STAGES = 6;

/** Sums of a warp go through shared memory, 16 rows of so many bytes at once, so that 16 bytes are stored at once. */
const PIECE_BYTES = 16 * LINE_BYTES;

/** Rows of tiles that are made together, so that what they read stays in the cache: as many bytes of each factor where tiles on 132 multiprocessors go on. */
const togetherOf = (width: Width): number => (width === 256 ? 16 : 8);

/** Fewer rows, columns or depth fill no tile. */
const LEAST = 64;

/** The instructions of TMA, as functions. */
const tmaPrelude = `#ifndef EAGRE_TMA
#define EAGRE_TMA
#ifndef EAGRE_SHIM
struct __align__(64) tc_map { unsigned long long words[16]; };
__device__ __forceinline__ void tc_prefetch_map(const tc_map* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }
// Arrives, and has the phase end only when so many bytes more have come.
__device__ __forceinline__ void tc_barrier_expect(tc_barrier* barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(tc_shared(barrier)), "r"(bytes) : "memory");
}
// Brings the box that begins at an element of a line of a matrix. What is outside of the matrix is zero.
__device__ __forceinline__ void tc_copy_box(tc_chunk* to, const tc_map* map, tc_barrier* barrier, u32 element, u32 line, u32 matrix) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];"
    ::"r"(tc_shared(to)), "l"(map), "r"(tc_shared(barrier)), "r"(element), "r"(line), "r"(matrix) : "memory");
}
__device__ __forceinline__ void tc_sync_warp() { __syncwarp(); }
#endif
#endif
`;

/** The tile of a factor. */
interface Tile {
  readonly name: 'a' | 'b';
  readonly factor: Factor;
  readonly isDeep: boolean;
  /** Chunks of it. */
  readonly chunks: number;
  /** The elements and the lines of a box, and how many of them make it. */
  readonly box: readonly [elements: number, lines: number];
  readonly boxes: number;
  /** Where it begins along its side. */
  readonly first: string;
}

const depthOf = (dtype: CoreDType): number => LINE_BYTES / (dtype === 'float32' ? 4 : 2);

function tilesOf({ dtype, left, right, width }: CoreProduct): readonly [Tile, Tile] {
  const depth = depthOf(dtype);
  const of = (factor: Factor, size: number) => {
    const isDeep = factor.inner === 'deep';
    return {
      factor,
      isDeep,
      chunks: (size * depth) / lanesOf(dtype),
      // A line is 128 bytes: all of the depth, or a part of the side.
      box: [depth, isDeep ? size : depth] as const,
      boxes: isDeep ? 1 : size / depth,
    };
  };
  return [
    { ...of(left, ROWS), name: 'a', first: 'at.top' },
    { ...of(right, width), name: 'b', first: 'at.left' },
  ];
}

function stagesOf(tiles: readonly [Tile, Tile]): number {
  const bytes = CHUNK_BYTES * (tiles[0].chunks + tiles[1].chunks);
  return Math.min(MOST_STAGES, Math.floor(TILE_BYTES / bytes));
}

/** The map of a factor, which is of `sides` rows or columns; undefined where the driver makes none. */
function mapOf(
  tile: Tile,
  dtype: CoreDType,
  operand: number,
  sides: number,
  depth: number,
): TensorMap | undefined {
  const { factor, isDeep, box } = tile;
  const { matrix } = factor;
  const lanes = lanesOf(dtype);
  if (matrix === undefined || matrix.pitch % lanes !== 0 || matrix.from % lanes !== 0) return undefined;
  const { from, pitch, count } = matrix;
  return { operand, dtype, from, pitch, box, sizes: isDeep ? [depth, sides, count] : [sides, depth, count] };
}

/**
 * The dispatch of a product with both factors brought by TMA, in place of one with the same parameters whose threads copy them.
 * @returns undefined where a factor is no plain matrix, or its lines begin at no multiple of 16 bytes, or it is small.
 */
export function broughtByTma(
  product: CoreProduct,
  plain: CudaDispatch,
  [, rows, columns, depth]: ProductSizes,
): CudaDispatch | undefined {
  const { dtype, left, right, isPart, biasAt } = product;
  if (Math.min(rows, columns, depth) < LEAST) return undefined;
  // The instruction reads float32 along the depth alone.
  if (dtype === 'float32' && (left.inner === 'side' || right.inner === 'side')) return undefined;
  const tiles = tilesOf(product);
  const a = mapOf(tiles[0], dtype, plain.operands[0], rows, depth);
  const b = mapOf(tiles[1], dtype, plain.operands[1], columns, depth);
  if (a === undefined || b === undefined) return undefined;
  // Of each batch and part of the depth the tiles.
  const items = plain.workgroups[0] * plain.workgroups[2];
  return {
    program: program(product, tiles),
    maps: [a, b],
    operands: plain.operands.slice(isPart || biasAt === undefined ? -1 : -2),
    params: [...plain.params, items],
    workgroups: [items, 1, 1],
  };
}

function program(product: CoreProduct, tiles: readonly [Tile, Tile]): CudaProgram {
  const { dtype, isPart, width, left, right, batch, params, biasAt, activation } = product;
  const factors = [left, right].map(({ inner, matrix }) => [inner, matrix?.number]);
  const key = JSON.stringify([
    dtype,
    isPart,
    width,
    factors,
    batch,
    params,
    biasAt !== undefined,
    activation,
  ]);
  return coreProgram(`tma ${key}`, THREADS, () => {
    const { fields, pointers } = signatureOf(product);
    const all = { ...fields, items: 'u32' } as const;
    const own = pointers.slice(2);
    return {
      print: (name) => text(name, product, tiles, all, own),
      maps: 2,
      pointers: own,
      params: Object.values(all),
      isTensorFloat32: dtype === 'float32',
      capability: 90,
      isSpecific: true,
      isPersistent: true,
      shared:
        CHUNK_BYTES * stagesOf(tiles) * (tiles[0].chunks + tiles[1].chunks) + WARPS * PIECE_BYTES + ALIGNMENT,
    };
  });
}

/** Where the first rows of a warpgroup, or all columns, are, and by how many chunks the next piece of the depth is further on. */
function descriptor(
  { isDeep }: Tile,
  dtype: CoreDType,
  from: string,
): readonly [descriptor: string, step: number] {
  return isDeep
    ? [`tc_descriptor(${from}, 0u, 1024u)`, 2]
    : [`tc_descriptor(${from}, ${depthOf(dtype) * LINE_BYTES}u, 1024u)`, 8 * 16];
}

/** Statements that have the tile of a step brought. */
function bring({ name, isDeep, chunks, box, boxes, first }: Tile): string {
  const to = `tile_${name} + stage * ${chunks}u`;
  if (isDeep) return `tc_copy_box(${to}, &map_${name}, &full[stage], begin, ${first}, matrix_${name});`;
  return `TC_UNROLLED for (u32 i = 0; i < ${boxes}u; i++) tc_copy_box(${to} + i * ${box[0] * 8}u, &map_${name}, &full[stage], ${first} + i * ${box[0]}u, begin, matrix_${name});`;
}

/** Statements that write two sums of a row that follow each other to the warp's piece. A line's chunks are turned around, so that those of 8 lines are in different banks. */
function stash(type: 'f32' | 'u16', dtype: CoreDType): string {
  if (type === 'u16')
    return `*(u32*)(own + line * ${LINE_BYTES}u + (j ^ lane / 4u) * 16u + lane % 4u * 4u) = tc_pack_${dtype}(sums[i], sums[i + 1u]);`;
  return `*(vec2u*)(own + line * ${LINE_BYTES}u + ((j * 2u + lane % 4u / 2u) ^ lane / 4u) * 16u + lane % 2u * 8u) = vec2u{wg_bitcast<u32>(sums[i]), wg_bitcast<u32>(sums[i + 1u])};`;
}

/** Statements that add the bias to four words of sums, and apply the activation. */
function finish({ dtype, isPart, biasAt, activation }: CoreProduct): string {
  if (isPart || (biasAt === undefined && activation !== 1)) return '';
  const made = (e: string): string =>
    `${biasAt === undefined ? '' : `sum_${e} = sum_${e} + added[${dtype === 'float32' ? 'w' : `w * 2u + ${e}u`}]; `}${activation === 1 ? `if (sum_${e} <= 0.0f) sum_${e} = 0.0f;` : ''}`;
  if (dtype === 'float32')
    return `TC_UNROLLED for (u32 w = 0; w < 4u; w++) { f32 sum_0 = wg_bitcast<f32>(words[w]); ${made('0')} words[w] = wg_bitcast<u32>(sum_0); }`;
  return `TC_UNROLLED for (u32 w = 0; w < 4u; w++) {
          f32 sum_0 = widened(u16(words[w] & 0xffffu)), sum_1 = widened(u16(words[w] >> 16));
          ${made('0')} ${made('1')}
          words[w] = tc_pack_${dtype}(sum_0, sum_1);
        }`;
}

function text(
  name: string,
  product: CoreProduct,
  tiles: readonly [Tile, Tile],
  fields: Readonly<Record<string, 'u32' | 'i32'>>,
  pointers: readonly string[],
): string {
  const { dtype, width, isPart, batch = [], biasAt } = product;
  const depth = depthOf(dtype);
  const [a, b] = tiles;
  const stages = stagesOf(tiles);
  const together = togetherOf(width);
  const [ofA, stepA] = descriptor(
    a,
    dtype,
    `tile_a + group * ${a.isDeep ? 8 * 64 : (64 / a.box[0]) * 8 * depth}u`,
  );
  const [ofB, stepB] = descriptor(b, dtype, 'tile_b');
  const type = isPart ? 'f32' : elementOf(dtype);
  const bytes = type === 'f32' ? 4 : 2;
  const lanes = CHUNK_BYTES / bytes;
  /** Columns of a warp's piece. */
  const across = LINE_BYTES / bytes;
  const hasBias = biasAt !== undefined && !isPart;
  // Results are matrices behind each other, of batches or of parts.
  const place = `${isPart ? 'p.fromParts + ' : ''}(size_t(${isPart ? 'at.z' : 'at.batch'}) * p.rows + row) * p.columns + column`;
  const numbers = [a, b]
    .map(
      (tile) =>
        `__device__ __forceinline__ u32 matrix_${tile.name}_of(u32 batch, const Params& p) { ${declared(batch)} return ${tile.factor.matrix?.number}; }`,
    )
    .join('\n');
  return kernelText(
    name,
    dtype,
    fields,
    `${wgmma(dtype, width)}
${numbers}
struct Place { u32 top, left, z, batch, firstStep, steps; };
// What a workgroup makes at once: a tile of a batch, or of a part of its depth.
__device__ __forceinline__ Place place_of(u32 item, const Params& p) {
  const u32 tilesAcross = (p.columns + ${width - 1}u) / ${width}u, tilesDown = (p.rows + ${ROWS - 1}u) / ${ROWS}u;
  const u32 tiles = tilesAcross * tilesDown, z = item / tiles, tile = item % tiles;
  const u32 firstRow = tile / (tilesAcross * ${together}u) * ${together}u, together = wg_min(tilesDown - firstRow, ${together}u);
  const u32 number = tile - firstRow * tilesAcross, part = z % p.parts;
  const u32 all = (p.depth + ${depth - 1}u) / ${depth}u, firstStep = part * p.steps;
  return {(firstRow + number % together) * ${ROWS}u, number / together * ${width}u, z, z / p.parts, firstStep, wg_min(p.steps, all - firstStep)};
}`,
    `__launch_bounds__(${THREADS}, 1) ${name}(const __grid_constant__ tc_map map_a, const __grid_constant__ tc_map map_b, ${pointers.join(', ')}, const Params p)`,
    `  __shared__ tc_barrier full[${stages}], empty[${stages}];
  tc_chunk* const tile_a = tc_memory();
  tc_chunk* const tile_b = tile_a + ${stages * a.chunks}u;
  const u32 group = tc_uniform(threadIdx.x / ${GROUP}u), lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
  if (threadIdx.x == 0u) {
    for (u32 i = 0; i < ${stages}u; i++) {
      tc_barrier_init(&full[i], 1u);
      // Each warp that multiplies says so.
      tc_barrier_init(&empty[i], ${WARPS}u);
    }
    tc_fence_async();
  }
  __syncthreads();
  // A place for tiles, and the parity of the phase that makes it full.
  u32 stage = 0, parity = 0;
  if (group == ${MULTIPLYING / GROUP}u) {
    if (lane > 0u) return;
    tc_prefetch_map(&map_a);
    tc_prefetch_map(&map_b);
    for (u32 item = blockIdx.x; item < p.items; item += gridDim.x) {
      const Place at = place_of(item, p);
      const u32 matrix_a = matrix_a_of(at.batch, p), matrix_b = matrix_b_of(at.batch, p);
      for (u32 step = 0; step < at.steps; step++) {
        const u32 begin = (at.firstStep + step) * ${depth}u;
        tc_barrier_wait(&empty[stage], parity ^ 1u);
        tc_barrier_expect(&full[stage], ${CHUNK_BYTES * (a.chunks + b.chunks)}u);
        ${tiles.map(bring).join('\n        ')}
        if (++stage == ${stages}u) { stage = 0; parity ^= 1u; }
      }
    }
    return;
  }
  char* const own = (char*)(tile_b + ${stages * b.chunks}u) + warp * ${PIECE_BYTES}u;
  const unsigned long long from_a = ${ofA}, from_b = ${ofB};
  for (u32 item = blockIdx.x; item < p.items; item += gridDim.x) {
    const Place at = place_of(item, p);
    f32 sums[${width / 2}] = {};
    u32 last = 0;
    for (u32 step = 0; step < at.steps; step++) {
      tc_barrier_wait(&full[stage], parity);
      tc_wgmma_fence();
      TC_UNROLLED for (u32 k = 0; k < 4u; k++)
        tc_wgmma_${dtype}<${!a.isDeep}, ${!b.isDeep}>(sums, from_a + (stage * ${a.chunks}u + k * ${stepA}u), from_b + (stage * ${b.chunks}u + k * ${stepB}u));
      tc_wgmma_commit();
      // That of the step before is made.
      tc_wgmma_wait<1>();
      if (step > 0u && lane == 0u) tc_barrier_arrive(&empty[last]);
      last = stage;
      if (++stage == ${stages}u) { stage = 0; parity ^= 1u; }
    }
    tc_wgmma_finish(sums);
    if (lane == 0u) tc_barrier_arrive(&empty[last]);
    TC_UNROLLED for (u32 piece = 0; piece < ${width / across}u; piece++) {
      TC_UNROLLED for (u32 j = 0; j < ${across / 8}u; j++)
        TC_UNROLLED for (u32 half = 0; half < 2u; half++) {
          const u32 i = (piece * ${across / 8}u + j) * 4u + half * 2u, line = half * 8u + lane / 4u;
          ${stash(type, dtype)}
        }
      tc_sync_warp();
      const u32 column = at.left + piece * ${across}u + lane % 8u * ${lanes}u;
      ${hasBias ? `f32 added[${lanes}];\n      TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) added[e] = column + e < p.columns ? widened(bias[column + e]) : 0.0f;` : ''}
      TC_UNROLLED for (u32 i = 0; i < 4u; i++) {
        const u32 line = i * 4u + lane / 8u, row = at.top + warp * 16u + line;
        tc_chunk sixteen = *(const tc_chunk*)(own + line * ${LINE_BYTES}u + (lane % 8u ^ line % 8u) * 16u);
        if (row >= p.rows || column >= p.columns) continue;
        u32 words[4];
        memcpy(words, &sixteen, 16);
        ${finish(product)}
        ${type}* const to = y + (${place});
        memcpy(&sixteen, words, 16);
        if (p.columns % ${lanes}u == 0u) *(tc_chunk*)to = sixteen;
        else {
          ${type} single[${lanes}];
          memcpy(single, words, 16);
          TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++)
            if (column + e < p.columns) to[e] = single[e];
        }
      }
      tc_sync_warp();
    }
  }`,
    hopperPrelude() + tmaPrelude,
  );
}

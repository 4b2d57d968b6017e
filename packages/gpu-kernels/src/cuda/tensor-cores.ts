// Matrix products on the tensor cores of NVIDIA, in CUDA C++: the subset of WGSL has no words for them.
import type { DType } from '@eagre/backend';
import type { CudaProgram } from '../kernels/kernel.ts';
import type { Factor, Product, Value } from '../kernels/product-factors.ts';

/**
 * The instructions that the kernels use, as functions. Tests on the processor have others of these names (`cuda-shim.h`), so nothing else in the text
 * may be PTX.
 */
export const tensorCorePrelude = `#ifndef EAGRE_TENSOR_CORES
#define EAGRE_TENSOR_CORES
// Lest the sums lie in memory.
#define TC_UNROLLED _Pragma("unroll")
#ifndef EAGRE_SHIM
__device__ __forceinline__ u32 tc_shared(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void tc_copy16(void* to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(tc_shared(to)), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
__device__ __forceinline__ void tc_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void tc_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void tc_load4(u32 (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(tc_shared(row)) : "memory");
}
__device__ __forceinline__ void tc_load4_transposed(u32 (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(tc_shared(row)) : "memory");
}
#define TC_PRODUCT(name, type)                                                                                                            \\
  __device__ __forceinline__ void name(f32 (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {                                                  \\
    asm volatile("mma.sync.aligned." type " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                              \\
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));        \\
  }
TC_PRODUCT(tc_mma_bfloat16, "m16n8k16.row.col.f32.bf16.bf16.f32")
TC_PRODUCT(tc_mma_float16, "m16n8k16.row.col.f32.f16.f16.f32")
TC_PRODUCT(tc_mma_float32, "m16n8k8.row.col.f32.tf32.tf32.f32")
__device__ __forceinline__ f32 tc_shuffle(f32 x, u32 away) { return __shfl_xor_sync(0xffffffffu, x, away); }
__device__ __forceinline__ u32 tc_tf32(f32 x) { u32 bits; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x)); return bits; }
#endif
struct __align__(16) tc_chunk { u32 x, y, z, w; };
#endif
`;

/** The conversions of 16 bit floats, as in `math.ts`; both devices' own round so. */
const conversions: Readonly<Record<string, string>> = {
  float32: `__device__ __forceinline__ f32 widened(f32 x) { return x; }
__device__ __forceinline__ f32 narrowed(f32 x) { return x; }`,
  bfloat16: `__device__ __forceinline__ f32 widened(u16 h) { return wg_bitcast<f32>(u32(h) << 16); }
__device__ __forceinline__ u16 narrowed(f32 x) {
  const u32 b = wg_bitcast<u32>(x);
  if ((b & 0x7fffffffu) > 0x7f800000u) return u16((b >> 16) | 0x40u);
  return u16((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}`,
  float16: `__device__ __forceinline__ f32 widened(u16 h) {
  const u32 s = (u32(h) & 0x8000u) << 16, e = (u32(h) >> 10) & 31u, m = u32(h) & 0x3ffu;
  if (e == 31u) return wg_bitcast<f32>(s | 0x7f800000u | (m << 13));
  if (e == 0u) return wg_bitcast<f32>(s | wg_bitcast<u32>(f32(m) * 5.9604644775390625e-8f));
  return wg_bitcast<f32>(s | ((e + 112u) << 23) | (m << 13));
}
__device__ __forceinline__ u16 narrowed(f32 x) {
  const u32 b = wg_bitcast<u32>(x), s = (b >> 16) & 0x8000u, a = b & 0x7fffffffu;
  if (a > 0x7f800000u) return u16(s | 0x7e00u);
  if (a >= 0x477ff000u) return u16(s | 0x7c00u);
  if (a < 0x38800000u) return u16(s | u32(rintf(wg_bitcast<f32>(a) * 16777216.0f)));
  return u16(s | ((a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13));
}`,
};

/** A product that tensor cores make. */
export interface CoreProduct extends Required<Pick<Product, 'params'>>, Omit<Product, 'dtype' | 'params'> {
  readonly dtype: 'float32' | 'float16' | 'bfloat16';
  /** Whether it makes the sums of a part of the depth, in float32, without bias and activation. */
  readonly isPart: boolean;
  /** Columns of a tile. */
  readonly width: Width;
}
type Width = 64 | 128;

/** Rows that a workgroup makes. */
const ROWS = 128;
const THREADS = 256;
/** Tiles that are in shared memory at once: one is used while two are on their way. */
const STAGES = 3;

/** Bytes of a tile of one factor: 64 deep, counted in bytes, so that three of both fill the 48 KB that a kernel may declare. */
const DEEP_BYTES = 64;

const programs = new Map<string, CudaProgram>();

/** The compute capability that these kernels need. */
const CAPABILITY = 80;

/** How deep a step goes. */
export function coreDepth(dtype: DType): number {
  return DEEP_BYTES / (dtype === 'float32' ? 4 : 2);
}

/** The tiles of a product, and how wide they are. */
export function coreTiles(rows: number, columns: number): { readonly count: number; readonly width: Width } {
  const width = columns <= 64 ? 64 : 128;
  return { count: Math.ceil(rows / ROWS) * Math.ceil(columns / width), width };
}

/** A kernel as it is declared. */
interface CoreKernel extends Pick<CudaProgram, 'print' | 'params'> {
  /** Declarations, which end in the names. */
  readonly pointers: readonly string[];
  readonly isTensorFloat32?: boolean;
}

/** The program of a kernel for tensor cores, which is made once for each key. */
export function coreProgram(key: string, threads: number, make: () => CoreKernel): CudaProgram {
  let program = programs.get(key);
  if (program !== undefined) return program;
  const { isTensorFloat32 = false, ...kernel } = make();
  program = {
    ...kernel,
    pointers: kernel.pointers.map((pointer) => pointer.slice(0, pointer.lastIndexOf(' '))),
    workgroup: [threads, 1, 1],
    capability: CAPABILITY,
    isTensorFloat32,
  };
  programs.set(key, program);
  return program;
}

/**
 * A product with sums in float32. Its parameters are rows, columns, depth, the steps of a part of the depth, the number of parts, and those of the product;
 * its workgroups the tiles, and the batches with their parts in the third dimension. A part makes a matrix of its own.
 */
export function coreProduct(product: CoreProduct): CudaProgram {
  const shapes = [product.left, product.right].map((factor) => isAligned(factor, product.dtype));
  const key = JSON.stringify({
    ...product,
    left: { ...product.left, run: 0 },
    right: { ...product.right, run: 0 },
    shapes,
  });
  return coreProgram(key, THREADS, () => {
    const { dtype, isPart, params } = product;
    const element = elementOf(dtype);
    const read = isPart ? product.buffers.filter((name) => name !== 'bias') : product.buffers;
    const pointers = [...read.map((name) => `const ${element}* ${name}`), `${isPart ? 'f32' : element}* y`];
    const fields = {
      rows: 'u32',
      columns: 'u32',
      depth: 'u32',
      steps: 'u32',
      parts: 'u32',
      ...params,
    } as const;
    return {
      print: (name) => text(name, product, fields, pointers),
      pointers,
      params: Object.values(fields),
      isTensorFloat32: dtype === 'float32',
    };
  });
}

export function elementOf(dtype: DType): 'f32' | 'u16' {
  return dtype === 'float32' ? 'f32' : 'u16';
}

/** Elements of a chunk of 16 bytes. */
export function lanesOf(dtype: DType): number {
  return dtype === 'float32' ? 4 : 8;
}

function isAligned({ run }: Factor, dtype: DType): boolean {
  return run % lanesOf(dtype) === 0;
}

/** What is known of a factor's tile in shared memory. */
interface Tile {
  readonly name: 'a' | 'b';
  readonly factor: Factor;
  readonly aligned: boolean;
  readonly dtype: CoreProduct['dtype'];
  /** Rows of a, columns of b. */
  readonly size: number;
  readonly lanes: number;
  /** Chunks of a line, of which there is one for each `size`, or each of the depth. */
  readonly across: number;
  readonly chunks: number;
  /** The variable of the kernel that its side is, where the tile begins, and how many there are. */
  readonly side: 'row' | 'column';
  readonly first: string;
  readonly sides: string;
}

function tilesOf({ dtype, left, right, width }: CoreProduct): readonly [Tile, Tile] {
  const lanes = lanesOf(dtype);
  const of = (factor: Factor, size: number) => ({
    factor,
    aligned: isAligned(factor, dtype),
    dtype,
    size,
    lanes,
    across: (factor.inner === 'deep' ? coreDepth(dtype) : size) / lanes,
    chunks: (size * coreDepth(dtype)) / lanes,
  });
  return [
    { ...of(left, ROWS), name: 'a', side: 'row', first: 'top', sides: 'p.rows' },
    { ...of(right, width), name: 'b', side: 'column', first: 'left', sides: 'p.columns' },
  ];
}

const declared = (values: readonly Value[]): string =>
  values.map(([name, type, expression]) => `const ${type} ${name} = ${expression};`).join(' ');
const struct = (name: string, values: readonly Value[]): string =>
  `struct ${name} { ${values.map(([field, type]) => `${type} ${field};`).join(' ')} };`;
const taken = (from: string, values: readonly Value[]): string =>
  values.map(([name, type]) => `const ${type} ${name} = ${from}.${name};`).join(' ');

/** Functions that tell where the elements of a factor lie: values of its side and of the depth are computed apart, as one of them stays the same in all steps. */
function places({ name, factor, side }: Tile, batch: readonly Value[]): string {
  const { side: ofSide = [], deep: ofDeep = [], inside = 'true', at } = factor;
  const made = (values: readonly Value[]): string =>
    `${declared(values)} return {${values.map(([field]) => field).join(', ')}};`;
  return `${struct(`Side_${name}`, ofSide)}
${struct(`Deep_${name}`, ofDeep)}
__device__ __forceinline__ Side_${name} side_${name}(u32 ${side}, const Params& p) { ${made(ofSide)} }
__device__ __forceinline__ Deep_${name} deep_${name}(u32 deep, const Params& p) { ${made(ofDeep)} }
__device__ __forceinline__ bool place_${name}(u32& at, u32 batch, const Batch& ofBatch, u32 ${side}, const Side_${name}& ofSide, u32 deep, const Deep_${name}& ofDeep, const Params& p) {
  ${taken('ofBatch', batch)} ${taken('ofSide', ofSide)} ${taken('ofDeep', ofDeep)}
  const bool inside = ${side} < ${side === 'row' ? 'p.rows' : 'p.columns'} && deep < p.depth && (${inside});
  at = inside ? u32(${at}) : 0u;
  return inside;
}`;
}

/** Chunks of a tile that a thread brings. */
const perThread = ({ chunks }: Tile): number => chunks / THREADS;

/** Statements before the first step. The values of the side are the same in all of them. */
function prepare(tile: Tile): string {
  const { name, factor, side, across, first, lanes, aligned } = tile;
  if (!aligned) return '';
  if (factor.inner === 'side')
    return `const u32 ${side} = ${first} + t % ${across}u * ${lanes}u; const Side_${name} ofSide_${name} = side_${name}(${side}, p);`;
  return `Side_${name} ofSide_${name}[${perThread(tile)}];
  TC_UNROLLED for (u32 j = 0; j < ${perThread(tile)}u; j++) ofSide_${name}[j] = side_${name}(${first} + t / ${across}u + j * ${THREADS / across}u, p);`;
}

/** Statements that bring the tile of a factor that begins at `begin` to shared memory. */
function fetch(tile: Tile): string {
  const { name, factor, side, first, lanes, across, chunks, aligned } = tile;
  const isDeep = factor.inner === 'deep';
  const to = `tc_chunk* to = &tile_${name}[stage * ${chunks}u + line * ${across}u + (chunk ^ ${swizzle('line', across)})];`;
  const each = `TC_UNROLLED for (u32 j = 0; j < ${perThread(tile)}u; j++) { const u32 line = t / ${across}u + j * ${THREADS / across}u; ${to}`;
  const place = (ofSide: string, ofDeep: string): string =>
    `place_${name}(at, batch, ofBatch, ${side}, ${ofSide}, k, ${ofDeep}, p)`;
  if (!aligned)
    return `{ const u32 chunk = t % ${across}u;
      ${each}
        Element part[${lanes}];
        TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) {
          const u32 ${side} = ${first} + ${isDeep ? 'line' : `chunk * ${lanes}u + e`}, k = begin + ${isDeep ? `chunk * ${lanes}u + e` : 'line'};
          u32 at; part[e] = Element(0);
          if (${place(`side_${name}(${side}, p)`, `deep_${name}(k, p)`)}) part[e] = ${factor.buffer}[at];
        }
        tc_chunk value; memcpy(&value, part, 16); *to = value;
      } }`;
  if (isDeep)
    return `{ const u32 chunk = t % ${across}u, k = begin + chunk * ${lanes}u; const Deep_${name} ofDeep = deep_${name}(k, p);
      ${each}
        const u32 ${side} = ${first} + line; u32 at;
        const bool inside = ${place(`ofSide_${name}[j]`, 'ofDeep')};
        tc_copy16(to, ${factor.buffer} + at, inside);
      } }`;
  return `{ const u32 chunk = t % ${across}u;
      ${each}
        const u32 k = begin + line; u32 at;
        const bool inside = ${place(`ofSide_${name}`, `deep_${name}(k, p)`)};
        tc_copy16(to, ${factor.buffer} + at, inside);
      } }`;
}

/** By how much the chunks of a line are turned around, so that those of a column of 8 lie in different banks. */
export function swizzle(line: string, across: number): string {
  if (across >= 8) return `(${line} & 7u)`;
  return `((${line} >> 1) & 3u)`;
}

/** The place of an element in the shared memory of a factor, as an expression; `k` and `side` are inside of the tile. */
function shared({ name, factor, lanes, across, chunks }: Tile, side: string, k: string): string {
  const [line, inner] = factor.inner === 'deep' ? [side, k] : [k, side];
  return `((const Element*)&tile_${name}[stage * ${chunks}u + (${line}) * ${across}u + (((${inner}) / ${lanes}u) ^ ${swizzle(`(${line})`, across)})])[(${inner}) % ${lanes}u]`;
}

/** Rows of 16 that a warp makes; it makes 32 columns. */
function rowsOfWarp(width: Width): number {
  return width === 128 ? 4 : 2;
}

/** Statements that load the factors of a step of the depth from shared memory, and multiply. */
function multiply([a, b]: readonly [Tile, Tile], rows: number): string {
  const mma = `tc_mma_${a.dtype}`;
  if (a.dtype === 'float32') {
    const bits = (of: Tile, side: string, k: string): string => `tc_tf32(${shared(of, side, k)})`;
    return `TC_UNROLLED for (u32 k = 0; k < 16u; k += 8u) {
      u32 fa[${rows}][4], fb[4][2];
      TC_UNROLLED for (u32 i = 0; i < ${rows}; i++) {
        const u32 r = warpRow + i * 16u + lane / 4u;
        fa[i][0] = ${bits(a, 'r', 'k + lane % 4u')}; fa[i][1] = ${bits(a, 'r + 8u', 'k + lane % 4u')};
        fa[i][2] = ${bits(a, 'r', 'k + lane % 4u + 4u')}; fa[i][3] = ${bits(a, 'r + 8u', 'k + lane % 4u + 4u')};
      }
      TC_UNROLLED for (u32 j = 0; j < 4; j++) {
        const u32 c = warpColumn + j * 8u + lane / 4u;
        fb[j][0] = ${bits(b, 'c', 'k + lane % 4u')}; fb[j][1] = ${bits(b, 'c', 'k + lane % 4u + 4u')};
      }
      TC_UNROLLED for (u32 i = 0; i < ${rows}; i++) TC_UNROLLED for (u32 j = 0; j < 4; j++) ${mma}(sums[i][j], fa[i], fb[j][0], fb[j][1]);
    }`;
  }
  const [transposedA, transposedB] = [a, b].map(({ factor }) => factor.inner === 'side');
  const loadA = transposedA ? 'tc_load4_transposed' : 'tc_load4';
  const loadB = transposedB ? 'tc_load4_transposed' : 'tc_load4';
  // The matrices of A are: rows, then rows + 8, then those of the depth + 8; of B the depth, then the depth + 8, then columns + 8.
  const atA = transposedA
    ? shared(a, 'warpRow + i * 16u + (lane / 8u % 2u) * 8u', 'k + lane / 16u * 8u + lane % 8u')
    : shared(a, 'warpRow + i * 16u + (lane / 8u % 2u) * 8u + lane % 8u', 'k + lane / 16u * 8u');
  const atB = transposedB
    ? shared(b, 'warpColumn + j * 16u + lane / 16u * 8u', 'k + (lane / 8u % 2u) * 8u + lane % 8u')
    : shared(b, 'warpColumn + j * 16u + lane / 16u * 8u + lane % 8u', 'k + (lane / 8u % 2u) * 8u');
  return `TC_UNROLLED for (u32 k = 0; k < 32u; k += 16u) {
      u32 fa[${rows}][4], fb[2][4];
      TC_UNROLLED for (u32 i = 0; i < ${rows}; i++) ${loadA}(fa[i], &${atA});
      TC_UNROLLED for (u32 j = 0; j < 2; j++) ${loadB}(fb[j], &${atB});
      TC_UNROLLED for (u32 i = 0; i < ${rows}; i++) TC_UNROLLED for (u32 j = 0; j < 4; j++) ${mma}(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }`;
}

/** Statements that store `sum`, the element at `row` and `column`. */
function storeSum({ isPart, biasAt, activation, at }: CoreProduct): string {
  if (isPart) return 'y[(size_t(blockIdx.z) * p.rows + row) * p.columns + column] = sum;';
  return `${biasAt === undefined ? '' : `sum = widened(narrowed(sum)) + widened(bias[${biasAt}]);`}
          ${activation === 1 ? 'if (sum < 0.0f) sum = 0.0f;' : ''}
          y[${at}] = narrowed(sum);`;
}

/** The text of a kernel, in a namespace of its own. @param params type by name. */
export function kernelText(
  name: string,
  dtype: CoreProduct['dtype'],
  params: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>,
  functions: string,
  signature: string,
  body: string,
): string {
  return `${tensorCorePrelude}
namespace ns_${name} {
struct Params { ${Object.entries(params)
    .map(([field, type]) => `${type} ${field};`)
    .join(' ')} };
typedef ${elementOf(dtype)} Element;
${conversions[dtype]}
${functions}
extern "C" __global__ void ${signature} {
${body}
}
}
`;
}

function text(
  name: string,
  product: CoreProduct,
  params: Readonly<Record<string, 'u32' | 'i32'>>,
  pointers: readonly string[],
): string {
  const { dtype, width, batch = [] } = product;
  const tiles = tilesOf(product);
  const rows = rowsOfWarp(width);
  const [warpsAcross, depth] = [width / 32, coreDepth(dtype)];
  return kernelText(
    name,
    dtype,
    params,
    `${struct('Batch', batch)}\n${tiles.map((tile) => places(tile, batch)).join('\n')}`,
    `__launch_bounds__(${THREADS}, 1) ${name}(${pointers.join(', ')}, const Params p)`,
    `  __shared__ tc_chunk tile_a[${STAGES * tiles[0].chunks}];
  __shared__ tc_chunk tile_b[${STAGES * tiles[1].chunks}];
  const u32 t = threadIdx.x, lane = t % 32u, warp = t / 32u;
  const u32 tilesAcross = (p.columns + ${width - 1}u) / ${width}u;
  const u32 top = blockIdx.x / tilesAcross * ${ROWS}u, left = blockIdx.x % tilesAcross * ${width}u;
  const u32 warpRow = warp / ${warpsAcross}u * ${rows * 16}u, warpColumn = warp % ${warpsAcross}u * 32u;
  const u32 batch = blockIdx.z / p.parts, part = blockIdx.z % p.parts;
  ${declared(batch)} const Batch ofBatch = {${batch.map(([field]) => field).join(', ')}};
  ${tiles.map(prepare).join('\n  ')}
  f32 sums[${rows}][4][4] = {};
  const u32 all = (p.depth + ${depth - 1}u) / ${depth}u, firstStep = part * p.steps;
  const u32 steps = wg_min(p.steps, all - firstStep);
  for (u32 step = 0; step < steps + ${STAGES - 1}u; step++) {
    if (step < steps) {
      const u32 begin = (firstStep + step) * ${depth}u, stage = step % ${STAGES}u;
      ${tiles.map(fetch).join('\n      ')}
    }
    tc_commit();
    if (step < ${STAGES - 1}u) continue;
    tc_wait<${STAGES - 1}>();
    __syncthreads();
    {
      const u32 stage = (step - ${STAGES - 1}u) % ${STAGES}u;
      ${multiply(tiles, rows)}
    }
    __syncthreads();
  }
  TC_UNROLLED for (u32 i = 0; i < ${rows}; i++)
    TC_UNROLLED for (u32 j = 0; j < 4; j++)
      TC_UNROLLED for (u32 half = 0; half < 2; half++) {
        const u32 row = top + warpRow + i * 16u + half * 8u + lane / 4u;
        TC_UNROLLED for (u32 e = 0; e < 2; e++) {
          const u32 column = left + warpColumn + j * 8u + lane % 4u * 2u + e;
          f32 sum = sums[i][j][half * 2u + e];
          if (row >= p.rows || column >= p.columns) continue;
          ${storeSum(product)}
        }
      }`,
  );
}

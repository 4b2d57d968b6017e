// Matrix products on the tensor cores of NVIDIA, in CUDA C++: the subset of WGSL has no words for them.
import type { DType } from '@eagre/backend';
import type { CudaProgram } from '../kernels/kernel.ts';

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

export interface TensorCoreProduct {
  readonly dtype: 'float32' | 'float16' | 'bfloat16';
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly hasBias: boolean;
  readonly relu: boolean;
  /** How many axes the batches have. */
  readonly rank: number;
  /** Whether every row of a, or of b, begins at a multiple of 16 bytes. */
  readonly alignedA: boolean;
  readonly alignedB: boolean;
}

/** Rows and columns that a workgroup makes; 8 warps make 64 by 32 each. */
export const TILE = 128;
const THREADS = 256;
/** Tiles that are in shared memory at once: one is used while two are on their way. */
const STAGES = 3;

/** Bytes of a tile of one factor: 64 deep, counted in bytes, so that three of both fill the 48 KB that a kernel may declare. */
const DEEP_BYTES = 64;

const programs = new Map<string, CudaProgram>();

/** The compute capability that these kernels need. */
const CAPABILITY = 80;

/** Whether the elements of a factor that follow each other in memory are whole chunks of 16 bytes. */
export function isAligned(run: number, dtype: DType): boolean {
  return run % (dtype === 'float32' ? 4 : 8) === 0;
}

/** y = a · b with sums in float32. Its parameters are rows, columns, depth, and the axes of the batches with the steps of a and b along them. */
export function tensorCoreProduct(product: TensorCoreProduct): CudaProgram {
  const key = JSON.stringify(product);
  let program = programs.get(key);
  if (program !== undefined) return program;
  const { dtype, hasBias, rank } = product;
  const element = dtype === 'float32' ? 'f32' : 'u16';
  const names = (of: string): string[] => Array.from({ length: rank }, (_, i) => `${of}${i}`);
  const fields = ['rows', 'columns', 'depth', ...names('d'), ...names('s'), ...names('q')];
  const pointers = [
    `const ${element}* a`,
    `const ${element}* b`,
    ...(hasBias ? [`const ${element}* bias`] : []),
    `${element}* y`,
  ];
  program = {
    print: (name) => text(name, product, element, fields, pointers),
    pointers: pointers.map((pointer) => pointer.slice(0, pointer.lastIndexOf(' '))),
    params: fields.map((field) => (/^[sq]/.test(field) ? 'i32' : 'u32')),
    workgroup: [THREADS, 1, 1],
    capability: CAPABILITY,
    isTensorFloat32: dtype === 'float32',
  };
  programs.set(key, program);
  return program;
}

/** Statements that bring the tile of a factor that begins at `deep` to shared memory. */
function fetch(of: 'a' | 'b', { dtype, ...product }: TensorCoreProduct): string {
  const isA = of === 'a';
  const deepInner = isA ? !product.transposeA : product.transposeB;
  const aligned = isA ? product.alignedA : product.alignedB;
  const lanes = dtype === 'float32' ? 4 : 8;
  const deep = DEEP_BYTES / (16 / lanes);
  const [width, side, first] = isA ? ['p.rows', 'row', 'top'] : ['p.columns', 'column', 'left'];
  // Chunks of a line of the tile, lines, and where an element of the chunk lies.
  const across = (deepInner ? deep : TILE) / lanes;
  const chunks = (TILE * deep) / lanes;
  const place = deepInner
    ? `const u32 ${side} = ${first} + line; const u32 k = deep + chunk * ${lanes}u; const bool inside = ${side} < ${width} && k < p.depth;
      const size_t from = size_t(${side}) * p.depth + k;`
    : `const u32 k = deep + line; const u32 ${side} = ${first} + chunk * ${lanes}u; const bool inside = k < p.depth && ${side} < ${width};
      const size_t from = size_t(k) * ${width} + ${side};`;
  const inner = deepInner ? `k + e < p.depth` : `${side} + e < ${width}`;
  const copy = aligned
    ? `tc_copy16(to, ${of} + (inside ? from : 0), inside);`
    : `Element part[${lanes}];
      TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) part[e] = inside && ${inner} ? ${of}[from + e] : Element(0);
      tc_chunk value; memcpy(&value, part, 16); *to = value;`;
  return `for (u32 i = t; i < ${chunks}u; i += ${THREADS}u) {
      const u32 line = i / ${across}u, chunk = i % ${across}u; ${place}
      tc_chunk* to = &tile_${of}[stage * ${chunks}u + line * ${across}u + (chunk ^ ${swizzle('line', across)})];
      ${copy}
    }`;
}

/** By how much the chunks of a line are turned around, so that those of a column of 8 lie in different banks. */
function swizzle(line: string, across: number): string {
  if (across >= 8) return `(${line} & 7u)`;
  return `((${line} >> 1) & 3u)`;
}

/** The place of an element in the shared memory of a factor, as an expression; `k` and `side` are inside of the tile. */
function shared(of: 'a' | 'b', product: TensorCoreProduct, side: string, k: string): string {
  const deepInner = of === 'a' ? !product.transposeA : product.transposeB;
  const lanes = product.dtype === 'float32' ? 4 : 8;
  const deep = DEEP_BYTES / (16 / lanes);
  const across = (deepInner ? deep : TILE) / lanes;
  const [line, inner] = deepInner ? [side, k] : [k, side];
  return `((const Element*)&tile_${of}[stage * ${(TILE * deep) / lanes}u + (${line}) * ${across}u + (((${inner}) / ${lanes}u) ^ ${swizzle(`(${line})`, across)})])[(${inner}) % ${lanes}u]`;
}

/** Statements that load the factors of a step of the depth from shared memory, and multiply. */
function multiply(product: TensorCoreProduct): string {
  const mma = `tc_mma_${product.dtype}`;
  if (product.dtype === 'float32') {
    const bits = (of: 'a' | 'b', side: string, k: string): string =>
      `tc_tf32(${shared(of, product, side, k)})`;
    return `TC_UNROLLED for (u32 k = 0; k < 16u; k += 8u) {
      u32 fa[4][4], fb[4][2];
      TC_UNROLLED for (u32 i = 0; i < 4; i++) {
        const u32 r = warpRow + i * 16u + lane / 4u;
        fa[i][0] = ${bits('a', 'r', 'k + lane % 4u')}; fa[i][1] = ${bits('a', 'r + 8u', 'k + lane % 4u')};
        fa[i][2] = ${bits('a', 'r', 'k + lane % 4u + 4u')}; fa[i][3] = ${bits('a', 'r + 8u', 'k + lane % 4u + 4u')};
      }
      TC_UNROLLED for (u32 j = 0; j < 4; j++) {
        const u32 c = warpColumn + j * 8u + lane / 4u;
        fb[j][0] = ${bits('b', 'c', 'k + lane % 4u')}; fb[j][1] = ${bits('b', 'c', 'k + lane % 4u + 4u')};
      }
      TC_UNROLLED for (u32 i = 0; i < 4; i++) TC_UNROLLED for (u32 j = 0; j < 4; j++) ${mma}(sums[i][j], fa[i], fb[j][0], fb[j][1]);
    }`;
  }
  const loadA = product.transposeA ? 'tc_load4_transposed' : 'tc_load4';
  const loadB = product.transposeB ? 'tc_load4' : 'tc_load4_transposed';
  // The matrices of A are: rows, then rows + 8, then those of the depth + 8; of B the depth, then the depth + 8, then columns + 8.
  const atA = product.transposeA
    ? shared('a', product, 'warpRow + i * 16u + (lane / 8u % 2u) * 8u', 'k + lane / 16u * 8u + lane % 8u')
    : shared('a', product, 'warpRow + i * 16u + (lane / 8u % 2u) * 8u + lane % 8u', 'k + lane / 16u * 8u');
  const atB = product.transposeB
    ? shared('b', product, 'warpColumn + j * 16u + lane / 16u * 8u + lane % 8u', 'k + (lane / 8u % 2u) * 8u')
    : shared('b', product, 'warpColumn + j * 16u + lane / 16u * 8u', 'k + (lane / 8u % 2u) * 8u + lane % 8u');
  return `TC_UNROLLED for (u32 k = 0; k < 32u; k += 16u) {
      u32 fa[4][4], fb[2][4];
      TC_UNROLLED for (u32 i = 0; i < 4; i++) ${loadA}(fa[i], &${atA});
      TC_UNROLLED for (u32 j = 0; j < 2; j++) ${loadB}(fb[j], &${atB});
      TC_UNROLLED for (u32 i = 0; i < 4; i++) TC_UNROLLED for (u32 j = 0; j < 4; j++) ${mma}(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }`;
}

function text(
  name: string,
  product: TensorCoreProduct,
  element: string,
  fields: readonly string[],
  pointers: readonly string[],
): string {
  const { dtype, hasBias, relu, rank } = product;
  const deep = dtype === 'float32' ? 16 : 32;
  const chunks = (TILE * DEEP_BYTES) / 16;
  const axes = Array.from({ length: rank }, (_, i) => rank - 1 - i);
  const batches = axes
    .map(
      (i) =>
        `{ const i32 at = i32(${i === 0 ? 'rest' : `rest % p.d${i}`}); ofA += at * p.s${i}; ofB += at * p.q${i}; rest /= p.d${i}; }`,
    )
    .join(' ');
  return `${tensorCorePrelude}
namespace ns_${name} {
struct Params { ${fields.map((field) => `${/^[sq]/.test(field) ? 'i32' : 'u32'} ${field};`).join(' ')} };
typedef ${element} Element;
${conversions[dtype]}
extern "C" __global__ void __launch_bounds__(${THREADS}, 1) ${name}(${pointers.join(', ')}, const Params p) {
  __shared__ tc_chunk tile_a[${STAGES * chunks}];
  __shared__ tc_chunk tile_b[${STAGES * chunks}];
  const u32 t = threadIdx.x, lane = t % 32u, warp = t / 32u;
  const u32 top = blockIdx.y * ${TILE}u, left = blockIdx.x * ${TILE}u;
  const u32 warpRow = warp / 4u * 64u, warpColumn = warp % 4u * 32u;
  u32 rest = blockIdx.z; i32 ofA = 0, ofB = 0;
  ${batches}
  a += size_t(ofA) * p.rows * p.depth;
  b += size_t(ofB) * p.depth * p.columns;
  y += size_t(blockIdx.z) * p.rows * p.columns;
  f32 sums[4][4][4] = {};
  const u32 steps = (p.depth + ${deep - 1}u) / ${deep}u;
  for (u32 step = 0; step < steps + ${STAGES - 1}u; step++) {
    if (step < steps) {
      const u32 deep = step * ${deep}u, stage = step % ${STAGES}u;
      ${fetch('a', product)}
      ${fetch('b', product)}
    }
    tc_commit();
    if (step < ${STAGES - 1}u) continue;
    tc_wait<${STAGES - 1}>();
    __syncthreads();
    {
      const u32 stage = (step - ${STAGES - 1}u) % ${STAGES}u;
      ${multiply(product)}
    }
    __syncthreads();
  }
  TC_UNROLLED for (u32 i = 0; i < 4; i++)
    TC_UNROLLED for (u32 j = 0; j < 4; j++)
      TC_UNROLLED for (u32 half = 0; half < 2; half++) {
        const u32 row = top + warpRow + i * 16u + half * 8u + lane / 4u;
        TC_UNROLLED for (u32 e = 0; e < 2; e++) {
          const u32 column = left + warpColumn + j * 8u + lane % 4u * 2u + e;
          f32 sum = sums[i][j][half * 2u + e];
          ${hasBias ? 'sum = widened(narrowed(sum)) + widened(column < p.columns ? bias[column] : Element(0));' : ''}
          ${relu ? 'if (sum < 0.0f) sum = 0.0f;' : ''}
          if (row < p.rows && column < p.columns) y[size_t(row) * p.columns + column] = narrowed(sum);
        }
      }
}
}
`;
}

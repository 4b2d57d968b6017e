// Kernels for the tensor cores of NVIDIA, in CUDA C++: the subset of WGSL has no words for them.
import type { DType } from '@eagre/backend';
import type { CudaProgram } from '../kernels/kernel.ts';

/**
 * The instructions that the kernels use, as functions. Tests on the processor have others of these names (`cuda-shim.h`), so nothing else in the text
 * may be PTX.
 */
const tensorCorePrelude = `#ifndef EAGRE_TENSOR_CORES
#define EAGRE_TENSOR_CORES
// Lest the sums lie in memory.
#define TC_UNROLLED _Pragma("unroll")
struct __align__(16) tc_chunk { u32 x, y, z, w; };
#ifndef EAGRE_SHIM
extern __shared__ __align__(16) char tc_given[];
__device__ __forceinline__ char* tc_memory_bytes() { return tc_given; }
__device__ __forceinline__ u32 tc_shared(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void tc_copy16(void* to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(tc_shared(to)), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
__device__ __forceinline__ void tc_copy4(void* to, const void* from, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(tc_shared(to)), "l"(from), "r"(inside ? 4 : 0) : "memory");
}
__device__ __forceinline__ void tc_store16(void* to, const void* from) { tc_chunk value; memcpy(&value, from, 16); *(tc_chunk*)to = value; }
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
// Of two numbers the first is in the lower bits.
__device__ __forceinline__ u32 tc_pack_bfloat16(f32 low, f32 high) { u32 bits; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low)); return bits; }
__device__ __forceinline__ u32 tc_pack_float16(f32 low, f32 high) { u32 bits; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low)); return bits; }
// Stores two numbers beside each other, the first at a multiple of their size.
__device__ __forceinline__ void tc_pair_bfloat16(u16* to, f32 low, f32 high) { *(u32*)to = tc_pack_bfloat16(low, high); }
__device__ __forceinline__ void tc_pair_float16(u16* to, f32 low, f32 high) { *(u32*)to = tc_pack_float16(low, high); }
struct __align__(8) tc_two { f32 low, high; };
__device__ __forceinline__ void tc_pair_float32(f32* to, f32 low, f32 high) { *(tc_two*)to = {low, high}; }
__device__ __forceinline__ f32 tc_exp2(f32 x) { f32 y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
#endif
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

/** Numbers that tensor cores multiply. */
export type CoreDType = 'float32' | 'float16' | 'bfloat16';

const programs = new Map<string, CudaProgram>();

/** A kernel as it is declared. */
export interface CoreKernel
  extends Pick<CudaProgram, 'print' | 'params'>,
    Partial<
      Pick<CudaProgram, 'capability' | 'isSpecific' | 'isTensorFloat32' | 'shared' | 'maps' | 'isPersistent'>
    > {
  /** Declarations, which end in the names. */
  readonly pointers: readonly string[];
}

/** The program of a kernel for tensor cores, which is made once for each key. From compute capability 8.0 on unless it says otherwise. */
export function coreProgram(key: string, threads: number, make: () => CoreKernel): CudaProgram {
  let program = programs.get(key);
  if (program !== undefined) return program;
  const kernel = make();
  program = {
    capability: 80,
    isSpecific: false,
    isTensorFloat32: false,
    shared: 0,
    maps: 0,
    isPersistent: false,
    ...kernel,
    pointers: kernel.pointers.map((pointer) => pointer.slice(0, pointer.lastIndexOf(' '))),
    workgroup: [threads, 1, 1],
  };
  programs.set(key, program);
  return program;
}

export function elementOf(dtype: DType): 'f32' | 'u16' {
  return dtype === 'float32' ? 'f32' : 'u16';
}

/** What is copied at once. */
export const CHUNK_BYTES = 16;

/** Elements of a chunk. */
export function lanesOf(dtype: DType): number {
  return dtype === 'float32' ? 4 : 8;
}

/** The text of a kernel, in a namespace of its own. @param params type by name. @param prelude more functions. */
export function kernelText(
  name: string,
  dtype: CoreDType,
  params: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>,
  functions: string,
  signature: string,
  body: string,
  prelude = '',
): string {
  return `${tensorCorePrelude}${prelude}
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

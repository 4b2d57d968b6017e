// Hopper's own instructions: barriers with phases in shared memory, and products that warpgroups make of what lies there (compute capability 9.0 alone).
import type { CoreDType } from './tensor-cores.ts';

/** Columns of a product that an instruction makes. */
type Width = 32 | 64 | 128 | 256;

/** The threads of a warpgroup. */
export const GROUP = 128;

/** Tiles begin there, since the cores turn pieces of lines around by the bits of their addresses. */
export const ALIGNMENT = 1024;

/** The instructions, as functions: see `tensorCorePrelude`. */
export const hopperPrelude = (): string => `#ifndef EAGRE_HOPPER
#define EAGRE_HOPPER
#ifndef EAGRE_SHIM
typedef unsigned long long tc_barrier;
__device__ __forceinline__ u32 tc_uniform(u32 x) { return __shfl_sync(0xffffffffu, x, 0); }
__device__ __forceinline__ void tc_barrier_init(tc_barrier* barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(tc_shared(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void tc_barrier_arrive(tc_barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(tc_shared(barrier)) : "memory");
}
__device__ __forceinline__ void tc_barrier_wait(tc_barrier* barrier, u32 parity) {
  u32 done;
  do
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(tc_shared(barrier)), "r"(parity) : "memory");
  while (done == 0u);
}
// A warpgroup gives back registers, beyond so many of each thread, or gets them once others have given them back.
template <int N> __device__ __forceinline__ void tc_registers_fewer() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> __device__ __forceinline__ void tc_registers_more() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
// Has the cores see what this thread wrote to shared memory.
__device__ __forceinline__ void tc_fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void tc_wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void tc_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void tc_wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// Waits until no more than so many groups are under way, and has the sums be read behind it.
template <int Pending, int N> __device__ __forceinline__ void tc_wgmma_wait_for(f32 (&c)[N]) {
  tc_wgmma_wait<Pending>();
  TC_UNROLLED for (int i = 0; i < N; i++) asm volatile("" : "+f"(c[i]) :: "memory");
}
template <int N> __device__ __forceinline__ void tc_wgmma_finish(f32 (&c)[N]) { tc_wgmma_wait_for<0>(c); }
#endif
// The first place in the given memory where tiles may begin.
__device__ __forceinline__ tc_chunk* tc_memory() {
  char* given = tc_memory_bytes();
  return (tc_chunk*)(given + (0u - tc_shared(given)) % ${ALIGNMENT}u);
}
// Where a factor is, in lines of 128 bytes: the bytes from 64 of its side to the next 64, if it lies along its side, and from 8 lines to the next.
__device__ __forceinline__ unsigned long long tc_descriptor(const tc_chunk* at, u32 leading, u32 stride) {
  const unsigned long long low = tc_shared(at) / 16u | leading / 16u << 16;
  return low | (unsigned long long)(stride / 16u) << 32 | 1ull << 62;
}
#endif
`;

const TYPES = { float32: 'tf32', float16: 'f16', bfloat16: 'bf16' } as const;

/** The product of 64 rows and so many columns, as a function whose template says which factors lie along their side, and whether it adds to the sums that are there. */
export function wgmma(dtype: CoreDType, width: Width): string {
  const count = width / 2;
  const turned = dtype === 'float32' ? '' : `, %${count + 3}, %${count + 4}`;
  const given = dtype === 'float32' ? '' : ', "n"(int(A)), "n"(int(B))';
  return `#ifndef EAGRE_SHIM
template <bool A, bool B, bool Adds = true> __device__ __forceinline__ void tc_wgmma_${dtype}(f32 (&c)[${count}], unsigned long long a, unsigned long long b) {
  asm volatile("${instruction(dtype, width)}, %${count}, %${count + 1}, %${count + 2}, 1, 1${turned};"
    : ${sumsOf(count)} : "l"(a), "l"(b), "n"(int(Adds))${given});
}
#endif`;
}

/**
 * The same, of rows that are in registers: a warp has 16 of them, as `tc_mma_…` has its left factor. They are read until the product is waited for. The other factor
 * lies along its side.
 */
export function wgmmaOfRegisters(dtype: 'float16' | 'bfloat16', width: Width): string {
  const count = width / 2;
  const a = [0, 1, 2, 3].map((i) => `%${count + i}`).join(', ');
  return `#ifndef EAGRE_SHIM
__device__ __forceinline__ void tc_wgmma_registers_${dtype}(f32 (&c)[${count}], const u32 (&a)[4], unsigned long long b) {
  asm volatile("${instruction(dtype, width)}, {${a}}, %${count + 4}, 1, 1, 1, 1;"
    : ${sumsOf(count)} : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
#endif`;
}

/** The instruction with its sums. */
function instruction(dtype: CoreDType, width: Width): string {
  const type = TYPES[dtype];
  const sums = Array.from({ length: width / 2 }, (_, i) => `%${i}`).join(', ');
  return `wgmma.mma_async.sync.aligned.m64n${width}k${dtype === 'float32' ? 8 : 16}.f32.${type}.${type} {${sums}}`;
}

function sumsOf(count: number): string {
  return Array.from({ length: count }, (_, i) => `"+f"(c[${i}])`).join(', ');
}

// Hopper's own instructions: barriers with phases in shared memory, and products that warpgroups make of what lies there (compute capability 9.0 alone).
import type { Width } from './factor-tiles.ts';
import type { CoreDType } from './tensor-cores.ts';

/** The threads of a warpgroup. */
export const GROUP = 128;

/** Tiles begin there, since the cores turn pieces of lines around by the bits of their addresses. */
export const ALIGNMENT = 1024;

/** The instructions, as functions: see `tensorCorePrelude`. */
export const hopperPrelude: string = `#ifndef EAGRE_HOPPER
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
// Has the cores see what this thread wrote to shared memory.
__device__ __forceinline__ void tc_fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void tc_wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void tc_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void tc_wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// Waits for all, and has the sums be read behind it.
template <int N> __device__ __forceinline__ void tc_wgmma_finish(f32 (&c)[N]) {
  tc_wgmma_wait<0>();
  TC_UNROLLED for (int i = 0; i < N; i++) asm volatile("" : "+f"(c[i]) :: "memory");
}
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

/** The product of 64 rows and so many columns, as a function whose template says which factors lie along their side. */
export function wgmma(dtype: CoreDType, width: Width): string {
  const type = TYPES[dtype];
  const count = width / 2;
  const sums = Array.from({ length: count }, (_, i) => i);
  const deep = dtype === 'float32' ? 8 : 16;
  const turned = dtype === 'float32' ? '' : `, %${count + 2}, %${count + 3}`;
  const given = dtype === 'float32' ? '' : ', "n"(int(A)), "n"(int(B))';
  return `#ifndef EAGRE_SHIM
template <bool A, bool B> __device__ __forceinline__ void tc_wgmma_${dtype}(f32 (&c)[${count}], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n${width}k${deep}.f32.${type}.${type} {${sums.map((i) => `%${i}`).join(', ')}}, %${count}, %${count + 1}, 1, 1, 1${turned};"
    : ${sums.map((i) => `"+f"(c[${i}])`).join(', ')} : "l"(a), "l"(b)${given});
}
#endif`;
}

// Runs CUDA C++ kernels on a processor, for tests. The threads of a block are fibers, which leave each other the processor at barriers only. So the
// order in which they run is that of `order`, and a kernel that lacks a barrier gives other results in another order. What does not depend on the kernel is in
// cuda-shim.cc, which is compiled once.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tensor-map.h"

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)
#define EAGRE_SHIM

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

extern int order;  // 0 forward, 1 backward, else the seed of a shuffle
extern const char* failed;

/** Runs a kernel, whose threads are `call(kernel)`. @param shared bytes that the launch gives. */
void launch(dim3 grid, dim3 block, bool barriers, void (*call)(const void*), const void* kernel, size_t shared);
template <class Kernel> void launch(dim3 grid, dim3 block, bool barriers, const Kernel& kernel, size_t shared) {
  launch(grid, block, barriers, [](const void* of) { (*static_cast<const Kernel*>(of))(); }, &kernel, shared);
}

/** A product that a warpgroup was told to make. */
struct Product {
  float* sums;
  unsigned width;
  uint64_t a, b;
  bool transposedA, transposedB, adds;
  unsigned bytes;
  float (*value)(const char*);
  /** The left factor, if it is in registers. */
  const uint32_t* registers;
};
float floatOf(uint32_t bits);
float ofBfloat16(const char* at);
float ofFloat16(const char* at);
float ofFloat32(const char* at);
void told(const Product& product);
void waitForProducts(size_t pending);
/** Copies arrive when they are waited for; in orders of odd numbers when they are told. */
void arrive(size_t pending);

}  // namespace shim

void __syncthreads();
// Blocks run one behind the other.
inline void __threadfence() {}
inline unsigned atomicMax(unsigned* p, unsigned v) {
  const unsigned old = *p;
  if (v > old) *p = v;
  return old;
}
inline unsigned atomicAdd(unsigned* p, unsigned v) {
  const unsigned old = *p;
  *p = old + v;
  return old;
}

// The instructions of tensor-cores.ts.
void tc_commit();
void tc_copy16(void* to, const void* from, bool inside);
void tc_copy4(void* to, const void* from, bool inside);
template <int N> void tc_wait() { shim::arrive(N); }
void tc_store16(void* to, const void* from);
void tc_load4(unsigned (&r)[4], const void* row);
void tc_load4_transposed(unsigned (&r)[4], const void* row);
void tc_mma_bfloat16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);
void tc_mma_float16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);
void tc_mma_float32(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);
float tc_shuffle(float x, unsigned away);
unsigned tc_tf32(float x);
// What is packed may be for a product: a fence has to follow.
unsigned tc_pack_bfloat16(float low, float high);
unsigned tc_pack_float16(float low, float high);
float tc_exp2(float x);
void tc_sync_warp();

// Hopper's: barriers with phases, and products that warpgroups make of what is in shared memory while they go on.

/** A barrier in shared memory: a phase ends when `count` threads have arrived, and all bytes that it was told of. */
struct tc_barrier {
  unsigned count, pending, phase;
  long bytes;
  /** Whether a fence has shown it to copies of boxes. */
  bool shown;
};

char* tc_memory_bytes();
unsigned tc_shared(const void* p);
inline unsigned tc_uniform(unsigned x) { return x; }
void tc_barrier_init(tc_barrier* barrier, unsigned count);
void tc_pair_bfloat16(unsigned short* to, float low, float high);
void tc_pair_float16(unsigned short* to, float low, float high);
void tc_pair_float32(float* to, float low, float high);
void tc_barrier_arrive(tc_barrier* barrier);
/** Until the phase of this parity has ended. */
void tc_barrier_wait(tc_barrier* barrier, unsigned parity);
void tc_fence_async();
void tc_wgmma_fence();
template <bool A, bool B, bool Adds = true, int N> void tc_wgmma_bfloat16(float (&c)[N], uint64_t a, uint64_t b) {
  shim::told({c, 2 * N, a, b, A, B, Adds, 2, shim::ofBfloat16, nullptr});
}
template <bool A, bool B, bool Adds = true, int N> void tc_wgmma_float16(float (&c)[N], uint64_t a, uint64_t b) {
  shim::told({c, 2 * N, a, b, A, B, Adds, 2, shim::ofFloat16, nullptr});
}
template <bool A, bool B, bool Adds = true, int N> void tc_wgmma_float32(float (&c)[N], uint64_t a, uint64_t b) {
  static_assert(!A && !B, "factors of 32 bits are not transposed");
  shim::told({c, 2 * N, a, b, A, B, Adds, 4, shim::ofFloat32, nullptr});
}
template <int N> void tc_wgmma_registers_bfloat16(float (&c)[N], const unsigned (&a)[4], uint64_t b) {
  shim::told({c, 2 * N, 0, b, false, true, true, 2, shim::ofBfloat16, a});
}
template <int N> void tc_wgmma_registers_float16(float (&c)[N], const unsigned (&a)[4], uint64_t b) {
  shim::told({c, 2 * N, 0, b, false, true, true, 2, shim::ofFloat16, a});
}
void tc_wgmma_commit();
/** A warp waits as one, and others go on meanwhile. */
template <int N> void tc_wgmma_wait() { shim::waitForProducts(N); }
template <int Pending, int N> void tc_wgmma_wait_for(float (&)[N]) { tc_wgmma_wait<Pending>(); }
/** How many registers each thread of a warpgroup may have. Nobody waits for what others wrote there. */
template <int N> void tc_registers_fewer() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "no number of registers");
}
template <int N> void tc_registers_more() { tc_registers_fewer<N>(); }
template <int N> void tc_wgmma_finish(float (&)[N]) { tc_wgmma_wait<0>(); }

// TMA's: boxes that come to shared memory. Threads and products see them once they have waited for the phase that counts the bytes.
void tc_prefetch_map(const tc_map* map);
void tc_barrier_expect(tc_barrier* barrier, unsigned bytes);
void tc_copy_box(void* to, const tc_map* map, tc_barrier* barrier, unsigned element, unsigned line, unsigned matrix);

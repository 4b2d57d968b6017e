// A module for the fake driver, for tests that compile none.
#include "fake_image.h"

struct Params {
  float factor;
  unsigned count;
};
static void scale(const float* x, float* y, const Params p) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.count) y[i] = p.factor * x[i];
}
// A box of bfloat16 that begins at a line and an element, as the product of what it has and a factor: from shared memory, where its pieces are turned around.
struct BoxParams {
  unsigned element, line, matrix, elements, lines;
};
static void box(const tc_map map, float* y, const BoxParams p) {
  static tc_barrier barrier;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    tc_barrier_init(&barrier, 1);
    tc_fence_async();
    tc_barrier_expect(&barrier, p.elements * p.lines * 2);
    tc_copy_box(tc_memory_bytes(), &map, &barrier, p.element, p.line, p.matrix);
  }
  __syncthreads();
  tc_barrier_wait(&barrier, 0);
  for (unsigned i = t; i < p.elements * p.lines; i += blockDim.x) {
    const unsigned line = i / p.elements, at = i % p.elements;
    const auto* piece = reinterpret_cast<const uint16_t*>(tc_memory_bytes() + line * 128 + ((at / 8) ^ (line & 7)) * 16);
    y[i] = shim::floatOf(uint32_t(piece[at % 8]) << 16);
  }
}
static void overrun(float* y) { y[threadIdx.x] = 1; }

FAKE_KERNELS(FAKE_KERNEL("scale", scale, false), FAKE_KERNEL("overrun", overrun, false), FAKE_KERNEL("box", box, true))

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
static void overrun(float* y) { y[threadIdx.x] = 1; }

FAKE_KERNELS(FAKE_KERNEL("scale", scale, false), FAKE_KERNEL("overrun", overrun, false))

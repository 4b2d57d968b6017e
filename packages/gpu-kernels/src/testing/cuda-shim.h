// Runs CUDA C++ kernels on a processor, for tests. The threads of a block are fibers, which leave each other the processor at barriers only. So the
// order in which they run is that of `order`, and a kernel that lacks a barrier gives other results in another order.
#pragma once
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

inline int order = 0;  // 0 forward, 1 backward, else the seed of a shuffle
inline const char* failed = nullptr;

enum class State { ready, waits, done };
struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  State state = State::done;
  dim3 place;
};
inline std::vector<Fiber> fibers;
inline ucontext_t scheduler;
inline unsigned now = 0;
inline std::function<void()> body;

inline void leave(State state) {
  auto& fiber = fibers[now];
  fiber.state = state;
  swapcontext(&fiber.context, &scheduler);
}
inline void enter() {
  body();
  leave(State::done);
}

inline std::vector<unsigned> turns(unsigned count) {
  std::vector<unsigned> list(count);
  for (unsigned i = 0; i < count; i++) list[i] = order == 1 ? count - 1 - i : i;
  unsigned state = order;
  for (unsigned i = count; order > 1 && i-- > 1;) {
    state = state * 1664525u + 1013904223u;
    std::swap(list[i], list[(state >> 8) % (i + 1)]);
  }
  return list;
}

inline dim3 placeOf(unsigned i) {
  dim3 place;
  place.x = i % blockDim.x;
  place.y = i / blockDim.x % blockDim.y;
  place.z = i / (blockDim.x * blockDim.y);
  return place;
}

/** A block whose kernel has no barrier needs no fibers. */
inline void runPlainly(unsigned count) {
  for (unsigned i : turns(count)) {
    threadIdx = placeOf(i);
    body();
  }
}

inline void runFibers(unsigned count) {
  if (fibers.size() < count) fibers.resize(count);
  for (unsigned i = 0; i < count; i++) {
    auto& fiber = fibers[i];
    fiber.stack.resize(64 * 1024);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
    fiber.state = State::ready;
    fiber.place = placeOf(i);
  }
  const auto list = turns(count);
  for (;;) {
    for (unsigned i : list) {
      if (fibers[i].state != State::ready) continue;
      now = i;
      threadIdx = fibers[i].place;
      swapcontext(&scheduler, &fibers[i].context);
    }
    unsigned waiting = 0;
    for (unsigned i = 0; i < count; i++) waiting += fibers[i].state == State::waits;
    if (waiting == 0) return;
    if (waiting < count) {
      failed = "some threads of a block wait at a barrier that others never reach";
      return;
    }
    for (unsigned i = 0; i < count; i++) fibers[i].state = State::ready;
  }
}

inline void launch(dim3 grid, dim3 block, bool barriers, std::function<void()> kernel) {
  gridDim = grid;
  blockDim = block;
  body = std::move(kernel);
  const unsigned count = block.x * block.y * block.z;
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x && failed == nullptr; x++) {
        blockIdx.x = x;
        blockIdx.y = y;
        blockIdx.z = z;
        if (barriers) runFibers(count);
        else runPlainly(count);
      }
}

}  // namespace shim

inline void __syncthreads() { shim::leave(shim::State::waits); }
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

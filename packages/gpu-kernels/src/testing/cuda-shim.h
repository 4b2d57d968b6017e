// Runs CUDA C++ kernels on a processor, for tests. The threads of a block are fibers, which leave each other the processor at barriers only. So the
// order in which they run is that of `order`, and a kernel that lacks a barrier gives other results in another order.
#pragma once
#include <ucontext.h>

#include <algorithm>
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
#define __align__(n) alignas(n)
#define EAGRE_SHIM

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

inline int order = 0;  // 0 forward, 1 backward, else the seed of a shuffle
inline const char* failed = nullptr;

enum class State { ready, waits, waitsForWarp, done };

/** A copy to shared memory that is under way. */
struct Copy {
  void* to;
  const void* from;
  bool inside;
};
struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  State state = State::done;
  std::vector<std::vector<Copy>> groups;
  std::vector<Copy> copies;
  /** What the other threads of its warp see at a warp's barrier. */
  const void* shown = nullptr;
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
    fiber.groups.clear();
    fiber.copies.clear();
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
    // In the first two orders one warp runs ahead as far as it can, so that it meets the others at barriers of the block only.
    bool goesOn = false;
    for (unsigned place = 0; place < count; place += 32) {
      const unsigned first = order == 1 ? (count - 1) / 32 * 32 - place : place;
      const unsigned last = std::min(first + 32, count);
      unsigned there = 0;
      for (unsigned i = first; i < last; i++) there += fibers[i].state == State::waitsForWarp;
      if (there == 0) continue;
      if (there < last - first) {
        failed = "some threads of a warp wait for others that do something else";
        return;
      }
      for (unsigned i = first; i < last; i++) fibers[i].state = State::ready;
      goesOn = true;
      if (order < 2) break;
    }
    if (goesOn) continue;
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

// The instructions of tensor-cores.ts. All threads of a warp meet twice: when they have shown what they give, and when they have read it.
namespace shim {
template <class Read> void inWarp(const void* shown, Read read) {
  fibers[now].shown = shown;
  leave(State::waitsForWarp);
  read(now / 32 * 32, now % 32);
  leave(State::waitsForWarp);
}
inline float floatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
inline float halfOf(uint32_t h) {
  const uint32_t e = (h >> 10) & 31, m = h & 0x3ff;
  const float size = e == 31 ? (m != 0 ? NAN : INFINITY) : e == 0 ? ldexpf(float(m), -24) : ldexpf(float(m + 1024), int(e) - 25);
  return (h & 0x8000) != 0 ? -size : size;
}
/** Copies arrive when they are waited for; in orders of odd numbers when they are told. */
inline void arrive(size_t pending) {
  auto& groups = fibers[now].groups;
  while (groups.size() > pending) {
    for (const Copy& copy : groups.front()) {
      if (copy.inside) memcpy(copy.to, copy.from, 16);
      else memset(copy.to, 0, 16);
    }
    groups.erase(groups.begin());
  }
}
struct Factors {
  const uint32_t* a;
  uint32_t b0, b1;
};
/** c += a · b of 16 by 8, `words` words deep, of elements that `value` takes out of a word. */
template <int PerWord, class Value> void product(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Value value) {
  const Factors own{a, b0, b1};
  inWarp(&own, [&](unsigned first, unsigned lane) {
    for (unsigned i = 0; i < 4; i++) {
      const unsigned row = lane / 4, column = lane % 4 * 2 + i % 2;
      for (unsigned word = 0; word < 8; word++)
        for (int part = 0; part < PerWord; part++) {
          const auto& left = *static_cast<const Factors*>(fibers[first + row * 4 + word % 4].shown);
          const auto& right = *static_cast<const Factors*>(fibers[first + column * 4 + word % 4].shown);
          const uint32_t l = left.a[word / 4 * 2 + i / 2], r = word / 4 == 0 ? right.b0 : right.b1;
          c[i] += value(l, part) * value(r, part);
        }
    }
  });
}
template <bool transposed> void loadMatrices(uint32_t (&r)[4], const void* row) {
  inWarp(row, [&](unsigned first, unsigned lane) {
    for (unsigned m = 0; m < 4; m++) {
      auto at = [&](unsigned i, unsigned k) { return static_cast<const uint16_t*>(fibers[first + m * 8 + i].shown)[k]; };
      const unsigned i = lane / 4, k = lane % 4 * 2;
      r[m] = transposed ? at(k, i) | uint32_t(at(k + 1, i)) << 16 : at(i, k) | uint32_t(at(i, k + 1)) << 16;
    }
  });
}
}  // namespace shim

inline void tc_commit() {
  auto& fiber = shim::fibers[shim::now];
  fiber.groups.push_back(std::move(fiber.copies));
  fiber.copies.clear();
}
inline void tc_copy16(void* to, const void* from, bool inside) {
  if (reinterpret_cast<uintptr_t>(to) % 16 != 0 || (inside && reinterpret_cast<uintptr_t>(from) % 16 != 0))
    shim::failed = "a copy of 16 bytes that is not aligned";
  auto& fiber = shim::fibers[shim::now];
  fiber.copies.push_back({to, from, inside});
  if (shim::order % 2 == 1) {
    tc_commit();
    shim::arrive(0);
  }
}
template <int N> void tc_wait() { shim::arrive(N); }
inline void tc_load4(unsigned (&r)[4], const void* row) { shim::loadMatrices<false>(r, row); }
inline void tc_load4_transposed(unsigned (&r)[4], const void* row) { shim::loadMatrices<true>(r, row); }
inline void tc_mma_bfloat16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  shim::product<2>(c, a, b0, b1, [](uint32_t w, int part) { return shim::floatOf(part == 0 ? w << 16 : w & 0xffff0000u); });
}
inline void tc_mma_float16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  shim::product<2>(c, a, b0, b1, [](uint32_t w, int part) { return shim::halfOf(w >> 16 * part & 0xffff); });
}
inline void tc_mma_float32(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  shim::product<1>(c, a, b0, b1, [](uint32_t w, int) { return shim::floatOf(w & 0xffffe000u); });
}
inline float tc_shuffle(float x, unsigned away) {
  float other = 0;
  shim::inWarp(&x, [&](unsigned first, unsigned lane) { other = *static_cast<const float*>(shim::fibers[first + (lane ^ away)].shown); });
  return other;
}
inline unsigned tc_tf32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffffffu;
  return (bits + 0x1000u) & 0xffffe000u;
}

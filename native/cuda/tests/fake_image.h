// What an image for the fake driver is: a shared library of kernels that were compiled for the processor. They are listed by `FAKE_KERNELS`.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>

#include "../../../packages/gpu-kernels/src/testing/cuda-shim.h"

struct FakeKernel {
  const char* name;
  // Bytes of its arguments, laid out as a GPU has them.
  size_t bytes;
  // How many there are, where each begins, with the end behind them, and how large each is; the alignment of the strictest.
  size_t count;
  const size_t *offsets, *sizes;
  size_t alignment;
  // Undefined, or what went wrong. @param order of the threads, as the shim has it. @param shared bytes that the launch gives.
  const char* (*run)(const unsigned* grid, const unsigned* block, const char* arguments, int order, unsigned shared);
};

namespace fake {

template <class Function> struct Signature;
template <class... A> struct Signature<void (*)(A...)> {
  using Values = std::tuple<std::remove_const_t<A>...>;
  // Where each argument begins, and behind them the number of bytes of all.
  static void layout(size_t (&offsets)[sizeof...(A) + 1]) {
    size_t at = 0, i = 0;
    ((at = (at + alignof(A) - 1) / alignof(A) * alignof(A), offsets[i++] = at, at += sizeof(A)), ...);
    offsets[i] = at;
  }
  static const size_t* offsets() {
    static size_t all[sizeof...(A) + 1];
    layout(all);
    return all;
  }
  static const size_t* sizes() {
    static const size_t all[] = {sizeof(A)..., 0};
    return all;
  }
  static constexpr size_t kCount = sizeof...(A), kAlignment = std::max({size_t(1), alignof(A)...});
  template <size_t... I> static void read(Values& values, const char* arguments, std::index_sequence<I...>) {
    size_t offsets[sizeof...(A) + 1];
    layout(offsets);
    (std::memcpy(static_cast<void*>(&std::get<I>(values)), arguments + offsets[I], sizeof(std::get<I>(values))), ...);
  }
};

template <auto kernel, bool barriers> const char* run(const unsigned* grid, const unsigned* block, const char* arguments, int order, unsigned shared) {
  using Kernel = Signature<decltype(kernel)>;
  typename Kernel::Values values;
  Kernel::read(values, arguments, std::make_index_sequence<std::tuple_size_v<typename Kernel::Values>>());
  shim::order = order;
  shim::failed = nullptr;
  shim::launch({grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, barriers, [&] { std::apply(kernel, values); }, shared);
  return shim::failed;
}

template <auto kernel, bool barriers> FakeKernel describe(const char* name) {
  using Kernel = Signature<decltype(kernel)>;
  return {name, Kernel::offsets()[Kernel::kCount], Kernel::kCount, Kernel::offsets(), Kernel::sizes(), Kernel::kAlignment, run<kernel, barriers>};
}

}  // namespace fake

#define FAKE_KERNEL(name, function, barriers) fake::describe<&function, barriers>(name)
#define FAKE_KERNELS(...)                                                                              \
  extern "C" __attribute__((visibility("default"))) const FakeKernel* fake_kernels(size_t* count) {    \
    static const FakeKernel kernels[] = {__VA_ARGS__};                                                 \
    *count = sizeof kernels / sizeof *kernels;                                                         \
    return kernels;                                                                                    \
  }

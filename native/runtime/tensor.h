// What kernels see: tensors, the argument block, errors. No std containers here: this header is compiled once per instruction
// set, and an inline function shared between those objects could pull AVX-512 code into the baseline.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../generated/dtypes.h"

namespace eagre {

constexpr int kMaxRank = 8;

struct Tensor {
  void* data;
  DType dtype;
  int rank;
  int64_t size;
  int64_t dims[kMaxRank];

  template <class T> T* as() const { return static_cast<T*>(data); }
  int64_t dim(int i) const { return dims[i < 0 ? i + rank : i]; }
};

enum class Code : int32_t { ok = 0, invalid_argument = 1, out_of_range = 2, unimplemented = 3, resource_exhausted = 4, internal = 5 };

// Thrown by a kernel on the calling thread (never inside parallel_for); becomes a typed error in JavaScript.
struct KernelError {
  Code code;
  char message[256];
};
[[noreturn]] void fail(Code code, const char* format, ...) __attribute__((format(printf, 2, 3)));

// The argument block: doubles written by JavaScript. Tensors are [address, dtype, rank, dims...]; a list is [length, items...].
class Args {
 public:
  Args(const double* block, const double* end) : p_(block), end_(end) {
    inputs_ = static_cast<int>(next());
    outputs_ = static_cast<int>(next());
  }
  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  // Call in order: every input, every output, then the attributes.
  Tensor tensor() {
    Tensor t;
    t.data = reinterpret_cast<void*>(static_cast<uintptr_t>(next()));
    const double dtype = next();
    if (!(dtype >= 0 && dtype < kDTypes)) fail(Code::internal, "a tensor of dtype %g; build the addon again", dtype);
    t.dtype = static_cast<DType>(static_cast<int32_t>(dtype));
    t.rank = static_cast<int>(next());
    t.size = 1;
    if (t.rank < 0 || t.rank > kMaxRank) fail(Code::unimplemented, "rank %d is above %d", t.rank, kMaxRank);
    for (int i = 0; i < t.rank; i++) t.size *= t.dims[i] = static_cast<int64_t>(next());
    return t;
  }
  double number() { return next(); }
  int64_t integer() { return static_cast<int64_t>(next()); }
  bool flag() { return next() != 0; }
  // A list where it lies.
  const double* numbers(int& count) {
    double n = next();
    if (!(n >= 0 && n <= static_cast<double>(end_ - p_))) fail(Code::internal, "a list of %g attributes", n);
    const double* first = p_;
    count = static_cast<int>(n);
    p_ += count;
    return first;
  }
  // At most `capacity` items; returns how many there were.
  int list(int64_t* items, int capacity) {
    int n = static_cast<int>(next());
    if (n > capacity) fail(Code::internal, "a list of %d attributes, at most %d expected", n, capacity);
    for (int i = 0; i < n; i++) items[i] = static_cast<int64_t>(next());
    return n;
  }

 private:
  double next() {
    if (p_ >= end_) fail(Code::internal, "argument block too short");
    return *p_++;
  }
  const double* p_;
  const double* end_;
  int inputs_, outputs_;
};

using KernelFn = void (*)(Args&);

// A call of a kernel made ready for being done often, with arguments of which only the addresses change. Of one thread at a time.
struct Shortcut {
  // Does what the kernel does with the arguments at `block`.
  void (*run)(Shortcut* self, const double* block);
};
// In malloc's memory, nothing in which has to be destroyed; null where the kernel itself does as well.
using ShortcutFn = Shortcut* (*)(Args&);

// Implemented by the registry; `name` must be a literal.
struct Registry {
  virtual void add(const char* name, KernelFn fn, ShortcutFn shortcut = nullptr) = 0;
 protected:
  ~Registry() = default;
};

}  // namespace eagre

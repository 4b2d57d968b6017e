// Fill, Iota, Copy, Bitcast.
#include <cstring>

#include "strided.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kGrain = 1 << 16;

void fill(Args& a) {
  Tensor y = a.tensor();
  double value = a.number();
  visit_size(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    T* out = y.as<T>();
    const T v = bits_of<T>(y.dtype, value);
    parallel_for(y.size, kGrain, [=](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) out[i] = v;
    });
  });
}

void iota(Args& a) {
  Tensor y = a.tensor();
  double start = a.number(), delta = a.number();
  visit(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    T* out = y.as<T>();
    parallel_for(y.size, kGrain, [=](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) out[i] = static_cast<T>(start + static_cast<double>(i) * delta);
    });
  });
}

void copy(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  size_t item = dtype_size(y.dtype);
  char* out = y.as<char>();
  const char* in = x.as<char>();
  parallel_for(y.size, kGrain, [=](int64_t b, int64_t e) {
    std::memcpy(out + b * item, in + b * item, (e - b) * item);
  });
}

}  // namespace

void register_fill(Registry& r) {
  r.add("Fill", fill);
  r.add("Iota", iota);
  r.add("Copy", copy);
  r.add("Bitcast", copy);
}
EAGRE_END

#include "reduction.h"

#include <cstring>

namespace eagre::distribute {
namespace {

float float_of_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
uint32_t bits_of_float(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

struct BFloat16 {
  uint16_t bits;
  static float load(BFloat16 x) { return float_of_bits(static_cast<uint32_t>(x.bits) << 16); }
  static BFloat16 store(float x) {
    uint32_t bits = bits_of_float(x);
    if (x != x) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
    // To the nearest, ties to even.
    bits += 0x7fff + ((bits >> 16) & 1);
    return {static_cast<uint16_t>(bits >> 16)};
  }
};

struct Float16 {
  uint16_t bits;
  static float load(Float16 x) {
    const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000) << 16;
    const uint32_t exponent = (x.bits >> 10) & 31, mantissa = x.bits & 0x3ff;
    if (exponent == 31) return float_of_bits(sign | 0x7f800000 | mantissa << 13);
    if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
    // Subnormal: mantissa · 2⁻²⁴.
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  static Float16 store(float x) {
    const uint32_t bits = bits_of_float(x);
    const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff))};
    if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};
    if (magnitude < 0x38800000) {
      // Subnormal: the sum has its lowest bit at 2⁻²⁴, so the processor rounds.
      const uint32_t rounded = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000;
      return {static_cast<uint16_t>(sign | rounded)};
    }
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000;
    return {static_cast<uint16_t>(sign | (rounded >> 13))};
  }
};

// How elements of a dtype are read, computed with and written.
template <class T> struct Plain {
  using Stored = T;
  using Number = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};
template <class T> struct Widened {
  using Stored = T;
  using Number = float;
  static float load(T x) { return T::load(x); }
  static T store(float x) { return T::store(x); }
};

// NaN wins, as in the ops `minimum` and `maximum`.
struct Add {
  // Integers wrap around.
  static float of(float a, float b) { return a + b; }
  static double of(double a, double b) { return a + b; }
  static int32_t of(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
  static int64_t of(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
};
struct Min {
  template <class T> static T of(T a, T b) { return a < b || a != a ? a : b; }
};
struct Max {
  template <class T> static T of(T a, T b) { return a > b || a != a ? a : b; }
};

template <class D, class Op> void reduce(void* out, const void* a, const void* b, size_t count) {
  using T = typename D::Stored;
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (size_t i = 0; i < count; i++) o[i] = D::store(Op::of(D::load(x[i]), D::load(y[i])));
}

template <class D, class Op>
void in_order(void* out, const std::vector<const void*>& parts, size_t count, typename D::Number divisor) {
  using T = typename D::Stored;
  using N = typename D::Number;
  T* o = static_cast<T*>(out);
  // Pieces that stay in the cache.
  constexpr size_t kPiece = 1024;
  N sums[kPiece];
  for (size_t start = 0; start < count; start += kPiece) {
    const size_t n = count - start < kPiece ? count - start : kPiece;
    const T* first = static_cast<const T*>(parts[0]) + start;
    for (size_t i = 0; i < n; i++) sums[i] = D::load(first[i]);
    for (size_t p = 1; p < parts.size(); p++) {
      const T* x = static_cast<const T*>(parts[p]) + start;
      for (size_t i = 0; i < n; i++) sums[i] = Op::of(sums[i], D::load(x[i]));
    }
    if (divisor != 1) {
      for (size_t i = 0; i < n; i++) sums[i] /= divisor;
    }
    for (size_t i = 0; i < n; i++) o[start + i] = D::store(sums[i]);
  }
}

template <class F> auto with_dtype(Element element, F&& f) {
  switch (element) {
    case Element::f32: return f(Plain<float>());
    case Element::f64: return f(Plain<double>());
    case Element::f16: return f(Widened<Float16>());
    case Element::bf16: return f(Widened<BFloat16>());
    case Element::i32: return f(Plain<int32_t>());
    default: return f(Plain<int64_t>());
  }
}

}  // namespace

size_t size_of(Element element) {
  switch (element) {
    case Element::f32: case Element::i32: return 4;
    case Element::f64: case Element::i64: return 8;
    case Element::f16: case Element::bf16: return 2;
    default: return 1;
  }
}

Reducer reducer_of(Element element, Reduction reduction) {
  if (element == Element::bytes) return nullptr;
  return with_dtype(element, [&](auto d) -> Reducer {
    using D = decltype(d);
    switch (reduction) {
      case Reduction::min: return reduce<D, Min>;
      case Reduction::max: return reduce<D, Max>;
      default: return reduce<D, Add>;
    }
  });
}

void divide(Element element, void* x, size_t count, int ranks) {
  with_dtype(element, [&](auto d) {
    using D = decltype(d);
    auto* values = static_cast<typename D::Stored*>(x);
    const auto divisor = static_cast<typename D::Number>(ranks);
    for (size_t i = 0; i < count; i++) values[i] = D::store(D::load(values[i]) / divisor);
  });
}

void reduce_in_order(Element element, Reduction reduction, void* out, const std::vector<const void*>& parts, size_t count) {
  with_dtype(element, [&](auto d) {
    using D = decltype(d);
    const auto divisor = static_cast<typename D::Number>(reduction == Reduction::mean ? parts.size() : 1);
    switch (reduction) {
      case Reduction::min: return in_order<D, Min>(out, parts, count, 1);
      case Reduction::max: return in_order<D, Max>(out, parts, count, 1);
      default: return in_order<D, Add>(out, parts, count, divisor);
    }
  });
}

}  // namespace eagre::distribute

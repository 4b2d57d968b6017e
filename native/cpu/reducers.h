// What a reduction does to elements: how pieces are combined, vector accumulators, and the sum of a run.
#pragma once
#include "isa.h"
#include "widen.h"

EAGRE_BEGIN
namespace {

template <class T> struct Vector { typedef T type __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias)); };
template <class T> constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
template <class T> constexpr bool kFloating = T(0.5) != T(0);

// What is added up unsigned wraps without undefined behaviour.
template <class T> struct Wrapping { using type = T; };
template <> struct Wrapping<int32_t> { using type = uint32_t; };
template <> struct Wrapping<int64_t> { using type = uint64_t; };
template <> struct Wrapping<int16_t> { using type = uint16_t; };
template <> struct Wrapping<int8_t> { using type = uint8_t; };

// A reducer names the element type it works on, the type that combines pieces, its neutral element, and how to combine two
// elements or two vectors of them.
template <class T> struct SumOf {
  using Element = T;
  using Total = Element;
  static Element neutral() { return 0; }
  template <class V> static V combine(V a, V b) { return static_cast<V>(a + b); }
};
template <> struct SumOf<float> {
  using Element = float;
  using Total = double;
  static float neutral() { return 0; }
  template <class V> static V combine(V a, V b) { return a + b; }
};
template <class T> struct ProdOf {
  using Element = T;
  using Total = Element;
  static Element neutral() { return 1; }
  template <class V> static V combine(V a, V b) {
    // Two of 16 bits would be multiplied as int, which their product may not fit into.
    if constexpr (sizeof(V) == 2) return static_cast<V>(static_cast<uint32_t>(a) * b);
    else return a * b;
  }
};
// The type for which code is made: sums and products of signed integers are those of unsigned ones.
template <template <class> class R, class T> struct Made { using type = T; };
template <class T> struct Made<SumOf, T> { using type = typename Wrapping<T>::type; };
template <class T> struct Made<ProdOf, T> { using type = typename Wrapping<T>::type; };
template <template <class> class R, class T> using MadeFor = typename Made<R, T>::type;

template <class T> constexpr T lowest() {
  if constexpr (kFloating<T>) return -static_cast<T>(__builtin_inf());
  else return T(-1) < T(0) ? static_cast<T>(uint64_t{1} << (sizeof(T) * 8 - 1)) : T(0);
}
template <class T> constexpr T highest() {
  if constexpr (kFloating<T>) return static_cast<T>(__builtin_inf());
  else return static_cast<T>(~lowest<T>());
}
// b where it is greater (or, if not `largest`, less) than a, or NaN.
template <bool largest, class V> inline V extreme(V a, V b) {
#if defined(__AVX512F__)
  // Comparisons that stay masks.
  constexpr int order = largest ? _CMP_GT_OQ : _CMP_LT_OQ;
  if constexpr (sizeof(V) == kVectorBytes) {
    if constexpr (sizeof(V{}[0]) == 4) {
      const __m512 x = (__m512)a, y = (__m512)b;
      return (V)_mm512_mask_blend_ps(_mm512_cmp_ps_mask(y, x, order) | _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), x, y);
    } else {
      const __m512d x = (__m512d)a, y = (__m512d)b;
      return (V)_mm512_mask_blend_pd(_mm512_cmp_pd_mask(y, x, order) | _mm512_cmp_pd_mask(y, y, _CMP_UNORD_Q), x, y);
    }
  }
#endif
  if constexpr (largest) return (b > a) | (b != b) ? b : a;
  else return (b < a) | (b != b) ? b : a;
}

// A NaN, once met, stays.
template <class T> struct MaxOf {
  using Element = T;
  using Total = T;
  static T neutral() { return lowest<T>(); }
  template <class V> static V combine(V a, V b) {
    if constexpr (kFloating<T>) return extreme<true>(a, b);
    else return b > a ? b : a;
  }
};
template <class T> struct MinOf {
  using Element = T;
  using Total = T;
  static T neutral() { return highest<T>(); }
  template <class V> static V combine(V a, V b) {
    if constexpr (kFloating<T>) return extreme<false>(a, b);
    else return b < a ? b : a;
  }
};
struct AllOf {
  using Element = uint8_t;
  using Total = uint8_t;
  static uint8_t neutral() { return 1; }
  template <class V> static V combine(V a, V b) { return a & b; }
};
struct AnyOf {
  using Element = uint8_t;
  using Total = uint8_t;
  static uint8_t neutral() { return 0; }
  template <class V> static V combine(V a, V b) { return a | b; }
};

constexpr int64_t kPiece = 1 << 15;  // elements that one piece reduces, about

// Vector accumulators of a reducer's totals: float sums widen to double.
template <class R, bool widens = sizeof(typename R::Total) != sizeof(typename R::Element)> struct Accumulator {
  using V = typename Vector<typename R::Element>::type;
  V v = V{} + R::neutral();
  void add(V x) { v = R::combine(v, x); }
  void load(const typename R::Total* from) { v = *reinterpret_cast<const V*>(from); }
  void store(typename R::Total* to) const { *reinterpret_cast<V*>(to) = v; }
};
template <class R> struct Accumulator<R, true> {
  vf64 low{}, high{};
  void add(vf32 x) {
    vf64 a, b;
    widen(x, a, b);
    low += a;
    high += b;
  }
  void load(const double* from) {
    low = *reinterpret_cast<const vf64u*>(from);
    high = *reinterpret_cast<const vf64u*>(from + kF64);
  }
  void store(double* to) const {
    *reinterpret_cast<vf64u*>(to) = low;
    *reinterpret_cast<vf64u*>(to + kF64) = high;
  }
};

// The reduction of a run of elements that comes in parts.
template <class R> struct Run {
  using T = typename R::Element;
  using Total = typename R::Total;
  using V = typename Vector<T>::type;
  static constexpr int kL = kLanes<T>;
  // All parts but the last are multiples of this.
  static constexpr int64_t kBlock = 8 * kL;
  Accumulator<R> a, b;
  bool begun = false;

  static V at(const T* x) { return *reinterpret_cast<const V*>(x); }

  void add(const T* x, int64_t n) {
    begun |= n > 0;
    for (int64_t i = 0; i < n; i += kBlock, x += kBlock) {
      a.add(R::combine(R::combine(at(x), at(x + kL)), R::combine(at(x + 2 * kL), at(x + 3 * kL))));
      b.add(R::combine(R::combine(at(x + 4 * kL), at(x + 5 * kL)), R::combine(at(x + 6 * kL), at(x + 7 * kL))));
    }
  }

  // Combines twice `half` lanes into the first one.
  template <int half> static void fold(Total* lanes) {
    constexpr int bytes = half * static_cast<int>(sizeof(Total)), size = bytes < kVectorBytes ? bytes : kVectorBytes;
    if constexpr (size >= 16) {
      typedef Total Half __attribute__((vector_size(size), aligned(sizeof(Total)), may_alias));
      for (int k = 0; k < half; k += size / static_cast<int>(sizeof(Total))) {
        Half* at = reinterpret_cast<Half*>(lanes + k);
        *at = R::combine(*at, *reinterpret_cast<const Half*>(lanes + k + half));
      }
    } else {
      for (int k = 0; k < half; k++) lanes[k] = R::combine(lanes[k], lanes[k + half]);
    }
    if constexpr (half > 1) fold<half / 2>(lanes);
  }

  // With the last part, of any length.
  Total end(const T* x, int64_t n) {
    const int64_t whole = n / kBlock * kBlock;
    add(x, whole);
    Total result = static_cast<Total>(R::neutral());
    int64_t i = whole;
    if (begun || n >= kL) {
      for (; i + kL <= n; i += kL) a.add(at(x + i));
      Total lanes[2 * kL];
      a.store(lanes);
      b.store(lanes + kL);
      fold<kL>(lanes);
      result = lanes[0];
    }
    for (; i < n; i++) result = R::combine(result, static_cast<Total>(x[i]));
    return result;
  }
};

template <class R> typename R::Total reduce_run(const typename R::Element* x, int64_t n) {
  Run<R> run;
  return run.end(x, n);
}

}  // namespace
EAGRE_END

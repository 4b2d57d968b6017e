// float32 functions on vectors, within 2 ULP over the whole range. The ranges are reduced as in Cephes and Cody and Waite
// (Software Manual for the Elementary Functions, 1980); the polynomials are minimax fits of our own by Lawson's iteration,
// their coefficients rounded one by one.
#pragma once
#include <cmath>

#include "isa.h"

#if defined(__SSE4_2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// A call between vector functions would spill registers and load every constant again.
#define EAGRE_INLINE inline __attribute__((always_inline))

EAGRE_BEGIN
namespace {

#if defined(__AVX512F__) || defined(__FMA__) || defined(__aarch64__)
constexpr bool kFused = true;
#else
constexpr bool kFused = false;
#endif

// a * b + c, in one rounding where the processor can.
EAGRE_INLINE vf32 muladd(vf32 a, vf32 b, vf32 c) {
#if defined(__AVX512F__)
  return (vf32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (vf32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
  return (vf32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}
// A difference: a sum would turn -0 into 0.
EAGRE_INLINE vf32 splat(float x) { return x - vf32{}; }
EAGRE_INLINE vf32 load(const float* p) { return *reinterpret_cast<const vf32u*>(p); }
EAGRE_INLINE void store(float* p, vf32 v) { *reinterpret_cast<vf32u*>(p) = v; }
// The first n < kF32 elements, the other lanes being `rest`; and the store that leaves memory behind them alone.
EAGRE_INLINE vf32 load_part(const float* p, int64_t n, float rest) {
#if defined(__AVX512F__)
  return (vf32)_mm512_mask_loadu_ps((__m512)splat(rest), static_cast<__mmask16>((1u << n) - 1), p);
#elif defined(__AVX2__)
  __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return (vf32)_mm256_blendv_ps((__m256)splat(rest), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
#else
  vf32 x = splat(rest);
  for (int64_t i = 0; i < n; i++) x[i] = p[i];
  return x;
#endif
}
EAGRE_INLINE void store_part(float* p, int64_t n, vf32 x) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), (__m512)x);
#elif defined(__AVX2__)
  __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  _mm256_maskstore_ps(p, mask, (__m256)x);
#else
  for (int64_t i = 0; i < n; i++) p[i] = x[i];
#endif
}
// Across the lanes, in halves; f takes floats and vectors of them.
template <class F> EAGRE_INLINE float fold_lanes(vf32 x, F f) {
#if defined(__SSE4_2__)
  typedef float vf4 __attribute__((vector_size(16)));
#if defined(__AVX512F__)
  typedef float vf8 __attribute__((vector_size(32)));
  __m256 y =
      (__m256)f((vf8)_mm512_maskz_extractf32x8_ps(0xff, (__m512)x, 0), (vf8)_mm512_maskz_extractf32x8_ps(0xff, (__m512)x, 1));
#elif defined(__AVX2__)
  __m256 y = (__m256)x;
#endif
#if defined(__AVX2__)
  __m128 z = (__m128)f((vf4)_mm256_castps256_ps128(y), (vf4)_mm256_extractf128_ps(y, 1));
#else
  __m128 z = (__m128)x;
#endif
  vf4 w = f((vf4)z, (vf4)_mm_movehl_ps(z, z));
  return f(static_cast<float>(w[0]), static_cast<float>(w[1]));
#else
  return f(f(x[0], x[2]), f(x[1], x[3]));
#endif
}
EAGRE_INLINE float sum_lanes(vf32 x) {
  return fold_lanes(x, [](auto a, auto b) { return a + b; });
}
EAGRE_INLINE float max_lanes(vf32 x) {
  return fold_lanes(x, [](auto a, auto b) { return a > b ? a : b; });
}
EAGRE_INLINE vi32 bits(vf32 x) { return (vi32)x; }
EAGRE_INLINE vf32 from_bits(vi32 x) { return (vf32)x; }
EAGRE_INLINE vf32 magnitude(vf32 x) { return from_bits(bits(x) & 0x7fffffff); }
EAGRE_INLINE vf32 with_sign(vf32 x, vf32 sign) { return from_bits(bits(x) | (bits(sign) & INT32_MIN)); }
// A NaN in x stays: the instructions give their second operand then.
EAGRE_INLINE vf32 at_least(vf32 x, float low) {
#if defined(__AVX512F__)
  return (vf32)_mm512_maskz_max_ps(0xffff, (__m512)splat(low), (__m512)x);
#elif defined(__AVX2__)
  return (vf32)_mm256_max_ps((__m256)splat(low), (__m256)x);
#elif defined(__SSE4_2__)
  return (vf32)_mm_max_ps((__m128)splat(low), (__m128)x);
#else
  return x < low ? splat(low) : x;
#endif
}
EAGRE_INLINE vf32 at_most(vf32 x, float high) {
#if defined(__AVX512F__)
  return (vf32)_mm512_maskz_min_ps(0xffff, (__m512)splat(high), (__m512)x);
#elif defined(__AVX2__)
  return (vf32)_mm256_min_ps((__m256)splat(high), (__m256)x);
#elif defined(__SSE4_2__)
  return (vf32)_mm_min_ps((__m128)splat(high), (__m128)x);
#else
  return x > high ? splat(high) : x;
#endif
}

template <int N> EAGRE_INLINE vf32 horner(const float (&c)[N], vf32 x) {
  vf32 r = splat(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; i--) r = muladd(r, x, splat(c[i]));
  return r;
}

// Rounds to the nearest integer, for |x| < 2^22; `as_int` gets it as an integer (garbage for others).
constexpr float kRounder = 12582912.0f;  // 1.5 · 2^23
EAGRE_INLINE vf32 round_small(vf32 x, vi32& as_int) {
  vf32 t = x + kRounder;
  as_int = (vi32)((vu32)bits(t) - 0x4b400000u);
  return t - kRounder;
}

// p · 2^n for n in [-252, 254]
EAGRE_INLINE vf32 scale(vf32 p, vf32 n, vi32 as_int) {
#if defined(__AVX512F__)
  (void)as_int;
  return (vf32)_mm512_maskz_scalef_ps(0xffff, (__m512)p, (__m512)n);
#else
  (void)n;
  vi32 half = as_int >> 1;
  vi32 first = (vi32)((vu32)(half + 127) << 23), second = (vi32)((vu32)(as_int - half + 127) << 23);
  return p * from_bits(first) * from_bits(second);
#endif
}

EAGRE_INLINE bool any(vi32 mask) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask((__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps((__m256)mask) != 0;
#elif defined(__SSE4_2__)
  return _mm_movemask_ps((__m128)mask) != 0;
#else
  int32_t all = 0;
  for (int i = 0; i < kF32; i++) all |= mask[i];
  return all != 0;
#endif
}
// exp(x) = 2^n exp(r), |r| <= ln(2) / 2
EAGRE_INLINE vf32 exp_reduced(vf32 x, vf32 nf) {
  static const float q[] = {5.000000000e-01f, 1.666666567e-01f, 4.166645557e-02f,
                            8.333569393e-03f, 1.393593382e-03f, 1.974268671e-04f};
  vf32 r = muladd(nf, splat(-0.693359375f), x);
  r = muladd(nf, splat(2.12194440e-4f), r);
  return muladd(r * r, horner(q, r), r) + 1.0f;
}
EAGRE_INLINE vf32 exp(vf32 x) {
#if !defined(__AVX512F__)
  // Where all results are normal, the exponent is added as an integer; to the bit as below.
  if (!any(~(vi32)(magnitude(x) <= 87.0f))) {
    vf32 t = x * 1.44269504f + kRounder;
    vf32 p = exp_reduced(x, t - kRounder);
    return from_bits((vi32)((vu32)bits(p) + ((vu32)bits(t) << 23)));
  }
#endif
  x = at_most(at_least(x, -104.0f), 89.0f);
  vi32 n;
  vf32 nf = round_small(x * 1.44269504f, n);
  return scale(exp_reduced(x, nf), nf, n);
}

// The C library's double function, lane by lane.
template <class F> inline vf32 by_lanes(vf32 x, F f) {
  vf32 y;
  for (int i = 0; i < kF32; i++) y[i] = static_cast<float>(f(static_cast<double>(x[i])));
  return y;
}

// log(x) = e ln 2 + log(1 + f), with 1 + f in [sqrt(1/2), sqrt(2))
EAGRE_INLINE vf32 log(vf32 x) {
  static const float q[] = {3.333331347e-01f, -2.500000894e-01f, 2.000207156e-01f, -1.666799039e-01f, 1.422036290e-01f,
                            -1.240620837e-01f, 1.188347116e-01f, -1.167018339e-01f, 6.749540567e-02f};
  constexpr int32_t kRootHalf = 0x3f3504f3;
  vi32 tiny = x < 1.17549435e-38f;
  vf32 normal = tiny ? x * 8388608.0f : x;
  vi32 i = (vi32)((vu32)bits(normal) - static_cast<uint32_t>(kRootHalf));
  vf32 e = __builtin_convertvector(i >> 23, vf32) - (tiny ? splat(23) : splat(0));
  vf32 f = from_bits((i & 0x7fffff) + kRootHalf) - 1.0f;
  vf32 z = f * f;
  vf32 r = muladd(e, splat(-2.12194440e-4f), f * z * horner(q, f));
  r = muladd(splat(-0.5f), z, r) + f;
  r = muladd(e, splat(0.693359375f), r);
  // Zero, infinity, what is negative, NaN.
  vf32 special = x == 0.0f ? splat(-__builtin_inff()) : x > 0.0f ? splat(__builtin_inff()) : splat(__builtin_nanf(""));
  return (x > 0.0f) & (x < __builtin_inff()) ? r : special;
}

// h / (h + 1) with h = (exp(2x) - 1) / 2 = 2^n (r + r² Q(r)) + (2^n - 1) / 2, |r| <= ln(2) / 4; near 0, where the rounding of h + 1
// would show, h - h · (h / (h + 1)). One chain of few steps: what bounds it is how long a vector takes, not how many instructions.
EAGRE_INLINE vf32 tanh(vf32 x) {
  vf32 a = at_most(magnitude(x), 20.0f);
  vf32 t = muladd(a, splat(2.88539008f), splat(kRounder)), n = t - kRounder, r;
  if (kFused) {
    r = muladd(n, splat(-0.34657359f), a);
  } else {
    r = a - n * 0.346679688f;
    r = r + n * 1.06097221e-4f;
  }
  vf32 power = from_bits((vi32)(((vu32)bits(t) << 23) + 0x3f800000u));
  vf32 z = r * r;
  vf32 low = muladd(r, splat(6.666609645e-01f), splat(1.000000119e+00f));
  vf32 high = muladd(r, splat(1.338938922e-01f), splat(3.333265483e-01f));
  vf32 small = power * z * muladd(z, muladd(z, splat(4.461177066e-02f), high), low);
  vf32 large = muladd(power, r, muladd(power, splat(0.5f), splat(-0.5f)));
  vf32 h = large + small;
  vf32 y = h / (h + 1.0f);
  return with_sign(a < 0.34f ? large + muladd(-h, y, small) : y, x);
}

EAGRE_INLINE vf32 sigmoid(vf32 x) {
  // Below 0, e / (1 + e) = e - e (e / (1 + e)) rounds what is small where e is.
  vf32 e = exp(from_bits(bits(x) | INT32_MIN));
  vf32 y = 1.0f / (e + 1.0f);
  return x < 0.0f ? muladd(-e, e * y, e) : y;
}

// x + x P(x^2) to 0.92, then 1 - exp(log(erfc(x))), the logarithm as a polynomial
EAGRE_INLINE vf32 erf(vf32 x) {
  static const float q[] = {1.283791661e-01f, -3.761262894e-01f, 1.128362566e-01f, -2.685573138e-02f, 5.192405079e-03f,
                            -8.049769676e-04f, 7.996649947e-05f};
  static const float c[] = {1.746845082e-04f, -1.129514933e+00f, -6.333469152e-01f, -1.082800403e-01f, 2.511935122e-02f,
                            -4.171009641e-03f, 4.344451590e-04f, -2.109289744e-05f};
  vf32 a = magnitude(x), z = a * a;
  vf32 near = muladd(a, horner(q, z), a);
  vf32 far = 1.0f - exp(horner(c, at_most(a, 3.95f)));
  return with_sign(a < 0.92f ? near : far, x);
}

// r = a - n π/2 for 0 <= a <= kLargestAngle, |r| <= π/4, in parts of π/2 whose products with n are exact.
constexpr float kLargestAngle = kFused ? 100000.0f : 8192.0f;
EAGRE_INLINE vf32 reduce_angle(vf32 a, vi32& n) {
  vf32 nf = round_small(a * 0.636619772f, n);
  if (kFused) {
    vf32 r = muladd(nf, splat(-1.5707963705e+00f), a);
    r = muladd(nf, splat(4.3711388287e-08f), r);
    return muladd(nf, splat(1.7151245100e-15f), r);
  }
  vf32 r = a - nf * 1.5703125f;
  r = r - nf * 4.8375129700e-04f;
  // The first difference that is rounded gives what it lost to the last part.
  vf32 third = nf * 7.5495336205e-08f, head = r - third;
  return head + (((r - head) - third) - nf * 2.5633440683e-12f);
}
// The sine of r + q π/2; `flip` has the sign bit where the result is to be negated.
EAGRE_INLINE vf32 sine_in_quadrant(vf32 r, vi32 q, vi32 flip) {
  static const float s[] = {-1.666666716e-01f, 8.333379403e-03f, -1.985307317e-04f, 2.832739256e-06f};
  static const float c[] = {4.166664556e-02f, -1.388731063e-03f, 2.443256381e-05f};
  vf32 z = r * r;
  vf32 sine = muladd(r * z, horner(s, z), r);
  // 1 - z / 2 as a rounded head and the rest.
  vf32 half = 0.5f * z, head = 1.0f - half;
  vf32 cosine = head + muladd(z * z, horner(c, z), (1.0f - head) - half);
  vf32 y = (q & 1) != 0 ? cosine : sine;
  return from_bits(bits(y) ^ (((q & 2) << 30) ^ flip));
}
EAGRE_INLINE vf32 sin(vf32 x) {
  vf32 a = magnitude(x);
  if (__builtin_expect(any(~(a <= kLargestAngle)), 0)) return by_lanes(x, [](double v) { return std::sin(v); });
  vi32 n;
  vf32 r = reduce_angle(a, n);
  return sine_in_quadrant(r, n, bits(x) & INT32_MIN);
}
EAGRE_INLINE vf32 cos(vf32 x) {
  vf32 a = magnitude(x);
  if (__builtin_expect(any(~(a <= kLargestAngle)), 0)) return by_lanes(x, [](double v) { return std::cos(v); });
  vi32 n;
  vf32 r = reduce_angle(a, n);
  return sine_in_quadrant(r, n + 1, vi32{});
}

// y[i] = f(x[i])
template <class F> inline void map_vectors(const float* x, float* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kF32 <= n; i += kF32) store(y + i, f(load(x + i)));
  if (i < n) store_part(y + i, n - i, f(load_part(x + i, n - i, 1)));
}
template <class F> inline void map_vectors(const float* a, const float* b, float* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kF32 <= n; i += kF32) store(y + i, f(load(a + i), load(b + i)));
  if (i < n) store_part(y + i, n - i, f(load_part(a + i, n - i, 1), load_part(b + i, n - i, 1)));
}

}  // namespace
EAGRE_END

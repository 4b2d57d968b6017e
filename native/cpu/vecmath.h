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

EAGRE_BEGIN
namespace {

#if defined(__AVX512F__) || defined(__FMA__) || defined(__aarch64__)
constexpr bool kFused = true;
#else
constexpr bool kFused = false;
#endif

// a * b + c, in one rounding where the processor can.
inline vf32 muladd(vf32 a, vf32 b, vf32 c) {
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
inline vf32 splat(float x) { return vf32{} + x; }
inline vf32 load(const float* p) { return *reinterpret_cast<const vf32u*>(p); }
inline void store(float* p, vf32 v) { *reinterpret_cast<vf32u*>(p) = v; }
inline vi32 bits(vf32 x) { return (vi32)x; }
inline vf32 from_bits(vi32 x) { return (vf32)x; }
inline vf32 magnitude(vf32 x) { return from_bits(bits(x) & 0x7fffffff); }
inline vf32 with_sign(vf32 x, vf32 sign) { return from_bits(bits(x) | (bits(sign) & INT32_MIN)); }
// A NaN in x stays.
inline vf32 at_least(vf32 x, float low) { return x < low ? splat(low) : x; }
inline vf32 at_most(vf32 x, float high) { return x > high ? splat(high) : x; }

template <int N> inline vf32 horner(const float (&c)[N], vf32 x) {
  vf32 r = splat(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; i--) r = muladd(r, x, splat(c[i]));
  return r;
}

// Rounds to the nearest integer, for |x| < 2^22; `as_int` gets it as an integer (garbage for others).
constexpr float kRounder = 12582912.0f;  // 1.5 · 2^23
inline vf32 round_small(vf32 x, vi32& as_int) {
  vf32 t = x + kRounder;
  as_int = (vi32)((vu32)bits(t) - 0x4b400000u);
  return t - kRounder;
}

// p · 2^n for n in [-252, 254]
inline vf32 scale(vf32 p, vf32 n, vi32 as_int) {
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

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2
inline vf32 exp(vf32 x) {
  static const float q[] = {5.000000000e-01f, 1.666666567e-01f, 4.166645557e-02f, 8.333569393e-03f, 1.393593382e-03f, 1.974268671e-04f};
  x = at_most(at_least(x, -104.0f), 89.0f);
  vi32 n;
  vf32 nf = round_small(x * 1.44269504f, n);
  vf32 r = muladd(nf, splat(-0.693359375f), x);
  r = muladd(nf, splat(2.12194440e-4f), r);
  vf32 p = muladd(r * r, horner(q, r), r) + 1.0f;
  return scale(p, nf, n);
}

// y[i] = f(x[i]); the last, shorter vector goes through memory of its own.
template <class F> inline void map_vectors(const float* x, float* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kF32 <= n; i += kF32) store(y + i, f(load(x + i)));
  if (i == n) return;
  float rest[kF32] = {};
  for (int64_t k = i; k < n; k++) rest[k - i] = x[k];
  store(rest, f(load(rest)));
  for (int64_t k = i; k < n; k++) y[k] = rest[k - i];
}

}  // namespace
EAGRE_END

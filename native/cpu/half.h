// Floats of 16 bits to float and back, rounded to the nearest, ties to even; the same bits on every instruction set.
#pragma once
#include <cstring>

#include "isa.h"

#if defined(__F16C__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

EAGRE_BEGIN
namespace {

inline uint32_t word_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

inline float to_float(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000) << 16, rest = static_cast<uint32_t>(h.bits & 0x7fff) << 13;
  // The exponent's bias is 112 larger, which the multiplication adds, also to what is subnormal.
  const uint32_t finite = word_of(float_of(rest) * 0x1p112f);
  const uint32_t special = rest | 0x7f800000u | (rest > 0x0f800000u ? 0x00400000u : 0);
  return float_of(sign | (rest >= 0x0f800000u ? special : finite));
}
inline float to_float(BFloat h) { return float_of(static_cast<uint32_t>(h.bits) << 16); }

template <class H> inline H from_float(float x);
template <> inline Half from_float(float x) {
  const uint32_t bits = word_of(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  const uint32_t nan = 0x7e00 | (rest >> 13 & 0x3ff);
  // Beside a half, the last bit of a float is that of the smallest subnormal.
  const uint32_t subnormal = word_of(float_of(rest) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (rest + 0xc8000fffu + (rest >> 13 & 1)) >> 13;
  const uint32_t finite = rest < 0x38800000u ? subnormal : normal;
  return {static_cast<uint16_t>(sign | (rest > 0x7f800000u ? nan : rest >= 0x47800000u ? 0x7c00 : finite))};
}
template <> inline BFloat from_float(float x) {
  const uint32_t bits = word_of(x), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return {static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000u ? bits >> 16 | 0x40 : rounded)};
}

// A number as TensorFlow makes it of a double: by way of a float.
template <class H> inline H half_of(double value) { return from_float<H>(static_cast<float>(value)); }

template <class H> inline void widen_row(const H* x, float* y, int64_t n) {
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) y[i] = to_float(x[i]);
}
template <class H> inline void narrow_row(const float* x, H* y, int64_t n) {
  EAGRE_INDEPENDENT
  for (int64_t i = 0; i < n; i++) y[i] = from_float<H>(x[i]);
}
#if defined(__AVX512F__)
template <> inline void widen_row(const Half* x, float* y, int64_t n) {
  for (; n >= 16; n -= 16, x += 16, y += 16)
    _mm512_storeu_ps(y, _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x))));
  for (int64_t i = 0; i < n; i++) y[i] = to_float(x[i]);
}
template <> inline void narrow_row(const float* x, Half* y, int64_t n) {
  for (; n >= 16; n -= 16, x += 16, y += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
  for (int64_t i = 0; i < n; i++) y[i] = from_float<Half>(x[i]);
}
#elif defined(__F16C__)
template <> inline void widen_row(const Half* x, float* y, int64_t n) {
  for (; n >= 8; n -= 8, x += 8, y += 8)
    _mm256_storeu_ps(y, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))));
  for (int64_t i = 0; i < n; i++) y[i] = to_float(x[i]);
}
template <> inline void narrow_row(const float* x, Half* y, int64_t n) {
  for (; n >= 8; n -= 8, x += 8, y += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
  for (int64_t i = 0; i < n; i++) y[i] = from_float<Half>(x[i]);
}
#endif

}  // namespace
EAGRE_END

// Between a vector of floats and two of doubles.
#pragma once
#include "isa.h"

#if defined(__SSE4_2__)
#include <immintrin.h>
#endif

EAGRE_BEGIN
namespace {

// The zero-masked forms are plain instructions; GCC warns of the unmasked intrinsics' undefined operand.
inline void widen(vf32 x, vf64& low, vf64& high) {
#if defined(__AVX512F__)
  low = (vf64)_mm512_maskz_cvtps_pd(0xff, _mm512_maskz_extractf32x8_ps(0xff, (__m512)x, 0));
  high = (vf64)_mm512_maskz_cvtps_pd(0xff, _mm512_maskz_extractf32x8_ps(0xff, (__m512)x, 1));
#elif defined(__AVX2__)
  low = (vf64)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x));
  high = (vf64)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
#elif defined(__SSE4_2__)
  low = (vf64)_mm_cvtps_pd((__m128)x);
  high = (vf64)_mm_cvtps_pd(_mm_movehl_ps((__m128)x, (__m128)x));
#else
  for (int i = 0; i < kF64; i++) low[i] = static_cast<double>(x[i]), high[i] = static_cast<double>(x[i + kF64]);
#endif
}

inline vf32 narrow(vf64 low, vf64 high) {
#if defined(__AVX512F__)
  __m256 a = _mm512_maskz_cvtpd_ps(0xff, (__m512d)low), b = _mm512_maskz_cvtpd_ps(0xff, (__m512d)high);
  return (vf32)_mm512_maskz_insertf32x8(0xffff, _mm512_castps256_ps512(a), b, 1);
#elif defined(__AVX2__)
  return (vf32)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)low)), _mm256_cvtpd_ps((__m256d)high), 1);
#elif defined(__SSE4_2__)
  return (vf32)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)low), _mm_cvtpd_ps((__m128d)high));
#else
  vf32 x;
  for (int i = 0; i < kF64; i++) x[i] = static_cast<float>(low[i]), x[i + kF64] = static_cast<float>(high[i]);
  return x;
#endif
}

}  // namespace
EAGRE_END

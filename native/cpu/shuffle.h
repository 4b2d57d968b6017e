// Any lanes of two vectors of unsigned integers, by constant numbers; GCC has Clang's builtin only since version 12.
#pragma once

#if defined(__clang__)
#define EAGRE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define EAGRE_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, decltype((a) + (b)){__VA_ARGS__})
#endif

#if defined(__AVX2__)
#include <immintrin.h>

// Transposes eight vectors of eight: four by four within halves of the vectors, which then change places.
static inline __attribute__((always_inline)) void transpose_eight(__m256* v) {
  __m256 u[8], w[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    w[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
    w[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    u[i] = _mm256_shuffle_ps(w[i], w[i + 2], 0x44);
    u[i + 1] = _mm256_shuffle_ps(w[i], w[i + 2], 0xee);
    u[i + 2] = _mm256_shuffle_ps(w[i + 1], w[i + 3], 0x44);
    u[i + 3] = _mm256_shuffle_ps(w[i + 1], w[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    v[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
    v[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
  }
}
#endif

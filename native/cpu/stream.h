// Stores past the caches, for results that they could not hold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "isa.h"

EAGRE_BEGIN

// Outputs from this many bytes on are stored past the caches, which could not hold them: without reading their lines first.
constexpr int64_t kStreamBytes = int64_t{16} << 20;

// Copies a line of 64 bytes to an address that is a multiple of that. Call `stream_end` before another thread may read it.
inline void stream_line(void* to, const void* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX__)
  for (int i = 0; i < 2; i++) _mm256_stream_si256(static_cast<__m256i*>(to) + i, _mm256_loadu_si256(static_cast<const __m256i*>(from) + i));
#elif defined(__SSE2__)
  for (int i = 0; i < 4; i++) _mm_stream_si128(static_cast<__m128i*>(to) + i, _mm_loadu_si128(static_cast<const __m128i*>(from) + i));
#else
  std::memcpy(to, from, 64);
#endif
}

// Copies n bytes. Call `stream_end` before another thread may read them.
inline void stream(void* to, const void* from, size_t n) {
#if defined(__SSE2__)
  char* y = static_cast<char*>(to);
  const char* x = static_cast<const char*>(from);
  size_t head = (64 - reinterpret_cast<uintptr_t>(y) % 64) % 64;
  if (head > n) head = n;
  std::memcpy(y, x, head);
  size_t i = head;
  for (; i + 64 <= n; i += 64) stream_line(y + i, x + i);
  std::memcpy(y + i, x + i, n - i);
#else
  std::memcpy(to, from, n);
#endif
}

inline void stream_end() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
EAGRE_END

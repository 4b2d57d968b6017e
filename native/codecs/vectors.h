// Vectors of 16 bytes for the loops of codecs: the compiler's, and one instruction more that these lack.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

namespace eagre::codecs {

typedef uint8_t U8 __attribute__((vector_size(16)));
typedef int8_t I8 __attribute__((vector_size(16)));
typedef uint16_t U16 __attribute__((vector_size(16)));
typedef int16_t I16 __attribute__((vector_size(16)));
typedef uint32_t U32 __attribute__((vector_size(16)));
typedef int32_t I32 __attribute__((vector_size(16)));
typedef uint64_t U64 __attribute__((vector_size(16)));
typedef uint8_t U8x8 __attribute__((vector_size(8)));
typedef int16_t I16x4 __attribute__((vector_size(8)));
typedef int32_t I32x8 __attribute__((vector_size(32)));

#if defined(__clang__)
#define EAGRE_LANES(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
// GCC takes its lanes as a vector of integers of the same size.
template <class V> struct Lanes { using type = V; };
#define EAGRE_LANES(a, b, ...) __builtin_shuffle(a, b, (decltype((a) + (b))){__VA_ARGS__})
#endif

template <class V> inline V load(const void* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V> inline void store(void* to, V v) { std::memcpy(to, &v, sizeof v); }

inline I16 all(int x) {
  const int16_t v = static_cast<int16_t>(x);
  return I16{v, v, v, v, v, v, v, v};
}

// Lanes of two vectors by turns: of their lower, and of their upper halves.
inline U8 low(U8 a, U8 b) { return EAGRE_LANES(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23); }
inline U8 high(U8 a, U8 b) { return EAGRE_LANES(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31); }
inline I16 low(I16 a, I16 b) { return EAGRE_LANES(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
inline I16 high(I16 a, I16 b) { return EAGRE_LANES(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
inline I32 low(I32 a, I32 b) { return EAGRE_LANES(a, b, 0, 4, 1, 5); }
inline I32 high(I32 a, I32 b) { return EAGRE_LANES(a, b, 2, 6, 3, 7); }
inline U64 low(U64 a, U64 b) { return EAGRE_LANES(a, b, 0, 2); }
inline U64 high(U64 a, U64 b) { return EAGRE_LANES(a, b, 1, 3); }

// Bytes as numbers of 16 bits.
inline I16 low_of(U8 a) { return (I16)low(a, U8{}); }
inline I16 high_of(U8 a) { return (I16)high(a, U8{}); }

#if defined(__SSE2__)
// The upper halves of products.
inline I16 times_high(I16 a, I16 b) { return (I16)_mm_mulhi_epi16((__m128i)a, (__m128i)b); }
inline U16 times_high(U16 a, U16 b) { return (U16)_mm_mulhi_epu16((__m128i)a, (__m128i)b); }
// Sums of the products of neighbouring lanes.
inline I32 pairs(I16 a, I16 b) { return (I32)_mm_madd_epi16((__m128i)a, (__m128i)b); }
// Numbers in half as many bits; those that are too large, or small, become the largest, or smallest.
inline I16 narrow(I32 a, I32 b) { return (I16)_mm_packs_epi32((__m128i)a, (__m128i)b); }
inline U8 narrow_unsigned(I16 a, I16 b) { return (U8)_mm_packus_epi16((__m128i)a, (__m128i)b); }
inline I8 narrow(I16 a, I16 b) { return (I8)_mm_packs_epi16((__m128i)a, (__m128i)b); }
// Numbers of 16 bits that are within a byte.
inline U8 bytes_of(I16 a, I16 b) { return narrow_unsigned(a, b); }
// The highest bit of each byte.
inline uint32_t bits_of(U8 a) { return static_cast<uint32_t>(_mm_movemask_epi8((__m128i)a)); }
#elif defined(__wasm_simd128__)
// The upper halves of numbers of 32 bits.
inline v128_t upper(v128_t a, v128_t b) { return wasm_i16x8_shuffle(a, b, 1, 3, 5, 7, 9, 11, 13, 15); }
inline I16 times_high(I16 a, I16 b) {
  const v128_t x = (v128_t)a, y = (v128_t)b;
  return (I16)upper(wasm_i32x4_extmul_low_i16x8(x, y), wasm_i32x4_extmul_high_i16x8(x, y));
}
inline U16 times_high(U16 a, U16 b) {
  const v128_t x = (v128_t)a, y = (v128_t)b;
  return (U16)upper(wasm_u32x4_extmul_low_u16x8(x, y), wasm_u32x4_extmul_high_u16x8(x, y));
}
inline I32 pairs(I16 a, I16 b) { return (I32)wasm_i32x4_dot_i16x8((v128_t)a, (v128_t)b); }
inline I16 narrow(I32 a, I32 b) { return (I16)wasm_i16x8_narrow_i32x4((v128_t)a, (v128_t)b); }
inline U8 narrow_unsigned(I16 a, I16 b) { return (U8)wasm_u8x16_narrow_i16x8((v128_t)a, (v128_t)b); }
inline I8 narrow(I16 a, I16 b) { return (I8)wasm_i8x16_narrow_i16x8((v128_t)a, (v128_t)b); }
inline U8 bytes_of(I16 a, I16 b) { return narrow_unsigned(a, b); }
inline uint32_t bits_of(U8 a) { return wasm_i8x16_bitmask((v128_t)a); }
#else
inline I32x8 wide(I16 a) { return __builtin_convertvector(a, I32x8); }
inline I16 times_high(I16 a, I16 b) { return __builtin_convertvector((wide(a) * wide(b)) >> 16, I16); }
inline U16 times_high(U16 a, U16 b) {
  typedef uint32_t U32x8 __attribute__((vector_size(32)));
  return __builtin_convertvector((__builtin_convertvector(a, U32x8) * __builtin_convertvector(b, U32x8)) >> 16, U16);
}
inline I32 pairs(I16 a, I16 b) {
  const I32x8 p = wide(a) * wide(b);
  return I32{p[0] + p[1], p[2] + p[3], p[4] + p[5], p[6] + p[7]};
}
template <class V> inline V between(V x, V least, V most) {
  x = x < least ? least : x;
  return x > most ? most : x;
}
inline I16 narrow(I32 a, I32 b) {
  const I32 least = I32{} - 32768, most = I32{} + 32767;
  const I16 x = (I16)between(a, least, most), y = (I16)between(b, least, most);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return EAGRE_LANES(x, y, 0, 2, 4, 6, 8, 10, 12, 14);
#endif
}
inline U8 bytes_of(I16 a, I16 b) {
  return EAGRE_LANES((U8)a, (U8)b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
inline U8 narrow_unsigned(I16 a, I16 b) { return bytes_of(between(a, all(0), all(255)), between(b, all(0), all(255))); }
inline I8 narrow(I16 a, I16 b) { return (I8)bytes_of(between(a, all(-128), all(127)), between(b, all(-128), all(127))); }
inline uint32_t bits_of(U8 a) {
  // Products bring one bit of each byte into the highest byte.
  const U64 one = (U64)(a >> 7) * (U64{} + uint64_t{0x0102040810204080}) >> 56;
  return static_cast<uint32_t>(one[0] | one[1] << 8);
}
#endif

}  // namespace eagre::codecs

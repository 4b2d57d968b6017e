// Numbers from random bits, to the last bit the same on every machine and in TypeScript: only IEEE additions, subtractions,
// multiplications, divisions and square roots of float64, in a fixed order, never fused. packages/backend-js/src/random.ts is
// the same text in scalars; change both or neither.
#pragma once
#include <cmath>
#include <cstring>

#include "isa.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

EAGRE_BEGIN
namespace {

typedef uint64_t vu64 __attribute__((vector_size(kVectorBytes)));

// The products of the low halves of all lanes.
inline vu64 multiply_low(vu64 a, vu64 b) {
#if defined(__AVX512F__)
  // The forms with a (full) mask, as GCC 12 warns of its own header otherwise.
  return reinterpret_cast<vu64>(_mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<vu64>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<vu64>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

inline vf64 square_root(vf64 x) {
#if defined(__AVX512F__)
  return reinterpret_cast<vf64>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(x)));
#elif defined(__AVX2__)
  return reinterpret_cast<vf64>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(x)));
#elif defined(__SSE2__)
  return reinterpret_cast<vf64>(_mm_sqrt_pd(reinterpret_cast<__m128d>(x)));
#else
  for (int i = 0; i < kF64; i++) x[i] = __builtin_sqrt(x[i]);
  return x;
#endif
}

struct Stream {
  uint64_t keys[20];  // of ten rounds
  uint32_t c0, c1;
};
inline Stream make_stream(uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1) {
  Stream s;
  for (uint32_t round = 0; round < 10; round++) {
    s.keys[2 * round] = k0 + round * 0x9E3779B9u;
    s.keys[2 * round + 1] = k1 + round * 0xBB67AE85u;
  }
  s.c0 = c0;
  s.c1 = c1;
  return s;
}
// The words of kF64 blocks, a block a lane, in the low halves; above them is rubbish.
struct Words {
  vu64 w[4];
};

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011) of counters. The multiplications
// of one vector wait for each other, so several vectors go side by side.
template <int N> inline void philox_rounds(const uint64_t* keys, Words (&words)[N]) {
  const vu64 m0 = vu64{} + 0xD2511F53u, m1 = vu64{} + 0xCD9E8D57u;
  for (int round = 0; round < 10; round++) {
    for (int n = 0; n < N; n++) {
      vu64(&w)[4] = words[n].w;
      const vu64 p = multiply_low(w[0], m0), q = multiply_low(w[2], m1);
      w[0] = (q >> 32) ^ w[1] ^ keys[2 * round];
      w[2] = (p >> 32) ^ w[3] ^ keys[2 * round + 1];
      w[1] = q;
      w[3] = p;
    }
  }
}

// The words of blocks first, first + 1 and so on.
template <int N> inline void philox(const Stream& s, uint64_t first, Words (&words)[N]) {
  for (int n = 0; n < N; n++) {
    vu64 block;
    for (int i = 0; i < kF64; i++) block[i] = first + static_cast<uint64_t>(n * kF64 + i);
    words[n] = {{block, block >> 32, vu64{} + s.c0, vu64{} + s.c1}};
  }
  philox_rounds(s.keys, words);
}

// Integers below 2^52 as float64.
inline vf64 to_double(vu64 x) { return reinterpret_cast<vf64>(x | 0x4330000000000000u) - 0x1p52; }
inline vf64 word(vu64 w) { return to_double(w & 0xffffffffu); }
// [0, 1) of two words.
inline vf64 uniform53(vu64 high, vu64 low) {
  return (to_double((high & 0xffffffffu) >> 5) * 0x1p26 + to_double((low & 0xffffffffu) >> 6)) * 0x1p-53;
}

// ln x for normal x in (0, 1]: x = 2^k · m with m between about sqrt(1/2) and sqrt(2), ln m = 2 artanh((m - 1) / (m + 1)).
inline vf64 natural_log(vf64 x) {
  const vu64 bits = reinterpret_cast<vu64>(x);
  const vu64 k = (bits - 0x3fe6a09e00000000u + 0x4000000000000000u) >> 52;  // k + 1024
  const vf64 m = reinterpret_cast<vf64>(bits - (k << 52) + 0x4000000000000000u);
  const vf64 e = to_double(k) - 1024.0;
  const vf64 s = (m - 1.0) / (m + 1.0), z = s * s;
  vf64 p = z * (2.0 / 21.0) + 2.0 / 19.0;
  p = z * p + 2.0 / 17.0;
  p = z * p + 2.0 / 15.0;
  p = z * p + 2.0 / 13.0;
  p = z * p + 2.0 / 11.0;
  p = z * p + 2.0 / 9.0;
  p = z * p + 2.0 / 7.0;
  p = z * p + 2.0 / 5.0;
  p = z * p + 2.0 / 3.0;
  // ln 2 in two parts, the first short enough that e · part is exact.
  return e * 0x1.62e42fep-1 + (e * 0x1.f473de6af278fp-30 + (s * z * p + (s + s)));
}

// cos and sin of t plus 0 … 3 quarters of a turn, for t within an eighth of one: Taylor series.
inline void in_quarter(vf64 quarter, vf64 t, vf64& cosine, vf64& sine) {
  const vf64 z = t * t;
  vf64 s = z * (1.0 / 355687428096000.0) - 1.0 / 1307674368000.0;
  s = z * s + 1.0 / 6227020800.0;
  s = z * s - 1.0 / 39916800.0;
  s = z * s + 1.0 / 362880.0;
  s = z * s - 1.0 / 5040.0;
  s = z * s + 1.0 / 120.0;
  s = z * s - 1.0 / 6.0;
  s = t + t * z * s;
  vf64 c = 1.0 / 20922789888000.0 - z * (1.0 / 6402373705728000.0);
  c = z * c - 1.0 / 87178291200.0;
  c = z * c + 1.0 / 479001600.0;
  c = z * c - 1.0 / 3628800.0;
  c = z * c + 1.0 / 40320.0;
  c = z * c - 1.0 / 720.0;
  c = z * c + 1.0 / 24.0;
  c = z * c - 0.5;
  c = z * c + 1.0;
  const vi64 odd = (quarter == 1.0) | (quarter == 3.0);
  const vi64 turned = (quarter == 1.0) | (quarter == 2.0), below = (quarter == 2.0) | (quarter == 3.0);
  const vf64 u = odd ? s : c, v = odd ? c : s;
  cosine = turned ? -u : u;
  sine = below ? -v : v;
}

// cos and sin of 2πb for b in [0, 1), by quarters of a turn.
inline void circle(vf64 b, vf64& cosine, vf64& sine) {
  const vf64 turns = b * 4.0;
  const vf64 quarter = (turns + 0x1.8p52) - 0x1.8p52;  // the nearest integer, half to even
  in_quarter(quarter, (turns - quarter) * 1.5707963267948966, cosine, sine);
}

// The quantile z of the normal distribution at 0.5 + q, for |q| <= 0.5 - exp(-25). Wichura: Algorithm AS 241, The percentage points of the normal distribution (PPND16). Applied Statistics 37, 1988.
inline vf64 normal_quantile(vf64 q) {
  vf64 r = 0.180625 - q * q;
  vf64 n = r * 2509.0809287301227 + 33430.57558358813;
  n = n * r + 67265.7709270087;
  n = n * r + 45921.95393154987;
  n = n * r + 13731.69376550946;
  n = n * r + 1971.5909503065513;
  n = n * r + 133.14166789178438;
  n = n * r + 3.3871328727963665;
  vf64 d = r * 5226.495278852854 + 28729.085735721943;
  d = d * r + 39307.89580009271;
  d = d * r + 21213.794301586597;
  d = d * r + 5394.196021424751;
  d = d * r + 687.1870074920579;
  d = d * r + 42.31333070160091;
  d = d * r + 1.0;
  const vf64 middle = q * n / d;
  const vf64 size = q < 0.0 ? -q : q;
  const vi64 outer = size > 0.425;
  bool any = false;
  for (int i = 0; i < kF64; i++) any |= outer[i] != 0;
  if (!any) return middle;
  r = square_root(-natural_log(outer ? 0.5 - size : vf64{} + 0.5)) - 1.6;
  n = r * 0.0007745450142783414 + 0.022723844989269184;
  n = n * r + 0.2417807251774506;
  n = n * r + 1.2704582524523684;
  n = n * r + 3.6478483247632045;
  n = n * r + 5.769497221460691;
  n = n * r + 4.630337846156546;
  n = n * r + 1.4234371107496835;
  d = r * 1.0507500716444169e-09 + 0.0005475938084995345;
  d = d * r + 0.015198666563616457;
  d = d * r + 0.14810397642748008;
  d = d * r + 0.6897673349851;
  d = d * r + 1.6763848301838038;
  d = d * r + 2.053191626637759;
  d = d * r + 1.0;
  vf64 tail = n / d;
  tail = q < 0.0 ? -tail : tail;
  return outer ? tail : middle;
}
// The same for |q| <= erf(sqrt 2) / 2, where |z| <= 2.
inline vf64 quantile(vf64 q) {
  const vf64 z = normal_quantile(q);
  return z > 2.0 ? vf64{} + 2.0 : z < -2.0 ? vf64{} - 2.0 : z;
}

}  // namespace
EAGRE_END

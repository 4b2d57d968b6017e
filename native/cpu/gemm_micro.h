// The register-tile product under MatMul and the convolutions: rows of A times a panel of B, accumulators in registers all along
// k. A is read in place by broadcasts with any two strides, so neither transposed matrices nor image patches need packing; k may
// come in several runs, each with its own place in A (a convolution's taps). The tiling follows Goto and van de Geijn, "Anatomy
// of High-Performance Matrix Multiplication" (2008), and BLIS; rows taken in place follow the indirect convolution of
// M. Dukhan (2019).
#pragma once
#include <cstring>
#include <utility>

#include "isa.h"
#include "shuffle.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

EAGRE_BEGIN

template <class T> struct Lanes;
template <> struct Lanes<float> {
  using V = vf32;
  using U = vf32u;
  static constexpr int n = kF32;
};
template <> struct Lanes<double> {
  using V = vf64;
  using U = vf64u;
  static constexpr int n = kF64;
};

// Rows of a tile, vectors across it, and how many rows a tile twice as wide may have: what the registers hold. A narrow tile has
// so few columns that vectors run along k instead.
#if defined(__AVX512F__)
constexpr int kTileRows = 14, kTileVectors = 2, kWideRows = 6, kNarrowRows = 6, kNarrowColumns = 4;
#elif defined(__AVX2__)
constexpr int kTileRows = 6, kTileVectors = 2, kWideRows = 2, kNarrowRows = 6, kNarrowColumns = 2;
#elif defined(__aarch64__)
constexpr int kTileRows = 8, kTileVectors = 2, kWideRows = 4, kNarrowRows = 4, kNarrowColumns = 1;
#else
constexpr int kTileRows = 4, kTileVectors = 2, kWideRows = 2, kNarrowRows = 4, kNarrowColumns = 1;
#endif

// `length` values of k from k0 on; row 0 of A begins at `a` (plus the tile's a_offset).
template <class T> struct Run {
  const T* a;
  int64_t k0, length;
};

// c[i, j] = sum over k of A[i, k] · b[k · ldb + j], plus what c held (add) and the bias, then relu.
template <class T> struct Tile {
  const Run<T>* runs;
  int64_t run_count, a_offset;
  int64_t a_row, a_step;  // from row to row of A, and from k to k
  const T* b;
  int64_t ldb;
  T* c;
  int64_t ldc;
  int64_t n;  // columns, up to what the vectors hold; nothing beyond is read or written
  const T* bias;
  bool add, relu;
  bool subtract;  // from what c held, with `add`
};

// Computes a tile of `rows` rows whose columns take `vectors` vectors (up to 2; to 4 for kWideRows rows and fewer).
void tile_product(const Tile<float>& t, int rows, int vectors);
void tile_product(const Tile<double>& t, int rows, int vectors);
// The same of a narrow tile: a_step is 1, and element (k, j) of B lies at b[j · ldb + k].
void narrow_product(const Tile<float>& t, int rows, int columns);
void narrow_product(const Tile<double>& t, int rows, int columns);

namespace {

#if defined(__AVX512F__)
inline vf32 broadcast(float x) { return _mm512_set1_ps(x); }
inline vf64 broadcast(double x) { return _mm512_set1_pd(x); }
inline vf32 fma(vf32 a, vf32 b, vf32 c) { return _mm512_fmadd_ps(a, b, c); }
inline vf64 fma(vf64 a, vf64 b, vf64 c) { return _mm512_fmadd_pd(a, b, c); }
#elif defined(__AVX2__)
inline vf32 broadcast(float x) { return _mm256_set1_ps(x); }
inline vf64 broadcast(double x) { return _mm256_set1_pd(x); }
inline vf32 fma(vf32 a, vf32 b, vf32 c) { return _mm256_fmadd_ps(a, b, c); }
inline vf64 fma(vf64 a, vf64 b, vf64 c) { return _mm256_fmadd_pd(a, b, c); }
#elif defined(__aarch64__)
inline vf32 broadcast(float x) { return (vf32)vdupq_n_f32(x); }
inline vf64 broadcast(double x) { return (vf64)vdupq_n_f64(x); }
inline vf32 fma(vf32 a, vf32 b, vf32 c) { return (vf32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
inline vf64 fma(vf64 a, vf64 b, vf64 c) { return (vf64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b); }
#else
inline vf32 broadcast(float x) { return vf32{x, x, x, x}; }
inline vf64 broadcast(double x) { return vf64{x, x}; }
#if defined(__wasm_relaxed_simd__)
inline vf32 fma(vf32 a, vf32 b, vf32 c) { return __builtin_wasm_relaxed_madd_f32x4(a, b, c); }
inline vf64 fma(vf64 a, vf64 b, vf64 c) { return __builtin_wasm_relaxed_madd_f64x2(a, b, c); }
#else
inline vf32 fma(vf32 a, vf32 b, vf32 c) { return a * b + c; }
inline vf64 fma(vf64 a, vf64 b, vf64 c) { return a * b + c; }
#endif
#endif

template <class T> inline typename Lanes<T>::V load(const T* p) { return *reinterpret_cast<const typename Lanes<T>::U*>(p); }
template <class T> inline void store(T* p, typename Lanes<T>::V v) { *reinterpret_cast<typename Lanes<T>::U*>(p) = v; }

// The first 1..n lanes of a vector.
template <class T> struct Part;
#if defined(__AVX512F__)
template <> struct Part<float> {
  __mmask16 mask;
  explicit Part(int64_t n) : mask(static_cast<__mmask16>((1u << n) - 1)) {}
  vf32 load(const float* p) const { return _mm512_maskz_loadu_ps(mask, p); }
  void store(float* p, vf32 v) const { _mm512_mask_storeu_ps(p, mask, v); }
};
template <> struct Part<double> {
  __mmask8 mask;
  explicit Part(int64_t n) : mask(static_cast<__mmask8>((1u << n) - 1)) {}
  vf64 load(const double* p) const { return _mm512_maskz_loadu_pd(mask, p); }
  void store(double* p, vf64 v) const { _mm512_mask_storeu_pd(p, mask, v); }
};
#elif defined(__AVX2__)
template <> struct Part<float> {
  __m256i mask;
  explicit Part(int64_t n)
      : mask(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))) {}
  vf32 load(const float* p) const { return _mm256_maskload_ps(p, mask); }
  void store(float* p, vf32 v) const { _mm256_maskstore_ps(p, mask, v); }
};
template <> struct Part<double> {
  __m256i mask;
  explicit Part(int64_t n) : mask(_mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))) {}
  vf64 load(const double* p) const { return _mm256_maskload_pd(p, mask); }
  void store(double* p, vf64 v) const { _mm256_maskstore_pd(p, mask, v); }
};
#else
// Each lane by its number: a loop over lanes would go through memory.
template <class T> struct Part {
  using V = typename Lanes<T>::V;
  static constexpr int kAll = Lanes<T>::n;
  static_assert(kAll == 2 || kAll == 4);
  int n;
  explicit Part(int64_t count) : n(static_cast<int>(count)) {}
  V load(const T* p) const {
    if (n == kAll) return eagre::EAGRE_ISA::load<T>(p);
    if constexpr (kAll == 4) {
      if (n == 2) return V{p[0], p[1]};
      if (n == 3) return V{p[0], p[1], p[2]};
    }
    return V{p[0]};
  }
  void store(T* p, V v) const {
    if (n == kAll) return eagre::EAGRE_ISA::store<T>(p, v);
    p[0] = v[0];
    if constexpr (kAll == 4) {
      if (n > 1) p[1] = v[1];
      if (n > 2) p[2] = v[2];
    }
  }
};
#endif

// Exchanges, between two rows at distance D, the lanes whose index has bit D clear in the second and set in the first.
template <int D, class V, int... I>
inline __attribute__((always_inline)) void exchange(V& a, V& b, std::integer_sequence<int, I...>) {
  constexpr int n = sizeof...(I);
  V low = __builtin_shufflevector(a, b, (I & D ? n + I - D : I)...);
  b = __builtin_shufflevector(a, b, (I & D ? n + I : I + D)...);
  a = low;
}
template <int D, int N, class V> inline __attribute__((always_inline)) void exchange_rows(V* r) {
#pragma GCC unroll 16
  for (int i = 0; i < N; i++) {
    if (!(i & D)) exchange<D>(r[i], r[i + D], std::make_integer_sequence<int, N>());
  }
  if constexpr (2 * D < N) exchange_rows<2 * D, N>(r);
}
// The sum of all lanes, by halves.
template <int D, class V, int... I>
inline __attribute__((always_inline)) auto sum_lanes(V v, std::integer_sequence<int, I...> lanes) {
  v += __builtin_shufflevector(v, v, (I ^ D)...);
  if constexpr (D > 1) return sum_lanes<D / 2>(v, lanes);
  else return v[0];
}
template <class T> inline __attribute__((always_inline)) T sum(typename Lanes<T>::V v) {
  return sum_lanes<Lanes<T>::n / 2>(v, std::make_integer_sequence<int, Lanes<T>::n>());
}
// Transposes n vectors of n lanes in log2(n) rounds.
template <class T>
inline __attribute__((always_inline)) void transpose(typename Lanes<T>::V* r) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  // Fewer shuffles.
  if constexpr (std::is_same_v<T, float>) return transpose_eight(reinterpret_cast<__m256*>(r));
#endif
  exchange_rows<1, Lanes<T>::n>(r);
}

}  // namespace
EAGRE_END

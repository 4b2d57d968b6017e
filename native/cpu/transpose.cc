// Transpose.
#include "shuffle.h"
#include "stream.h"
#include "strided.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

EAGRE_BEGIN
namespace {

// Square tiles in registers: n rounds of perfect shuffles transpose 2^n × 2^n elements, as each round rotates the bits of
// (row, column) by one. `Tile<T>::side` rows of the source become as many rows of the destination.
template <class V, class Low, class High, int N> inline void shuffle_rounds(V (&v)[N], Low low, High high) {
  for (int round = 1; round < N; round *= 2) {
    V w[N];
    for (int i = 0; i < N / 2; i++) {
      w[2 * i] = low(v[i], v[i + N / 2]);
      w[2 * i + 1] = high(v[i], v[i + N / 2]);
    }
    for (int i = 0; i < N; i++) v[i] = w[i];
  }
}

typedef uint8_t v16u8 __attribute__((vector_size(16)));
typedef uint16_t v8u16 __attribute__((vector_size(16)));
typedef uint32_t v4u32 __attribute__((vector_size(16)));
typedef uint64_t v2u64 __attribute__((vector_size(16)));

template <class T> struct Tile;
template <> struct Tile<uint8_t> {
  static constexpr int side = 16;
  static void run(const uint8_t* src, int64_t in, uint8_t* dst, int64_t out) {
    v16u8 v[side];
    for (int i = 0; i < side; i++) std::memcpy(&v[i], src + i * in, 16);
    shuffle_rounds(v,
        [](v16u8 a, v16u8 b) { return EAGRE_SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23); },
        [](v16u8 a, v16u8 b) { return EAGRE_SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31); });
    for (int i = 0; i < side; i++) std::memcpy(dst + i * out, &v[i], 16);
  }
};
template <> struct Tile<uint16_t> {
  static constexpr int side = 8;
  static void run(const uint16_t* src, int64_t in, uint16_t* dst, int64_t out) {
    v8u16 v[side];
    for (int i = 0; i < side; i++) std::memcpy(&v[i], src + i * in, 16);
    shuffle_rounds(v, [](v8u16 a, v8u16 b) { return EAGRE_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11); },
                   [](v8u16 a, v8u16 b) { return EAGRE_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15); });
    for (int i = 0; i < side; i++) std::memcpy(dst + i * out, &v[i], 16);
  }
};
#if defined(__AVX512F__)
template <> struct Tile<uint32_t> {
  static constexpr int side = 16;
  static void run(const uint32_t* src, int64_t in, uint32_t* dst, int64_t out) {
    const __m512i lo = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i hi = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    __m512i v[side];
    for (int i = 0; i < side; i++) v[i] = _mm512_loadu_si512(src + i * in);
    shuffle_rounds(v, [lo](__m512i a, __m512i b) { return _mm512_permutex2var_epi32(a, lo, b); },
                   [hi](__m512i a, __m512i b) { return _mm512_permutex2var_epi32(a, hi, b); });
    for (int i = 0; i < side; i++) _mm512_storeu_si512(dst + i * out, v[i]);
  }
};
template <> struct Tile<uint64_t> {
  static constexpr int side = 8;
  static void run(const uint64_t* src, int64_t in, uint64_t* dst, int64_t out) {
    const __m512i lo = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), hi = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    __m512i v[side];
    for (int i = 0; i < side; i++) v[i] = _mm512_loadu_si512(src + i * in);
    shuffle_rounds(v, [lo](__m512i a, __m512i b) { return _mm512_permutex2var_epi64(a, lo, b); },
                   [hi](__m512i a, __m512i b) { return _mm512_permutex2var_epi64(a, hi, b); });
    for (int i = 0; i < side; i++) _mm512_storeu_si512(dst + i * out, v[i]);
  }
};
#elif defined(__AVX2__)
template <> struct Tile<uint32_t> {
  static constexpr int side = 8;
  static void run(const uint32_t* src, int64_t in, uint32_t* dst, int64_t out) {
    __m256 v[side];
    for (int i = 0; i < side; i++) v[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(src + i * in));
    transpose_eight(v);
    for (int i = 0; i < side; i++) _mm256_storeu_ps(reinterpret_cast<float*>(dst + i * out), v[i]);
  }
};
#else
template <> struct Tile<uint32_t> {
  static constexpr int side = 4;
  static void run(const uint32_t* src, int64_t in, uint32_t* dst, int64_t out) {
    v4u32 v[side];
    for (int i = 0; i < side; i++) std::memcpy(&v[i], src + i * in, 16);
    shuffle_rounds(v, [](v4u32 a, v4u32 b) { return EAGRE_SHUFFLE(a, b, 0, 4, 1, 5); },
                   [](v4u32 a, v4u32 b) { return EAGRE_SHUFFLE(a, b, 2, 6, 3, 7); });
    for (int i = 0; i < side; i++) std::memcpy(dst + i * out, &v[i], 16);
  }
};
#endif
#if !defined(__AVX512F__)
template <> struct Tile<uint64_t> {
  static constexpr int side = 2;
  static void run(const uint64_t* src, int64_t in, uint64_t* dst, int64_t out) {
    v2u64 a, b;
    std::memcpy(&a, src, 16);
    std::memcpy(&b, src + in, 16);
    v2u64 lo = EAGRE_SHUFFLE(a, b, 0, 2), hi = EAGRE_SHUFFLE(a, b, 1, 3);
    std::memcpy(dst, &lo, 16);
    std::memcpy(dst + out, &hi, 16);
  }
};
#endif

// dst[c·out + r] = src[r·in + c] for r < rows, c < columns.
template <class T> void transpose_block(const T* src, int64_t in, T* dst, int64_t out, int64_t rows, int64_t columns) {
  constexpr int N = Tile<T>::side;
  // Along the destination's rows: few of them are written at a time.
  int64_t c = 0;
  for (; c + N <= columns; c += N) {
    int64_t r = 0;
    for (; r + N <= rows; r += N) Tile<T>::run(src + r * in + c, in, dst + c * out + r, out);
    for (; r < rows; r++) {
      for (int k = 0; k < N; k++) dst[(c + k) * out + r] = src[r * in + c + k];
    }
  }
  for (; c < columns; c++) {
    for (int64_t r = 0; r < rows; r++) dst[c * out + r] = src[r * in + c];
  }
}

// The same for at most a cache line squared, through buffers: every line of both sides is touched once.
template <class T> void transpose_lines(const T* src, int64_t in, T* dst, int64_t out, int64_t rows, int64_t columns) {
  constexpr int64_t N = 64 / sizeof(T);
  alignas(64) T from[N * N], to[N * N];
  for (int64_t r = 0; r < rows; r++) copy_bytes(from + r * N, src + r * in, columns * static_cast<int64_t>(sizeof(T)));
  transpose_block(from, N, to, N, rows, columns);
  for (int64_t c = 0; c < columns; c++) copy_bytes(dst + c * out, to + c * N, rows * static_cast<int64_t>(sizeof(T)));
}

// The same past the caches. The destination's rows begin at whole lines.
template <class T> void transpose_stream(const T* src, int64_t in, T* dst, int64_t out, int64_t rows, int64_t columns) {
  constexpr int64_t N = 64 / sizeof(T), side = Tile<T>::side;
  // Along the destination's rows: memory takes lines that follow each other faster.
  for (int64_t c = 0; c < columns; c += N) {
    for (int64_t r = 0; r < rows; r += N) {
      const T* from = src + r * in + c;
      T* to = dst + c * out + r;
      if (rows - r < N || columns - c < N) {
        transpose_block(from, in, to, out, min64(N, rows - r), min64(N, columns - c));
        continue;
      }
      alignas(64) T lines[N * N];
      for (int64_t k = 0; k < N; k += side) {
        for (int64_t i = 0; i < N; i += side) Tile<T>::run(from + i * in + k, in, lines + k * N + i, N);
      }
#pragma GCC unroll 16
      for (int64_t k = 0; k < N; k++) stream_line(to + k * out, lines + k * N);
    }
  }
  stream_end();
}

// The axis along which the source is contiguous (`fast`) and the destination's last one span planes that are transposed in
// blocks; the other axes count the planes.
template <class T> void transpose_planes(const Move& m, int fast, const T* src, T* dst) {
  const int last = m.rank - 1;
  const int64_t columns = m.dims[fast], out = m.out[fast], rows = m.dims[last], in = m.in[last];
  constexpr int64_t item = sizeof(T), line = 64, side = Tile<T>::side;
  // Its rows lie far from each other: what the caches cannot hold beside the source would be read before it is written.
  bool streams = m.size() * item >= kStreamBytes / 2 && reinterpret_cast<uintptr_t>(dst) % line == 0;
  for (int i = 0; i < last; i++) streams = streams && m.out[i] * item % line == 0;
  // A tile smaller than a line needs that line again for the next tile; with such strides it would be gone by then, as all
  // rows share a few sets of the cache (7 times slower at 2048²).
  const bool buffers = !streams && side * item < line && (in * item % 1024 == 0 || out * item % 1024 == 0);
  // Else a block is as wide as a line, and as long as the lines that it reads stay in the cache for all tiles beside each other.
  const int64_t wide = (streams ? 4 * line : line) / item;
  const int64_t high = streams ? 16 * line / item : buffers ? wide : side * item < line ? 256 : 1024;
  const int64_t column_blocks = (columns + wide - 1) / wide, row_blocks = (rows + high - 1) / high;
  const int64_t blocks = column_blocks * row_blocks;
  Move planes;
  for (int i = 0; i < last; i++) {
    if (i == fast) continue;
    planes.axis(m.dims[i], m.in[i], m.out[i]);
  }
  const int64_t block_bytes = (columns < wide ? columns : wide) * (rows < high ? rows : high) * static_cast<int64_t>(sizeof(T));
  parallel_rows(planes.size() * blocks, block_bytes, [&](int64_t b, int64_t e) {
    for (int64_t unit = b; unit < e; unit++) {
      int64_t plane = unit / blocks, block = unit % blocks;
      int64_t from = 0, to = 0;
      for (int i = planes.rank - 1; i >= 0; i--) {
        int64_t at = plane % planes.dims[i];
        plane /= planes.dims[i];
        from += at * planes.in[i];
        to += at * planes.out[i];
      }
      const int64_t c = block % column_blocks * wide, r = block / column_blocks * high;
      const int64_t height = rows - r < high ? rows - r : high, width = columns - c < wide ? columns - c : wide;
      auto* run = streams ? transpose_stream<T> : buffers ? transpose_lines<T> : transpose_block<T>;
      run(src + from + r * in + c, in, dst + to + c * out + r, out, height, width);
    }
  });
}

void transpose(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  int64_t perm[kMaxRank], in[kMaxRank], out[kMaxRank];
  int n = a.list(perm, kMaxRank);
  if (n != x.rank || n != y.rank || x.size != y.size) fail(Code::internal, "perm of %d axes for rank %d", n, x.rank);
  if (y.size == 0) return;
  dense_strides(x, in);
  dense_strides(y, out);
  Move m;
  unsigned seen = 0;
  for (int i = 0; i < n; i++) {
    if (perm[i] < 0 || perm[i] >= n || y.dims[i] != x.dims[perm[i]]) fail(Code::internal, "axis %d is not that of perm", i);
    seen |= 1u << perm[i];
    m.axis(y.dims[i], in[perm[i]], out[i]);
  }
  if (seen != (1u << n) - 1) fail(Code::internal, "perm is no permutation");
  int fast = m.rank - 1;
  for (int i = 0; i < m.rank; i++) if (m.in[i] == 1) fast = i;
  visit_size(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (fast == m.rank - 1) {
      move_strided(m, x.as<T>(), y.as<T>());
    } else {
      transpose_planes(m, fast, x.as<T>(), y.as<T>());
    }
  });
}

}  // namespace

void register_transpose(Registry& r) { r.add("Transpose", transpose); }
EAGRE_END

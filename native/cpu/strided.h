// Copies between strided views: the common ground of the kernels that only move values.
#pragma once
#include <cstring>
#include <limits>

#include "half.h"

EAGRE_BEGIN
namespace {

// For %lld.
inline long long ll(int64_t v) { return v; }

// Bytes that one chunk of a parallel copy writes at least: some 20 µs of work.
constexpr int64_t kMoveBytes = 256 << 10;

// Of `rows` rows.
inline int64_t rows_per_chunk(int64_t rows, int64_t row_bytes) {
  const int64_t few = few_chunks(rows), least = row_bytes < 1 ? kMoveBytes : kMoveBytes / row_bytes;
  return few > least ? few : least > 1 ? least : 1;
}
// fn(begin, end) for parts of [0, rows), where a row is so many bytes.
template <class F> inline void parallel_rows(int64_t rows, int64_t row_bytes, F&& fn) {
  parallel_for(rows, rows_per_chunk(rows, row_bytes), fn);
}
// Of `bytes` bytes, in whole pages.
inline int64_t bytes_per_chunk(int64_t bytes) {
  const int64_t few = few_chunks(bytes) & ~int64_t{4095};
  return few > kMoveBytes ? few : kMoveBytes;
}

// No access to memory passes this place when the compiler orders them, and no loop around it is taken for a memcpy, which for short
// rows would become a slow string instruction.
inline void keep_order() { asm volatile("" ::: "memory"); }

// Like memcpy, without its call for the rows that these kernels have, and without the time its way for kilobytes takes to begin.
inline void copy_bytes(void* to, const void* from, int64_t n) {
  char* d = static_cast<char*>(to);
  const char* s = static_cast<const char*>(from);
  auto pair = [&](auto tag) {
    decltype(tag) first, last;
    std::memcpy(&first, s, sizeof tag);
    std::memcpy(&last, s + n - sizeof tag, sizeof tag);
    std::memcpy(d, &first, sizeof tag);
    std::memcpy(d + n - sizeof tag, &last, sizeof tag);
  };
  struct B16 { uint64_t a, b; };
  struct B32 { B16 a, b; };
  typedef uint8_t Vector __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
  const auto load = [&](int64_t i) { return *reinterpret_cast<const Vector*>(s + i); };
  const auto store = [&](int64_t i, Vector v) { *reinterpret_cast<Vector*>(d + i) = v; };
  if (n > 4096) {
    std::memcpy(d, s, static_cast<size_t>(n));
  } else if (n > 128) {
    // The end overlaps what is before it. Loads before stores: where both sides lie alike within a page, a load right behind a store
    // waits for it.
    constexpr int64_t step = 4 * kVectorBytes;
    const Vector last = load(n - kVectorBytes);
    int64_t i = 0;
    for (; i + step <= n; i += step) {
      const Vector v0 = load(i), v1 = load(i + kVectorBytes), v2 = load(i + 2 * kVectorBytes), v3 = load(i + 3 * kVectorBytes);
      keep_order();
      store(i, v0), store(i + kVectorBytes, v1), store(i + 2 * kVectorBytes, v2), store(i + 3 * kVectorBytes, v3);
    }
    for (; i + kVectorBytes < n; i += kVectorBytes) {
      store(i, load(i));
      keep_order();
    }
    store(n - kVectorBytes, last);
  } else if (n > 64) {
    // Each vector is a variable of its own: an array of them would be written to the stack and read back. No more stores than needed.
    constexpr int64_t v = kVectorBytes;
    const Vector last = load(n - v);
    if constexpr (v == 64) {
      const Vector first = load(0);
      store(0, first);
    } else if constexpr (v == 32) {
      const Vector v0 = load(0), v1 = load(v), v2 = n > 3 * v ? load(2 * v) : last;
      keep_order();
      store(0, v0), store(v, v1);
      if (n > 3 * v) store(2 * v, v2);
    } else {
      const Vector v0 = load(0), v1 = load(v), v2 = load(2 * v), v3 = load(3 * v);
      store(0, v0), store(v, v1), store(2 * v, v2), store(3 * v, v3);
      for (int64_t i = 4 * v; i + v < n; i += v) store(i, load(i));
    }
    store(n - v, last);
  } else if (n > 32) {
    pair(B32{});
  } else if (n >= 16) {
    pair(B16{});
  } else if (n >= 8) {
    pair(uint64_t{});
  } else if (n >= 4) {
    pair(uint32_t{});
  } else {
    for (int64_t i = 0; i < n; i++) d[i] = s[i];
  }
}

inline void parallel_copy(void* to, const void* from, int64_t bytes) {
  parallel_for(bytes, bytes_per_chunk(bytes), [=](int64_t b, int64_t e) {
    std::memcpy(static_cast<char*>(to) + b, static_cast<const char*>(from) + b, static_cast<size_t>(e - b));
  });
}

inline void parallel_zero(void* to, int64_t bytes) {
  parallel_for(bytes, bytes_per_chunk(bytes), [=](int64_t b, int64_t e) {
    std::memset(static_cast<char*>(to) + b, 0, static_cast<size_t>(e - b));
  });
}

template <class T> inline T saturated(double value) {
  if constexpr (std::numeric_limits<T>::is_integer) {
    // Both ends are powers of two, or one less, which a double of 64 bit integers is not: hence >=.
    constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    if (value != value) return 0;
    return value <= static_cast<double>(low) ? low : value >= static_cast<double>(high) ? high : static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}
// `value` as an element of dtype t, saturating, in the bits of an unsigned type of that size.
template <class U> inline U bits_of(DType t, double value) {
  U bits = 0;
  auto set = [&](auto v) { std::memcpy(&bits, &v, sizeof v < sizeof bits ? sizeof v : sizeof bits); };
  switch (t) {
    case DType::boolean: set(static_cast<uint8_t>(value != 0)); break;
#define X(name, type) case DType::name: set(saturated<type>(value)); break;
    EAGRE_NUMBERS(X)
#undef X
#define X(name, type) case DType::name: set(half_of<type>(value)); break;
    EAGRE_HALVES(X)
#undef X
  }
  return bits;
}

// Row-major strides.
inline void dense_strides(const Tensor& t, int64_t* strides) {
  int64_t s = 1;
  for (int i = t.rank - 1; i >= 0; i--) {
    strides[i] = s;
    s *= t.dims[i];
  }
}

inline int64_t product(const int64_t* dims, int from, int to) {
  int64_t n = 1;
  for (int i = from; i < to; i++) n *= dims[i];
  return n;
}

// An iteration space with a stride per axis (in elements) into the source and into the destination. Tile needs two axes for
// each of a tensor.
struct Move {
  int rank = 0;
  int64_t dims[2 * kMaxRank] = {}, in[2 * kMaxRank] = {}, out[2 * kMaxRank] = {};
  void axis(int64_t n, int64_t in_stride, int64_t out_stride) {
    if (n == 1) return;
    if (rank > 0 && in[rank - 1] == in_stride * n && out[rank - 1] == out_stride * n) {
      dims[rank - 1] *= n;
    } else {
      dims[rank++] = n;
    }
    in[rank - 1] = in_stride;
    out[rank - 1] = out_stride;
  }
  int64_t size() const { return product(dims, 0, rank); }
};

template <class T> inline void move_row(const T* src, int64_t in, T* dst, int64_t out, int64_t n) {
  if (out == 1 && in == 1) {
    copy_bytes(dst, src, n * static_cast<int64_t>(sizeof(T)));
  } else if (out == 1 && in == 0) {
    T v = *src;
    for (int64_t i = 0; i < n; i++) dst[i] = v;
  } else if (out == 1 && in == -1) {
    for (int64_t i = 0; i < n; i++) dst[i] = src[-i];
  } else {
    for (int64_t i = 0; i < n; i++) dst[i * out] = src[i * in];
  }
}

// dst[Σ i·out] = src[Σ i·in] over the whole space. The axes come outermost first, with the destination's innermost last.
template <class T> inline void move_strided(const Move& m, const T* src, T* dst) {
  if (m.size() == 0) return;
  if (m.rank == 0) {
    *dst = *src;
    return;
  }
  const int last = m.rank - 1;
  const int64_t in = m.in[last], out = m.out[last];
  // Long rows are cut, so that one row can use several threads. Short ones are gone through along the axis before.
  const int64_t piece_max = kMoveBytes / static_cast<int64_t>(sizeof(T));
  const int64_t pieces = (m.dims[last] + piece_max - 1) / piece_max;
  const int64_t rows = product(m.dims, 0, last);
  const int64_t row_bytes = (pieces > 1 ? piece_max : m.dims[last]) * static_cast<int64_t>(sizeof(T));
  const int64_t beside = last > 0 ? m.dims[last - 1] : 1;
  const int64_t beside_in = last > 0 ? m.in[last - 1] : 0, beside_out = last > 0 ? m.out[last - 1] : 0;
  parallel_rows(rows * pieces, row_bytes, [&](int64_t b, int64_t e) {
    int64_t at[2 * kMaxRank];
    int64_t row = b / pieces, piece = b % pieces;
    int64_t from = 0, to = 0;
    for (int i = last - 1; i >= 0; i--) {
      at[i] = row % m.dims[i];
      row /= m.dims[i];
      from += at[i] * m.in[i];
      to += at[i] * m.out[i];
    }
    for (int64_t unit = b; unit < e;) {
      int64_t count = 1;
      if (pieces > 1) {
        const int64_t start = piece * piece_max;
        const int64_t n = m.dims[last] - start < piece_max ? m.dims[last] - start : piece_max;
        move_row(src + from + start * in, in, dst + to + start * out, out, n);
        unit++;
        if (++piece < pieces) continue;
        piece = 0;
      } else {
        const int64_t left = beside - (last > 0 ? at[last - 1] : 0);
        count = e - unit < left ? e - unit : left;
        const T* x = src + from;
        T* y = dst + to;
        for (int64_t k = 0; k < count; k++, x += beside_in, y += beside_out) move_row(x, in, y, out, m.dims[last]);
        unit += count;
      }
      for (int i = last - 1; i >= 0; i--, count = 1) {
        from += count * m.in[i];
        to += count * m.out[i];
        at[i] += count;
        if (at[i] < m.dims[i]) break;
        from -= at[i] * m.in[i];
        to -= at[i] * m.out[i];
        at[i] = 0;
      }
    }
  });
}

}  // namespace
EAGRE_END

// Moments: mean and variance over neighbouring axes. Each element comes from memory once; the squares are taken while it is in cache.
#include "column_moments.h"
#include "gemm_micro.h"
#include "strided.h"

EAGRE_BEGIN
namespace {

// A longer run is cut into such pieces, which are still in the cache when they are looked at again.
constexpr int64_t kPiece = 1 << 13;
constexpr int64_t kWork = 1 << 16;     // elements of a chunk, about
constexpr int64_t kColumns = 1 << 10;  // columns of a block: their sums stay in the first-level cache
constexpr int kSums = 4;

struct Moment {
  double mean, square;  // the sum of squares around the mean
};

template <class T> inline double total(const typename Lanes<T>::V (&v)[kSums]) {
  const typename Lanes<T>::V all = (v[0] + v[1]) + (v[2] + v[3]);
  double sum = 0;
  for (int k = 0; k < Lanes<T>::n; k++) sum += static_cast<double>(all[k]);
  return sum;
}

template <class T> Moment moments_of(const T* x, int64_t n) {
  using V = typename Lanes<T>::V;
  constexpr int L = Lanes<T>::n;
  const double count = static_cast<double>(n);
  const int64_t whole = n / L * L;
  V sum[kSums]{}, rest[kSums]{}, square[kSums]{};
  int64_t i = 0;
  for (; i + kSums * L <= n; i += kSums * L) {
    for (int k = 0; k < kSums; k++) sum[k] += load<T>(x + i + k * L);
  }
  for (; i < whole; i += L) sum[0] += load<T>(x + i);
  if (i < n) sum[1] += Part<T>(n - i).load(x + i);
  const T middle = static_cast<T>(total<T>(sum) / count);
  const V c = broadcast(middle);
  for (i = 0; i + kSums * L <= n; i += kSums * L) {
    for (int k = 0; k < kSums; k++) {
      const V d = load<T>(x + i + k * L) - c;
      rest[k] += d;
      square[k] = fma(d, d, square[k]);
    }
  }
  T last[L];
  for (; i < n; i += L) {
    if (i == whole) {
      for (int k = 0; k < L; k++) last[k] = k < n - i ? x[i + k] : middle;
    }
    const V d = load<T>(i == whole ? last : x + i) - c;
    rest[0] += d;
    square[0] = fma(d, d, square[0]);
  }
  // What is left around a rounded mean corrects it; around an infinite one nothing is.
  const double left = total<T>(rest), shift = left / count;
  return {static_cast<double>(middle) + (shift == shift ? shift : 0), total<T>(square) - shift * left};
}

// Runs of n elements, one behind the other.
template <class T> void moments_of_runs(const T* x, T* mean, T* variance, int64_t runs, int64_t n) {
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  const double count = static_cast<double>(n);
  if (pieces == 1) {
    parallel_for(runs, kWork / n + 1, [=](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; r++) {
        const Moment m = moments_of(x + r * n, n);
        mean[r] = static_cast<T>(m.mean);
        variance[r] = static_cast<T>(m.square / count);
      }
    });
    return;
  }
  Moment* partial = static_cast<Moment*>(scratch(0, runs * pieces * static_cast<int64_t>(sizeof(Moment))));
  const auto length = [=](int64_t piece) { return n - piece * kPiece < kPiece ? n - piece * kPiece : kPiece; };
  parallel_for(runs * pieces, kWork / kPiece, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t piece = i % pieces;
      partial[i] = moments_of(x + i / pieces * n + piece * kPiece, length(piece));
    }
  });
  for (int64_t r = 0; r < runs; r++) {
    const Moment* m = partial + r * pieces;
    double middle = 0, square = 0;
    for (int64_t k = 0; k < pieces; k++) middle += m[k].mean * (static_cast<double>(length(k)) / count);
    for (int64_t k = 0; k < pieces; k++) {
      const double delta = m[k].mean - middle;
      square += m[k].square + delta * delta * static_cast<double>(length(k));
    }
    mean[r] = static_cast<T>(middle);
    variance[r] = static_cast<T>(square / count);
  }
}

// Columns of `matrices` matrices [rows, columns].
template <class T> void moments_of_columns(const T* x, T* mean, T* variance, int64_t matrices, int64_t rows, int64_t columns) {
  const int64_t blocks = (columns + kColumns - 1) / kColumns;
  const auto layout_of = [=](int64_t block) {
    const int64_t left = columns - block * kColumns;
    return Layout(rows, left < kColumns ? left : kColumns, columns);
  };
  const auto bytes = [](int64_t count, size_t item) { return count * static_cast<int64_t>(item); };
  // No block has more columns than the first, and none more chunks.
  const Layout first = layout_of(0);
  const int64_t room = 2 * first.channels, chunks = first.chunks;
  double* partial = static_cast<double*>(scratch(0, bytes(matrices * blocks * chunks * room, sizeof(double))));
  parallel_for(matrices * blocks * chunks, kWork / (first.rows_of(0) * first.channels) + 1, [=](int64_t begin, int64_t end) {
    T* memory = static_cast<T*>(scratch(1, bytes(3 * (kColumns + kWide), sizeof(T))));
    for (int64_t i = begin; i < end; i++) {
      const int64_t chunk = i % chunks, block = i / chunks % blocks, matrix = i / chunks / blocks;
      const Layout l = layout_of(block);
      if (chunk >= l.chunks) continue;
      const T* from = x + matrix * rows * columns + block * kColumns;
      chunk_moments(from, l, chunk, memory, partial + (matrix * blocks + block) * chunks * room + chunk * 2 * l.channels);
    }
  });
  double* sums = static_cast<double*>(scratch(2, bytes(room, sizeof(double))));
  for (int64_t i = 0; i < matrices * blocks; i++) {
    const Layout l = layout_of(i % blocks);
    combine_chunks(l, partial + i * chunks * room, sums);
    const int64_t at = i / blocks * columns + i % blocks * kColumns;
    for (int64_t j = 0; j < l.channels; j++) {
      mean[at + j] = static_cast<T>(sums[j]);
      variance[at + j] = static_cast<T>(sums[l.channels + j] / static_cast<double>(rows));
    }
  }
}

void moments(Args& a) {
  Tensor x = a.tensor(), mean = a.tensor(), variance = a.tensor();
  int64_t axes[kMaxRank];
  const int count = a.list(axes, kMaxRank);
  for (int i = 0; i < count; i++) {
    if (axes[i] < 0 || axes[i] >= x.rank || (i > 0 && axes[i] != axes[i - 1] + 1))
      fail(Code::internal, "axis %lld of rank %d, which does not follow the one before", ll(axes[i]), x.rank);
  }
  const int from = count > 0 ? static_cast<int>(axes[0]) : x.rank;
  const int64_t outer = product(x.dims, 0, from), n = product(x.dims, from, from + count);
  const int64_t inner = product(x.dims, from + count, x.rank);
  if (mean.size != outer * inner || variance.size != outer * inner || mean.dtype != x.dtype || variance.dtype != x.dtype)
    fail(Code::internal, "moments of tensors that do not fit");
  if (outer * inner == 0) return;
  const auto run = [&](auto tag) {
    using T = decltype(tag);
    T *m = mean.as<T>(), *v = variance.as<T>();
    if (n == 0) {
      for (int64_t i = 0; i < outer * inner; i++) m[i] = v[i] = static_cast<T>(__builtin_nan(""));
    } else if (inner == 1) {
      moments_of_runs(x.as<T>(), m, v, outer, n);
    } else {
      moments_of_columns(x.as<T>(), m, v, outer, n, inner);
    }
  };
  if (x.dtype == DType::f32) run(float{});
  else if (x.dtype == DType::f64) run(double{});
  else fail(Code::unimplemented, "moments take float32 and float64");
}

}  // namespace

void register_moments(Registry& r) { r.add("Moments", moments); }
EAGRE_END

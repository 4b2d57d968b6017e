// Pad, MirrorPadGrad.
#include <algorithm>

#include "strided.h"

EAGRE_BEGIN
namespace {

// A padding with the unpadded trailing axes folded into `block` elements that move together. At least one axis is left.
struct Padding {
  int rank;
  int64_t inner[kMaxRank], outer[kMaxRank], before[kMaxRank];  // sizes without and with the padding
  int64_t block;
  int mode;

  // Where position i of the padded axis comes from; -1 for the constant.
  int64_t source(int axis, int64_t i) const {
    int64_t n = inner[axis], at = i - before[axis];
    if (at >= 0 && at < n) return at;
    if (mode == 0) return -1;
    int64_t edge = mode == 2;
    return at < 0 ? -at - edge : 2 * n - 2 + edge - at;
  }
};

// `small` is the tensor without the padding, `large` the one with it.
Padding padding(const Tensor& small, const Tensor& large, Args& a) {
  int64_t before[kMaxRank], after[kMaxRank];
  int n = a.list(before, kMaxRank), m = a.list(after, kMaxRank);
  Padding p;
  p.mode = static_cast<int>(a.integer());
  if (n != small.rank || m != n || large.rank != n) fail(Code::internal, "padding of %d axes for rank %d", n, small.rank);
  int last = 0;
  for (int i = 0; i < n; i++) {
    if (before[i] < 0 || after[i] < 0 || large.dims[i] != before[i] + small.dims[i] + after[i]) {
      fail(Code::internal, "padding of axis %d does not give the output's size", i);
    }
    int64_t most = p.mode == 0 ? INT64_MAX : small.dims[i] - (p.mode == 1);
    if ((before[i] || after[i]) && (before[i] > most || after[i] > most)) {
      fail(Code::invalid_argument, "axis %d of size %lld is too short to mirror", i, ll(small.dims[i]));
    }
    if (before[i] || after[i]) last = i;
    p.inner[i] = small.dims[i];
    p.outer[i] = large.dims[i];
    p.before[i] = before[i];
  }
  if (n == 0) p.inner[0] = p.outer[0] = 1, p.before[0] = 0;
  p.block = product(small.dims, last + 1, n);
  p.rank = last + 1;
  return p;
}

// By values, so that the compiler knows that a row of bytes overlaps none of them, and makes it a memset.
template <class T> void fill_range(T* to, int64_t begin, int64_t end, T value) {
  for (int64_t i = begin; i < end; i++) to[i] = value;
}

template <class T> void pad_rows(const Padding& p, const T* x, T* y, T value) {
  constexpr int64_t size = static_cast<int64_t>(sizeof(T));
  const int last = p.rank - 1;
  const int64_t block = p.block, row = p.outer[last] * block, middle = p.inner[last] * block;
  const int64_t left = p.before[last] * block;
  const int64_t rows = product(p.outer, 0, last);
  // A long row is shared out as well, unless it is mirrored.
  const int64_t pieces = p.mode == 0 ? std::max<int64_t>(1, row * size / kMoveBytes) : 1;
  const int64_t piece = (row + pieces - 1) / pieces;
  parallel_rows(rows * pieces, piece * size, [&](int64_t b, int64_t e) {
    for (int64_t unit = b; unit < e; unit++) {
      const int64_t r = unit / pieces, begin = unit % pieces * piece, end = std::min(row, begin + piece);
      T* to = y + r * row;
      int64_t rest = r, from = 0, step = middle;
      bool constant = false;
      for (int i = last - 1; i >= 0; i--) {
        int64_t at = p.source(i, rest % p.outer[i]);
        rest /= p.outer[i];
        constant |= at < 0;
        from += at * step;
        step *= p.inner[i];
      }
      if (constant) {
        fill_range(to, begin, end, value);
        continue;
      }
      const int64_t first = std::max(begin, left), behind = std::min(end, left + middle);
      if (p.mode == 0) {
        fill_range(to, begin, std::min(end, left), value);
        fill_range(to, std::max(begin, left + middle), end, value);
      } else {
        for (int64_t i = 0; i < p.before[last]; i++) {
          copy_bytes(to + i * block, x + from + p.source(last, i) * block, block * size);
        }
        for (int64_t i = p.before[last] + p.inner[last]; i < p.outer[last]; i++) {
          copy_bytes(to + i * block, x + from + p.source(last, i) * block, block * size);
        }
      }
      if (behind > first) copy_bytes(to + first, x + from + first - left, (behind - first) * size);
    }
  });
}

void pad(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  Padding p = padding(x, y, a);
  double value = a.number();
  if (y.size == 0) return;
  visit_size(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    pad_rows(p, x.as<T>(), y.as<T>(), bits_of<T>(y.dtype, value));
  });
}

template <class T> struct Wide { using type = T; };
template <> struct Wide<float> { using type = double; };

// The places of the padded axis that were copied from position i, in ascending order; at most three.
int places(const Padding& p, int axis, int64_t i, int64_t* at) {
  int count = 0;
  int64_t n = p.inner[axis], edge = p.mode == 2, before = p.before[axis], after = p.outer[axis] - n - before;
  int64_t mirrored = -i - edge;               // left of the tensor
  int64_t far = 2 * n - 2 + edge - i;         // right of it
  if (mirrored < 0 && mirrored >= -before) at[count++] = before + mirrored;
  at[count++] = before + i;
  if (far >= n && far < n + after) at[count++] = before + far;
  return count;
}

// Each dx sums its places in row-major order of dy, the last axis innermost, so the result never depends on threads.
template <class T> void mirror_rows(const Padding& p, const T* dy, T* dx) {
  using W = typename Wide<T>::type;
  constexpr int64_t kTile = 64;
  const int last = p.rank - 1;
  const int64_t block = p.block, row = p.outer[last] * block, rows = product(p.inner, 0, last);
  parallel_rows(rows, p.inner[last] * block * static_cast<int64_t>(sizeof(T)), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      int64_t at[kMaxRank][3], turn[kMaxRank] = {};
      int counts[kMaxRank];
      int64_t rest = r;
      for (int i = last - 1; i >= 0; i--) {
        counts[i] = places(p, i, rest % p.inner[i], at[i]);
        rest /= p.inner[i];
      }
      int64_t starts[2187];  // 3^7 rows of dy at most
      int n = 0;
      for (;;) {
        int64_t start = 0;
        for (int i = 0; i < last; i++) start = start * p.outer[i] + at[i][turn[i]];
        starts[n++] = start * row;
        int i = last - 1;
        while (i >= 0 && ++turn[i] == counts[i]) turn[i--] = 0;
        if (i < 0) break;
      }
      T* to = dx + r * p.inner[last] * block;
      for (int64_t i = 0; i < p.inner[last]; i++) {
        int64_t columns[3];
        int m = places(p, last, i, columns);
        if (n == 1 && m == 1) {
          copy_bytes(to + i * block, dy + starts[0] + columns[0] * block, block * static_cast<int64_t>(sizeof(T)));
          continue;
        }
        for (int64_t k = 0; k < block; k += kTile) {
          const int64_t width = block - k < kTile ? block - k : kTile;
          W sums[kTile] = {};
          for (int s = 0; s < n; s++) {
            for (int c = 0; c < m; c++) {
              const T* from = dy + starts[s] + columns[c] * block + k;
              for (int64_t j = 0; j < width; j++) sums[j] += from[j];
            }
          }
          for (int64_t j = 0; j < width; j++) to[i * block + k + j] = static_cast<T>(sums[j]);
        }
      }
    }
  });
}

void mirror_pad_grad(Args& a) {
  Tensor dy = a.tensor(), dx = a.tensor();
  Padding p = padding(dx, dy, a);
  if (p.mode != 1 && p.mode != 2) fail(Code::internal, "mode %d", p.mode);
  if (dx.dtype == DType::boolean) fail(Code::unimplemented, "a sum of bool");
  if (dx.size == 0) return;
  visit(dx.dtype, [&](auto tag) {
    using T = decltype(tag);
    mirror_rows(p, dy.as<T>(), dx.as<T>());
  });
}

}  // namespace

void register_pad(Registry& r) {
  r.add("Pad", pad);
  r.add("MirrorPadGrad", mirror_pad_grad);
}
EAGRE_END

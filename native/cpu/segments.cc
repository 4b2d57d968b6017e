// SegmentReduce.
#include "strided.h"

EAGRE_BEGIN
namespace {

enum class Reduction { sum, mean, product, maximum, minimum };
constexpr int kReductions = 5;

// The numbers of rows, of either dtype: what is compiled for all dtypes of rows asks once for each segment.
struct Ids {
  const void* data;
  bool wide;
  int64_t n;

  int64_t at(int64_t i) const { return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i]; }
  // The first row behind row i that has another number, before `end`.
  int64_t run_end(int64_t i, int64_t end) const {
    return wide ? next_run(static_cast<const int64_t*>(data), i, end) : next_run(static_cast<const int32_t*>(data), i, end);
  }
  void check(int64_t count) const { wide ? check_rising(static_cast<const int64_t*>(data), count) : check_rising(static_cast<const int32_t*>(data), count); }

 private:
  template <class I> static int64_t next_run(const I* ids, int64_t i, int64_t end) {
    const I id = ids[i];
    while (++i < end && ids[i] == id) {}
    return i;
  }
  template <class I> void check_rising(const I* ids, int64_t count) const {
    if (n == 0) return;
    bool falls = ids[0] < 0;
    for (int64_t i = 1; i < n; i++) falls |= ids[i] < ids[i - 1];
    for (int64_t i = 0; falls && i < n; i++) {
      if (i > 0 && ids[i] < ids[i - 1]) fail(Code::invalid_argument, "segmentIds must be at least 0 and rise, but number %lld is %lld after %lld", ll(i), ll(ids[i]), ll(ids[i - 1]));
      if (ids[i] < 0) fail(Code::invalid_argument, "segmentIds must be at least 0 and rise, but number %lld is %lld", ll(i), ll(ids[i]));
    }
    if (static_cast<int64_t>(ids[n - 1]) >= count) fail(Code::out_of_range, "the segment %lld is not in [0, %lld)", ll(ids[n - 1]), ll(count));
  }
};

// Integers wrap, which is defined for unsigned ones alone: those of 32 bits at least, as shorter ones become signed before they are multiplied.
template <class T> struct Wide { using type = uint32_t; };
template <> struct Wide<int64_t> { using type = uint64_t; };
template <> struct Wide<uint64_t> { using type = uint64_t; };
template <> struct Wide<float> { using type = float; };
template <> struct Wide<double> { using type = double; };

template <bool positive> struct Longest { using type = int64_t; };
template <> struct Longest<true> { using type = uint64_t; };

template <class T> struct Sum {
  static T apply(T a, T b) { return static_cast<T>(static_cast<typename Wide<T>::type>(a) + static_cast<typename Wide<T>::type>(b)); }
};
template <class T> struct Product {
  static T apply(T a, T b) { return static_cast<T>(static_cast<typename Wide<T>::type>(a) * static_cast<typename Wide<T>::type>(b)); }
};
// These keep a NaN of either side, as the scalar operations do, without a branch, which could not be predicted.
template <class T> struct Maximum {
  static T apply(T a, T b) { return ((a > b) | (a != a)) ? a : b; }
};
template <class T> struct Minimum {
  static T apply(T a, T b) { return ((a < b) | (a != a)) ? a : b; }
};

// So many rows of x, of so many elements, as one.
template <int inner, class Op, class T> inline void reduce_short(const T* x, int64_t rows, T* y) {
  T found[inner];
  for (int k = 0; k < inner; k++) found[k] = x[k];
  for (int64_t r = 1; r < rows; r++) {
    for (int k = 0; k < inner; k++) found[k] = Op::apply(found[k], x[r * inner + k]);
  }
  for (int k = 0; k < inner; k++) y[k] = found[k];
}
constexpr int kLanes = 16;
template <class Op, class T> void reduce_numbers(const T* x, int64_t rows, T* y) {
  if (rows < 2 * kLanes) return reduce_short<1, Op>(x, rows, y);
  // Side by side, as each waits for the one before.
  T lanes[kLanes];
  for (int k = 0; k < kLanes; k++) lanes[k] = x[k];
  int64_t r = kLanes;
  for (; r + kLanes <= rows; r += kLanes) {
    for (int k = 0; k < kLanes; k++) lanes[k] = Op::apply(lanes[k], x[r + k]);
  }
  for (int k = 0; r < rows; r++, k++) lanes[k] = Op::apply(lanes[k], x[r]);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; k++) lanes[k] = Op::apply(lanes[k], lanes[k + half]);
  }
  *y = lanes[0];
}
// Code in several forms is for these alone.
template <class T> struct IsUsual { static constexpr bool value = T(-1) < T(0) && sizeof(T) >= 4; };

template <class Op, class T> void reduce_rows(const T* x, int64_t rows, int64_t inner, T* y) {
  int64_t c = 0;
  if constexpr (IsUsual<T>::value) {
    if (inner == 1) return reduce_numbers<Op>(x, rows, y);
    if (inner == 2) return reduce_short<2, Op>(x, rows, y);
    if (inner == 3) return reduce_short<3, Op>(x, rows, y);
    if (inner == 4) return reduce_short<4, Op>(x, rows, y);
    for (; c + kLanes <= inner; c += kLanes) {
      T found[kLanes];
      for (int k = 0; k < kLanes; k++) found[k] = x[c + k];
      for (int64_t r = 1; r < rows; r++) {
        for (int k = 0; k < kLanes; k++) found[k] = Op::apply(found[k], x[r * inner + c + k]);
      }
      for (int k = 0; k < kLanes; k++) y[c + k] = found[k];
    }
  }
  for (int64_t k = c; k < inner; k++) y[k] = x[k];
  for (int64_t r = 1; r < rows; r++) {
    for (int64_t k = c; k < inner; k++) y[k] = Op::apply(y[k], x[r * inner + k]);
  }
}

// The segments that begin in rows b … e - 1, and what is before each without a row; behind the last row, also what is behind.
template <class Op, class T>
void reduce_segments(const T* x, const Ids& ids, T* y, int64_t count, int64_t inner, int64_t b, int64_t e, T none, bool mean) {
  const auto blank = [&](int64_t from, int64_t to) {
    for (int64_t k = from * inner; k < to * inner; k++) y[k] = none;
  };
  for (int64_t i = b == 0 ? 0 : ids.run_end(b - 1, e), end; i < e; i = end) {
    const int64_t id = ids.at(i);
    blank(i == 0 ? 0 : ids.at(i - 1) + 1, id);
    end = ids.run_end(i, ids.n);
    T* to = y + id * inner;
    reduce_rows<Op>(x + i * inner, end - i, inner, to);
    if (mean && end - i > 1) {
      if constexpr (static_cast<T>(0.5) != T(0)) {
        for (int64_t k = 0; k < inner; k++) to[k] /= static_cast<T>(end - i);
      } else {
        using Whole = typename Longest<(T(-1) > T(0))>::type;
        // Toward 0.
        for (int64_t k = 0; k < inner; k++) to[k] = static_cast<T>(static_cast<Whole>(to[k]) / static_cast<Whole>(end - i));
      }
    }
    if (end == ids.n) blank(id + 1, count);
  }
}

template <class T> void reduce_all(const Tensor& x, const Ids& ids, const Tensor& y, int64_t count, int64_t inner, Reduction reduction) {
  const T* from = x.as<T>();
  T* to = y.as<T>();
  const T none = reduction == Reduction::product ? T(1) : T(0);
  if (ids.n == 0) {
    for (int64_t i = 0; i < y.size; i++) to[i] = none;
    return;
  }
  // Whole segments, so that the result is the same for any number of threads.
  parallel_rows(ids.n, inner * static_cast<int64_t>(sizeof(T)), [&](int64_t b, int64_t e) {
    const auto reduce = [&](auto op) { reduce_segments<decltype(op)>(from, ids, to, count, inner, b, e, none, reduction == Reduction::mean); };
    switch (reduction) {
      case Reduction::sum: case Reduction::mean: reduce(Sum<T>()); break;
      case Reduction::product: reduce(Product<T>()); break;
      case Reduction::maximum: reduce(Maximum<T>()); break;
      case Reduction::minimum: reduce(Minimum<T>()); break;
    }
  });
}

void segment_reduce(Args& a) {
  const Tensor x = a.tensor(), ids = a.tensor(), y = a.tensor();
  const int64_t which = a.integer();
  if (which < 0 || which >= kReductions) fail(Code::internal, "the reduction %lld", ll(which));
  const auto reduction = static_cast<Reduction>(which);
  const int64_t n = ids.size;
  if (x.rank < 1 || y.rank != x.rank || x.dims[0] != n || x.dtype != y.dtype) fail(Code::internal, "shapes or dtypes do not fit");
  const int64_t count = y.dims[0], inner = product(y.dims, 1, y.rank);
  if (x.size != n * inner) fail(Code::internal, "sizes do not fit");
  if (ids.dtype != DType::i32 && ids.dtype != DType::i64) fail(Code::unimplemented, "numbers of segments must be int32 or int64");
  const Ids index{ids.data, ids.dtype == DType::i64, n};
  index.check(count);
  if (y.size == 0) return;
  switch (y.dtype) {
#define X(name, type) case DType::name: reduce_all<type>(x, index, y, count, inner, reduction); break;
    EAGRE_NUMBERS(X)
#undef X
    // Whoever asks for a kernel widens these before.
    default: fail(Code::unimplemented, "no arithmetic of %s", info_of(y.dtype).name);
  }
}

}  // namespace

void register_segments(Registry& r) { r.add("SegmentReduce", segment_reduce); }
EAGRE_END

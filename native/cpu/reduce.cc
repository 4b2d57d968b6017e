// Sum, Mean, Prod, Max, Min, All, Any over any axes; ArgMax and ArgMin along one.
//
// A reduction is cut into pieces whose borders depend on the shape alone and which are combined in order, so that the result is
// the same for any number of threads. Sums of floats add four at a time in float and the rest in double.
#include <cmath>

#include "reducers.h"

EAGRE_BEGIN
namespace {

// x's axes with neighbours of one kind merged and those of size 1 gone: the innermost one or two, and the outer ones.
struct Shape {
  bool inner_reduced;
  int64_t rows;  // of the inner reduced axis where the innermost is kept, else 1
  int64_t width; // of the innermost axis
  int kept_rank, reduced_rank;
  int64_t kept_dims[kMaxRank], kept_strides[kMaxRank], reduced_dims[kMaxRank], reduced_strides[kMaxRank];
  int64_t kept, reduced;  // how many outer indices of each kind there are

  int64_t kept_offset(int64_t i) const { return offset(i, kept_rank, kept_dims, kept_strides); }
  int64_t reduced_offset(int64_t i) const { return offset(i, reduced_rank, reduced_dims, reduced_strides); }

 private:
  static int64_t offset(int64_t i, int rank, const int64_t* dims, const int64_t* strides) {
    int64_t r = 0;
    for (int d = rank - 1; d > 0; d--) {
      r += i % dims[d] * strides[d];
      i /= dims[d];
    }
    return rank > 0 ? r + i * strides[0] : 0;
  }
};

Shape collapse(const Tensor& x, const int64_t* axes, int count) {
  bool is_reduced[kMaxRank] = {};
  for (int i = 0; i < count; i++) {
    if (axes[i] < 0 || axes[i] >= x.rank)
      fail(Code::internal, "axis %d of a tensor of rank %d", static_cast<int>(axes[i]), x.rank);
    is_reduced[axes[i]] = true;
  }
  // Innermost first.
  int rank = 0;
  int64_t dims[kMaxRank + 1];
  bool kind[kMaxRank + 1];
  for (int d = x.rank - 1; d >= 0; d--) {
    if (x.dims[d] == 1) continue;
    if (rank > 0 && kind[rank - 1] == is_reduced[d]) {
      dims[rank - 1] *= x.dims[d];
    } else {
      kind[rank] = is_reduced[d];
      dims[rank++] = x.dims[d];
    }
  }
  if (rank == 0) dims[0] = 1, kind[0] = true, rank = 1;
  Shape s;
  s.inner_reduced = kind[0];
  s.width = dims[0];
  s.rows = 1;
  int next = 1;
  int64_t stride = dims[0];
  if (!kind[0] && rank > 1) {
    s.rows = dims[1];
    stride *= dims[1];
    next = 2;
  }
  int64_t outer_dims[kMaxRank], outer_strides[kMaxRank];
  for (int d = next; d < rank; d++) {
    outer_dims[d] = dims[d];
    outer_strides[d] = stride;
    stride *= dims[d];
  }
  s.kept_rank = s.reduced_rank = 0;
  s.kept = s.reduced = 1;
  for (int d = rank - 1; d >= next; d--) {
    if (kind[d]) {
      s.reduced_dims[s.reduced_rank] = outer_dims[d];
      s.reduced_strides[s.reduced_rank++] = outer_strides[d];
      s.reduced *= outer_dims[d];
    } else {
      s.kept_dims[s.kept_rank] = outer_dims[d];
      s.kept_strides[s.kept_rank++] = outer_strides[d];
      s.kept *= outer_dims[d];
    }
  }
  return s;
}

constexpr int64_t kStrip = 512;      // columns whose accumulators stay in the first-level cache

// acc[j] = the reduction of column j over `rows` rows that lie `stride` apart; four rows at a time.
template <class R>
void reduce_columns(const typename R::Element* x, int64_t rows, int64_t stride, int64_t n, typename R::Total* acc) {
  using T = typename R::Element;
  using Total = typename R::Total;
  using V = typename Vector<T>::type;
  for (int64_t j = 0; j < n; j++) acc[j] = static_cast<Total>(R::neutral());
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride) {
    const T *a = x, *b = x + stride, *c = x + 2 * stride, *d = x + 3 * stride;
    int64_t j = 0;
    for (; j + kLanes<T> <= n; j += kLanes<T>) {
      V ab = R::combine(*reinterpret_cast<const V*>(a + j), *reinterpret_cast<const V*>(b + j));
      V cd = R::combine(*reinterpret_cast<const V*>(c + j), *reinterpret_cast<const V*>(d + j));
      Accumulator<R> to;
      to.load(acc + j);
      to.add(R::combine(ab, cd));
      to.store(acc + j);
    }
    for (; j < n; j++)
      acc[j] = R::combine(acc[j], static_cast<Total>(R::combine(R::combine(a[j], b[j]), R::combine(c[j], d[j]))));
  }
  for (; r < rows; r++, x += stride) {
    int64_t j = 0;
    for (; j + kLanes<T> <= n; j += kLanes<T>) {
      Accumulator<R> to;
      to.load(acc + j);
      to.add(*reinterpret_cast<const V*>(x + j));
      to.store(acc + j);
    }
    for (; j < n; j++) acc[j] = R::combine(acc[j], static_cast<Total>(x[j]));
  }
}

// The same for the few columns of a dense matrix: several rows count as one long row, whose columns are folded at the end.
template <class R> void reduce_narrow(const typename R::Element* x, int64_t rows, int64_t width, typename R::Total* acc) {
  using T = typename R::Element;
  using Total = typename R::Total;
  constexpr int64_t kLong = 4 * kLanes<T>;
  Total wide[kLong];
  int64_t together = kLong / width;
  int64_t long_rows = rows / together, n = together * width;
  reduce_columns<R>(x, long_rows, n, n, wide);
  const T* rest = x + long_rows * n;
  for (int64_t j = 0; j < width; j++) {
    Total total = wide[j];
    for (int64_t k = 1; k < together; k++) total = R::combine(total, wide[k * width + j]);
    for (int64_t r = 0; r < rows - long_rows * together; r++) total = R::combine(total, static_cast<Total>(rest[r * width + j]));
    acc[j] = total;
  }
}

// finish(total) makes the output's element.
template <class R, class Y, class F> void reduce_inner(const Shape& s, const typename R::Element* x, Y* y, F finish) {
  using Total = typename R::Total;
  int64_t per_run = (s.width + kPiece - 1) / kPiece, pieces = s.reduced * per_run;
  auto piece = [&](int64_t output, int64_t p) {
    int64_t begin = p % per_run * kPiece, n = s.width - begin < kPiece ? s.width - begin : kPiece;
    return reduce_run<R>(x + s.kept_offset(output) + s.reduced_offset(p / per_run) + begin, n);
  };
  if (pieces == 1) {
    parallel_for(s.kept, kPiece / (s.width + 8) + 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) y[i] = finish(reduce_run<R>(x + s.kept_offset(i), s.width));
    });
    return;
  }
  if (s.kept >= 16) {
    int64_t work = s.reduced * s.width + 8;
    parallel_for(s.kept, work > kPiece ? 1 : kPiece / work + 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        Total total = piece(i, 0);
        for (int64_t p = 1; p < pieces; p++) total = R::combine(total, piece(i, p));
        y[i] = finish(total);
      }
    });
    return;
  }
  Total* totals = static_cast<Total*>(scratch(0, s.kept * pieces * static_cast<int64_t>(sizeof(Total))));
  int64_t length = s.width < kPiece ? s.width : kPiece;
  parallel_for(s.kept * pieces, kPiece / length, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) totals[i] = piece(i / pieces, i % pieces);
  });
  for (int64_t i = 0; i < s.kept; i++) {
    Total total = totals[i * pieces];
    for (int64_t p = 1; p < pieces; p++) total = R::combine(total, totals[i * pieces + p]);
    y[i] = finish(total);
  }
}

template <class R, class Y, class F> void reduce_outer(const Shape& s, const typename R::Element* x, Y* y, F finish) {
  using T = typename R::Element;
  using Total = typename R::Total;
  int64_t strips = (s.width + kStrip - 1) / kStrip, strip = s.width < kStrip ? s.width : kStrip;
  int64_t piece_rows = kPiece / strip < s.rows ? kPiece / strip : s.rows;
  int64_t per_block = (s.rows + piece_rows - 1) / piece_rows, pieces = s.reduced * per_block;
  int64_t units = s.kept * strips;
  // Columns [0, n) of strip `unit % strips` of kept index `unit / strips`, over the rows of piece p.
  auto piece = [&](int64_t unit, int64_t p, int64_t n, Total* acc) {
    int64_t row = p % per_block * piece_rows, rows = s.rows - row < piece_rows ? s.rows - row : piece_rows;
    const T* from = x + s.kept_offset(unit / strips) + s.reduced_offset(p / per_block) + row * s.width + unit % strips * kStrip;
    if (s.width <= kLanes<T> * 2) reduce_narrow<R>(from, rows, s.width, acc);
    else reduce_columns<R>(from, rows, s.width, n, acc);
  };
  auto columns = [&](int64_t unit) {
    int64_t begin = unit % strips * kStrip;
    return s.width - begin < kStrip ? s.width - begin : kStrip;
  };
  if (units >= 16 || pieces == 1) {
    int64_t work = s.reduced * s.rows * strip + 64;
    parallel_for(units, work > kPiece ? 1 : kPiece / work + 1, [&](int64_t b, int64_t e) {
      Total acc[kStrip], totals[kStrip];
      for (int64_t unit = b; unit < e; unit++) {
        int64_t n = columns(unit);
        Y* out = y + unit / strips * s.width + unit % strips * kStrip;
        piece(unit, 0, n, totals);
        for (int64_t p = 1; p < pieces; p++) {
          piece(unit, p, n, acc);
          for (int64_t j = 0; j < n; j++) totals[j] = R::combine(totals[j], acc[j]);
        }
        for (int64_t j = 0; j < n; j++) out[j] = finish(totals[j]);
      }
    });
    return;
  }
  Total* partial = static_cast<Total*>(scratch(0, units * pieces * strip * static_cast<int64_t>(sizeof(Total))));
  int64_t work = piece_rows * strip;
  parallel_for(units * pieces, work > kPiece / 2 ? 1 : kPiece / work, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) piece(i / pieces, i % pieces, columns(i / pieces), partial + i * strip);
  });
  for (int64_t unit = 0; unit < units; unit++) {
    int64_t n = columns(unit);
    Y* out = y + unit / strips * s.width + unit % strips * kStrip;
    Total* totals = partial + unit * pieces * strip;
    for (int64_t p = 1; p < pieces; p++) {
      for (int64_t j = 0; j < n; j++) totals[j] = R::combine(totals[j], totals[p * strip + j]);
    }
    for (int64_t j = 0; j < n; j++) out[j] = finish(totals[j]);
  }
}

template <class R, class Y, class F> void reduce(const Tensor& x, const Tensor& y, const int64_t* axes, int count, F finish) {
  using T = typename R::Element;
  Y* out = y.as<Y>();
  if (y.size == 0) return;
  if (x.size == 0) {
    Y v = finish(static_cast<typename R::Total>(R::neutral()));
    for (int64_t i = 0; i < y.size; i++) out[i] = v;
    return;
  }
  Shape s = collapse(x, axes, count);
  if (y.size != s.kept * (s.inner_reduced ? 1 : s.width)) {
    fail(Code::internal, "a reduction to %lld elements", static_cast<long long>(y.size));
  }
  if (s.inner_reduced) reduce_inner<R>(s, x.as<T>(), out, finish);
  else reduce_outer<R>(s, x.as<T>(), out, finish);
}

// Tensors and axes; every kernel of this file starts so.
struct Operands {
  Tensor x, y;
  int64_t axes[kMaxRank];
  int count;
  explicit Operands(Args& a) : x(a.tensor()), y(a.tensor()), count(a.list(axes, kMaxRank)) {
    if (x.dtype != y.dtype)
      fail(Code::internal, "a reduction of dtype %d to %d", static_cast<int>(x.dtype), static_cast<int>(y.dtype));
  }
};

template <template <class> class R, class T> void plain(const Operands& o) {
  reduce<R<T>, T>(o.x, o.y, o.axes, o.count, [](auto total) { return static_cast<T>(total); });
}
// Narrow integers have no code of their own where a copy as int32 gives the same: the addon would be larger than a package may be.
template <class T> constexpr bool kNarrow = !kFloating<T> && sizeof(T) <= 2 && (sizeof(T) == 2 || T(-1) < T(0));

template <class T> Tensor wide_copy(const Tensor& x) {
  int32_t* wide = static_cast<int32_t*>(scratch(6, x.size * static_cast<int64_t>(sizeof(int32_t)) + 1));
  const T* from = x.as<T>();
  for (int64_t i = 0; i < x.size; i++) wide[i] = from[i];
  Tensor copy = x;
  copy.data = wide;
  copy.dtype = DType::i32;
  return copy;
}

template <template <class> class R, class T> void narrow(Operands& o) {
  Tensor y = o.y;
  int32_t* wide = static_cast<int32_t*>(scratch(7, y.size * static_cast<int64_t>(sizeof(int32_t)) + 1));
  o.x = wide_copy<T>(o.x);
  o.y.data = wide;
  o.y.dtype = DType::i32;
  plain<R, MadeFor<R, int32_t>>(o);
  // What is reduced from nothing is the neutral element of the dtype itself.
  T nothing = static_cast<T>(R<T>::neutral());
  for (int64_t i = 0; i < y.size; i++) y.as<T>()[i] = o.x.size == 0 ? nothing : static_cast<T>(wide[i]);
}

template <template <class> class R> void numeric(Args& a) {
  Operands o(a);
  auto typed = [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kNarrow<T>) narrow<R, T>(o);
    else plain<R, MadeFor<R, T>>(o);
  };
  switch (o.x.dtype) {
#define X(name, type) case DType::name: typed(type{}); break;
    EAGRE_NUMBERS(X)
#undef X
    default: fail(Code::unimplemented, "this reduction does not take %s", info_of(o.x.dtype).name);
  }
}
template <class R> void logical(Args& a) {
  Operands o(a);
  if (o.x.dtype != DType::boolean) fail(Code::unimplemented, "All and Any take bool");
  reduce<R, uint8_t>(o.x, o.y, o.axes, o.count, [](uint8_t total) { return total; });
}

// The sums of integers in 64 bits.
template <class T> void integer_mean(const Operands& o, int64_t n) {
  Shape s = collapse(o.x, o.axes, o.count);
  const T* x = o.x.as<T>();
  T* y = o.y.as<T>();
  int64_t width = s.inner_reduced ? 1 : s.width, run = s.inner_reduced ? s.width : s.rows;
  if (o.y.size != s.kept * width) fail(Code::internal, "a reduction to %lld elements", static_cast<long long>(o.y.size));
  parallel_for(o.y.size, n > kPiece ? 1 : kPiece / (n + 1) + 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      uint64_t total = 0;
      const T* from = x + s.kept_offset(i / width) + i % width;
      for (int64_t k = 0; k < s.reduced; k++) {
        const T* p = from + s.reduced_offset(k);
        for (int64_t r = 0; r < run; r++) total += static_cast<uint64_t>(p[r * width]);
      }
      if constexpr (T(-1) < T(0)) y[i] = static_cast<T>(static_cast<int64_t>(total) / n);
      else y[i] = static_cast<T>(total / static_cast<uint64_t>(n));
    }
  });
}

void mean(Args& a) {
  Operands o(a);
  int64_t n = 1;
  for (int i = 0; i < o.count; i++) n *= o.x.dim(static_cast<int>(o.axes[i]));
  double count = static_cast<double>(n);
  if (o.x.size == 0 && o.x.dtype != DType::f32 && o.x.dtype != DType::f64) {
    for (int64_t i = 0; i < o.y.size * static_cast<int64_t>(dtype_size(o.y.dtype)); i++) o.y.as<char>()[i] = 0;
    return;
  }
  auto typed = [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kFloating<T>)
      reduce<SumOf<T>, T>(o.x, o.y, o.axes, o.count, [=](double total) { return static_cast<T>(total / count); });
    else integer_mean<T>(o, n);
  };
  switch (o.x.dtype) {
#define X(name, type) case DType::name: typed(type{}); break;
    EAGRE_NUMBERS(X)
#undef X
    default: fail(Code::unimplemented, "Mean does not take %s", info_of(o.x.dtype).name);
  }
}

// Does v come before `best` as the extreme? NaN never does.
template <bool largest, class T> inline bool beats(T v, T best) { return largest ? v > best : v < best; }

// What everything but itself comes before.
template <bool largest, class T> T last_of_all() {
  if constexpr (largest) return MaxOf<T>::neutral();
  else return MinOf<T>::neutral();
}

// The first place of the extreme in a row: the extreme itself by vectors, then where it is.
template <bool largest, class T> int64_t find_extreme(const T* x, int64_t n) {
  T best;
  if constexpr (largest) best = reduce_run<MaxOf<T>>(x, n);
  else best = reduce_run<MinOf<T>>(x, n);
  if (best != best) {  // Vectors do not pass over NaN.
    int64_t at = 0;
    best = last_of_all<largest, T>();
    for (int64_t i = 0; i < n; i++) {
      if (beats<largest>(x[i], best)) best = x[i], at = i;
    }
    return at;
  }
  constexpr int64_t kBlock = 64;
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    int hit = 0;
    for (int64_t k = 0; k < kBlock; k++) hit |= x[i + k] == best;
    if (hit) break;
  }
  for (; i < n; i++) {
    if (x[i] == best) return i;
  }
  return 0;
}

template <bool largest, class T, class I> void arg_extreme(const Tensor& x, const Tensor& y, int axis) {
  int64_t outer = 1, n = x.dims[axis], inner = 1;
  for (int d = 0; d < axis; d++) outer *= x.dims[d];
  for (int d = axis + 1; d < x.rank; d++) inner *= x.dims[d];
  const T* in = x.as<T>();
  I* out = y.as<I>();
  if (y.size != outer * inner) fail(Code::internal, "an index of %lld elements", static_cast<long long>(y.size));
  if (y.size == 0) return;
  if (n == 0) fail(Code::invalid_argument, "axis %d, along which to look for the extreme, is empty", axis);
  if (inner == 1) {
    parallel_for(outer, n > kPiece ? 1 : kPiece / (n + 16) + 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) out[i] = static_cast<I>(find_extreme<largest>(in + i * n, n));
    });
    return;
  }
  constexpr int64_t kColumns = 256;
  int64_t strips = (inner + kColumns - 1) / kColumns, work = n * (inner < kColumns ? inner : kColumns);
  parallel_for(outer * strips, work > kPiece ? 1 : kPiece / (work + 16) + 1, [&](int64_t b, int64_t e) {
    T best[kColumns];
    for (int64_t unit = b; unit < e; unit++) {
      int64_t begin = unit % strips * kColumns, width = inner - begin < kColumns ? inner - begin : kColumns;
      const T* from = in + unit / strips * n * inner + begin;
      I* to = out + unit / strips * inner + begin;
      for (int64_t j = 0; j < width; j++) best[j] = last_of_all<largest, T>(), to[j] = 0;
      for (int64_t r = 0; r < n; r++, from += inner) {
        for (int64_t j = 0; j < width; j++) {
          bool better = beats<largest>(from[j], best[j]);
          best[j] = better ? from[j] : best[j];
          to[j] = better ? static_cast<I>(r) : to[j];
        }
      }
    }
  });
}

template <bool largest, class T> void arg_typed(const Tensor& x, const Tensor& y, int axis) {
  if (y.dtype == DType::i32) arg_extreme<largest, T, int32_t>(x, y, axis);
  else if (y.dtype == DType::i64) arg_extreme<largest, T, int64_t>(x, y, axis);
  else fail(Code::unimplemented, "indices are int32 or int64");
}
template <bool largest> void arg_kernel(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  int axis = static_cast<int>(a.integer());
  if (axis < 0 || axis >= x.rank) fail(Code::internal, "axis %d of a tensor of rank %d", axis, x.rank);
  auto typed = [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kNarrow<T>) arg_typed<largest, int32_t>(wide_copy<T>(x), y, axis);
    else arg_typed<largest, T>(x, y, axis);
  };
  switch (x.dtype) {
#define X(name, type) case DType::name: typed(type{}); break;
    EAGRE_NUMBERS(X)
#undef X
    case DType::boolean: arg_typed<largest, uint8_t>(x, y, axis); break;
    default: fail(Code::unimplemented, "positions of extremes of %s", info_of(x.dtype).name);
  }
}

}  // namespace

void register_reduce(Registry& r) {
  r.add("Sum", numeric<SumOf>);
  r.add("Prod", numeric<ProdOf>);
  r.add("Max", numeric<MaxOf>);
  r.add("Min", numeric<MinOf>);
  r.add("Mean", mean);
  r.add("All", logical<AllOf>);
  r.add("Any", logical<AnyOf>);
  r.add("ArgMax", arg_kernel<true>);
  r.add("ArgMin", arg_kernel<false>);
}
EAGRE_END

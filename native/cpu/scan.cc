// CumSum, CumProd.
#include "strided.h"

EAGRE_BEGIN
namespace {

// Rows that are gone through beside each other: a sum waits for the one before it for longer than it takes.
constexpr int kRows = 8;

// A running value is kept in float64 for float32, and unsigned (so that it wraps) for integers.
template <class T> struct Running { using type = T; };
template <> struct Running<float> { using type = double; };
template <> struct Running<int32_t> { using type = uint32_t; };
template <> struct Running<int64_t> { using type = uint64_t; };
template <> struct Running<uint8_t> { using type = uint32_t; };
template <> struct Running<int8_t> { using type = uint32_t; };
template <> struct Running<int16_t> { using type = uint32_t; };
template <> struct Running<uint16_t> { using type = uint32_t; };

template <bool Product, int rows, class T>
void scan_rows(const T* x, T* y, int64_t n, int64_t step, int64_t row, bool exclusive) {
  using W = typename Running<T>::type;
  W sums[rows];
  for (int r = 0; r < rows; r++) sums[r] = Product ? 1 : 0;
  for (int64_t i = 0; i < n; i++, x += step, y += step) {
    for (int r = 0; r < rows; r++) {
      const W v = static_cast<W>(x[r * row]), next = Product ? sums[r] * v : sums[r] + v;
      y[r * row] = static_cast<T>(exclusive ? sums[r] : next);
      sums[r] = next;
    }
  }
}

// Each row by itself; `outer` rows of n elements.
template <bool Product, class T> void scan_last(const T* x, T* y, int64_t outer, int64_t n, bool exclusive, bool reverse) {
  const int64_t step = reverse ? -1 : 1, first = reverse ? n - 1 : 0;
  const int64_t grain = rows_per_chunk(outer, n * static_cast<int64_t>(sizeof(T)));
  parallel_for(outer, grain < kRows ? grain : grain / kRows * kRows, [=](int64_t b, int64_t e) {
    int64_t row = b;
    for (; row + kRows <= e; row += kRows)
      scan_rows<Product, kRows>(x + row * n + first, y + row * n + first, n, step, n, exclusive);
    for (; row < e; row++) scan_rows<Product, 1>(x + row * n + first, y + row * n + first, n, step, n, exclusive);
  });
}

template <bool Product, class T>
void scan(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, bool exclusive, bool reverse) {
  using W = typename Running<T>::type;
  constexpr int64_t kColumns = 256;
  const int64_t step = reverse ? -inner : inner, first = reverse ? (n - 1) * inner : 0;
  const int64_t blocks = (inner + kColumns - 1) / kColumns;
  const int64_t width = inner < kColumns ? inner : kColumns;
  parallel_rows(outer * blocks, n * width * static_cast<int64_t>(sizeof(T)), [=](int64_t b, int64_t e) {
    for (int64_t unit = b; unit < e; unit++) {
      const int64_t start = unit % blocks * kColumns, end = inner - start < kColumns ? inner - start : kColumns;
      const T* in = x + unit / blocks * n * inner + first + start;
      T* out = y + unit / blocks * n * inner + first + start;
      W sums[kColumns];
      for (int64_t k = 0; k < end; k++) sums[k] = Product ? 1 : 0;
      for (int64_t i = 0; i < n; i++, in += step, out += step) {
        if (exclusive) {
          for (int64_t k = 0; k < end; k++) out[k] = static_cast<T>(sums[k]);
        }
        for (int64_t k = 0; k < end; k++) {
          W v = static_cast<W>(in[k]);
          sums[k] = Product ? sums[k] * v : sums[k] + v;
        }
        if (!exclusive) {
          for (int64_t k = 0; k < end; k++) out[k] = static_cast<T>(sums[k]);
        }
      }
    }
  });
}

template <bool Product> void run(Args& a) {
  Tensor x = a.tensor(), y = a.tensor();
  int64_t axis = a.integer();
  bool exclusive = a.flag(), reverse = a.flag();
  if (axis < 0) axis += x.rank;
  if (axis < 0 || axis >= x.rank || x.size != y.size) fail(Code::internal, "axis %lld of rank %d", ll(axis), x.rank);
  if (x.dtype == DType::boolean) fail(Code::unimplemented, "a scan of bool");
  if (y.size == 0) return;
  const int at = static_cast<int>(axis);
  visit(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t outer = product(x.dims, 0, at), n = x.dims[at], inner = product(x.dims, at + 1, x.rank);
    if (inner == 1) scan_last<Product>(x.as<T>(), y.as<T>(), outer, n, exclusive, reverse);
    else scan<Product>(x.as<T>(), y.as<T>(), outer, n, inner, exclusive, reverse);
  });
}

}  // namespace

void register_scan(Registry& r) {
  r.add("CumSum", run<false>);
  r.add("CumProd", run<true>);
}
EAGRE_END

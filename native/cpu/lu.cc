// LU: factors with partial pivoting, by halves of the columns (S. Toledo, "Locality of Reference in LU Decomposition with Partial
// Pivoting", 1997); TriangularSolve: substitution.
#include "triangle.h"

EAGRE_BEGIN
namespace {

template <class S> void exchange(S* a, S* b, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const S held = a[i];
    a[i] = b[i];
    b[i] = held;
  }
}

// Of a [m, n], in place; order[i] is the row of a that stands at i.
template <class S> struct Lu {
  static constexpr int64_t kPanel = 16;
  S* a;
  int64_t m, n;
  int32_t* order;
  bool regular = true;  // no pivot is 0

  void factor() {
    const int64_t least = min64(m, n);
    for (int64_t i = 0; i < m; i++) order[i] = static_cast<int32_t>(i);
    if (least == 0) return;
    factor(0, least);
    above(0, least, n);
  }

 private:
  // Columns [begin, end), which know of the columns to their left.
  void factor(int64_t begin, int64_t end) {
    if (end - begin <= kPanel) return panel(begin, end);
    const int64_t middle = begin + ceil_div((end - begin) / 2, kPanel) * kPanel;
    factor(begin, middle);
    above(begin, middle, end);
    subtract_product<S>(m - middle, end - middle, middle - begin, {a + middle * n + begin, n, 1, false}, {a + begin * n + middle, n, 1, false},
                        a + middle * n + middle, n);
    factor(middle, end);
  }
  // Rows [begin, middle) of the columns [middle, end).
  void above(int64_t begin, int64_t middle, int64_t end) {
    if (middle < end) Triangle<S>{a + begin * n + begin, middle - begin, n, true, false, true}.solve(a + begin * n + middle, end - middle, n);
  }
  // In a copy whose columns lie together.
  void panel(int64_t begin, int64_t end) {
    const int64_t rows = m - begin, width = end - begin;
    S *corner = a + begin * n + begin, *x = room<S>(kMoreSlot, rows * width);
    turn(corner, n, rows, width, x, rows);
    for (int64_t j = 0; j < width; j++) {
      S* column = x + j * rows;
      const int64_t pivot = j + largest(column + j, rows - j);
      if (pivot != j) {
        for (int64_t c = 0; c < width; c++) exchange(x + c * rows + j, x + c * rows + pivot, 1);
        S *row = a + (begin + j) * n, *other = a + (begin + pivot) * n;
        exchange(row, other, begin);
        exchange(row + end, other + end, n - end);
        const int32_t held = order[begin + j];
        order[begin + j] = order[begin + pivot];
        order[begin + pivot] = held;
      }
      if (size_of(column[j]) == 0) {
        regular = false;
        continue;
      }
      divide(column[j], column + j + 1, rows - j - 1);
      for (int64_t c = j + 1; c < width; c++) subtract(x[c * rows + j], column + j + 1, x + c * rows + j + 1, rows - j - 1);
    }
    turn(x, rows, width, rows, corner, n);
  }
};

}  // namespace

void lu(Args& args) {
  if (left_to_baseline(args)) return baseline::lu(args);
  Tensor x = args.tensor(), y = args.tensor(), p = args.tensor();
  const bool complex = args.flag(), check = args.flag();
  x = without_parts(x, complex);
  y = without_parts(y, complex);
  if (x.rank < 2 || y.size != x.size || y.dtype != x.dtype || p.dtype != DType::i32) fail(Code::internal, "lu of tensors that do not fit");
  const int64_t m = x.dim(-2), n = x.dim(-1), count = product(x.dims, 0, x.rank - 2);
  if (p.size != count * m) fail(Code::internal, "lu with another number of rows");
  visit_scalars(x.dtype, complex, [&](auto number) {
    using S = decltype(number);
    for_matrices(count, m * n * min64(m, n), [&](int64_t i) {
      S* there = in_place<S>(y, i * m * n);
      S* a = there ? there : room<S>(kMatrixSlot, m * n);
      for_large(m, m * n, ceil_div(1 << 15, max64(n, 1)), [&](int64_t begin, int64_t end) { get_all(x, (i * m + begin) * n, (end - begin) * n, a + begin * n); });
      Lu<S> work{a, m, n, p.as<int32_t>() + i * m};
      work.factor();
      if (!work.regular && check) fail(Code::invalid_argument, "Input is not invertible: matrix %lld of the batch is singular", ll(i));
      if (!there) put_all(y, i * m * n, m * n, a);
    });
  });
}

void triangular_solve(Args& args) {
  if (left_to_baseline(args)) return baseline::triangular_solve(args);
  Tensor a = args.tensor(), b = args.tensor(), y = args.tensor();
  const bool complex = args.flag(), lower = args.flag(), adjoint = args.flag(), unit = args.flag();
  a = without_parts(a, complex);
  b = without_parts(b, complex);
  y = without_parts(y, complex);
  if (a.rank < 2 || b.rank != a.rank || a.dim(-1) != a.dim(-2) || b.dim(-2) != a.dim(-1) || y.size != b.size || y.dtype != a.dtype) {
    fail(Code::internal, "triangular solve of tensors that do not fit");
  }
  const int64_t n = a.dim(-1), k = b.dim(-1), count = product(a.dims, 0, a.rank - 2);
  if (b.size != count * n * k) fail(Code::internal, "triangular solve of another number of matrices");
  visit_scalars(a.dtype, complex, [&](auto number) {
    using S = decltype(number);
    for_matrices(count, n * n * k, [&](int64_t i) {
      const S* matrix = in_place<S>(a, i * n * n);
      if (!matrix) {
        S* copy = room<S>(kMatrixSlot, n * n);
        get_all(a, i * n * n, n * n, copy);
        matrix = copy;
      }
      S* there = in_place<S>(y, i * n * k);
      S* x = there ? there : room<S>(kMoreSlot, n * k);
      const S* given = in_place<S>(b, i * n * k);
      if (!given) get_all(b, i * n * k, n * k, x);
      Triangle<S>{matrix, n, n, lower, adjoint, unit}.solve(x, k, k, given);
      if (!there) put_all(y, i * n * k, n * k, x);
    });
  });
}

void register_lu(Registry& r) {
  r.add("LU", lu);
  r.add("TriangularSolve", triangular_solve);
}
EAGRE_END

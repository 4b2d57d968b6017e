// LU: factors with partial pivoting, by blocks of columns; TriangularSolve: substitution by blocks of rows.
#include "matrices.h"

EAGRE_BEGIN
namespace {

constexpr int64_t kBlock = 48;

// Of a [m, n], in place; order[i] is the row of a that stands at i. False where a pivot is 0.
template <class S> bool factor(S* a, int64_t m, int64_t n, int32_t* order) {
  bool regular = true;
  const int64_t least = min64(m, n);
  for (int64_t i = 0; i < m; i++) order[i] = static_cast<int32_t>(i);
  for (int64_t first = 0; first < least; first += kBlock) {
    const int64_t last = min64(first + kBlock, least);
    for (int64_t j = first; j < last; j++) {
      int64_t pivot = j;
      double most = size_of(a[j * n + j]);
      for (int64_t i = j + 1; i < m; i++) {
        const double size = size_of(a[i * n + j]);
        if (size > most) most = size, pivot = i;
      }
      if (pivot != j) {
        for (int64_t c = 0; c < n; c++) {
          const S held = a[j * n + c];
          a[j * n + c] = a[pivot * n + c];
          a[pivot * n + c] = held;
        }
        const int32_t held = order[j];
        order[j] = order[pivot];
        order[pivot] = held;
      }
      // Not a number is no pivot either.
      if (!(most > 0)) regular = false;
      if (most == 0) continue;
      const S* row = a + j * n;
      for (int64_t i = j + 1; i < m; i++) {
        S* other = a + i * n;
        other[j] = other[j] / row[j];
        subtract(other[j], row + j + 1, other + j + 1, last - j - 1);
      }
    }
    for (int64_t j = first; j < last; j++) {
      for (int64_t i = j + 1; i < last; i++) subtract(a[i * n + j], a + j * n + last, a + i * n + last, n - last);
    }
    subtract_product<S>(m - last, n - last, last - first, {a + last * n + first, n, 1, false}, {a + first * n + last, n, 1, false}, a + last * n + last, n);
  }
  return regular;
}

void lu(Args& args) {
  Tensor x = args.tensor(), y = args.tensor(), p = args.tensor();
  const bool complex = args.flag(), check = args.flag();
  x = without_parts(x, complex);
  y = without_parts(y, complex);
  if (x.rank < 2 || y.size != x.size || y.dtype != x.dtype || p.dtype != DType::i32) fail(Code::internal, "lu of tensors that do not fit");
  const int64_t m = x.dim(-2), n = x.dim(-1), count = product(x.dims, 0, x.rank - 2);
  if (p.size != count * m) fail(Code::internal, "lu with another number of rows");
  visit_scalars(x.dtype, complex, [&](auto element, auto number) {
    using T = decltype(element);
    using S = decltype(number);
    for_matrices(count, m * n * min64(m, n), [&](int64_t i) {
      S* a = room<S>(kMatrixSlot, m * n);
      get_all(at_matrix(x.as<T>(), i * m * n, complex), a, m * n);
      if (!factor(a, m, n, p.as<int32_t>() + i * m) && check) {
        fail(Code::invalid_argument, "Input is not invertible: matrix %lld of the batch is singular", ll(i));
      }
      put_all(at_matrix(y.as<T>(), i * m * n, complex), a, m * n);
    });
  });
}

template <class S> struct Triangle {
  const S* a;
  int64_t n;
  bool lower, adjoint, unit;

  S at(int64_t i, int64_t j) const { return adjoint ? conj(a[j * n + i]) : a[i * n + j]; }
  // Rows from `row` on and columns from `column` on.
  View<S> from(int64_t row, int64_t column) const {
    return adjoint ? View<S>{a + column * n + row, 1, n, true} : View<S>{a + row * n + column, n, 1, false};
  }
  // x [n, k] becomes the solution.
  void solve(S* x, int64_t k) const {
    const bool down = lower != adjoint;
    const int64_t blocks = ceil_div(n, kBlock);
    for (int64_t b = 0; b < blocks; b++) {
      const int64_t block = down ? b : blocks - 1 - b, first = block * kBlock, last = min64(first + kBlock, n);
      if (down) subtract_product<S>(last - first, k, first, from(first, 0), {x, k, 1, false}, x + first * k, k);
      else subtract_product<S>(last - first, k, n - last, from(first, last), {x + last * k, k, 1, false}, x + first * k, k);
      for (int64_t step = 0; step < last - first; step++) {
        const int64_t i = down ? first + step : last - 1 - step;
        const int64_t begin = down ? first : i + 1, end = down ? i : last;
        for (int64_t j = begin; j < end; j++) subtract(at(i, j), x + j * k, x + i * k, k);
        if (unit) continue;
        const S d = at(i, i);
        for (int64_t c = 0; c < k; c++) x[i * k + c] = x[i * k + c] / d;
      }
    }
  }
};

void triangular_solve(Args& args) {
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
  visit_scalars(a.dtype, complex, [&](auto element, auto number) {
    using T = decltype(element);
    using S = decltype(number);
    for_matrices(count, n * n * k, [&](int64_t i) {
      S* matrix = room<S>(kMatrixSlot, n * n);
      S* x = room<S>(kMoreSlot, n * k);
      get_all(at_matrix(a.as<T>(), i * n * n, complex), matrix, n * n);
      get_all(at_matrix(b.as<T>(), i * n * k, complex), x, n * k);
      Triangle<S>{matrix, n, lower, adjoint, unit}.solve(x, k);
      put_all(at_matrix(y.as<T>(), i * n * k, complex), x, n * k);
    });
  });
}

// Gaussian elimination of three diagonals, with rows of neighbours exchanged if `pivoting`.
template <class T, class S> void solve_tridiagonal(const T* diagonals, const T* b, T* y, int64_t n, int64_t k, bool pivoting) {
  S* work = room<S>(kMatrixSlot, 4 * n + n * k);
  S *upper = work, *middle = work + n, *below = work + 2 * n, *second = work + 3 * n, *x = work + 4 * n;
  get_all(diagonals, work, 3 * n);
  get_all(b, x, n * k);
  for (int64_t i = 0; i < n; i++) second[i] = scalar<S>(0);
  if (n > 0) upper[n - 1] = scalar<S>(0);
  for (int64_t i = 0; i + 1 < n; i++) {
    if (pivoting && size_of(below[i + 1]) > size_of(middle[i])) {
      const S m = middle[i], u = upper[i];
      middle[i] = below[i + 1];
      upper[i] = middle[i + 1];
      second[i] = upper[i + 1];
      below[i + 1] = m;
      middle[i + 1] = u;
      upper[i + 1] = scalar<S>(0);
      for (int64_t c = 0; c < k; c++) {
        const S held = x[i * k + c];
        x[i * k + c] = x[(i + 1) * k + c];
        x[(i + 1) * k + c] = held;
      }
    }
    const S f = below[i + 1] / middle[i];
    middle[i + 1] -= f * upper[i];
    upper[i + 1] -= f * second[i];
    subtract(f, x + i * k, x + (i + 1) * k, k);
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    if (i + 1 < n) subtract(upper[i], x + (i + 1) * k, x + i * k, k);
    if (i + 2 < n) subtract(second[i], x + (i + 2) * k, x + i * k, k);
    for (int64_t c = 0; c < k; c++) x[i * k + c] = x[i * k + c] / middle[i];
  }
  // As in TensorFlow: nothing where there is no solution.
  if (!all_finite(x, n * k)) {
    for (int64_t i = 0; i < n * k; i++) x[i] = scalar<S>(__builtin_nan(""));
  }
  put_all(y, x, n * k);
}

void tridiagonal_solve(Args& args) {
  Tensor d = args.tensor(), b = args.tensor(), y = args.tensor();
  const bool complex = args.flag(), pivoting = args.flag();
  d = without_parts(d, complex);
  b = without_parts(b, complex);
  y = without_parts(y, complex);
  if (d.rank < 2 || b.rank != d.rank || d.dim(-2) != 3 || b.dim(-2) != d.dim(-1) || y.size != b.size || y.dtype != d.dtype) {
    fail(Code::internal, "tridiagonal solve of tensors that do not fit");
  }
  const int64_t n = d.dim(-1), k = b.dim(-1), count = product(d.dims, 0, d.rank - 2);
  if (b.size != count * n * k) fail(Code::internal, "tridiagonal solve of another number of matrices");
  visit_scalars(d.dtype, complex, [&](auto element, auto number) {
    using T = decltype(element);
    using S = decltype(number);
    for_matrices(count, 8 * n * k, [&](int64_t i) {
      solve_tridiagonal<T, S>(at_matrix(d.as<T>(), i * 3 * n, complex), at_matrix(b.as<T>(), i * n * k, complex), at_matrix(y.as<T>(), i * n * k, complex), n, k, pivoting);
    });
  });
}

}  // namespace

void register_lu(Registry& r) {
  r.add("LU", lu);
  r.add("TriangularSolve", triangular_solve);
  r.add("TridiagonalSolve", tridiagonal_solve);
}
EAGRE_END

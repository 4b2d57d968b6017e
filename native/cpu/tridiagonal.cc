// TridiagonalSolve: in double.
#include "matrices.h"

EAGRE_BEGIN
namespace {

// Gaussian elimination of three diagonals, with rows of neighbours exchanged if `pivoting`.
template <class S> void solve_tridiagonal(const Tensor& diagonals, const Tensor& b, const Tensor& y, int64_t matrix, int64_t n, int64_t k, bool pivoting) {
  S* work = room<S>(kMatrixSlot, 4 * n + n * k);
  S *upper = work, *middle = work + n, *below = work + 2 * n, *second = work + 3 * n, *x = work + 4 * n;
  get_all(diagonals, matrix * 3 * n, 3 * n, work);
  get_all(b, matrix * n * k, n * k, x);
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
  put_all(y, matrix * n * k, n * k, x);
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
  visit_wide_scalars(d.dtype, complex, [&](auto number) {
    using S = decltype(number);
    for_matrices(count, 8 * n * k, [&](int64_t i) { solve_tridiagonal<S>(d, b, y, i, n, k, pivoting); });
  });
}

}  // namespace

void register_tridiagonal(Registry& r) { r.add("TridiagonalSolve", tridiagonal_solve); }
EAGRE_END
